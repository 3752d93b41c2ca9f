package fmindex

import (
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"sync/atomic"

	"orcomgo/compress/rangecoder"
	"orcomgo/internal/tasks"

	"github.com/zeebo/xxh3"
)

// The slices of the reads that begin in a part of the pseudogenome are coded in blocks, which can be read one by one: the first slice with
// the parts of the block in which its reads begin, then the next slice. The table of the blocks has where each ends, and its checksum.
const (
	partBases  = 8       // of the pseudogenome
	blockParts = 1 << 13 // of a block
	tableBytes = 16      // for each block
)

// Begins is where the reads of each slice begin, which are on the pseudogenome: the leftmost base under each.
type Begins struct {
	blocks []beginsModel
	slices uint32
	span   uint32
}

// NewBegins returns those of no slice, on a pseudogenome of so many bases.
func NewBegins(bases int) *Begins {
	b := &Begins{blocks: make([]beginsModel, beginsBlocks(uint32(bases)))}
	for i := range b.blocks {
		b.blocks[i] = newBeginsModel(rangecoder.EncodeTo(nil))
	}
	return b
}

// AddSlice adds those of the next slice: places, in any order, which it sorts, and the most bases of the pseudogenome under one read.
func (b *Begins) AddSlice(places []uint32, span uint32) {
	slices.Sort(places)
	last := uint32(math.MaxUint32)
	for _, at := range places {
		if part := at / partBases; part != last {
			last = part
			b.blocks[part/blockParts].code(b.slices, part%blockParts)
		}
	}
	b.span = max(b.span, span)
	b.slices++
}

// file returns the table of the blocks, and the blocks.
func (b *Begins) file() (table, blocks []byte) {
	for i := range b.blocks {
		m := &b.blocks[i]
		m.code(b.slices, 0) // which ends the block
		coded := m.c.Enc.Finish()
		blocks = append(blocks, coded...)
		table = binary.LittleEndian.AppendUint64(table, uint64(len(blocks)))
		table = binary.LittleEndian.AppendUint64(table, xxh3.Hash(coded))
	}
	return table, blocks
}

// beginsBlocks returns how many blocks a pseudogenome has.
func beginsBlocks(bases uint32) int {
	return (int(bases) + partBases*blockParts - 1) / (partBases * blockParts)
}

// beginsModel codes the entries of a block, which ascend by slice and part.
type beginsModel struct {
	c           *rangecoder.Coder
	slice, next uint32 // next is the least part that the next entry of the slice can have
	steps       *rangecoder.Number
	parts       [2]*rangecoder.Number // of the first entry of a slice, of others
}

func newBeginsModel(c *rangecoder.Coder) beginsModel {
	return beginsModel{c: c, steps: rangecoder.NewNumber(), parts: [2]*rangecoder.Number{rangecoder.NewNumber(), rangecoder.NewNumber()}}
}

func (m *beginsModel) code(slice, part uint32) (uint32, uint32) {
	step := m.steps.Code(m.c, slice-m.slice, rangecoder.MaxCount)
	if m.slice += step; step > 0 {
		m.next = 0
	}
	part = m.next + m.parts[rangecoder.BitOf(m.next > 0)].Code(m.c, part-m.next, rangecoder.MaxCount)
	m.next = part + 1
	return m.slice, part
}

// Stretch is the bases From..To-1 of the pseudogenome.
type Stretch struct{ From, To int }

// SlicesOver returns the slices, ascending, that have reads which may lie over one of the stretches as a whole, sorted by From. Of the
// file it reads what it needs. The error is ErrCorrupt, or that of reading.
func (x *Index) SlicesOver(stretches []Stretch, threads int) (numbers []int, err error) {
	wanted := make(map[int]*[blockParts]bool) // by block
	var blocks []int
	first, next := 0, 0 // the parts first..next-1 are wanted already
	for _, s := range stretches {
		part := max(s.To-int(x.span), 0) / partBases
		if part < first || part > next {
			first, next = part, part
		}
		for part = max(part, next); part <= s.From/partBases; part++ {
			k := part / blockParts
			if wanted[k] == nil {
				wanted[k] = new([blockParts]bool)
				blocks = append(blocks, k)
			}
			wanted[k][part%blockParts] = true
		}
		next = part
	}
	slices.Sort(blocks)
	found, errs := make([]atomic.Bool, x.Slices()), make([]error, len(blocks))
	tasks.Each(len(blocks), threads, func(_, i int) { errs[i] = x.slicesIn(found, blocks[i], wanted[blocks[i]]) })
	for s := range found {
		if found[s].Load() {
			numbers = append(numbers, s)
		}
	}
	return numbers, cmp.Or(errs...)
}

// slicesIn sets found for the slices whose reads begin in the wanted parts of a block.
func (x *Index) slicesIn(found []atomic.Bool, block int, wanted *[blockParts]bool) error {
	coded, err := x.beginsBlock(block)
	if err != nil {
		return err
	}
	m := newBeginsModel(rangecoder.DecodeFrom(coded))
	for {
		slice, part := m.code(0, 0)
		switch {
		case int(slice) == len(found):
			return nil
		case int(slice) > len(found), part >= blockParts, m.c.Dec.Overrun():
			return corrupt("the reads that begin in block %d are impossible", block)
		case wanted[part]:
			found[slice].Store(true)
		}
	}
}

// beginsBlock reads a block.
func (x *Index) beginsBlock(i int) ([]byte, error) {
	from := uint64(0)
	if i > 0 {
		from = x.blockEnd(i - 1)
	}
	coded := make([]byte, x.blockEnd(i)-from)
	if _, err := x.whole.ReadAt(coded, int64(x.mainLen+from)); err != nil && err != io.EOF {
		return nil, err
	}
	if xxh3.Hash(coded) != binary.LittleEndian.Uint64(x.table[tableBytes*i+8:]) {
		return nil, corrupt("the checksum of block %d of its reads does not match", i)
	}
	return coded, nil
}

// blockEnd returns where block i ends, counted from where the first one begins.
func (x *Index) blockEnd(i int) uint64 { return binary.LittleEndian.Uint64(x.table[tableBytes*i:]) }

// Check compares what Open did not read with its checksums. The error is as that of SlicesOver.
func (x *Index) Check() error {
	for i := range len(x.table) / tableBytes {
		if _, err := x.beginsBlock(i); err != nil {
			return err
		}
	}
	return nil
}

// Size returns how many bytes the file has.
func (x *Index) Size() int64 {
	size := x.mainLen
	if n := len(x.table) / tableBytes; n > 0 {
		size += x.blockEnd(n - 1)
	}
	return int64(size)
}

// checkTable makes sure that the blocks are in their order.
func (x *Index) checkTable() error {
	end := uint64(0)
	for i := range len(x.table) / tableBytes {
		if x.blockEnd(i) < end || x.blockEnd(i) > math.MaxInt64/2 {
			return corrupt("block %d of its reads ends before it begins", i)
		}
		end = x.blockEnd(i)
	}
	return nil
}
