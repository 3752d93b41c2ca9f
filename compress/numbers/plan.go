package numbers

import (
	"cmp"
	"math/bits"
	"slices"

	rc "orcomgo/compress/rangecoder"
	"orcomgo/internal/tasks"
)

const (
	mostSample   = 3000 // rows that the models of a column are compared on, at most
	leastSample  = 1000 // at least; and one in sampleShare of large tables
	sampleShare  = 8
	roughRows    = 1000   // of these, by which candidates are found and the best ones chosen
	rowsBefore   = 10000  // rows before the sample that rows of it may be like
	maxRelated   = 64     // columns that a column may be predicted from
	manyColumns  = 128    // from which on a column is predicted from fewer columns
	maxNarrow    = 16     // columns that vary of tables in which quotients decide on the order
	firstRelated = 8      // of these, the first ones of the table
	maxTrials    = 6      // candidates that are compared on the whole sample
	maxModels    = 3      // of a column that the encoder chooses
	leastGain    = 0.0005 // by which a model has to make the sample smaller
)

// planner chooses how the columns of a table are coded.
type planner struct {
	table             // the rows up to the sample, as far as they matter, and the sample
	full     *table   // all rows
	columns  []Column // all rows
	order    []int
	distinct []int // values of each column in the sample, roughly
	first    int   // row of the sample
	rough    int   // row after those by which candidates are found
	last     int   // row after the sample, and the number of rows
}

func newPlanner(columns []Column, values [][]int64, rows int, pool *tasks.Pool) *planner {
	p := &planner{columns: columns}
	n := min(rows, max(leastSample, min(rows/sampleShare, mostSample)))
	first := (rows - n) / 2
	p.first = min(first, rowsBefore)
	p.rough, p.last = p.first+min(n, roughRows), p.first+n
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
		for _, v := range p.values[i][p.first:p.rough] {
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
// each after the column that says which rows it has, and after two of which it is likely the quotient.
func (p *planner) arrange(costs []float64) {
	list := make([]int, len(p.columns))
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(costs[a], costs[b]) })
	placed, needs := make([]bool, len(list)), p.quotientNeeds(list, costs)
	var place func(i int)
	place = func(i int) {
		if placed[i] {
			return
		}
		if g := p.columns[i].Given; g >= 0 {
			place(g)
		}
		for _, x := range needs[i] {
			place(x)
		}
		placed[i] = true
		p.order = append(p.order, i)
	}
	for _, i := range list {
		place(i)
	}
}

// quotientNeeds returns of narrow tables which two columns each column seems to be the quotient of, if it costs much less so. No such column
// is one of the two of another one.
func (p *planner) quotientNeeds(list []int, costs []float64) [][]int {
	needs := make([][]int, len(list))
	needed := make([]bool, len(list))
	others := slices.DeleteFunc(slices.Clone(list), func(x int) bool { return p.distinct[x] < 2 })
	if len(others) > maxNarrow {
		return needs
	}
	for _, i := range others {
		if needed[i] {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(others), func(x int) bool { return x == i || needs[x] != nil })
		alone := costs[i]
		for _, m := range p.multiples(i, nil, rest) {
			alone = min(alone, m.cost)
		}
		if q := best(p.quotients(i, rest), 1, alone/3); q != nil {
			needs[i] = q[0].refs
			needed[q[0].refs[0]], needed[q[0].refs[1]] = true, true
		}
	}
	return needs
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

// plan chooses the models of the column that is coded as the one numbered at.
func (p *planner) plan(at int) *plan {
	i := p.order[at]
	low, high := int64(0), int64(0)
	if v := p.full.values[i]; len(v) > 0 {
		low, high = slices.Min(v), slices.Max(v)
	}
	pl := &plan{low: low, bits: bits.Len64(uint64(high - low))}
	if pl.bits == 0 {
		return pl
	}
	var trials []*trial
	for _, in := range p.candidates(at) {
		trials = append(trials, p.newTrial(in, pl, i))
	}
	trials = p.choose(trials, i, p.rough, maxTrials, 0)
	trials = p.choose(trials, i, p.last, maxModels, leastGain)
	if len(trials) > 1 && p.last < leastSample && mixtureCost(trials[1:]) < mixtureCost(trials)+modelBits {
		trials = trials[1:]
	}
	for _, t := range trials {
		pl.inputs = append(pl.inputs, t.input)
	}
	return pl
}
