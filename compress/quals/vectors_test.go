package quals

import (
	"bytes"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/internal/testvector"
)

// TestVectors codes the columns of testdata/vectors/qualities.txt by the strategy that each names, and decodes them.
func TestVectors(t *testing.T) {
	seen := make(map[byte]bool)
	testvector.Run(t, "../../testdata/vectors/qualities.txt", func(t *testing.T, v *testvector.Vector) {
		strategy := byte(v.Int(t, "strategy"))
		seen[strategy] = true
		in := Input{Lengths: record.Lengths{Each: v.Ints(t, "lengths")}, Quals: []byte(v.Text(t, "qualities"))}
		in.Records = len(in.Lengths.Each)
		var data []byte
		switch {
		case strategy == strategyPrimed:
			in.Primer = leadingVector(t, v)
			data = v.Bytes(t, "bytes", Encode(in))
		case strategy >= strategyLeading:
			data = v.Bytes(t, "bytes", EncodeLeading(in, v.Int(t, "primer"), func(*Primer) {}))
		default:
			if v.Has("letters") {
				in.Bases = []byte(v.Text(t, "letters"))
			}
			data = v.Bytes(t, "bytes", Encode(in))
		}
		if data[0] != strategy {
			t.Fatalf("the section has strategy %d, want %d", data[0], strategy)
		}
		got, err := Decode(data, Input{Lengths: in.Lengths, Records: in.Records, Bases: in.Bases, Primer: in.Primer})
		if err != nil || !bytes.Equal(got, in.Quals) {
			t.Fatalf("decoded %q, %v; want %q", got, err, in.Quals)
		}
	})
	for s := range byte(strategyPrimed + 1) {
		if !seen[s] {
			t.Errorf("no vector has strategy %d", s)
		}
	}
}

// leadingVector returns the primer of the leading column of a vector, as it is decoded.
func leadingVector(t *testing.T, v *testvector.Vector) *Primer {
	in := Input{Lengths: record.Lengths{Each: v.Ints(t, "leading-lengths")}, Quals: []byte(v.Text(t, "leading-qualities"))}
	in.Records = len(in.Lengths.Each)
	data := v.Bytes(t, "leading", EncodeLeading(in, v.Int(t, "primer"), func(*Primer) {}))
	p, err := DecodePrimer(data, Input{Lengths: in.Lengths, Records: in.Records})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
