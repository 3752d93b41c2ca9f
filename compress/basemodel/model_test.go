package basemodel

import (
	"bytes"
	"math"
	"math/bits"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/compress/rangecoder"
)

func randomBases(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Intn(4))
	}
	return b
}

// reverseComplement returns the other strand of b.
func reverseComplement(b []byte) []byte {
	out := make([]byte, len(b))
	for i, v := range b {
		out[len(b)-1-i] = 3 - v
	}
	return out
}

// repetitive returns n bases of which about half repeat earlier ones, on either strand, with
// some differences.
func repetitive(seed int64, n int) []byte {
	r := rand.New(rand.NewSource(seed))
	b := make([]byte, 0, n)
	for len(b) < n {
		k := min(20+r.Intn(300), n-len(b))
		if len(b) > 1000 && r.Intn(2) == 0 {
			at := r.Intn(len(b) - k + 1)
			s := bytes.Clone(b[at : at+k])
			if r.Intn(2) == 0 {
				s = reverseComplement(s)
			}
			for i := range s {
				if r.Intn(50) == 0 {
					s[i] = byte(r.Intn(4))
				}
			}
			b = append(b, s...)
			continue
		}
		for range k {
			b = append(b, byte(r.Intn(4)))
		}
	}
	return b
}

// codeAll encodes bases under a model and returns the stream.
func codeAll(m *Model, bases []byte) []byte {
	e := rangecoder.NewEncoder(nil)
	m.Encode(e, bases, nil)
	return e.Finish()
}

