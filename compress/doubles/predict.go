package doubles

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

// ahead returns how many values can be predicted before the first of them is known.
func (p predictor) ahead() int {
	switch p.kind {
	case zero:
		return chunkValues
	case order0, order1, order2, order3, order4:
		return p.lag
	}
	return 1
}

// number is what values are predicted in: floats, or the integers of decimals.
type number interface{ float64 | int64 }

// predict returns the prediction of value i by those before it. Products are rounded by themselves on every platform.
func predict[T number](x []T, p predictor, i int) T {
	if p.kind == zero {
		return 0
	}
	return predictAfter(x, p, i, x[i-1])
}

// predictAfter is predict for a predictor that is not zero, given the value before i.
func predictAfter[T number](x []T, p predictor, i int, last T) T {
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
		return x[i-s] + (last - x[i-s-1])
	case plane1:
		return x[i-s] + (T(2*(last-x[i-s-1])) - (x[i-2] - x[i-s-2]))
	case plane2:
		return x[i-s] + (T(3*((last-x[i-s-1])-(x[i-2]-x[i-s-2]))) + (x[i-3] - x[i-s-3]))
	case square:
		return T(2*(last+x[i-s])) - T(4*x[i-s-1]) - x[i-2] - x[i-2*s] + T(2*(x[i-s-2]+x[i-2*s-1])) - x[i-2*s-2]
	case ratio:
		return byRatio(x[i-s-1], last, x[i-s])
	}
	return 0
}

// byRatio returns the number that is to above as last is to aboveLast, or above if the latter is 0.
func byRatio[T number](aboveLast, last, above T) T {
	if aboveLast != 0 {
		return T(last*above) / aboveLast
	}
	return above
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
