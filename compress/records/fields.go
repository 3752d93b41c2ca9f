package records

import (
	"encoding/binary"
	"math"
	"math/bits"

	"orcomgo/compress/numbers"
)

// field is a part of a record: the bytes of an unsigned integer, little-endian, or isFloat32.
type field byte

// isFloat32 is a field of four bytes, a float32.
const isFloat32 field = 0

// fieldsTried are the fields that there are.
var fieldsTried = []field{1, 2, isFloat32, 4}

// width returns the bytes of a field.
func (f field) width() int {
	if f == isFloat32 {
		return 4
	}
	return int(f)
}

// value returns the integer of the field that b begins with, whose order is that of the numbers.
func (f field) value(b []byte) int64 {
	switch f {
	case 1:
		return int64(b[0])
	case 2:
		return int64(binary.LittleEndian.Uint16(b))
	case 4:
		return int64(binary.LittleEndian.Uint32(b))
	}
	return numbers.OrderedFloat32(binary.LittleEndian.Uint32(b))
}

// put is the inverse of value; values that no field has give other bytes.
func (f field) put(b []byte, v int64) {
	switch f {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	default:
		binary.LittleEndian.PutUint32(b, numbers.Float32Bits(v))
	}
}

// estimator estimates what the values of a field cost: the mean over rows of -log2 of a mixture of how often the upper bits of the value
// occurred, and how often differences of its magnitude to the value before occurred. The mixture follows what was right.
type estimator struct {
	upper   [1 << upperBits]int32
	classes [66]float64
}

const (
	upperBits = 16   // of a value
	minShare  = 0.01 // of a prediction in the mixture
)

func (e *estimator) cost(f field, data []byte, at, stride, rows int) float64 {
	width := 8 * f.width()
	low := max(width-upperBits, 0)
	total := 0.0
	for i := range e.classes {
		e.classes[i] = 0.05
		total += 0.05
	}
	sum, before := 0.0, int64(0)
	even, evenLow := math.Ldexp(1, -width), math.Ldexp(1, -low)
	shares := [3]float64{0.6, 0.3, 0.1}
	for r := range rows {
		v := f.value(data[r*stride+at:])
		d := v - before
		class := bits.Len64(uint64(d<<1 ^ d>>63)) // zigzag
		within := 1.0
		if class > 1 {
			within = math.Ldexp(1, 1-class)
		}
		upper := &e.upper[v>>low]
		p := [3]float64{
			float64(shares[0] * float64(*upper) / float64(r+1) * evenLow),
			float64(shares[1] * e.classes[class] / total * within), float64(shares[2] * even),
		}
		all := p[0] + p[1] + p[2]
		sum -= numbers.Log2(all)
		for i := range shares {
			shares[i] = minShare + float64((1-3*minShare)*(float64(0.9*shares[i])+float64(0.1*p[i])/all))
		}
		*upper++
		e.classes[class]++
		total++
		before = v
	}
	for r := range rows {
		e.upper[f.value(data[r*stride+at:])>>low] = 0
	}
	return sum / float64(max(rows, 1))
}

const (
	// Fields of four bytes have their cost changed by these, in bits, since what is said by half a field is better a field, but noise is
	// better coded with what is above it.
	wideCost  = 0.5
	wideGain  = 1.5
	noiseBits = 10  // of two bytes
	floatGain = 0.2 // of a float32 that is likely one

	costOfField = 0.02 // bits of a row: what a field costs besides its values
	sampleRows  = 800  // for choosing fields
	sampleBytes = 1 << 18
)

// split splits records of stride bytes into the fields that cost least, by dynamic programming over the place in the record.
func split(data []byte, stride int) (fields []field, cost float64) {
	rows := len(data) / stride
	n := min(rows, max(min(sampleRows, sampleBytes/stride), 64))
	data = data[(rows-n)/2*stride:]
	e := new(estimator)
	best := make([]float64, stride+1)
	chosen := make([]field, stride)
	for at := stride - 1; at >= 0; at-- {
		best[at] = math.Inf(1)
		noise := false // in the two bytes here
		for _, f := range fieldsTried {
			if at+f.width() > stride {
				continue
			}
			c := e.cost(f, data, at, stride, n)
			if f == 2 {
				noise = c > noiseBits
			}
			if f.width() == 4 {
				c += wideCost
				if noise {
					c -= wideGain
				}
			}
			if f == isFloat32 && plausible(data, at, stride, n) {
				c -= floatGain
			}
			if c += costOfField + best[at+f.width()]; c < best[at] {
				best[at], chosen[at] = c, f
			}
		}
	}
	for at := 0; at < stride; at += chosen[at].width() {
		fields = append(fields, chosen[at])
	}
	return fields, best[0]
}

// plausible reports whether most values at a place are neither tiny nor huge if they are float32s, and not all of them zero.
func plausible(data []byte, at, stride, rows int) bool {
	zeros, good := 0, 0
	for r := range rows {
		b := binary.LittleEndian.Uint32(data[r*stride+at:])
		switch e := b >> 23 & 255; {
		case b == 0:
			zeros++
		case e > 127-30 && e < 127+30:
			good++
		}
	}
	return good > 0 && (zeros+good)*20 >= rows*19
}
