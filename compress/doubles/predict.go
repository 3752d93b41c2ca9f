package doubles

import (
	"math/bits"
	"slices"
)

// kind is a kind of prediction. s is the lag of the predictor: the distance of the values it looks at, or the length of a row.
type kind byte

const (
	zero   kind = iota
	order0      // the value s before
	order1      // the line through the two values s and 2s before
	order2      // polynomials through three, four, five values
	order3      //
	order4      //
	plane0      // the value a row before, plus the difference to the row before of the last value
	plane1      // that of the line through the last two such differences
	plane2      // that of the parabola through the last three
	square      // second differences along the row and across rows are zero
	ratio       // the value a row before, times the ratio of the last value to the one a row before it
	kinds
)

// predictor is a kind with its lag.
type predictor struct {
	kind kind
	lag  int
}

const (
	maxLag        = 1 << 16
	maxPredictors = 24 // of a chunk
)

// reach returns how many values before a value the predictor looks at.
func (p predictor) reach() int {
	s := p.lag
	switch p.kind {
	case zero:
		return 0
	case plane0, ratio:
		return s + 1
	case plane1:
		return s + 2
	case plane2:
		return s + 3
	case square:
		return 2*s + 2
	}
	return s * int(p.kind-order0+1)
}

// number is what values are predicted in: floats, or the integers of decimals.
type number interface{ float64 | int64 }

// predict returns the prediction of value i by those before it. Products are rounded by themselves on every platform.
func predict[T number](x []T, p predictor, i int) T {
	s := p.lag
	switch p.kind {
	case order0:
		return x[i-s]
	case order1:
		return T(2*x[i-s]) - x[i-2*s]
	case order2:
		return T(3*(x[i-s]-x[i-2*s])) + x[i-3*s]
	case order3:
		return T(4*(x[i-s]+x[i-3*s])) - T(6*x[i-2*s]) - x[i-4*s]
	case order4:
		return T(5*(x[i-s]-x[i-4*s])) - T(10*(x[i-2*s]-x[i-3*s])) + x[i-5*s]
	case plane0:
		return x[i-s] + (x[i-1] - x[i-s-1])
	case plane1:
		return x[i-s] + (T(2*(x[i-1]-x[i-s-1])) - (x[i-2] - x[i-s-2]))
	case plane2:
		return x[i-s] + (T(3*((x[i-1]-x[i-s-1])-(x[i-2]-x[i-s-2]))) + (x[i-3] - x[i-s-3]))
	case square:
		return T(2*(x[i-1]+x[i-s])) - T(4*x[i-s-1]) - x[i-2] - x[i-2*s] + T(2*(x[i-s-2]+x[i-2*s-1])) - x[i-2*s-2]
	case ratio:
		if y := x[i-s-1]; y != 0 {
			return T(x[i-1]*x[i-s]) / y
		}
		return x[i-s]
	}
	return 0
}

// values are those of a chunk: as floats and, in a decimal mode, as integers.
type values struct {
	numbering
	x []float64
	k []int64
	o []uint64 // the integers of the encoder, in modeBits
}

// predict returns the prediction of value i as an integer. Where there are too few values before it, it is that of 0.
func (v *values) predict(p predictor, i int) uint64 {
	if i < p.reach() {
		p.kind = zero
	}
	if v.mode == modeBits {
		return v.fromFloat(predict(v.x, p, i))
	}
	return uint64(predict(v.k, p, i))
}

// actual returns the integer of value i.
func (v *values) actual(i int) uint64 {
	if v.mode == modeBits {
		return v.o[i]
	}
	return uint64(v.k[i])
}

// cost returns the bits of the residual of a prediction.
func cost(actual, predicted uint64) int {
	d := int64(actual - predicted)
	return bits.Len64(uint64(d<<1 ^ d>>63))
}

// choosePredictors returns those that blocks of a chunk may choose from.
func choosePredictors(v *values, columns int) []predictor {
	var list []predictor
	add := func(lag int, kinds ...kind) {
		for _, k := range kinds {
			list = append(list, predictor{k, lag})
		}
	}
	add(1, zero, order0, order1, order2, order3, order4)
	most := commonLag
	if len(v.x) < fewValues {
		most = len(v.x) / 4
	}
	lags := append(frequentLag(v, order0, 2, shortLag), frequentLag(v, order0, shortLag+1, most)...)
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
	}
	if v.mode == modeBits {
		for _, l := range frequentLag(v, ratio, 2, most) {
			add(l, ratio)
		}
	}
	return list[:min(len(list), maxPredictors)]
}

const (
	shortLag  = 48
	commonLag = 512 // the longest lag that is looked for in arrays that are not small
)

// frequentLag returns the lag from least to most at which a predictor leaves the fewest bits in a sample.
func frequentLag(v *values, k kind, least, most int) []int {
	const samples = 96
	most = min(most, len(v.x)/4)
	step := max((len(v.x)-most-2)/samples, 1)
	best, lags := 1<<62, []int(nil)
	for lag := least; lag <= most; lag++ {
		sum := 0
		for i := most + 2; i < len(v.x) && sum < best; i += step {
			sum += cost(v.actual(i), v.predict(predictor{kind: k, lag: lag}, i))
		}
		if sum < best {
			best, lags = sum, []int{lag}
		}
	}
	return lags
}
