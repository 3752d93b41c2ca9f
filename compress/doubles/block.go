package doubles

import (
	"encoding/binary"
	"math/bits"
)

const (
	chunkValues = 1 << 19
	// The first blocks of a chunk are short, since many predictors look further back than they are long.
	firstBlock  = 1 << 10
	secondBlock = 1 << 12
	blockValues = 1 << 14 // of the others
)

// blockEnd returns where the block ends that begins at a value of a chunk of n values.
func blockEnd(first, n int) int {
	switch first {
	case 0:
		return min(firstBlock, n)
	case firstBlock:
		return min(first+secondBlock, n)
	}
	return min(first+blockValues, n)
}

// A class of a residual is the number of its bits, and 128 if the second predictor of the block was taken.
const secondPredictor = 128

// Flags of a block besides the numbers of its predictors.
const (
	xorFlag      = 128 // of the first one: residuals are XORs
	constantFlag = 128 // of the second one: all classes are the byte that follows
)

// block is a part of a chunk: from value first to before last.
type block struct {
	pair [2]predictor
	xor  bool
}

// residual returns what is coded for a value given its prediction.
func residual(actual, predicted uint64, xor bool) uint64 {
	if xor {
		return actual ^ predicted
	}
	d := int64(actual - predicted)
	return uint64(d<<1 ^ d>>63)
}

// restored is the inverse of residual.
func restored(z, predicted uint64, xor bool) uint64 {
	if xor {
		return predicted ^ z
	}
	return predicted + (z>>1 ^ -(z & 1))
}

// scratch is memory for blocks.
type scratch struct {
	classes [blockValues]byte
	first   [blockValues]uint64 // predictions of the first predictor
	second  [blockValues]uint64
	floats  [2][runValues]float64 // predictions before they are integers
	ints    [2][runValues]uint64
	lengths [maxPredictors][sampleWords]uint64 // bits of residuals in a sample, eight to a word
	bits    []byte                             // that a bitWriter wrote
}

// leftOver is what a block leaves after prediction: a class for each value, and the bits of the residuals, without the highest ones.
type leftOver struct {
	classes, bits []byte
	xor           bool // residuals are exclusive ors
}

// residuals returns what the values from first to before last leave, predicted by the better one of p and q, which may be the same. It is
// valid until the next call.
func (s *scratch) residuals(v *values, p, q predictor, first, last int) leftOver {
	n := last - first
	pa, pb := s.first[:n], s.first[:n]
	v.fill(pa, s, p, first)
	if p != q {
		pb = s.second[:n]
		v.fill(pb, s, q, first)
	}
	l := leftOver{classes: s.classes[:n], xor: v.mode == modeBits && betterXor(v.u[first:last], pa)}
	w := newBitWriter(s.bits, n)
	packResiduals(&w, l.classes, v.u[first:last], pa, pb, l.xor)
	s.bits = w.finish()
	l.bits = s.bits
	return l
}

// packResiduals sets classes to those of values and appends the bits of residuals to bw. It does not branch on values, since these are
// hard to predict.
func packResiduals(bw *bitWriter, classes []byte, actual, first, second []uint64, xor bool) {
	n := len(classes)
	w := *bw
	actual, first, second = actual[:n], first[:n], second[:n]
	for i := range classes {
		x := actual[i]
		z, z2 := residual(x, first[i], xor), residual(x, second[i], xor)
		size, size2 := bits.Len64(z), bits.Len64(z2)
		other := (size2 - size) >> 63 // -1 if the second prediction is better
		size += (size2 - size) & other
		z ^= (z ^ z2) & uint64(other)
		classes[i] = byte(size + secondPredictor&other)
		k := size - 1 + int(uint(size-1)>>63) // bits without the highest one
		w.put(z&(1<<(k&63)-1), k)
	}
	*bw = w
}

// allEqual reports whether all bytes of b are the same.
func allEqual(b []byte) bool {
	word := lowBytes * uint64(b[0])
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b) != word {
			return false
		}
	}
	for _, x := range b {
		if x != byte(word) {
			return false
		}
	}
	return true
}

// betterXor reports whether the XORs of numbers with predictions have fewer bits than the differences.
func betterXor(actual, predicted []uint64) bool {
	sum := 0
	for i := 0; i < len(actual); i += 16 {
		sum += bits.Len64(residual(actual[i], predicted[i], true)) - bits.Len64(residual(actual[i], predicted[i], false))
	}
	return sum < 0
}
