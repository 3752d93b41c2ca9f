// Package minimizer finds the signature of a read: the smallest admissible k-mer of the
// read and of its reverse complement.
//
// The rule is that of ORCOM (Grabowski, Deorowicz, Roguski: Disk-based compression of data
// from genome sequencing, Bioinformatics 31(9), 2015, section 2.2). A=0 C=1 G=2 T=3, the
// first base of a k-mer is the most significant. In either orientation candidates start at
// 0..L-k-skip in that orientation's own coordinates. A k-mer that holds anything but A, C,
// G, T, or a run of three equal bases, is not admissible. If the smallest admissible k-mer
// of the read is at most that of its reverse complement, the read is stored as it is, else
// reversed and complemented; the position is the leftmost occurrence in the stored
// orientation. Lower case counts as upper case.
package minimizer

import "orcomgo/bases"

// K is the length in bases of a signature, Skip the bases at the end of each orientation
// in which no signature may begin (beyond those that K itself excludes).
const (
	K    = 8
	Skip = 12
)

// None is the signature of a read that has no admissible k-mer. It sorts after all others.
const None = 1 << (2 * K)

// Letters returns a signature as K letters, or "N" for None.
func Letters(sig uint32) string {
	if sig >= None {
		return "N"
	}
	var b [K]byte
	for i := range b {
		b[i] = bases.Letters[sig>>(2*(K-1-i))&3]
	}
	return string(b[:])
}
