package doubles

import (
	"encoding/binary"
	"math"

	"orcomgo/compress/numbers"
)

// mode is how floats become integers.
type mode byte

const (
	modeBits        mode = iota // their bits, in the order of the numbers
	modeDecimals                // multiples of 10^-digits
	modeSignificant             // decimals of so many significant digits
	modeIntegers                // of arrays of integers: these
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
	unused int   // bits of residuals of integers
	base   int64 // 10^(digits-1), for modeSignificant
}

func newNumbering(m mode, digits, width int) numbering {
	n := numbering{mode: m, digits: digits, width: width, base: int64(tens[max(digits-1, 0)])}
	if m == modeIntegers {
		n.unused = 64 - 8*width
	}
	return n
}

// ordered returns the bits of a float as an integer in the order of the floats.
func ordered(b uint64) uint64 { return b ^ (uint64(int64(b)>>63) | 1<<63) }

// bitsOf is the inverse of ordered.
func bitsOf(v uint64) uint64 { return v ^ (uint64(^int64(v)>>63) | 1<<63) }

// fromFloat returns the integer of a prediction. That of NaN is 0, since the bits of NaNs depend on the platform.
func (n *numbering) fromFloat(f float64) uint64 {
	if n.width == 4 {
		if f != f {
			return 0
		}
		return uint64(numbers.OrderedFloat32(math.Float32bits(float32(f))))
	}
	return ordered64(f)
}

// ordered64 is fromFloat for float64.
func ordered64(f float64) uint64 {
	b := math.Float64bits(f)
	if b<<1 > 0x7ff<<53 {
		return 0
	}
	return ordered(b)
}

// decimal returns the integer of a float in a decimal mode, and false if the float is no such decimal.
func (n *numbering) decimal(f float64) (int64, bool) {
	if n.mode == modeDecimals {
		scale := tens[n.digits]
		k := math.RoundToEven(f * scale)
		v := int64(k)
		return v, k < 1<<53 && k > -1<<53 && math.Float64bits(n.round(float64(v)/scale)) == math.Float64bits(f)
	}
	a := math.Abs(f)
	if !(a < 1e15 && a >= 1e-10) {
		return 0, math.Float64bits(f) == 0
	}
	// With so many decimals a has n.digits digits, or one more: log10(2) is about 1233/4096.
	exponent := int(math.Float64bits(a)>>52) - 1023
	places := min(max(n.digits-1-exponent*1233>>12, 0), maxDecimals)
	m := int64(math.RoundToEven(a * tens[places]))
	if m >= 10*n.base && places > 0 {
		places--
		m = int64(math.RoundToEven(a * tens[places]))
	}
	v := int64(maxDecimals-places)*9*n.base + (m - n.base) + 1
	sign := int64(math.Float64bits(f)) >> 63
	return v ^ sign - sign, m >= n.base && m < 10*n.base && n.round(float64(m)/tens[places]) == a
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
	step := 9 * n.base
	q := int64(float64(u) / float64(step)) // it may be one too large
	r := u - q*step
	if r < 0 || r >= step {
		q, r = u/step, u%step
	}
	places := maxDecimals - min(q, maxDecimals)
	f := n.round(float64(r+n.base) / tens[max(places, 0)])
	if v < 0 {
		return -f
	}
	return f
}

// put writes the elements of integers to data.
func (n *numbering) put(data []byte, list []uint64) {
	for i, v := range list {
		switch {
		case n.mode == modeIntegers:
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], v)
			copy(data[n.width*i:], word[:n.width])
		case n.mode != modeBits && n.width == 4:
			binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(n.float(int64(v)))))
		case n.mode != modeBits:
			binary.LittleEndian.PutUint64(data[8*i:], math.Float64bits(n.float(int64(v))))
		case n.width == 4:
			binary.LittleEndian.PutUint32(data[4*i:], numbers.Float32Bits(int64(v)))
		default:
			binary.LittleEndian.PutUint64(data[8*i:], bitsOf(v))
		}
	}
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
	try := func(n numbering) bool {
		bad, all := 0, 0
		for i := 0; i < len(x); i += step {
			if _, ok := n.decimal(x[i]); !ok {
				bad++
			}
			all++
			if bad > all/64+1 {
				return false
			}
		}
		return all > 0
	}
	most, significant := 6, 7
	if width == 8 {
		most, significant = 9, 14
	}
	for d := 0; d <= most; d++ {
		if n := newNumbering(modeDecimals, d, width); try(n) {
			return n
		}
	}
	for d := 2; d <= significant; d++ {
		if n := newNumbering(modeSignificant, d, width); try(n) {
			return n
		}
	}
	return newNumbering(modeBits, 0, width)
}
