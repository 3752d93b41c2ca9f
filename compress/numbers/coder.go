package numbers

import (
	"math/bits"

	"orcomgo/compress/mixing"
	rc "orcomgo/compress/rangecoder"
)

const (
	inputs      = 2 // of a decision: how often values occurred, and the model
	numberLimit = 400
	countLimit  = 250

	slowAfter   = 2048 // decisions after which weights learn slowly
	fastRate    = 200
	slowRate    = 40
	firstWeight = mixing.One * 2 / 5

	levels  = 32 // of the distance of a prediction from the middle of the interval
	classes = 8  // of the mean error relative to the interval
	// A bit whose probability by the model is less than this, or as close to 1, is coded by it alone; in 1/65536.
	sure = 1000
	// The least probability in 1/65536 by which it codes a bit, so that a row takes at least 1/3000 of a bit (see Decode).
	leastSure = 16

	// From this probability in 1/65536 on, a decision says whether a value is what is predicted.
	likelyExact = 62000

	maxLogLines = 14
)

// line4 has the probabilities of four bits by the path so far; the first one is a check.
type line4 [16]rc.Prob

var freshLine = line4(rc.NewProbs(16))

// counts has the probabilities of the bits of values by the bits above them.
type counts struct {
	lines []line4
	shift int
}

// line returns the line of four bits, of which the highest is bit k, below the other bits of prefix.
func (t *counts) line(prefix uint64, k int) *line4 {
	h := mix(1, prefix>>(k+1)<<(k+1)<<6|uint64(k))
	line, check := &t.lines[h>>(t.shift&63)], rc.Prob(h)|1
	if line[0] != check {
		*line = freshLine
		line[0] = check
	}
	return line
}

// prediction is a predictor with what it learned.
type prediction struct {
	predictor
	probs [][levels * classes]rc.Prob // by bit
	value int64                       // what it predicts for this row, less the smallest value
	class int                         // bits of the mean error
	exact [64]rc.Prob                 // by class: that the value is the prediction
	error uint64
}

// weights are those of the inputs of a decision, in 1/65536, and how many decisions they learned from, up to slowAfter.
type weights struct {
	w [inputs]int32
	n int32
}

// coder codes a column.
type coder struct {
	*plan
	values  []int64
	model   *prediction // or nil
	counts  counts
	weights []weights // by bit
}

// newCoder returns a coder of column i of a table. Its values may be incomplete. rows is how many will be coded.
func (t *table) newCoder(p *plan, i int, values []int64, rows int) *coder {
	c := &coder{plan: p, values: values, weights: make([]weights, max(p.bits, 1))}
	if p.bits > 0 {
		logLines := min(max(bits.Len(uint(rows)*uint(p.bits+3)/4), 7), maxLogLines)
		// No line has the check 0, so that the probabilities need no first value.
		c.counts = counts{make([]line4, 1<<logLines), 64 - logLines}
	}
	if p.model != nil {
		probs := make([][levels * classes]rc.Prob, p.bits)
		for k := range probs {
			rc.FillProbs(probs[k][:])
		}
		c.model = &prediction{predictor: t.newPredictor(p.model, i, values, p.low), probs: probs}
		rc.FillProbs(c.model.exact[:])
	}
	for i := range c.weights {
		c.weights[i].w = [inputs]int32{firstWeight, firstWeight}
	}
	return c
}

// farLevel is the distance, in 1/16 of half the interval, from which on levels are the same.
const farLevel = 4097

// levelOf is by that distance.
var levelOf [farLevel + 1]uint8

func init() {
	l := 0
	for t := range levelOf {
		if next := [...]int{6, 8, 12, 16, 24, 32, 64, 256, farLevel - 1}; l < 6 && t > l || l >= 6 && l < 15 && t > next[l-6] {
			l++
		}
		levelOf[t] = uint8(l)
	}
}

// level returns the class of the distance of a prediction from the middle of an interval of 2^(k+1) values.
func level(d int64, k int) int {
	sign := d >> 63
	t := uint64(d ^ sign - sign)
	if k >= 4 {
		t >>= (k - 4) & 63
	} else {
		t <<= (4 - k) & 63
	}
	return int(sign&16) + int(levelOf[min(t, farLevel)])
}

