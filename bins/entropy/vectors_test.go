package entropy

import (
	"bytes"
	"encoding/hex"
	"testing"

	"orcomgo/internal/testvector"
)

// TestStreamVectors codes the symbols of testdata/vectors/streams.txt and decodes them.
func TestStreamVectors(t *testing.T) {
	var seen [Order1 + 1]bool
	testvector.Run(t, "../../testdata/vectors/streams.txt", func(t *testing.T, v *testvector.Vector) {
		symbols, err := hex.DecodeString(v.Text(t, "symbols"))
		if err != nil {
			t.Fatal(err)
		}
		stored := v.Bytes(t, "bytes", e.AppendStream(nil, symbols, v.Int(t, "order1") == 1))
		if len(stored) > 0 {
			if kind := v.Int(t, "kind"); int(stored[0]) != kind {
				t.Errorf("the stream is of kind %d, want %d", stored[0], kind)
			}
			seen[stored[0]] = true
		}
		got := make([]byte, len(symbols))
		if err := d.Stream(got, stored); err != nil || !bytes.Equal(got, symbols) {
			t.Fatalf("decoded %x, %v", got, err)
		}
	})
	if seen != [...]bool{true, true, true, true} {
		t.Errorf("the vectors have the kinds %v", seen)
	}
}

// TestNameVectors codes the chunks of testdata/vectors/linenames.txt and decodes them.
func TestNameVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/linenames.txt", func(t *testing.T, v *testvector.Vector) {
		var chunk []byte
		for _, line := range v.Strings(t, "chunk") {
			chunk = append(chunk, line...)
		}
		stored := v.Bytes(t, "bytes", e.AppendNames(nil, chunk))
		got := make([]byte, len(chunk))
		if err := d.Names(got, stored); err != nil || !bytes.Equal(got, chunk) {
			t.Fatalf("decoded %q, %v", got, err)
		}
	})
}
