package bins

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/parse"
	"orcomgo/bins/record"
)

// Meta is the index of an archive of stage 1.
type Meta struct {
	Tool    string // the program that wrote it
	Options record.Options
	Inputs  []record.Input
	// Blocks are in the order in which they were written: those of one input in the order of
	// its records, while those of different inputs may alternate.
	Blocks []BlockInfo
	// ID is a checksum of what the bins hold, however that is stored; equal inputs and options give equal IDs.
	ID [16]byte

	dataLen uint64 // size of the data file in bytes, without the files that are behind its blocks
}

// keepsFile reports whether the bins have the file of an input itself.
func keepsFile(in *record.Input) bool { return in.Source != nil && len(in.Source.Gzip) > 0 }

// ExceptionBytes returns about how many bytes the exceptions of the block take in the bins, and not
// less: the bin table and the forms are counted too. A run of letters other than A, C, G, T takes
// four bytes or a few more. It returns 0 where they are less than a 16th of the text.
func (b *BlockInfo) ExceptionBytes() uint64 {
	if !b.HasExceptions {
		return 0
	}
	n := b.StoredMeta - b.OrderBytes()
	if b.Varied {
		n -= 4 * uint64(b.Records)
	}
	if n > b.StoredMeta || n < b.TextLen/16 {
		return 0 // few, or a block that was not written by a Writer
	}
	return n
}

// OrderBytes returns how many bytes of the block's part of the meta file say where reads are in the bins: order, places, and the
// directory of the block.
func (b *BlockInfo) OrderBytes() uint64 { return b.dirLen + 8*uint64(b.Records) }

// BlocksOf returns the indices of an input's blocks, in the order of its records.
func (m *Meta) BlocksOf(input int) []int {
	var blocks []int
	for i := range m.Blocks {
		if m.Blocks[i].Input == input {
			blocks = append(blocks, i)
		}
	}
	return blocks
}

// BlockInfo is the entry of a block in the index. Lengths are in bytes.
type BlockInfo struct {
	Input         int
	FirstRecord   uint64 // how many records of the input precede the block
	Records       int
	TextLen       uint64   // of the original text
	TextHash      [16]byte // of the original text, see digest.TextHasher
	Bases         uint64
	FixedLen      uint32 // length of all reads; 0 if they vary
	Varied        bool
	HasNames      bool
	HasQuals      bool
	HasExceptions bool
	HasForms      bool // some record differs from the default form

	NamesLen, QualsLen, PackedLen uint64 // as in Block
	// StoredDNA, StoredNames and StoredQuals are the sizes of the columns in the data file,
	// StoredMeta that of the block in the meta file.
	StoredDNA, StoredNames, StoredQuals, StoredMeta uint64

	dirLen       uint64 // the directory, at the end of the block's part of the meta file
	dirSum       uint64
	dataAt       uint64 // computed: where the block's parts of the two files begin
	metaAt       uint64
	inconsistent bool
}

// Bits of BlockInfo's flags on disk.
const (
	flagVaried = 1 << iota
	flagNames
	flagQuals
	flagExceptions
	flagForms
	flagsAll = 1<<iota - 1
)

// Bits of Options on disk.
const (
	optReadsOnly = 1 << iota
	optOrderAny
	optDropNames
	optionsAll = 1<<iota - 1
)

// Which mates an input holds, on disk.
const (
	matesFirst   = 1
	matesFurther = 2
	matesBoth    = matesFirst | matesFurther // in turn: Input.Interleaved
)

// appendTrailer returns the trailer, and the ID, which is the XXH3-128 of what it says of the content.
func appendTrailer(m *Meta) (t []byte, id [16]byte) {
	t = parse.AppendBlock(nil, m.Tool)
	o := &m.Options
	t = append(t, parse.Flags(o.ReadsOnly, o.OrderAny, o.DropNames), byte(o.Quality))
	t = binary.AppendUvarint(t, o.BlockSize)
	t = binary.AppendUvarint(t, uint64(len(m.Inputs)))
	for i := range m.Inputs {
		in := &m.Inputs[i]
		t = parse.AppendBlock(t, in.Name)
		mate := in.Mate
		if in.Further {
			mate = in.Lead
		}
		t = append(t, byte(in.Kind), parse.Flags(in.First || in.Interleaved, in.Further || in.Interleaved))
		t = binary.AppendUvarint(t, uint64(mate+1))
		t = binary.AppendUvarint(t, in.Records)
		t = binary.AppendUvarint(t, in.Bytes)
		t = record.AppendSource(t, in.Source)
	}
	t = binary.AppendUvarint(t, uint64(len(m.Blocks)))
	for i := range m.Blocks {
		b := &m.Blocks[i]
		t = append(t, parse.Flags(b.Varied, b.HasNames, b.HasQuals, b.HasExceptions, b.HasForms))
		for _, v := range []uint64{uint64(b.Input), b.FirstRecord, uint64(b.Records), b.TextLen, b.Bases, uint64(b.FixedLen),
			b.NamesLen, b.QualsLen, b.PackedLen} {
			t = binary.AppendUvarint(t, v)
		}
		t = append(t, b.TextHash[:]...)
	}
	id = xxh3.Hash128(t).Bytes()
	for i := range m.Blocks {
		b := &m.Blocks[i]
		for _, v := range []uint64{b.StoredDNA, b.StoredNames, b.StoredQuals, b.StoredMeta, b.dirLen} {
			t = binary.AppendUvarint(t, v)
		}
		t = binary.LittleEndian.AppendUint64(t, b.dirSum)
	}
	return t, id
}

// minBlockEntry is the least number of bytes that a block takes in the trailer.
const minBlockEntry = 1 + 14 + 16 + 8

