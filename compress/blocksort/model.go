package blocksort

import (
	"math/bits"

	"orcomgo/compress/mixing"
	"orcomgo/compress/rangecoder"
)

// Limits of the counts of probabilities: the larger, the longer is what they remember.
const (
	shortLimit  = 8
	middleLimit = 60
	runLimit    = 127
)

const (
	longRun = 4  // from this length of a run on, a decision says first whether it goes on
	maxHash = 18 // bits of the number of a hashed probability
	inputs  = 6  // probabilities of a decision, at most
)

// model predicts the symbols of a transform. What it knows of the symbols before: the last run of equal symbols, of symbol c1
// and so far of run symbols; the runs before that, of symbols c2 and c3; and which of the last symbols were equal to those before them.
type model struct {
	t          *tree
	c1, c2, c3 int
	run        int
	runs       int // class of the length of the run of c2
	history    int // a bit for each of the last 12 symbols, 1 if it was equal to the one before; the last one is the lowest

	// Of the decision whether a long run goes on.
	byRun, byHistory, byRuns []rangecoder.Prob
	runWeights               []weights
	// Of a step in the tree.
	short, bySymbol []rangecoder.Prob
	stepWeights     []weights

	hashed    [3][]rangecoder.Prob // of both
	hashShift int
}

// weights are those of the predictions of a decision, in 1/65536, and how many decisions they learned from, up to slowAfter.
type weights struct {
	w [inputs]int32
	n int32
}

const (
	slowAfter  = 1024
	historyAll = 1<<12 - 1
)

// newModel returns a model of size symbols.
func newModel(t *tree, size int) *model {
	m := &model{t: t, hashShift: 32 - min(bits.Len(uint(size))+2, maxHash)}
	n := t.size
	m.byRun, m.byHistory, m.byRuns = rangecoder.NewProbs(n*32), rangecoder.NewProbs(1<<12), rangecoder.NewProbs(n*32*32)
	m.short, m.bySymbol = rangecoder.NewProbs(n), rangecoder.NewProbs(n*n)
	for i := range m.hashed {
		m.hashed[i] = rangecoder.NewProbs(1 << (32 - m.hashShift))
	}
	m.runWeights, m.stepWeights = newWeights(n), newWeights(n*4)
	return m
}

func newWeights(n int) []weights {
	all := make([]weights, n)
	for i := range all {
		for j := range all[i].w {
			all[i].w[j] = mixing.One / 5
		}
	}
	return all
}

// runClass returns the class of a length of a run: below 16 the length, else by the number of bits.
func runClass(n int) int {
	if n < 16 {
		return n
	}
	return min(11+bits.Len(uint(n)), 31)
}

// hash returns the number of a hashed probability.
func (m *model) hash(a, b, c, d int) uint32 {
	h := (uint32(a)*0x9E3779B1+uint32(b))*0x85EBCA6B + uint32(c)
	return (h*0xC2B2AE35 + uint32(d)) * 0x9E3779B1 >> (m.hashShift & 31)
}

// code codes symbols.
func (m *model) code(c *rangecoder.Coder, part []byte) {
	t := m.t
	for i, s := range part {
		number := int(t.number[s])
		run := runClass(m.run)
		same := 0
		if m.run >= longRun {
			same = m.goesOn(c, rangecoder.BitOf(number == m.c1), run)
		}
		if same == 1 {
			number = m.c1
		} else {
			if number = m.walk(c, number, run); number == m.c1 {
				same = 1
			}
		}
		part[i] = t.symbols[number]
		m.history = (m.history<<1 | same) & historyAll
		if same == 1 {
			m.run++
		} else {
			m.runs = run
			m.c3, m.c2, m.c1, m.run = m.c2, m.c1, number, 1
		}
	}
}

// goesOn codes whether a long run goes on.
func (m *model) goesOn(c *rangecoder.Coder, bit, run int) int {
	p0, p1, p2 := &m.byRun[m.c1*32+run], &m.byHistory[m.history], &m.byRuns[(m.c1*32+run)*32+m.runs]
	p3, p4 := &m.hashed[0][m.hash(m.c1, m.c2, run, 256)], &m.hashed[1][m.hash(m.c1, m.c2, m.c3, 256+run)]
	p5 := &m.hashed[2][m.hash(m.c1, m.runs, m.history, 256)]
	w := &m.runWeights[m.c1]
	s0, s1, s2 := stretch(p0.P()), stretch(p1.P()), stretch(p2.P())
	s3, s4, s5 := stretch(p3.P()), stretch(p4.P()), stretch(p5.P())
	q := w.mix(s0, s1, s2, s3, s4, s5)
	bit = c.Bit(bit, q)
	w.learn(bit, q, s0, s1, s2, s3, s4, s5)
	p0.Update(bit, runLimit)
	p1.Update(bit, middleLimit)
	p2.Update(bit, middleLimit)
	p3.Update(bit, runLimit)
	p4.Update(bit, middleLimit)
	p5.Update(bit, middleLimit)
	return bit
}

