package seqs

import (
	"encoding/binary"
	"math/bits"

	"orcomgo/bins/parse"
	"orcomgo/bins/record"
	"orcomgo/compress/mixing"
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

// lengths models read lengths: each is that of the read before, or another one. Short ones are symbols whose bits are predicted by those
// before and, mixed with that, by the length before as well: in some runs lengths follow each other, in others each is by itself.
type lengths struct {
	bits   int           // 1..symbolBits: lengths below 2^bits, as a symbol; anyLength: as a number
	same   [4][8]rc.Prob // by the last outcomes, and how many reads before have the length of the last one
	after  [1 << 8]sameAfter
	mixed  [2][2]int32  // weights: of whether lengths are the same, and of bits
	symbol [2][]rc.Prob // by the bits before, and whether these are those of the length before
	number *rc.Number
}

// sameAfter predicts the next length by the last one, of which it is the low bits.
type sameAfter struct {
	same   rc.Prob
	symbol []rc.Prob // nil: there was none yet
}

func newLengths(b int) *lengths {
	m := &lengths{bits: b, number: rc.NewNumber(), mixed: [2][2]int32{{mixing.One / 2, mixing.One / 2}, {mixing.One / 2, mixing.One / 2}}}
	for i := range m.same {
		rc.FillProbs(m.same[i][:])
	}
	for i := range m.after {
		m.after[i].same = rc.NewProb
	}
	if b <= symbolBits {
		m.symbol = [2][]rc.Prob{rc.NewProbs(1 << b), rc.NewProbs(1 << b)}
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
	prev, ctx, run := uint32(0), 0, uint32(1)
	for i := range max(len(v), len(out)) {
		l := uint32(0)
		if out == nil {
			l = v[i]
		}
		after := &m.after[prev&255]
		same := codeMixed(c, rc.BitOf(l == prev), &m.mixed[0], &m.same[ctx][min(halfOctaves(run), 7)], &after.same)
		ctx = ctx<<1&3 | same
		if run++; same == 0 {
			run = 1
			if m.bits <= symbolBits {
				prev = m.codeSymbol(c, l, prev, after)
			} else {
				prev = m.number.Code(c, l, longMemory)
			}
		}
		if out != nil {
			out[i] = prev
		}
	}
}

// codeSymbol codes a length that is another one than prev.
func (m *lengths) codeSymbol(c *rc.Coder, l, prev uint32, after *sameAfter) uint32 {
	if after.symbol == nil {
		after.symbol = rc.NewProbs(1 << m.bits)
	}
	node := uint32(1)
	for i := m.bits - 1; i >= 0; i-- {
		as := rc.BitOf(node == (prev|1<<m.bits)>>(i+1))
		node = node<<1 | uint32(codeMixed(c, int(l>>i&1), &m.mixed[1], &m.symbol[as][node], &after.symbol[node]))
	}
	return node - 1<<m.bits
}

// codeMixed codes a bit that two probabilities predict.
func codeMixed(c *rc.Coder, bit int, w *[2]int32, a, b *rc.Prob) int {
	x, y := int64(mixing.Stretch(a.P())), int64(mixing.Stretch(b.P()))
	p := mixing.Predict(int64(w[0])*x + int64(w[1])*y)
	bit = c.AnyBit(bit, p)
	step := mixing.Step(bit, p, mixedRate)
	mixing.Move(&w[0], x, step)
	mixing.Move(&w[1], y, step)
	a.Update(bit, longMemory)
	b.Update(bit, longMemory)
	return bit
}

// mixedRate is how fast weights of lengths learn: see mixing.Step.
const mixedRate = 8
