package doubles

import "encoding/binary"

// bitWriter writes numbers of bits, the lowest bit first.
type bitWriter struct {
	out []byte // with 16 bytes of room behind all numbers
	at  int    // bytes that are complete
	acc uint64 // the bits after them
	n   int    // number of these, less than 8
}

// put appends the n low bits of v, whose other bits are 0; 0 <= n <= 63. It always writes nine bytes, so that it has no branch that depends
// on n.
func (w *bitWriter) put(v uint64, n int) {
	out := w.out[w.at:][:9]
	low, high := w.acc|v<<(w.n&7), v>>(63-w.n&7)>>1
	binary.LittleEndian.PutUint64(out, low)
	out[8] = byte(high)
	w.n += n
	whole := w.n >> 3
	w.at += whole
	w.n &= 7
	w.acc = low>>(8*whole) | high
}
