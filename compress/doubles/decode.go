package doubles

import (
	"bytes"

	"orcomgo/bins/parse"
	"orcomgo/compress/general"
)

// Decode is the inverse of Encode, for data of size bytes.
func Decode(stream []byte, size int) ([]byte, error) {
	r := &parse.Cursor{Rest: stream}
	header := r.Int(size)
	flags := r.ByteAtMost(0x7f)
	l := Layout{Width: int(flags & 15), Type: Type(flags >> 4 & 3), BigEndian: flags>>6 == 1}
	if r.Failed() || l.Type >= types || !l.valid() || size > MaxSize || size > (len(stream)+slackBytes)*bytesPerByte {
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
	if n > 0 && !r.Failed() {
		err = new(workspace).decode(r, body[:n*l.Width], &l)
	}
	if err != nil || r.Failed() || len(r.Rest) > 0 {
		return nil, ErrCorrupt
	}
	return data, nil
}

// decode decodes elements to data.
func (w *workspace) decode(r *parse.Cursor, data []byte, l *Layout) error {
	width := l.Width
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
	exceptions := make([]int, r.Int(len(r.Rest)/(1+width)))
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

// decodeBlocks decodes blocks, to the end of the stream, to v.
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
	padded := append(bytes.Clone(r.Rest), make([]byte, readerPadding)...)
	r.Rest = nil
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
