// Package codectest has what tests of several packages share: damage to streams of codecs and to files, and signatures of letters. Only
// tests import it.
package codectest

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins/commit"
	"orcomgo/minimizer"
)

// Signature returns what minimizer.FindPacked does of the letters of a read.
func Signature(read []byte) (sig, pos uint32, reverse bool) {
	packed := make([]byte, bases.PackedLen(len(read))+minimizer.Pad)
	var gaps []minimizer.Gap
	for i, letter := range read {
		if code := bases.Code(letter); code != bases.NoBase {
			bases.Set(packed, i, code)
		} else if k := len(gaps) - 1; k >= 0 && gaps[k].End == i {
			gaps[k].End++
		} else {
			gaps = append(gaps, minimizer.Gap{Start: i, End: i + 1})
		}
	}
	return minimizer.FindPacked(packed, len(read), gaps)
}

// WithoutParity returns the content of a .cdna file whose own parity is useless, so that no damage is mended.
func WithoutParity(b []byte) []byte {
	return bytes.ReplaceAll(b, []byte(commit.ParityMagic), make([]byte, len(commit.ParityMagic)))
}

// Damage cuts the stream of data after each byte, which must be an error but for the last ones, and changes a bit of each byte,
// which may give other data of the same size.
func Damage(t *testing.T, data, stream []byte, decode func(stream []byte, size int) ([]byte, error)) {
	t.Helper()
	for i := range stream {
		if _, err := decode(stream[:i], len(data)); err == nil && i < len(stream)-12 {
			t.Fatalf("no error after %d bytes of %d", i, len(stream))
		}
		damaged := bytes.Clone(stream)
		damaged[i] ^= 1 << (i % 8)
		if got, err := decode(damaged, len(data)); err == nil && len(got) != len(data) {
			t.Fatalf("byte %d damaged: %d bytes and no error", i, len(got))
		}
	}
}

// FileDamages are kinds of damage, each to at most n sectors of so many bytes of a file, by name. They may change b.
var FileDamages = map[string]func(rng *rand.Rand, b []byte, n, sector int) []byte{
	"nothing": func(_ *rand.Rand, b []byte, _, _ int) []byte { return b },
	"bits": func(rng *rand.Rand, b []byte, n, _ int) []byte {
		for range n {
			b[rng.Intn(len(b))] ^= 1 << rng.Intn(8)
		}
		return b
	},
	"sectors": func(rng *rand.Rand, b []byte, n, sector int) []byte {
		for range n {
			at := rng.Intn((len(b)-1)/sector+1) * sector
			rng.Read(b[at:min(at+sector, len(b))])
		}
		return b
	},
	"burst": func(rng *rand.Rand, b []byte, n, sector int) []byte {
		length := rng.Intn(max((n-1)*sector, 1))
		at := rng.Intn(max(len(b)-length, 1))
		rng.Read(b[at:min(at+length, len(b))])
		return b
	},
	"zeros": func(rng *rand.Rand, b []byte, n, sector int) []byte {
		length := rng.Intn(max((n-1)*sector, 1))
		at := rng.Intn(max(len(b)-length, 1))
		clear(b[at:min(at+length, len(b))])
		return b
	},
	"cut": func(rng *rand.Rand, b []byte, n, sector int) []byte {
		return b[:max(0, len(b)-rng.Intn(max((n-1)*sector, 1)))]
	},
	"beginning is missing": func(rng *rand.Rand, b []byte, n, sector int) []byte {
		return b[min(len(b), rng.Intn(max((n-1)*sector, 1))):]
	},
	"inserted": func(rng *rand.Rand, b []byte, n, _ int) []byte {
		for range max(n-1, 0) {
			at := rng.Intn(len(b) + 1)
			more := make([]byte, 1+rng.Intn(5000))
			rng.Read(more)
			b = slices.Insert(b, at, more...)
		}
		return b
	},
	"removed": func(rng *rand.Rand, b []byte, n, sector int) []byte {
		for range n / 2 {
			at := rng.Intn(len(b) + 1)
			b = append(b[:at:at], b[min(len(b), at+1+rng.Intn(sector)):]...)
		}
		return b
	},
}
