package inflate

import (
	"bytes"
	"math/bits"

	"orcomgo/internal/deflate"
)

// Where a member or a block might begin is found by looking for what only few bits could
// be: the header of a member, or that of a dynamic block that is not the last one, which
// describes codes that must be complete. Whether it is one shows when the text before it has
// been decoded.

// start is such a place, a bit. In front of a member, header is set.
type start struct {
	bit    int
	header bool
}

// precodeSums has, for four lengths of 3 bits, the sum of 2^(7-length).
var precodeSums [1 << 12]uint16

func init() {
	for i := range precodeSums {
		for k := 0; k < 12; k += 3 {
			if n := i >> k & 7; n != 0 {
				precodeSums[i] += 1 << (7 - n)
			}
		}
	}
}

// finder looks for places in in.
type finder struct {
	in       []byte
	from, to int // bits
	header   int // the next byte at which a member's header may begin, up to len(in)
	checks   int // how many block headers it may decode before it gives up
	codes    [2]deflate.Code
}

func newFinder(in []byte, from, to int) *finder {
	f := &finder{in: in, from: from, to: to, header: from/8 - 1, checks: 1000 + (to-from)/64}
	f.nextHeader()
	return f
}

// nextHeader moves on to the next header of a member.
func (f *finder) nextHeader() {
	for f.header++; f.header < len(f.in); f.header++ {
		k := bytes.Index(f.in[f.header:], []byte{0x1f, 0x8b, 8})
		if k < 0 {
			break
		}
		f.header += k
		if _, err := deflate.HeaderSize(f.in[f.header:]); err == nil {
			return
		}
	}
	f.header = len(f.in)
}

// next returns the next place. It returns false if there is none before f.to.
func (f *finder) next() (start, bool) {
	for f.from < f.to {
		if 8*f.header < f.from {
			f.nextHeader()
		}
		end := min(f.to, 8*f.header)
		if bit, ok := f.block(end); ok {
			f.from = bit + 1
			return start{bit: bit}, true
		}
		f.from = end
		if end < f.to && f.header < len(f.in) {
			f.nextHeader()
			f.from = end + 1
			return start{bit: end, header: true}, true
		}
		if end == 8*len(f.in) {
			break
		}
	}
	return start{}, false
}

// block returns where the next dynamic block may begin, before a bit.
func (f *finder) block(end int) (int, bool) {
	// The bits of a byte and the seven behind it hold the first 13 bits of headers that
	// begin within 48.
	const stride = 48
	for base := f.from &^ 7; base < end && base>>3+16 <= len(f.in); base += stride {
		v := deflate.Load64(f.in, base>>3)
		m := ^v & ^(v >> 1) & (v >> 2)                   // not the last block, dynamic
		m &^= v >> 4 & (v >> 5) & (v >> 6) & (v >> 7)    // more than 286 literals and lengths
		m &^= v >> 9 & (v >> 10) & (v >> 11) & (v >> 12) // more than 30 distances
		m &= 1<<stride - 1
		if base < f.from {
			m &^= 1<<(f.from-base) - 1
		}
		for ; m != 0; m &= m - 1 {
			bit := base + bits.TrailingZeros64(m)
			if bit >= end {
				return 0, false
			}
			if f.precode(bit) && f.lengths(bit) {
				return bit, true
			}
		}
	}
	return 0, false
}

// precode says whether the code for code lengths is complete.
func (f *finder) precode(bit int) bool {
	at := bit + 13
	if at>>3+10 > len(f.in) {
		return false
	}
	n := deflate.Load64(f.in, at>>3)>>(at&7)&15 + 4
	at += 4
	v := deflate.Load64(f.in, at>>3) >> (at & 7) & (1<<(3*n) - 1)
	return precodeSums[v&4095]+precodeSums[v>>12&4095]+precodeSums[v>>24&4095]+precodeSums[v>>36&4095]+precodeSums[v>>48&4095] == 128
}

// lengths says whether the codes of literals and distances are what a block has.
func (f *finder) lengths(bit int) bool {
	if f.checks--; f.checks < 0 {
		f.to = bit // enough
		return false
	}
	r := deflate.Bits{In: f.in, Bit: bit + 3}
	var lengths deflate.CodeLengths
	lits, dists, ok := r.CodeLengths(&lengths)
	if !ok || lengths[deflate.EndOfBlock] == 0 {
		return false
	}
	return f.codes[0].InitBlock(lengths[:lits]) && f.codes[0].Complete && f.codes[1].InitBlock(lengths[lits:][:dists])
}
