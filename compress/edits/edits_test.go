package edits

import (
	"bytes"
	"errors"
	"testing"

	"orcomgo/cmd/simreads/sim"
)

// decode decodes the reads of a section. Literals are taken from the reads.
func (d *drawn) decode(section []byte, o Options) ([][]byte, error) {
	x, err := NewDecoder(section, o, d.bases)
	if err != nil {
		return nil, err
	}
	var all [][]byte
	for _, r := range d.reads {
		const untouched = 9
		got := bytes.Repeat([]byte{untouched}, len(r.bases))
		literals, err := x.Next(got, r.quals)
		if err != nil {
			return nil, err
		}
		for _, s := range literals {
			for k := s.Start; k < s.End; k++ {
				if got[k] != untouched {
					return nil, errors.New("a literal base was decoded")
				}
			}
			copy(got[s.Start:s.End], r.bases[s.Start:s.End])
		}
		all = append(all, got)
	}
	return all, x.Finish()
}

// roundTrip codes reads, decodes them, and returns the section.
func (d *drawn) roundTrip(t testing.TB, o Options) []byte {
	t.Helper()
	section := d.encode(o)
	got, err := d.decode(section, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range d.reads {
		if !bytes.Equal(got[i], r.bases) {
			t.Fatalf("read %d is\n%d, want\n%d", i, got[i], r.bases)
		}
	}
	return section
}

func TestRandomReads(t *testing.T) {
	for seed := range int64(1000) {
		d := randomReads(seed)
		d.roundTrip(t, d.options(seed&1 == 1))
	}
}

// TestCost: reads as they are drawn cost less than the entropies of what was drawn, as a model without contexts would reach them, and
// much less where qualities are given or reads differ in how many errors they have.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		name      string
		config    sim.Config
		qualities bool
		entropies float64 // in bytes: of places, and of errors given the run of equal bases that each is in
		most      float64 // of the entropies
	}{
		{"hifi", sim.Config{Quality: sim.HiFi, Indels: 0.002}, false, 53_068, 0.92},
		{"hifi without indels", sim.Config{Quality: sim.HiFi}, false, 50_412, 0.92},
		{"hifi with qualities", sim.Config{Quality: sim.HiFi, Indels: 0.002}, true, 53_068, 0.465},
		{"nanopore", sim.Config{Quality: sim.Nanopore, Indels: 0.025}, false, 220_081, 0.99},
		{"nanopore with qualities", sim.Config{Quality: sim.Nanopore, Indels: 0.025}, true, 220_081, 0.70},
		{"chimeras", sim.Config{Quality: sim.HiFi, Indels: 0.002}, false, 53_068, 0.94},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := draw(t, 200_000, 20, c.config)
			if c.name == "chimeras" {
				d.glue()
			}
			o := d.options(c.qualities)
			n := float64(len(d.roundTrip(t, o)))
			if n > c.most*c.entropies {
				t.Errorf("%.0f bytes are %.3f of the entropy, want %.2f", n, n/c.entropies, c.most)
			}
		})
	}
}

func TestDamage(t *testing.T) {
	d := draw(t, 20_000, 10, sim.Config{Quality: sim.Nanopore, Indels: 0.025, Length: 2000})
	o := d.options(false)
	section := d.encode(o)
	for name, change := range map[string]func(b []byte, o *Options) []byte{
		"empty":            func(b []byte, o *Options) []byte { return nil },
		"half":             func(b []byte, o *Options) []byte { return b[:len(b)/2] },
		"no gaps":          func(b []byte, o *Options) []byte { return append([]byte{0}, b[2000:]...) },
		"more":             func(b []byte, o *Options) []byte { return append(b, make([]byte, 20)...) },
		"shorter sequence": func(b []byte, o *Options) []byte { o.Bases /= 2; return b },
		"no sequence":      func(b []byte, o *Options) []byte { o.Bases = 0; return b },
		"qualities":        func(b []byte, o *Options) []byte { o.Qualities = true; return b },
	} {
		t.Run(name, func(t *testing.T) {
			o := o
			if _, err := d.decode(change(bytes.Clone(section), &o), o); !errors.Is(err, ErrCorrupt) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	for i := 0; i < len(section); i += 37 {
		b := bytes.Clone(section)
		b[i] ^= 0x10
		if _, err := d.decode(b, o); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d: the error is %v", i, err)
		}
	}
}

func TestWrongPieces(t *testing.T) {
	o := Options{Bases: 10, Source: func(dst []byte, pos, n int) []byte { return append(dst, make([]byte, n)...) }}
	for name, pieces := range map[string][]Piece{
		"beyond the read":     {{End: 6, Length: 6}},
		"beyond the sequence": {{End: 5, Place: 6, Length: 5}},
		"overlap":             {{End: 3, Length: 3}, {Start: 2, End: 5, Length: 3}},
		"another length":      {{End: 3, Length: 4}},
		"base 4":              {{End: 3, Length: 3, Edits: []Edit{{Base: 4}}}},
		"order":               {{End: 3, Length: 3, Edits: []Edit{{At: 1, Base: 1}, {At: 0, Base: 1}}}},
		"twice":               {{End: 3, Length: 3, Edits: []Edit{{At: 1, Base: 1}, {At: 1, Base: 1}}}},
		"after the end":       {{End: 3, Length: 3, Edits: []Edit{{At: 3, Base: 1}}}},
		"all deleted":         {{End: 1, Length: 1, Edits: []Edit{{At: 0, Kind: Insertion}, {At: 0, Kind: Deletion}}}},
		"empty":               {{Length: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("the piece was coded")
				}
			}()
			NewEncoder(o).Add(5, pieces, nil)
		})
	}
}
