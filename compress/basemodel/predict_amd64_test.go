package basemodel

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/compress/ans"
	"orcomgo/internal/testrun"
)

// TestVectorsWithoutAssembler: plain Go codes and decodes the vectors, as vector instructions do.
func TestVectorsWithoutAssembler(t *testing.T) {
	defer func(has bool) { ans.HasVectors = has }(ans.HasVectors)
	ans.HasVectors = false
	TestVectors(t)
}

// TestSectionsWithoutAssembler: a section is the same without vector instructions, in one lane, in several, and in blocks; so is the model.
func TestSectionsWithoutAssembler(t *testing.T) {
	testrun.NoRace(t)
	defer func(has bool) { ans.HasVectors = has }(ans.HasVectors)
	for _, n := range []int{100, 3*laneBases + 5, blockBases + 9*laneBases} {
		b := repetitive(int64(n), n)
		ans.HasVectors = true
		section, m := encoded(b, Options{Threads: 1})
		ans.HasVectors = false
		plain, want := encoded(b, Options{Threads: 1})
		if !slices.Equal(section, plain) || !m.Equal(want) {
			t.Errorf("%d bases: other bytes or another model", n)
		}
		if !slices.Equal(decoded(t, section, 1), b) {
			t.Errorf("%d bases: others are decoded", n)
		}
	}
}

// TestLeadsWithoutAssembler: literals with leads are the same without vector instructions, in one lane and in several.
func TestLeadsWithoutAssembler(t *testing.T) {
	defer func(has bool) { ans.HasVectors = has }(ans.HasVectors)
	r := rand.New(rand.NewSource(62))
	m := modelOf(repetitive(63, 5000))
	for _, n := range []int{0, 1, 5, 16, 17, 300, 3*laneBases + 9} {
		x := &Literals{Bases: repetitive(int64(n), n)}
		for at := 0; at+LeadBases <= n; at += LeadBases + r.Intn(100) {
			x.Leads = append(x.Leads, at)
		}
		ans.HasVectors = true
		data := m.Clone(n).Append(nil, x)
		ans.HasVectors = false
		if plain := m.Clone(n).Append(nil, x); !slices.Equal(data, plain) {
			t.Errorf("%d bases: other bytes", n)
		}
		y := hidden(x)
		if err := m.Clone(n).Decode(data, y); err != nil || !slices.Equal(y.Bases, x.Bases) {
			t.Errorf("%d bases: others are decoded, error %v", n, err)
		}
	}
}

// randomSteps makes steps of all kinds, for some weights.
type randomSteps struct {
	*rand.Rand
	weightSets int
}

// few returns a random number below n, often a small one.
func (r randomSteps) few(n int) uint32 { return uint32(r.Intn(1 + r.Intn(n))) }

// fill sets what the model sets before a step. Lanes often have a context in common. active: 0 all, 1 some, 2 one.
func (r randomSteps) fill(x *predictor, active int) {
	one := r.Intn(numLanes)
	for l := range numLanes {
		x.last[l] = r.Uint32() >> r.Intn(32)
		x.strand[l] = r.Uint32() & (1<<(2*strandBases) - 1) >> r.Intn(2*strandBases)
		x.match[l], x.joint[l], x.set[l] = r.few(matchNodes), r.few(jointNodes), r.few(r.weightSets)
		x.bases[l] = uint16(r.Intn(4))
		if r.Intn(4) > 0 {
			x.bases[l] = uint16(x.last[l] >> 3 & 3) // can be learnt
		}
		if l > 0 && r.Intn(4) == 0 {
			o := r.Intn(l)
			x.last[l], x.strand[l], x.match[l], x.joint[l], x.set[l] = x.last[o], x.strand[o], x.match[o], x.joint[o], x.set[o]
		}
		x.active[l] = 0
		if active == 0 || active == 1 && r.Intn(3) > 0 || active == 2 && l == one {
			x.active[l] = 1<<32 - 1
		}
	}
}

// extreme returns numbers of 16 bits among which the largest and the smallest ones are frequent.
func (r randomSteps) extreme() int16 {
	switch r.Intn(8) {
	case 0:
		return -32768
	case 1:
		return 32767
	case 2:
		return -32767
	case 3:
		return int16(r.Intn(3) - 1)
	}
	return int16(r.Uint32()) >> r.Intn(16)
}

// newPair returns two equal predictors, which decode random words.
func (r randomSteps) newPair() (a, b *predictor) {
	a, b = new(predictor), new(predictor)
	for _, x := range []*predictor{a, b} {
		x.init()
		for len(x.weights) < r.weightSets {
			x.weights = append(x.weights, x.weights...)
		}
		x.weights = x.weights[:r.weightSets]
	}
	a.words = make([]byte, 1<<18+wordsAhead)
	r.Read(a.words)
	b.words = a.words
	for l := range a.states {
		a.states[l] = max(r.Uint32()>>r.Intn(16), ans.Start)
	}
	b.states = a.states
	return a, b
}

