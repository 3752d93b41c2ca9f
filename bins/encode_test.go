package bins

import (
	"bytes"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins/record"
)

// TestCoders: however many chunks a block has and however many goroutines there are, no more than mostCoders encode them, and what they
// need is used again for the next block, by another Encoded as well.
func TestCoders(t *testing.T) {
	const length = (mostCoders + 4) * chunkSize
	all := NewEncoded(2)
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
	if n := len(all[0].coders.free); n != 1 || all[1].coders != all[0].coders {
		t.Errorf("%d coders were made for one goroutine", n)
	}
}
