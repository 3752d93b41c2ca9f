// Package bases works on packed bases: A, C, G and T are 0 to 3 and have two bits each.
//
// Packed bytes have base i in byte i/4 at bits 2*(i%4), so one unaligned load yields many bases, the first one in the lowest bits. Where
// a function reads or writes whole words, Pad bytes that are not used follow the last base. Words have base i in word i/32 at bits
// 2*(i%32); in little-endian memory they are packed bytes as well.
package bases

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

const (
	// PerWord is how many bases a word of 64 bits has.
	PerWord = 32
	// PerChunk is how many bases Chunk returns, which needs one load: those of eight bytes less the three that may precede the first one,
	// in whole bytes.
	PerChunk = 28
	// Pad is how many bytes follow packed bases, so that loads near their end stay inside of the slice.
	Pad = 16
	// LowBits has the low bit of each base of a word.
	LowBits = 0x5555555555555555
)

// PackedLen returns how many bytes n bases take.
func PackedLen(n int) int { return (n + 3) / 4 }

// At returns base i.
func At(p []byte, i int) byte { return p[i>>2] >> (2 * uint(i&3)) & 3 }

// Set replaces base i by c, which is below 4.
func Set(p []byte, i int, c byte) {
	shift := 2 * uint(i&3)
	p[i>>2] = p[i>>2]&^(3<<shift) | c<<shift
}

// Word returns the 32 bases from base i on. It reads nine bytes.
func Word(p []byte, i int) uint64 {
	p = p[i>>2:][:9]
	shift := 2 * uint(i&3)
	return binary.LittleEndian.Uint64(p)>>shift | uint64(p[8])<<(64-shift)
}

// Chunk returns the PerChunk bases from base i on; the bits above them are 0. It reads eight bytes.
func Chunk(p []byte, i int) uint64 {
	return binary.LittleEndian.Uint64(p[i>>2:]) >> (2 * uint(i&3)) & (1<<(2*PerChunk) - 1)
}

// First returns a mask of the first n bases of a word; 0 <= n <= 32.
func First(n int) uint64 { return 1<<(2*uint(n)) - 1 }

// Reverse reverses the order of the 32 bases of a word.
func Reverse(w uint64) uint64 {
	w = bits.ReverseBytes64(w)
	w = w>>4&0x0f0f0f0f0f0f0f0f | w&0x0f0f0f0f0f0f0f0f<<4
	return w>>2&0x3333333333333333 | w&0x3333333333333333<<2
}

// ReverseComplement returns the reverse complement of the first n bases of a word; 0 < n <= 32. The others do not matter.
func ReverseComplement(w uint64, n int) uint64 { return ^Reverse(w) >> (2 * uint(PerWord-n)) }

// Differing returns a word with the low bit of each base in which a and b differ.
func Differing(a, b uint64) uint64 {
	d := a ^ b
	return (d | d>>1) & LowBits
}

// CountDiffering returns in how many of n bases a, from base i on, and b, from base j on, differ. It stops early when there are more than
// limit. skip, if not nil, has a mask for each PerChunk bases: bases whose low bit is set are not counted.
func CountDiffering(a []byte, i int, b []byte, j, n, limit int, skip []uint64) int {
	count := 0
	for k := 0; n > 0; k++ {
		d := Differing(Chunk(a, i), Chunk(b, j))
		if n < PerChunk {
			d &= First(n)
		}
		if skip != nil {
			d &^= skip[k]
		}
		count += bits.OnesCount64(d)
		if count > limit {
			return count
		}
		i += PerChunk
		j += PerChunk
		n -= PerChunk
	}
	return count
}

// Equal reports whether n bases of a, from base i on, and of b, from base j on, are equal.
func Equal(a []byte, i int, b []byte, j, n int) bool {
	return CountDiffering(a, i, b, j, n, 0, nil) == 0
}

