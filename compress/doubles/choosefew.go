package doubles

import (
	"math/bits"
)

// Predictors of chunks of few values are chosen by samples that are cheap to compute: what a predictor leaves is a difference of
// differences that others leave, so those of one lag are computed together. Floats differ from that by what is rounded.

const (
	runLength   = 8  // values of a sample that follow each other, so that their costs are a word
	runsBefore  = 3  // values before them that are looked at
	beforeOne   = 5  // the same for predictors of lag 1
	runDistance = 59 // values from one run of a block to the next one at least, not a multiple of lengths that rows often have
	runsOfBlock = 20 // runs of a long block, about
	mostHard    = 16 // runs of those that the first predictor leaves anything of
	fewBits     = 4  // a value: if a block takes no more, the second predictor is chosen by those runs
	bestOfFew   = 2  // what bestPredictors is for chunks of few values
)

// remainders are what the predictors of one lag leave of runLength values.
type remainders[T number] [kinds][runLength]T

// fromOne sets r to what predictors of lag 1 leave of the values of x from at on, which has enough values before them.
func (r *remainders[T]) fromOne(x []T, at int) {
	var d [runLength + beforeOne]T
	copy(d[:], x[at-beforeOne:at+runLength])
	copy(r[zero][:], d[beforeOne:])
	for k := order0; k <= order4; k++ {
		for j := len(d) - 1; j > int(k-order0); j-- {
			d[j] -= d[j-1]
		}
		copy(r[k][:], d[beforeOne:])
	}
}

// fromRow sets r to what predictors of the lag s leave, as far as x has enough values before at. The others are not changed.
func (r *remainders[T]) fromRow(x []T, at, s int) {
	const before = runsBefore
	if at < s+before+1 {
		return
	}
	var g, h [runLength + before]T // what order0 and order1 leave
	y, a := x[at-before:][:len(g)], x[at-s-before:][:len(g)]
	for j := range g {
		g[j] = y[j] - a[j]
	}
	for j := range runLength {
		d1, d2 := g[j+3]-g[j+2], g[j+2]-g[j+1]
		r[order0][j] = g[j+3]
		r[plane0][j] = d1
		r[plane1][j] = d1 - d2
		r[plane2][j] = (d1 - d2) - (d2 - (g[j+1] - g[j]))
		r[ratio][j] = y[j+3] - byRatio(a[j+2], y[j+2], a[j+3])
	}
	if at < 2*s+before {
		return
	}
	b := x[at-2*s-before:][:len(h)]
	for j := range h {
		h[j] = g[j] - (a[j] - b[j])
	}
	for j := range runLength {
		r[order1][j] = h[j+3]
		r[square][j] = (h[j+3] - h[j+2]) - (h[j+2] - h[j+1])
	}
	if at < 3*s {
		return
	}
	c := x[at-3*s:][:runLength]
	for j := range c {
		r[order2][j] = h[j+3] - ((a[j+3] - b[j+3]) - (b[j+3] - c[j]))
	}
	if at < 4*s {
		return
	}
	d := x[at-4*s:][:runLength]
	for j := range d {
		m := (a[j+3] - b[j+3]) - (b[j+3] - c[j])
		r[order3][j] = (h[j+3] - m) - (m - ((b[j+3] - c[j]) - (c[j] - d[j])))
	}
}

// packIntegers returns the bits of remainders, a byte for each.
func packIntegers(r *[runLength]int64) (word uint64) {
	for j, d := range r {
		word |= uint64(bits.Len64(uint64(d<<1^d>>63))) << (8 * j)
	}
	return word
}

// packFloats returns the bits of remainders of the values x, whose integers are o.
func (n *numbering) packFloats(r, x *[runLength]float64, o *[runLength]uint64) (word uint64) {
	if n.width == 4 {
		for j, d := range r {
			word |= uint64(cost(o[j], n.fromFloat(x[j]-d))) << (8 * j)
		}
		return word
	}
	for j, d := range r {
		word |= uint64(cost(o[j], ordered64(x[j]-d))) << (8 * j)
	}
	return word
}

