// Package mixing is the one rule by which context models are mixed, all in integers (the mixing of the PAQ family; Mahoney, "Adaptive
// weighing of context models for lossless data compression", 2005).
//
// A probability p of 16 bits has the stretched form ln(p/(1-p)) in 1/256, from -2047 to 2047. The stretched predictions of several models
// are multiplied by weights, in 1/65536, and added. The sum, squashed, is the probability with which a bit is coded. Then each weight moves
// by the product of its prediction, the error and a rate. docs/FORMAT.md, "Mixing", is the specification.
package mixing

import "math/bits"

// One is the weight 1.
const One = 1 << 16

// Predict returns the probability, in 1/65536, of which the sum of stretched predictions times weights is given.
func Predict(sum int64) uint32 {
	return uint32(squashTable[(min(max(sum>>16, -2047), 2047)+2048)&4095])
}

// Step returns what Move needs after a bit that had probability p. The weight of a prediction of 1/256 moves by rate/2^20 of the error.
func Step(bit int, p uint32, rate int64) int64 { return (int64(bit<<16) - int64(p)) * rate }

// Move moves the weight of stretched prediction x.
func Move(w *int32, x, step int64) { *w += int32((x*step + 1<<19) >> 20) }

var (
	squashTable  [4096]uint16
	stretchTable [4096]int16
)

func init() {
	// squash(x) = 1 / (1 + e^(-x/256)). e^(-1/256) is raised step by step in 62-bit
	// fixed point, so the table is the same on every machine.
	const one = uint64(1) << 62
	const c = uint64(4593706758521714574) // e^(-1/256) * 2^62
	t := one                              // e^(-x/256)
	for x := 0; x < 2048; x++ {
		// 65536 / (1 + t): t is scaled by 2^62, so divide 2^(16+46) by (2^62 + t) >> 16.
		q := (uint64(1) << 62) / ((one + t) >> 16)
		if q > 65535-8 {
			q = 65535 - 8
		}
		squashTable[2048+x] = uint16(q)
		if x > 0 {
			squashTable[2048-x] = uint16(65536 - q)
		}
		hi, lo := bits.Mul64(t, c)
		t = hi<<2 | lo>>62
	}
	squashTable[0] = squashTable[1]
	// stretch is the inverse: the smallest x whose squash reaches the middle of each 1/4096.
	x := -2047
	for i := range stretchTable {
		p := uint32(i)<<4 + 8
		for x < 2047 && uint32(squashTable[x+2048]) < p {
			x++
		}
		stretchTable[i] = int16(x)
	}
}

// Stretch returns ln(p/(1-p)) in 1/256 for a 16-bit probability p; -2047..2047.
func Stretch(p uint32) int32 { return int32(stretchTable[p>>4&4095]) }

// Squash returns the 16-bit probability whose stretched form is x; x is clamped to -2047..2047.
func Squash(x int32) uint32 { return uint32(squashTable[min(max(x, -2047), 2047)+2048]) }
