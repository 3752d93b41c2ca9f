package doubles

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"orcomgo/bins/parse"
)

// version is the first byte of a stream.
const version = 1

const (
	// MaxSize is the most data that Encode takes, in bytes.
	MaxSize = 1 << 30
	// A stream holds at most bytesPerByte bytes of data for each of its own; a reader refuses more, which would take memory for nothing.
	bytesPerByte = 1 << 15
	slackBytes   = 64
	// A chunk has less than one exception for so many values, or its floats are taken as their bits.
	valuesPerException = 64
)

// Encode codes data of at most MaxSize bytes by up to threads threads; the stream does not depend on these. Floats are where the
// layout says; the rest is stored. It panics if the layout does not fit the data, which is an error of the caller.
func Encode(data []byte, l Layout, threads int) []byte { return (*GPU)(nil).Encode(data, l, threads) }

// Encode is the function Encode; a GPU, unless it is nil, computes what predictions leave. The stream is the same.
func (g *GPU) Encode(data []byte, l Layout, threads int) []byte {
	if len(data) > MaxSize || l.Header < 0 || l.Header > len(data) || l.Width != 4 && l.Width != 8 || l.Columns < 0 || l.Columns > maxLag {
		panic("doubles: data of another layout")
	}
	body := data[l.Header:]
	n := len(body) / l.Width
	chunks := make([][]byte, (n+chunkValues-1)/chunkValues)
	var group errgroup.Group
	group.SetLimit(max(threads, 1))
	for i := range chunks {
		group.Go(func() error {
			chunks[i] = g.encodeChunk(body[i*chunkValues*l.Width:min((i+1)*chunkValues, n)*l.Width], l)
			return nil
		})
	}
	_ = group.Wait() // no error
	out := binary.AppendUvarint([]byte{version}, uint64(len(data)))
	out = binary.LittleEndian.AppendUint64(out, xxh3.Hash(data))
	out = binary.AppendUvarint(out, uint64(l.Header))
	out = append(out, byte(l.Width))
	out = append(append(out, data[:l.Header]...), body[n*l.Width:]...)
	for _, c := range chunks {
		out = binary.AppendUvarint(out, uint64(len(c)))
		out = append(out, c...)
	}
	return out
}

// workspaces are *workspace that no chunk uses.
var workspaces = sync.Pool{New: func() any { return &workspace{} }}

// workspace is memory for a chunk.
type workspace struct {
	scratch
	x   []float64
	k   []int64
	o   []uint64
	out []byte
}

// take returns n elements of memory that is kept in list.
func take[T any](list *[]T, n int) []T {
	if cap(*list) < n {
		*list = make([]T, n)
	}
	return (*list)[:n]
}

