package doubles

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

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

// Encode codes data of at most MaxSize bytes. Elements are where the layout says. It panics if the layout does not fit the data, which is an
// error of the caller.
func Encode(data []byte, l Layout) []byte {
	if len(data) > MaxSize || l.Header < 0 || l.Header > len(data) || !l.valid() || l.Columns < 0 || l.Columns > maxLag {
		panic("doubles: data of another layout")
	}
	body := data[l.Header:]
	n := len(body) / l.Width
	out := binary.AppendUvarint(nil, uint64(l.Header))
	out = append(out, byte(l.Width)|byte(l.Type)<<4|parse.Flags(l.BigEndian)<<6)
	out = append(parse.AppendBlock(out, general.Encode(data[:l.Header])), body[n*l.Width:]...)
	if n == 0 {
		return out
	}
	w := &workspace{}
	return w.append(out, w.plan(body[:n*l.Width], l), body, l)
}

// workspace is memory for an array.
type workspace struct {
	x             []float64
	u             []uint64
	list          []predictor
	rough         []byte
	lengths       [maxPredictors][sampleValues]uint8 // bits of residuals in a sample
	first, second [blockValues]uint64                // predictions of a block
	classes       [blockValues]byte
	bits          []byte // of the residuals of a block
	mixed         []byte // the classes that are coded
	rest          []byte // the bits of its residuals
	table         classTable
	slots         []uint32 // see encodeClasses and decodeClasses
}

// take returns n elements, in the memory of list if that is enough.
func take[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	return list[:n]
}

// room makes room for n values and for the zeros before them; for the floats only if bits are coded, or asFloats is set.
func (v *values) room(w *workspace, n int, asFloats bool) {
	w.u = take(w.u, v.pad+n)
	clear(w.u[:v.pad])
	v.u = w.u
	if asFloats || v.mode == modeBits {
		w.x = take(w.x, v.pad+n)
		clear(w.x[:v.pad])
		v.x = w.x
	}
}

// loadIntegers fills v.u with the integers of data.
func (v *values) loadIntegers(data []byte, t Type) {
	unused := 64 - 8*v.width // bits
	for i := range v.own() {
		var word [8]byte
		copy(word[:], data[i*v.width:(i+1)*v.width])
		u := binary.LittleEndian.Uint64(word[:])
		if t == Signed {
			u = uint64(int64(u<<unused) >> unused)
		}
		v.own()[i] = u
	}
}

// reverseBytes reverses the order of the bytes of each element.
func reverseBytes(data []byte, width int) {
	for ; len(data) >= width; data = data[width:] {
		slices.Reverse(data[:width])
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

// plan chooses how elements are coded.
func (w *workspace) plan(data []byte, l Layout) *plan {
	n := len(data) / l.Width
	v := &values{pad: max(5, 3*max(longestLag(n), l.Columns))}
	v.width = l.Width
	v.room(w, n, l.Type == Float)
	if l.BigEndian {
		data = bytes.Clone(data)
		reverseBytes(data, l.Width)
	}
	if l.Type == Float {
		v.load(data)
		v.numbering = chooseNumbering(v.x[v.pad:], l.Width)
	} else {
		v.numbering = newNumbering(modeIntegers, 0, l.Width)
		v.loadIntegers(data, l.Type)
	}
	p := &plan{values: v, blocks: blocksOf(n)}
	if v.mode == modeDecimals || v.mode == modeSignificant {
		var ok bool
		if p.exceptions, ok = v.loadDecimals(); !ok {
			v.numbering = newNumbering(modeBits, 0, l.Width)
			v.load(data)
		}
	}
	list := w.choosePredictors(v, l.Columns)
	for i := range p.blocks {
		p.bits += w.choosePair(v, list, &p.blocks[i])
	}
	return p
}

// append appends the elements in data.
func (w *workspace) append(out []byte, p *plan, data []byte, l Layout) []byte {
	var used []predictor
	for _, b := range p.blocks {
		for _, x := range b.pair {
			if !slices.Contains(used, x) {
				used = append(used, x)
			}
		}
	}
	out = append(out, byte(p.mode), byte(p.digits), byte(len(used)))
	for _, x := range used {
		out = binary.AppendUvarint(append(out, byte(x.kind)), uint64(x.lag))
	}
	out = binary.AppendUvarint(out, uint64(len(p.exceptions)))
	before := 0
	for _, i := range p.exceptions {
		out = binary.AppendUvarint(out, uint64(i-before))
		out = append(out, data[i*l.Width:(i+1)*l.Width]...)
		before = i
	}
	return w.appendBlocks(out, p.values, used, p.blocks)
}

// appendBlocks appends blocks: how each is predicted, then the classes of all and the bits of all.
func (w *workspace) appendBlocks(dst []byte, v *values, used []predictor, blocks []block) []byte {
	mixed, rest := w.mixed[:0], w.rest[:0]
	for i := range blocks {
		b := &blocks[i]
		classes, packed := w.residuals(v, b)
		first, second := byte(slices.Index(used, b.pair[0])), byte(slices.Index(used, b.pair[1]))
		if bytes.Count(classes, classes[:1]) == b.count {
			dst = append(dst, first, second|constantFlag, classes[0])
		} else {
			dst = append(dst, first, second)
			mixed = append(mixed, classes...)
		}
		rest = append(rest, packed...)
	}
	w.mixed, w.rest = mixed, rest
	if len(mixed) > 0 {
		dst = w.encodeClasses(dst, mixed)
	}
	return append(dst, rest...)
}
