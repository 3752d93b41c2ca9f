package edits

import (
	"bytes"
	"fmt"
	"testing"

	"orcomgo/cmd/simreads/sim"
)

// roundTrip codes reads, decodes them, and returns the section.
func (d *drawn) roundTrip(t testing.TB, o Options) []byte {
	t.Helper()
	section := d.encode(o)
	x, err := NewDecoder(section, o, d.bases)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range d.reads {
		got := bytes.Repeat([]byte{9}, len(r.bases))
		literals, err := x.Next(got, r.quals)
		if err != nil {
			t.Fatalf("read %d: %v", i, err)
		}
		for _, s := range literals {
			for k := s.Start; k < s.End; k++ {
				if got[k] != 9 {
					t.Fatalf("read %d: base %d is literal and decoded", i, k)
				}
			}
			copy(got[s.Start:s.End], r.bases[s.Start:s.End])
		}
		if !bytes.Equal(got, r.bases) {
			at := 0
			for got[at] == r.bases[at] {
				at++
			}
			t.Fatalf("read %d: base %d of %d is %d, want %d", i, at, len(got), got[at], r.bases[at])
		}
	}
	if err := x.Finish(); err != nil {
		t.Fatal(err)
	}
	return section
}

func TestSizes(t *testing.T) {
	for _, c := range []sim.Config{{Quality: sim.HiFi}, {Quality: sim.HiFi, Indels: .002}, {Quality: sim.Nanopore}, {Quality: sim.Nanopore, Indels: .025}} {
		c.NRate = .0001
		d := draw(t, 300_000, 30, c)
		for _, q := range []bool{false, true} {
			n := len(d.roundTrip(t, d.options(q)))
			fmt.Printf("profile %d indels %.3f q %v: %d; order 0: errors %.0f places %.0f\n", c.Quality, c.Indels, q, n, d.cost.Errors/8, d.cost.Places/8)
		}
	}
}
