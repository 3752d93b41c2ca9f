package inflate

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"orcomgo/internal/deflate"
)

// windowSize is how far back a match may reach.
const windowSize = deflate.WindowSize

// slack is how many bytes a decoder's buffer must have behind its limit: two bytes for each
// of the longest match and the literals before it, and what copying writes too much.
const slack = 1 << 10

// CorruptError says that a deflate stream is invalid. It is the offset in the stream, in
// bytes, of the symbol or the header of a block that is.
type CorruptError int64

func (e CorruptError) Error() string {
	return fmt.Sprintf("flate: corrupt input at offset %d", int64(e))
}

// status tells why a decoder stopped.
type status uint8

const (
	needInput  status = iota // the input ends within a header or a symbol, which is not used up
	outputFull               // the limit is reached
	atStop                   // a dynamic block begins, not before the place to stop
	memberEnds               // the last block has ended, and with it the last byte that it takes part of
	corrupt                  // see corruptAt
	quitted
)

// where in a stream a decoder is
type place uint8

const (
	atBlock place = iota // before the header of a block
	inStored
	inCodes
)

// decoder inflates a deflate stream from memory. It may be stopped after any symbol, and
// be given other buffers to go on with.
//
// The output is either bytes, or symbols of 16 bits where what came before is not known:
// below 256 a byte, else 256 and the place in the unknown windowSize bytes before. Symbols
// are used by setting wide, and having windowSize symbols that refer to those bytes before
// the output.
type decoder struct {
	in  []byte
	bit int // of in: where the next unread bit is

	out   []byte
	n     int // bytes of out that are used
	low   int // where in out a match may begin
	limit int // the decoder stops when n is this or more; out has slack more bytes
	wide  bool
	// wideEnd is where in out the symbols of 16 bits end, if wide was set and is no longer.
	wideEnd int

	place  place
	final  bool
	stored int          // bytes of the stored block that are left
	blocks int          // that have ended since reset
	quit   *atomic.Bool // if it is true, run may stop with quitted

	t   *tables // those of the block
	own *tables // for dynamic blocks
}

func newDecoder() *decoder { return &decoder{own: new(tables)} }

// reset prepares for a stream, or a block, that begins at a bit of in.
func (d *decoder) reset(in []byte, bit int) {
	d.in, d.bit = in, bit
	d.place, d.final, d.blocks = atBlock, false, 0
}

// fastInput is how many bytes of input must be left, from that of the next bit on, for the loops of fast.go and those in assembler.
const fastInput = 16

// run inflates until something stops it. It stops before a dynamic block that is not the
// last one and begins at bit stop or behind.
func (d *decoder) run(stop int) status {
	for {
		switch d.place {
		case atBlock:
			if d.bit >= stop && len(d.in)*8-d.bit >= 3 && deflate.Peek(d.in, d.bit)&7 == dynamicBits {
				return atStop
			}
			if d.quit != nil && d.quit.Load() {
				return quitted
			}
			if d.wide {
				d.narrow()
			}
			if s, ok := d.header(); !ok {
				return s
			}
		case inStored:
			if s, ok := d.copyStored(); !ok {
				return s
			}
		case inCodes:
			for d.place == inCodes {
				if d.n >= d.limit {
					return outputFull
				}
				if len(d.in)-d.bit>>3 >= fastInput {
					d.fast()
					if d.place != inCodes {
						break
					}
					if d.n >= d.limit {
						return outputFull
					}
				}
				if s, ok := d.symbol(); !ok {
					return s
				}
			}
		}
		if d.place == atBlock {
			d.blocks++
			if d.final {
				d.bit = (d.bit + 7) &^ 7 // behind the byte of the last bit
				return memberEnds
			}
		}
	}
}

// dynamicBits are the first bits of a dynamic block that is not the last.
const dynamicBits = 0b100

// fail ends the reading of a header or symbol.
func (d *decoder) fail(r *deflate.Bits) (status, bool) {
	if r.Short {
		return needInput, false
	}
	return corrupt, false
}

// header reads the header of a block.
func (d *decoder) header() (status, bool) {
	r := deflate.Bits{In: d.in, Bit: d.bit}
	head := r.Take(3)
	if r.Short {
		return d.fail(&r)
	}
	switch head >> 1 {
	case 0:
		r.Bit = (r.Bit + 7) &^ 7
		n := r.Take(16)
		inverse := r.Take(16)
		if r.Short || n^inverse != 0xffff {
			return d.fail(&r)
		}
		d.stored, d.place = n, inStored
	case 1:
		d.t, d.place = &fixed, inCodes
	case 2:
		var lengths deflate.CodeLengths
		lits, dists, ok := r.CodeLengths(&lengths)
		if !ok || !d.own.init(lengths[:lits], lengths[lits:][:dists]) {
			return d.fail(&r)
		}
		d.t, d.place = d.own, inCodes
	default:
		return d.fail(&r)
	}
	d.bit, d.final = r.Bit, head&1 != 0
	return 0, true
}

