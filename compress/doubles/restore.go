package doubles

import (
	"math"

	"orcomgo/compress/numbers"
)

// manyAhead is how many values must be predictable at once for predictMany to be faster than predict.
const manyAhead = 12

// restore replaces the residuals of a block in v.u, from value first on, by the values.
func (v *values) restore(pair [2]predictor, classes []byte, first int) {
	if v.mode == modeBits {
		restoreRuns(v.x, v, pair, classes, v.pad+first)
	} else {
		restoreRuns(v.u, v, pair, classes, v.pad+first)
	}
}

// restoreRuns is restore, from v.u[first] on. x are the values that predictions are made of: v.x or v.u. The predictor that looks at closer
// values is near. What can be predicted for many values at once is.
func restoreRuns[T number](x []T, v *values, pair [2]predictor, classes []byte, first int) {
	near, far, flip := pair[0], pair[1], byte(0)
	if near.ahead() > far.ahead() {
		near, far, flip = far, near, 1
	}
	run, nearMany, farMany := runValues, near.ahead() >= manyAhead, far.ahead() >= manyAhead
	if nearMany {
		run = min(run, near.ahead())
	} else if farMany {
		run = min(run, far.ahead())
	}
	floats, wide, single := v.mode == modeBits, v.width == 8, near == far
	var nears, fars [runValues]T
	for len(classes) > 0 {
		n := min(len(classes), run)
		if nearMany {
			predictMany(nears[:n], x, near, first)
		}
		if farMany {
			predictMany(fars[:n], x, far, first)
		}
		z, out, last := v.u[first:][:n], x[first:][:n], T(0)
		if first > 0 {
			last = x[first-1]
		}
		for j, class := range classes[:n] {
			var f, g T
			i := first + j
			switch {
			case nearMany:
				f = nears[j]
			case near.kind == ratio: // last is in a register, since each value waits for the one before
				f = byRatio(x[i-near.lag-1], last, x[i-near.lag])
			default:
				f = predict(x, near, i)
			}
			switch {
			case farMany:
				g = fars[j]
			case single:
				g = f
			default:
				g = predict(x, far, i)
			}
			// Which one is taken is hard to predict, so it is not branched on.
			isFar := -uint64(class&1 ^ flip)
			if !floats {
				z[j] = restored(z[j], uint64(f)&^isFar|uint64(g)&isFar)
				last = T(z[j])
				continue // x is v.u
			}
			h := math.Float64frombits(math.Float64bits(float64(f))&^isFar | math.Float64bits(float64(g))&isFar)
			if wide {
				z[j] = restored(z[j], ordered64(h))
				last = T(math.Float64frombits(bitsOf(z[j])))
			} else {
				z[j] = restored(z[j], v.fromFloat(h))
				last = T(math.Float32frombits(numbers.Float32Bits(int64(z[j]))))
			}
			out[j] = last
		}
		first, classes = first+n, classes[n:]
	}
}
