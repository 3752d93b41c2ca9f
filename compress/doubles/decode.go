package doubles

import (
	"github.com/zeebo/xxh3"

	"orcomgo/bins/parse"
)

// Decode is the inverse of Encode, for data of at most limit bytes.
func Decode(stream []byte, limit, threads int) ([]byte, error) {
	r := &parse.Cursor{Rest: stream}
	version := r.Byte()
	if version != versionBlocks && version != versionCompact {
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
		return decodeChunk(body[i*chunkValues*width:min((i+1)*chunkValues, n)*width], chunks[i], width, version)
	})
	if err != nil || xxh3.Hash(data) != sum {
		return nil, ErrCorrupt
	}
	return data, nil
}

// decodeChunk decodes the floats of a chunk of a stream of a version to data.
func decodeChunk(data, code []byte, width int, version byte) error {
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
	decode := w.decodeBlocks
	if version == versionCompact && count < fewValues {
		decode = w.decodeCompact
	}
	if err := decode(r, v, list, data); err != nil {
		return err
	}
	if r.Failed() || len(r.Rest) > 0 {
		return ErrCorrupt
	}
	for i, at := range exceptions {
		copy(data[at*width:(at+1)*width], verbatim[i*width:])
	}
	return nil
}

// decodeBlocks decodes blocks that are coded each by itself.
func (w *workspace) decodeBlocks(r *parse.Cursor, v *values, list []predictor, data []byte) error {
	count, width := len(data)/v.width, v.width
	size := blockValues
	if count < fewValues {
		size = 1 << 10 // as chunks of few values were coded before there was the compact form
	}
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
		rest := r.Rest
		raw := r.Block()
		if r.Failed() || int(a&127) >= len(list) || int(b) >= len(list) {
			return ErrCorrupt
		}
		classes, err := w.decodeClasses(classCode, coding, last-first)
		if err != nil {
			return err
		}
		padded := w.pad(rest[len(rest)-len(r.Rest)-len(raw):], len(raw))
		bl := block{pair: [2]predictor{list[a&127], list[b]}, xor: a&128 != 0}
		z := w.first[:len(classes)]
		if _, ok := readResiduals(z, classes, padded, 0); !ok {
			return ErrCorrupt
		}
		w.decode(v, data[first*width:last*width], &bl, classes, z, first)
	}
	return nil
}

// decodeCompact decodes blocks in the compact form.
func (w *workspace) decodeCompact(r *parse.Cursor, v *values, list []predictor, data []byte) error {
	n := len(data) / v.width
	type form struct {
		a, b, class byte
	}
	var forms [compactBlocks]form
	blocks := 0
	mixed := 0
	for last := 0; last < n; blocks++ {
		var first int
		first, last = compactBlock(blocks, n)
		f := form{a: r.Byte(), b: r.Byte()}
		if f.b&constantFlag != 0 {
			f.class = r.Byte()
		} else {
			mixed += last - first
		}
		if r.Failed() || int(f.a&^xorFlag) >= len(list) || int(f.b&^constantFlag) >= len(list) {
			return ErrCorrupt
		}
		forms[blocks] = f
	}
	coded := take(&w.mixed, mixed)
	if mixed > 0 {
		code := r.Block()
		if r.Failed() {
			return ErrCorrupt
		}
		if err := w.decoder.decode(coded, code); err != nil {
			return err
		}
	}
	padded := w.pad(r.Rest, len(r.Rest))
	r.Rest = nil
	bit := 0
	for i := range blocks {
		first, last := compactBlock(i, n)
		f, classes := forms[i], w.classes[:last-first]
		if f.b&constantFlag != 0 {
			for i := range classes {
				classes[i] = f.class
			}
		} else {
			classes, coded = coded[:last-first], coded[last-first:]
		}
		z := w.first[:len(classes)]
		var ok bool
		if bit, ok = readResiduals(z, classes, padded, bit); !ok {
			return ErrCorrupt
		}
		bl := block{pair: [2]predictor{list[f.a&^xorFlag], list[f.b&^constantFlag]}, xor: f.a&xorFlag != 0}
		w.decode(v, data[first*v.width:last*v.width], &bl, classes, z, first)
	}
	if (bit+7)/8 != len(padded)-readerPadding {
		return ErrCorrupt
	}
	return nil
}
