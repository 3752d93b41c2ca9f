package doubles

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"orcomgo/bins/parse"
	"orcomgo/compress/general"
	"orcomgo/compress/numbers"
	rc "orcomgo/compress/rangecoder"
)

const (
	blockValues = 1 << 12 // of a block, but for the last one
	classBits   = 8       // of a class: twice the bits of a residual, plus 1 if it is of the second predictor of the block
	maxClass    = 2*64 + 1
	classLimit  = 250
)

// block is a part of an array, as it is predicted: where it begins, how many values it has, and by which two predictors, which may be the
// same.
type block struct {
	first, count int
	pair         [2]predictor
}

// blocksOf returns the blocks of n values, which have no predictors yet.
func blocksOf(n int) []block {
	list := make([]block, (n+blockValues-1)/blockValues)
	for i := range list {
		list[i] = block{first: i * blockValues, count: min(blockValues, n-i*blockValues)}
	}
	return list
}

// residual returns what is coded for a value given its prediction: the difference, which of integers is taken modulo 2^width.
func (v *values) residual(actual, predicted uint64) uint64 {
	d := int64(actual-predicted) << v.unused >> v.unused
	return uint64(d<<1 ^ d>>63)
}

// restored is the inverse of residual. Of integers only the low bits matter, in which they are predicted as well.
func restored(z, predicted uint64) uint64 { return predicted + (z>>1 ^ -(z & 1)) }

// code codes the values of blocks: the class of each after the class before it, and the bits of the residual below the highest one.
func (v *values) code(c *rc.Coder, blocks []block) {
	var trees [maxClass + 1]*rc.Tree // by the class before
	before := uint32(0)
	own, decoding := v.own(), c.Decoding()
	for _, b := range blocks {
		for i := b.first; i < b.first+b.count; i++ {
			first := v.prediction(b.pair[0], i)
			second := first
			if b.pair[0] != b.pair[1] {
				second = v.prediction(b.pair[1], i)
			}
			class, z := uint32(0), uint64(0)
			if !decoding {
				z = v.residual(own[i], first)
				other := v.residual(own[i], second)
				size := bits.Len64(z)
				if n := bits.Len64(other); n < size {
					z, size, class = other, n, 1
				}
				class |= uint32(2 * size)
			}
			if trees[before] == nil {
				t := rc.NewTree(classBits)
				trees[before] = &t
			}
			class = min(trees[before].Code(c, class, classLimit), maxClass)
			before = class
			if n := int(class>>1) - 1; n > 0 {
				low := uint64(c.Uniform(uint32(z>>32), max(n-32, 0)))<<32 | uint64(c.Uniform(uint32(z), min(n, 32)))
				z = 1<<n | low
			} else {
				z = uint64(class >> 1)
			}
			if decoding {
				v.set(i, restored(z, [2]uint64{first, second}[class&1]))
			}
		}
	}
}

// set sets value i to an integer, and to its float if floats are predicted.
func (v *values) set(i int, u uint64) {
	v.own()[i] = u
	switch {
	case v.mode != modeBits:
	case v.width == 8:
		v.x[v.pad+i] = math.Float64frombits(bitsOf(u))
	default:
		v.x[v.pad+i] = float64(math.Float32frombits(numbers.Float32Bits(int64(u))))
	}
}

// append appends the elements in data.
func (p *plan) append(out, data []byte, l Layout) []byte {
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
	for _, b := range p.blocks {
		out = append(out, byte(slices.Index(used, b.pair[0])), byte(slices.Index(used, b.pair[1])))
	}
	c := rc.EncodeTo(nil)
	p.code(c, p.blocks)
	return append(out, c.Enc.Finish()...)
}

// Decode is the inverse of Encode, for data of size bytes.
func Decode(stream []byte, size int) ([]byte, error) {
	r := &parse.Cursor{Rest: stream}
	header := r.Int(size)
	flags := r.ByteAtMost(0x3f)
	l := Layout{Width: int(flags & 15), Floats: flags>>4&1 == 1, BigEndian: flags>>5 == 1}
	if r.Failed() || !l.valid() || size > MaxSize || size > (len(stream)+slackBytes)*bytesPerByte {
		return nil, ErrCorrupt
	}
	n := (size - header) / l.Width
	head, err := general.Decode(r.Block(), header)
	if err != nil || len(head) != header {
		return nil, ErrCorrupt
	}
	data := make([]byte, size)
	copy(data, head)
	body := data[header:]
	copy(body[n*l.Width:], r.Bytes(uint64(len(body)-n*l.Width)))
	if r.Failed() || n == 0 && len(r.Rest) > 0 || n > 0 && !decode(r, body[:n*l.Width], &l) {
		return nil, ErrCorrupt
	}
	return data, nil
}

// decode decodes elements to data, to the end of r. It reports false if these are damaged.
func decode(r *parse.Cursor, data []byte, l *Layout) bool {
	width := l.Width
	m, digits := mode(r.Byte()), int(r.Byte())
	if m >= modes || digits > maxDigits || m == modeSignificant && digits == 0 || (m == modeIntegers) == l.Floats {
		return false
	}
	v := &values{numbering: newNumbering(m, digits, width)}
	count := len(data) / width
	list := make([]predictor, r.Byte())
	if len(list) == 0 || len(list) > maxPredictors {
		return false
	}
	for i := range list {
		p := predictor{kind: kind(r.Byte()), lag: r.Int(maxLag)}
		if p.kind >= kinds || p.lag == 0 || m != modeBits && p.kind == ratio {
			return false
		}
		list[i] = p
		v.pad = max(v.pad, p.reach())
	}
	v.room(count, false)
	exceptions := make([]int, r.Int(len(r.Rest)/(1+width)))
	verbatim := make([]byte, 0, len(exceptions)*width)
	at := 0
	for i := range exceptions {
		at += r.Int(count - 1 - at)
		exceptions[i] = at
		verbatim = append(verbatim, r.Bytes(uint64(width))...)
	}
	blocks := blocksOf(count)
	for i := range blocks {
		for j := range blocks[i].pair {
			blocks[i].pair[j] = list[r.ByteAtMost(byte(len(list)-1))]
		}
	}
	if r.Failed() {
		return false
	}
	c := rc.DecodeFrom(r.Rest)
	v.code(c, blocks)
	v.put(data, v.own())
	if l.BigEndian {
		reverseBytes(data, width)
	}
	for i, at := range exceptions {
		copy(data[at*width:(at+1)*width], verbatim[i*width:])
	}
	return c.Dec.Err() == nil
}

// reverseBytes reverses the order of the bytes of each element.
func reverseBytes(data []byte, width int) {
	for ; len(data) >= width; data = data[width:] {
		slices.Reverse(data[:width])
	}
}

// loadIntegers fills v.u with the integers of data.
func (v *values) loadIntegers(data []byte) {
	for i := range v.own() {
		var word [8]byte
		copy(word[:], data[i*v.width:(i+1)*v.width])
		v.own()[i] = uint64(int64(binary.LittleEndian.Uint64(word[:])<<v.unused) >> v.unused)
	}
}
