package gzexact

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"
)

// BenchmarkFile describes and restores the file that ORCOMGO_GZ names.
func BenchmarkFile(b *testing.B) {
	gz, err := os.ReadFile(os.Getenv("ORCOMGO_GZ"))
	if err != nil {
		b.Skip("ORCOMGO_GZ names no file")
	}
	r, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		b.Fatal(err)
	}
	var d bytes.Buffer
	b.Run("describe", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for range b.N {
			d.Reset()
			if err := Describe(bytes.NewReader(gz), &d, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("restore", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for range b.N {
			if err := Restore(bytes.NewReader(d.Bytes()), bytes.NewReader(text), io.Discard, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
}
