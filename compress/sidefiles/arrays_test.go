package sidefiles

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
)

// arrayType is a type of the elements of an array.
type arrayType struct {
	name  string
	width int
	float bool
}

var arrayTypes = []arrayType{{"float32", 4, true}, {"float64", 8, true}, {"int8", 1, false}, {"int16", 2, false}, {"int32", 4, false},
	{"int64", 8, false}}

// arrayShapes return the element in a row and a column of a square array, of about -1 to 1.
var arrayShapes = []struct {
	name string
	fill func(x []float64, side int, r *rand.Rand)
}{
	{"smooth", func(x []float64, side int, _ *rand.Rand) {
		for i := range x {
			row, column := float64(i/side), float64(i%side)
			x[i] = 0.6*math.Sin(row/23+column/71) + 0.3*math.Cos(column/17)
		}
	}},
	{"noisy", func(x []float64, side int, r *rand.Rand) {
		for i := range x {
			x[i] = 0.7*math.Sin(float64(i/side)/19)*math.Cos(float64(i%side)/29) + 0.02*r.NormFloat64()
		}
	}},
	{"repeated", func(x []float64, side int, r *rand.Rand) {
		for i := range x {
			if x[i] = 0.3 * r.NormFloat64(); i >= 8*side {
				x[i] = x[i-8*side]
			}
		}
	}},
	{"symmetric", func(x []float64, side int, r *rand.Rand) {
		for i := range x {
			if x[i] = 0.3 * r.NormFloat64(); i%side < i/side {
				x[i] = x[i%side*side+i/side]
			}
		}
	}},
	{"sparse", func(x []float64, _ int, r *rand.Rand) {
		for i := range x {
			if r.Intn(30) == 0 {
				x[i] = 0.3 * r.NormFloat64()
			}
		}
	}},
}

// namedArray is an array as a file, and what it is.
type namedArray struct {
	name string
	file []byte
}

// generatedArrays returns 60 arrays of all types, shapes and byte orders, behind headers of 0 to 4,096 bytes.
func generatedArrays() []namedArray {
	const side = 128
	headers := []int{0, 1, 77, 80, 128, 352, 1001, 4096}
	var list []namedArray
	for _, typ := range arrayTypes {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			for _, shape := range arrayShapes {
				x := make([]float64, side*side)
				shape.fill(x, side, rand.New(rand.NewSource(int64(len(list)))))
				header := headers[len(list)*5%len(headers)]
				file := bytes.Repeat([]byte("field of a solver, time 0.125 s. "), header/33+1)[:header]
				for _, f := range x {
					file = typ.append(file, order, f)
				}
				list = append(list, namedArray{fmt.Sprintf("%s %s, %v, header of %d", shape.name, typ.name, order, header), file})
			}
		}
	}
	return list
}

// append appends an element of about -1 to 1.
func (t arrayType) append(dst []byte, order binary.AppendByteOrder, f float64) []byte {
	switch {
	case t.float && t.width == 4:
		return order.AppendUint32(dst, math.Float32bits(float32(f)))
	case t.float:
		return order.AppendUint64(dst, math.Float64bits(f))
	}
	v := uint64(int64(math.Round(min(max(f, -1), 1) * math.Ldexp(1, min(8*t.width-2, 40)))))
	switch t.width {
	case 1:
		return append(dst, byte(v))
	case 2:
		return order.AppendUint16(dst, uint16(v))
	case 4:
		return order.AppendUint32(dst, uint32(v))
	}
	return order.AppendUint64(dst, v)
}
