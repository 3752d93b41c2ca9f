package records

import "github.com/klauspost/cpuid/v2"

// hasAVX2 reports whether the processor has the vector instructions that are used.
var hasAVX2 = cpuid.CPU.Supports(cpuid.AVX2)

// equalBytes returns at how many places a and b have the same byte. b is not longer than a.
func equalBytes(a, b []byte) int {
	n := 0
	if blocks := len(b) / 32; blocks > 0 && hasAVX2 {
		n = equalVector(&a[0], &b[0], blocks)
		a, b = a[32*blocks:], b[32*blocks:]
	}
	return n + equalPlain(a, b)
}

// equalVector is equalBytes for blocks of 32 bytes, at least one.
//
//go:noescape
func equalVector(a, b *byte, blocks int) int
