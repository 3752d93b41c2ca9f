package doubles

import (
	"github.com/zeebo/xxh3"

	"orcomgo/bins/parse"
	"orcomgo/compress/general"
)

// Decode is the inverse of Encode, for data of at most limit bytes.
func Decode(stream []byte, limit, threads int) ([]byte, error) {
	r := &parse.Cursor{Rest: stream}
	if r.Byte() != version {
		return nil, ErrCorrupt
	}
	size := r.Int(min(limit, MaxSize))
	sum := r.Uint64()
	header := r.Int(size)
	flags := r.ByteAtMost(0x7f)
	l := Layout{Width: int(flags & 15), Type: Type(flags >> 4 & 3), BigEndian: flags>>6 == 1}
	if r.Failed() || l.Type >= types || !l.valid() || size > (len(stream)+slackBytes)*bytesPerByte {
		return nil, ErrCorrupt
	}
	width := l.Width
	n := (size - header) / width
	head, err := general.Decode(r.Block(), header)
	tail := []byte(nil)
	if err != nil || len(head) != header {
		return nil, ErrCorrupt
	}
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
	err = eachChunk(len(chunks), threads, func(i int, w *workspace) error {
		return w.decodeChunk(body[i*chunkValues*width:min((i+1)*chunkValues, n)*width], chunks[i], &l)
	})
	if err != nil || xxh3.Hash(data) != sum {
		return nil, ErrCorrupt
	}
	return data, nil
}

// decodeChunk decodes the elements of a chunk to data.
func (w *workspace) decodeChunk(data, code []byte, l *Layout) error {
	width := l.Width
	r := &parse.Cursor{Rest: code}
	m, digits := mode(r.Byte()), int(r.Byte())
	if m >= modes || digits > maxDigits || m == modeSignificant && digits == 0 || (m == modeIntegers) != (l.Type != Float) {
		return ErrCorrupt
	}
	v := &values{numbering: newNumbering(m, digits, width)}
	count := len(data) / width
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
		v.pad = max(v.pad, p.reach())
	}
	v.room(w, count, false)
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
	v.put(data, v.own())
	for i, at := range exceptions {
		copy(data[at*width:(at+1)*width], verbatim[i*width:])
	}
	if l.BigEndian {
		reverseBytes(data, width)
	}
	return nil
}

// decodeBlocks decodes the blocks of a chunk to v.
func (w *workspace) decodeBlocks(r *parse.Cursor, v *values, list []predictor) error {
	blocks := blocksOf(len(v.own()))
	classes := take(w.mixed, len(v.own()))[:0] // of all blocks, those that are coded still unknown
	var coded [][]byte                         // parts of these
	mixed := 0
	for i := range blocks {
		b := &blocks[i]
		first, second := r.Byte(), r.Byte()
		own := classes[len(classes):][:b.count]
		classes = classes[:len(classes)+b.count]
		if second&constantFlag != 0 {
			class := r.ByteAtMost(maxClass)
			for i := range own {
				own[i] = class
			}
		} else {
			coded = append(coded, own)
			mixed += b.count
		}
		if second &^= constantFlag; r.Failed() || int(first) >= len(list) || int(second) >= len(list) {
			return ErrCorrupt
		}
		b.pair = [2]predictor{list[first], list[second]}
	}
	w.mixed = classes
	if mixed > 0 {
		table, code := r.Block(), r.Block()
		if r.Failed() || w.decodeClasses(coded, table, code) != nil {
			return ErrCorrupt
		}
	}
	padded := append(append(w.rest[:0], r.Rest...), make([]byte, readerPadding)...)
	w.rest = padded
	for i := range blocks {
		b := &blocks[i]
		own := classes[b.first:][:b.count]
		bits, ok := readResiduals(v.own()[b.first:][:b.count], own, padded)
		if !ok {
			return ErrCorrupt
		}
		padded = padded[(bits+7)/8:]
		v.restore(b.pair, own, b.first)
	}
	if len(padded) != readerPadding {
		return ErrCorrupt
	}
	return nil
}
