package doubles

import (
	"encoding/binary"
	"math"
)

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

// decode decodes the values of a block, from value first on, to data and to v. z are the residuals.
func (s *scratch) decode(v *values, data []byte, b *block, classes []byte, z []uint64, first int) {
	n := 0
	for reach := max(b.pair[0].reach(), b.pair[1].reach()); n < len(classes) && first+n < reach; n++ {
		u := restore(z[n], v.predict(b.pair[classes[n]>>7], first+n), b.xor)
		if v.mode == modeBits {
			v.x[first+n] = v.putBits(data[n*v.width:], u)
		} else {
			v.k[first+n] = int64(u)
		}
	}
	if v.mode == modeBits {
		s.restoreFloats(v, data[n*v.width:], b, classes[n:], z[n:], first+n)
		return
	}
	s.restoreIntegers(v.k, b, classes[n:], z[n:], first+n)
	v.putDecimals(data, v.k[first:first+len(classes)])
}

// putBits writes the bits of an integer in the order of floats to data, and returns the float.
func (n *numbering) putBits(data []byte, u uint64) float64 {
	if n.width == 8 {
		c := bitsOf(u)
		binary.LittleEndian.PutUint64(data, c)
		return math.Float64frombits(c)
	}
	c := bitsOf32(u)
	binary.LittleEndian.PutUint32(data, c)
	return float64(math.Float32frombits(c))
}

// restoreFloats restores the values from first on, in modeBits. What its loop does is written out for frequent predictors, and the last
// value is kept in a register, since each value waits for the one before.
func (s *scratch) restoreFloats(v *values, data []byte, b *block, classes []byte, z []uint64, first int) {
	p, run := newForecasts(b.pair, &s.floats)
	x, last, lag, wide, width := v.x, 0.0, p.near.lag, v.width == 8, v.width
	if first > 0 {
		last = x[first-1]
	}
	for len(classes) > 0 {
		n := min(len(classes), run)
		p.start(x, first, n)
		zs, nearList, farList, out := z[:n], p.nearList[:n], p.farList[:n], x[first:][:n]
		for j, class := range classes[:n] {
			var f, g float64
			i := first + j
			switch p.nearHow {
			case listed:
				f = nearList[j]
			case ratio:
				f = byRatio(x[i-lag-1], last, x[i-lag])
			case plane0:
				f = x[i-lag] + (last - x[i-lag-1])
			default:
				f = predictAfter(x, p.near, i, last)
			}
			switch p.farHow {
			case listed:
				g = farList[j]
			case asOther:
				g = f
			default:
				g = predictAfter(x, p.far, i, last)
			}
			far := -uint64((class ^ p.flip) >> 7)
			f = math.Float64frombits(math.Float64bits(f)&^far | math.Float64bits(g)&far)
			if wide {
				c := bitsOf(restore(zs[j], ordered64(f), b.xor))
				binary.LittleEndian.PutUint64(data[8*j:], c)
				last = math.Float64frombits(c)
			} else {
				c := bitsOf32(restore(zs[j], v.fromFloat(f), b.xor))
				binary.LittleEndian.PutUint32(data[4*j:], c)
				last = float64(math.Float32frombits(c))
			}
			out[j] = last
		}
		first, classes, z, data = first+n, classes[n:], z[n:], data[n*width:]
	}
}

// restoreIntegers restores the values from first on of k, the integers of decimals.
func (s *scratch) restoreIntegers(k []int64, b *block, classes []byte, z []uint64, first int) {
	p, run := newForecasts(b.pair, &s.ints)
	last, lag := int64(0), p.near.lag
	if first > 0 {
		last = k[first-1]
	}
	for len(classes) > 0 {
		n := min(len(classes), run)
		p.start(k, first, n)
		zs, nearList, farList, out := z[:n], p.nearList[:n], p.farList[:n], k[first:][:n]
		for j, class := range classes[:n] {
			var f, g int64
			i := first + j
			switch p.nearHow {
			case listed:
				f = nearList[j]
			case order1:
				f = 2*k[i-lag] - k[i-2*lag]
			case plane0:
				f = k[i-lag] + last - k[i-lag-1]
			default:
				f = predictAfter(k, p.near, i, last)
			}
			switch p.farHow {
			case listed:
				g = farList[j]
			case asOther:
				g = f
			default:
				g = predictAfter(k, p.far, i, last)
			}
			far := -int64((class ^ p.flip) >> 7)
			last = int64(restore(zs[j], uint64(f&^far|g&far), b.xor))
			out[j] = last
		}
		first, classes, z = first+n, classes[n:], z[n:]
	}
}
