package doubles

// kind is a kind of prediction. s is the lag of the predictor: the distance of the values it looks at, or the length of a row.
type kind byte

// What pays is said as the share that arrays grow by without a kind.
const (
	zero   kind = iota
	order0      // the value s before
	order1      // the line through the two values s and 2s before
	order2      // the parabola through three values: 5 % of solutions of differential equations
	order4      // the polynomial through five values: 1.3 % of smooth fields
	ratio       // the value a row before, times the ratio of the last value to the one a row before it: 100 % of histograms
	kinds
)

// predictor is a kind with its lag.
type predictor struct {
	kind kind
	lag  int
}

const (
	maxLag        = 1 << 16
	maxPredictors = 16 // of an array
)

// reach returns how many values before a value the predictor looks at.
func (p predictor) reach() int {
	if p.kind == ratio {
		return p.lag + 1
	}
	return p.lag * [...]int{zero: 0, order0: 1, order1: 2, order2: 3, order4: 5}[p.kind]
}

// number is what values are predicted in: floats, or the integers of decimals, modulo 2^64.
type number interface{ float64 | uint64 }

// predict returns the prediction of x[i] by those before it. Products are rounded by themselves on every platform.
func predict[T number](x []T, p predictor, i int) T {
	s := p.lag
	switch p.kind {
	case order0:
		return x[i-s]
	case order1:
		return T(2*x[i-s]) - x[i-2*s]
	case order2:
		return T(3*(x[i-s]-x[i-2*s])) + x[i-3*s]
	case order4:
		return T(5*(x[i-s]-x[i-4*s])) - T(10*(x[i-2*s]-x[i-3*s])) + x[i-5*s]
	case ratio:
		return byRatio(x[i-s-1], x[i-1], x[i-s])
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

// values are those of an array: as the integers that are coded and, in modeBits, as floats, which are predicted then. pad zeros are before
// the first value of both, as many as predictors look back.
type values struct {
	numbering
	pad int
	x   []float64
	u   []uint64
}

// own returns the integers without the zeros before them.
func (v *values) own() []uint64 { return v.u[v.pad:] }

// prediction returns that of value i, as an integer.
func (v *values) prediction(p predictor, i int) uint64 {
	if v.mode != modeBits {
		return predict(v.u, p, v.pad+i)
	}
	return v.fromFloat(predict(v.x, p, v.pad+i))
}
