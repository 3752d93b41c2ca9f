package overlap

import (
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

// keep removes the bases whose numbers are not in kept.
func (s *sequence) keep(kept *bitset) {
	to := sequence{packed: largepages.Make[byte](bases.PackedLen(kept.buildRanks()) + bases.Pad)}
	for i := 0; i < s.n; {
		// The next run of bases that are kept, in a word, or of bases that are not.
		w := kept.words[i>>6] >> (i & 63)
		n := min(64-i&63, s.n-i)
		if w&1 == 0 {
			i += min(n, bits.TrailingZeros64(w))
			continue
		}
		n = min(n, bits.TrailingZeros64(^w))
		bases.Copy(to.packed, to.n, s.packed, i, n)
		i, to.n = i+n, to.n+n
	}
	to.packed = to.packed[:bases.PackedLen(to.n)+bases.Pad] // kept may have numbers beyond the sequence
	*s = to
}

// mix64 hashes a k-mer to 64 bits (the finaliser of SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
func mix64(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
