// Package codectest has tests and benchmarks that codecs of whole byte slices share. Only tests import it.
package codectest

import (
	"bytes"
	"testing"
)

// Decode is a codec's decoder, for streams of at most limit bytes of data.
type Decode func(stream []byte, limit, threads int) ([]byte, error)

// Damage cuts the stream of data after each byte, which must be an error, and changes a bit of each byte, which must be an error
// or decode to the data all the same. A decoder that is given a limit of most bytes takes any stream.
func Damage(t *testing.T, data, stream []byte, most int, decode Decode) {
	t.Helper()
	for i := range stream {
		if _, err := decode(stream[:i], len(data), 1); err == nil {
			t.Fatalf("no error after %d bytes of %d", i, len(stream))
		}
		damaged := bytes.Clone(stream)
		damaged[i] ^= 1 << (i % 8)
		if got, err := decode(damaged, most, 1); err == nil && !bytes.Equal(got, data) {
			t.Fatalf("byte %d damaged: other data and no error", i)
		}
	}
}

// BenchmarkEncode measures encode, which codes data.
func BenchmarkEncode(b *testing.B, data []byte, encode func()) {
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		encode()
	}
}

// BenchmarkDecode measures the decoding of the stream of data.
func BenchmarkDecode(b *testing.B, data, stream []byte, decode Decode) {
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := decode(stream, len(data), 1); err != nil {
			b.Fatal(err)
		}
	}
}
