// Package rangecoder is a binary arithmetic coder with 16-bit probabilities (Encoder, Decoder, and Coder, which is either),
// and the adaptive probabilities (Prob, Tree, Number) that context models share.
//
// The coder keeps the start and the size of its interval in 64 bits and shifts 32 bits out at a time. A carry is added to the bytes that
// are already written (after Martin, "Range encoding", 1979). All arithmetic is on integers: a stream decodes alike on every platform.
// docs/FORMAT.md, "The arithmetic coder" and "Adaptive elements", is the specification.
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

// wholeSize is the size of the interval at first.
const wholeSize = ^uint64(0)

// Encoder writes bits to a growing buffer. The zero value is not ready; use NewEncoder or Reset.
type Encoder struct {
	low, size uint64
	buf       []byte
}

// NewEncoder returns an encoder that appends to buf (which may be nil).
func NewEncoder(buf []byte) *Encoder {
	e := &Encoder{}
	e.Reset(buf)
	return e
}

// Written returns the part of the stream that will not change any more. The slice stays valid as the stream grows.
func (e *Encoder) Written() []byte {
	n := len(e.buf)
	for n > 0 && e.buf[n-1] == 0xff { // a carry may change these and the byte before them
		n--
	}
	n = max(n-1, 0)
	return e.buf[:n:n]
}

// Len returns how many bytes are written so far.
func (e *Encoder) Len() int { return len(e.buf) }

// Reset starts a new stream that appends to buf.
func (e *Encoder) Reset(buf []byte) { e.low, e.size, e.buf = 0, wholeSize, buf }

// Encode writes bit (0 or 1), to which the model gave probability p/65536 of being 1; 1 <= p <= 65535.
func (e *Encoder) Encode(bit int, p uint32) {
	split := e.size >> ProbBits * uint64(p)
	if bit != 0 {
		e.size = split
	} else {
		e.size -= split
		if e.low += split; e.low < split {
			carryInto(e.buf)
		}
	}
	if e.size>>32 == 0 {
		e.shift()
	}
}

// shift moves the upper 32 bits of low out.
func (e *Encoder) shift() {
	e.buf = binary.BigEndian.AppendUint32(e.buf, uint32(e.low>>32))
	e.low, e.size = e.low<<32, e.size<<32
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

// A Decision is a bit and the probability that it is 1: p<<1 | bit, with p as for Encode.
type Decision uint32

// EncodeAll writes decisions. A model that first collects many of them leaves more registers to its own loop and to this one, which does
// not branch on the bits.
func (e *Encoder) EncodeAll(all []Decision) {
	low, size := e.low, e.size
	for _, d := range all {
		split := size >> ProbBits * uint64(d>>1)
		one := -uint64(d & 1) // all ones if the bit is 1, which takes the lower part
		sum, carry := bits.Add64(low, split&^one, 0)
		low = sum
		upper := size - split
		size = upper ^ (upper^split)&one
		if carry != 0 {
			carryInto(e.buf)
		}
		if size>>32 == 0 {
			e.low, e.size = low, size
			e.shift()
			low, size = e.low, e.size
		}
	}
	e.low, e.size = low, size
}

// Finish ends the stream and returns the buffer with it: the fewest bytes that, followed by zeros, are in the interval. The decoder reads
// zeros past the end.
func (e *Encoder) Finish() []byte {
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
			carryInto(e.buf)
		}
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], v)
		e.buf = append(e.buf, b[:n]...)
		return e.buf
	}
}

// Decoder reads what an Encoder wrote, given the same probabilities.
type Decoder struct {
	code, size uint64 // the stream less the start of the interval, and the size of the interval
	src        []byte
	pos        int
	more       func() (src []byte, ok bool) // of Follow
}

// NewDecoder returns a decoder of the stream src.
func NewDecoder(src []byte) *Decoder {
	d := &Decoder{}
	d.Reset(src)
	return d
}

// Reset starts on the stream src.
func (d *Decoder) Reset(src []byte) {
	d.size, d.src, d.pos = wholeSize, src, 0
	d.code = d.next()<<32 | d.next()
}

// Follow starts on a stream that is still being written. more waits for more of it and returns it as far as it is written, at last all of
// it; from then on it returns false.
func (d *Decoder) Follow(more func() (src []byte, ok bool)) {
	d.more = more
	d.Reset(nil)
}

// Left returns how many bytes of the stream were not read yet; negative past its end.
func (d *Decoder) Left() int { return len(d.src) - d.pos }

// next returns the next four bytes of the stream, the first one highest, and zeros past its end.
func (d *Decoder) next() uint64 {
	d.pos += 4
	if d.pos > len(d.src) {
		return d.atEnd()
	}
	return uint64(binary.BigEndian.Uint32(d.src[d.pos-4:]))
}

// atEnd is next where fewer than four bytes are left, or have been written so far.
func (d *Decoder) atEnd() uint64 {
	for d.more != nil && d.pos > len(d.src) {
		d.wait()
	}
	var b [4]byte
	copy(b[:], d.src[min(d.pos-4, len(d.src)):])
	return uint64(binary.BigEndian.Uint32(b[:]))
}

// wait waits for more of a stream that is being written.
func (d *Decoder) wait() {
	if src, ok := d.more(); ok {
		d.src = src
	} else {
		d.more = nil
	}
}

// Decode returns the next bit, given probability p/65536 of its being 1; 1 <= p <= 65535.
func (d *Decoder) Decode(p uint32) int {
	split := d.size >> ProbBits * uint64(p)
	bit := 0
	if d.code < split {
		bit = 1
		d.size = split
	} else {
		d.code -= split
		d.size -= split
	}
	if d.size>>32 == 0 {
		d.shift()
	}
	return bit
}

// DecodePair returns two bits, the higher one first: p[0] is the probability of that being 1, p[1] and p[2] that of the lower one after a 0
// and a 1. It does not branch on the bits, which is faster where they are hard to predict.
func (d *Decoder) DecodePair(p *[4]uint32) byte {
	hi := d.decodeBranchless(p[0])
	return byte(hi<<1 | d.decodeBranchless(p[1+hi]))
}

func (d *Decoder) decodeBranchless(p uint32) uint64 {
	split := d.size >> ProbBits * uint64(p)
	_, one := bits.Sub64(d.code, split, 0)
	rest := d.size - split
	d.size = rest ^ (rest^split)&-one
	d.code -= split & (one - 1)
	if d.size>>32 == 0 {
		d.shift()
	}
	return one
}

func (d *Decoder) shift() {
	d.size <<= 32
	d.code = d.code<<32 | d.next()
}

// Overrun reports whether more than 11 bytes past the end of the stream were read, which never happens in a sound one.
func (d *Decoder) Overrun() bool { return d.pos > len(d.src)+11 }

// Err returns ErrCorrupt if the decoder read more than 11 bytes past the end of its stream, or did not read all of it;
// after the last symbol of a sound stream neither is the case. It is a cheap sanity check: a damaged stream may
// also decode to other symbols, which the checksums of sections find. Err waits for the end of a stream that is being written.
func (d *Decoder) Err() error {
	for d.more != nil {
		d.wait()
	}
	if d.Overrun() || d.pos < len(d.src) {
		return ErrCorrupt
	}
	return nil
}
