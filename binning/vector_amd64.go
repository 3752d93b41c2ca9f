package binning

import "github.com/klauspost/cpuid/v2"

// hasAVX2 reports whether the processor has the vector instructions that are used, and those for bits in words.
var hasAVX2 = cpuid.CPU.Supports(cpuid.AVX2, cpuid.BMI1, cpuid.POPCNT)

// packVector packs n letters, 32 at a time, and returns how many it packed: all of them, or those before the first 32 of which some
// are not A, C, G or T. If n is not a multiple of 32, both seq and dst must have room for the next one.
//
//go:noescape
func packVector(dst, seq *byte, n int) int

// qualsVector copies n qualities, 32 or more, unless dst is nil, and reports whether all are from 33 to 126.
//
//go:noescape
func qualsVector(dst, src *byte, n int) bool

// newlinesVector stores the offsets of the line ends in n bytes of text, of which the first has the given offset. It takes 64 bytes at
// a time, as long as there are so many and there is room for 64 offsets more. It returns how many it found and how many bytes it took.
//
//go:noescape
func newlinesVector(dst *uint32, room int, text *byte, n int, offset uint32) (found, scanned int)
