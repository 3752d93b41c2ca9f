package names

import "encoding/binary"

// bitWriter collects bits that no model could shorten. They are stored as they are, which is faster than the
// arithmetic coder. The first bit written is the lowest of the first byte.
type bitWriter struct {
	buf []byte
	acc uint64
	n   int
}

// put writes the k low bits of v, k <= 32; the others must be 0.
func (w *bitWriter) put(v uint32, k int) {
	w.acc |= uint64(v) << w.n
	if w.n += k; w.n >= 32 {
		w.buf = binary.LittleEndian.AppendUint32(w.buf, uint32(w.acc))
		w.acc >>= 32
		w.n -= 32
	}
}

// finish returns all bytes; unused bits of the last one are zeros.
func (w *bitWriter) finish() []byte {
	for ; w.n > 0; w.n -= 8 {
		w.buf = append(w.buf, byte(w.acc))
		w.acc >>= 8
	}
	return w.buf
}

// bitReader reads what a bitWriter wrote.
type bitReader struct {
	src  []byte
	acc  uint64
	n    int
	over bool // more bits were read than there are
}

// get returns the next k bits, k <= 32; zeros past the end.
func (r *bitReader) get(k int) uint32 {
	if r.n < k {
		if len(r.src) >= 4 {
			r.acc |= uint64(binary.LittleEndian.Uint32(r.src)) << r.n
			r.src = r.src[4:]
			r.n += 32
		} else {
			for ; len(r.src) > 0; r.src = r.src[1:] {
				r.acc |= uint64(r.src[0]) << r.n
				r.n += 8
			}
			if r.n < k {
				r.over, r.n = true, k
			}
		}
	}
	v := uint32(r.acc & (1<<k - 1))
	r.acc >>= k
	r.n -= k
	return v
}

// exhausted reports whether exactly the bits that were written have been read.
func (r *bitReader) exhausted() bool { return !r.over && len(r.src) == 0 && r.n < 8 && r.acc == 0 }
