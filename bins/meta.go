package bins

import (
	"fmt"
	"math"

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

	dirLen uint64 // the directory, at the end of the block's part of the meta file
	dirSum uint64
	dataAt uint64 // computed: where the block's parts of the two files begin
	metaAt uint64
}

// Which mates an input holds, on disk.
const (
	matesFirst   = 1
	matesFurther = 2
	matesBoth    = matesFirst | matesFurther // in turn: Input.Interleaved
)

// appendTrailer returns the trailer, and the ID, which is the XXH3-128 of what it says of the content.
func appendTrailer(m *Meta) (t []byte, id [16]byte) {
	var f parse.Fields
	m.codeContent(&f)
	id = xxh3.Hash128(f.Out).Bytes()
	for i := range m.Blocks {
		m.Blocks[i].codeStored(&f)
	}
	return f.Out, id
}

// codeContent codes what bins hold, however it is stored.
func (m *Meta) codeContent(f *parse.Fields) {
	f.Text(&m.Tool)
	o := &m.Options
	f.Flags(&o.ReadsOnly, &o.OrderAny, &o.DropNames)
	parse.Byte(f, &o.Quality, record.QualityDrop)
	parse.Number(f, &o.BlockSize, math.MaxUint64)
	parse.List(f, &m.Inputs, 6, "inputs", func(in *record.Input) { m.codeInput(f, in) })
	parse.List(f, &m.Blocks, minBlockEntry, "blocks", func(b *BlockInfo) {
		if b.codeContent(f); b.Input >= len(m.Inputs) {
			f.Fail("a block is of input %d of %d", b.Input+1, len(m.Inputs))
		}
	})
}

// codeInput codes an input.
func (m *Meta) codeInput(f *parse.Fields, in *record.Input) {
	f.Text(&in.Name)
	parse.Byte(f, &in.Kind, record.Kinds-1)
	mates := parse.Flags(in.First || in.Interleaved, in.Further || in.Interleaved)
	other := in.Mate + 1
	if in.Further {
		other = in.Lead + 1
	}
	parse.Byte(f, &mates, matesBoth)
	parse.Number(f, &other, uint64(len(m.Inputs)))
	if f.In != nil {
		in.First, in.Further, in.Interleaved = mates == matesFirst, mates == matesFurther, mates == matesBoth
		if in.Mate = other - 1; in.Further {
			in.Lead, in.Mate = in.Mate, -1
		}
	}
	parse.Number(f, &in.Records, math.MaxUint64)
	parse.Number(f, &in.Bytes, math.MaxUint64)
	record.CodeSource(f, &in.Source)
	if s := in.Source; s != nil && s.Plain && s.Size != in.Bytes || keepsFile(in) && len(s.Gzip) != 1 ||
		in.Interleaved && m.Options.OrderAny {
		f.Fail("an input makes no sense")
	}
}

// minBlockEntry is the least number of bytes that a block takes in the trailer.
const minBlockEntry = 1 + 14 + 16 + 8

// parseTrailer is the inverse of appendTrailer. It checks what can be checked without the
// sections: that numbers are in range, and that the blocks fill the inputs and both files
// without gaps.
func parseTrailer(t []byte, dataSize, metaSize uint64) (*Meta, error) {
	m := new(Meta)
	c := &parse.Cursor{Rest: t}
	f := &parse.Fields{In: c}
	m.codeContent(f)
	ok := record.CheckGroups(m.Inputs) == ""
	dataAt, metaAt := uint64(dataHeaderLen), uint64(metaHeaderLen)
	records, bytes := make([]uint64, len(m.Inputs)), make([]uint64, len(m.Inputs))
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.codeStored(f); c.Failed() || !b.consistent() || b.FirstRecord != records[b.Input] ||
			m.Inputs[b.Input].Interleaved && b.Records%2 != 0 {
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
	}
	if !ok || !c.Done() || dataAt != dataSize || metaAt != metaSize {
		return nil, fmt.Errorf("%w: its index makes no sense", parse.ErrCorrupt)
	}
	return m, nil
}

// codeContent codes what a block has, however it is stored. Sums and products of a few of the numbers don't overflow.
func (b *BlockInfo) codeContent(f *parse.Fields) {
	f.Flags(&b.Varied, &b.HasNames, &b.HasQuals, &b.HasExceptions, &b.HasForms)
	parse.Number(f, &b.Input, math.MaxInt32)
	parse.Number(f, &b.FirstRecord, maxBytes)
	parse.Number(f, &b.Records, math.MaxUint32)
	parse.Number(f, &b.TextLen, maxBytes)
	parse.Number(f, &b.Bases, math.MaxUint64)
	parse.Number(f, &b.FixedLen, math.MaxUint32)
	for _, v := range []*uint64{&b.NamesLen, &b.QualsLen, &b.PackedLen} {
		parse.Number(f, v, maxBytes)
	}
	f.Bytes(b.TextHash[:])
}

// maxBytes is how many bytes anything has at most.
const maxBytes = 1 << 56

// codeStored codes how a block is stored.
func (b *BlockInfo) codeStored(f *parse.Fields) {
	for _, v := range []*uint64{&b.StoredDNA, &b.StoredNames, &b.StoredQuals, &b.StoredMeta, &b.dirLen} {
		parse.Number(f, v, maxBytes)
	}
	f.Uint64(&b.dirSum)
}

// consistent reports whether what is said of a block can be.
func (b *BlockInfo) consistent() bool {
	switch {
	case b.Varied && b.FixedLen != 0, !b.Varied && b.Bases != uint64(b.Records)*uint64(b.FixedLen):
		return false
	case !b.HasNames && b.NamesLen != 0, b.HasNames && b.NamesLen < uint64(b.Records):
		return false
	case !b.HasQuals && b.QualsLen != 0, b.HasQuals && b.QualsLen != b.Bases:
		return false
	}
	return b.PackedLen <= b.Bases && b.PackedLen >= b.Bases/4 && b.StoredDNA == b.PackedLen
}
