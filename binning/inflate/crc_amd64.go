//go:build !race && !inflate_checked

package inflate

import (
	"hash/crc32"

	"github.com/klauspost/cpuid/v2"
)

// hasFold reports whether the processor has the instructions of foldCRC.
var hasFold = cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.VPCLMULQDQ)

// foldBytes is how many bytes foldCRC takes at a time, and leaves.
const foldBytes = 256

// updateCRC is crc32.Update for the polynomial of IEEE. Of long texts most is replaced by 256 bytes that have the same remainder, as Gopal
// and others describe (Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction, Intel 2009), with vectors of 64 bytes.
func updateCRC(crc uint32, text []byte) uint32 {
	if n := len(text) &^ (foldBytes - 1); hasFold && n >= 8*foldBytes {
		var folded [foldBytes]byte
		foldCRC(&folded, &text[0], n, ^crc)
		// What is folded has the register in it, so that is 0 before it.
		crc, text = crc32.Update(^uint32(0), crc32.IEEETable, folded[:]), text[n:]
	}
	return crc32.Update(crc, crc32.IEEETable, text)
}

// foldCRC stores 256 bytes that have the remainder of n bytes of text, a multiple of 256, which begin with the register of the CRC.
//
//go:noescape
func foldCRC(folded *[foldBytes]byte, text *byte, n int, register uint32)
