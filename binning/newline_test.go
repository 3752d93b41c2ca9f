package binning

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/internal/testrun"
)

func TestIndexNewline(t *testing.T) {
	testrun.NoRace(t)
	rng := rand.New(rand.NewSource(1))
	b := make([]byte, 40)
	for range 100_000 {
		for i := range b {
			b[i] = "\n\n\v\t\x8a\x0b\x00\xffAC"[rng.Intn(10)]
			if rng.Intn(3) > 0 {
				b[i] = "\v\t\x8aA"[rng.Intn(4)]
			}
		}
		text := b[rng.Intn(20) : 20+rng.Intn(21)]
		if got, want := indexNewline(text), bytes.IndexByte(text, '\n'); got != want {
			t.Fatalf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestFindNewlines compares the line ends that are found together with those found one by one.
func TestFindNewlines(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	for i := range 3000 {
		text := bytes.Repeat([]byte("A"), rng.Intn(2000))
		for every := 1 + rng.Intn(1+i%100); every > 0 && len(text) > 0; every-- {
			at := rng.Intn(len(text))
			end := min(len(text), at+rng.Intn(1+i%40))
			for at < end {
				text[at] = '\n'
				at += 1 + rng.Intn(3)
			}
		}
		var want, got []uint32
		for at, c := range text {
			if c == '\n' {
				want = append(want, uint32(at))
			}
		}
		dst := make([]uint32, newlineRoom+rng.Intn(100))
		for at := 0; ; {
			found, end := findNewlines(dst, text, at)
			if found == 0 {
				if end != len(text) {
					t.Fatalf("stopped at %d of %d bytes", end, len(text))
				}
				break
			}
			got, at = append(got, dst[:found]...), end
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: found %v, want %v", text, got, want)
		}
	}
}

// TestPlainRecords parses records with and without the short way for the commonest ones.
func TestPlainRecords(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	pick := func(s ...string) string { return s[rng.Intn(len(s))] }
	for range 20_000 {
		var text []byte
		records := 1 + rng.Intn(3)
		for range records {
			end := pick("\n", "\n", "\n", "\n", "\n", "\n", "\r\n", "\r\r\n")
			n := rng.Intn(4)
			text = append(text, pick("@", "@", "@", "@", "@", "@", "A")+pick("", "n", "name")+end...)
			text = append(text, "ACGTACGT"[:n]+pick("\n", "\n", "\n", end)...)
			text = append(text, pick("+", "+", "+", "+", "+", "+", "", "+n", "x")+pick("\n", "\n", "\n", end)...)
			text = append(text, "IIIIIIII"[:n+rng.Intn(20)/19]+end...)
		}
		if rng.Intn(4) == 0 {
			text = text[:rng.Intn(len(text)+1)]
		}
		p := parser{text: text, last: rng.Intn(2) == 0, canonical: rng.Intn(4) == 0, quals: rng.Intn(4) > 0, forms: rng.Intn(4) > 0}
		q := p
		p.start(0, len(text), make([]uint32, 2*newlineRoom))
		q.start(0, len(text), make([]uint32, 2*newlineRoom))
		var got, want parsed
		for at := 0; at < len(text); at = want.end {
			a, b := p.next(at, &got), q.any(at, &want)
			if (a == nil) != (b == nil) || a != nil && *a != *b {
				t.Fatalf("%q at %d: %v, want %v", text, at, a, b)
			}
			if a != nil {
				break
			}
			if got != want {
				t.Fatalf("%q at %d: %v, want %v", text, at, got, want)
			}
		}
	}
}
