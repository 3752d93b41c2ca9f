package overlap

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"orcomgo/internal/largepages"
)

// Bases have 2 bits each, base j in byte j/4 at bits 2*(j%4), as in bins.Block.Packed. So one unaligned load of 8 bytes
// yields the next 29 bases or more. Every slice of packed bases ends with padBytes unused bytes, so that a load near the end
// stays inside the slice.
const padBytes = 16

// chunkBases is the number of bases that loadChunk returns. It is a multiple of 4.
const chunkBases = 28

const chunkMask = 1<<(2*chunkBases) - 1

// loadChunk returns the 28 bases of p from base pos on, the first one in the lowest bits.
func loadChunk(p []byte, pos int) uint64 {
	return binary.LittleEndian.Uint64(p[pos>>2:]) >> (2 * uint(pos&3)) & chunkMask
}

// mismatchBits returns a word in which bit 2*j is set if base j of chunks a and b differs.
func mismatchBits(a, b uint64) uint64 {
	d := a ^ b
	return (d | d>>1) & 0x5555555555555555
}

// firstBases returns a mask of the first n bases of a chunk; 0 <= n <= 28.
func firstBases(n int) uint64 { return 1<<(2*uint(n)) - 1 }

// countMismatches returns in how many bases a[apos:apos+n] and b[bpos:bpos+n] differ. It stops early when the count exceeds
// limit. skip, if not nil, has a mask for each 28 bases of the range: bases whose low bit is set are not counted.
func countMismatches(a []byte, apos int, b []byte, bpos, n, limit int, skip []uint64) int {
	d := 0
	for i := 0; n > 0; i++ {
		m := mismatchBits(loadChunk(a, apos), loadChunk(b, bpos))
		if n < chunkBases {
			m &= firstBases(n)
		}
		if skip != nil {
			m &^= skip[i]
		}
		d += bits.OnesCount64(m)
		if d > limit {
			return d
		}
		apos += chunkBases
		bpos += chunkBases
		n -= chunkBases
	}
	return d
}

// reverseComplementWord returns the reverse complement of the n bases in the low bits of x; 0 < n <= 32.
func reverseComplementWord(x uint64, n int) uint64 {
	x = ^x
	x = bits.ReverseBytes64(x)
	x = x>>4&0x0f0f0f0f0f0f0f0f | x&0x0f0f0f0f0f0f0f0f<<4
	x = x>>2&0x3333333333333333 | x&0x3333333333333333<<2
	return x >> (64 - 2*uint(n))
}

// reverseComplementInto writes the reverse complement of the first n bases of src to dst, which has room for n bases and
// padBytes.
func reverseComplementInto(dst, src []byte, n int) {
	// Chunks are read from the end of src and written from the start of dst.
	at := 0
	for i := n; i > 0; i -= chunkBases {
		m := min(i, chunkBases)
		w := reverseComplementWord(loadChunk(src, i-m)&firstBases(m), m)
		binary.LittleEndian.PutUint64(dst[at:], w) // chunkBases is a multiple of 4, so each chunk starts on a byte
		at += chunkBases / 4
	}
}

// unpackedByte[b] holds the four bases of the packed byte b, one per byte, the first one in the lowest byte.
var unpackedByte = func() (t [256]uint32) {
	for b := range uint32(256) {
		t[b] = b&3 | b>>2&3<<8 | b>>4&3<<16 | b>>6&3<<24
	}
	return
}()

// Unpack appends n packed bases of p, from base pos on, one per byte (0..3), to dst. 16 bytes that are not used follow the last of them.
func Unpack(dst []byte, p []byte, pos, n int) []byte {
	at := len(dst)
	dst = slices.Grow(dst, n+chunkBases)[:at+n+chunkBases] // whole chunks are written
	for end := at + n; at < end; at, pos = at+chunkBases, pos+chunkBases {
		w, d := loadChunk(p, pos), dst[at:at+chunkBases]
		for i := 0; i < chunkBases; i, w = i+4, w>>8 {
			binary.LittleEndian.PutUint32(d[i:], unpackedByte[byte(w)])
		}
		n -= chunkBases
	}
	return dst[:at+n]
}

