// Package rangecoder is a binary arithmetic coder with 16-bit probabilities (Encoder, Decoder, and Coder, which is either),
// with the adaptive probabilities (Prob, Tree, Number) and the logistic functions (Stretch, Squash) that context models share.
//
// The coder keeps the interval [low, high] in 64 bits and shifts 32 bits out
// whenever the upper halves agree, so no carry can reach bytes already written (as in the coder of lpaq; Mahoney, 2007).
// All arithmetic is on integers: a stream decodes alike on every platform. docs/FORMAT.md, "The arithmetic coder" and
// "Adaptive elements", is the specification.
package rangecoder

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// ErrCorrupt reports that a stream ended before its symbols did.
var ErrCorrupt = errors.New("rangecoder: stream is corrupt or truncated")

// ProbBits is the precision of a probability: P(bit = 1) is p / 2^ProbBits with 0 < p < 2^ProbBits.
const ProbBits = 16

// Encoder writes bits to a growing buffer. The zero value is not ready; use NewEncoder or Reset.
type Encoder struct {
	low, high uint64
	buf       []byte
}

// NewEncoder returns an encoder that appends to buf (which may be nil).
func NewEncoder(buf []byte) *Encoder {
	e := &Encoder{}
	e.Reset(buf)
	return e
}

// Written returns the part of the stream that will not change any more. The slice stays valid as the stream grows.
func (e *Encoder) Written() []byte { return e.buf[:len(e.buf):len(e.buf)] }

// Reset starts a new stream that appends to buf.
func (e *Encoder) Reset(buf []byte) { e.low, e.high, e.buf = 0, ^uint64(0), buf }

// Encode writes bit (0 or 1), to which the model gave probability p/65536 of being 1; 1 <= p <= 65535.
func (e *Encoder) Encode(bit int, p uint32) {
	mid := e.low + (e.high-e.low)>>ProbBits*uint64(p)
	if bit != 0 {
		e.high = mid
	} else {
		e.low = mid + 1
	}
	if (e.low^e.high)>>32 == 0 {
		e.shift()
	}
}

// EncodePair writes the two bits of v, the higher first: p[0] is the probability of the higher being 1, p[1] and p[2]
// that of the lower after a 0 and a 1. It does not branch on the bits, which is faster where they are hard to predict.
func (e *Encoder) EncodePair(v byte, p *[4]uint32) {
	hi := uint64(v >> 1 & 1)
	e.encodeBranchless(hi, p[0])
	e.encodeBranchless(uint64(v&1), p[1+hi])
}

// EncodePairs is EncodePair for each of v, with the probabilities at the same place of p and the state of the encoder in registers.
func (e *Encoder) EncodePairs(v []byte, p [][4]uint32) {
	low, high := e.low, e.high
	p = p[:len(v)]
	for i, v := range v {
		bit, q := uint64(v>>1&1), p[i][0]
		for k := 0; ; k++ {
			mid := low + (high-low)>>ProbBits*uint64(q)
			next := 1 + bit
			high ^= (high ^ mid) & -bit
			low ^= (low ^ (mid + 1)) &^ -bit
			if (low^high)>>32 == 0 {
				e.low, e.high = low, high
				e.shift()
				low, high = e.low, e.high
			}
			if k > 0 {
				break
			}
			bit, q = uint64(v&1), p[i][next&3]
		}
	}
	e.low, e.high = low, high
}

func (e *Encoder) encodeBranchless(bit uint64, p uint32) {
	mid := e.low + (e.high-e.low)>>ProbBits*uint64(p)
	e.high ^= (e.high ^ mid) & -bit
	e.low ^= (e.low ^ (mid + 1)) &^ -bit
	if (e.low^e.high)>>32 == 0 {
		e.shift()
	}
}

// shift moves out the upper 32 bits on which low and high agree.
func (e *Encoder) shift() {
	for (e.low^e.high)>>32 == 0 {
		e.buf = binary.BigEndian.AppendUint32(e.buf, uint32(e.low>>32))
		e.low <<= 32
		e.high = e.high<<32 | 0xffffffff
	}
}

// EncodeBits writes the n low bits of v, most significant first, each as likely 0 as 1; 0 <= n <= 32.
func (e *Encoder) EncodeBits(v uint32, n int) {
	for n > 0 {
		n--
		e.Encode(int(v>>n&1), 1<<(ProbBits-1))
	}
}

