package ans

import (
	"math/bits"

	"github.com/klauspost/cpuid/v2"
)

// HasVectors says whether the processor has the instructions of the assembler that codes lanes.
var HasVectors = cpuid.CPU.Supports(cpuid.AVX2, cpuid.BMI1, cpuid.BMI2, cpuid.POPCNT)

// Tables are what assembler looks up.
type Tables struct {
	Tails  [4][16]uint8   // the low and the high bytes of what Logistic is at -0, -1, ... octaves, and of the differences to the next octave
	Order  [256][8]uint8  // which of the next words each of eight lanes reads, by a mask of those that read one
	places [256][16]uint8 // brings the words of those of eight lanes that give one to the end, by a mask of them
}

// VectorTables are the only Tables.
var VectorTables = func() *Tables {
	t := new(Tables)
	for i := range 16 {
		d := tails[i] - tails[i+1]
		t.Tails[0][i], t.Tails[1][i], t.Tails[2][i], t.Tails[3][i] = uint8(tails[i]), uint8(tails[i]>>8), uint8(d), uint8(d>>8)
	}
	for mask := range t.Order {
		at := 16 - 2*bits.OnesCount(uint(mask))
		for l, n := 0, 0; l < 8; l++ {
			t.Order[mask][l] = uint8(n)
			if mask>>l&1 > 0 {
				t.places[mask][at+2*n], t.places[mask][at+2*n+1] = uint8(2*l), uint8(2*l+1)
				n++
			}
		}
	}
	return t
}()

//go:noescape
func encodeVector(decisions *uint16, n int, states *[Lanes]uint32, t *Tables, bits uint) int

func encode(decisions []uint16, states *[Lanes]uint32, bits uint) int {
	if HasVectors && len(decisions) > 0 {
		return encodeVector(&decisions[0], len(decisions), states, VectorTables, bits)
	}
	return encodePlain(decisions, states, bits)
}