// copyStored copies what there is of a stored block.
func (d *decoder) copyStored() (status, bool) {
	for d.stored > 0 {
		at := d.bit >> 3
		if d.n >= d.limit {
			return outputFull, false
		}
		k := min(d.stored, len(d.in)-at)
		if d.wide {
			k = min(k, (d.limit-d.n+1)/2)
			for i, c := range d.in[at:][:k] {
				binary.LittleEndian.PutUint16(d.out[d.n+2*i:], uint16(c))
			}
			d.n += 2 * k
		} else {
			k = min(k, d.limit-d.n)
			copy(d.out[d.n:], d.in[at:][:k])
			d.n += k
		}
		if k == 0 {
			return needInput, false
		}
		d.bit += 8 * k
		d.stored -= k
	}
	d.place = atBlock
	return 0, true
}

// symbol decodes one literal, or a length and its distance, or the end of the block. It is
// for the last bytes of the input, and for what is invalid.
func (d *decoder) symbol() (status, bool) {
	r := deflate.Bits{In: d.in, Bit: d.bit}
	total := len(d.in) * 8
	s, n, more := d.t.lits.Read(deflate.Peek(d.in, r.Bit), total-r.Bit)
	if r.Short = more; n == 0 {
		return d.fail(&r)
	}
	r.Take(n)
	switch {
	case s < 256:
		if d.wide {
			binary.LittleEndian.PutUint16(d.out[d.n:], uint16(s))
			d.n += 2
		} else {
			d.out[d.n] = byte(s)
			d.n++
		}
		d.bit = r.Bit
		return 0, true
	case s == deflate.EndOfBlock:
		d.bit, d.place = r.Bit, atBlock
		return 0, true
	case s >= deflate.Literals:
		return d.fail(&r)
	}
	length := int(deflate.LengthBase[s-257]) + r.Take(int(deflate.LengthExtra[s-257]))
	if r.Short {
		return d.fail(&r)
	}
	s, n, more = d.t.dists.Read(deflate.Peek(d.in, r.Bit), total-r.Bit)
	r.Short = more
	if n == 0 {
		r.Need(max(1, d.t.dists.Min))
		return d.fail(&r)
	}
	r.Take(n)
	if s >= deflate.Dists {
		return d.fail(&r)
	}
	dist := int(deflate.DistBase[s]) + r.Take(int(deflate.DistExtra[s]))
	if r.Short {
		return d.fail(&r)
	}
	if d.wide {
		dist, length = 2*dist, 2*length
	}
	if dist > d.n-d.low {
		return d.fail(&r)
	}
	d.bit = r.Bit
	for i := range length { // byte by byte, as source and target may overlap
		d.out[d.n+i] = d.out[d.n-dist+i]
	}
	d.n += length
	return 0, true
}

// narrow goes on with bytes if no symbol of the last windowSize is a reference.
func (d *decoder) narrow() {
	if d.n-d.low < 4*windowSize {
		return // they are those before the output, if only in part
	}
	const high = 0xff00ff00ff00ff00
	start := d.n - 2*windowSize
	for i := d.n - 8; i >= start; i -= 8 {
		if deflate.Load64(d.out, i)&high != 0 {
			return
		}
	}
	packSymbols(d.out[start:])
	d.wide, d.wideEnd, d.low, d.n = false, start, start, start+windowSize
}

// packSymbols turns the first windowSize symbols of b, none of them a reference, into bytes.
func packSymbols(b []byte) {
	for i := 0; i < windowSize; i += 4 {
		v := deflate.Load64(b, 2*i)
		v |= v >> 8
		deflate.Store32(b, i, uint32(v&0xffff|v>>16&0xffff0000))
	}
}

// resolver turns symbols into bytes. It has an entry for every value, so that indexing needs
// no check, of which those behind the references are not used.
type resolver [1 << 16]byte

// set sets the bytes before the output, windowSize of them at most. Where there are fewer,
// references to what would be before them must not occur (see known).
func (r *resolver) set(window []byte) {
	for i := range 256 {
		r[i] = byte(i)
	}
	copy(r[256+windowSize-len(window):], window)
}

// known says whether all of n symbols at a place in b are bytes, or refer to the last so many
// bytes of a window.
func known(b []byte, at, n, window int) bool {
	for i := range n {
		if s := binary.LittleEndian.Uint16(b[at+2*i:]); s >= 256 && int(s) < 256+windowSize-window {
			return false
		}
	}
	return true
}

// resolve turns n symbols of src, from one on, into bytes of dst, which may be where the
// symbols are.
func (r *resolver) resolve(dst []byte, src []byte, n int) {
	if len(src) < 2*n || len(dst) < n {
		panic("inflate: too little room for the symbols")
	}
	i := 0
	for ; i+8 <= n; i += 8 {
		v, w := deflate.Load64(src, 2*i), deflate.Load64(src, 2*i+8)
		a := uint64(r[uint16(v)]) | uint64(r[uint16(v>>16)])<<8 | uint64(r[uint16(v>>32)])<<16 | uint64(r[v>>48])<<24
		b := uint64(r[uint16(w)]) | uint64(r[uint16(w>>16)])<<8 | uint64(r[uint16(w>>32)])<<16 | uint64(r[w>>48])<<24
		deflate.Store64(dst, i, a|b<<32)
	}
	for ; i < n; i++ {
		dst[i] = r[binary.LittleEndian.Uint16(src[2*i:])]
	}
}
