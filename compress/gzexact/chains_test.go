package gzexact

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLongChains: with chains of places where a match may be longer, the same matches are found.
func TestLongChains(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := [][]byte{bytes.Repeat([]byte("F"), longText), bytes.Repeat([]byte("ACGTTGCAAC\n"), longText/8), nil, nil, nil}
	for range longText {
		texts[2] = append(texts[2], "ACGT"[r.IntN(4)])
		texts[3] = append(texts[3], "FFFFFFFFFFFFFFFFFFFFFFFF:,#"[r.IntN(27)])
		if from := r.IntN(len(texts[3])); r.IntN(60) == 0 {
			texts[4] = append(texts[4], texts[3][from:min(from+r.IntN(300), len(texts[3]))]...)
		}
	}
	for i, text := range texts {
		for _, w := range []writer{
			{zlibBlocks16K, 5}, {zlibBlocks16K, 6}, {zlibBlocks32K, 9}, {gzipBlocks, 8}, {libdeflateRules, 7}, {libdeflateRules, 9}} {
			tokens := func(longer bool) (tokens []token) {
				p := w.predictor()
				c, ok := p.(*zlib)
				switch {
				case longer:
				case ok:
					c.places = 0
				default:
					p.(*libdeflate).places = 0
				}
				padded := append(bytes.Clone(text), make([]byte, padBytes)...)
				p.begin(padded, 0, 0)
				for end := min(len(text), 50_000); p.place() < len(text); end = len(text) { // two segments
					p.segment(end)
					for p.place() < end {
						tokens = append(tokens, follow(p, nil, nil, 1<<30, end)...)
					}
				}
				return tokens
			}
			if got, want := tokens(true), tokens(false); !slices.Equal(got, want) {
				t.Errorf("text %d, writer %v: %d tokens, want the same %d as without", i, w, len(got), len(want))
			}
		}
	}
}
