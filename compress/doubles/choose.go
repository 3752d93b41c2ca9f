package doubles

import (
	"math/bits"
	"slices"

	"orcomgo/compress/numbers"
)

const (
	sampleValues = 128 // of a block that predictors are compared on
	runLength    = 8   // values of a sample that follow each other
)

// sample sets w.lengths to the bits of the residuals of some values of a block by each predictor. It returns the number of these values.
func (w *workspace) sample(v *values, list []predictor, b *block) (n int) {
	step := max(b.count*runLength/sampleValues, runLength) | 1 // odd, since rows often have an even length
	var predicted [runLength]uint64
	for at := b.first; at < b.first+b.count && n < sampleValues; at += step {
		actual := v.own()[at:min(at+runLength, b.first+b.count)]
		for j, p := range list {
			v.fill(predicted[:len(actual)], p, at)
			for i, x := range actual {
				w.lengths[j][n+i] = uint8(bits.Len64(residual(x, predicted[i])))
			}
		}
		n += len(actual)
	}
	return n
}

// choiceCost returns about how many bits it takes to say which of n values have the second of two predictions, if so many have it.
func choiceCost(second, n int) float64 {
	if second == 0 || second == n {
		return 0
	}
	f := float64(second) / float64(n)
	return -float64(n) * (float64(f*numbers.Log2(f)) + float64((1-f)*numbers.Log2(1-f)))
}

// choosePair sets the predictors of a block: that which leaves the fewest bits in a sample of it, and the one that leaves the fewest bits
// with that one, with the choice between them counted. It returns about how many bits the block takes.
func (w *workspace) choosePair(v *values, list []predictor, b *block) float64 {
	n := w.sample(v, list, b)
	best, least := 0, 1<<62
	for j := range list {
		sum := 0
		for _, k := range w.lengths[j][:n] {
			sum += int(k)
		}
		if sum < least {
			best, least = j, sum
		}
	}
	second, cost := best, float64(least)
	for j := range list {
		sum, lower := 0, 0
		for i, k := range w.lengths[j][:n] {
			own := w.lengths[best][i]
			sum += int(min(k, own))
			lower += int((k - own) >> 7) // 1 if k is less; both are at most 64
		}
		if c := float64(sum) + choiceCost(lower, n); c < cost {
			second, cost = j, c
		}
	}
	b.pair = [2]predictor{list[best], list[second]}
	return cost * float64(b.count) / float64(n)
}

// choosePredictors returns those that blocks may choose from.
func (w *workspace) choosePredictors(v *values, columns int) []predictor {
	list := w.list[:0]
	add := func(lag int, kinds ...kind) {
		for _, k := range kinds {
			list = append(list, predictor{k, lag})
		}
	}
	add(1, zero, order0, order1, order2, order4)
	lags := w.frequentLags(v)
	if columns > 1 && !slices.Contains(lags, columns) {
		lags = append(lags[:min(len(lags), 1)], columns)
	}
	for _, l := range lags {
		add(l, order0, order1, order2)
		if v.mode == modeBits {
			add(l, ratio)
		}
	}
	w.list = list
	return list
}