// parseTrailer is the inverse of appendTrailer. It checks what can be checked without the
// sections: that numbers are in range, and that the blocks fill the inputs and both files
// without gaps.
func parseTrailer(t []byte, dataSize, metaSize uint64) (*Meta, error) {
	m := new(Meta)
	c := parse.Cursor{Rest: t}
	m.Tool = c.Text()
	flags, quality := c.Byte(), c.Byte()
	m.Options = record.Options{ReadsOnly: flags&optReadsOnly != 0, OrderAny: flags&optOrderAny != 0, DropNames: flags&optDropNames != 0,
		Quality: record.QualityMode(quality), BlockSize: c.Uvarint()}
	ok := flags <= optionsAll && m.Options.Quality <= record.QualityDrop
	m.Inputs = make([]record.Input, c.Count(6, "inputs"))
	for i := range m.Inputs {
		in := &m.Inputs[i]
		in.Name = c.Text()
		kind, mates := c.Byte(), c.Byte()
		in.Kind, in.First, in.Further = record.Kind(kind), mates == matesFirst, mates == matesFurther
		in.Interleaved = mates == matesBoth
		in.Mate = int(c.AtMost(uint64(len(m.Inputs)))) - 1
		if in.Further {
			in.Lead, in.Mate = in.Mate, -1
		}
		in.Records, in.Bytes = c.Uvarint(), c.Uvarint()
		in.Source = record.ParseSource(&c)
		ok = ok && (in.Source == nil || !in.Source.Plain || in.Source.Size == in.Bytes)
		ok = ok && kind < byte(record.Kinds) && mates <= matesBoth && !(in.Interleaved && m.Options.OrderAny)
	}
	ok = ok && record.CheckGroups(m.Inputs) == ""
	m.Blocks = make([]BlockInfo, c.Count(minBlockEntry, "blocks"))
	dataAt, metaAt := uint64(dataHeaderLen), uint64(metaHeaderLen)
	records, bytes := make([]uint64, len(m.Inputs)), make([]uint64, len(m.Inputs))
	for i := range m.Blocks {
		parseContent(&c, &m.Blocks[i], len(m.Inputs))
	}
	for i := range m.Blocks {
		b := &m.Blocks[i]
		parseStored(&c, b)
		if c.Failed() || b.inconsistent || b.FirstRecord != records[b.Input] || m.Inputs[b.Input].Interleaved && b.Records%2 != 0 {
			ok = false
			break
		}
		records[b.Input] += uint64(b.Records)
		bytes[b.Input] += b.TextLen
		b.dataAt, b.metaAt = dataAt, metaAt
		for _, n := range []uint64{b.StoredDNA, b.StoredNames, b.StoredQuals} {
			ok = ok && n <= dataSize-dataAt
			if ok {
				dataAt += n
			}
		}
		if ok = ok && b.StoredMeta <= metaSize-metaAt && b.dirLen <= b.StoredMeta; !ok {
			break
		}
		metaAt += b.StoredMeta
	}
	for i := range m.Inputs {
		ok = ok && m.Inputs[i].Records == records[i] && m.Inputs[i].Bytes == bytes[i]
		ok = ok && (!keepsFile(&m.Inputs[i]) || len(m.Inputs[i].Source.Gzip) == 1)
	}
	if !ok || !c.Done() || dataAt != dataSize || metaAt != metaSize {
		return nil, fmt.Errorf("%w: its index makes no sense", parse.ErrCorrupt)
	}
	return m, nil
}

// parseContent parses what a block has, however it is stored.
func parseContent(c *parse.Cursor, b *BlockInfo, inputs int) {
	flags := c.Byte()
	b.Varied, b.HasNames, b.HasQuals = flags&flagVaried != 0, flags&flagNames != 0, flags&flagQuals != 0
	b.HasExceptions, b.HasForms = flags&flagExceptions != 0, flags&flagForms != 0
	if inputs == 0 {
		c.Fail("it makes no sense")
		return
	}
	b.Input = int(c.AtMost(uint64(inputs - 1)))
	b.FirstRecord = c.Uvarint()
	b.Records = int(c.AtMost(1<<32 - 1))
	b.TextLen, b.Bases = c.Uvarint(), c.Uvarint()
	b.FixedLen = uint32(c.AtMost(1<<32 - 1))
	for _, v := range []*uint64{&b.NamesLen, &b.QualsLen, &b.PackedLen} {
		// Sums and products of a few of these must not overflow.
		*v = c.AtMost(1 << 56)
	}
	copy(b.TextHash[:], c.Bytes(16))
	b.inconsistent = flags > flagsAll || b.TextLen > 1<<56 || b.FirstRecord > 1<<56 || b.Varied && b.FixedLen != 0 ||
		!b.Varied && b.Bases != uint64(b.Records)*uint64(b.FixedLen) ||
		!b.HasNames && b.NamesLen != 0 || b.HasNames && b.NamesLen < uint64(b.Records) ||
		!b.HasQuals && b.QualsLen != 0 || b.HasQuals && b.QualsLen != b.Bases ||
		b.PackedLen > b.Bases || b.PackedLen < b.Bases/4
}

// parseStored parses how a block is stored.
func parseStored(c *parse.Cursor, b *BlockInfo) {
	for _, v := range []*uint64{&b.StoredDNA, &b.StoredNames, &b.StoredQuals, &b.StoredMeta, &b.dirLen} {
		*v = c.AtMost(1 << 56)
	}
	b.dirSum = c.Uint64()
	b.inconsistent = b.inconsistent || b.StoredDNA != b.PackedLen
}
