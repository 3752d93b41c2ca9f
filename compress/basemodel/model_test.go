package basemodel

import (
	"bytes"
	"math"
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
	c := rangecoder.EncodeTo(nil)
	for _, b := range bases {
		m.Code(c, b)
	}
	return c.Enc.Finish()
}

// decodeAll decodes n bases under a model.
func decodeAll(t *testing.T, m *Model, data []byte, n int) []byte {
	t.Helper()
	c := rangecoder.DecodeFrom(data)
	out := make([]byte, n)
	for i := range out {
		out[i] = m.Code(c, 0)
	}
	if err := c.Dec.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestModelKnowsItsBases: bases that a model has coded cost little when they are coded again, on either strand.
func TestModelKnowsItsBases(t *testing.T) {
	genome := randomBases(rand.New(rand.NewSource(5)), 50000)
	again := append(reverseComplement(genome[20000:22000]), genome[3000:5000]...)
	encoded := Encode(len(genome), sourceOf(genome), Options{TwoCoders: TwoCoders, Threads: 1})
	data := codeAll(encoded.Model.Clone(len(again)), again)
	if len(data)*8 > len(again)/4 {
		t.Fatalf("%d bytes for %d bases that occurred before", len(data), len(again))
	}
	sequence, err := Decode(encoded.Section, TwoCoders, 1)
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

// TestCloneForFewBases: the first clone, for few bases, codes as others do with the k-mers that it entered and those of the model, which it
// does not change.
func TestCloneForFewBases(t *testing.T) {
	genome := repetitive(8, 300_000)
	own := repetitive(9, 300)
	bases := slices.Concat(own, genome[1000:1300], own, genome[5000:5100])
	model := func() *Model {
		m := newModel(len(genome))
		codeAll(m, genome)
		return m
	}
	m := model()
	if m.Clone(len(m.match.slots)/changedShare+1).match.changed != nil {
		t.Error("a clone for many bases shares slots")
	}
	if m.Clone(len(bases)).match.changed != nil {
		t.Error("a clone that is not the first one shares slots")
	}
	want := codeAll(m.Clone(len(bases)), bases)
	if len(want) > len(bases)/5 {
		t.Errorf("%d bytes for %d bases that repeat others", len(want), len(bases))
	}
	m = model()
	slots := slices.Clone(m.match.slots)
	c := m.Clone(len(bases))
	if c.match.changed == nil {
		t.Fatal("the first clone for few bases has all slots")
	}
	if got := codeAll(c, bases); !bytes.Equal(got, want) {
		t.Error("the bases are coded differently, one after another")
	}
	c.Release()
	if !slices.Equal(m.match.slots, slots) {
		t.Error("the clone has changed the slots of the model")
	}
	e := rangecoder.EncodeTo(nil)
	model().Clone(len(bases)).Encode(e.Enc, bases, nil)
	if !bytes.Equal(e.Enc.Finish(), want) {
		t.Error("the bases are coded differently in blocks")
	}
	if !bytes.Equal(decodeAll(t, model().Clone(len(bases)), want, len(bases)), bases) {
		t.Error("other bases are decoded")
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
		if got := qualityClass(c.quality); got != c.class {
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
		c, m := rangecoder.EncodeTo(nil), m.Clone(40000)
		for i := range 400 {
			at := r.Intn(len(genome) - 100)
			for _, b := range genome[at : at+100] {
				m.SetQuality('I')
				if i%2 == 1 && r.Intn(2) == 0 {
					b = byte(r.Intn(4))
				}
				if i%2 == 1 {
					m.SetQuality(bad)
				}
				m.Code(c, b)
			}
		}
		return len(c.Enc.Finish())
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
	if m.h != h || m.r != r || m.match.at != -1 || m.pending {
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
	if m.at != 3500 {
		t.Fatalf("the next base is at %d", m.at)
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
	c := rangecoder.EncodeTo(nil)
	for _, b := range genome {
		m.Code(c, b)
	}
	at := 500
	step := func(b byte) {
		m.Code(c, b)
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
	if s := m.match.state(); s.class != 3 && s.class != 5 && s.class != 7 {
		t.Errorf("with 3 or 4 misses the match has class %d", s.class)
	}
	for range maxMisses + 1 {
		step(genome[at] ^ 2)
	}
	if m.match.at == at {
		t.Error("the match goes on after 21 misses")
	}
}

// TestMatchStates: more misses and more recent ones make another class, and all states are in their ranges.
func TestMatchStates(t *testing.T) {
	for _, c := range []struct {
		misses uint64 // bit 31-i: the base i ago
		class  uint8
		group  uint8
	}{
		{0, 1, 14}, {1 << 31, 3, 0}, {1 << 30, 3, 1}, {1 << 15, 2, 10}, {1<<15 | 1<<14, 2, 10}, {1<<31 | 1, 3, 0}, {7 << 29, 5, 0},
		{0x3ff << 22, 6, 0}, {0x3ff << 13, 4, 7}, {7 << 13, 3, 10}, {7 << 21, 7, 7},
	} {
		m := match{}
		for i := range 32 {
			m.misses |= c.misses >> i & 1 << (2 * i)
		}
		if s := m.state(); s.class != c.class || s.node>>4 != c.group {
			t.Errorf("misses %032b: class %d, group %d; want %d and %d", c.misses, s.class, s.node>>4, c.class, c.group)
		}
	}
	for _, s := range matchStates {
		if s.class < 1 || s.class >= matchClasses || 4*(int(s.node)+1)+3 >= matchNodes {
			t.Fatalf("state %+v is out of range", s)
		}
	}
}

// TestCountersSettle: a counter follows the share of ones, and its logit and probability agree.
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
	last := uint32(0)
	for p := range counter(4096) {
		got := squash(stretch(p << 4))
		if want := 65536 * (float64(p) + 0.25) / 4096; math.Abs(float64(got)-want) > 1500 || got < last {
			t.Fatalf("probability %d of 4096 becomes %d of 65536, after %d", p, got, last)
		}
		last = got
	}
	if squash(math.MaxFloat32) > 65535 || squash(-math.MaxFloat32) < 1 {
		t.Error("extreme logits give certainty")
	}
}

// TestVectorsEqualPlain: the vector instructions predict and learn bit for bit as plain Go does.
func TestVectorsEqualPlain(t *testing.T) {
	var fast, plain mixer
	fast.init()
	plain.init()
	r := rand.New(rand.NewSource(3))
	b, q, slot, word := uint32(0), noUpdate, uint32(0), uint64(0)
	for i := range 200000 {
		h := r.Uint32() & (1<<(8+2*uint(r.Intn(4))) - 1)
		match, joint := uint32(r.Intn(matchNodes)), uint32(r.Intn(jointNodes))
		set, before := uint32(r.Intn(weightSets)), fast.set
		if i == 0 {
			fast.set, plain.set = set, set
			fast.predict(h, match, joint)
			plain.predictPlain(h, match, joint)
		} else {
			index := fast.index
			fast.advance(b, &q, set, h, match, joint, &fast.nodes[0], &fast.nodes[1], &slot, &word)
			plain.learnPlain(b, &q)
			plain.set = set
			plain.predictPlain(h, match, joint)
			if fast.weights[before] != plain.weights[before] {
				t.Fatalf("base %d: weights differ", i)
			}
			for _, n := range append(q.node[:], index[:]...) {
				if fast.nodes[n] != plain.nodes[n] {
					t.Fatalf("base %d: node %d is %v, plain Go %v", i, n, fast.nodes[n], plain.nodes[n])
				}
			}
		}
		if fast.p != plain.p || fast.x != plain.x || fast.index != plain.index {
			t.Fatalf("base %d: predicted %v, plain Go %v", i, fast.p, plain.p)
		}
		b = uint32(r.Intn(4)) & h >> 1
		q = strandUpdate{
			node: [2]uint32{uint32(r.Intn(nodesMatch)), uint32(r.Intn(nodesMatch))},
			base: [2]uint8{uint8(r.Intn(4)), uint8(r.Intn(4))},
		}
	}
}
