package numbers

import (
	"slices"

	rc "orcomgo/compress/rangecoder"
)

// What a model predicts depends on the values alone, and not on the other models of the column. So the planner has each model predict the
// rows of the sample once. Which models are good together is said by a mixture of the probabilities of whole values, whose shares follow
// what was right: that is much faster than the mixing of each bit, and comes to nearly the same choice.

// trial is a candidate for the models of a column, and with what probability it predicts the rows of the sample that the column has.
// These are computed as far as they are needed.
type trial struct {
	input
	coder   *coder
	next    int // row
	chances []float64
}

// newTrial returns a trial of a model of column i.
func (p *planner) newTrial(in input, pl *plan, i int) *trial {
	own := *pl
	own.inputs = []input{in}
	return &trial{input: in, coder: p.newCoder(&own, i, p.values[i], p.rough-p.first), next: p.first}
}

// extend computes the chances of the rows of column i before last.
func (t *trial) extend(p *planner, i, last int) {
	for ; t.next < last; t.next++ {
		if p.has(i, t.next) {
			t.chances = append(t.chances, t.coder.chance(t.next))
		}
	}
}

// chance returns the probability of the value of row r by the only model of a column, which then learns the value.
func (c *coder) chance(r int) float64 {
	u := uint64(c.values[r] - c.low)
	product := 1.0
	learn := func(p *rc.Prob, bit int, limit uint32) {
		q := max(int(p.P()), 1) // of the bit 1
		product *= float64(q*bit+(1<<rc.ProbBits-q)*(1-bit)) / (1 << rc.ProbBits)
		p.Update(bit, limit)
	}
	if len(c.contexts) > 0 {
		d := c.contexts[0]
		c.predict(d, r)
		node, line := 1, (*[16]rc.Prob)(nil)
		for k := c.bits - 1; k >= 0; k-- {
			if (c.bits-1-k)&3 == 0 {
				line, node = d.contexts.line(mix(d.hash, u>>(k+1)<<(k+1)<<6|uint64(k))), 1
			}
			bit := int(u >> k & 1)
			learn(&line[node&15], bit, hashLimit)
			node = node<<1 | bit
		}
		return product
	}
	d := c.numbers[0]
	c.predict(d, r)
	for k := c.bits - 1; k >= 0; k-- {
		p, _ := d.at(int64(u>>(k+1)<<(k+1)+1<<k), k)
		learn(p, int(u>>k&1), numberLimit)
	}
	c.learn(r)
	return product
}

const (
	leastShare = 0.003 // of a model in the mixture
	shareMoves = 0.3   // how far a share moves for each row
	modelBits  = 20    // what a model takes besides its predictions
)

// mixtureCost returns about how many bits the rows take by several models.
func mixtureCost(models []*trial) float64 {
	var shares [maxInputs]float64
	n := len(models)
	for i := range models {
		shares[i] = 1 / float64(n)
	}
	sum := 0.0
	for r := range models[0].chances {
		all := 0.0
		for i, m := range models {
			all += float64(shares[i] * m.chances[r])
		}
		sum -= Log2(all)
		scale := shareMoves / all
		for i, m := range models {
			s := float64(shares[i] * ((1 - shareMoves) + float64(m.chances[r]*scale)))
			shares[i] = leastShare + float64(s*(1-float64(n)*leastShare))
		}
	}
	return sum
}

// choose returns the first of the trials, and at most so many in all that are good together with it for the rows before last. Each makes
// the rows smaller by a share of at least gain.
func (p *planner) choose(trials []*trial, i, last, most int, gain float64) []*trial {
	for _, t := range trials {
		t.extend(p, i, last)
	}
	chosen, trials := trials[:1:1], trials[1:]
	least := mixtureCost(chosen)
	for len(chosen) < most {
		var best *trial
		cost := least
		rest := trials[:0:0]
		for _, t := range trials {
			c := mixtureCost(append(chosen, t))
			if c > least*(1-gain)-modelBits {
				continue // it would help even less later
			}
			rest = append(rest, t)
			if c < cost {
				best, cost = t, c
			}
		}
		if best == nil {
			break
		}
		chosen, least = append(chosen, best), cost
		trials = slices.DeleteFunc(rest, func(t *trial) bool { return t == best })
	}
	return chosen
}
