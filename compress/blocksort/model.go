package blocksort

import (
	"math/bits"

	"orcomgo/compress/rangecoder"
)

// Limits of the counts of probabilities: the larger, the longer is what they remember.
const (
	shortLimit  = 8
	middleLimit = 60
	runLimit    = 127
	longLimit   = 255
	pairLimit   = 30
)

const (
	pairBits    = 18 // of the number of a probability by node and two symbols
	runPairBits = 16 // of one by two symbols and a run
	historyBits = 12
)

// model predicts the symbols of one part of a transform. What it knows of the symbols before: the last run of equal symbols, of symbol c1
// and so far of run symbols; the run before that, of symbol c2; and of the last decisions whether a run goes on.
type model struct {
	t       *tree
	c1, c2  int
	run     int
	runs    int // class of the length of the run before
	history uint32

	// Of the decision whether a run goes on.
	byRun, byHistory, byPair, byRuns []rangecoder.Prob
	runWeights                       []weights
	// Of the steps in the tree.
	short, long, bySymbol, bySymbols []rangecoder.Prob
	stepWeights                      []weights
}

// weights are those of the four predictions of a decision, in 1/65536, and how many decisions they learned from, up to slowAfter.
type weights struct {
	w [4]int32
	n int32
}

const (
	slowAfter = 512
	startRate = 10
)

func newModel(t *tree) *model {
	m := &model{t: t}
	n := t.size
	m.byRun, m.byHistory = rangecoder.NewProbs(n*32), rangecoder.NewProbs(1<<historyBits)
	m.byPair, m.byRuns = rangecoder.NewProbs(min(n*n*16, 1<<runPairBits)), rangecoder.NewProbs(n*32*16)
	m.short, m.long, m.bySymbol = rangecoder.NewProbs(n), rangecoder.NewProbs(n), rangecoder.NewProbs(n*n)
	m.bySymbols = rangecoder.NewProbs(min(n*n*n, 1<<pairBits))
	m.runWeights, m.stepWeights = newWeights(n, 65536*3/10), newWeights(n*4, 65536*3/10)
	return m
}

func newWeights(n int, w int32) []weights {
	all := make([]weights, n)
	for i := range all {
		all[i].w = [4]int32{w, w, w, w}
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

// slot returns context x if there are at most 2^size contexts, and else its hash.
func slot(x uint32, contexts int, size int) uint32 {
	if contexts <= 1<<size {
		return x
	}
	return x * 0x9E3779B1 >> (32 - size)
}

// code codes the numbers of symbols.
func (m *model) code(c *rangecoder.Coder, part []byte) {
	t, n := m.t, m.t.size
	pairs, triples := n*n*16, n*n*n
	var p [4]*rangecoder.Prob
	for i, s := range part {
		number := int(t.number[s])
		run := min(m.run, 15)
		p[0] = &m.byRun[m.c1*32+runClass(m.run)]
		p[1] = &m.byHistory[m.history&(1<<historyBits-1)]
		p[2] = &m.byPair[slot(uint32((m.c1*n+m.c2)*16+run), pairs, runPairBits)]
		p[3] = &m.byRuns[(m.c1*32+m.runs)*16+run]
		same := decide(c, rangecoder.BitOf(number == m.c1), &m.runWeights[m.c1], &p, &runLimits)
		m.history = m.history<<1 | uint32(same)
		if same == 1 {
			m.run++
			part[i] = t.symbols[m.c1]
			continue
		}
		if n > 1 {
			node, code, depth := 0, t.code[number], t.depth[number]
			for {
				p[0], p[1] = &m.short[node], &m.long[node]
				x := node*n + m.c1
				p[2], p[3] = &m.bySymbol[x], &m.bySymbols[slot(uint32(x*n+m.c2), triples, pairBits)]
				depth--
				bit := decide(c, int(code>>(depth&15)&1), &m.stepWeights[node*4+int(m.history>>1&3)], &p, &stepLimits)
				next := t.child[node][bit]
				if next < 0 {
					number = int(^next)
					break
				}
				node = int(next)
			}
		} else {
			number = 0
		}
		part[i] = t.symbols[number]
		m.runs = runClass(m.run)
		m.c2, m.c1, m.run = m.c1, number, 1
	}
}

var (
	runLimits  = [4]uint32{runLimit, middleLimit, runLimit, middleLimit}
	stepLimits = [4]uint32{shortLimit, longLimit, middleLimit, pairLimit}
)

// decide codes a decision with the mixture of four probabilities, which learn it as the weights do.
func decide(c *rangecoder.Coder, bit int, w *weights, p *[4]*rangecoder.Prob, limits *[4]uint32) int {
	p0, p1, p2, p3 := p[0], p[1], p[2], p[3]
	s0, s1, s2, s3 := rangecoder.Stretch(p0.P()), rangecoder.Stretch(p1.P()), rangecoder.Stretch(p2.P()), rangecoder.Stretch(p3.P())
	sum := int64(s0)*int64(w.w[0]) + int64(s1)*int64(w.w[1]) + int64(s2)*int64(w.w[2]) + int64(s3)*int64(w.w[3])
	q := rangecoder.Squash(int32(max(min(sum>>16, 2047), -2047)))
	bit = c.Bit(bit, q)
	rate := int32(2)
	if w.n < slowAfter {
		rate = startRate - w.n>>6
		w.n++
	}
	e := (int32(bit)<<16 - int32(q)) >> 4 * rate
	w.w[0] += (s0*e + 1<<13) >> 14
	w.w[1] += (s1*e + 1<<13) >> 14
	w.w[2] += (s2*e + 1<<13) >> 14
	w.w[3] += (s3*e + 1<<13) >> 14
	p0.Update(bit, limits[0], adaptation)
	p1.Update(bit, limits[1], adaptation)
	p2.Update(bit, limits[2], adaptation)
	p3.Update(bit, limits[3], adaptation)
	return bit
}
