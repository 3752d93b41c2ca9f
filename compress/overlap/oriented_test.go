package overlap

import (
	"math/rand"
	"testing"

	"orcomgo/bases"
)

// TestWordsOfReads: reads of any length come back in both directions as words whose last bits are 0, whatever follows them.
func TestWordsOfReads(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	rd := &Reads{offsets: []uint64{0}}
	var want [][]byte // in input orientation
	for n := range 150 {
		b := make([]byte, n)
		for j := range b {
			b[j] = byte(r.Intn(4))
		}
		stored, reversed := b, r.Intn(2)
		if reversed > 0 {
			stored = make([]byte, n)
			for j, v := range b {
				stored[n-1-j] = 3 - v
			}
		}
		var s sequence
		s.append(stored)
		rd.packed = append(rd.packed, s.packed[:(n+3)/4]...)
		rd.offsets = append(rd.offsets, uint64(len(rd.packed)))
		rd.lengths, rd.signaturePlace = append(rd.lengths, uint32(n)), append(rd.signaturePlace, uint32(reversed))
		want = append(want, b)
	}
	for range bases.Pad {
		rd.packed = append(rd.packed, 0xff)
	}
	o := (&Layout{Reads: rd}).Oriented()
	for from := 0; from < len(want); {
		n := min(1+r.Intn(20), len(want)-from)
		var records []uint32
		var reversed []bool
		for k := range n {
			records, reversed = append(records, uint32(from+k)), append(reversed, r.Intn(2) > 0)
		}
		o.Load(records, reversed)
		for k, rec := range records {
			words, b := o.Read(k), want[rec]
			if len(words) != (len(b)+bases.PerWord-1)/bases.PerWord {
				t.Fatalf("%d bases in %d words", len(b), len(words))
			}
			for j := range len(words) * bases.PerWord {
				got, base := byte(words[j/32]>>(2*(j%32)))&3, byte(0)
				switch {
				case j < len(b) && reversed[k]:
					base = 3 - b[len(b)-1-j]
				case j < len(b):
					base = b[j]
				}
				if got != base {
					t.Fatalf("base %d of %d, reversed %t, is %d, want %d", j, len(b), reversed[k], got, base)
				}
			}
		}
		from += n
	}
}