// replaceBases replaces bases to..to+n-1 of dst by bases from..from+n-1 of src. It leaves the other bases of dst as they are, but writes
// the seven bytes after them again, which other goroutines must not use at that time; copyBases is for bases side by side, in memory that
// is 0.
func replaceBases(dst []byte, to int, src []byte, from, n int) {
	for ; n > 0; to, from, n = to+chunkBases, from+chunkBases, n-chunkBases {
		shift := 2 * uint(to&3)
		mask := firstBases(min(n, chunkBases)) << shift
		b := dst[to>>2:]
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)&^mask|loadChunk(src, from)<<shift&mask)
	}
}

// sequence holds packed bases, followed by padBytes.
type sequence struct {
	packed []byte
	n      int
}

// append adds bases, one per byte (0..3).
func (s *sequence) append(bases []byte) {
	size := (s.n+len(bases)+3)/4 + padBytes
	if more := size - len(s.packed); more > 0 {
		s.packed = append(s.packed, make([]byte, more)...)
	}
	for i, c := range bases {
		s.packed[(s.n+i)>>2] |= c & 3 << (2 * uint((s.n+i)&3))
	}
	s.n += len(bases)
}

// grow makes room for n more bases.
func (s *sequence) grow(n int) {
	if more := (s.n+n+3)/4 + padBytes - len(s.packed); more > 0 {
		s.packed = append(s.packed, make([]byte, more)...)
	}
}

// appendPacked adds the first n bases of p, which goes on for padBytes.
func (s *sequence) appendPacked(p []byte, n int) {
	s.grow(n)
	copyBases(s.packed, s.n, p, 0, n)
	s.n += n
}

// keepRange is how many bases one goroutine at a time copies of those that are kept, a multiple of 64. A variable so that tests can have
// short ones.
var keepRange = 1 << 20

// keep removes the bases whose numbers are not in kept.
func (s *sequence) keep(kept *bitset, threads int) {
	ranges := (s.n + keepRange - 1) / keepRange
	starts := make([]int, ranges+1) // how many bases are kept before each range
	inParallel(threads, ranges, 1, func(_, k, _ int) {
		for i := k * keepRange; i < min((k+1)*keepRange, s.n); i += 64 {
			w := kept.words[i>>6]
			if s.n-i < 64 {
				w &= 1<<(s.n-i) - 1
			}
			starts[k+1] += bits.OnesCount64(w)
		}
	})
	for k := range ranges {
		starts[k+1] += starts[k]
	}
	n := starts[ranges]
	to := largepages.Make[byte]((n+3)/4 + padBytes)
	ends := make([]byte, ranges) // the last bases of each range, which do not fill a byte
	inParallel(threads, ranges, 1, func(_, k, _ int) {
		ends[k] = s.copyKept(to, starts[k], kept, k*keepRange, min((k+1)*keepRange, s.n))
	})
	for k, b := range ends {
		to[starts[k+1]>>2] |= b
	}
	s.packed, s.n = to, n
}

// copyKept copies those of the bases from..end-1 that are kept to dst, from base at on. The last ones are returned, not written, if they
// don't fill a byte; other bases in the first byte become 0.
func (s *sequence) copyKept(dst []byte, at int, kept *bitset, from, end int) (last byte) {
	d := dst[at>>2:]
	word, in := uint64(0), at&3 // bases that are not written yet
	for i := from; i < end; {
		// The next run of bases that are kept, up to a word, or of bases that are not.
		w := kept.words[i>>6] >> (i & 63)
		m := min(64-i&63, end-i)
		if w&1 == 0 {
			i += min(m, bits.TrailingZeros64(w))
			continue
		}
		run := min(m, bits.TrailingZeros64(^w), WordBases)
		b := LoadWord(s.packed, i)
		if run < WordBases {
			b &= 1<<(2*uint(run)) - 1
		}
		word |= b << (2 * uint(in))
		if in+run >= WordBases {
			binary.LittleEndian.PutUint64(d, word)
			d, word = d[8:], b>>(2*uint(WordBases-in))
			in -= WordBases
		}
		i, in = i+run, in+run
	}
	for ; in >= 4; in -= 4 {
		d[0] = byte(word)
		d, word = d[1:], word>>8
	}
	return byte(word)
}

// at returns base i.
func (s *sequence) at(i int) byte { return s.packed[i>>2] >> (2 * uint(i&3)) & 3 }

// set replaces base i.
func (s *sequence) set(i int, c byte) {
	shift := 2 * uint(i&3)
	s.packed[i>>2] = s.packed[i>>2]&^(3<<shift) | c&3<<shift
}

// mix64 hashes a k-mer to 64 bits (the finaliser of SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
func mix64(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