// at returns the probability of the bit k, given where its interval is.
func (d *prediction) at(middle int64, k int) *rc.Prob {
	class := min(max(d.class-k+3, 0), classes-1)
	return &d.probs[k&63][uint8(level(d.value-middle, k)*classes+class)]
}

// learn learns a value less the smallest one.
func (d *prediction) learn(v int64) {
	e := v - d.value
	if e < 0 {
		e = -e
	}
	// The mean of the last errors, in 1/16.
	d.error = d.error - d.error>>3 + min(uint64(e), 1<<58)<<1
}

// next predicts row r of a column of values of so many bits.
func (d *prediction) next(r, size int) {
	d.value = min(max(d.predict(r)-d.low, -1), 1<<size)
	d.class = bits.Len64(d.error >> 4)
}

// isSure reports whether a bit of probability p, in 1/65536, is coded by the model alone.
func isSure(p uint32) bool { return p-sure > 1<<rc.ProbBits-2*sure }

// code codes the value of row r.
func (c *coder) code(rg *rc.Coder, r int) {
	d, u := c.model, uint64(c.values[r]-c.low)
	if d == nil {
		u = c.byBits(rg, u)
	} else {
		d.next(r, c.bits)
		p, hit := &d.exact[d.class&63], false
		if q := p.P(); q > likelyExact && uint64(d.value)>>c.bits == 0 {
			hit = rg.Bit(rc.BitOf(u == uint64(d.value)), min(q, 1<<rc.ProbBits-leastSure)) == 1
		}
		if hit {
			u = uint64(d.value)
		} else {
			u = c.byBits(rg, u)
		}
		p.Update(rc.BitOf(u == uint64(d.value)), numberLimit)
		d.learn(int64(u))
	}
	if rg.Dec != nil {
		c.values[r] = c.low + int64(u) // when encoding, others may read it
	}
}

// byBits codes a value less the smallest one by its bits.
func (c *coder) byBits(rg *rc.Coder, u uint64) uint64 {
	d, prefix := c.model, uint64(0) // the known bits; the others are 0
	var line *line4
	group := c.bits // the bit at which the line begins
	for k := c.bits - 1; k >= 0; k-- {
		var p1 *rc.Prob
		if d != nil {
			p1 = d.at(int64(prefix+1<<k), k)
			if q := p1.P(); isSure(q) {
				bit := rg.Bit(int(u>>k&1), min(max(q, leastSure), 1<<rc.ProbBits-leastSure))
				p1.Update(bit, numberLimit)
				prefix |= uint64(bit) << k
				continue
			}
		}
		below := (c.bits - 1 - k) & 3 // bits of the group that are known
		if group != k+below {
			group = k + below
			line = c.counts.line(prefix, group)
		}
		p0 := &line[(1<<below|prefix>>(k+1)&(1<<below-1))&15]
		bit := c.weights[k].mix(rg, int(u>>k&1), p0, p1)
		prefix |= uint64(bit) << k
	}
	return prefix
}

// mix codes a bit by one or two probabilities; p1 may be nil.
func (w *weights) mix(rg *rc.Coder, bit int, p0, p1 *rc.Prob) int {
	s0, s1 := int64(mixing.Stretch(p0.P())), int64(0)
	if p1 != nil {
		s1 = int64(mixing.Stretch(p1.P()))
	}
	q := mixing.Predict(s0*int64(w.w[0]) + s1*int64(w.w[1]))
	bit = rg.Bit(bit, q)
	e := mixing.Step(bit, q, int64(fastRate-w.n*(fastRate-slowRate)/slowAfter))
	w.n = min(w.n+1, slowAfter)
	mixing.Move(&w.w[0], s0, e)
	mixing.Move(&w.w[1], s1, e)
	p0.Update(bit, countLimit)
	if p1 != nil {
		p1.Update(bit, numberLimit)
	}
	return bit
}
