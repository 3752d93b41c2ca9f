package numbers

import (
	logistic "orcomgo/compress/mixing"
	rc "orcomgo/compress/rangecoder"
)

// What a model predicts for a bit depends on the values alone, and not on the other models of the column. So the planner has each model
// predict the bits of the sample once, and then mixes the predictions of different models.

// trace is what a model of a column predicts for rows of the sample. It is computed as far as it is needed.
type trace struct {
	coder   *coder
	next    int // row
	steps   []step
	classes []uint8 // of a model that predicts the value
	errors  []uint8 // of such a model: bits of its mean error for each row
}

// trace returns the trace of a model of column i, for at most the rows of the sample before last. release frees what computes it.
func (p *planner) trace(in input, pl *plan, i, last int) *trace {
	own := *pl
	own.inputs = []input{in}
	values := p.values[i]
	t := &trace{coder: p.newCoder(&own, i, values, last-p.first), next: p.first}
	t.steps = make([]step, 0, (last-p.first)*pl.bits)
	if in.kind != context {
		t.classes = make([]uint8, 0, cap(t.steps))
	}
	return t
}

// extend computes the trace of column i up to row last.
func (t *trace) extend(p *planner, i, last int) {
	for ; t.next < last; t.next++ {
		if p.has(i, t.next) {
			t.coder.trace(t, t.next)
		}
	}
}

// trace adds row r to the trace of the only model of a column.
func (c *coder) trace(t *trace, r int) {
	u := uint64(c.values[r] - c.low)
	if len(c.contexts) > 0 {
		d := c.contexts[0]
		c.predict(d, r)
		node, line := uint64(1), (*[16]rc.Prob)(nil)
		for k := c.bits - 1; k >= 0; k-- {
			if (c.bits-1-k)&3 == 0 {
				line = d.contexts.line(mix(d.hash, u>>(k+1)<<(k+1)<<6|uint64(k)))
				node = 1
			}
			p, bit := &line[node&15], u>>k&1
			t.steps = append(t.steps, stepOf(*p))
			p.Update(int(bit), hashLimit)
			node = node<<1 | bit
		}
		return
	}
	d := c.numbers[0]
	c.predict(d, r)
	t.errors = append(t.errors, uint8(d.class))
	for k := c.bits - 1; k >= 0; k-- {
		p, class := d.at(int64(u>>(k+1)<<(k+1)+1<<k), k)
		t.steps, t.classes = append(t.steps, stepOf(*p)), append(t.classes, uint8(class))
		p.Update(int(u>>k&1), numberLimit)
	}
	c.learn(r)
}

// sureStep is the stretched probability of about 1 - sure/65536.
var sureStep = logistic.Stretch(1<<rc.ProbBits - sure)

// mixing codes rows of the sample by the models that have the traces.
type mixing struct {
	*planner
	plan    *plan
	column  int
	traces  []*trace
	numbers []*trace // those that predict the value
	m       *mixer
	rg      *rc.Coder
	next    int // row
	at      int // of the traces
	row     int // of the traces
}

func (p *planner) mixing(pl *plan, traces []*trace, i int) *mixing {
	x := &mixing{
		planner: p, plan: pl, column: i, traces: traces, m: newMixer(len(traces), pl.bits+classes*classes), rg: rc.EncodeTo(nil),
		next: p.first,
	}
	for _, t := range traces {
		if t.classes != nil {
			x.numbers = append(x.numbers, t)
		}
	}
	return x
}

// code codes the rows before last and returns the bytes so far, with the plan.
func (x *mixing) code(last int) int {
	for _, t := range x.traces {
		t.extend(x.planner, x.column, last)
	}
	pl, m := x.plan, x.m
	values := x.values[x.column]
	for ; x.next < last; x.next++ {
		if !x.has(x.column, x.next) {
			continue
		}
		u := uint64(values[x.next] - pl.low)
		var lead *trace
		for _, t := range x.numbers {
			if lead == nil || t.errors[x.row] < lead.errors[x.row] {
				lead = t
			}
		}
		x.row++
		for k := pl.bits - 1; k >= 0; k-- {
			j := x.at + pl.bits - 1 - k
			if lead != nil {
				if s := int32(lead.steps[j]); uint32(s+sureStep) > uint32(2*sureStep) {
					x.rg.Bit(int(u>>k&1), clampSure(logistic.Squash(s)))
					continue
				}
			}
			for n, t := range x.traces {
				m.steps[n] = t.steps[j]
			}
			set := 0
			for _, t := range x.numbers[:min(len(x.numbers), 2)] {
				set = set*classes + int(t.classes[j])
			}
			m.code(x.rg, int(u>>k&1), k, pl.bits+set)
		}
		x.at += pl.bits
	}
	return x.rg.Enc.Len() + len(pl.append(nil))
}

// finish codes the rows before last, and no more, and returns the bytes of all. The mixing can't be used after that.
func (x *mixing) finish(last int) int {
	size := x.code(last) - x.rg.Enc.Len()
	return size + len(x.rg.Enc.Finish())
}

// release frees what computes a trace.
func (t *trace) release() {
	t.coder = nil
}
