// Package slicing divides the records of bins into slices, and loads the blocks that slices need.
package slicing

import (
	"cmp"
	"errors"
	"slices"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/workers"
)

// Sizes say how slices are cut, and what their primers are.
type Sizes struct {
	// Text is how much text of the first input a slice aims for: enough for the
	// models to learn, little enough that several fit in memory.
	Text uint64
	// SmallText is Text of inputs of at least SmallFrom qualities that begin with primers: few are decoded for some records.
	SmallText, SmallFrom uint64
	// LongText is Text of long reads, if that is more: nothing of a damaged slice of them may come back.
	LongText uint64
	// Reads is how many reads, and Bases how many bases, a slice of reads alone, in layout order, has at most, or one more: each slice has
	// to learn how reads are placed, and where they differ.
	Reads, Bases uint64
	// Primer is how many qualities a primer is made of at most, but for the end of the last read.
	Primer int
	// LeastLeading is how many qualities the first slice of an input must have for a primer.
	LeastLeading int
}

// Usual are the sizes of all archives but those of tests.
var Usual = Sizes{Text: 64 << 20, SmallText: 2 << 20, SmallFrom: 64 << 20, LongText: 40 << 20, Reads: 1 << 20, Bases: 48 << 20,
	Primer: 8 << 20, LeastLeading: 1 << 20}

// primerShare: a primer is made of one in so many qualities of its input, if that is at least LeastLeading and at most Primer. It has
// to be decoded for any record of the input.
const primerShare = 16

// PrimerSize returns how many qualities the primer of an input of so many is made of at most.
func (s *Sizes) PrimerSize(quals uint64) int {
	return min(max(s.LeastLeading, int(min(quals/primerShare, 1<<30))), s.Primer)
}

// PrimedMemory is how much memory packing must be allowed for primers.
const PrimedMemory = 1 << 30

// leastSliceText is how much text a slice holds in however little memory: smaller ones cost bytes.
const leastSliceText = 8 << 20

// Unit is what is sliced together: an input, or the two inputs of a pair.
type Unit struct {
	First, Mate int // mate is -1 without one
	// lead is the input with the first mates if first holds further mates, else -1. The slices of further mates have the same records
	// as those of the first ones.
	Lead int
	// Interleaved says that first is an interleaved input, whose slices have whole pairs.
	Interleaved bool
}

