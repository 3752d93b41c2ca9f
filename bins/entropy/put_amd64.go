package entropy

import "github.com/klauspost/cpuid/v2"

// hasBMI2 reports whether the processor has the shifts that are used.
var hasBMI2 = cpuid.CPU.Supports(cpuid.BMI2)

// putVector stores the codes of groups of perStore symbols of two parts, at least one group of each. It reads one symbol before and
// stores eight bytes at a time. All symbols are below 128.
//
//go:noescape
func putVector(dst, src *[2]*byte, groups int, table *[pairTable]uint16, bits *[2]partBits)
