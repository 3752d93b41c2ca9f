package seqs

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/overlap"
)

// The memory that reads take if all are laid out at once, in addition to the assembler and the indexes, which are bounded: for
// each read its place, length and the like and its share of a contig; for each base its two bits and a byte in a contig.
const (
	readBytes        = 28
	baseQuarterBytes = 5 // in quarters of a byte
)

// The memory that reads take if they are laid out in shares: each read its place and, in a run, its rank there and the memory
// for sorting; each read that is being coded its length and the like and two bits a base, and its position while positions are
// counted.
const (
	placedReadEighths = 41 // in eighths of a byte
	rankedReadBytes   = 12
	codedReadBytes    = 16
	countedReadBytes  = 8
)

// maxLayoutRecords is how many records are laid out together. Records of further parts are placed when these parts are coded.
const maxLayoutRecords uint64 = 1<<32 - 2

// part is a run of records of some inputs whose reads are in memory together.
type part struct {
	sources []overlap.Source
	firsts  []uint32 // record number, inside the part, of each source's first record
	first   uint64   // record number in the archive of the part's first record
	count   uint64

	layout *overlap.Layout
	tree   *positions
	shared []byte // the tree, coded
	coding bool   // it is being coded, or has been: reads of a part may be loaded several times
}

func (p *part) unload() { p.layout, p.tree = nil, nil }

// plan decides whether all reads are laid out at once, and cuts the archive into parts at block boundaries of unpaired inputs
// and first mates. It reports whether memory is tight: too small for the layout together with the names and qualities of blocks,
// which are read when a slice is coded.
func (e *Encoder) plan() (tight bool) {
	meta := e.bins.Meta()
	mostLaid := cmp.Or(e.cfg.maxLayoutRecords, maxLayoutRecords)
	size := func(b *bins.BlockInfo) (reads, bases uint64) {
		if e.skips(b.Input) {
			return 0, 0
		}
		n := uint64(len(members(meta.Inputs, b.Input)))
		return n * uint64(b.Records), n * b.Bases // the mates' blocks need not end where these do
	}
	reads, bases := uint64(0), uint64(0)
	for i := range meta.Blocks {
		r, n := size(&meta.Blocks[i])
		reads, bases = reads+r, bases+n
	}
	e.overlap = overlap.Config{Threads: e.cfg.Threads, Whole: true, GPU: e.cfg.GPU, Note: e.cfg.Note, Progress: e.cfg.Progress,
		OnDevice: func() { e.idleOnce.Do(func() { close(e.idle) }) }}
	limit, read := uint64(math.MaxUint64), uint64(codedReadBytes) // of a part, and a read of it
	half := e.cfg.Memory / 2
	switch {
	case e.cfg.Memory > 0 && reads*readBytes+bases*baseQuarterBytes/4 > half || reads > mostLaid:
		// A quarter is for what the garbage collector has not freed yet and for the coding models. The lower bounds avoid a
		// very large number of shares, which would take too long.
		room := func(taken uint64) uint64 {
			if e.cfg.Memory == 0 {
				return 1 << 60
			}
			return max(uint64(max(int64(half+half/2)-int64(taken), 0)), e.cfg.Memory/8, bases/16, 1<<16)
		}
		e.overlap.Whole, e.overlap.Memory = false, room(reads*placedReadEighths/8)
		limit = e.overlap.Memory / 2
		if !meta.Options.OrderAny {
			read += countedReadBytes
		}
		if e.cfg.Runs && reads <= mostLaid {
			e.window = int(room(reads*placedReadEighths/8+reads*rankedReadBytes) / 2 / (codedReadBytes + bases/max(reads, 1)/4))
			most := 1 // it counts groups of mates
			for i := range meta.Inputs {
				most = max(most, len(members(meta.Inputs, i)))
			}
			e.window = max(e.window/most, 1)
			limit = math.MaxUint64
		}
	case e.cfg.Memory > 0:
		e.overlap.Memory = half + half/2
	}
	p := &part{}
	first := uint64(0)
	closePart := func() {
		if len(p.sources) > 0 {
			p.first = first
			for _, s := range p.sources {
				p.firsts = append(p.firsts, uint32(p.count))
				p.count += s.To - s.From
			}
			first += p.count
			e.parts = append(e.parts, p)
		}
		p, reads, bases = &part{}, 0, 0
	}
	// If half of the reads are new, an assembler takes about five bytes a base, up to its bound.
	need := min(e.overlap.Memory, reads*readBytes+bases*(baseQuarterBytes/4+5))
	reads, bases = 0, 0
	for i := range meta.Blocks {
		b := &meta.Blocks[i]
		of := members(meta.Inputs, b.Input)
		if of == nil || e.skips(b.Input) {
			continue
		}
		r, n := size(b)
		if reads > 0 && ((reads+r)*read+(bases+n)/4 > limit || reads+r > mostLaid) {
			closePart()
		}
		reads, bases = reads+r, bases+n
		for _, input := range of {
			p.add(input, b.FirstRecord, b.FirstRecord+uint64(b.Records))
		}
	}
	closePart()
	held := uint64(0) // by the names and qualities of a block
	for i := range meta.Blocks {
		held = max(held, meta.Blocks[i].NamesLen+meta.Blocks[i].QualsLen)
	}
	return SegmentThreads(2, e.cfg.Memory) < 2 || e.cfg.Memory > 0 && held > 0 && need+held > half+half/2
}

// skips reports whether the reads of an input are left out.
func (e *Encoder) skips(input int) bool { return e.cfg.Skip != nil && e.cfg.Skip[input] }

// members returns an input without mates, or one of first mates with all that hold mates of it; nil for the latter.
func members(inputs []record.Input, input int) []int {
	in := &inputs[input]
	switch {
	case in.FirstOf(input) != input:
		return nil
	case in.Mate < 0:
		return []int{input}
	}
	of := []int{input, in.Mate}
	for i := range inputs {
		if inputs[i].Further && inputs[i].Lead == input {
			of = append(of, i)
		}
	}
	return of
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
			return p.firsts[i] + uint32(ordinal-s.From), true
		}
	}
	return 0, false
}

// Parts returns the records at which an input must be cut, ascending: no slice and
// no run of records given to Sorted may contain records from both sides of a cut. Most archives have none.
func (e *Encoder) Parts(input int) []uint64 {
	var cuts []uint64
	for _, p := range e.parts {
		for _, s := range p.sources {
			if s.Input == input && s.From > 0 {
				cuts = append(cuts, s.From)
			}
		}
	}
	slices.Sort(cuts)
	return cuts
}

// Window returns the window, of its run, of a slice that begins at place `at` of the run. Reads of different
// windows may not be in memory together, so slices of different windows should not be coded at the same time.
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
	return 0, fmt.Errorf("seqs: records %d to %d of input %d are not in one part", from, to, input)
}
