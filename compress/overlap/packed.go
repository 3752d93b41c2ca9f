package overlap

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Bases are 2 bits each, base j in byte j/4 at bits 2*(j%4), as in bins.Block.Packed, so
// that one unaligned 8-byte load yields the next 29 bases or more. Every packed slice ends
// in pad bytes that belong to no base, which lets the loads run over the end.
const pad = 16

// chunk is how many bases load returns.
const chunk = 28

const chunkMask = 1<<(2*chunk) - 1

// load returns the 28 bases of p from base pos on, the first in the lowest bits.
func load(p []byte, pos int) uint64 {
	return binary.LittleEndian.Uint64(p[pos>>2:]) >> (2 * uint(pos&3)) & chunkMask
}

// mismatchBits returns a word with bit 2*j set where base j of the chunks a and b differ.
func mismatchBits(a, b uint64) uint64 {
	d := a ^ b
	return (d | d>>1) & 0x5555555555555555
}

// firstBases keeps the first n bases of a chunk; 0 <= n <= 28.
func firstBases(n int) uint64 { return 1<<(2*uint(n)) - 1 }

// distance returns the number of bases in which a[apos:apos+n] and b[bpos:bpos+n]
// differ, giving up once it exceeds limit. skip, if not nil, holds a chunk mask for each 28
// bases of the range: bases whose low bit is set there do not count.
func distance(a []byte, apos int, b []byte, bpos, n, limit int, skip []uint64) int {
	d := 0
	for i := 0; n > 0; i++ {
		m := mismatchBits(load(a, apos), load(b, bpos))
		if n < chunk {
			m &= firstBases(n)
		}
		if skip != nil {
			m &^= skip[i]
		}
		d += bits.OnesCount64(m)
		if d > limit {
			return d
		}
		apos += chunk
		bpos += chunk
		n -= chunk
	}
	return d
}

// reverseWord returns the reverse complement of the n bases in the low bits of x; 0 < n <= 32.
func reverseWord(x uint64, n int) uint64 {
	x = ^x
	x = bits.ReverseBytes64(x)
	x = x>>4&0x0f0f0f0f0f0f0f0f | x&0x0f0f0f0f0f0f0f0f<<4
	x = x>>2&0x3333333333333333 | x&0x3333333333333333<<2
	return x >> (64 - 2*uint(n))
}

// reverseInto writes the reverse complement of the n bases at src into dst, which must
// hold n bases and pad.
func reverseInto(dst, src []byte, n int) {
	// Whole chunks are taken from the far end of src; dst fills from its start.
	at := 0
	for i := n; i > 0; i -= chunk {
		m := min(i, chunk)
		w := reverseWord(load(src, i-m)&firstBases(m), m)
		binary.LittleEndian.PutUint64(dst[at:], w) // chunk is a multiple of 4: at stays on a byte
		at += chunk / 4
	}
}

// fourBases[b] is the four bases of a byte, one a byte.
var fourBases = func() (t [256]uint32) {
	for b := range uint32(256) {
		t[b] = b&3 | b>>2&3<<8 | b>>4&3<<16 | b>>6&3<<24
	}
	return
}()

// unpack appends n bases of p, from base pos on, one a byte (0..3).
func unpack(dst []byte, p []byte, pos, n int) []byte {
	at := len(dst)
	dst = slices.Grow(dst, n+chunk)[:at+n+chunk] // whole chunks are written
	for end := at + n; at < end; at, pos = at+chunk, pos+chunk {
		w, d := load(p, pos), dst[at:at+chunk]
		for i := 0; i < chunk; i, w = i+4, w>>8 {
			binary.LittleEndian.PutUint32(d[i:], fourBases[byte(w)])
		}
		n -= chunk
	}
	return dst[:at+n]
}

// sequence is packed bases, with pad.
type sequence struct {
	packed []byte
	n      int
}

// append adds bases, one a byte.
func (s *sequence) append(bases []byte) {
	size := (s.n+len(bases)+3)/4 + pad
	if more := size - len(s.packed); more > 0 {
		s.packed = append(s.packed, make([]byte, more)...)
	}
	for i, c := range bases {
		s.packed[(s.n+i)>>2] |= c & 3 << (2 * uint((s.n+i)&3))
	}
	s.n += len(bases)
}

// set changes base i.
func (s *sequence) set(i int, c byte) {
	shift := 2 * uint(i&3)
	s.packed[i>>2] = s.packed[i>>2]&^(3<<shift) | c&3<<shift
}

// mix64 spreads a k-mer over 64 bits (the finaliser of SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
func mix64(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
