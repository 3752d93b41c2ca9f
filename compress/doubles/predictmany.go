package doubles

// runValues is how many values are predicted at a time, so that what is computed stays in the nearest cache.
const runValues = 1024

// predictMany is predict for the values first, first + 1, ... of x, as many as out has; first is at least the predictor's reach. It
// is faster, since all of these values are known.
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

// fill sets out to the predictions of the values from first on, as integers.
func (v *values) fill(out []uint64, s *scratch, p predictor, first int) {
	n := min(max(p.reach()-first, 0), len(out))
	for i := range out[:n] {
		out[i] = v.predict(p, first+i)
	}
	for n < len(out) {
		part := out[n:min(n+runValues, len(out))]
		if v.mode == modeBits {
			f := s.floats[0][:len(part)]
			predictMany(f, v.x, p, first+n)
			v.fromFloats(part, f)
		} else {
			predictMany(part, v.u, p, first+n)
		}
		n += len(part)
	}
}

// fromFloats is fromFloat for all of f.
func (n *numbering) fromFloats(out []uint64, f []float64) {
	f = f[:len(out)]
	if n.width == 4 {
		for i := range out {
			out[i] = n.fromFloat(f[i])
		}
		return
	}
	for i, x := range f {
		out[i] = ordered64(x)
	}
}