// ReverseComplementInto writes the reverse complement of the first n bases of src, which eight bytes follow, to dst. dst has
// PackedLen(n) bytes or more; up to eight bytes after these may change if it has so many.
func ReverseComplementInto(dst, src []byte, n int) {
	for ; n >= PerWord; n, dst = n-PerWord, dst[PerWord/4:] {
		binary.LittleEndian.PutUint64(dst, ReverseComplement(Word(src, n-PerWord), PerWord))
	}
	if n == 0 {
		return
	}
	w := ReverseComplement(binary.LittleEndian.Uint64(src), n)
	if len(dst) >= 8 {
		binary.LittleEndian.PutUint64(dst, w)
		return
	}
	for i := range PackedLen(n) {
		dst[i] = byte(w >> (8 * i))
	}
}

// Copy copies n bases of src, from base `from` on, to dst, from base `to` on. The bases of dst there must be 0, and those in the same byte
// before them are kept. No byte after the last base is written.
func Copy(dst []byte, to int, src []byte, from, n int) {
	for ; n > 0 && to&3 != 0; n-- {
		dst[to>>2] |= At(src, from) << (2 * uint(to&3))
		to, from = to+1, from+1
	}
	d := dst[to>>2:]
	for ; n >= PerChunk+4; n -= PerChunk {
		binary.LittleEndian.PutUint64(d, Chunk(src, from)) // the eighth byte is written again
		d, from = d[PerChunk/4:], from+PerChunk
	}
	for n > 0 {
		m := min(n, PerChunk)
		for w, left := Chunk(src, from)&First(m), m; left > 0; left -= 4 {
			d[0] |= byte(w)
			d, w = d[1:], w>>8
		}
		n, from = n-m, from+m
	}
}

// Replace replaces n bases of dst, from base `to` on, by those of src from base `from` on. It leaves the other bases of dst as they are,
// but writes the seven bytes after them again, which other goroutines must not use at that time; Copy is for these.
func Replace(dst []byte, to int, src []byte, from, n int) {
	for ; n > 0; to, from, n = to+PerChunk, from+PerChunk, n-PerChunk {
		shift := 2 * uint(to&3)
		mask := First(min(n, PerChunk)) << shift
		b := dst[to>>2:]
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)&^mask|Chunk(src, from)<<shift&mask)
	}
}

// fourCodes has the four bases of a packed byte, one a byte, the first one in the lowest.
var fourCodes = func() (t [256]uint32) {
	for b := range uint32(256) {
		t[b] = b&3 | b>>2&3<<8 | b>>4&3<<16 | b>>6&3<<24
	}
	return
}()

// Unpack appends n bases of p, from base i on, to dst, one a byte.
func Unpack(dst, p []byte, i, n int) []byte {
	at := len(dst)
	dst = slices.Grow(dst, n+PerChunk)[:at+n+PerChunk] // whole chunks are written
	for end := at + n; at < end; at, i = at+PerChunk, i+PerChunk {
		w, d := binary.LittleEndian.Uint64(p[i>>2:])>>(2*uint(i&3)), dst[at:at+PerChunk]
		for k := 0; k < PerChunk; k, w = k+4, w>>8 {
			binary.LittleEndian.PutUint32(d[k:], fourCodes[byte(w)])
		}
		n -= PerChunk
	}
	return dst[:at+n]
}

// Pack packs bases, one a byte and below 4, from the first bit of dst on, which is 0 where they go.
func Pack(dst, bases []byte) {
	for ; len(bases) >= 16; bases, dst = bases[16:], dst[4:] {
		b := bases[:16]
		binary.LittleEndian.PutUint32(dst, packFour(b)|packFour(b[4:])<<8|packFour(b[8:])<<16|packFour(b[12:])<<24)
	}
	for i, v := range bases {
		dst[i/4] |= v << (2 * (i % 4))
	}
}

// packFour packs the first four bases. Base i moves from bit 8*i to bit 24 + 2*i.
func packFour(bases []byte) uint32 {
	return binary.LittleEndian.Uint32(bases) * (1<<24 | 1<<18 | 1<<12 | 1<<6) >> 24
}
