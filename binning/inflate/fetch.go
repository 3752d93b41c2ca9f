package inflate

import "io"

// overlap is how many bytes of the next segment a segment holds too: more than the header of
// a block takes, or a symbol. So what begins in a segment's own bytes can be read from it,
// and what begins behind them from the next one.
const overlap = 1 << 10

// segment is a part of the compressed input.
type segment struct {
	buf  []byte // its own bytes, and those that overlap with the next segment
	own  int
	at   int64 // where in the input buf begins
	last bool  // nothing follows buf
	err  error // of reading, if last; nil at the end of the input

	users int // tasks that read it, and the reader itself
}

func (s *segment) end() int64 { return s.at + int64(s.own) }

// fetcher cuts the input into segments.
type fetcher struct {
	in    io.Reader
	at    int64  // where the next segment begins
	carry []byte // read already: what it begins with
	err   error  // of in
}

// next reads the next segment into buf, which has overlap bytes more than the segment is to have of its own. It must
// not be called behind the last one.
func (f *fetcher) next(buf []byte) *segment {
	n := copy(buf, f.carry)
	if n < len(buf) && f.err == nil {
		var k int
		k, f.err = io.ReadFull(f.in, buf[n:])
		n += k
		if f.err == io.ErrUnexpectedEOF {
			f.err = io.EOF
		}
	}
	s := &segment{buf: buf[:n], at: f.at}
	if s.own = len(buf) - overlap; n < len(buf) {
		s.own = n
	}
	if s.last = f.err != nil && s.own == n; s.last && f.err != io.EOF {
		s.err = f.err
	}
	f.carry = append(f.carry[:0], s.buf[s.own:]...)
	f.at += int64(s.own)
	return s
}
