// Package slicing divides the records of bins into slices, and loads the blocks that slices need.
package slicing

import (
	"cmp"
	"errors"
	"slices"

	"orcomgo/bins/record"

	"orcomgo/bins"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/workers"
)

// How slices are cut; variables so that tests can cut small inputs.
var (
	// SliceText is how much text of the first input a slice aims for: enough for the
	// models to learn, little enough that several fit in memory.
	SliceText uint64 = 64 << 20
	// SmallSliceText is SliceText of inputs of at least SmallFrom qualities that begin with primers: few are decoded for some records.
	SmallSliceText uint64 = 2 << 20
	SmallFrom      uint64 = 64 << 20
	// SliceReads is how many reads a slice of reads alone, in layout order, aims for.
	SliceReads uint64 = 1 << 18
)

// leastSliceText is how much text a slice holds in however little memory: smaller ones cost bytes.
const leastSliceText = 8 << 20

// BasesOf returns how many bases the reads of an input have.
func BasesOf(m *bins.Meta, input int) (sum uint64) {
	for _, i := range m.BlocksOf(input) {
		sum += m.Blocks[i].Bases
	}
	return sum
}

// slicesOf returns into how many slices a block of a unit is cut, that aim for so much text of the first input. first
// and mate are the bytes of text of its inputs, exceptions those of the exceptions of both. A slice takes about three times
// its text and its exceptions, so in little memory (0: no bound) it has a quarter of that, or
// somewhat more where that saves a slice.
func slicesOf(text, first, mate, exceptions, memory uint64) uint64 {
	n := (first + text - 1) / text
	if memory > 0 {
		most := max(memory/4, leastSliceText)
		most += most / 16
		n = max(n, (first+mate+exceptions+most-1)/most)
	}
	return n
}

// Unit is what is sliced together: an input, or the two inputs of a pair.
type Unit struct {
	First, Mate int // mate is -1 without one
	// lead is the input with the first mates if first holds further mates, else -1. The slices of further mates have the same records
	// as those of the first ones.
	Lead int
}

func (u Unit) Inputs() []int {
	if u.Mate < 0 {
		return []int{u.First}
	}
	return []int{u.First, u.Mate}
}

// needed returns the inputs that are read when a slice is coded.
func (u Unit) needed() []int {
	if u.Lead < 0 {
		return u.Inputs()
	}
	return []int{u.First, u.Lead}
}

// Ordered returns the input by which the order of the records is decided.
func (u Unit) Ordered() int {
	if u.Lead >= 0 {
		return u.Lead
	}
	return u.First
}

// group is a unit, and the units of further mates of its records.
type group struct {
	Unit
	further []Unit
}

// inputs returns the inputs of all units.
func (g *group) inputs() []int {
	all := g.Unit.Inputs()
	for _, u := range g.further {
		all = append(all, u.First)
	}
	return all
}

// groups lists the groups in the order of their first inputs.
func groups(inputs []record.Input) ([]group, error) {
	if bad := record.CheckGroups(inputs); bad != "" {
		return nil, errors.New(bad)
	}
	var gs []group
	for i := range inputs {
		in := &inputs[i]
		if in.Further || in.Mate >= 0 && !in.First {
			continue
		}
		g := group{Unit: Unit{i, in.Mate, -1}}
		for k := range inputs {
			if inputs[k].Further && inputs[k].Lead == i {
				g.further = append(g.further, Unit{k, -1, i})
			}
		}
		gs = append(gs, g)
	}
	return gs, nil
}

// Spec says which records make up a slice.
type Spec struct {
	Unit
	From    uint64
	Records int
	Text    uint64 // bytes of original text of the unit, roughly; for progress
	// exceptions is how many bytes the exceptions have in the bins, roughly; 0 if that is little.
	Exceptions uint64
	block      int // of the bins, where the slice's records, or its run's, begin
	// run, if not nil, is a run of records that are delivered in the order of the layout, of
	// which the slice holds those at from-run.from; else the slice is in input order.
	Run *Run
	// turn is that of the slice's tasks while it is packed: see places. Those of the first slices go before, so that what was coded is
	// verified before more is coded. It is 0 of runs.
	Turn int
}

