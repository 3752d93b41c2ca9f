package quals

import "github.com/klauspost/cpuid/v2"

// hasVectors says whether the processor has the instructions of kernel_amd64.s.
var hasVectors = cpuid.CPU.Supports(cpuid.AVX2, cpuid.BMI1)

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

//go:noescape
func predictVector(slots *line, r *round, tables *[4][16]uint8)

//go:noescape
func decodeVector(r *round, words *byte) (n int)

//go:noescape
func learnVector(slots *line, r *round, rate, dither int32, masks *[2][lineSlots + 1][lineSlots]uint16)

//go:noescape
func appendVector(h *histories, symbols *[numLanes]uint32, top uint32)

//go:noescape
func smoothVector(h *histories, at *[numFeatures][numLanes]uint32, shift, size uint32)

//go:noescape
func steppedVector(h *histories, at *[numFeatures][numLanes]uint32, shift, size uint32)

//go:noescape
func givenVector(h *histories, at *[numFeatures][numLanes]uint32, shift, size uint32)

func (h *histories) append(symbols *[numLanes]uint32, top uint32) {
	if hasVectors {
		appendVector(h, symbols, top)
	} else {
		h.appendPlain(symbols, top)
	}
}

func (m *model) contexts(h *histories, at *[numFeatures][numLanes]uint32) {
	shift, size := uint32(32-m.bits), m.lines*lineBytes
	switch {
	case !hasVectors:
		m.contextsPlain(h, at)
	case m.kind == smooth:
		smoothVector(h, at, shift, size)
	case m.kind == stepped:
		steppedVector(h, at, shift, size)
	default:
		givenVector(h, at, shift, size)
	}
}

func predict(slots []line, r *round) {
	if hasVectors {
		predictVector(&slots[0], r, &tailTables)
	} else {
		predictPlain(slots, r)
	}
}

func decodeRanks(r *round, words []byte) (n int) {
	if hasVectors {
		return decodeVector(r, &words[0])
	}
	return decodePlain(r, words)
}

func learn(slots []line, r *round, rate, dither int32) {
	if hasVectors {
		learnVector(&slots[0], r, rate, dither, &learnMasks)
	} else {
		learnPlain(slots, r, rate, dither)
	}
}
