package basemodel

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/internal/testrun"
)

// randomLiterals returns literals that look like reads, of which some are of the genome.
func randomLiterals(r *rand.Rand, genome []byte, n int) *Literals {
	x := new(Literals)
	for len(x.Bases) < n {
		k := min(1+r.Intn(300), n-len(x.Bases))
		if k < len(genome) && r.Intn(2) == 0 {
			at := r.Intn(len(genome) - k)
			x.Bases = append(x.Bases, genome[at:at+k]...)
		} else {
			x.Bases = append(x.Bases, randomBases(r, k)...)
		}
	}
	return x
}

// withLeads gives literals leads, some of them one after another, and qualities.
func withLeads(r *rand.Rand, x *Literals, most int, quals bool) *Literals {
	x.Leads, x.Quals = nil, nil
	for at := r.Intn(most); at+LeadBases <= len(x.Bases); at += LeadBases + r.Intn(most) {
		x.Leads = append(x.Leads, at)
	}
	if quals {
		x.Quals = make([]byte, len(x.Bases))
		for i := range x.Quals {
			x.Quals[i] = byte(33 + r.Intn(45))
		}
	}
	return x
}

// checkLiterals codes and decodes literals, and compares the models after that.
func checkLiterals(m *Model, x *Literals) error {
	given := slices.Clone(x.Leads)
	c, d := m.Clone(len(x.Bases)), m.Clone(len(x.Bases))
	data := c.Append([]byte("before"), x)
	if string(data[:6]) != "before" {
		return errors.New("what was there before has changed")
	}
	y := hidden(x)
	if err := d.Decode(data[6:], y); err != nil {
		return err
	}
	if !bytes.Equal(y.Bases, x.Bases) {
		return errors.New("other bases are decoded")
	}
	if !c.Equal(d) {
		return errors.New("the models differ")
	}
	if !slices.Equal(given, x.Leads) || !slices.Equal(given, y.Leads) {
		return errors.New("the leads have changed")
	}
	c.Release()
	d.Release()
	return nil
}

// TestLiterals: literals come back, with and without leads and qualities, after any number of bases, in one lane or several, and in blocks.
func TestLiterals(t *testing.T) {
	r := rand.New(rand.NewSource(47))
	for _, learnt := range []int{0, 33, 2*laneBases + 7} {
		genome := repetitive(int64(learnt), learnt)
		m := modelOf(genome)
		for _, n := range lengths() {
			if n > 3*laneBases+1 && (learnt < laneBases || n > blockBases+1 || n < blockBases || testrun.Short()) {
				continue // takes long
			}
			x := randomLiterals(r, genome, n)
			for _, c := range []struct {
				most  int
				quals bool
			}{{n + 1, false}, {1, false}, {100, true}, {3, true}, {5000, false}} {
				if err := checkLiterals(m, withLeads(r, x, c.most, c.quals)); err != nil {
					t.Fatalf("%d bases, then %d with leads after at most %d others, qualities %t: %v", learnt, n, c.most, c.quals, err)
				}
			}
		}
	}
}

// TestLeadsAtBorders: leads begin and end before, at, and after the borders of lanes and blocks; all lanes pass their parts of them.
func TestLeadsAtBorders(t *testing.T) {
	r := rand.New(rand.NewSource(48))
	m := modelOf(repetitive(49, 3000))
	for _, n := range []int{2*laneBases + 100, 3*laneBases + 1, blockBases + 2*laneBases} {
		if n > blockBases && testrun.Short() {
			continue
		}
		x := &Literals{Bases: randomBases(r, n)}
		for shift := range LeadBases + 2 {
			x.Leads = nil
			add := func(border int) {
				at := border - LeadBases - 1 + shift
				last := len(x.Leads) - 1
				if at >= 0 && at+LeadBases <= n && (last < 0 || x.Leads[last]+LeadBases <= at) {
					x.Leads = append(x.Leads, at)
				}
			}
			for from := 0; from < n; from += blockBases {
				size := min(blockBases, n-from)
				for l := range lanesOf(size) {
					add(from + size*l/lanesOf(size))
				}
			}
			add(n)
			if err := checkLiterals(m, x); err != nil {
				t.Fatalf("%d bases with leads %v: %v", n, x.Leads, err)
			}
		}
	}
}

