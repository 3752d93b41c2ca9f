package seqs

import (
	"encoding/binary"
	"math/bits"

	"orcomgo/bins/parse"
	"orcomgo/bins/record"
	rc "orcomgo/compress/rangecoder"
)

// EncodeLengths codes the lengths of reads.
func EncodeLengths(l record.Lengths) []byte {
	if l.Each == nil {
		return binary.AppendUvarint([]byte{0}, uint64(l.Fixed))
	}
	m := lengthModel(l.Each)
	c := encodeTo([]byte{byte(m.bits)})
	m.code(c, l.Each, nil)
	return c.Enc.Finish()
}

// DecodeLengths is the inverse of EncodeLengths for n reads.
func DecodeLengths(data []byte, n int) (record.Lengths, error) {
	if len(data) == 0 {
		return record.Lengths{}, ErrCorrupt
	}
	if data[0] == 0 {
		v, k := parse.Uvarint(data[1:])
		if k <= 0 || v > 1<<32-1 || k != len(data)-1 {
			return record.Lengths{}, ErrCorrupt
		}
		return record.Lengths{Fixed: uint32(v)}, nil
	}
	if b := data[0]; b > symbolBits && b != anyLength {
		return record.Lengths{}, ErrCorrupt
	}
	each := make([]uint32, n)
	newLengths(int(data[0])).code(decodeFrom(data[1:]), nil, each)
	return record.Lengths{Each: each}, nil
}

// How lengths are coded.
const (
	symbolBits = 12 // at most
	anyLength  = 33
)

// lengths models read lengths: each is that of the read before, or a symbol or number of its own.
type lengths struct {
	bits   int // 1..symbolBits: lengths below 2^bits, as a symbol; anyLength: as a number
	same   [4]rc.Prob
	symbol rc.Tree
	number *rc.Number
}

func newLengths(b int) *lengths {
	m := &lengths{bits: b, number: rc.NewNumber()}
	rc.FillProbs(m.same[:])
	if b <= symbolBits {
		m.symbol = rc.NewTree(b)
	}
	return m
}

// lengthModel returns the model for lengths v.
func lengthModel(v []uint32) *lengths {
	top := uint32(1)
	for _, l := range v {
		top = max(top, l)
	}
	if b := bits.Len32(top); b <= symbolBits {
		return newLengths(b)
	}
	return newLengths(anyLength)
}

// code encodes v or, decoding, fills out.
func (m *lengths) code(c *rc.Coder, v, out []uint32) {
	prev, ctx := uint32(0), 0
	for i := range max(len(v), len(out)) {
		l := uint32(0)
		if out == nil {
			l = v[i]
		}
		same := c.Adapt(rc.BitOf(l == prev), &m.same[ctx], longMemory)
		ctx = ctx<<1&3 | same
		if same == 0 {
			if m.bits <= symbolBits {
				prev = m.symbol.Code(c, l, longMemory)
			} else {
				prev = m.number.Code(c, l, longMemory)
			}
		}
		if out != nil {
			out[i] = prev
		}
	}
}
