package compress

import (
	"cmp"
	"errors"
	"slices"

	"orcomgo/bins/record"

	"orcomgo/bins"
	"orcomgo/compress/archive"
)

// How slices are cut; variables so that tests can cut small inputs.
var (
	// sliceText is how much text of the first input a slice aims for: enough for the
	// models to learn, little enough that several fit in memory.
	sliceText uint64 = 64 << 20
	// smallSliceText is sliceText of inputs of at least smallFrom qualities that begin with primers: few are decoded for some records.
	smallSliceText uint64 = 2 << 20
	smallFrom      uint64 = 64 << 20
	// sliceReads is how many reads a slice of reads alone, in layout order, aims for.
	sliceReads uint64 = 1 << 18
)

// leastSliceText is how much text a slice holds in however little memory: smaller ones cost bytes.
const leastSliceText = 8 << 20

// basesOf returns how many bases the reads of an input have.
func basesOf(m *bins.Meta, input int) (sum uint64) {
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

// unit is what is sliced together: an input, or the two inputs of a pair.
type unit struct {
	first, mate int // mate is -1 without one
	// lead is the input with the first mates if first holds further mates, else -1. The slices of further mates have the same records
	// as those of the first ones.
	lead int
}

func (u unit) inputs() []int {
	if u.mate < 0 {
		return []int{u.first}
	}
	return []int{u.first, u.mate}
}

// needed returns the inputs that are read when a slice is coded.
func (u unit) needed() []int {
	if u.lead < 0 {
		return u.inputs()
	}
	return []int{u.first, u.lead}
}

// ordered returns the input by which the order of the records is decided.
func (u unit) ordered() int {
	if u.lead >= 0 {
		return u.lead
	}
	return u.first
}

// group is a unit, and the units of further mates of its records.
type group struct {
	unit
	further []unit
}

// inputs returns the inputs of all units.
func (g *group) inputs() []int {
	all := g.unit.inputs()
	for _, u := range g.further {
		all = append(all, u.first)
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
		g := group{unit: unit{i, in.Mate, -1}}
		for k := range inputs {
			if inputs[k].Further && inputs[k].Lead == i {
				g.further = append(g.further, unit{k, -1, i})
			}
		}
		gs = append(gs, g)
	}
	return gs, nil
}

// sliceSpec says which records make up a slice.
type sliceSpec struct {
	unit
	from    uint64
	records int
	text    uint64 // bytes of original text of the unit, roughly; for progress
	// exceptions is how many bytes the exceptions have in the bins, roughly; 0 if that is little.
	exceptions uint64
	block      int // of the bins, where the slice's records, or its run's, begin
	// run, if not nil, is a run of records that are delivered in the order of the layout, of
	// which the slice holds those at from-run.from; else the slice is in input order.
	run *layoutRun
	// turn is that of the slice's tasks while it is packed: see places. Those of the first slices go before, so that what was coded is
	// verified before more is coded. It is 0 of runs.
	turn int
}

// slice returns the slice without sections.
func (s *sliceSpec) slice() archive.Slice {
	sl := archive.Slice{From: s.from, Records: s.records, First: archive.Member{Input: s.first}}
	if s.mate >= 0 {
		sl.Mate = &archive.Member{Input: s.mate}
	}
	return sl
}

// layoutRun are records from..from+records-1 of a unit, to be reordered all together.
type layoutRun struct {
	from    uint64
	records uint64
	slices  int
}

// sameRun reports whether two slices are of the same run, or of runs of mates.
func (s *sliceSpec) sameRun(o *sliceSpec) bool {
	return s.run != nil && o.run != nil && s.ordered() == o.ordered() && s.run.from == o.run.from
}

// wholeOrder reports whether nothing of an input's records is kept but their reads, as a
// set, so that the order of the layout may run through the whole input.
func wholeOrder(o record.Options, kind record.Kind) bool {
	return o.OrderAny && (o.ReadsOnly || o.DropNames && o.Quality == record.QualityDrop && kind.Format().Quals)
}

// planSlices cuts the units into slices, which come in the order of the blocks that they
// begin in. The cuts depend on nothing but the bins, their options, texts (of sliceTexts; nil: sliceText for all), memory (0: no bound),
// and what parts returns for an input: where else its slices must end. parts is nil if records are not reordered.
func planSlices(m *bins.Meta, texts []uint64, memory uint64, parts func(input int) []uint64) ([]sliceSpec, error) {
	gs, err := groups(m.Inputs)
	if err != nil {
		return nil, err
	}
	textOf := func(u unit) uint64 {
		if texts == nil {
			return sliceText
		}
		return texts[u.first]
	}
	var specs []sliceSpec
	for i := range gs {
		g := &gs[i]
		u := g.unit
		all, exceptions := sizesOf(m, u)
		records := m.Inputs[u.first].Records
		whole := parts != nil
		for _, i := range g.inputs() {
			whole = whole && wholeOrder(m.Options, m.Inputs[i].Kind)
		}
		planned := len(specs)
		// cut adds n slices of nearly equal counts.
		cut := func(block int, from, count, n uint64, run *layoutRun) {
			n = max(n, (count+archive.MaxSliceRecords-1)/archive.MaxSliceRecords)
			n = min(n, count)
			if run != nil {
				run.slices = int(n)
			}
			for k := range n {
				lo, hi := count*k/n, count*(k+1)/n
				specs = append(specs, sliceSpec{unit: u, from: from + lo, records: int(hi - lo), block: block, run: run,
					text: share(all, hi-lo, records), exceptions: share(exceptions, hi-lo, records)})
			}
		}
		blocks := m.BlocksOf(u.first)
		if !whole {
			for _, i := range blocks {
				b := &m.Blocks[i]
				mate := uint64(0)
				if u.mate >= 0 {
					mate = share(m.Inputs[u.mate].Bytes, uint64(b.Records), records)
				}
				for _, f := range g.further { // which has slices of its own, with the same records
					if n := share(m.Inputs[f.first].Bytes, uint64(b.Records), records); n > b.TextLen {
						mate = max(mate, n-b.TextLen)
					}
				}
				exceptional := share(exceptions, uint64(b.Records), records)
				count, n := uint64(b.Records), slicesOf(textOf(u), b.TextLen, mate, exceptional, memory)
				lead := uint64(0) // records of the first slice
				if i == blocks[0] && leadsLonger(m, u, b, n, memory) {
					text := leadingText(m, u)
					lead = share(count, text, b.TextLen)
					cut(i, b.FirstRecord, lead, 1, nil)
					n -= n * text / b.TextLen
				}
				cut(i, b.FirstRecord+lead, count-lead, n, nil)
			}
			specs = append(specs, g.furtherSlices(m, specs[planned:])...)
			continue
		}
		ends := append(slices.Clone(parts(u.first)), records)
		from := uint64(0)
		for _, end := range ends {
			run := &layoutRun{from: from, records: end - from}
			block := 0
			for _, i := range blocks {
				if m.Blocks[i].FirstRecord <= from {
					block = i
				}
			}
			cut(block, from, run.records, (run.records+sliceReads-1)/sliceReads, run)
			from = end
		}
		specs = append(specs, g.furtherSlices(m, specs[planned:])...)
	}
	// Slices of further mates come at once after those of the first mates: while the names of these are in memory.
	slices.SortStableFunc(specs, func(a, b sliceSpec) int { return cmp.Or(a.block-b.block, cmp.Compare(a.from, b.from)) })
	return specs, nil
}

// leadingText is how much text the first slice of a unit has at least if others have less: enough for a primer of full size, and an
// eighth more, since its reads may be shorter than others. So the qualities of small slices take about as much as those of large ones.
func leadingText(m *bins.Meta, u unit) uint64 {
	bases, bytes := basesOf(m, u.first), m.Inputs[u.first].Bytes
	size := uint64(primerSize(bases))
	return share(bytes, min(size+size/8, bases), bases)
}

// leadsLonger reports whether the first slice of a unit, whose first block is cut in n, is to be longer than the others.
func leadsLonger(m *bins.Meta, u unit, b *bins.BlockInfo, n, memory uint64) bool {
	text := leadingText(m, u)
	return n > 0 && text > 0 && b.TextLen >= 4*text && b.TextLen/n < text && (memory == 0 || memory >= primedMemory) &&
		keepsOf(m.Options, m.Inputs[u.first].Kind)[archive.Quals]
}

// sizesOf returns how many bytes of text a unit has, and how many bytes its exceptions have in the bins.
func sizesOf(m *bins.Meta, u unit) (text, exceptions uint64) {
	for _, i := range u.inputs() {
		text += m.Inputs[i].Bytes
		for _, b := range m.BlocksOf(i) {
			exceptions += m.Blocks[b].ExceptionBytes()
		}
	}
	return text, exceptions
}

// furtherSlices returns the slices of the further mates of a group, given those of its first mates.
func (g *group) furtherSlices(m *bins.Meta, first []sliceSpec) (specs []sliceSpec) {
	for _, u := range g.further {
		text, exceptions := sizesOf(m, u)
		records := m.Inputs[u.first].Records
		runs := make(map[*layoutRun]*layoutRun)
		for _, s := range first {
			s.unit = u
			s.text, s.exceptions = share(text, uint64(s.records), records), share(exceptions, uint64(s.records), records)
			if s.run != nil {
				if runs[s.run] == nil {
					run := *s.run
					runs[s.run] = &run
				}
				s.run = runs[s.run]
			}
			specs = append(specs, s)
		}
	}
	return specs
}

// phases cuts the list of slices where the encoder of sequences may have to change from one
// part, or window of a run, to the next: it keeps the reads of one in memory, so slices of two should not be in
// work together. parts is as in planSlices; window returns in which window of its run a place is.
func phases(specs []sliceSpec, parts func(input int) []uint64, window func(at uint64) int) [][]sliceSpec {
	var out [][]sliceSpec
	start, text := 0, uint64(0)
	for i, s := range specs {
		// A part may begin with an input, too. Where inputs are small it won't, and
		// waiting would cost more.
		fresh := s.from == 0 && text >= 2*sliceText
		moved := i > start && s.sameRun(&specs[i-1]) && window(s.from-s.run.from) != window(specs[i-1].from-s.run.from)
		if i > start && (fresh || moved || slices.Contains(parts(s.first), s.from)) {
			out = append(out, specs[start:i])
			start, text = i, 0
		}
		text += s.text
	}
	if start < len(specs) {
		out = append(out, specs[start:])
	}
	return out
}

// Variables so that tests can have small primers.
var (
	// primerBytes is how many qualities a primer is made of at most, but for the end of the last read.
	primerBytes = 8 << 20
	// leastLeading is how many the first slice of an input must have.
	leastLeading = 1 << 20
)

// primerShare: a primer is made of one in so many qualities of its input, if that is at least leastLeading and at most primerBytes. It has
// to be decoded for any record of the input.
const primerShare = 16

// primerSize returns how many qualities the primer of an input of so many is made of at most.
func primerSize(quals uint64) int {
	return min(max(leastLeading, int(min(quals/primerShare, 1<<30))), primerBytes)
}

// primedMemory is how much memory packing must be allowed for primers.
const primedMemory = 1 << 30
