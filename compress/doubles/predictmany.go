package doubles

// predictMany is predict for the values first, first + 1, ... of x, as many as out has; first is at least the predictor's reach. It
// is faster, since all of these values are known.
func predictMany[T number](out, x []T, p predictor, first int) {
	s, n := p.lag, len(out)
	// at returns the values that are so far before those to be predicted.
	at := func(distance int) []T { return x[first-distance:][:n] }
	switch p.kind {
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
	case order3:
		a, b, c, d := at(s), at(2*s), at(3*s), at(4*s)
		for i := range out {
			out[i] = T(4*(a[i]+c[i])) - T(6*b[i]) - d[i]
		}
	case plane0:
		a, b, c := at(s), at(1), at(s+1)
		for i := range out {
			out[i] = a[i] + (b[i] - c[i])
		}
	case plane1:
		a, b, c, d, e := at(s), at(1), at(s+1), at(2), at(s+2)
		for i := range out {
			out[i] = a[i] + (T(2*(b[i]-c[i])) - (d[i] - e[i]))
		}
	default:
		for i := range out {
			out[i] = predict(x, p, first+i)
		}
	}
}

// fill sets out to the predictions of the values from first on, as integers; f and k are memory for as many values.
func (v *values) fill(out []uint64, f []float64, k []int64, p predictor, first int) {
	n := 0
	for ; n < len(out) && first+n < p.reach(); n++ {
		out[n] = v.predict(p, first+n)
	}
	if out, first = out[n:], first+n; len(out) == 0 {
		return
	}
	if v.mode != modeBits {
		predictMany(k[:len(out)], v.k, p, first)
		for i, x := range k[:len(out)] {
			out[i] = uint64(x)
		}
		return
	}
	predictMany(f[:len(out)], v.x, p, first)
	for i, x := range f[:len(out)] {
		out[i] = v.fromFloat(x)
	}
}
