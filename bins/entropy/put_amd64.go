package entropy

import "github.com/klauspost/cpuid/v2"

var (
	// hasBMI2 reports whether the processor has the shifts that are used.
	hasBMI2 = cpuid.CPU.Supports(cpuid.BMI2)
	// hasAVX2 reports whether it has the vector instructions.
	hasAVX2 = cpuid.CPU.Supports(cpuid.AVX2)
)

// putVector stores the codes of groups of perStore symbols of two parts, at least one group of each. It reads one symbol before and
// stores eight bytes at a time. All symbols are below 128.
//
//go:noescape
func putVector(dst, src *[2]*byte, groups int, table *[pairTable]uint16, bits *[2]partBits)

// countVector adds pairs of neighbours of each part to its two tables, by nearIndex: of every group 16 pairs at even places to one,
// 16 at odd places to the other. It reads one symbol after them. It returns false if some of the symbols are not near; then the
// counts are wrong.
//
//go:noescape
func countVector(tables *[2 * numParts][nearTable]uint32, parts *[numParts]*byte, groups int) (near bool)
