package overlap

import "github.com/klauspost/cpuid/v2"

// hasAVX512 reports whether the processor has the vector instructions that sampleVector uses.
var hasAVX512 = cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.BMI2, cpuid.POPCNT)

// sampleVector finds the selected ones of the n k-mers of seedLen bases that begin at base `from` of p and after it; n is at least 1. A
// k-mer is selected if the low half of its hash, shifted to the upper half of a word, is less than threshold. For each it writes a word
// to dst, with the upper half of the hash and, in the lower half, kmer.at, where the first k-mer is at base `at`. It returns how many
// there are; up to eight more elements of dst are written. It reads up to four bytes after the last base.
//
//go:noescape
func sampleVector(dst *uint64, p *byte, from, at, n int, threshold uint64) int