// Inputs returns the inputs of the unit.
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
		if in.FirstOf(i) != i {
			continue
		}
		g := group{Unit: Unit{i, in.Mate, -1, in.Interleaved}}
		for k := range inputs {
			if inputs[k].Further && inputs[k].Lead == i {
				g.further = append(g.further, Unit{k, -1, i, false})
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
	// Turn is that of the slice's tasks while it is packed: see workers.Pool. Those of the first slices go before, so that what was coded is
	// verified before more is coded. It is 0 of runs.
	Turn  int
	Phase int // see Phases
}

// Slice returns the slice without sections.
func (s *Spec) Slice() archive.Slice {
	sl := archive.Slice{From: s.From, Records: s.Records, First: archive.Member{Input: s.First}}
	if s.Mate >= 0 {
		sl.Mate = &archive.Member{Input: s.Mate}
	}
	if s.Interleaved {
		sl.Mate = &archive.Member{Input: s.First}
	}
	return sl
}

// Reads returns what has models of its own: the inputs, or both mates of an interleaved input.
func (s *Spec) Reads() (all []columns.Reads) {
	for _, input := range s.Inputs() {
		all = append(all, columns.Reads{Input: input})
	}
	if s.Interleaved {
		all = append(all, columns.Reads{Input: s.First, Second: true})
	}
	return all
}

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

// inputSize is how much there is of an input.
type inputSize struct {
	blocks            []int
	bases, exceptions uint64 // exceptions: bytes in the bins
}

// inputSizes returns those of all inputs.
func inputSizes(m *bins.Meta) []inputSize {
	all := make([]inputSize, len(m.Inputs))
	for i := range m.Blocks {
		b := &m.Blocks[i]
		in := &all[b.Input]
		in.blocks, in.bases, in.exceptions = append(in.blocks, i), in.bases+b.Bases, in.exceptions+b.ExceptionBytes()
	}
	return all
}

// Plan cuts the units into slices, which come in the order of the blocks that they
// begin in. The cuts depend on nothing but the bins, their options, texts (by input, how much text a slice aims for), memory (0: no bound),
// and what parts returns for an input: where else its slices must end. parts is nil if records are not reordered.
func Plan(m *bins.Meta, sizes *Sizes, texts []uint64, memory uint64, parts func(input int) []uint64) ([]Spec, error) {
	gs, err := groups(m.Inputs)
	if err != nil {
		return nil, err
	}
	all := inputSizes(m)
	var specs []Spec
	for i := range gs {
		c := cutter{m: m, sizes: sizes, memory: memory, inputs: all, group: &gs[i], records: m.Inputs[gs[i].First].Records}
		if parts != nil && c.wholeOrder() {
			c.cutRuns(parts(c.First))
		} else {
			c.cutBlocks(texts[c.First])
		}
		specs = append(append(specs, c.specs...), c.further()...)
	}
	// Slices of further mates come at once after those of the first mates: while the names of these are in memory.
	slices.SortStableFunc(specs, func(a, b Spec) int { return cmp.Or(a.block-b.block, cmp.Compare(a.From, b.From)) })
	return specs, nil
}

// cutter cuts the records of a group.
type cutter struct {
	*group
	m       *bins.Meta
	sizes   *Sizes
	memory  uint64
	inputs  []inputSize
	records uint64
	specs   []Spec // of the first unit
}

// Together returns how many records of an input a slice must have all or none of.
func (u Unit) Together() uint64 {
	if u.Interleaved {
		return 2
	}
	return 1
}

// wholeOrder reports whether the order of the layout may run through all records of the group.
func (c *cutter) wholeOrder() bool {
	return !slices.ContainsFunc(c.group.inputs(), func(i int) bool { return !WholeOrder(c.m.Options, c.m.Inputs[i].Kind) })
}

// cut adds n slices of nearly equal counts, of the records that begin with `from`, in a block.
func (c *cutter) cut(block int, from, count, n uint64, run *Run) {
	n = max(n, (count+archive.MaxSliceRecords-1)/archive.MaxSliceRecords)
	of := c.Together()
	n = min(n, count/of)
	if run != nil {
		run.Slices = int(n)
	}
	for k := range n {
		lo, hi := count/of*k/n*of, count/of*(k+1)/n*of
		c.specs = append(c.specs, c.sized(Spec{Unit: c.Unit, From: from + lo, Records: int(hi - lo), block: block, Run: run}))
	}
}

// sized returns a slice with its share of the text and exceptions of its unit.
func (c *cutter) sized(s Spec) Spec {
	var text, exceptions uint64
	for _, i := range s.Inputs() {
		text, exceptions = text+c.m.Inputs[i].Bytes, exceptions+c.inputs[i].exceptions
	}
	s.Text, s.Exceptions = workers.Share(text, uint64(s.Records), c.records), workers.Share(exceptions, uint64(s.Records), c.records)
	return s
}

// cutRuns cuts runs that end at parts, in which the records are in the order of the layout.
func (c *cutter) cutRuns(parts []uint64) {
	from, bases, exceptions := uint64(0), uint64(0), uint64(0)
	for _, i := range c.Inputs() {
		bases, exceptions = bases+c.inputs[i].bases, exceptions+c.inputs[i].exceptions
	}
	for _, end := range append(slices.Clone(parts), c.records) {
		run := &Run{From: from, Records: end - from}
		block := 0
		for _, i := range c.inputs[c.First].blocks {
			if c.m.Blocks[i].FirstRecord <= from {
				block = i
			}
		}
		share := func(bytes uint64) uint64 { return workers.Share(bytes, run.Records, c.records) }
		n := max((run.Records+c.sizes.Reads-1)/c.sizes.Reads, (share(bases)+c.sizes.Bases-1)/c.sizes.Bases,
			c.inMemory(share(bases+exceptions)))
		c.cut(block, from, run.Records, n, run)
		from = end
	}
}

// cutBlocks cuts each block into slices that aim for so much text.
func (c *cutter) cutBlocks(aim uint64) {
	for k, i := range c.inputs[c.First].blocks {
		b := &c.m.Blocks[i]
		count, lead := uint64(b.Records), uint64(0) // records: of the block, and of its first slice
		n := c.slicesOf(b, aim)
		if text := c.leadingText(b, n); k == 0 && text > 0 {
			lead = workers.Share(count, text, b.TextLen) / c.Together() * c.Together()
			c.cut(i, b.FirstRecord, lead, 1, nil)
			n -= n * text / b.TextLen
		}
		c.cut(i, b.FirstRecord+lead, count-lead, n, nil)
	}
}

// slicesOf returns into how many slices a block is cut that aim for so much text of the first input. In little memory (0: no bound) they
// have as much text and exceptions as fit in, or somewhat more where that saves a slice.
func (c *cutter) slicesOf(b *bins.BlockInfo, aim uint64) uint64 {
	n := (b.TextLen + aim - 1) / aim
	share := func(bytes uint64) uint64 { return workers.Share(bytes, uint64(b.Records), c.records) }
	exceptions, mate := c.inputs[c.First].exceptions, uint64(0)
	if c.Mate >= 0 {
		exceptions += c.inputs[c.Mate].exceptions
		mate = share(c.m.Inputs[c.Mate].Bytes)
	}
	for _, f := range c.group.further { // which has slices of its own, with the same records
		if further := share(c.m.Inputs[f.First].Bytes); further > b.TextLen {
			mate = max(mate, further-b.TextLen)
		}
	}
	return max(n, c.inMemory(b.TextLen+mate+share(exceptions)))
}

// inMemory returns how many slices must have so many bytes of text and exceptions together.
func (c *cutter) inMemory(bytes uint64) uint64 {
	if c.memory == 0 {
		return 0
	}
	most := max(workers.ForText(c.memory), leastSliceText)
	most += most / 16
	return (bytes + most - 1) / most
}

// leadingText returns how much text the first slice of a unit has if it is to be longer than the others, else 0: enough for a primer of
// full size, and an eighth more, since its reads may be shorter than others. So the qualities of small slices take about as much as
// those of large ones. The first block is cut in n.
func (c *cutter) leadingText(b *bins.BlockInfo, n uint64) uint64 {
	bases := c.inputs[c.First].bases / c.Together() // of each mate
	size := uint64(c.sizes.PrimerSize(bases))
	text := workers.Share(c.m.Inputs[c.First].Bytes, min(size+size/8, bases), bases)
	if n > 0 && b.TextLen >= 4*text && b.TextLen/n < text && (c.memory == 0 || c.memory >= PrimedMemory) &&
		columns.KeptOf(c.m.Options, c.m.Inputs[c.First].Kind)[archive.Quals] {
		return text
	}
	return 0
}

// further returns the slices of the further mates of the group, given those of its first mates.
func (c *cutter) further() (specs []Spec) {
	for _, u := range c.group.further {
		runs := make(map[*Run]*Run)
		for _, s := range c.specs {
			s.Unit = u
			if s.Run != nil {
				if runs[s.Run] == nil {
					run := *s.Run
					runs[s.Run] = &run
				}
				s.Run = runs[s.Run]
			}
			specs = append(specs, c.sized(s))
		}
	}
	return specs
}

// Phases cuts the list of slices where the encoder of sequences may have to change from one
// part, or window of a run, to the next: it keeps the reads of one in memory, so slices of two should not be in
// work together. It sets Phase of the slices. parts is as in Plan; window returns in which window of its run a place is.
func Phases(specs []Spec, sizes *Sizes, parts func(input int) []uint64, window func(at uint64) int) (all [][]Spec) {
	start, text := 0, uint64(0)
	for i := range specs {
		s := &specs[i]
		// A part may begin with an input, too. Where inputs are small it won't, and
		// waiting would cost more.
		fresh := s.From == 0 && text >= 2*sizes.Text
		moved := i > start && s.sameRun(&specs[i-1]) && window(s.From-s.Run.From) != window(specs[i-1].From-s.Run.From)
		if i > start && (fresh || moved || slices.Contains(parts(s.First), s.From)) {
			all = append(all, specs[start:i])
			start, text = i, 0
		}
		s.Phase = len(all)
		text += s.Text
	}
	if start < len(specs) {
		all = append(all, specs[start:])
	}
	return all
}
