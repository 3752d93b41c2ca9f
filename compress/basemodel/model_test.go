package basemodel

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"
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

// learn has a fresh model, or one that has learnt some bases, learn more of them as Encode does, and returns their code.
func learn(m *Model, b []byte) (out []byte) {
	for at := 0; at < len(b); at += blockBases {
		out = m.encodeBlock(out, &block{at: m.learnt + at, bases: b[at:min(at+blockBases, len(b))]})
	}
	m.learnt += len(b)
	return out
}

// modelOf returns a model that has learnt bases and has no room for more.
func modelOf(b []byte) *Model {
	m := newModel(len(b))
	learn(m, b)
	return m
}

// coded returns the code of bases under a clone of a model.
func coded(m *Model, b []byte) []byte { return m.Clone(len(b)).Append(nil, &Literals{Bases: b}) }

// hidden returns literals of which a decoder knows no bases but those of the leads. The others are not set.
func hidden(x *Literals) *Literals {
	y := *x
	y.Bases = make([]byte, len(x.Bases))
	for _, at := range x.Leads {
		copy(y.Bases[at:at+LeadBases], x.Bases[at:])
	}
	return &y
}

// decodeAll decodes literals under a clone of a model.
func decodeAll(t *testing.T, m *Model, data []byte, x *Literals) []byte {
	t.Helper()
	y := hidden(x)
	if err := m.Clone(len(x.Bases)).Decode(data, y); err != nil {
		t.Fatal(err)
	}
	return y.Bases
}

// TestModelKnowsItsBases: bases that a model has coded cost little when they are coded again, on either strand.
func TestModelKnowsItsBases(t *testing.T) {
	genome := randomBases(rand.New(rand.NewSource(5)), 50000)
	again := append(reverseComplement(genome[20000:22000]), genome[3000:5000]...)
	section, model := encoded(genome, Options{Threads: 1})
	data := coded(model, again)
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
	if !bytes.Equal(decodeAll(t, m, data, &Literals{Bases: again}), again) {
		t.Fatal("other bases are decoded")
	}
}

// TestInvertedRepeats: a sequence that its reverse complement follows costs little more than the sequence, long or short, in one lane or in
// several. The predictor alone learns from the other strand, too.
func TestInvertedRepeats(t *testing.T) {
	r := rand.New(rand.NewSource(43))
	for _, n := range []int{500, 3000, 100_000, 300_000} {
		b := randomBases(r, n)
		one := len(learn(newModel(2*n), b))
		two := len(learn(newModel(2*n), append(b, reverseComplement(b)...)))
		if two-one > one/5 {
			t.Errorf("%d bases take %d bytes, with their reverse complement %d", n, one, two)
		}
	}
	// Contexts of ten bases have one base that follows, and occur on the other strand first: the table of k-mers is of no use, as each repeat
	// is of 12 bases.
	words := make([][]byte, 300)
	for i := range words {
		words[i] = randomBases(r, 12)
	}
	var b []byte
	for range 1500 {
		b = append(b, words[r.Intn(len(words))]...)
	}
	const again = 3600
	inverted := reverseComplement(b[:again])
	m := modelOf(b)
	if same, other := len(coded(m, inverted)), len(coded(m, randomBases(r, again))); same*5 > other*4 {
		t.Errorf("%d bytes for bases that were learnt from the other strand, %d for others", same, other)
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
	genome := randomBases(rand.New(rand.NewSource(9)), 30000)
	m := modelOf(genome)
	// Reads alternate between copies of the genome and noise; qualities are low in the noise, or high everywhere.
	code := func(bad byte) int {
		r := rand.New(rand.NewSource(10))
		x := new(Literals)
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
			x.Bases, x.Quals = append(x.Bases, read...), append(x.Quals, quals...)
		}
		return len(m.Clone(len(x.Bases)).Append(nil, x))
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
