//go:build !race && !inflate_checked

package inflate

import (
	"hash/crc32"
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"orcomgo/internal/deflate"
)

// hasBMI2 reports whether the processor has the instructions that are used.
var hasBMI2 = cpuid.CPU.Supports(cpuid.BMI2, cpuid.SSE4)

// nearIndices has for every distance d below 16 the indices i%d of 16 bytes, and nearStep the greatest multiple of d up to 16.
var (
	nearIndices [16][16]uint8
	nearStep    [16]uint8
)

func init() {
	for d := 1; d < 16; d++ {
		for i := range 16 {
			nearIndices[d][i] = uint8(i % d)
		}
		nearStep[d] = uint8(16 / d * d)
	}
}

// fastStep is how many bytes are decoded at most before the scheduler can stop the goroutine.
const fastStep = 128 << 10

// fastState is what the loops in assembler begin with, and where they end.
type fastState struct {
	in, out       unsafe.Pointer
	pos, last     int // of in: the next byte to load, the last from which 8 can be loaded
	n, limit, low int // of out; see decoder
	bits, loaded  uint64
	tables        unsafe.Pointer
	ended         uint64 // 1 behind the end of the block; 2 if something invalid follows, which is not said where
}

// fast is fastPlain in assembler.
func (d *decoder) fast() {
	if !hasBMI2 {
		d.fastPlain()
		return
	}
	s := d.fastState()
	for more := true; more && s.next(d.limit); {
		if d.wide {
			more = fastSymbols(s)
		} else {
			more = fastBytes(s)
		}
	}
	if d.follows(s) {
		d.fastPlain()
	}
}

func (d *decoder) fastState() *fastState {
	pos := d.bit>>3 + 7
	return &fastState{
		in: unsafe.Pointer(unsafe.SliceData(d.in)), out: unsafe.Pointer(unsafe.SliceData(d.out)),
		pos: pos, last: len(d.in) - 8, n: d.n, low: d.low,
		bits: deflate.Load64(d.in, pos-7) >> (d.bit & 7), loaded: uint64(56 - d.bit&7),
		tables: unsafe.Pointer(d.t),
	}
}

// next sets the limit of the next step. It returns false if there is none.
func (s *fastState) next(limit int) bool {
	s.limit = min(limit, s.n+fastStep)
	return s.n < limit && s.pos <= s.last
}

// follows makes the decoder continue where a loop ended. It reports whether the loop found something invalid: then that is behind where
// the loop began, but not yet where the decoder is.
func (d *decoder) follows(s *fastState) (invalid bool) {
	d.bit, d.n = s.pos*8-int(s.loaded), s.n
	if s.ended == 1 {
		d.place = atBlock
	}
	return s.ended == 2
}

// fastBytes decodes to bytes until the limit or the end of the input. It returns false at the end of the
// block, and if it found something invalid. Then it has not changed the state, but bytes behind those that were decoded.
//
//go:noescape
func fastBytes(s *fastState) bool

// fastSymbols is fastBytes for symbols of 16 bits.
//
//go:noescape
func fastSymbols(s *fastState) bool

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
