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

// ahead returns how many values can be predicted before the first of them is known.
func (p predictor) ahead() int {
	switch p.kind {
	case zero:
		return MaxSize
	case ratio:
		return 1
	}
	return p.lag
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

// predictMany is predict for x[first], x[first+1], ..., as many as out has. It is faster, since all values that it needs are known.
func predictMany[T number](out, x []T, p predictor, first int) {
	s, n := p.lag, len(out)
	// at returns the values that are so far before those to be predicted.
	at := func(distance int) []T { return x[first-distance:][:n] }
	switch p.kind {
	case zero:
		clear(out)
	case order0:
		copy(out, at(s))
	case order1:
		a, b := at(s), at(2*s)
		for i := range out {
			out[i] = T(2*a[i]) - b[i]
		}
	case order2:
		a, b, c := at(s), at(2*s), at(3*s)
		for i := range out {
			out[i] = T(3*(a[i]-b[i])) + c[i]
		}
	case order4:
		a, b, c, d, e := at(s), at(2*s), at(3*s), at(4*s), at(5*s)
		for i := range out {
			out[i] = T(5*(a[i]-d[i])) - T(10*(b[i]-c[i])) + e[i]
		}
	case ratio:
		a, b, c := at(s+1), at(1), at(s)
		for i := range out {
			out[i] = byRatio(a[i], b[i], c[i])
		}
	}
}

// runValues is how many values are predicted at a time, so that what is computed stays in the nearest cache.
const runValues = 1024

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

// fill sets out to the predictions of the values from first on, as integers.
func (v *values) fill(out []uint64, p predictor, first int) {
	if v.mode != modeBits {
		predictMany(out, v.u, p, v.pad+first)
		return
	}
	var floats [runValues]float64
	for len(out) > 0 {
		part := floats[:min(len(out), runValues)]
		predictMany(part, v.x, p, v.pad+first)
		for i, f := range part {
			out[i] = v.fromFloat(f)
		}
		out, first = out[len(part):], first+len(part)
	}
}
