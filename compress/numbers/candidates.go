package numbers

import (
	"cmp"
	"math"
	"slices"
)

// ranked is a model with what it seems to cost.
type ranked struct {
	input
	cost float64
}

// best returns the n models that seem to cost least, if that is less than limit.
func best(list []ranked, n int, limit float64) []input {
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(a.cost, b.cost) })
	var out []input
	for _, r := range list[:min(n, len(list))] {
		if r.cost < limit {
			out = append(out, r.input)
		}
	}
	return out
}

// candidates returns models to try for the column that is coded as the one numbered at.
func (p *planner) candidates(at int) []input {
	i, before := p.order[at], p.order[:at]
	list := []input{
		{kind: context}, {kind: like}, {kind: line},
		{kind: context, parts: partPrevious}, {kind: context, parts: partPrevious | partSecond},
	}
	if g := p.columns[i].Given; g >= 0 {
		list = append(list, input{kind: context, refs: []int{g}}, input{kind: context, refs: []int{g}, parts: partPrevious})
	}
	before = p.related(i, before)
	alone := p.contextCost(i, nil)
	var contexts, keyed []ranked
	for _, x := range before {
		contexts = append(contexts, ranked{input{kind: context, refs: []int{x}}, p.contextCost(i, []int{x})})
		keyed = append(keyed, ranked{input{kind: like, key: []int{x}}, p.likeCost(i, []int{x})})
	}
	topContexts, topKeyed := best(contexts, 4, alone), best(keyed, 3, math.Inf(1))
	list = append(list, topContexts...)
	list = append(list, topKeyed...)
	list = append(list, best(p.quotients(i, before), 2, math.Inf(1))...)
	if len(topContexts) > 1 {
		list = append(list, input{kind: context, refs: []int{topContexts[0].refs[0], topContexts[1].refs[0]}})
	}
	nearest := before[:min(len(before), 8)]
	list = append(list, p.sums(i, nil, nearest)...)
	for _, key := range p.firstKeys(before) {
		list = append(list, input{kind: like, key: key})
		list = append(list, p.sums(i, key, nearest)...)
	}
	// Keys of two columns and more.
	if len(topKeyed) > 0 {
		key := topKeyed[0].key
		for range maxKey - 1 {
			var wider []ranked
			for _, x := range before {
				if !slices.Contains(key, x) {
					k := append(slices.Clone(key), x)
					wider = append(wider, ranked{input{kind: like, key: k}, p.likeCost(i, k)})
				}
			}
			b := best(wider, 1, p.likeCost(i, key)*0.995)
			if b == nil {
				break
			}
			key = b[0].key
		}
		var ratios []ranked
		for _, x := range before {
			ratios = append(ratios, p.ratioCost(i, x, key))
		}
		list = append(list, best(ratios, 2, p.likeCost(i, key))...)
	}
	return list
}

// sums returns the sum of columns with one sign, or the multiple of one column, from which column i seems to follow best, if it does better
// than from no column.
func (p *planner) sums(i int, key, columns []int) []input {
	rows := p.likes.get(key)
	least := p.sumCost(i, rows, 0, nil)
	var list []input
	for _, factor := range []int64{-1, 1} {
		of := func(refs []int) float64 { return p.sumCost(i, rows, factor, refs) }
		// From no columns, and from all, the one that helps most is added or removed.
		refs, c := improve(nil, columns, of)
		if fewer, c2 := improve(slices.Clone(columns), columns, of); c2 < c {
			refs = fewer
		}
		if len(refs) > 0 {
			list = append(list, input{kind: likeSum, key: key, refs: refs, factor: factor})
		}
	}
	return append(list, best(p.multiples(i, key, columns), 1, least)...)
}

// sumCost returns what column i costs by its value in the row like and the change of the sum of columns.
func (p *planner) sumCost(i int, rows []int32, factor int64, refs []int) float64 {
	v := p.values[i]
	return p.differenceCost(i, func(r int) int64 {
		s := max(int(rows[r]), 0)
		sum := int64(0)
		for _, x := range refs {
			sum += p.values[x][r] - p.values[x][s]
		}
		return v[s] + factor*sum
	})
}

// multiples returns what column i costs if it changes some times as much as one of columns.
func (p *planner) multiples(i int, key, columns []int) (list []ranked) {
	rows := p.likes.get(key)
	for _, x := range columns {
		if f := p.factor(i, x, rows); f < -1 || f > 1 {
			refs := []int{x}
			list = append(list, ranked{input{kind: likeSum, key: key, refs: refs, factor: f}, p.sumCost(i, rows, f, refs)})
		}
	}
	return list
}

