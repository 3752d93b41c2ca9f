package scan

import (
	"cmp"
	"errors"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bases"
)

// slow is Scan by comparing each sequence everywhere.
func slow(sequences []Sequence, text []byte) (all []Match) {
	for i, q := range sequences {
		for at := 0; at+len(q.Bases) <= len(text); at++ {
			d := 0
			for j, b := range q.Bases {
				if codeOf[text[at+j]] != b {
					d++
				}
			}
			if d <= q.Most {
				all = append(all, Match{i, at, d})
			}
		}
	}
	return all
}

func order(a, b Match) int {
	return cmp.Or(cmp.Compare(a.Sequence, b.Sequence), cmp.Compare(a.At, b.At))
}

// drawn returns a text in letters and codes, and sequences that occur in it, some with differences.
func drawn(r *rand.Rand) (sequences []Sequence, text []byte) {
	text = make([]byte, r.Intn(3000))
	for i := range text {
		text[i] = "ACGTacgt\x00\x01\x02\x03"[r.Intn(12)]
		if r.Intn(100) == 0 {
			text[i] = "NRn.>\n"[r.Intn(6)]
		}
	}
	if r.Intn(3) == 0 { // repeats
		for i := range text {
			text[i] = text[i%(1+len(text)/100)]
		}
	}
	for range 1 + r.Intn(10)*r.Intn(8) {
		q := Sequence{Bases: make([]byte, 1+r.Intn(40)), Most: r.Intn(8)}
		q.Most = min(q.Most, len(q.Bases)-1)
		at := r.Intn(len(text) + 1)
		for i := range q.Bases {
			q.Bases[i] = byte(r.Intn(4))
			if at+i < len(text) && codeOf[text[at+i]] != bases.NoBase && r.Intn(8) > 0 {
				q.Bases[i] = codeOf[text[at+i]]
			}
		}
		sequences = append(sequences, q)
	}
	return sequences, text
}

func TestScan(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	found := 0
	for range 300 {
		sequences, text := drawn(r)
		s, err := New(sequences)
		if err != nil {
			t.Fatal(err)
		}
		var got []Match
		s.Scan(text, func(m Match) bool {
			got = append(got, m)
			return true
		})
		slices.SortFunc(got, order)
		want := slow(sequences, text)
		if !slices.Equal(got, want) {
			t.Fatalf("%v in %q: %v, want %v", sequences, text, got, want)
		}
		found += len(got)
	}
	if found < 1000 {
		t.Errorf("only %d matches", found)
	}
}

func TestScanEnds(t *testing.T) {
	s, err := New([]Sequence{{Bases: []byte{0, 0}}})
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	s.Scan([]byte("AAAAAAA"), func(Match) bool { calls++; return calls < 3 })
	if calls != 3 {
		t.Errorf("%d calls", calls)
	}
	if _, err := New([]Sequence{{Bases: []byte{0, 0}, Most: 2}}); !errors.Is(err, ErrTooShort) {
		t.Error(err)
	}
}

func TestCode(t *testing.T) {
	for i, letter := range "ACGT" {
		for _, l := range []byte{byte(letter), byte(letter) | 0x20} {
			if c, ok := Code(l); !ok || int(c) != i {
				t.Errorf("%c is %d, %v", l, c, ok)
			}
		}
	}
	for _, l := range []byte("N\x00\x01U-") {
		if _, ok := Code(l); ok {
			t.Errorf("%q is a base", l)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = "ACGT"[r.Intn(4)]
	}
	for _, c := range []struct {
		name    string
		n, most int
	}{{"2 exact", 2, 0}, {"2 with 3 differences", 2, 3}, {"20000 exact", 20000, 0}, {"20000 with 3 differences", 20000, 3}} {
		var sequences []Sequence
		for range c.n {
			q := Sequence{make([]byte, 31), c.most}
			for i := range q.Bases {
				q.Bases[i] = byte(r.Intn(4))
			}
			sequences = append(sequences, q)
		}
		s, err := New(sequences)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s.Scan(text, func(Match) bool { return true })
			}
		})
	}
}
