package numbers

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"orcomgo/internal/tasks"
)

const (
	sampleRows   = 1500  // that the models of a column are compared on, an eighth of all at most
	leastRows    = 120   // or, of small tables, so many
	roughRows    = 500   // of these, by which candidates are found
	rowsBefore   = 10000 // rows before the sample that rows of it may be like
	maxRelated   = 64    // columns that a column may be predicted from
	maxAdded     = 6     // of these, the nearest ones, of which sums are tried
	manyColumns  = 128   // from which on a column is predicted from maxAdded columns
	maxNarrow    = 16    // columns that vary of tables in which quotients decide on the order
	maxTrials    = 4     // candidates that are compared on the whole sample
	trialRows    = 60    // that the tables of a trial have room for: the less memory, the faster
	quotientRows = 100   // that quotients are compared on
	sumRows      = 200   // that sums are compared on
	modelBytes   = 3     // what a model takes besides its predictions
)

// planner chooses how the columns of a table are coded.
type planner struct {
	*table          // the rows up to the sample, as far as they matter, and the sample
	full     *table // all rows
	order    []int  // of coding
	distinct []int  // values of each column in the sample, roughly
	first    int    // row of the sample
	rough    int    // row after those by which candidates are found
}

func newPlanner(full *table, pool *tasks.Pool) *planner {
	n := min(full.rows, max(full.rows/8, leastRows), sampleRows)
	from := (full.rows - n) / 2
	first := min(from, rowsBefore)
	p := &planner{full: full, first: first, rough: first + min(n, roughRows), distinct: make([]int, len(full.values))}
	values := make([][]int64, len(full.values))
	for i, v := range full.values {
		values[i] = v[from-first : from+n]
	}
	p.table = newTable(full.float32s, values, first+n)
	pool.Each(len(values), func(i int) {
		seen := map[int64]bool{}
		for _, v := range values[i][p.first:p.rough] {
			seen[v] = true
		}
		p.distinct[i] = len(seen)
	})
	p.arrange()
	return p
}

// arrange decides on the order of coding: that of the columns, but each after two of which it is likely the quotient.
func (p *planner) arrange() {
	placed, needs := make([]bool, len(p.values)), p.quotientNeeds()
	var place func(i int)
	place = func(i int) {
		if placed[i] {
			return
		}
		for _, x := range needs[i] {
			place(x)
		}
		placed[i] = true
		p.order = append(p.order, i)
	}
	for i := range p.values {
		place(i)
	}
}

// quotientNeeds returns of narrow tables which two columns each column seems to be the quotient of, if it costs much less so. No such
// column is one of the two of another one.
func (p *planner) quotientNeeds() [][]int {
	needs := make([][]int, len(p.values))
	var others []int
	for i, n := range p.distinct {
		if n > 1 {
			others = append(others, i)
		}
	}
	if len(others) > maxNarrow {
		return needs
	}
	needed := make([]bool, len(p.values))
	for _, i := range slices.Backward(others) {
		if needed[i] {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(others), func(x int) bool { return x == i || needs[x] != nil })
		if q, cost := p.quotient(i, rest); cost < p.cost(i, model{})/3 {
			needs[i] = q.refs
			needed[q.refs[0]], needed[q.refs[1]] = true, true
		}
	}
	return needs
}

// cost returns about how many bits a row of the sample costs if the differences to the prediction of a model are coded.
func (p *planner) cost(i int, m model) float64 {
	d, sum := p.newPredictor(&m, i, p.values[i], 0), 0.0
	for r := p.first; r < p.rough; r++ {
		sum += logOf(p.values[i][r] - d.predict(r))
	}
	return sum / float64(max(p.rough-p.first, 1))
}

// logOf returns about the bits that a difference takes.
func logOf(d int64) float64 {
	if d < 0 {
		d = -d
	}
	if d == 0 {
		return 0.3
	}
	return Log2(float64(d)) + 2
}

// ranked is a model with what it seems to cost.
type ranked struct {
	model
	cost float64
}

// candidates returns the models to try for the column that is coded as the one numbered at.
func (p *planner) candidates(at int) []model {
	i, before := p.order[at], p.related(at)
	var list []ranked
	add := func(m model) float64 {
		c := p.cost(i, m)
		list = append(list, ranked{m, c})
		return c
	}
	key, least := []int(nil), add(model{kind: like})
	add(model{kind: line})
	keys := p.firstKeys(before)
	for _, x := range before {
		keys = append(keys, []int{x})
	}
	nearest := before[:min(len(before), maxAdded)]
	p.addSums(i, nil, nearest, add)
	for n, k := range keys {
		if c := add(model{kind: like, key: k}); c < least {
			key, least = k, c
		}
		if len(k) > 1 && n < len(keys)-len(before) {
			p.addSums(i, k, nearest, add)
		}
	}
	for _, x := range before {
		add(model{kind: likeRatio, key: key, refs: []int{x}})
	}
	if q, cost := p.quotient(i, before); q.refs != nil {
		list = append(list, ranked{q, cost})
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(a.cost, b.cost) })
	var best []model
	for _, r := range list[:min(maxTrials, len(list))] {
		best = append(best, r.model)
	}
	return best
}

// related returns those of the columns coded before the one numbered at that it may be predicted from, not more than maxRelated, the
// nearest first.
func (p *planner) related(at int) []int {
	i := p.order[at]
	list := slices.DeleteFunc(slices.Clone(p.order[:at]), func(x int) bool { return p.distinct[x] < 2 })
	distance := func(x int) int { return max(x-i, i-x) }
	slices.SortStableFunc(list, func(a, b int) int { return distance(a) - distance(b) })
	most := maxRelated
	if len(p.values) > manyColumns {
		most = maxAdded
	}
	return list[:min(len(list), most)]
}