// nodesOf returns where a step reads nodes, or may read them.
func nodesOf(x *step) (all []uint32) {
	for l := range numLanes {
		for f, order := range contextOrders {
			all = append(all, nodeStart[f]+x.last[l]&(1<<(2*order)-1))
		}
		c := x.strand[l] >> 2
		all = append(all, nodesMatch+x.match[l], nodesJoint+x.joint[l], nodes6+c&(1<<12-1), nodes8+c&(1<<16-1), nodes10+c)
	}
	return all
}

// compare returns how a predictor differs from one that took the same step in plain Go; nil if it does not.
func (x *predictor) compare(plain *predictor, decoding bool) error {
	for l := range numLanes {
		if x.active[l] != 0 && x.bases[l] != plain.bases[l] {
			return fmt.Errorf("lane %d has base %d, want %d", l, x.bases[l], plain.bases[l])
		}
	}
	switch {
	case decoding && (x.states != plain.states || x.at != plain.at):
		return fmt.Errorf("states %x and %d bytes read, want %x and %d", x.states, x.at, plain.states, plain.at)
	case !decoding && x.intervals != plain.intervals:
		return fmt.Errorf("intervals %d, want %d", x.intervals, plain.intervals)
	case !slices.Equal(x.weights, plain.weights):
		return fmt.Errorf("other weights: %v, want %v", x.weights, plain.weights)
	}
	for _, i := range nodesOf(&plain.step) {
		if x.nodes[i] != plain.nodes[i] {
			return fmt.Errorf("node %d is %v, want %v", i, x.nodes[i], plain.nodes[i])
		}
	}
	return nil
}

// TestStepAsPlain: the vector instructions take steps as plain Go does, coding and decoding, with any active lanes, when nodes and weights
// are learnt, and when they have any values, as far as they can go.
func TestStepAsPlain(t *testing.T) {
	if !ans.HasVectors {
		t.Skip("the processor does not have the instructions")
	}
	testrun.NoRace(t)
	for _, decoding := range []bool{false, true} {
		for _, any := range []bool{false, true} {
			r := randomSteps{rand.New(rand.NewSource(56)), 2 * weightSets}
			plain, vector := r.newPair()
			for i := range testrun.Pick(1000, 20_000, 300_000) {
				r.fill(plain, max(0, r.Intn(6)-3))
				plain.at = min(plain.at, len(plain.words)-wordsAhead)
				if plain.at == len(plain.words)-wordsAhead {
					plain.at = 2 * r.Intn(16)
				}
				vector.at = plain.at
				if any && i%2 == 0 {
					for _, at := range nodesOf(&plain.step) {
						plain.nodes[at] = node{r.extreme(), r.extreme(), r.extreme(), r.extreme()}
						vector.nodes[at] = plain.nodes[at]
					}
					for _, set := range plain.set {
						for f := range contexts {
							plain.weights[set][f] = node{r.extreme(), r.extreme(), r.extreme(), r.extreme()}
						}
						vector.weights[set] = plain.weights[set]
					}
				}
				vector.active, vector.last, vector.strand, vector.match, vector.joint, vector.set, vector.bases =
					plain.active, plain.last, plain.strand, plain.match, plain.joint, plain.set, plain.bases
				plain.stepPlain(decoding)
				stepVector(vector, (*vectorTables)(ans.VectorTables), decoding)
				if err := vector.compare(plain, decoding); err != nil {
					t.Fatalf("decoding %t, any values %t, step %d: %v", decoding, any, i, err)
				}
				if slices.Min(plain.states[:]) < ans.Start {
					t.Fatalf("decoding %t, any values %t, step %d: a state is too small: %x", decoding, any, i, plain.states)
				}
			}
			if !slices.Equal(vector.nodes, plain.nodes) {
				t.Fatalf("decoding %t, any values %t: nodes differ that no step reads", decoding, any)
			}
		}
	}
}

func benchmarkStep(b *testing.B, f func(x *predictor)) {
	r := randomSteps{rand.New(rand.NewSource(57)), weightSets}
	x, _ := r.newPair()
	steps := make([]step, 1024)
	for i := range steps {
		r.fill(x, 0)
		steps[i] = x.step
	}
	b.SetBytes(numLanes)
	for i := 0; b.Loop(); i++ {
		s := &steps[i&1023]
		x.active, x.last, x.strand, x.match, x.joint, x.set, x.bases = s.active, s.last, s.strand, s.match, s.joint, s.set, s.bases
		x.at = 0
		f(x)
	}
}

func BenchmarkStep(b *testing.B) {
	for _, decoding := range []bool{false, true} {
		b.Run(fmt.Sprintf("decoding=%t", decoding), func(b *testing.B) {
			b.Run("plain", func(b *testing.B) { benchmarkStep(b, func(x *predictor) { x.stepPlain(decoding) }) })
			b.Run("vectors", func(b *testing.B) {
				if !ans.HasVectors {
					b.Skip("the processor does not have the instructions")
				}
				benchmarkStep(b, func(x *predictor) { stepVector(x, (*vectorTables)(ans.VectorTables), decoding) })
			})
		})
	}
}
