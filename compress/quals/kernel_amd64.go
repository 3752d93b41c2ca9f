package quals

import "github.com/klauspost/cpuid/v2"

// hasVectors says whether the processor has the instructions of the assembler.
var hasVectors = cpuid.CPU.Supports(cpuid.AVX2, cpuid.BMI1, cpuid.POPCNT)

// tailTables are the low and the high bytes of tailOf, and of the differences to the next tail.
var tailTables = func() (t [4][16]uint8) {
	for i := range 16 {
		d := tailOf[i] - tailOf[i+1]
		t[0][i], t[1][i], t[2][i], t[3][i] = uint8(tailOf[i]), uint8(tailOf[i]>>8), uint8(d), uint8(d>>8)
	}
	return
}()

// learnMasks are by rank: 32767 for ranks below it, and all ones for those and itself.
var learnMasks = func() (t [2][lineSlots + 1][lineSlots]uint16) {
	for rank := range lineSlots + 1 {
		for k := range min(rank+1, lineSlots) {
			t[1][rank][k] = 0xffff
			if k < rank {
				t[0][rank][k] = 32767
			}
		}
	}
	return
}()

// ordinals are the numbers from 0 on, each for all lanes.
var ordinals = func() (t [lineSlots + 1][numLanes]uint16) {
	for k := range t {
		for l := range t[k] {
			t[k][l] = uint16(k)
		}
	}
	return
}()

// wordOrder says which of the next words each of eight lanes reads, by a mask of those that read one.
var wordOrder = func() (t [256][8]uint8) {
	for mask := range t {
		n := uint8(0)
		for l := range 8 {
			t[mask][l] = n
			n += uint8(mask >> l & 1)
		}
	}
	return
}()

// wordPlaces brings the words of those of eight lanes that give one to the end, by a mask of them.
var wordPlaces = func() (t [256][16]uint8) {
	for mask := range t {
		at := 16
		for l := 7; l >= 0; l-- {
			if mask>>l&1 > 0 {
				at -= 2
				t[mask][at], t[mask][at+1] = uint8(2*l), uint8(2*l+1)
			}
		}
	}
	return
}()

//go:noescape
func stepsVector(c *coder, step, end int) int

func (c *coder) code(step, end int) int {
	if hasVectors {
		return stepsVector(c, step, end)
	}
	return c.codePlain(step, end)
}

//go:noescape
func encodeVector(decisions *uint16, n int, states *[numLanes]uint32) int

func encodeWords(decisions []uint16, states *[numLanes]uint32) int {
	if hasVectors && len(decisions) > 0 {
		return encodeVector(&decisions[0], len(decisions), states)
	}
	return encodePlain(decisions, states)
}
