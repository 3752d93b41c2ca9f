package names

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"testing"
)

// sectionsOf codes names in sections of at most 40 names, given first if that is not nil, and returns how many names each has.
func sectionsOf(rng *rand.Rand, names, first [][]byte) (sections [][]byte, counts []int, e *Encoder) {
	e = new(Encoder)
	for at := 0; at < len(names); {
		n := min(1+rng.Intn(40), len(names)-at)
		var mates []byte
		if first != nil {
			mates = bytes.Join(first[at:at+n], nil)
		}
		ahead := func() []byte { return bytes.Join(names[at:], nil) }
		sections, counts = append(sections, e.Encode(bytes.Join(names[at:at+n], nil), mates, n, ahead)), append(counts, n)
		at += n
	}
	return sections, counts, e
}

// TestSections: names in several sections come back, a section at a time, and take little more than in one.
func TestSections(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	kinds := map[string]func(i int) string{
		"rising": func(i int) string {
			return fmt.Sprintf("M1:%d:%d %s", 1+i/100, i*i*31%9973, []string{"AC", "GT", "TT"}[i%3])
		},
		"repeated": func(i int) string { return fmt.Sprintf("SRR%d.%d", i/150, i%150*(i%150)*7919%1000003) },
		"shapes":   func(i int) string { return []string{"a%d", "b-%d", "%d", "x%d:y"}[i%4][:2] + fmt.Sprint(i) },
		"words":    func(i int) string { return fmt.Sprintf("%x%x", rng.Uint64(), i) },
	}
	for kind, name := range kinds {
		var names, mates [][]byte
		for i := range 600 {
			s := name(i)
			names = append(names, []byte(s+"/1\n"))
			if i%50 == 7 {
				s += "odd"
			}
			mates = append(mates, []byte(s+"/2\n"))
		}
		for _, first := range [][][]byte{nil, names} {
			text := names
			if first != nil {
				text = mates
			}
			sections, counts, e := sectionsOf(rng, text, first)
			if want := kind == "repeated"; first == nil && kind != "words" && e.Repeats() != want {
				t.Errorf("%s: names repeat: %v, want %v", kind, e.Repeats(), want)
			}
			var d Decoder
			at, size := 0, 0
			for i, data := range sections {
				n := counts[i]
				size += len(data)
				var given []byte
				if first != nil {
					given = bytes.Join(first[at:at+n], nil)
				}
				want := bytes.Join(text[at:at+n], nil)
				if Continues(data) != (i > 0) {
					t.Fatalf("%s: section %d continues another one: %v", kind, i, Continues(data))
				}
				if i == len(sections)-1 { // some of it
					k := (n + 1) / 2
					got, err := d.Decode(data, given, n, k, uint64(len(want)))
					if err != nil || !bytes.Equal(got, bytes.Join(text[at:at+k], nil)) {
						t.Fatalf("%s: decoded %q of section %d, %v", kind, got, i, err)
					}
					if _, err := d.Decode(data, given, n, n, uint64(len(want))); k < n && !errors.Is(err, ErrCorrupt) {
						t.Errorf("%s: a section after a part of one: error %v", kind, err)
					}
					continue
				}
				got, err := d.Decode(data, given, n, n, uint64(len(want)))
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s: decoded %q of section %d, want %q, error %v", kind, got, i, want, err)
				}
				at += n
			}
			one := Encode(bytes.Join(text, nil), len(text))
			if first != nil {
				one = encodeMate(bytes.Join(text, nil), bytes.Join(first, nil), len(text))
			}
			if most := len(one) + len(one)/50 + 12*len(sections); size > most {
				t.Errorf("%s: %d sections take %d bytes, one takes %d", kind, len(sections), size, len(one))
			}
		}
	}
}

// TestSectionsAlone: a section that continues another one cannot be decoded without it, nor as names of mates if they were not.
func TestSectionsAlone(t *testing.T) {
	text := []byte("r1\nr2\nr3\n")
	var e Encoder
	head, next := e.Encode(text, nil, 3, nil), e.Encode(text, nil, 3, nil)
	for name, before := range map[string][]byte{"nothing": nil, "damaged": head[:3]} {
		var d Decoder
		if before != nil {
			d.Decode(before, nil, 3, 3, 100)
		}
		if got, err := d.Decode(next, nil, 3, 3, 100); !errors.Is(err, ErrCorrupt) {
			t.Errorf("after %s: %q, %v", name, got, err)
		}
	}
	var d Decoder
	if _, err := d.Decode(head, nil, 3, 3, 100); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Decode(next, text, 3, 3, 100); !errors.Is(err, ErrCorrupt) {
		t.Errorf("as mates: %q, %v", got, err)
	}
	// Damage is an error, or other names; never more than there may be.
	for i := range next {
		for bit := range 8 {
			damaged := slices.Clone(next)
			damaged[i] ^= 1 << bit
			var d Decoder
			d.Decode(head, nil, 3, 3, 100)
			if got, err := d.Decode(damaged, nil, 3, 3, 100); err == nil && (len(got) > 100 || bytes.Count(got, []byte("\n")) != 3) {
				t.Errorf("byte %d: decoded %q", i, got)
			}
		}
	}
}
