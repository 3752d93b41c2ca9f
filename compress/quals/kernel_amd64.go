package quals

import (
	"math/bits"

	"github.com/klauspost/cpuid/v2"
)

// hasVectors says whether the processor has the instructions of the assembler.
var hasVectors = cpuid.CPU.Supports(cpuid.AVX2, cpuid.BMI1, cpuid.POPCNT)

// vectorTables are what the assembler looks up.
type vectorTables struct {
	tails  [4][16]uint8   // the low and the high bytes of tailOf, and of the differences to the next tail
	order  [256][8]uint8  // which of the next words each of eight lanes reads, by a mask of those that read one
	places [256][16]uint8 // brings the words of those of eight lanes that give one to the end, by a mask of them
}

var tables = func() *vectorTables {
	t := new(vectorTables)
	for i := range 16 {
		d := tailOf[i] - tailOf[i+1]
		t.tails[0][i], t.tails[1][i], t.tails[2][i], t.tails[3][i] = uint8(tailOf[i]), uint8(tailOf[i]>>8), uint8(d), uint8(d>>8)
	}
	for mask := range t.order {
		at := 16 - 2*bits.OnesCount(uint(mask))
		for l, n := 0, 0; l < 8; l++ {
			t.order[mask][l] = uint8(n)
			if mask>>l&1 > 0 {
				t.places[mask][at+2*n], t.places[mask][at+2*n+1] = uint8(2*l), uint8(2*l+1)
				n++
			}
		}
	}
	return t
}()

//go:noescape
func stepsVector(c *coder, step, end int) int

func (c *coder) code(step, end int) int {
	if hasVectors {
		return stepsVector(c, step, end)
	}
	return c.codePlain(step, end)
}

// spreadVector sets the symbols of 16 steps of all lanes from their values. Those of lane l begin to[l] bytes after quals.
// There must be codes for all: see ranks.
//
//go:noescape
func spreadVector(symbols *[numLanes]uint8, quals *byte, to *[numLanes]int, t *ranks)

// collectVector sets the values from the symbols.
//
//go:noescape
func collectVector(symbols *[numLanes]uint8, quals *byte, to *[numLanes]int, t *ranks)

// tiles reports whether vector instructions may read or write the symbols of a batch in the column, and read some after the last piece.
func (c *coder) tiles() bool {
	return hasVectors && len(c.lanes) == numLanes && c.model.ranks.coded && c.next+numLanes <= len(c.quals)
}

// spread sets the symbols of n steps, if vector instructions can.
func (c *coder) spread(n int) bool {
	if !c.tiles() {
		return false
	}
	for i := 0; i < n; i += numLanes {
		spreadVector(&c.symbols[i], &c.quals[i], &c.to, c.model.ranks)
	}
	return true
}

// collect sets the values of the first of n steps, and returns of how many.
func (c *coder) collect(n int) (done int) {
	for ; done+numLanes <= n && c.tiles(); done += numLanes {
		collectVector(&c.symbols[done], &c.quals[done], &c.to, c.model.ranks)
	}
	return done
}

//go:noescape
func encodeVector(decisions *uint16, n int, states *[numLanes]uint32, t *vectorTables) int

func encodeWords(decisions []uint16, states *[numLanes]uint32) int {
	if hasVectors && len(decisions) > 0 {
		return encodeVector(&decisions[0], len(decisions), states, tables)
	}
	return encodePlain(decisions, states)
}
