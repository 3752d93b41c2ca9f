package overlap

import "github.com/klauspost/cpuid/v2"

// hasAVX512 reports whether the processor has the vector instructions that sampleVector uses.
var hasAVX512 = cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.BMI2, cpuid.POPCNT)

// sampleVector does what sampledBlock.sample does, where the k bases of a k-mer, those before `from` in its byte, and seven more, are 32 at
// most. It reads fewer than eight bytes after the last base.
//
//go:noescape
func sampleVector(hashes, places *uint64, p *byte, from, n, k int, shift, threshold uint64) int
