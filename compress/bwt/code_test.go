package bwt

import "testing"

// TestCover: any two residues have a distance after which both are in the cover.
func TestCover(t *testing.T) {
	for i := range coverSize {
		for j := range coverSize {
			d := int(coverDelta[i][j])
			if coverBits>>((i+d)%coverSize)&1 == 0 || coverBits>>((j+d)%coverSize)&1 == 0 {
				t.Fatalf("%d and %d: not %d", i, j, d)
			}
		}
	}
}

// TestPlaces: the number of a symbol and its bit follow from one another.
func TestPlaces(t *testing.T) {
	text := texts(30000)["mixed"]
	c := newCodedText(text, 3)
	if c.codes == nil {
		t.Fatal("codes of one length")
	}
	s := newSorter(new(memory), c, 1, []uint64{0}, nil)
	at, before := uint64(0), c.number[text[len(text)-1]]
	for i, b := range text {
		if got := s.firstBit(i); got != at || c.symbolAt(at) != uint64(i) {
			t.Fatalf("symbol %d begins at bit %d: got %d, and symbol %d there", i, at, got, c.symbolAt(at))
		}
		n := c.number[b]
		at += uint64(c.codes[int(before)*c.size+int(n)].length)
		before = n
	}
	if at != c.total {
		t.Fatalf("%d bits, not %d", c.total, at)
	}
}
