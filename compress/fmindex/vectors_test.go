package fmindex

import (
	"bytes"
	"testing"

	"orcomgo/internal/testvector"
)

// codes returns the bases of letters.
func codes(letters string) []byte {
	b := []byte(letters)
	for i, l := range b {
		b[i] = byte(bytes.IndexByte([]byte("ACGT"), l))
	}
	return b
}

// TestVectors builds the indexes of testdata/vectors/index.txt.
func TestVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/index.txt", func(t *testing.T, v *testvector.Vector) {
		c := Content{Text: codes(v.Text(t, "pseudogenome")), Literals: new(Literals), Begins: NewBegins(len(v.Text(t, "pseudogenome")))}
		copy(c.Archive[:], v.Hex(t, "archive"))
		c.Coverage = NewCoverage(len(c.Text), Window)
		reads := v.Ints(t, "reads")
		for i := 0; i < len(reads); i += 2 {
			c.Coverage.Add(int(reads[i]), int(reads[i+1]))
		}
		for _, n := range v.Ints(t, "in slices") {
			var begins []uint32
			span := uint32(0)
			for ; n > 0; n, reads = n-1, reads[2:] {
				begins, span = append(begins, uint32(reads[0])), max(span, uint32(reads[1]-reads[0]))
			}
			c.Begins.AddSlice(begins, span)
		}
		literals := v.Strings(t, "literals")
		for _, n := range v.Ints(t, "stretches") {
			for _, l := range literals[:n] {
				c.Literals.Add(codes(l))
			}
			literals = literals[n:]
			c.Literals.EndSlice()
		}
		c.Text = append(c.Text, c.Literals.Bases...)
		x, err := Build(c, 2)
		if err != nil {
			t.Fatal(err)
		}
		x, err = openFile(v.Bytes(t, "bytes", x.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := x.AppendText(nil, 0, x.Chunks()); err != nil || !bytes.Equal(text, c.Text) {
			t.Errorf("the text of the bytes is %v, %v", text, err)
		}
	})
}