// factor returns the median of how many times as much as column x column i changes between rows that are alike.
func (p *planner) factor(i, x int, rows []int32) int64 {
	var list []float64
	v, w := p.values[i], p.values[x]
	for r := p.first; r < p.rough && len(list) < 100; r++ {
		if s := max(int(rows[r]), 0); p.has(i, r) && w[r] != w[s] {
			list = append(list, float64(v[r]-v[s])/float64(w[r]-w[s]))
		}
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return toInt(min(max(list[len(list)/2], -maxFactor), maxFactor))
}

// improve adds one of columns to the set refs, or removes it, as long as that lowers the cost.
func improve(refs, columns []int, cost func(refs []int) float64) ([]int, float64) {
	least := cost(refs)
	for {
		var next []int
		for _, x := range columns {
			var try []int
			if at := slices.Index(refs, x); at >= 0 {
				try = slices.Delete(slices.Clone(refs), at, at+1)
			} else {
				try = append(slices.Clone(refs), x)
			}
			if c := cost(try); c < least {
				least, next = c, try
			}
		}
		if next == nil {
			return refs, least
		}
		refs = next
	}
}

// firstKeys returns the sets of two and three of the first three columns that are not constant, as far as they are among before.
// These columns are often what identifies a row.
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

// related returns those of the columns before that the column i may be predicted from: not more than maxRelated, or a quarter of that in
// wide tables: the nearest in the table and the first ones, in this order.
func (p *planner) related(i int, before []int) []int {
	list := slices.DeleteFunc(slices.Clone(before), func(x int) bool { return p.distinct[x] < 2 })
	distance := func(x int) int { return max(x-i, i-x) }
	slices.SortStableFunc(list, func(a, b int) int { return distance(a) - distance(b) })
	most, first := maxRelated, firstRelated
	if len(p.columns) > manyColumns {
		most, first = maxRelated/4, firstRelated/4
	}
	if len(list) > most {
		rest := slices.Clone(list[most-first:])
		slices.Sort(rest)
		list = append(list[:most-first], rest[:first]...)
	}
	return list
}

// ratioCost returns the model likeRatio on column x with what it seems to cost.
func (p *planner) ratioCost(i, x int, key []int) ranked {
	rows := p.likes.get(key)
	v, w, vf, wf := p.values[i], p.values[x], p.shapes[i].Float32, p.shapes[x].Float32
	cost := p.differenceCost(i, func(r int) int64 {
		similar := r - 1
		if rows[r] >= 0 {
			similar = int(rows[r])
		}
		return valueOf(float64(numberOf(valueOr(v, similar), vf)*numberOf(w[r], wf))/numberOf(valueOr(w, similar), wf), vf)
	})
	return ranked{input{kind: likeRatio, key: key, refs: []int{x}}, cost}
}

// quotients returns the quotients of two columns, and about how many bits a row of column i costs by these.
func (p *planner) quotients(i int, before []int) []ranked {
	v := p.values[i]
	var rows []int
	for r := p.first; r < p.rough && len(rows) < 100; r++ {
		if p.has(i, r) && v[r] != 0 {
			rows = append(rows, r)
		}
	}
	if len(rows) < 20 || len(before) > 64 {
		return nil
	}
	var list []ranked
	ratios := make([]float64, 0, len(rows))
	for _, x := range before {
		for _, y := range before {
			if p.distinct[x] < 2 || p.distinct[y] < 2 || x == y {
				continue
			}
			f := func(r int) float64 { return float64(p.values[x][r]) / float64(p.values[y][r]) }
			ratios = ratios[:0]
			for _, r := range rows {
				if q := float64(v[r]) / f(r); q != 0 && !math.IsInf(q, 0) && !math.IsNaN(q) {
					ratios = append(ratios, q)
				}
			}
			if len(ratios) < len(rows)*3/4 {
				continue
			}
			slices.Sort(ratios)
			a := ratios[len(ratios)/2]
			for _, a := range []float64{a, math.Pow10(int(math.Round(math.Log10(math.Abs(a)))))} {
				cost := 0.0
				for _, r := range rows {
					cost += logOf(v[r] - toInt(float64(a*f(r))))
				}
				list = append(list, ranked{input{kind: quotient, refs: []int{x, y}, a: a}, cost / float64(len(rows))})
			}
		}
	}
	return list
}
