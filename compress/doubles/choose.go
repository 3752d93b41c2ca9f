package doubles

import (
	"math/bits"
	"slices"

	"orcomgo/compress/numbers"
)

const (
	sampleValues   = 128 // of a block that predictors are compared on
	sampleRun      = 8   // of these, so many follow each other
	lagSamples     = 96  // values of a chunk that lags are compared on, or a few more
	bestPredictors = 3   // those that are tried with every other one
)

// cost returns the bits of the residual of a prediction.
func cost(actual, predicted uint64) int { return bits.Len64(residual(actual, predicted, false)) }

// packCosts sets words to the costs of predictions, eight to a word, the first one in the lowest byte.
func packCosts[T int64 | uint64](words []uint64, actual []T, predicted []uint64) {
	predicted = predicted[:len(actual)]
	for w := range words {
		word, n := uint64(0), min(len(actual)-8*w, 8)
		for i, x := range actual[8*w:][:n] {
			word |= uint64(cost(uint64(x), predicted[8*w+i])) << (8 * i)
		}
		words[w] = word
	}
}

// sample sets the costs of list in s.lengths for some values of a block, and returns of how many values and how many words.
func (s *scratch) sample(v *values, list []predictor, first, last int) (n, words int) {
	step := max((last-first)*sampleRun/sampleValues, sampleRun)
	runs := min((last-first+step-1)/step, sampleValues/sampleRun)
	for j, p := range list {
		n, words = 0, 0
		for at := first; at < first+runs*step; at += step {
			size := min(sampleRun, last-at)
			predicted := s.first[:size]
			v.fill(predicted, s, p, at)
			out := s.lengths[j][words : words+(size+7)/8]
			if v.mode == modeBits {
				packCosts(out, v.o[at:at+size], predicted)
			} else {
				packCosts(out, v.k[at:at+size], predicted)
			}
			n += size
			words += len(out)
		}
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

// choosePair returns the predictors of a block that leave the fewest bits in a sample of it, with the choice between them counted.
func (s *scratch) choosePair(v *values, list []predictor, first, last int) (a, b int) {
	n, words := s.sample(v, list, first, last)
	a, b, _ = s.bestPair(len(list), n, words, bestPredictors)
	return a, b
}

// bestPair returns which two of so many predictors leave the fewest bits in a sample of n values, of pairs of one of the best and any
// other one, and 100 times these bits.
func (s *scratch) bestPair(predictors, n, words, best int) (a, b, least int) {
	var sums [maxPredictors]int
	for i := range predictors {
		sums[i], _ = lower(s.lengths[i][:words], s.lengths[i][:words])
	}
	least = 1 << 62
	count := 0
	for range min(predictors, best) {
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
	return a, b, least
}

// choosePredictors returns those that blocks of a chunk may choose from.
func (w *workspace) choosePredictors(v *values, columns int) []predictor {
	list := w.list[:0]
	add := func(lag int, kinds ...kind) {
		for _, k := range kinds {
			list = append(list, predictor{k, lag})
		}
	}
	add(1, zero, order0, order1, order2, order3, order4)
	quick := len(v.x) < quickValues
	var lags []int
	switch {
	case len(v.x) < fewValues:
		lags = w.quickLags(v, len(v.x)/4)
	case quick:
		lags = w.quickLags(v, commonLag)
	default:
		lags = append(frequentLag(v, order0, 2, shortLag), frequentLag(v, order0, shortLag+1, commonLag)...)
	}
	if columns > 1 && !slices.Contains(lags, columns) {
		lags = append(lags[:min(len(lags), 1)], columns)
	}
	for _, l := range lags {
		add(l, order0, order1, order2, plane0, plane1, square)
		if columns == l {
			add(l, plane2)
		} else {
			add(l, order3)
		}
		if quick && v.mode == modeBits {
			add(l, ratio)
		}
	}
	if !quick && v.mode == modeBits {
		for _, l := range frequentLag(v, ratio, 2, commonLag) {
			add(l, ratio)
		}
	}
	w.list = list
	return list[:min(len(list), maxPredictors)]
}

const (
	shortLag  = 48
	commonLag = 512 // the longest lag that is looked for in arrays that are not small
	// In chunks of fewer values, lags are looked for quickly.
	quickValues = 1 << 17
)

// frequentLag returns the lag from least to most at which a predictor, order0 or ratio, leaves the fewest bits in a sample.
func frequentLag(v *values, k kind, least, most int) []int {
	most = min(most, len(v.x)/4)
	step := max((len(v.x)-most-2)/lagSamples, 1)
	var at [2 * lagSamples]int
	n := 0
	for i := most + 2; i < len(v.x) && n < len(at); i += step {
		at[n] = i
		n++
	}
	best, lags := 1<<62, []int(nil)
	for lag := least; lag <= most; lag++ {
		sum := 0
		switch {
		case v.mode != modeBits:
			sum = lagCost(v.k, at[:n], lag, best)
		case k == order0:
			sum = lagCost(v.o, at[:n], lag, best)
		default:
			for _, i := range at[:n] {
				if sum += cost(v.o[i], v.fromFloat(byRatio(v.x[i-lag-1], v.x[i-1], v.x[i-lag]))); sum >= best {
					break
				}
			}
		}
		if sum < best {
			best, lags = sum, []int{lag}
		}
	}
	return lags
}

// lagCost returns the bits that some values leave, each predicted as the one that is lag before, or a number from most on if they are no
// fewer than that.
func lagCost[T int64 | uint64](list []T, at []int, lag, most int) (sum int) {
	for len(at) > 0 && sum < most {
		n := min(len(at), 8)
		for _, i := range at[:n] {
			sum += cost(uint64(list[i]), uint64(list[i-lag]))
		}
		at = at[n:]
	}
	return sum
}
