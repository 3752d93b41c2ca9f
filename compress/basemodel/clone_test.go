package basemodel

import (
	"bytes"
	"math"
	"math/rand"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"orcomgo/compress/rangecoder"
)

// differs says in which table a clone that has coded nothing differs from its model; empty if in none.
func (m *Model) differs(o *Model) string {
	bases := m.hist.words[min(len(m.hist.words), len(o.hist.words)):]
	switch {
	case !slices.Equal(m.mix.nodes, o.mix.nodes):
		return "nodes"
	case !slices.Equal(m.match.slots, o.match.slots):
		return "k-mers"
	case !slices.Equal(m.hist.words[:len(m.hist.words)-len(bases)], o.hist.words[:len(m.hist.words)-len(bases)]) ||
		len(bases) > 0 && slices.Max(bases) != 0:
		return "bases"
	case m.h != o.h || m.r != o.r || m.at != o.at || m.match.at != o.match.at || m.match.misses != o.match.misses ||
		m.match.pending != o.match.pending:
		return "state"
	}
	for q := range qualityClasses {
		if !slices.Equal(m.mix.weights[q*weightSets:][:weightSets], o.mix.weights) {
			return "weights"
		}
	}
	return ""
}

// TestClonesTakeBackWhatTheyChange: a clone that was released is used again, and then is what a fresh one is, however many bases it coded.
func TestClonesTakeBackWhatTheyChange(t *testing.T) {
	r := rand.New(rand.NewSource(40))
	for _, n := range []int{0, 1, 7, 40, 3000, 100_000} {
		genome := randomBases(r, n)
		m := newModel(n + 17)
		codeAll(m, genome)
		for _, more := range []int{0, 1, 3, 5, 31, 32, 33, 300, 20_000} {
			if slotBits(n+more) > int(64-m.match.shift) {
				continue // a larger table
			}
			literals := randomBases(r, more)
			if n > 100 && more > 100 {
				copy(literals, genome[n-100:])
			}
			quals := bytes.Repeat([]byte("I#"), more)[:more]
			c, e := m.Clone(more), rangecoder.EncodeTo(nil)
			if got := c.differs(m); got != "" {
				t.Fatalf("%d bases, then %d: the first clone has other %s", n, more, got)
			}
			c.Encode(e.Enc, literals, quals)
			data := e.Enc.Finish()
			c.Release()
			again := m.Clone(more)
			if again != c {
				t.Fatalf("%d bases, then %d: a released clone is not used again", n, more)
			}
			if got := again.differs(m); got != "" {
				t.Fatalf("%d bases, then %d that were coded: other %s", n, more, got)
			}
			got := make([]byte, more)
			if again.Decode(rangecoder.NewDecoder(data), got, quals); !bytes.Equal(got, literals) {
				t.Fatalf("%d bases, then %d: other bases are decoded", n, more)
			}
			again.Release()
			if got := m.Clone(more + 5).differs(m); got != "" {
				t.Fatalf("%d bases, then %d that were decoded: other %s", n, more, got)
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

// BenchmarkClone codes a read of 100 bases under a clone of a model of 12,000,000 bases, as small slices do.
func BenchmarkClone(b *testing.B) {
	const n = 12_000_000
	m, read := newModel(n), randomBases(rand.New(rand.NewSource(41)), 100)
	m.appendPeer(0, randomBases(rand.New(rand.NewSource(42)), n))
	for b.Loop() {
		c := m.Clone(len(read))
		c.Encode(rangecoder.NewEncoder(nil), read, nil)
		c.Release()
	}
}
