package seqs

import "testing"

// TestVariantTable: a table that is used again has no variants, wherever others had some.
func TestVariantTable(t *testing.T) {
	const size = 1 << 18
	for range 20 {
		m := newMismatches(false, size-1)
		if len(m.variants) != size+variantStep {
			t.Fatalf("a table of %d positions, not %d", len(m.variants), size+variantStep)
		}
		if p := m.nextVariant(0, size); p < size {
			t.Fatalf("a new table has a variant at %d", p)
		}
		for _, p := range []uint64{0, 1<<touchedBits - 1, 1 << touchedBits, 100_000, size - 1, size + 5} {
			m.noteVariant(p, 2)
		}
		m.release()
	}
	if m := newMismatches(false, 4*size-1); len(m.variants) != 4*size+variantStep {
		t.Errorf("a table of another size has %d positions", len(m.variants))
	}
}
