package doubles

import (
	"encoding/binary"
	"slices"
)

// bitWriter writes numbers of bits, the lowest bit first.
type bitWriter struct {
	out []byte // with 16 bytes of room behind all numbers
	at  int    // bytes that are complete
	acc uint64 // the bits after them
	n   int    // number of these, less than 8
}

// newBitWriter returns a writer of that many numbers, in the memory of buf if that is enough.
func newBitWriter(buf []byte, numbers int) bitWriter {
	size := 8*numbers + 16
	return bitWriter{out: slices.Grow(buf[:0], size)[:size]}
}

// put appends the n low bits of v, whose other bits are 0; 0 <= n <= 63.
func (w *bitWriter) put(v uint64, n int) {
	if n > 56 {
		w.put56(v&(1<<32-1), 32)
		v, n = v>>32, n-32
	}
	w.put56(v, n)
}

// put56 is put for at most 56 bits. It always writes eight bytes, so that it has no branch that depends on n.
func (w *bitWriter) put56(v uint64, n int) {
	w.acc |= v << (w.n & 63)
	binary.LittleEndian.PutUint64(w.out[w.at:], w.acc)
	w.n += n
	w.at += w.n >> 3
	w.acc >>= w.n & 56
	w.n &= 7
}

// finish returns what was written.
func (w *bitWriter) finish() []byte {
	if w.n > 0 {
		w.out[w.at] = byte(w.acc)
		w.at++
	}
	return w.out[:w.at]
}

const readerPadding = 16

// readResiduals sets z to the residuals of classes, whose bits a bitWriter wrote to padded, which has readerPadding more bytes.
// It returns how many bits these are, and false if there are not so many, or a class is none.
func readResiduals(z []uint64, classes, padded []byte) (bit int, ok bool) {
	end, most := len(padded)-readerPadding, 0
	z = z[:len(classes)]
	if end == 0 { // no residual has bits besides the highest one
		for j, class := range classes {
			z[j] = uint64(class & (secondPredictor - 1))
			most = max(most, int(z[j]))
		}
		return 0, most <= 1
	}
	for j, class := range classes {
		n := int(class & (secondPredictor - 1))
		most = max(most, n)
		none := (n - 1) >> 63 // -1 if there are no bits
		k := (n - 1) &^ none & 63
		at := min(bit>>3, end)
		x := binary.LittleEndian.Uint64(padded[at:]) >> (bit & 7)
		x |= uint64(padded[at+8]) << (63 - bit&7) << 1
		top := uint64(1) << k
		z[j] = (x&(top-1) | top) &^ uint64(none)
		bit += k
	}
	return bit, most <= 64 && bit <= 8*end
}
