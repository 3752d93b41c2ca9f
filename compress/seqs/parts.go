package seqs

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"orcomgo/bins/record"

	"orcomgo/bins"
	"orcomgo/compress/overlap"
)

// What reads need in memory, in bytes, if all are laid out at once, beside what the assembler and the indexes take, which are bounded: each read its
// numbers and its share of a contig, each base its two bits and one as a base of a contig.
const (
	perRead  = 28
	perBase4 = 5 // in quarters
)

// What they need if they are laid out in shares: each read its place and, in a run, its rank there and what sorting takes; each that is
// being coded its numbers and two bits a base, and its position while these are counted.
const (
	perPlaced8 = 41 // in eighths of a byte
	perRanked  = 12
	perCoded   = 16
	perCounted = 8
)

// maxLaid is how many records are laid out together; those of further parts are placed when these are coded.
var maxLaid uint64 = 1<<32 - 2

// part is a run of records of some inputs whose reads are in memory together.
type part struct {
	sources []overlap.Source
	bases   []uint32 // record number, inside the part, of each source's first
	first   uint64   // record number in the archive of the part's first
	count   uint64

	layout *overlap.Layout
	tree   *positions
	shared []byte // the tree, coded
}

func (p *part) forget() { p.layout, p.tree = nil, nil }

// plan decides whether all reads are laid out at once, and cuts the archive into parts at block boundaries of unpaired inputs and first mates. It
// reports whether names and qualities of blocks, which are read where a slice is coded, take much of the memory that the layout needs.
func (e *Encoder) plan() (tight bool) {
	meta := e.bins.Meta()
	size := func(b *bins.BlockInfo) (reads, bases uint64) {
		switch in := &meta.Inputs[b.Input]; {
		case in.Mate < 0:
			return uint64(b.Records), b.Bases
		case in.First:
			return 2 * uint64(b.Records), 2 * b.Bases // the mates' blocks need not end where these do
		}
		return 0, 0
	}
	reads, bases := uint64(0), uint64(0)
	for i := range meta.Blocks {
		r, n := size(&meta.Blocks[i])
		reads, bases = reads+r, bases+n
	}
	e.layout = overlap.Config{Threads: e.cfg.Threads, Whole: true, Progress: e.cfg.Progress}
	limit, read := uint64(math.MaxUint64), uint64(perCoded) // of a part, and a read of it
	half := e.cfg.Memory / 2
	switch {
	case e.cfg.Memory > 0 && reads*perRead+bases*perBase4/4 > half || reads > maxLaid:
		// A quarter is for what the collector has not yet freed and for the coding models. With very little memory
		// there would be more shares than is worth waiting for.
		room := func(taken uint64) uint64 {
			if e.cfg.Memory == 0 {
				return 1 << 60
			}
			return max(uint64(max(int64(half+half/2)-int64(taken), 0)), e.cfg.Memory/8, bases/16, 1<<16)
		}
		e.layout.Whole, e.layout.Memory = false, room(reads*perPlaced8/8)
		limit = e.layout.Memory / 2
		if !meta.Options.OrderAny {
			read += perCounted
		}
		if e.cfg.Runs && reads <= maxLaid {
			e.window = int(room(reads*perPlaced8/8+reads*perRanked) / 2 / (perCoded + bases/max(reads, 1)/4))
			if slices.ContainsFunc(meta.Inputs, func(in record.Input) bool { return in.Mate >= 0 }) {
				e.window /= 2 // it counts pairs
			}
			e.window = max(e.window, 1)
			limit = math.MaxUint64
		}
	case e.cfg.Memory > 0:
		e.layout.Memory = half + half/2
	}
	p := &part{}
	first := uint64(0)
	closePart := func() {
		if len(p.sources) > 0 {
			p.first = first
			for _, s := range p.sources {
				p.bases = append(p.bases, uint32(p.count))
				p.count += s.To - s.From
			}
			first += p.count
			e.parts = append(e.parts, p)
		}
		p, reads, bases = &part{}, 0, 0
	}
	// Half of the reads being new, an assembler takes some five bytes a base, in so far as it may.
	need := min(e.layout.Memory, reads*perRead+bases*(perBase4/4+5))
	reads, bases = 0, 0
	for i := range meta.Blocks {
		b := &meta.Blocks[i]
		in := &meta.Inputs[b.Input]
		if in.Mate >= 0 && !in.First {
			continue
		}
		r, n := size(b)
		if reads > 0 && ((reads+r)*read+(bases+n)/4 > limit || reads+r > maxLaid) {
			closePart()
		}
		reads, bases = reads+r, bases+n
		p.add(b.Input, b.FirstRecord, b.FirstRecord+uint64(b.Records))
		if in.Mate >= 0 {
			p.add(in.Mate, b.FirstRecord, b.FirstRecord+uint64(b.Records))
		}
	}
	closePart()
	held := uint64(0) // by blocks in work
	for i := range meta.Blocks {
		held = max(held, meta.Blocks[i].NamesLen+meta.Blocks[i].QualsLen)
	}
	return e.cfg.Memory > 0 && held > 0 && need+held > half+half/2
}

func (p *part) add(input int, from, to uint64) {
	for i := range p.sources {
		if p.sources[i].Input == input && p.sources[i].To == from {
			p.sources[i].To = to
			return
		}
	}
	p.sources = append(p.sources, overlap.Source{Input: input, From: from, To: to})
}

// record returns the record number inside the part of a record of an input, or false.
func (p *part) record(input int, ordinal uint64) (uint32, bool) {
	for i, s := range p.sources {
		if s.Input == input && ordinal >= s.From && ordinal < s.To {
			return p.bases[i] + uint32(ordinal-s.From), true
		}
	}
	return 0, false
}

// Parts returns the records at which an input must be cut, ascending: no slice, and
// no run of records given to Sorted, may reach over one. Most archives have none.
func (e *Encoder) Parts(input int) []uint64 {
	var cuts []uint64
	for _, p := range e.parts {
		for _, s := range p.sources {
			if s.Input == input && s.From > 0 {
				cuts = append(cuts, s.From)
			}
		}
	}
	sort.Slice(cuts, func(i, j int) bool { return cuts[i] < cuts[j] })
	return cuts
}

// Window returns in which window of its run a slice is that begins at place `at` there: reads of different
// windows may not be in memory together, so slices of two should not be in work together.
func (e *Encoder) Window(at uint64) int {
	if e.window == 0 {
		return 0
	}
	return int(at) / e.window
}

// partOf returns the part that holds records from..to-1 of an input.
func (e *Encoder) partOf(input int, from, to uint64) (int, error) {
	for k, p := range e.parts {
		for _, s := range p.sources {
			if s.Input == input && from >= s.From && to <= s.To {
				return k, nil
			}
		}
	}
	return 0, fmt.Errorf("seqs: records %d to %d of input %d are in no one part", from, to, input)
}
