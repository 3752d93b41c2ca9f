package minimizer

import "github.com/klauspost/cpuid/v2"

// hasWide reports whether the processor has the instructions of scanWide.
var hasWide = cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL, cpuid.AVX512VBMI, cpuid.AVX512VBMI2)

// wideGroup is how many positions scanWide takes. Position 4i+j is word i of vector j.
const wideGroup = 128

// bytePlace is where scanWide has byte i of the packed bases, of 34, in a vector of the first 32 and the last 32 of these.
func bytePlace(i int) uint8 { return uint8(i + i&32 - i&32/16) }

// wideTables is what scanWide needs. Its offsets in this are constants there.
//
//lint:ignore U1000 the assembler reads it
var wideTables = func() (t struct {
	forward, further, backward, before [wideGroup / 4][2]uint8 // places of bytes i and i+1, i+2 alone, i+1 and i, i+2 alone
	runs                               [3][wideGroup / 4]uint16
	numbers                            [8][wideGroup / 4]uint16
	low4, lowHalf, highHalf            [16]uint8
	bounds                             [wideGroup + 1]struct{ forward, reverse [4]uint32 }
}) {
	for i := range wideGroup / 4 {
		t.forward[i] = [2]uint8{bytePlace(i), bytePlace(i + 1)}
		t.further[i][0] = bytePlace(i + 2)
		t.backward[i] = [2]uint8{bytePlace(i + 1), bytePlace(i)}
		t.before[i][1] = bytePlace(i + 2)
		// The places in a k-mer where a run of three bases may begin, for k-mers that begin at base 0, 1 and 2 of a word.
		t.runs[0][i], t.runs[1][i], t.runs[2][i] = 0x0555, 0x1554, 0x5550
		for j := range 4 {
			t.numbers[j][i], t.numbers[4+j][i] = uint16(wideForward-4*i-j), uint16(4*i+j+1)
		}
	}
	for i := range 16 {
		swapped := ^uint8(i>>2|i<<2) & 15
		t.low4[i], t.lowHalf[i], t.highHalf[i] = 15, swapped<<4, swapped
	}
	for bound := range t.bounds {
		for at := range bound {
			t.bounds[bound].forward[at%4] |= 1 << (at / 4)
			if at >= Skip {
				t.bounds[bound].reverse[at%4] |= 1 << (at / 4)
			}
		}
	}
	return t
}()

// wideForward is the number that scanWide gives to position 0 of the forward strand.
const wideForward = 1 << 15

// scanWide finds the smallest admissible k-mer that begins at one of the first fwdEnd positions of the forward strand, or one from Skip to
// revEnd-1 of the reverse strand; both ends are 0..wideGroup. It reads 34 bytes. The key is None-1 if there is none. The number is the
// largest of those of equal k-mers: wideForward minus the position on the forward strand, or else the position plus one on the reverse
// strand.
//
//go:noescape
func scanWide(packed *byte, fwdEnd, revEnd int) (key, number uint32)

// findWide is findPacked of a read without gaps that has at most wideGroup positions.
func findWide(packed []byte, n int) (sig, pos uint32, reverse bool) {
	_ = packed[(n+3)/4+Pad-1]
	positions := n - K + 1
	key, number := scanWide(&packed[0], max(positions-Skip, 0), positions)
	if key == None-1 {
		return None, 0, false
	}
	// No branch here: it would be predicted wrongly half of the time.
	pos = uint32(n-K+1) - number
	if number > wideGroup {
		pos = wideForward - number
	}
	return key, pos, number <= wideGroup
}