// TestLeadsCostNothing: bases that both sides know are not coded.
func TestLeadsCostNothing(t *testing.T) {
	r := rand.New(rand.NewSource(50))
	m := modelOf(randomBases(r, 1000))
	x := &Literals{Bases: randomBases(r, 100*LeadBases)}
	for i := range 100 {
		x.Leads = append(x.Leads, i*LeadBases)
	}
	if data := m.Clone(len(x.Bases)).Append(nil, x); len(data) != 4 {
		t.Errorf("nothing but leads takes %d bytes, want 4, the state", len(data))
	}
}

// TestClonesWithMoreRoom: literals come back under a clone that has room for more of them.
func TestClonesWithMoreRoom(t *testing.T) {
	r := rand.New(rand.NewSource(51))
	m := modelOf(repetitive(52, 3000))
	for _, room := range []int{500, 501, 700, 20_000} {
		x := withLeads(r, randomLiterals(r, nil, 500), 50, true)
		data, y := m.Clone(room).Append(nil, x), hidden(x)
		if err := m.Clone(room).Decode(data, y); err != nil || !bytes.Equal(y.Bases, x.Bases) {
			t.Errorf("room for %d: other bases are decoded, error %v", room, err)
		}
	}
}

// damagedLiterals decodes literals that may be damaged. What is decoded without an error is coded as what was decoded.
func damagedLiterals(m *Model, data []byte, x *Literals) error {
	c := m.Clone(len(x.Bases))
	defer c.Release()
	y := hidden(x)
	if err := c.Decode(data, y); err != nil {
		if !errors.Is(err, ErrCorrupt) {
			return err
		}
		return nil
	}
	d := m.Clone(len(x.Bases))
	defer d.Release()
	if again := d.Append(nil, y); !bytes.Equal(again, data) {
		return fmt.Errorf("%d bytes are decoded, and coded as %d others", len(data), len(again))
	}
	return nil
}

// TestDamagedLiterals: literals that are cut off, longer, or changed give an error or other bases.
func TestDamagedLiterals(t *testing.T) {
	r := rand.New(rand.NewSource(53))
	genome := repetitive(54, 5000)
	m := modelOf(genome)
	for _, n := range []int{0, 1, 20, 500, 2*laneBases + 5} {
		x := withLeads(r, randomLiterals(r, genome, n), 100, true)
		data := m.Clone(n).Append(nil, x)
		for k := 0; k < len(data); k += 1 + len(data)/testrun.Pick(30, 150, 1000) {
			if err := damagedLiterals(m, data[:k], x); err != nil {
				t.Errorf("%d bases, %d of %d bytes: %v", n, k, len(data), err)
			}
		}
		for _, more := range []int{1, 2, 3, 63, 64, 65, 200} {
			if err := m.Clone(n).Decode(append(bytes.Clone(data), make([]byte, more)...), hidden(x)); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%d bases, %d bytes more: error %v", n, more, err)
			}
		}
		for range testrun.Pick(30, 200, 2000) {
			if len(data) == 0 {
				break
			}
			damaged := bytes.Clone(data)
			damaged[r.Intn(len(damaged))] ^= 1 << r.Intn(8)
			if err := damagedLiterals(m, damaged, x); err != nil {
				t.Errorf("%d bases: %v", n, err)
			}
		}
	}
}

// FuzzLiterals: whatever the code of literals is, decoding it ends, with an error or bases that are coded so.
func FuzzLiterals(f *testing.F) {
	genome := repetitive(55, 3000)
	m := modelOf(genome)
	for _, n := range []int{0, 1, 300, 2 * laneBases} {
		r := rand.New(rand.NewSource(int64(n)))
		x := withLeads(r, randomLiterals(r, genome, n), 100, n%2 == 0)
		f.Add(m.Clone(n).Append(nil, x), uint16(n), int64(n), uint16(100), n%2 == 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint16, seed int64, most uint16, quals bool) {
		r := rand.New(rand.NewSource(seed))
		x := withLeads(r, randomLiterals(r, genome, int(n)), 1+int(most), quals)
		if err := damagedLiterals(m, data, x); err != nil {
			t.Fatal(err)
		}
	})
}
