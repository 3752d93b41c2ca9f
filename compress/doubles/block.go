package doubles

import (
	"encoding/binary"
	"math/bits"
)

// blockValues is how many values a block has, but for the last one.
const blockValues = 1 << 14

// constantFlag is added to the number of the second predictor of a block whose classes are all the byte that follows.
const constantFlag = 128

// block is a part of an array, as it is predicted: where it begins, how many values it has, and by which two predictors, which may be the
// same.
type block struct {
	first, count int
	pair         [2]predictor
}

// blocksOf returns the blocks of n values, which have no predictors yet.
func blocksOf(n int) []block {
	list := make([]block, (n+blockValues-1)/blockValues)
	for i := range list {
		list[i] = block{first: i * blockValues, count: min(blockValues, n-i*blockValues)}
	}
	return list
}

// residual returns what is coded for a value given its prediction.
func residual(actual, predicted uint64) uint64 {
	d := int64(actual - predicted)
	return uint64(d<<1 ^ d>>63)
}

// restored is the inverse of residual.
func restored(z, predicted uint64) uint64 { return predicted + (z>>1 ^ -(z & 1)) }

// residuals returns what a block leaves after prediction: a class for each value, and the bits of the residuals, without the highest ones.
// Both are valid until the next call.
func (w *workspace) residuals(v *values, b *block) (classes, packed []byte) {
	first := w.first[:b.count]
	v.fill(first, b.pair[0], b.first)
	second := first
	if b.pair[0] != b.pair[1] {
		second = w.second[:b.count]
		v.fill(second, b.pair[1], b.first)
	}
	w.bits = take(w.bits, 8*b.count+16)
	classes = w.classes[:b.count]
	return classes, packResiduals(w.bits, classes, v.own()[b.first:], first, second)
}

// packResiduals sets classes to those of values and returns the bits of residuals, in the memory of buffer. It does not branch on values,
// since these are hard to predict.
func packResiduals(buffer, classes []byte, actual, first, second []uint64) []byte {
	n := len(classes)
	w := bitWriter{out: buffer}
	actual, first, second = actual[:n], first[:n], second[:n]
	for i := range classes {
		x := actual[i]
		z, z2 := residual(x, first[i]), residual(x, second[i])
		size, size2 := bits.Len64(z), bits.Len64(z2)
		other := (size2 - size) >> 63 // -1 if the second prediction is better
		size += (size2 - size) & other
		z ^= (z ^ z2) & uint64(other)
		classes[i] = byte(2*size - other)
		k := size - 1 + int(uint(size-1)>>63) // bits without the highest one
		w.put(z&(1<<(k&63)-1), k)
	}
	return w.out[:w.at+(w.n+7)/8]
}

const readerPadding = 16

// readResiduals sets z to the residuals of classes, whose bits packResiduals made; padded has readerPadding more bytes. It returns how many
// bits these are, and false if there are not so many.
func readResiduals(z []uint64, classes, padded []byte) (bit int, ok bool) {
	end := len(padded) - readerPadding
	z = z[:len(classes)]
	for j, class := range classes {
		n := int(class >> 1)
		none := (n - 1) >> 63 // -1 if there are no bits
		k := (n - 1) &^ none & 63
		at := min(bit>>3, end)
		x := binary.LittleEndian.Uint64(padded[at:]) >> (bit & 7)
		x |= uint64(padded[at+8]) << (63 - bit&7) << 1
		top := uint64(1) << k
		z[j] = (x&(top-1) | top) &^ uint64(none)
		bit += k
	}
	return bit, bit <= 8*end
}
