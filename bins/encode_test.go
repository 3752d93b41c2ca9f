package bins

import (
	"bytes"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins/record"
)

// TestCoders: however many chunks a block has and however many goroutines there are, no more than mostCoders encode them.
func TestCoders(t *testing.T) {
	const length = (mostCoders + 4) * chunkSize
	all := make([]Encoded, 2)
	for i := range all {
		b := &Block{Records: 1, Lengths: record.Lengths{Fixed: length}, Packed: make([]byte, bases.PackedLen(length)),
			Names: []byte("a\n"), Quals: bytes.Repeat([]byte("F"), length), Order: []uint32{0}, Place: []uint32{0},
			Bins: []Bin{{Signature: NBin, Reads: 1, Bases: length}}}
		most := 0
		err := EncodeBlock(&all[i], b, func(n int, task func(int)) {
			most = max(most, n)
			for k := range n {
				task(k)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if most != mostCoders {
			t.Errorf("%d goroutines encode a block", most)
		}
	}
}
