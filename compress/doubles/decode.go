package doubles

import (
	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

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
		padded := w.pad(code[len(code)-len(r.Rest)-len(raw):], len(raw))
		bl := block{pair: [2]predictor{list[a&127], list[b]}, xor: a&128 != 0}
		if !w.decode(v, data[first*width:last*width], &bl, classes, padded, first) {
			return ErrCorrupt
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