// Finish ends the stream and returns the buffer with it. The decoder reads zeros past
// the end, so only as many bytes are written as identify the interval.
func (e *Encoder) Finish() []byte {
	// The shortest big-endian prefix whose zero-extension lies inside [low, high].
	for n := 0; n <= 8; n++ {
		var v uint64
		if n > 0 {
			step := uint64(1) << (64 - 8*n)
			v = e.low &^ (step - 1)
			if v < e.low {
				if v+step < v {
					continue
				}
				v += step
			}
		}
		if v >= e.low && v <= e.high {
			var b [8]byte
			binary.BigEndian.PutUint64(b[:], v)
			e.buf = append(e.buf, b[:n]...)
			break
		}
	}
	return e.buf
}

// Decoder reads what an Encoder wrote, given the same probabilities.
type Decoder struct {
	low, high, x uint64
	src          []byte
	pos          int
}

// NewDecoder returns a decoder of the stream src.
func NewDecoder(src []byte) *Decoder {
	d := &Decoder{}
	d.Reset(src)
	return d
}

// Reset starts on the stream src.
func (d *Decoder) Reset(src []byte) {
	d.low, d.high, d.src, d.pos = 0, ^uint64(0), src, 0
	d.x = uint64(d.next())<<32 | uint64(d.next())
}

// Extend replaces the stream by a longer one that begins with it.
func (d *Decoder) Extend(src []byte) { d.src = src }

// Left returns how many bytes of the stream were not read yet; negative past its end.
func (d *Decoder) Left() int { return len(d.src) - d.pos }

func (d *Decoder) next() uint32 {
	if d.pos+4 <= len(d.src) {
		v := binary.BigEndian.Uint32(d.src[d.pos:])
		d.pos += 4
		return v
	}
	var b [4]byte
	if d.pos < len(d.src) {
		copy(b[:], d.src[d.pos:])
	}
	d.pos += 4
	return binary.BigEndian.Uint32(b[:])
}

// Decode returns the next bit, given probability p/65536 of its being 1; 1 <= p <= 65535.
func (d *Decoder) Decode(p uint32) int {
	mid := d.low + (d.high-d.low)>>ProbBits*uint64(p)
	bit := 0
	if d.x <= mid {
		bit = 1
		d.high = mid
	} else {
		d.low = mid + 1
	}
	if (d.low^d.high)>>32 == 0 {
		d.shift()
	}
	return bit
}

// DecodePair returns two bits written by EncodePair.
func (d *Decoder) DecodePair(p *[4]uint32) byte {
	hi := d.decodeBranchless(p[0])
	return byte(hi<<1 | d.decodeBranchless(p[1+hi]))
}

func (d *Decoder) decodeBranchless(p uint32) uint64 {
	mid := d.low + (d.high-d.low)>>ProbBits*uint64(p)
	_, zero := bits.Sub64(mid, d.x, 0)
	one := zero - 1
	d.high ^= (d.high ^ mid) & one
	d.low ^= (d.low ^ (mid + 1)) &^ one
	if (d.low^d.high)>>32 == 0 {
		d.shift()
	}
	return one & 1
}

func (d *Decoder) shift() {
	for (d.low^d.high)>>32 == 0 {
		d.low <<= 32
		d.high = d.high<<32 | 0xffffffff
		d.x = d.x<<32 | uint64(d.next())
	}
}

// DecodeBits returns n bits, most significant first, written by EncodeBits; 0 <= n <= 32.
func (d *Decoder) DecodeBits(n int) uint32 {
	var v uint32
	for ; n > 0; n-- {
		v = v<<1 | uint32(d.Decode(1<<(ProbBits-1)))
	}
	return v
}

// Err returns ErrCorrupt if the decoder read more than 11 bytes past the end of its stream, or did not read all of it;
// after the last symbol of a sound stream neither is the case. It is a cheap sanity check: a damaged stream may
// also decode to other symbols, which the checksums of sections find.
func (d *Decoder) Err() error {
	if d.pos > len(d.src)+11 || d.pos < len(d.src) {
		return ErrCorrupt
	}
	return nil
}
