package basemodel

import (
	"bytes"
	"math"
	"math/rand"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
)

// differs says in which table a clone that has coded nothing differs from its model; empty if in none.
func (m *Model) differs(o *Model) string {
	bases := m.hist.words[min(len(m.hist.words), len(o.hist.words)):]
	switch {
	case !slices.Equal(m.nodes, o.nodes):
		return "nodes"
	case !slices.Equal(m.slots, o.slots):
		return "k-mers"
	case !slices.Equal(m.hist.words[:len(m.hist.words)-len(bases)], o.hist.words[:len(m.hist.words)-len(bases)]) ||
		len(bases) > 0 && slices.Max(bases) != 0:
		return "bases"
	case m.learnt != o.learnt:
		return "number of bases"
	case len(m.weights) != qualityClasses*weightSets:
		return "number of weights"
	}
	for q := range qualityClasses {
		if !slices.Equal(m.weights[q*weightSets:][:weightSets], o.weights) {
			return "weights"
		}
	}
	return ""
}

// TestClonesTakeBackWhatTheyChange: a clone that was released is used again, and then is what a fresh one is, however many bases it coded,
// in however many lanes.
func TestClonesTakeBackWhatTheyChange(t *testing.T) {
	r := rand.New(rand.NewSource(40))
	for _, n := range []int{0, 1, 7, 40, 3000, 100_000, 2_000_000} {
		genome := repetitive(int64(n), n)
		m := newModel(n + 17)
		learn(m, genome)
		for _, more := range []int{0, 1, 3, 5, 31, 32, 33, 300, 16_000, 40_000} {
			if slotBits(n+more) > int(32-m.shift) {
				continue // a larger table
			}
			x := &Literals{Bases: randomBases(r, more), Quals: bytes.Repeat([]byte("I#"), more)[:more]}
			if n > 100 && more > 100 {
				copy(x.Bases, genome[n-100:])
				x.Leads = []int{0, 40, 56, more - LeadBases}
			}
			c := m.Clone(more)
			if got := c.differs(m); got != "" {
				t.Fatalf("%d bases, then %d: the first clone has other %s", n, more, got)
			}
			data := c.Append(nil, x)
			c.Release()
			again := m.Clone(more)
			if again != c {
				t.Fatalf("%d bases, then %d: a released clone is not used again", n, more)
			}
			if got := again.differs(m); got != "" {
				t.Fatalf("%d bases, then %d that were coded: other %s", n, more, got)
			}
			y := hidden(x)
			if err := again.Decode(data, y); err != nil || !bytes.Equal(y.Bases, x.Bases) {
				t.Fatalf("%d bases, then %d: other bases are decoded (error %v)", n, more, err)
			}
			again.Release()
			third := m.Clone(more + 5)
			if got := third.differs(m); got != "" {
				t.Fatalf("%d bases, then %d that were decoded: other %s", n, more, got)
			}
			// Damaged code leaves nothing behind, too.
			for i := range data {
				data[i] ^= byte(r.Intn(256))
			}
			third.Decode(data, hidden(x))
			third.Release()
			if got := m.Clone(more).differs(m); got != "" {
				t.Fatalf("%d bases, then %d that were damaged: other %s", n, more, got)
			}
		}
	}
}

// TestClonesOfLittleMemory: released clones wait for another use only where they are a small part of what the process may take.
func TestClonesOfLittleMemory(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, limit := range []int64{1 << 20, math.MaxInt64} {
		m := newModel(1000)
		a, b := m.Clone(10), m.Clone(10)
		debug.SetMemoryLimit(limit)
		a.Release()
		b.Release()
		want := 0
		if limit > 1<<30 {
			want = 2
		}
		if waiting := len(m.clones.free); waiting != want {
			t.Errorf("limit %d: %d clones wait, want %d", limit, waiting, want)
		}
	}
}

// TestClonesAreIndependent: coding under a clone changes neither the model nor another clone, whether the clone has the table of k-mers of
// the model or a larger one.
func TestClonesAreIndependent(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	for _, more := range []int{20, 5000} { // for 1020 bases there are 1024 slots
		genome := repetitive(7, 1000)
		m, same := modelOf(genome), modelOf(genome)
		a, b := randomBases(r, more), randomBases(r, more)
		first := coded(m, a)
		coded(m, b)
		if again := coded(m, a); !bytes.Equal(first, again) {
			t.Errorf("%d more bases are coded differently after others were", more)
		}
		if got := len(m.Clone(more).slots); (got > len(m.slots)) != (more > 1000) {
			t.Errorf("the table of a clone for %d more bases has %d slots, that of the model %d", more, got, len(m.slots))
		}
		if !bytes.Equal(decodeAll(t, m, first, &Literals{Bases: a}), a) {
			t.Errorf("%d more bases are not decoded", more)
		}
		if !m.Equal(same) {
			t.Errorf("%d more bases have changed the model", more)
		}
	}
}

// BenchmarkClone codes a read of 100 bases under a clone of a model of 12,000,000 bases, as small slices do.
func BenchmarkClone(b *testing.B) {
	const n = 12_000_000
	read := randomBases(rand.New(rand.NewSource(41)), 100)
	m := modelOf(randomBases(rand.New(rand.NewSource(42)), n))
	b.SetBytes(int64(len(read)))
	for b.Loop() {
		c := m.Clone(len(read))
		c.Append(nil, &Literals{Bases: read})
		c.Release()
	}
}