// Slice returns the slice without sections.
func (s *Spec) Slice() archive.Slice {
	sl := archive.Slice{From: s.From, Records: s.Records, First: archive.Member{Input: s.First}}
	if s.Mate >= 0 {
		sl.Mate = &archive.Member{Input: s.Mate}
	}
	return sl
}

// Run are records from..from+records-1 of a unit, to be reordered all together.
type Run struct {
	From    uint64
	Records uint64
	Slices  int
}

// sameRun reports whether two slices are of the same run, or of runs of mates.
func (s *Spec) sameRun(o *Spec) bool {
	return s.Run != nil && o.Run != nil && s.Ordered() == o.Ordered() && s.Run.From == o.Run.From
}

// WholeOrder reports whether nothing of an input's records is kept but their reads, as a
// set, so that the order of the layout may run through the whole input.
func WholeOrder(o record.Options, kind record.Kind) bool {
	return o.OrderAny && (o.ReadsOnly || o.DropNames && o.Quality == record.QualityDrop && kind.Format().Quals)
}

// Plan cuts the units into slices, which come in the order of the blocks that they
// begin in. The cuts depend on nothing but the bins, their options, texts (of sliceTexts; nil: SliceText for all), memory (0: no bound),
// and what parts returns for an input: where else its slices must end. parts is nil if records are not reordered.
func Plan(m *bins.Meta, texts []uint64, memory uint64, parts func(input int) []uint64) ([]Spec, error) {
	gs, err := groups(m.Inputs)
	if err != nil {
		return nil, err
	}
	textOf := func(u Unit) uint64 {
		if texts == nil {
			return SliceText
		}
		return texts[u.First]
	}
	var specs []Spec
	for i := range gs {
		g := &gs[i]
		u := g.Unit
		all, exceptions := sizesOf(m, u)
		records := m.Inputs[u.First].Records
		whole := parts != nil
		for _, i := range g.inputs() {
			whole = whole && WholeOrder(m.Options, m.Inputs[i].Kind)
		}
		planned := len(specs)
		// cut adds n slices of nearly equal counts.
		cut := func(block int, from, count, n uint64, run *Run) {
			n = max(n, (count+archive.MaxSliceRecords-1)/archive.MaxSliceRecords)
			n = min(n, count)
			if run != nil {
				run.Slices = int(n)
			}
			for k := range n {
				lo, hi := count*k/n, count*(k+1)/n
				specs = append(specs, Spec{Unit: u, From: from + lo, Records: int(hi - lo), block: block, Run: run,
					Text: workers.Share(all, hi-lo, records), Exceptions: workers.Share(exceptions, hi-lo, records)})
			}
		}
		blocks := m.BlocksOf(u.First)
		if !whole {
			for _, i := range blocks {
				b := &m.Blocks[i]
				mate := uint64(0)
				if u.Mate >= 0 {
					mate = workers.Share(m.Inputs[u.Mate].Bytes, uint64(b.Records), records)
				}
				for _, f := range g.further { // which has slices of its own, with the same records
					if n := workers.Share(m.Inputs[f.First].Bytes, uint64(b.Records), records); n > b.TextLen {
						mate = max(mate, n-b.TextLen)
					}
				}
				exceptional := workers.Share(exceptions, uint64(b.Records), records)
				count, n := uint64(b.Records), slicesOf(textOf(u), b.TextLen, mate, exceptional, memory)
				lead := uint64(0) // records of the first slice
				if i == blocks[0] && leadsLonger(m, u, b, n, memory) {
					text := leadingText(m, u)
					lead = workers.Share(count, text, b.TextLen)
					cut(i, b.FirstRecord, lead, 1, nil)
					n -= n * text / b.TextLen
				}
				cut(i, b.FirstRecord+lead, count-lead, n, nil)
			}
			specs = append(specs, g.furtherSlices(m, specs[planned:])...)
			continue
		}
		ends := append(slices.Clone(parts(u.First)), records)
		from := uint64(0)
		for _, end := range ends {
			run := &Run{From: from, Records: end - from}
			block := 0
			for _, i := range blocks {
				if m.Blocks[i].FirstRecord <= from {
					block = i
				}
			}
			cut(block, from, run.Records, (run.Records+SliceReads-1)/SliceReads, run)
			from = end
		}
		specs = append(specs, g.furtherSlices(m, specs[planned:])...)
	}
	// Slices of further mates come at once after those of the first mates: while the names of these are in memory.
	slices.SortStableFunc(specs, func(a, b Spec) int { return cmp.Or(a.block-b.block, cmp.Compare(a.From, b.From)) })
	return specs, nil
}

