package quals

import "orcomgo/compress/ans"

// tables are what the assembler looks up.
//
//lint:ignore U1000 the assembler reads it
var tables = (*vectorTables)(ans.VectorTables)

// vectorTables are ans.Tables, under a name of this package for the assembler.
//
//lint:ignore U1000 the assembler knows its fields
type vectorTables ans.Tables

//go:noescape
func stepsVector(c *coder, step, end int) int

func (c *coder) code(step, end int) int {
	if ans.HasVectors {
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
	return ans.HasVectors && len(c.lanes) == numLanes && c.model.ranks.coded && c.next+numLanes <= len(c.quals)
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
