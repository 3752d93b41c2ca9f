package gzexact

import (
	"bytes"
	"strings"
	"testing"

	"orcomgo/internal/testvector"
)

// TestVectors describes the files of testdata/vectors/gzip.txt and restores them.
func TestVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/gzip.txt", func(t *testing.T, v *testvector.Vector) {
		text, file := strings.Join(v.Strings(t, "text"), ""), v.Hex(t, "file")
		d, err := Describe(bytes.NewReader(file), 1<<20, 1)
		if err != nil {
			t.Fatal(err)
		}
		var back bytes.Buffer
		if err := Restore(v.Bytes(t, "bytes", d), strings.NewReader(text), &back, 1); err != nil || !bytes.Equal(back.Bytes(), file) {
			t.Fatalf("restored as %x, %v", back.Bytes(), err)
		}
	})
}