// leadingText is how much text the first slice of a unit has at least if others have less: enough for a primer of full size, and an
// eighth more, since its reads may be shorter than others. So the qualities of small slices take about as much as those of large ones.
func leadingText(m *bins.Meta, u Unit) uint64 {
	bases, bytes := BasesOf(m, u.First), m.Inputs[u.First].Bytes
	size := uint64(PrimerSize(bases))
	return workers.Share(bytes, min(size+size/8, bases), bases)
}

// leadsLonger reports whether the first slice of a unit, whose first block is cut in n, is to be longer than the others.
func leadsLonger(m *bins.Meta, u Unit, b *bins.BlockInfo, n, memory uint64) bool {
	text := leadingText(m, u)
	return n > 0 && text > 0 && b.TextLen >= 4*text && b.TextLen/n < text && (memory == 0 || memory >= PrimedMemory) &&
		columns.KeptOf(m.Options, m.Inputs[u.First].Kind)[archive.Quals]
}

// sizesOf returns how many bytes of text a unit has, and how many bytes its exceptions have in the bins.
func sizesOf(m *bins.Meta, u Unit) (text, exceptions uint64) {
	for _, i := range u.Inputs() {
		text += m.Inputs[i].Bytes
		for _, b := range m.BlocksOf(i) {
			exceptions += m.Blocks[b].ExceptionBytes()
		}
	}
	return text, exceptions
}

// furtherSlices returns the slices of the further mates of a group, given those of its first mates.
func (g *group) furtherSlices(m *bins.Meta, first []Spec) (specs []Spec) {
	for _, u := range g.further {
		text, exceptions := sizesOf(m, u)
		records := m.Inputs[u.First].Records
		runs := make(map[*Run]*Run)
		for _, s := range first {
			s.Unit = u
			s.Text, s.Exceptions = workers.Share(text, uint64(s.Records), records), workers.Share(exceptions, uint64(s.Records), records)
			if s.Run != nil {
				if runs[s.Run] == nil {
					run := *s.Run
					runs[s.Run] = &run
				}
				s.Run = runs[s.Run]
			}
			specs = append(specs, s)
		}
	}
	return specs
}

// Phases cuts the list of slices where the encoder of sequences may have to change from one
// part, or window of a run, to the next: it keeps the reads of one in memory, so slices of two should not be in
// work together. parts is as in Plan; window returns in which window of its run a place is.
func Phases(specs []Spec, parts func(input int) []uint64, window func(at uint64) int) [][]Spec {
	var out [][]Spec
	start, text := 0, uint64(0)
	for i, s := range specs {
		// A part may begin with an input, too. Where inputs are small it won't, and
		// waiting would cost more.
		fresh := s.From == 0 && text >= 2*SliceText
		moved := i > start && s.sameRun(&specs[i-1]) && window(s.From-s.Run.From) != window(specs[i-1].From-s.Run.From)
		if i > start && (fresh || moved || slices.Contains(parts(s.First), s.From)) {
			out = append(out, specs[start:i])
			start, text = i, 0
		}
		text += s.Text
	}
	if start < len(specs) {
		out = append(out, specs[start:])
	}
	return out
}

// Variables so that tests can have small primers.
var (
	// PrimerBytes is how many qualities a primer is made of at most, but for the end of the last read.
	PrimerBytes = 8 << 20
	// LeastLeading is how many the first slice of an input must have.
	LeastLeading = 1 << 20
)

// primerShare: a primer is made of one in so many qualities of its input, if that is at least LeastLeading and at most PrimerBytes. It has
// to be decoded for any record of the input.
const primerShare = 16

// PrimerSize returns how many qualities the primer of an input of so many is made of at most.
func PrimerSize(quals uint64) int {
	return min(max(LeastLeading, int(min(quals/primerShare, 1<<30))), PrimerBytes)
}

// PrimedMemory is how much memory packing must be allowed for primers.
const PrimedMemory = 1 << 30