// choosePairOfFew is choosePair for chunks of few values. before is a predictor that the block before was exactly predicted by, or -1.
// It also reports whether the first predictor leaves nothing at all.
func (s *scratch) choosePairOfFew(v *values, list []predictor, before, first, last int) (a, b int, exact bool) {
	if before >= 0 && !s.hardRuns(v, list[before], first, last) {
		return before, before, true
	}
	if last-first < runLength {
		a, b = s.choosePair(v, list, first, last)
		return a, b, false
	}
	s.runs = s.runs[:0]
	for at := first + min(runLength-1, last-first-runLength); at+runLength <= last; at += max((last-first)/runsOfBlock, runDistance) {
		s.runs = append(s.runs, at)
	}
	s.sampleRuns(v, list)
	n := len(s.runs) * runLength
	a, b, cost := s.bestPair(len(list), n, len(s.runs), bestOfFew)
	if cost >= 100*fewBits*n {
		return a, b, false
	}
	if !s.hardRuns(v, list[a], first, last) {
		return a, a, true
	}
	if len(s.runs) > 0 {
		s.sampleRuns(v, list)
		b = s.helper(len(list), a, last-first)
	}
	return a, b, false
}

// helper returns which of so many predictors helps a most where a leaves something of a block of n values, as s.runs have it, or a.
func (s *scratch) helper(predictors, a, n int) int {
	words := len(s.runs)
	costs := s.lengths[a][:words]
	least, _ := lower(costs, costs)
	least, best := 100*least, a
	weight := float64(s.hard) / float64(words)
	for j := range predictors {
		sum, second := lower(costs, s.lengths[j][:words])
		if sum *= 100; sum >= least {
			continue
		}
		sum += int(float64(choiceCost(float64(float64(second)*weight), float64(n))) / weight)
		if sum < least {
			least, best = sum, j
		}
	}
	return best
}

// sampleRuns sets the costs of list to those of s.runs.
func (s *scratch) sampleRuns(v *values, list []predictor) {
	for w, at := range s.runs {
		if v.mode != modeBits {
			sampleTogether(s, list, v.k, at, &s.intLeft, func(r *[runLength]int64) uint64 { return packIntegers(r) }, w)
			continue
		}
		x, o := (*[runLength]float64)(v.x[at:]), (*[runLength]uint64)(v.o[at:])
		sampleTogether(s, list, v.x, at, &s.floatLeft, func(r *[runLength]float64) uint64 { return v.packFloats(r, x, o) }, w)
	}
}

// hardRuns sets s.runs to some of those for which p leaves anything, and reports whether there are any.
func (s *scratch) hardRuns(v *values, p predictor, first, last int) bool {
	predicted := s.first[:last-first]
	v.fill(predicted, s, p, first)
	s.runs = s.runs[:0]
	any := false
	for at := first; at < last; at += runLength {
		n := min(runLength, last-at)
		var differs bool
		if v.mode == modeBits {
			differs = unequal(v.o[at:at+n], predicted[at-first:])
		} else {
			differs = unequal(v.k[at:at+n], predicted[at-first:])
		}
		if differs {
			any = true
			if n == runLength {
				s.runs = append(s.runs, at)
			}
		}
	}
	s.hard = len(s.runs)
	if n := len(s.runs); n > mostHard {
		for i := range mostHard {
			s.runs[i] = s.runs[i*n/mostHard]
		}
		s.runs = s.runs[:mostHard]
	}
	return any
}

// unequal reports whether not all values are as predicted.
func unequal[T int64 | uint64](actual []T, predicted []uint64) bool {
	predicted = predicted[:len(actual)]
	all := uint64(0)
	for i, x := range actual {
		all |= uint64(x) ^ predicted[i]
	}
	return all != 0
}

// sampleTogether sets word w of the costs of list to those of a run of values from at on. pack returns the costs of remainders.
func sampleTogether[T number](s *scratch, list []predictor, x []T, at int, r *remainders[T], pack func(r *[runLength]T) uint64, w int) {
	if at < beforeOne {
		for j := range list {
			s.lengths[j][w] = lowBytes // as good as each other
		}
		return
	}
	lag, zeroWord := 0, uint64(0)
	for j, p := range list {
		if p.lag != lag {
			lag = p.lag
			if lag == 1 {
				r.fromOne(x, at)
				zeroWord = pack(&r[zero])
			} else {
				r.fromRow(x, at, lag)
			}
		}
		word := zeroWord // of a predictor that does not reach so far back
		if lag == 1 || at >= p.reach()+runsBefore+1 {
			word = pack(&r[p.kind])
		}
		s.lengths[j][w] = word
	}
}
