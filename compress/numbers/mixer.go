package numbers

import (
	"math/bits"

	logistic "orcomgo/compress/mixing"
	rc "orcomgo/compress/rangecoder"
)

const (
	maxInputs   = 16 // models of a column
	numberLimit = 400
	hashLimit   = 250
	slowAfter   = 2048 // decisions after which a set of weights learns slowly
	fastRate    = 40
	slowRate    = 20
	smallStep   = 1 << 8 // no weight moves by so little
)

// step is the prediction of a model for a decision: its stretched probability, from -2047 to 2047.
type step int32

func stepOf(p rc.Prob) step { return step(logistic.Stretch(p.P())) }

// mixer mixes the predictions of a decision. Its weights, in 1/65536, are the sums of those of two sets.
type mixer struct {
	n       int
	weights []int32 // of each set, for each model
	seen    []int32 // decisions that each set learned from, up to slowAfter
	steps   [maxInputs]step
}

// firstWeight is the weight of a model that nothing was learned about: 0.2.
const firstWeight = logistic.One * 2 / 10

func newMixer(inputs, sets int) *mixer {
	m := &mixer{n: inputs, weights: make([]int32, sets*inputs), seen: make([]int32, sets)}
	for i := range m.weights {
		m.weights[i] = firstWeight
	}
	return m
}

// code codes a bit by the predictions in m.steps, with the sets of weights a and b.
func (m *mixer) code(c *rc.Coder, bit int, a, b int) int {
	steps := m.steps[:m.n]
	wa, wb := m.weights[a*len(steps):][:len(steps)], m.weights[b*len(steps):][:len(steps)]
	dot := int64(0)
	for i, s := range steps {
		dot += int64(s) * int64(wa[i]+wb[i])
	}
	q := logistic.Predict(dot)
	if c.Dec != nil {
		bit = c.Dec.Decode(q)
	} else {
		c.Enc.Encode(bit, q)
	}
	ea, eb := logistic.Step(bit, q, m.rate(a)), logistic.Step(bit, q, m.rate(b))
	if uint64(ea+smallStep) <= 2*smallStep && uint64(eb+smallStep) <= 2*smallStep {
		return bit
	}
	for i, s := range steps {
		logistic.Move(&wa[i], int64(s), ea)
		logistic.Move(&wb[i], int64(s), eb)
	}
	return bit
}

// rate returns the rate at which a set of weights learns from a decision, and counts it.
func (m *mixer) rate(set int) int64 {
	n := m.seen[set]
	if n < slowAfter {
		m.seen[set]++
		return fastRate - int64(n)*(fastRate-slowRate)/slowAfter
	}
	return slowRate
}

// contexts has the probabilities of the bits of values by hashed contexts: lines of 15 probabilities for the paths of four bits, with
// a check in place of the first one.
type contexts struct {
	lines [][16]rc.Prob
	shift int
}

const maxLogLines = 16

// freshLine is a line whose probabilities are fresh.
var freshLine = [16]rc.Prob(rc.NewProbs(16))

// line returns the line of the context with hash h.
func (t *contexts) line(h uint64) *[16]rc.Prob {
	line, check := &t.lines[h>>(t.shift&63)], rc.Prob(h)|1
	if line[0] != check {
		*line = freshLine
		line[0] = check
	}
	return line
}

// mix returns a hash of two numbers.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9E3779B97F4A7C15, b^0xD6E8FEB86659FD93)
	h := hi ^ lo
	h ^= h >> 32
	return h * 0x94D049BB133111EB
}