// load fills v with the floats of data.
func (v *values) load(data []byte, w *workspace) {
	v.x = take(&w.x, len(data)/v.width)
	for i := range v.x {
		if v.width == 8 {
			v.x[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		} else {
			v.x[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
		}
	}
}

// loadBits fills v with the ordered integers of data.
func (v *values) loadBits(data []byte, w *workspace) {
	v.o = take(&w.o, len(v.x))
	for i := range v.o {
		if v.width == 8 {
			v.o[i] = ordered(binary.LittleEndian.Uint64(data[8*i:]))
		} else {
			v.o[i] = ordered32(binary.LittleEndian.Uint32(data[4*i:]))
		}
	}
}

// loadDecimals fills v with the integers of decimals. Floats that are none take the integer of the value before and are returned. It
// reports false if these are too many.
func (v *values) loadDecimals(w *workspace) (exceptions []int, ok bool) {
	v.k = take(&w.k, len(v.x))
	before := int64(0)
	for i, f := range v.x {
		k, ok := v.decimal(f)
		if !ok {
			exceptions = append(exceptions, i)
			if len(exceptions) > len(v.x)/valuesPerException+1 {
				return nil, false
			}
			k = before
		}
		v.k[i], before = k, k
	}
	return exceptions, true
}

// blockSize returns the values of a block of a chunk of n values.
func blockSize(n int) int {
	if n < fewValues {
		return fewBlockValues
	}
	return blockValues
}

// encodeChunk codes the floats in data.
func (g *GPU) encodeChunk(data []byte, l Layout) []byte {
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	v := &values{}
	v.width = l.Width
	v.load(data, w)
	v.numbering = chooseNumbering(v.x, l.Width)
	var exceptions []int
	if v.mode != modeBits {
		var ok bool
		if exceptions, ok = v.loadDecimals(w); !ok {
			v.numbering = newNumbering(modeBits, 0, l.Width)
		}
	}
	if v.mode == modeBits {
		v.loadBits(data, w)
	}
	list := choosePredictors(v, l.Columns)
	size := blockSize(len(v.x))
	var pairs [][2]int
	used := make([]int, len(list)) // the number of a predictor among those that are used, plus 1
	var usedList []predictor
	for first := 0; first < len(v.x); first += size {
		a, b := choosePair(v, list, first, min(first+size, len(v.x)))
		for _, p := range []int{a, b} {
			if used[p] == 0 {
				usedList = append(usedList, list[p])
				used[p] = len(usedList)
			}
		}
		pairs = append(pairs, [2]int{used[a] - 1, used[b] - 1})
	}
	out := append(w.out[:0], byte(v.mode), byte(v.digits), byte(len(usedList)))
	for _, p := range usedList {
		out = binary.AppendUvarint(append(out, byte(p.kind)), uint64(p.lag))
	}
	out = binary.AppendUvarint(out, uint64(len(exceptions)))
	before := 0
	for _, i := range exceptions {
		out = binary.AppendUvarint(out, uint64(i-before))
		out = append(out, data[i*l.Width:(i+1)*l.Width]...)
		before = i
	}
	done := g.residuals(v, data, usedList, pairs, size)
	for i, pair := range pairs {
		var l leftOver
		if done != nil {
			l = done[i]
		} else {
			l = w.residuals(v, usedList[pair[0]], usedList[pair[1]], i*size, min((i+1)*size, len(v.x)))
		}
		out = w.appendBlock(out, pair[0], pair[1], l, len(v.x) < fewValues)
	}
	w.out = out
	return bytes.Clone(out)
}

// Decode is the inverse of Encode, for data of at most limit bytes.
func Decode(stream []byte, limit, threads int) ([]byte, error) {
	r := &parse.Cursor{Rest: stream}
	if r.Byte() != version {
		return nil, ErrCorrupt
	}
	size := r.Int(MaxSize)
	if size > limit {
		return nil, ErrSize
	}
	sum := r.Uint64()
	header := r.Int(size)
	width := int(r.Byte())
	if r.Failed() || width != 4 && width != 8 || size > (len(stream)+slackBytes)*bytesPerByte {
		return nil, ErrCorrupt
	}
	n := (size - header) / width
	head, tail := r.Bytes(uint64(header)), []byte(nil)
	if !r.Failed() {
		tail = r.Bytes(uint64(size - header - n*width))
	}
	chunks := make([][]byte, (n+chunkValues-1)/chunkValues)
	for i := range chunks {
		if !r.Failed() {
			chunks[i] = r.Block()
		}
	}
	if r.Failed() || len(r.Rest) > 0 {
		return nil, ErrCorrupt
	}
	data := make([]byte, size)
	copy(data, head)
	body := data[header:]
	copy(body[n*width:], tail)
	var group errgroup.Group
	group.SetLimit(max(threads, 1))
	for i, c := range chunks {
		group.Go(func() error {
			return decodeChunk(body[i*chunkValues*width:min((i+1)*chunkValues, n)*width], c, width)
		})
	}
	if group.Wait() != nil || xxh3.Hash(data) != sum {
		return nil, ErrCorrupt
	}
	return data, nil
}

// decodeChunk decodes the floats of a chunk to data.
func decodeChunk(data, code []byte, width int) error {
	r := &parse.Cursor{Rest: code}
	m, digits := mode(r.Byte()), int(r.Byte())
	if m >= modes || digits > maxDigits || m == modeSignificant && digits == 0 {
		return ErrCorrupt
	}
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	v := &values{numbering: newNumbering(m, digits, width)}
	count := len(data) / width
	if m == modeBits {
		v.x = take(&w.x, count)
	} else {
		v.k = take(&w.k, count)
	}
	list := make([]predictor, r.Byte())
	if len(list) == 0 || len(list) > maxPredictors {
		return ErrCorrupt
	}
	for i := range list {
		p := predictor{kind: kind(r.Byte()), lag: r.Int(maxLag)}
		if p.kind >= kinds || p.lag == 0 || m != modeBits && p.kind == ratio {
			return ErrCorrupt
		}
		list[i] = p
	}
	exceptions := make([]int, r.Int(len(code)/(1+width)))
	verbatim := make([]byte, 0, len(exceptions)*width)
	at := 0
	for i := range exceptions {
		at += r.Int(count - 1 - at)
		exceptions[i] = at
		verbatim = append(verbatim, r.Bytes(uint64(width))...)
	}
	size := blockSize(count)
	for first := 0; first < count; first += size {
		last := min(first+size, count)
		a, b := r.Byte(), r.Byte()
		coding := int(b >> 5)
		b &= 31
		codeSize := 1
		if coding != codingConstant {
			codeSize = r.Count(1, "bytes")
		}
		classCode := r.Bytes(uint64(codeSize))
		raw := r.Block()
		if r.Failed() || int(a&127) >= len(list) || int(b) >= len(list) {
			return ErrCorrupt
		}
		classes, err := w.decodeClasses(classCode, coding, last-first)
		if err != nil {
			return err
		}
		bl := block{pair: [2]predictor{list[a&127], list[b]}, xor: a&128 != 0}
		if err := bl.decode(v, data, classes, w.pad(raw), first); err != nil {
			return err
		}
	}
	if r.Failed() || len(r.Rest) > 0 {
		return ErrCorrupt
	}
	for i, at := range exceptions {
		copy(data[at*width:(at+1)*width], verbatim[i*width:])
	}
	return nil
}

// decode decodes the values of a block to data and to v.
func (b *block) decode(v *values, data, classes, padded []byte, first int) error {
	r := bitReader{b: padded}
	for j, class := range classes {
		i := first + j
		p := v.predict(b.pair[class>>7], i)
		n := int(class & 127)
		if n > 64 {
			return ErrCorrupt
		}
		z := uint64(n)
		if n > 1 {
			z = r.get(n-1) | 1<<(n-1)
		}
		u := restore(z, p, b.xor)
		switch {
		case v.mode != modeBits:
			v.k[i] = int64(u)
			f := v.float(int64(u))
			if v.width == 8 {
				binary.LittleEndian.PutUint64(data[8*i:], math.Float64bits(f))
			} else {
				binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(f)))
			}
		case v.width == 8:
			c := bitsOf(u)
			binary.LittleEndian.PutUint64(data[8*i:], c)
			v.x[i] = math.Float64frombits(c)
		default:
			c := bitsOf32(u)
			binary.LittleEndian.PutUint32(data[4*i:], c)
			v.x[i] = float64(math.Float32frombits(c))
		}
	}
	if r.bit > 8*(len(padded)-readerPadding) {
		return ErrCorrupt
	}
	return nil
}
