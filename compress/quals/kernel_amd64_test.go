//go:build amd64

package quals

import (
	"bytes"
	"testing"

	"orcomgo/compress/ans"
)

// The vector instructions and plain Go give the same bytes.
func TestPlainAsVectors(t *testing.T) {
	if !ans.HasVectors {
		t.Skip("the processor does not have the instructions")
	}
	for _, c := range columns() {
		for _, in := range []Input{c.in, withBases(c.in)} {
			want := Encode(in)
			ans.HasVectors = false
			got := Encode(in)
			decoded, err := Decode(want, in)
			ans.HasVectors = true
			if !bytes.Equal(got, want) {
				t.Fatalf("%s: the streams differ", c.name)
			}
			if err != nil || !bytes.Equal(decoded, in.Quals) {
				t.Fatalf("%s: decoded without vectors: %v", c.name, err)
			}
		}
	}
}
