package quals

import "orcomgo/compress/rangecoder"

// stream is what an engine codes to or from. An engine encodes and decodes in one loop: the decisions of encoding are collected, and
// written when there are many; the state of the decoder is in registers.
type stream struct {
	enc   *rangecoder.Encoder // nil when decoding
	dec   *rangecoder.Decoder
	batch [batchFull + maxDepth]rangecoder.Decision
	n     int
}

const (
	batchFull = 4096
	maxDepth  = 64 // of a tree that was made from frequencies: the largest is less than the Fibonacci number
)

// flush writes the decisions of the batch.
func (s *stream) flush() {
	s.enc.EncodeAll(s.batch[:s.n])
	s.n = 0
}

// add encodes a bit that has probability p of being 1.
func (s *stream) add(p uint32, bit uint64) {
	s.batch[s.n] = rangecoder.Decision(p<<1 | uint32(bit))
	s.n++
}

// full is called after each symbol, so that the batch has room for the next one.
func (s *stream) full() {
	if s.n >= batchFull {
		s.flush()
	}
}

// state returns that of the decoder, if it decodes.
func (s *stream) state() (code, size uint64) {
	if s.dec != nil {
		return s.dec.State()
	}
	return 0, 0
}

func (s *stream) setState(code, size uint64) {
	if s.dec != nil {
		s.dec.SetState(code, size)
	}
}

// engine codes values with the models of one level.
type engine interface {
	// start begins a read, of which the letters are given if the column has them.
	start(bases []byte)
	// code encodes the next values of a read, or decodes them into part.
	code(s *stream, part []byte)
}

// partBytes is how many values of a read are coded at once, so that a damaged stream is soon noticed.
const partBytes = 1 << 16

// encode appends the decisions of a column to out.
func encode(e engine, out []byte, in *Input) []byte {
	s := &stream{enc: rangecoder.NewEncoder(out)}
	src, bases := in.Quals, in.Bases
	for r := range in.Records {
		n := in.Lengths.Of(r)
		in.tick(n)
		bases = startRead(e, bases, n)
		e.code(s, src[:n])
		src = src[n:]
	}
	s.flush()
	return s.enc.Finish()
}

// decode appends the values that encode coded to dst, which has total bytes in the end.
func decode(e engine, data []byte, in *Input, total int, dst []byte) ([]byte, error) {
	s := &stream{dec: rangecoder.NewDecoder(data)}
	bases := in.Bases
	for r := range in.decoded() {
		n := in.Lengths.Of(r)
		in.tick(n)
		bases = startRead(e, bases, n)
		for n > 0 {
			part := min(n, partBytes)
			n -= part
			if s.dec.Overrun() {
				return nil, ErrCorrupt
			}
			dst = grow(dst, part, total)
			dst = dst[:len(dst)+part]
			e.code(s, dst[len(dst)-part:])
		}
	}
	if s.dec.Err() != nil && in.decoded() == in.Records || s.dec.Overrun() {
		return nil, ErrCorrupt
	}
	return dst, nil
}

// startRead begins a read of n values, and returns the bases after it.
func startRead(e engine, bases []byte, n int) []byte {
	if bases == nil {
		e.start(nil)
		return nil
	}
	e.start(bases[:n])
	return bases[n:]
}

// grow returns dst with room for n more bytes. It doubles the room, up to total bytes.
func grow(dst []byte, n, total int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	g := make([]byte, len(dst), max(len(dst)+n, min(total, max(1<<20, 2*len(dst)))))
	copy(g, dst)
	return g
}
