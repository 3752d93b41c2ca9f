package doubles

import (
	"bytes"
	"encoding/binary"
	"math"

	"orcomgo/bins/parse"
	"orcomgo/compress/general"
	"orcomgo/compress/numbers"
)

const (
	// MaxSize is the most data that Encode takes, in bytes.
	MaxSize = 1 << 25
	// A stream holds at most bytesPerByte bytes of data for each of its own; a reader refuses more, which would take memory for nothing.
	bytesPerByte = 1 << 15
	slackBytes   = 64
	// There is less than one exception for so many values, or floats are taken as their bits.
	valuesPerException = 64
)

// Encode codes data of at most MaxSize bytes. Elements are where the layout says. It panics if the layout does not fit the data, which is
// an error of the caller.
func Encode(data []byte, l Layout) []byte {
	if len(data) > MaxSize || l.Header < 0 || l.Header > len(data) || !l.valid() {
		panic("doubles: data of another layout")
	}
	body := data[l.Header:]
	n := len(body) / l.Width
	out := binary.AppendUvarint(nil, uint64(l.Header))
	out = append(out, byte(l.Width)|parse.Flags(l.Floats, l.BigEndian)<<4)
	out = append(parse.AppendBlock(out, general.Encode(data[:l.Header])), body[n*l.Width:]...)
	if n == 0 {
		return out
	}
	return newPlan(body[:n*l.Width], l).append(out, body, l)
}

// room makes room for n values and for the zeros before them; for the floats only if bits are coded, or asFloats is set.
func (v *values) room(n int, asFloats bool) {
	v.u = make([]uint64, v.pad+n)
	if asFloats || v.mode == modeBits {
		v.x = make([]float64, v.pad+n)
	}
}

// load fills v.x with the floats of data, and v.u with their ordered integers.
func (v *values) load(data []byte) {
	x, o := v.x[v.pad:], v.own()
	if v.width == 8 {
		for i := range x {
			b := binary.LittleEndian.Uint64(data[8*i:])
			x[i], o[i] = math.Float64frombits(b), ordered(b)
		}
		return
	}
	for i := range x { // the float64s of float32s that are NaNs may have other bits
		b := binary.LittleEndian.Uint32(data[4*i:])
		x[i], o[i] = float64(math.Float32frombits(b)), uint64(numbers.OrderedFloat32(b))
	}
}

// loadDecimals fills v.u with the integers of decimals. Floats that are none take the integer of the value before and are returned. It
// reports false if these are too many.
func (v *values) loadDecimals() (exceptions []int, ok bool) {
	o, x := v.own(), v.x[v.pad:]
	before := int64(0)
	for i, f := range x {
		k, ok := v.decimal(f)
		if !ok {
			exceptions = append(exceptions, i)
			if len(exceptions) > len(x)/valuesPerException+1 {
				return nil, false
			}
			k = before
		}
		o[i], before = uint64(k), k
	}
	return exceptions, true
}

// plan is how an array is coded.
type plan struct {
	*values
	exceptions []int // numbers of floats that are no decimals
	blocks     []block
	bits       float64 // that it takes, roughly
}

// newPlan chooses how elements are coded.
func newPlan(data []byte, l Layout) *plan {
	n := len(data) / l.Width
	v := &values{pad: max(5, 3*longestLag(n))}
	v.width = l.Width
	v.room(n, l.Floats)
	if l.BigEndian {
		data = bytes.Clone(data)
		reverseBytes(data, l.Width)
	}
	if l.Floats {
		v.load(data)
		v.numbering = chooseNumbering(v.x[v.pad:], l.Width)
	} else {
		v.numbering = newNumbering(modeIntegers, 0, l.Width)
		v.loadIntegers(data)
	}
	p := &plan{values: v, blocks: blocksOf(n)}
	if v.mode == modeDecimals || v.mode == modeSignificant {
		var ok bool
		if p.exceptions, ok = v.loadDecimals(); !ok {
			v.numbering = newNumbering(modeBits, 0, l.Width)
			v.load(data)
		}
	}
	list := v.choosePredictors()
	for i := range p.blocks {
		p.bits += v.choosePair(list, &p.blocks[i])
	}
	return p
}
