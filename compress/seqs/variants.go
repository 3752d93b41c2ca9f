package seqs

import "sync"

// variantTable holds the variants of mismatches. Tables are used again, since making one of many positions takes as long as coding the
// reads of a slice that lie close together.
type variantTable struct {
	variants []uint8
	touched  []bool // by position >> touchedBits: some variants there may not be 0
}

const touchedBits = 16

var variantTables sync.Pool // of *variantTable, all zero

// newVariantTable returns a table of size positions, a power of two, and of variantStep more that have no variants.
func newVariantTable(size uint64) *variantTable {
	if t, _ := variantTables.Get().(*variantTable); t != nil && len(t.variants) == int(size)+variantStep {
		return t
	}
	return &variantTable{make([]uint8, size+variantStep), make([]bool, size>>touchedBits+1)}
}

// release makes the table one for others. It must not be used any more.
func (t *variantTable) release() {
	for i, touched := range t.touched {
		if touched {
			from := i << touchedBits
			clear(t.variants[from:min(from+1<<touchedBits, len(t.variants))])
			t.touched[i] = false
		}
	}
	variantTables.Put(t)
}
