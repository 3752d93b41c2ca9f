package doubles

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"
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
	if len(chunks) == 1 {
		w := workspaces.Get().(*workspace)
		defer workspaces.Put(w)
		chunks[0] = g.encodeChunk(w, body[:n*l.Width], l)
	} else {
		_ = eachChunk(len(chunks), threads, func(i int) error {
			w := workspaces.Get().(*workspace)
			defer workspaces.Put(w)
			chunks[i] = bytes.Clone(g.encodeChunk(w, body[i*chunkValues*l.Width:min((i+1)*chunkValues, n)*l.Width], l))
			return nil
		})
	}
	size := l.Header + slackBytes
	for _, c := range chunks {
		size += binary.MaxVarintLen64 + len(c)
	}
	out := binary.AppendUvarint(append(make([]byte, 0, size), version), uint64(len(data)))
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

// eachChunk calls work for the numbers of n chunks, by up to threads goroutines. One is not worth starting a goroutine for.
func eachChunk(n, threads int, work func(i int) error) error {
	if n == 1 {
		return work(0)
	}
	var group errgroup.Group
	group.SetLimit(max(threads, 1))
	for i := range n {
		group.Go(func() error { return work(i) })
	}
	return group.Wait()
}

// workspaces are *workspace that no chunk uses.
var workspaces = sync.Pool{New: func() any { return &workspace{} }}

// workspace is memory for a chunk.
type workspace struct {
	scratch
	x   []float64
	u   []uint64
	out []byte

	coder   classEncoder
	decoder classDecoder
	lags    lagCounts
	list    []predictor
	rough   []byte
	mixed   []byte // the classes of a chunk that are coded
	rest    []byte // the bits of its residuals
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
	x := v.x
	if v.width == 8 {
		for i := range x {
			x[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
		return
	}
	for i := range x {
		x[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	}
}

// loadBits fills v with the ordered integers of data.
func (v *values) loadBits(data []byte, w *workspace) {
	v.u = take(&w.u, len(v.x))
	o := v.u
	if v.width == 8 {
		for i, f := range v.x {
			o[i] = ordered(math.Float64bits(f))
		}
		return
	}
	for i := range o { // the float64s of float32s that are NaNs may have other bits
		o[i] = ordered32(binary.LittleEndian.Uint32(data[4*i:]))
	}
}

// loadDecimals fills v with the integers of decimals. Floats that are none take the integer of the value before and are returned. It
// reports false if these are too many.
func (v *values) loadDecimals(w *workspace) (exceptions []int, ok bool) {
	v.u = take(&w.u, len(v.x))
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
		v.u[i], before = uint64(k), k
	}
	return exceptions, true
}

// encodeChunk codes the floats in data. The code is valid until w is used again.
func (g *GPU) encodeChunk(w *workspace, data []byte, l Layout) []byte {
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
	list := w.choosePredictors(v, l.Columns)
	usedList, pairs := w.choosePairs(v, list)
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
	out = w.appendBlocks(out, v, g.residuals(v, data, usedList, pairs), usedList, pairs)
	w.out = out
	return out
}

// appendBlocks appends the blocks of a chunk: how each is predicted, then the classes of all and the bits of all. done is what the blocks
// leave, or nil if that is still to be computed.
func (w *workspace) appendBlocks(dst []byte, v *values, done []leftOver, list []predictor, pairs [][2]int) []byte {
	mixed, rest := w.mixed[:0], w.rest[:0]
	first := 0
	for i, pair := range pairs {
		last := blockEnd(first, len(v.u))
		var l leftOver
		if done != nil {
			l = done[i]
		} else {
			l = w.residuals(v, list[pair[0]], list[pair[1]], first, last)
		}
		a, b := byte(pair[0]), byte(pair[1])
		if l.xor {
			a |= xorFlag
		}
		if allEqual(l.classes) {
			dst = append(dst, a, b|constantFlag, l.classes[0])
		} else {
			dst = append(dst, a, b)
			mixed = append(mixed, l.classes...)
		}
		rest = append(rest, l.bits...)
		first = last
	}
	if len(mixed) > 0 {
		code := w.coder.encode(mixed)
		dst = append(binary.AppendUvarint(dst, uint64(len(code))), code...)
	}
	w.mixed, w.rest = mixed, rest
	return append(dst, rest...)
}

// choosePairs chooses the predictors of each block of a chunk. It returns those of list that are used, and the numbers of two of these for
// each block.
func (w *workspace) choosePairs(v *values, list []predictor) (used []predictor, pairs [][2]int) {
	numbers := make([]int, len(list)) // the number of a predictor among those that are used, plus 1
	for first := 0; first < len(v.u); {
		last := blockEnd(first, len(v.u))
		a, b := w.choosePair(v, list, first, last)
		for _, p := range []int{a, b} {
			if numbers[p] == 0 {
				used = append(used, list[p])
				numbers[p] = len(used)
			}
		}
		pairs = append(pairs, [2]int{numbers[a] - 1, numbers[b] - 1})
		first = last
	}
	return used, pairs
}
