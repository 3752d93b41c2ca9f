package numbers

import (
	"math/bits"
	"slices"
	"sync"

	rc "orcomgo/compress/rangecoder"
)

// adaptation is how the probabilities of numbers learn.
var adaptation = rc.NewAdaptation(15, 8)

const (
	maxInputs   = 16 // models of a column
	buckets     = 5  // classes of the count of a probability: a mixer has a weight for each class
	numberLimit = 1000
	hashLimit   = 250
	slowAfter   = 2048 // decisions after which a set of weights learns slowly
)

var bucketOf [rc.MaxCount + 1]uint8

func init() {
	for n := range bucketOf {
		bucketOf[n] = uint8(min(bits.Len(uint(n))+1, 8) / 2)
	}
}

// step is the prediction of a model for a decision: its stretched probability, from -2047 to 2047, above four bits for the class of the
// count.
type step int32

func stepOf(p rc.Prob) step { return step(rc.Stretch(p.P()))<<4 | step(bucketOf[p.Count()]) }

// mixer mixes the predictions of a decision. Its weights, in 1/65536, are the sums of those of two sets.
type mixer struct {
	n       int
	weights []int32
	seen    []int32 // decisions that each set learned from, up to slowAfter
	steps   [maxInputs]step
}

func newMixer(inputs, sets int) *mixer {
	m, _ := freeMixers.Get().(*mixer)
	if m == nil {
		m = new(mixer)
	}
	m.n = inputs
	m.weights = slices.Grow(m.weights[:0], sets*inputs*buckets)[:sets*inputs*buckets]
	for i := range m.weights {
		m.weights[i] = int32(65536 * 2 / 10)
	}
	m.seen = slices.Grow(m.seen[:0], sets)[:sets]
	clear(m.seen)
	return m
}

// freeMixers are mixers that are not used any more.
var freeMixers sync.Pool

// release frees the memory of a mixer that is not used any more.
func (m *mixer) release() { freeMixers.Put(m) }

// code codes a bit by the predictions in m.steps, with the sets of weights a and b.
func (m *mixer) code(c *rc.Coder, bit int, a, b int) int {
	steps := m.steps[:m.n]
	size := len(steps) * buckets
	wa, wb := m.weights[a*size:][:size], m.weights[b*size:][:size]
	dot, at := int64(0), 0
	for _, s := range steps {
		i := at + int(s&15)
		dot += int64(s>>4) * int64(wa[i]+wb[i])
		at += buckets
	}
	q := adaptation.Clamp(rc.Squash(int32(max(min(dot>>16, 2047), -2047))))
	bit = c.Bit(bit, q)
	e := int32(bit<<16) - int32(q)
	ea, eb := m.rate(a, e), m.rate(b, e)
	at = 0
	for _, s := range steps {
		i, x := at+int(s&15), int32(s>>4)
		wa[i] += (x*ea + 1<<15) >> 16
		wb[i] += (x*eb + 1<<15) >> 16
		at += buckets
	}
	return bit
}

// rate returns the error of a decision times the rate at which a set of weights learns.
func (m *mixer) rate(set int, e int32) int32 {
	n := m.seen[set]
	if n < slowAfter {
		m.seen[set]++
		return e >> 4 * (14 - n>>8)
	}
	return e >> 4 * 6
}

// contexts has the probabilities of the bits of values by hashed contexts: lines of 15 probabilities for the paths of four bits, with
// a check in place of the first one. Of two lines where a context may be, that which was used less is replaced.
type contexts struct {
	lines [][16]rc.Prob
	shift int
}

const maxLogLines = 16

// freeLines are lines that are not used any more, by the logarithm of their number.
var freeLines [maxLogLines + 1]sync.Pool

// newContexts returns empty contexts. None has the check 0, so that the probabilities need no first value.
func newContexts(logLines int) *contexts {
	t := &contexts{shift: 64 - logLines}
	if free, _ := freeLines[logLines].Get().(*[][16]rc.Prob); free != nil {
		clear(*free)
		t.lines = *free
	} else {
		t.lines = make([][16]rc.Prob, 1<<logLines)
	}
	return t
}

// release frees the memory of contexts that are not used any more.
func (t *contexts) release() { freeLines[64-t.shift].Put(&t.lines) }

// line returns the line of the context with hash h.
func (t *contexts) line(h uint64) *[16]rc.Prob {
	at := h >> (t.shift & 63)
	check := rc.Prob(h) | 1
	first := &t.lines[at]
	if first[0] == check {
		return first
	}
	second := &t.lines[at^1]
	if second[0] == check {
		return second
	}
	if second[1].Count() < first[1].Count() {
		first = second
	}
	first[0] = check
	rc.FillProbs(first[1:])
	return first
}

// mix returns a hash of two numbers.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9E3779B97F4A7C15, b^0xD6E8FEB86659FD93)
	h := hi ^ lo
	h ^= h >> 32
	return h * 0x94D049BB133111EB
}
