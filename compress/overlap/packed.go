package overlap

import "orcomgo/bases"

// sequence holds packed bases, followed by bases.Pad.
type sequence struct {
	packed []byte
	n      int
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

// mix64 hashes a k-mer to 64 bits (the finaliser of SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
func mix64(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
