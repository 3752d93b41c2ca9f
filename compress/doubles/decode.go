package doubles

import (
	"github.com/zeebo/xxh3"

	"orcomgo/bins/parse"
)

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
	err := eachChunk(len(chunks), threads, func(i int) error {
		return decodeChunk(body[i*chunkValues*width:min((i+1)*chunkValues, n)*width], chunks[i], width)
	})
	if err != nil || xxh3.Hash(data) != sum {
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
	v.u = take(&w.u, count)
	if m == modeBits {
		v.x = take(&w.x, count)
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
	if err := w.decodeBlocks(r, v, list); err != nil {
		return err
	}
	if m == modeBits {
		v.putBits(data, v.u)
	} else {
		v.putDecimals(data, v.u)
	}
	for i, at := range exceptions {
		copy(data[at*width:(at+1)*width], verbatim[i*width:])
	}
	return nil
}

// decodeBlocks decodes the blocks of a chunk to v.
func (w *workspace) decodeBlocks(r *parse.Cursor, v *values, list []predictor) error {
	n := len(v.u)
	type coded struct {
		block
		constant bool
		class    byte // of a block whose classes are the same
	}
	var blocks []coded
	mixed := 0
	for first := 0; first < n; {
		last := blockEnd(first, n)
		a, b := r.Byte(), r.Byte()
		c := coded{constant: b&constantFlag != 0}
		if c.constant {
			c.class = r.Byte()
		} else {
			mixed += last - first
		}
		xor := a&xorFlag != 0
		if a, b = a&^xorFlag, b&^constantFlag; r.Failed() || int(a) >= len(list) || int(b) >= len(list) {
			return ErrCorrupt
		}
		c.block = block{[2]predictor{list[a], list[b]}, xor}
		blocks = append(blocks, c)
		first = last
	}
	classes := take(&w.mixed, mixed)
	if mixed > 0 {
		code := r.Block()
		if r.Failed() {
			return ErrCorrupt
		}
		if err := w.decoder.decode(classes, code); err != nil {
			return err
		}
	}
	if r.Failed() {
		return ErrCorrupt
	}
	padded := append(append(w.rest[:0], r.Rest...), make([]byte, readerPadding)...)
	w.rest = padded
	first := 0
	for i := range blocks {
		b, last := &blocks[i], blockEnd(first, n)
		own := w.classes[:last-first]
		if b.constant {
			for i := range own {
				own[i] = b.class
			}
		} else {
			own, classes = classes[:last-first], classes[last-first:]
		}
		bits, ok := readResiduals(v.u[first:last], own, padded)
		if !ok {
			return ErrCorrupt
		}
		padded = padded[(bits+7)/8:]
		w.restore(v, &b.block, own, first)
		first = last
	}
	if len(padded) != readerPadding {
		return ErrCorrupt
	}
	return nil
}
