package quals

import (
	"encoding/binary"
	"math/bits"
)

// This package has an arithmetic coder of its own. It keeps the start and the size of its interval in 64 bits and
// shifts out 32 bits at a time; a carry is added to the bytes already written (after Martin, "Range
// encoding", 1979, with 64-bit arithmetic). Its decoder has a state of two numbers, against three of rangecoder.Decoder, so that the
// decoding loops can keep it and a model in registers.

// A decision is a bit and the probability that it is 1: p<<1 | bit, p of 65536.
type decision uint32

// encoder turns decisions into bytes. Decisions are collected and coded in batches,
// so that the loops that model and the loop that codes each have enough registers.
type encoder struct {
	low, size uint64
	out       []byte
}

func newEncoder(out []byte) *encoder { return &encoder{size: ^uint64(0), out: out} }

// encode codes a batch.
func (e *encoder) encode(batch []decision) {
	low, size, out := e.low, e.size, e.out
	for _, d := range batch {
		split := size >> 16 * uint64(d>>1)
		// All ones if the bit is 1, which takes the lower part.
		one := -uint64(d & 1)
		sum, carry := bits.Add64(low, split&^one, 0)
		low = sum
		upper := size - split
		size = upper ^ (upper^split)&one
		if carry != 0 {
			carryInto(out)
		}
		if size>>32 == 0 {
			out = binary.BigEndian.AppendUint32(out, uint32(low>>32))
			low, size = low<<32, size<<32
		}
	}
	e.low, e.size, e.out = low, size, out
}

// carryInto adds one to the bytes written so far, as one big-endian number.
func carryInto(out []byte) {
	for i := len(out) - 1; ; i-- {
		out[i]++
		if out[i] != 0 {
			return
		}
	}
}

// finish ends the stream with the fewest bytes that, followed by zeros, are in the interval.
func (e *encoder) finish() []byte {
	for n := 0; ; n++ {
		below := ^uint64(0) >> (8 * n) // n = 8: 0
		sum, carry := bits.Add64(e.low, below, 0)
		v := sum &^ below
		if n == 0 && carry == 0 && e.low != 0 {
			continue // rounding up gives 2^64, which needs a carry
		}
		if v-e.low >= e.size {
			continue
		}
		if carry != 0 {
			carryInto(e.out)
		}
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], v)
		return append(e.out, b[:n]...)
	}
}

// decoder is the stream that a decoding loop reads. Past its end there are zeros.
type decoder struct {
	src []byte
	pos int
}

// word returns the next four bytes.
func (d *decoder) word() uint64 {
	pos := d.pos
	d.pos += 4
	if pos+4 <= len(d.src) {
		return uint64(binary.BigEndian.Uint32(d.src[pos:]))
	}
	var b [4]byte
	if pos < len(d.src) {
		copy(b[:], d.src[pos:])
	}
	return uint64(binary.BigEndian.Uint32(b[:]))
}

// overrun reports whether more was read than the stream and the bytes after its end that a decoder reads.
func (d *decoder) overrun() bool { return d.pos > len(d.src)+11 }

// done reports whether exactly the stream was read.
func (d *decoder) done() bool { return !d.overrun() && d.pos >= len(d.src) }

// grow returns dst with room for n more bytes. It doubles the room, up to total bytes.
func grow(dst []byte, n, total int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	g := make([]byte, len(dst), max(len(dst)+n, min(total, max(1<<20, 2*len(dst)))))
	copy(g, dst)
	return g
}
