package doubles

import (
	"math/bits"
	"slices"

	"orcomgo/compress/numbers"
)

const (
	sampleValues   = 128 // of a block that predictors are compared on
	sampleWords    = sampleValues / runLength
	bestPredictors = 3 // those that are tried with every other one
)

// cost returns the bits of the residual of a prediction.
func cost(actual, predicted uint64) int { return bits.Len64(residual(actual, predicted, false)) }

// sample sets the costs of list in s.lengths for some values of a block, eight to a word. It returns the number of these values and of
// the words.
func (s *scratch) sample(v *values, list []predictor, first, last int) (n, words int) {
	step := max((last-first)*runLength/sampleValues, runLength) | 1 // odd, since rows often have an even length
	for at := first; at < last && words < sampleWords; at += step {
		size := min(runLength, last-at)
		actual, predicted := v.u[at:at+size], s.first[:size]
		for j, p := range list {
			v.fill(predicted, s, p, at)
			word := uint64(0)
			for i, x := range actual {
				word |= uint64(cost(x, predicted[i])) << (8 * i)
			}
			s.lengths[j][words] = word
		}
		n += size
		words++
	}
	return n, words
}

const (
	lowBytes  = 0x0101010101010101
	highBits  = lowBytes << 7
	evenBytes = 0x00ff00ff00ff00ff
)

// sumLanes returns the sum of the four lanes of 16 bits.
func sumLanes(x uint64) int {
	return int(x&0xffff + x>>16&0xffff + x>>32&0xffff + x>>48)
}

// lower compares the costs of two predictors: it returns the sum of the lower one of each two, and how many of y are lower than x.
func lower(x, y []uint64) (sum, count int) {
	sums, counts := uint64(0), uint64(0) // lanes of 16 bits, bytes: both suffice for sampleWords
	y = y[:len(x)]
	for i, a := range x {
		b := y[i]
		// A byte is 1 where b is lower. Costs are less than 128, so that bytes don't borrow from each other.
		isLower := (a | highBits - b - lowBytes) >> 7 & lowBytes
		least := a ^ (a^b)&(isLower<<8-isLower)
		sums += least&evenBytes + least>>8&evenBytes
		counts += isLower
	}
	return sumLanes(sums), sumLanes(counts&evenBytes + counts>>8&evenBytes)
}

// choiceCost returns 100 times the bits that it takes to say which of n values have the second of two predictions, if so many have it.
func choiceCost(second, n float64) int {
	if second <= 0 || second >= n {
		return 0
	}
	f := second / n
	h := -float64(f*numbers.Log2(f)) - float64((1-f)*numbers.Log2(1-f))
	return int(float64(h * float64(100*n)))
}

// choosePair returns the predictors of a block that leave the fewest bits in a sample of it, with the choice between them counted: of pairs
// of one of the best and any other one.
func (s *scratch) choosePair(v *values, list []predictor, first, last int) (a, b int) {
	n, words := s.sample(v, list, first, last)
	predictors := len(list)
	var sums [maxPredictors]int
	for i := range predictors {
		sums[i], _ = lower(s.lengths[i][:words], s.lengths[i][:words])
	}
	least, count := 1<<62, 0
	for range min(predictors, bestPredictors) {
		i := 0
		for j := range predictors {
			if sums[j] < sums[i] {
				i = j
			}
		}
		sums[i] = 1 << 62
		for j := range predictors {
			sum, second := lower(s.lengths[i][:words], s.lengths[j][:words])
			if sum *= 100; sum >= least {
				continue
			}
			if sum += choiceCost(float64(second), float64(n)); sum < least {
				least, a, b, count = sum, i, j, second
			}
		}
	}
	if count == 0 {
		b = a // a pair whose second predictor is never better is a single one
	}
	return a, b
}

// choosePredictors returns those that blocks of a chunk may choose from.
func (w *workspace) choosePredictors(v *values, columns int) []predictor {
	list := w.list[:0]
	add := func(lag int, kinds ...kind) {
		for _, k := range kinds {
			list = append(list, predictor{k, lag})
		}
	}
	add(1, zero, order0, order1, order2, order4)
	most := len(v.u) / 4
	if len(v.u) > 4*mostLags {
		most = commonLag
	}
	lags := w.frequentLags(v, most)
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

const commonLag = 512 // the longest lag that is looked for in chunks of more than 4*mostLags values
