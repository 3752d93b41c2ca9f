package doubles

import (
	"math/bits"

	"orcomgo/compress/numbers"
)

const (
	sampleValues = 128 // of a block that predictors are compared on
	runLength    = 8   // values of a sample that follow each other
)

// lengths are the bits of the residuals of some values of a block by each predictor.
type lengths [maxPredictors][sampleValues]uint8

// sample sets the lengths of a block and returns how many values these are of.
func (v *values) sample(list []predictor, b *block, l *lengths) (n int) {
	step := max(b.count*runLength/sampleValues, runLength) | 1 // odd, since rows often have an even length
	for at := b.first; at < b.first+b.count && n < sampleValues; at += step {
		actual := v.own()[at:min(at+runLength, b.first+b.count)]
		for j, p := range list {
			for i, x := range actual {
				l[j][n+i] = uint8(bits.Len64(v.residual(x, v.prediction(p, at+i))))
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
func (v *values) choosePair(list []predictor, b *block) float64 {
	var l lengths
	n := v.sample(list, b, &l)
	best, least := 0, 1<<62
	for j := range list {
		sum := 0
		for _, k := range l[j][:n] {
			sum += int(k)
		}
		if sum < least {
			best, least = j, sum
		}
	}
	second, cost := best, float64(least)
	for j := range list {
		sum, lower := 0, 0
		for i, k := range l[j][:n] {
			own := l[best][i]
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
func (v *values) choosePredictors() (list []predictor) {
	add := func(lag int, kinds ...kind) {
		for _, k := range kinds {
			list = append(list, predictor{k, lag})
		}
	}
	add(1, zero, order0, order1, order2, order4)
	for _, lag := range v.frequentLags() {
		add(lag, order0, order1, order2)
		if v.mode == modeBits {
			add(lag, ratio)
		}
	}
	return list
}
