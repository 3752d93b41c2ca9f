package numbers

import (
	"cmp"
	"math/bits"
	"slices"

	rc "orcomgo/compress/rangecoder"
	"orcomgo/internal/tasks"
)

const (
	sampleRows   = 1000  // that candidates for the models of a column are compared on
	roughRows    = 300   // of these, for the order in which they are compared
	rowsBefore   = 10000 // rows before the sample that rows of it may be like
	maxRelated   = 64    // columns that a column may be predicted from
	manyColumns  = 128   // from which on a column is predicted from fewer columns
	firstRelated = 8     // of these, the first ones of the table
	maxModels    = 7     // of a column that the encoder chooses
	maxFailures  = 3     // candidates in a row that did not help, after which no more are tried
	leastGain    = 200   // a model is taken if it makes the sample smaller by at least one in so many bytes
	// A candidate is given up halfway through the sample if it makes that larger by more than this share.
	shareAtHalf = 200
	// The least that columns are expected to take, as a share of what they take by a few models, less so many bytes for all columns:
	// parts of 4 to 30 kB of 15 tables took 0.71 at least where they took more than 200 bytes.
	leastShare, leastSlack = 0.6, 100
)

// planner chooses how the columns of a table are coded.
type planner struct {
	table             // the rows up to the sample, as far as they matter, and the sample
	full     *table   // all rows
	columns  []Column // all rows
	order    []int
	distinct []int // values of each column in the sample, roughly
	first    int   // row of the sample
	last     int   // row after the sample, and the number of rows
}

func newPlanner(columns []Column, values [][]int64, rows int, pool *tasks.Pool) *planner {
	p := &planner{columns: columns}
	n := min(rows, sampleRows)
	first := (rows - n) / 2
	p.first = min(first, rowsBefore)
	p.last = p.first + n
	for i := range columns {
		p.shapes = append(p.shapes, columns[i].Shape)
		p.values = append(p.values, values[i][first-p.first:first+n])
	}
	p.likes = newLikeCache(p.values, p.last)
	p.full = &table{p.shapes, values, newLikeCache(values, rows)}
	p.distinct = make([]int, len(columns))
	costs := make([]float64, len(columns))
	pool.Each(len(columns), func(i int) {
		seen := map[int64]bool{}
		for _, v := range p.values[i][p.first:] {
			seen[v] = true
		}
		p.distinct[i] = len(seen)
		costs[i] = -1
		if !columns[i].Early {
			costs[i] = min(p.contextCost(i, nil), p.differenceCost(i, func(r int) int64 { return valueOr(p.values[i], r-1) }))
		}
	})
	p.arrange(costs)
	return p
}

// arrange decides on the order of coding: columns that cost less by themselves first, since they are likely what the others follow from;
// each after the column that says which rows it has.
func (p *planner) arrange(costs []float64) {
	list := make([]int, len(p.columns))
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(costs[a], costs[b]) })
	placed := make([]bool, len(list))
	for _, i := range list {
		if g := p.columns[i].Given; g >= 0 && !placed[g] {
			placed[g] = true
			p.order = append(p.order, g)
		}
		if !placed[i] {
			placed[i] = true
			p.order = append(p.order, i)
		}
	}
}

// encode codes all rows of column i.
func (t *table) encode(pl *plan, i, rows int) []byte {
	c := t.newCoder(pl, i, t.values[i], rows)
	rg := rc.EncodeTo(nil)
	for r := range rows {
		if t.shapes[i].present(t.values, r) {
			c.code(rg, r)
		}
	}
	return rg.Enc.Finish()
}

// least returns about how many bytes all rows take at least.
func (p *planner) least(pool *tasks.Pool) int {
	sizes := make([]int, len(p.columns))
	pool.Each(len(sizes), func(i int) {
		pl, traces := p.firstPlan(i)
		if pl.bits > 0 {
			in := input{kind: line} // what counts
			pl, traces = pl.with(in), append(traces, p.trace(in, pl, i, p.last))
			sizes[i] = p.mixing(pl, traces, i).finish(p.last)
		}
		for _, t := range traces {
			t.release()
		}
	})
	sum := 0
	for _, n := range sizes {
		sum += n
	}
	if p.last == p.first {
		return 0
	}
	return int(leastShare*float64(sum)*float64(len(p.full.values[0]))/float64(p.last-p.first)) - leastSlack
}

// firstPlan returns the models that every column begins with, and their traces: none if its values are all equal.
func (p *planner) firstPlan(i int) (*plan, []*trace) {
	low, high := int64(0), int64(0)
	if v := p.full.values[i]; len(v) > 0 {
		low, high = slices.Min(v), slices.Max(v)
	}
	pl := &plan{low: low, bits: bits.Len64(uint64(high - low))}
	if pl.bits == 0 {
		return pl, nil
	}
	pl.inputs = []input{{kind: context}, {kind: like}}
	var traces []*trace
	for _, in := range pl.inputs {
		traces = append(traces, p.trace(in, pl, i, p.last))
	}
	return pl, traces
}

// plan chooses the models of the column that is coded as the one numbered at.
func (p *planner) plan(at int) *plan {
	i := p.order[at]
	pl, traces := p.firstPlan(i)
	if pl.bits == 0 {
		return pl
	}
	half := p.first + (p.last-p.first)/2
	try := func(pl *plan, traces []*trace, limit int) (atHalf, size int) {
		x := p.mixing(pl, traces, i)
		if atHalf = x.code(half); atHalf > limit {
			return atHalf, 1 << 62
		}
		return atHalf, x.finish(p.last)
	}
	sizeAtHalf, size := try(pl, traces, 1<<62)
	for _, t := range traces {
		t.release() // complete
	}
	type trial struct {
		input
		size int
	}
	var trials []trial
	rough := p.first + min(roughRows, (p.last-p.first+1)/2)
	for _, in := range p.candidates(at) {
		t := p.trace(in, pl, i, rough)
		trials = append(trials, trial{in, p.mixing(pl.with(in), append(slices.Clone(traces), t), i).finish(rough)})
		t.release()
	}
	slices.SortStableFunc(trials, func(a, b trial) int { return a.size - b.size })
	failures := 0
	for _, t := range trials {
		if len(pl.inputs) >= maxModels || failures == maxFailures {
			break
		}
		failures++
		q, more := pl.with(t.input), append(slices.Clone(traces), p.trace(t.input, pl, i, p.last))
		if h, s := try(q, more, sizeAtHalf+sizeAtHalf/shareAtHalf+4); s < size-size/leastGain-1 {
			pl, traces, sizeAtHalf, size, failures = q, more, h, s, 0
		}
		more[len(more)-1].release()
	}
	for j := 1; j >= 0 && len(pl.inputs) > 1; j-- {
		q := *pl
		q.inputs = slices.Delete(slices.Clone(pl.inputs), j, j+1)
		fewer := slices.Delete(slices.Clone(traces), j, j+1)
		if _, s := try(&q, fewer, 1<<62); s <= size {
			pl, traces, size = &q, fewer, s
		}
	}
	return pl
}

// with returns the plan with one more model.
func (p *plan) with(in input) *plan {
	q := *p
	q.inputs = append(slices.Clone(p.inputs), in)
	return &q
}
