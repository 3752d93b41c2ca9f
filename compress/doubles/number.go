package doubles

import "math"

// mode is how floats become integers.
type mode byte

const (
	modeBits        mode = iota // their bits, in the order of the numbers
	modeDecimals                // multiples of 10^-digits
	modeSignificant             // decimals of so many significant digits
	modes
)

const (
	maxDigits   = 15
	maxDecimals = 22 // powers of ten that a float64 is exactly
)

var tens [maxDecimals + 1]float64

func init() {
	tens[0] = 1
	for i := range tens[1:] {
		tens[i+1] = tens[i] * 10
	}
}

// numbering converts floats to integers and back.
type numbering struct {
	mode   mode
	digits int
	width  int
	base   int64 // 10^(digits-1), for modeSignificant
}

func newNumbering(m mode, digits, width int) numbering {
	n := numbering{mode: m, digits: digits, width: width}
	if m == modeSignificant {
		n.base = int64(tens[digits-1])
	}
	return n
}

// ordered returns the bits of a float as an integer in the order of the floats.
func ordered(b uint64) uint64 { return b ^ (uint64(int64(b)>>63) | 1<<63) }

// bitsOf is the inverse of ordered.
func bitsOf(v uint64) uint64 { return v ^ (uint64(^int64(v)>>63) | 1<<63) }

func ordered32(b uint32) uint64 { return uint64(b ^ (uint32(int32(b)>>31) | 1<<31)) }

func bitsOf32(v uint64) uint32 { return uint32(v) ^ (uint32(^int32(v)>>31) | 1<<31) }

// fromFloat returns the integer of a prediction. That of NaN is 0, since the bits of NaNs depend on the platform.
func (n *numbering) fromFloat(f float64) uint64 {
	if f != f {
		return 0
	}
	if n.width == 4 {
		return ordered32(math.Float32bits(float32(f)))
	}
	return ordered(math.Float64bits(f))
}

// decimal returns the integer of a float in a decimal mode, and false if the float is no such decimal.
func (n *numbering) decimal(f float64) (int64, bool) {
	if n.mode == modeDecimals {
		k := math.RoundToEven(f * tens[n.digits])
		if !(k < 1<<53 && k > -1<<53) {
			return 0, false
		}
		v := int64(k)
		return v, math.Float64bits(n.float(v)) == math.Float64bits(f)
	}
	a := math.Abs(f)
	if a == 0 {
		return 0, !math.Signbit(f)
	}
	if !(a < 1e15 && a >= 1e-10) {
		return 0, false
	}
	// places are the decimals that leave n.digits digits.
	places := n.digits - 1
	for x := a; x < 1 && places < maxDecimals; places++ {
		x *= 10
	}
	for x := a; x >= 10 && places > 0; places-- {
		x /= 10
	}
	m := int64(math.RoundToEven(a * tens[places]))
	if m < n.base || m >= 10*n.base {
		return 0, false
	}
	v := int64(maxDecimals-places)*9*n.base + (m - n.base) + 1
	if f < 0 {
		v = -v
	}
	return v, math.Float64bits(n.float(v)) == math.Float64bits(f)
}

// float is the inverse of decimal.
func (n *numbering) float(v int64) float64 {
	if n.mode == modeDecimals {
		return n.round(float64(v) / tens[n.digits])
	}
	if v == 0 {
		return 0
	}
	u := v
	if u < 0 {
		u = -u
	}
	u--
	q := u / (9 * n.base)
	places := maxDecimals - min(q, maxDecimals)
	f := n.round(float64(u-q*9*n.base+n.base) / tens[max(places, 0)])
	if v < 0 {
		return -f
	}
	return f
}

// round rounds to the width of the array's floats.
func (n *numbering) round(f float64) float64 {
	if n.width == 4 {
		return float64(float32(f))
	}
	return f
}

// chooseNumbering finds the mode for values by a sample of them.
func chooseNumbering(x []float64, width int) numbering {
	const samples = 256
	step := max(len(x)/samples, 1)
	try := func(n numbering, allowed int) bool {
		bad, all := 0, 0
		for i := 0; i < len(x); i += step {
			if _, ok := n.decimal(x[i]); !ok {
				bad++
				if bad > allowed {
					return false
				}
			}
			all++
		}
		return all > 0
	}
	most, significant := 6, 7
	if width == 8 {
		most, significant = 9, 14
	}
	for d := 0; d <= most; d++ {
		if n := newNumbering(modeDecimals, d, width); try(n, 0) {
			return n
		}
	}
	for d := 2; d <= significant; d++ {
		if n := newNumbering(modeSignificant, d, width); try(n, 0) {
			return n
		}
	}
	return newNumbering(modeBits, 0, width)
}
