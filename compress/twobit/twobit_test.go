package twobit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"orcomgo/bins/entropy"
)

// randomBases returns n bases.
func randomBases(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = "ACGT"[r.IntN(4)]
	}
	return b
}

// otherStrand returns the reverse complement of bases.
func otherStrand(b []byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		out[len(b)-1-i] = map[byte]byte{'A': 'T', 'C': 'G', 'G': 'C', 'T': 'A'}[c]
	}
	return out
}

// cases are letters of all kinds, by name.
func cases() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	a := randomBases(r, 5000)
	mutated := bytes.Clone(a)
	for i := 50; i < len(mutated); i += 100 + r.IntN(50) {
		mutated[i] = "ACGT"[r.IntN(4)]
	}
	shifted := append(append(bytes.Clone(a[:2000]), a[2003:4000]...), append([]byte("GATTA"), a[4000:]...)...)
	m := map[string][]byte{
		"nothing":       {},
		"one":           []byte("G"),
		"random":        a,
		"repeat":        append(bytes.Clone(a), a...),
		"other strand":  append(bytes.Clone(a), otherStrand(a)...),
		"mutated":       append(bytes.Clone(a), mutated...),
		"both mutated":  append(bytes.Clone(a), otherStrand(mutated)...),
		"shifted":       append(bytes.Clone(a), shifted...),
		"both shifted":  append(bytes.Clone(a), otherStrand(shifted)...),
		"palindrome":    append(bytes.Clone(a), append(otherStrand(a), a...)...),
		"poly A":        bytes.Repeat([]byte("A"), 3000),
		"tandem":        bytes.Repeat([]byte("GATTACAGGTC"), 800),
		"long tandem":   bytes.Repeat(a[:100], 30),
		"lower case":    bytes.ToLower(a),
		"N":             bytes.Repeat([]byte("N"), 1000),
		"all letters":   []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.-*"),
		"N in the gaps": append(append(bytes.Clone(a), bytes.Repeat([]byte("n"), 500)...), a...),
		"masked":        append(append(bytes.Clone(a), bytes.ToLower(a[:700])...), a...),
		"every second":  bytes.Repeat([]byte("AN"), 100000),
		"many lower":    bytes.Repeat([]byte("Ac"), 100000),
	}
	// The literals end in a copy of so many that what their decoder keeps of them is as long as they are.
	for n := 120; n < 200; n++ {
		m[fmt.Sprint(n, " literals around a copy")] = append(append(append(bytes.Clone(a[:n-n/8]), a[:100]...), 'N'), a[1000:1000+n/8]...)
	}
	for n := range 100 {
		m[fmt.Sprint(n, " bases")] = randomBases(r, n)
	}
	for n := 40; n < 80; n++ {
		m[fmt.Sprint(n, " bases twice")] = append(bytes.Clone(a[:300]), a[n:2*n]...)
		m[fmt.Sprint(n, " bases twice, other strand")] = append(bytes.Clone(a[:300]), otherStrand(a[n:2*n])...)
	}
	return m
}

func TestRoundTrip(t *testing.T) {
	for name, letters := range cases() {
		t.Run(name, func(t *testing.T) {
			roundTrip(t, letters, Encode(letters))
		})
	}
}

// Data of which a byte was changed, left out or added is refused or decoded to as many letters.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, name := range []string{"masked", "both shifted", "N in the gaps", "shifted", "both mutated", "long tandem"} {
		letters := cases()[name]
		data := Encode(letters)
		head := bytes.Index(data, data[len(data)-8:])
		head = max(min(head, 400), 1)
		for range 2000 {
			bad := bytes.Clone(data)
			switch at := r.IntN(head); r.IntN(3) {
			case 0:
				bad[at] ^= 1 << r.IntN(8)
			case 1:
				bad = append(bad[:at], bad[at+1:]...)
			case 2:
				bad = append(bad[:at+1], bad[at:]...)
			}
			if s, err := Decode(nil, bad, len(letters)); err == nil {
				if n := len(s.AppendLetters(nil, 0, s.Len())); n != len(letters) {
					t.Fatalf("%s: %d letters, expected %d", name, n, len(letters))
				}
			} else if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// A few bytes can't take much memory.
func TestForgedStreams(t *testing.T) {
	forged := binary.AppendUvarint(nil, 0)
	for range streams {
		forged = append(binary.AppendUvarint(forged, 1<<29), 2) // symbols, stored bytes
	}
	for range streams {
		forged = append(forged, byte(entropy.Same), 0)
	}
	if _, err := Decode(nil, forged, 1<<29); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

// wrapped returns letters in lines.
func wrapped(letters []byte, width int, end string) string {
	var b strings.Builder
	for len(letters) > 0 {
		n := min(width, len(letters))
		b.Write(letters[:n])
		b.WriteString(end)
		letters = letters[n:]
	}
	return b.String()
}

func TestLines(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	letters := randomBases(r, 100000)
	for range 300 {
		at := r.IntN(len(letters))
		n := min(r.IntN(1+r.IntN(400)), len(letters)-at)
		if x := letters[at : at+n]; r.IntN(2) == 0 {
			copy(x, bytes.ToLower(x))
		} else {
			copy(x, bytes.Repeat([]byte("N"), n))
		}
	}
	s, err := Decode(nil, Encode(letters), len(letters))
	if err != nil {
		t.Fatal(err)
	}
	sameLines(t, r, s, letters)
}

// sameLines compares lines of many widths with letters.
func sameLines(t *testing.T, r *rand.Rand, s *Sequence, letters []byte) {
	for _, width := range []int{1, 7, 32, 60, 80, partBases - 1, partBases, partBases + 1, 40000, 100000, 200000} {
		for _, end := range []string{"\n", "\r\n", ""} {
			for range 20 {
				from := r.IntN(len(letters))
				to := from + r.IntN(len(letters)-from+1)
				if got, want := string(s.AppendLines(nil, from, to, width, end)), wrapped(letters[from:to], width, end); got != want {
					t.Fatalf("lines of %d bases, %d to %d, end in %q: they are others", width, from, to, end)
				}
			}
		}
	}
}

// Repeats take little.
func TestRepeats(t *testing.T) {
	for name, most := range map[string]int{"repeat": 1300, "other strand": 1300, "mutated": 1550, "both mutated": 1550, "shifted": 1330,
		"both shifted": 1330, "poly A": 60, "tandem": 60, "long tandem": 70, "N": 50, "masked": 1350, "random": 1300} {
		letters := cases()[name]
		if n := len(Encode(letters)); n > most {
			t.Errorf("%s: %d bytes, expected %d at most", name, n, most)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	letters := randomBases(rand.New(rand.NewPCG(5, 6)), 16<<20)
	b.SetBytes(int64(len(letters)))
	for b.Loop() {
		Encode(letters)
	}
}

func BenchmarkDecode(b *testing.B) {
	letters := randomBases(rand.New(rand.NewPCG(5, 6)), 16<<20)
	copy(letters[8<<20:], letters[1<<20:5<<20])
	data := Encode(letters)
	b.SetBytes(int64(len(letters)))
	for b.Loop() {
		if _, err := Decode(nil, data, len(letters)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendLines(b *testing.B) {
	letters := randomBases(rand.New(rand.NewPCG(5, 6)), 16<<20)
	s, err := Decode(nil, Encode(letters), len(letters))
	if err != nil {
		b.Fatal(err)
	}
	text := s.AppendLines(nil, 0, s.Len(), 60, "\n")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		text = s.AppendLines(text[:0], 0, s.Len(), 60, "\n")
	}
}