// decodeAll decodes n bases under a model.
func decodeAll(t *testing.T, m *Model, data []byte, n int) []byte {
	t.Helper()
	d := rangecoder.NewDecoder(data)
	out := make([]byte, n)
	m.Decode(d, out, nil)
	if err := d.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestModelKnowsItsBases: bases that a model has coded cost little when they are coded again, on either strand.
func TestModelKnowsItsBases(t *testing.T) {
	genome := randomBases(rand.New(rand.NewSource(5)), 50000)
	again := append(reverseComplement(genome[20000:22000]), genome[3000:5000]...)
	section, model := encoded(genome, Options{Threads: 1})
	data := codeAll(model.Clone(len(again)), again)
	if len(data)*8 > len(again)/4 {
		t.Fatalf("%d bytes for %d bases that occurred before", len(data), len(again))
	}
	sequence, err := Decode(section, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := sequence.Model()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(decodeAll(t, m.Clone(len(again)), data, len(again)), again) {
		t.Fatal("other bases are decoded")
	}
}

// TestClonesAreIndependent: coding under a clone changes neither the model nor another clone, whether the clone has the table of k-mers of
// the model or a larger one.
func TestClonesAreIndependent(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	for _, more := range []int{20, 5000} { // for 1020 bases there are 1024 slots
		m := newModel(1000)
		codeAll(m, repetitive(7, 1000))
		a, b := randomBases(r, more), randomBases(r, more)
		first := codeAll(m.Clone(more), a)
		codeAll(m.Clone(more), b)
		if again := codeAll(m.Clone(more), a); !bytes.Equal(first, again) {
			t.Errorf("%d more bases are coded differently after others were", more)
		}
		if got := len(m.Clone(more).match.slots); (got > len(m.match.slots)) != (more > 1000) {
			t.Errorf("the table of a clone for %d more bases has %d slots, that of the model %d", more, got, len(m.match.slots))
		}
		if !bytes.Equal(decodeAll(t, m.Clone(more), first, more), a) {
			t.Errorf("%d more bases are not decoded", more)
		}
	}
}

// TestGrownTableFindsAll: the larger table of a clone has the k-mers of all bases so far.
func TestGrownTableFindsAll(t *testing.T) {
	genome := randomBases(rand.New(rand.NewSource(8)), 1000)
	m := newModel(len(genome))
	codeAll(m, genome)
	for _, again := range [][]byte{genome[100:400], reverseComplement(genome[500:900])} {
		if data := codeAll(m.Clone(8000), again); len(data)*8 > len(again)*3/4 {
			t.Errorf("%d bytes for %d bases that occurred before", len(data), len(again))
		}
	}
}

// TestQualityClasses: a class of six Phred values has weights of its own, so that bases of bad reads do not spoil those of good ones.
func TestQualityClasses(t *testing.T) {
	for _, c := range []struct {
		quality byte
		class   uint32
	}{{'!', 0}, {0, 0}, {'&', 0}, {'\'', 1}, {'I', 6}, {'K', 7}, {'~', 7}, {255, 7}} {
		if got := QualityClass(c.quality); got != c.class {
			t.Errorf("quality %q has class %d, want %d", c.quality, got, c.class)
		}
	}
	r := rand.New(rand.NewSource(9))
	genome := randomBases(r, 30000)
	m := newModel(len(genome))
	codeAll(m, genome)
	// Reads alternate between copies of the genome and noise; qualities are low in the noise, or high everywhere.
	code := func(bad byte) int {
		r := rand.New(rand.NewSource(10))
		e, m := rangecoder.NewEncoder(nil), m.Clone(40000)
		for i := range 400 {
			at := r.Intn(len(genome) - 100)
			read, quals := bytes.Clone(genome[at:at+100]), bytes.Repeat([]byte("I"), 100)
			for k := range read {
				if i%2 == 1 && r.Intn(2) == 0 {
					read[k] = byte(r.Intn(4))
				}
				if i%2 == 1 {
					quals[k] = bad
				}
			}
			m.Encode(e, read, quals)
		}
		return len(e.Finish())
	}
	if with, without := code('#'), code('I'); float64(with) > 0.99*float64(without) {
		t.Errorf("%d bytes with qualities, %d without", with, without)
	}
}

// TestHistory: bases are where they were entered, clones have them, and bases after them are taken back.
func TestHistory(t *testing.T) {
	bases := randomBases(rand.New(rand.NewSource(13)), 500)
	h := newHistory(len(bases))
	for i, b := range bases {
		h.set(i, uint32(b))
	}
	c := history{slices.Clone(h.words)}
	c.grow(historyWords(1000))
	for i := range 600 {
		want := uint32(0)
		if i < len(bases) {
			want = uint32(bases[i])
		}
		if c.at(i) != want {
			t.Fatalf("base %d is %d, want %d", i, c.at(i), want)
		}
		word := c.from(i)
		for j := range 32 {
			if got := uint32(word>>(2*j)) & 3; got != c.at(i+j) {
				t.Fatalf("the word from %d on has %d at %d, want %d", i, got, j, c.at(i+j))
			}
		}
	}
	c.set(600, 2)
	if h.words[len(h.words)-1] != 0 {
		t.Error("a clone shares its words")
	}
	c.setAll(500, bases)
	if c.undo(&h, 500, 500); !slices.Equal(c.words[:len(h.words)], h.words) || slices.Max(c.words[len(h.words):]) != 0 {
		t.Error("bases are not taken back")
	}
}

// TestMoveTo: the registers hold the bases before the place, or none; a match has ended.
func TestMoveTo(t *testing.T) {
	genome := randomBases(rand.New(rand.NewSource(14)), 300)
	m := newModel(1000)
	codeAll(m, append(bytes.Clone(genome), genome[:200]...))
	if m.match.at != 200 || m.match.step != 1 {
		t.Fatalf("the match is at %d, step %d", m.match.at, m.match.step)
	}
	h, r := m.h, m.r
	m.moveTo(500, true)
	if m.h != h || m.r != r || m.match.at != -1 {
		t.Errorf("moved to its place, the model has last bases %#x and %#x, want %#x and %#x", m.h, m.r, h, r)
	}
	m.moveTo(10, true)
	want := uint64(0)
	for _, b := range genome[:10] {
		want = want<<2 | uint64(b)
	}
	if m.h != want {
		t.Errorf("last bases %#x, want %#x", m.h, want)
	}
	m.moveTo(400, false)
	if m.h != 0 || m.r != 0 || m.at != 400 || m.match.firstEnd != 400+matchLen {
		t.Errorf("without known bases: %#x, %#x at %d, first k-mer ends before %d", m.h, m.r, m.at, m.match.firstEnd)
	}
}

// TestPeerBasesAreMatched: bases that another model coded are predicted by matches, but do not change counters and weights.
func TestPeerBasesAreMatched(t *testing.T) {
	r := rand.New(rand.NewSource(15))
	peer := randomBases(r, 3000)
	m := newModel(10000)
	codeAll(m, randomBases(r, 500))
	nodes, weights := append([]node(nil), m.mix.nodes...), append([]weights(nil), m.mix.weights...)
	m.appendPeer(500, peer)
	for i, n := range m.mix.nodes {
		if n != nodes[i] {
			t.Fatalf("node %d has changed", i)
		}
	}
	for i, w := range m.mix.weights {
		if w != weights[i] {
			t.Fatalf("weights %d have changed", i)
		}
	}
	m.moveTo(3500, true)
	if data := codeAll(m, append(reverseComplement(peer[:1000]), peer[1500:2500]...)); len(data)*8 > 2000 {
		t.Errorf("%d bytes for 2000 bases of the peer", len(data))
	}
}

// TestMatchContinuesPastDifferences: a match survives some misses, and ends where it has too many.
func TestMatchContinuesPastDifferences(t *testing.T) {
	r := rand.New(rand.NewSource(16))
	genome := randomBases(r, 2000)
	m := newModel(10000)
	codeAll(m, genome)
	at := 500
	step := func(b byte) {
		codeAll(m, []byte{b})
		at++
	}
	for range 60 {
		step(genome[at])
	}
	if m.match.at != at || m.match.misses&everyBase != 0 {
		t.Fatalf("match at %d with misses %#x, want %d and none", m.match.at, m.match.misses, at)
	}
	for i := range 200 {
		b := genome[at]
		if i%10 == 0 {
			b ^= 1
		}
		step(b)
	}
	if m.match.at != at {
		t.Fatalf("after a difference in ten bases the match is at %d, want %d", m.match.at, at)
	}
	if class := m.match.context(0, 0) & setMask; class != 3 && class != 5 && class != 7 {
		t.Errorf("with 3 or 4 misses the match has class %d", class)
	}
	for range maxMisses + 1 {
		step(genome[at] ^ 2)
	}
	if m.match.at == at {
		t.Error("the match goes on after 21 misses")
	}
}

// TestMatchContexts: more misses and more recent ones make another class, and all parts of a context are in their ranges.
func TestMatchContexts(t *testing.T) {
	for _, c := range []struct {
		misses       uint64 // bit 31-i: the base i ago
		class, group uint32
	}{
		{0, 1, 14}, {1 << 31, 3, 0}, {1 << 30, 3, 1}, {1 << 15, 2, 10}, {1<<15 | 1<<14, 2, 10}, {1<<31 | 1, 3, 0}, {7 << 29, 5, 0},
		{0x3ff << 22, 6, 0}, {0x3ff << 13, 4, 7}, {7 << 13, 3, 10}, {7 << 21, 7, 7},
	} {
		m := match{predicted: 2}
		for i := range 32 {
			m.misses |= c.misses >> i & 1 << (2 * i)
		}
		joint := 4*c.class - 3 + m.predicted
		misses := uint32(min(bits.OnesCount64(c.misses), 15))
		want := (4+4*(c.group<<4|misses)+m.predicted)<<matchShift | (joint<<4|9)<<jointShift | 5*weightSets | c.class
		if got := m.context(0x579, 5); got != want {
			t.Errorf("misses %032b: context %#x, want %#x", c.misses, got, want)
		}
	}
	for _, c := range matchContexts {
		m := match{at: -1}
		c += 3*(1<<matchShift+16<<jointShift) + m.context(15, qualityClasses-1)
		if c>>matchShift >= matchNodes || c>>jointShift&jointMask >= jointNodes || c&setMask%weightSets == 0 {
			t.Fatalf("context %#x is out of range", c)
		}
	}
}

// TestCountersSettle: a counter follows the share of ones, and counts its updates.
func TestCountersSettle(t *testing.T) {
	for _, share := range []float64{0.02, 0.3, 0.5, 0.9} {
		r := rand.New(rand.NewSource(17))
		c, sum, n := newCounter, 0.0, 100000
		for range n {
			bit := uint32(0)
			if r.Float64() < share {
				bit = 1
			}
			c = updated(c, bit)
			sum += float64(c>>4) / 4096 / float64(n)
		}
		if math.Abs(sum-share) > 0.02 || c&15 != 15 {
			t.Errorf("a share of %.2f gives %.3f, count %d", share, sum, c&15)
		}
	}
}
