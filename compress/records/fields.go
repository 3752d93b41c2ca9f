package records

import (
	"encoding/binary"
	"math"
	"math/bits"

	"orcomgo/compress/numbers"
)

// A field of a record is of one of these types. Its value is an integer whose order is that of the numbers.
type fieldType byte

const (
	unsigned    fieldType = iota // little-endian
	bigUnsigned                  // big-endian
	float32s                     // little-endian IEEE 754, 4 bytes: values in the order of the numbers
	fieldTypes
)

// field is a part of a record.
type field struct {
	typ   fieldType
	width int // bytes, 1 to 4
}

// fieldsTried are the fields that are tried.
var fieldsTried = []field{
	{unsigned, 1}, {unsigned, 2}, {bigUnsigned, 2}, {float32s, 4}, {unsigned, 4}, {bigUnsigned, 4},
}

// valid reports whether a field read from a stream is one.
func (f field) valid() bool {
	return f.typ < fieldTypes && f.width >= 1 && f.width <= 4 && (f.typ != float32s || f.width == 4)
}

// value returns the value of the field that b begins with.
func (f field) value(b []byte) int64 {
	var v uint64
	if f.typ == bigUnsigned {
		for _, x := range b[:f.width] {
			v = v<<8 | uint64(x)
		}
		return int64(v)
	}
	for i, x := range b[:f.width] {
		v |= uint64(x) << (8 * i)
	}
	if f.typ == float32s {
		return numbers.OrderedFloat32(uint32(v))
	}
	return int64(v)
}

// put is the inverse of value; values that no field has give other bytes.
func (f field) put(b []byte, v int64) {
	if f.typ == bigUnsigned {
		for i := f.width - 1; i >= 0; i-- {
			b[i] = byte(v)
			v >>= 8
		}
		return
	}
	if f.typ == float32s {
		v = int64(numbers.Float32Bits(v))
	}
	for i := range b[:f.width] {
		b[i] = byte(v)
		v >>= 8
	}
}

// estimator estimates what the values of a field cost: the mean over rows of -log2 of a mixture of how often the value occurred, how
// often its upper bits occurred, and how often differences of its magnitude to the value before occurred. The mixture follows what
// was right.
type estimator struct {
	counts, upper numbers.Counts
	classes       [66]float64
}

const (
	upperBits = 16   // of a value
	minShare  = 0.01 // of a prediction in the mixture
)

func (e *estimator) cost(f field, data []byte, at, stride, rows int) float64 {
	e.counts.Reset(rows)
	e.upper.Reset(rows)
	total := 0.0
	for i := range e.classes {
		e.classes[i] = 0.05
		total += 0.05
	}
	low := max(8*f.width-upperBits, 0)
	sum, before := 0.0, int64(0)
	even, evenLow := math.Ldexp(1, -8*f.width), math.Ldexp(1, -low)
	shares := [4]float64{0.3, 0.3, 0.3, 0.1}
	for r := range rows {
		v := f.value(data[r*stride+at:])
		d := v - before
		class := bits.Len64(uint64(d<<1 ^ d>>63)) // zigzag
		within := 1.0
		if class > 1 {
			within = math.Ldexp(1, 1-class)
		}
		n := float64(r + 1)
		count, upper := e.counts.Of(v), e.upper.Of(v>>low)
		p := [4]float64{
			float64(shares[0] * float64(*count) / n), float64(shares[1] * float64(*upper) / n * evenLow),
			float64(shares[2] * e.classes[class] / total * within), float64(shares[3] * even),
		}
		all := p[0] + p[1] + p[2] + p[3]
		sum -= numbers.Log2(all)
		for i := range shares {
			shares[i] = minShare + float64((1-4*minShare)*(float64(0.9*shares[i])+float64(0.1*p[i])/all))
		}
		*count++
		*upper++
		e.classes[class]++
		total++
		before = v
	}
	return sum / float64(max(rows, 1))
}

const (
	// Fields of more than two bytes have their cost changed by these, in bits, since what is said by half a field is better a field,
	// but noise is better coded with what is above it.
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
			if at+f.width > stride {
				continue
			}
			c := e.cost(f, data, at, stride, n)
			if f == (field{unsigned, 2}) {
				noise = c > noiseBits
			}
			if f.width > 2 {
				c += wideCost
				if noise {
					c -= wideGain
				}
			}
			if f.typ == float32s && plausible(data, at, stride, n) {
				c -= floatGain
			}
			if c += costOfField + best[at+f.width]; c < best[at] {
				best[at], chosen[at] = c, f
			}
		}
	}
	for at := 0; at < stride; at += chosen[at].width {
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

func appendFields(dst []byte, fields []field) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(fields)))
	for _, f := range fields {
		dst = append(dst, byte(f.typ)<<4|byte(f.width))
	}
	return dst
}

// shape returns that of the column of a field.
func (f field) shape() numbers.Shape { return numbers.Shape{Given: -1, Float32: f.typ == float32s} }