// The factors of the arguments of hash in its sum.
const (
	hash3 = uint32(0x9E3779B1)
	hash2 = uint32(0xC2B2AE35 * 0x9E3779B1 & (1<<32 - 1))
	hash1 = uint32(0x85EBCA6B * 0xC2B2AE35 & (1<<32 - 1) * 0x9E3779B1 & (1<<32 - 1))
	hash0 = uint32(0x9E3779B1 * 0x85EBCA6B & (1<<32 - 1) * 0xC2B2AE35 & (1<<32 - 1) * 0x9E3779B1 & (1<<32 - 1))
)

// hashSum is hash without its first argument, before the shift.
func hashSum(b, c, d int) uint32 { return uint32(b)*hash1 + uint32(c)*hash2 + uint32(d)*hash3 }

// walk codes a number by the path to it in the tree. While the path is that to c1, or c2, the step that it would take next is predicted
// by the runs before.
func (m *model) walk(c *rangecoder.Coder, number, run int) int {
	t, n := m.t, m.t.size
	if n == 1 {
		return 0
	}
	node, code, depth := 0, t.code[number], t.depth[number]
	code1, depth1, code2, depth2 := t.code[m.c1], t.depth[m.c1], t.code[m.c2], t.depth[m.c2]
	on1, on2 := true, true // the path so far is that to c1, to c2
	shift := m.hashShift & 31
	sum1, sumElse, sum3 := hashSum(m.c1, m.c2, 512+run), hashSum(m.c1, m.c2, 1024+m.c3), hashSum(m.c2, m.c3, 2048)
	runs1, runs2 := hashSum(run, m.runs, 512+m.history&255), hashSum(run, m.runs, 1024+m.history&255)
	for {
		depth--
		depth1--
		depth2--
		next1, next2 := int(code1>>(depth1&15)&1), int(code2>>(depth2&15)&1)
		at := uint32(node) * hash0
		h2, h3, set := at+sumElse, at+sum3, 0
		switch {
		case on1:
			h2, h3, set = at+sum1, uint32(next1)*hash0+runs1, 1+next1
		case on2:
			h3, set = uint32(next2)*hash0+runs2, 3
		}
		p0, p1 := &m.short[node], &m.bySymbol[node*n+m.c1]
		p2, p3 := &m.hashed[1][h2>>shift], &m.hashed[2][h3>>shift]
		w := &m.stepWeights[node*4+set]
		s0, s1 := stretch(p0.P()), stretch(p1.P())
		s2, s3 := stretch(p2.P()), stretch(p3.P())
		sum := s0*int64(w.w[0]) + s1*int64(w.w[1]) + s2*int64(w.w[2]) + s3*int64(w.w[3])
		q := mixing.Predict(sum)
		bit := c.Bit(int(code>>(depth&15)&1), q)
		e := w.step(bit, q)
		mixing.Move(&w.w[0], s0, e)
		mixing.Move(&w.w[1], s1, e)
		mixing.Move(&w.w[2], s2, e)
		mixing.Move(&w.w[3], s3, e)
		p0.Update(bit, shortLimit)
		p1.Update(bit, middleLimit)
		p2.Update(bit, middleLimit)
		p3.Update(bit, middleLimit)
		on1, on2 = on1 && bit == next1, on2 && bit == next2
		next := t.child[node][bit]
		if next < 0 {
			return int(^next)
		}
		node = int(next)
	}
}

// stretch returns the stretched form of a probability.
func stretch(p uint32) int64 { return int64(mixing.Stretch(p)) }

// mix returns the mixture of stretched predictions, a probability in 1/65536.
func (w *weights) mix(s0, s1, s2, s3, s4, s5 int64) uint32 {
	return mixing.Predict(s0*int64(w.w[0]) + s1*int64(w.w[1]) + s2*int64(w.w[2]) +
		s3*int64(w.w[3]) + s4*int64(w.w[4]) + s5*int64(w.w[5]))
}

// step returns how far the weights move for each prediction, given what was predicted.
func (w *weights) step(bit int, q uint32) int64 {
	rate := int64(8)
	if w.n < slowAfter {
		rate = int64(40 - w.n>>5)
		w.n++
	}
	return mixing.Step(bit, q, rate)
}

// learn moves the weights towards the predictions that were right; q is what was predicted.
func (w *weights) learn(bit int, q uint32, s0, s1, s2, s3, s4, s5 int64) {
	e := w.step(bit, q)
	mixing.Move(&w.w[0], s0, e)
	mixing.Move(&w.w[1], s1, e)
	mixing.Move(&w.w[2], s2, e)
	mixing.Move(&w.w[3], s3, e)
	mixing.Move(&w.w[4], s4, e)
	mixing.Move(&w.w[5], s5, e)
}
