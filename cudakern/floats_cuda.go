//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import "fmt"

// FloatForm says what the values of a block are.
type FloatForm uint32

// Forms of values.
const (
	FloatBits64   FloatForm = C.FLOAT_BITS64   // float64
	FloatBits32   FloatForm = C.FLOAT_BITS32   // float32
	FloatIntegers FloatForm = C.FLOAT_INTEGERS // the integers of decimals, of 64 bits
)

// FloatBlock is a block of values for FloatCoder: which of the values it has, which is the first that its predictions may use (Chunk), and
// its two predictors, by the numbers of package compress/doubles.
type FloatBlock struct {
	Chunk, First, Count int
	Kinds, Lags         [2]int
}

// MaxFloatBlock is the most values of a block, and MaxFloats that of a call.
const (
	MaxFloatBlock = C.FLOAT_BLOCK
	MaxFloats     = 1 << 26
)

// FloatResiduals is what a block leaves after prediction: twice the number of bits of each residual, plus 1 for the second predictor; and
// these bits without the highest one, the lowest bit of a byte first.
type FloatResiduals struct{ Classes, Bits []byte }

// FloatCoder computes what package compress/doubles codes of arrays of floats. It is used by one goroutine at a time; several of a device
// overlap copying and computing.
type FloatCoder struct{ queue }

// NewFloatCoder makes a FloatCoder. The error wraps ErrMemory if there is too little memory.
func (d *Device) NewFloatCoder() (*FloatCoder, error) {
	c := &FloatCoder{}
	return c, c.open(d)
}

// Residuals predicts the values of blocks. Values are of the given form, little-endian, at most MaxFloats; each belongs to one block, in
// their order. The error wraps ErrMemory if the device has too little memory.
func (c *FloatCoder) Residuals(values []byte, form FloatForm, blocks []FloatBlock) ([]FloatResiduals, error) {
	width, n := 8, 0
	if form == FloatBits32 {
		width = 4
	}
	list := make([]C.struct_FloatBlock, len(blocks))
	for i, b := range blocks {
		if b.First != n || b.Chunk < 0 || b.Chunk > b.First || b.Count < 1 || b.Count > MaxFloatBlock {
			return nil, fmt.Errorf("block %d of %d values from %d on, of the chunk from %d on", i, b.Count, b.First, b.Chunk)
		}
		n += b.Count
		list[i] = C.struct_FloatBlock{chunk: C.uint(b.Chunk), first: C.uint(b.First), count: C.uint(b.Count), form: C.uint(form)}
		for k := range 2 {
			list[i].kinds[k], list[i].lags[k] = C.uint(b.Kinds[k]), C.uint(b.Lags[k])
		}
	}
	if n*width != len(values) || n > MaxFloats {
		return nil, fmt.Errorf("blocks of %d values in %d bytes", n, len(values))
	}
	if n == 0 {
		return nil, nil
	}
	sizes, at := make([]uint32, len(blocks)), make([]uint32, len(blocks)+1) // bits of each block, and the words before it
	allClasses := make([]byte, n)
	var allBits []byte
	err := c.do(func() {
		var from, plans, classes, raw, lengths, places, stream uint64
		c.place([]room{{&from, len(values)}, {&plans, len(bytesOf(list))}, {&classes, n}, {&raw, 8 * MaxFloatBlock * len(blocks)},
			{&lengths, 4 * len(blocks)}, {&places, 4 * (len(blocks) + 1)}, {&stream, 8 * MaxFloatBlock * len(blocks)}}, "arrays of floats")
		c.upload(from, values, "values")
		c.upload(plans, bytesOf(list), "blocks of values")
		c.launch(C.STEP_FLOAT_RESIDUALS, len(blocks), from, plans, classes, raw, lengths)
		c.download(bytesOf(sizes), lengths, "the sizes of residuals")
		for i, size := range sizes {
			at[i+1] = at[i] + (size+31)/32
		}
		c.upload(places, bytesOf(at), "the places of residuals")
		c.launch(C.STEP_FLOAT_COMPACT, len(blocks), raw, places, stream)
		allBits = make([]byte, 4*int(at[len(blocks)]))
		c.download(allClasses, classes, "classes of residuals")
		c.download(allBits, stream, "residuals")
	})
	if err != nil {
		return nil, err
	}
	out := make([]FloatResiduals, len(blocks))
	for i, b := range blocks {
		size := int(sizes[i]+7) / 8
		out[i] = FloatResiduals{allClasses[b.First:][:b.Count:b.Count], allBits[4*int(at[i]):][:size:size]}
	}
	return out, nil
}
