package doubles

import "math"

// manyAhead is how many values must be predictable at once for predictMany to be faster than predict.
const manyAhead = 12

// How a prediction is found while values are restored, besides the kinds of predictors.
const (
	listed  = kinds + iota // it was computed before, with those of a run of values
	asOther                // it is that of the other predictor of the block
)

// forecasts are the predictions of the two predictors of a block in runs of values. near is the one that looks at closer values.
type forecasts[T number] struct {
	near, far         predictor
	nearHow, farHow   kind
	nearList, farList []T
	flip              byte // secondPredictor if far is the first one of the pair
}

// newForecasts returns those of a pair, and how many values a run has.
func newForecasts[T number](pair [2]predictor, memory *[2][runValues]T) (f forecasts[T], run int) {
	f = forecasts[T]{near: pair[0], far: pair[1], nearList: memory[0][:], farList: memory[1][:]}
	if f.near.ahead() > f.far.ahead() {
		f.near, f.far, f.flip = f.far, f.near, secondPredictor
	}
	f.nearHow, f.farHow, run = f.near.kind, f.far.kind, runValues
	if f.near.ahead() >= manyAhead {
		f.nearHow, run = listed, min(run, f.near.ahead())
	}
	if f.far.ahead() >= manyAhead {
		f.farHow, run = listed, min(run, f.far.ahead())
	}
	if f.near == f.far {
		f.farHow = asOther
	}
	return f, run
}

// start computes the predictions that are listed for n values from value first of x on.
func (f *forecasts[T]) start(x []T, first, n int) {
	if f.nearHow == listed {
		predictMany(f.nearList[:n], x, f.near, first)
	}
	if f.farHow == listed {
		predictMany(f.farList[:n], x, f.far, first)
	}
}

// restore replaces the residuals of a block in v.u, from value first on, by the values.
func (s *scratch) restore(v *values, b *block, classes []byte, first int) {
	n := 0
	for reach := max(b.pair[0].reach(), b.pair[1].reach()); n < len(classes) && first+n < reach; n++ {
		i := first + n
		v.u[i] = restored(v.u[i], v.predict(b.pair[classes[n]>>7], i), b.xor)
		if v.mode == modeBits {
			v.x[i] = v.floatOf(v.u[i])
		}
	}
	if v.mode == modeBits {
		restoreRuns(v.x, v, b, classes[n:], first+n, &s.floats)
	} else {
		restoreRuns(v.u, v, b, classes[n:], first+n, &s.ints)
	}
}

// restoreRuns is restore for values that have enough before them. x are the values that predictions are made of: v.x or v.u. Of a ratio,
// the last value is kept in a register, since each value waits for the one before.
func restoreRuns[T number](x []T, v *values, b *block, classes []byte, first int, memory *[2][runValues]T) {
	p, run := newForecasts(b.pair, memory)
	floats, wide, xor, lag, last := v.mode == modeBits, v.width == 8, b.xor, p.near.lag, T(0)
	if first > 0 {
		last = x[first-1]
	}
	for len(classes) > 0 {
		n := min(len(classes), run)
		p.start(x, first, n)
		z, nearList, farList, out := v.u[first:][:n], p.nearList[:n], p.farList[:n], x[first:][:n]
		for j, class := range classes[:n] {
			var f, g T
			i := first + j
			switch p.nearHow {
			case listed:
				f = nearList[j]
			case ratio:
				f = byRatio(x[i-lag-1], last, x[i-lag])
			default:
				f = predict(x, p.near, i)
			}
			switch p.farHow {
			case listed:
				g = farList[j]
			case asOther:
				g = f
			default:
				g = predict(x, p.far, i)
			}
			// Which one is taken is hard to predict, so it is not branched on.
			far := -uint64((class ^ p.flip) >> 7)
			if !floats {
				z[j] = restored(z[j], uint64(f)&^far|uint64(g)&far, xor)
				last = T(z[j])
				continue // x is v.u
			}
			h := math.Float64frombits(math.Float64bits(float64(f))&^far | math.Float64bits(float64(g))&far)
			if wide {
				z[j] = restored(z[j], ordered64(h), xor)
				last = T(math.Float64frombits(bitsOf(z[j])))
			} else {
				z[j] = restored(z[j], v.fromFloat(h), xor)
				last = T(math.Float32frombits(bitsOf32(z[j])))
			}
			out[j] = last
		}
		first, classes = first+n, classes[n:]
	}
}