// firstKeys returns the sets of two and three of the first three columns that vary, as far as they are among before. These columns are
// often what identifies a row.
func (p *planner) firstKeys(before []int) [][]int {
	var first []int
	for x := 0; x < len(p.values) && len(first) < 3; x++ {
		if p.distinct[x] > 1 {
			first = append(first, x)
		}
	}
	first = slices.DeleteFunc(first, func(x int) bool { return !slices.Contains(before, x) })
	switch len(first) {
	case 3:
		return [][]int{first, {first[0], first[1]}, {first[0], first[2]}, {first[1], first[2]}}
	case 2:
		return [][]int{first}
	}
	return nil
}

// addSums adds the sums of columns, with either sign, from which column i seems to follow best: from no columns, and from all, the one
// that helps most is added or removed, as long as one helps.
func (p *planner) addSums(i int, key, columns []int, add func(model) float64) {
	similar := p.like(key)[p.first:]
	changes := func(x int) []int64 { // of a column since the row like
		list := make([]int64, min(sumRows, p.rough-p.first))
		for r := range list {
			list[r] = p.values[x][p.first+r] - valueOr(p.values[x], int(similar[r]))
		}
		return list
	}
	others := make([][]int64, len(columns))
	for j, x := range columns {
		others[j] = changes(x)
	}
	rest, trial := changes(i), make([]int64, min(sumRows, p.rough-p.first))
	// less sets the trial to the rest less a multiple of the changes of another column, and returns about how many bits it takes.
	less := func(times int64, j int) (bits float64) {
		for r, d := range others[j] {
			trial[r] = rest[r] - times*d
			bits += logOf(trial[r])
		}
		return bits
	}
	own := slices.Clone(rest)
	for _, sign := range []int64{-1, 1} {
		var best ranked
		for _, taken := range []int64{0, sign} { // of each column
			copy(rest, own)
			times := make([]int64, len(columns))
			least := math.Inf(1)
			for j := range columns {
				if times[j] = taken; taken != 0 {
					less(taken, j)
					copy(rest, trial)
				}
			}
			for chosen := 0; chosen >= 0; {
				chosen = -1
				for j := range columns {
					if bits := less(sign-2*times[j], j); bits < least {
						chosen, least = j, bits
					}
				}
				if chosen >= 0 {
					less(sign-2*times[chosen], chosen)
					copy(rest, trial)
					times[chosen] = sign - times[chosen]
				}
			}
			if best.refs == nil || least < best.cost {
				best.cost, best.refs = least, nil
				for j, x := range columns {
					if times[j] != 0 {
						best.refs = append(best.refs, x)
					}
				}
			}
		}
		if len(best.refs) > 0 {
			add(model{kind: likeSum, key: key, refs: best.refs, factor: float64(sign)})
		}
	}
}

// quotient returns the quotient of two columns that column i seems to follow from best, and about how many bits a row costs by it;
// without refs if there is none.
func (p *planner) quotient(i int, before []int) (best model, least float64) {
	v := p.values[i]
	var rows []int
	for r := p.first; r < p.rough && len(rows) < quotientRows; r++ {
		if v[r] != 0 {
			rows = append(rows, r)
		}
	}
	if least = math.Inf(1); len(rows) < quotientRows/5 {
		return best, least
	}
	try := func(x, y int, rows []int) {
		var ratios []float64
		for _, r := range rows {
			if q := float64(v[r]) / (float64(p.values[x][r]) / float64(p.values[y][r])); q != 0 && !math.IsInf(q, 0) && !math.IsNaN(q) {
				ratios = append(ratios, q)
			}
		}
		if len(ratios) < len(rows)*3/4 {
			return
		}
		slices.Sort(ratios)
		a, quarter := ratios[len(ratios)/2], len(ratios)/4
		if spread := ratios[quarter] / ratios[len(ratios)-1-quarter]; spread < 0.5 || spread > 2 {
			return // the ratio is not even nearly the same in half of the rows
		}
		for _, a := range []float64{a, math.Pow10(int(math.Round(math.Log10(math.Abs(a)))))} {
			m := model{kind: quotient, refs: []int{x, y}, factor: a}
			d, cost := p.newPredictor(&m, i, v, 0), 0.0
			for _, r := range rows {
				cost += logOf(v[r] - d.predict(r))
			}
			if cost /= float64(len(rows)); cost < least {
				best, least = m, cost
			}
		}
	}
	// Few rows say which two columns it is.
	for _, x := range before {
		for _, y := range before {
			if x != y {
				try(x, y, rows[:quotientRows/4])
			}
		}
	}
	if least = math.Inf(1); best.refs != nil {
		try(best.refs[0], best.refs[1], rows)
	}
	return best, least
}

// plan chooses the model of the column that is coded as the one numbered at: that with which the sample takes the fewest bytes, if any.
func (p *planner) plan(at int) *plan {
	i := p.order[at]
	low, high := int64(0), int64(0)
	if v := p.full.values[i]; len(v) > 0 {
		low, high = slices.Min(v), slices.Max(v)
	}
	best := &plan{low: low, bits: bits.Len64(uint64(high - low))}
	if best.bits == 0 {
		return best
	}
	least := len(p.encode(best, i, p.first, trialRows))
	for _, m := range p.candidates(at) {
		other := &plan{low, best.bits, &m}
		if n := len(p.encode(other, i, p.first, trialRows)) + modelBytes; n < least {
			best, least = other, n
		}
	}
	return best
}
