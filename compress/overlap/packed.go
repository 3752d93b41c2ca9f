package overlap

import (
	"encoding/binary"
	"math/bits"

	"orcomgo/bases"
	"orcomgo/internal/largepages"
)

// sequence holds packed bases, followed by bases.Pad.
type sequence struct {
	packed []byte
	n      int
}

// append adds bases, one per byte (0..3).
func (s *sequence) append(list []byte) {
	s.grow(len(list))
	for i, c := range list {
		s.packed[(s.n+i)>>2] |= c & 3 << (2 * uint((s.n+i)&3))
	}
	s.n += len(list)
}

// grow makes room for n more bases.
func (s *sequence) grow(n int) {
	if more := (s.n+n+3)/4 + bases.Pad - len(s.packed); more > 0 {
		s.packed = append(s.packed, make([]byte, more)...)
	}
}

// appendPacked adds the first n bases of p, which goes on for bases.Pad.
func (s *sequence) appendPacked(p []byte, n int) {
	s.grow(n)
	bases.Copy(s.packed, s.n, p, 0, n)
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
	to := largepages.Make[byte]((n+3)/4 + bases.Pad)
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
		run := min(m, bits.TrailingZeros64(^w), bases.PerWord)
		b := bases.Word(s.packed, i)
		if run < bases.PerWord {
			b &= 1<<(2*uint(run)) - 1
		}
		word |= b << (2 * uint(in))
		if in+run >= bases.PerWord {
			binary.LittleEndian.PutUint64(d, word)
			d, word = d[8:], b>>(2*uint(bases.PerWord-in))
			in -= bases.PerWord
		}
		i, in = i+run, in+run
	}
	for ; in >= 4; in -= 4 {
		d[0] = byte(word)
		d, word = d[1:], word>>8
	}
	return byte(word)
}

// mix64 hashes a k-mer to 64 bits (the finaliser of SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
func mix64(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
