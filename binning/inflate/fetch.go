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

	// A segment of BGZF holds whole members, and no other bytes.
	bgzf  bool
	text  int  // what they have of it
	empty bool // the last of them is

	users int // tasks that read it, and the reader itself
}

func (s *segment) end() int64 { return s.at + int64(s.own) }

// fetcher cuts the input into segments.
type fetcher struct {
	in      io.Reader
	at      int64  // where the next segment begins
	carry   []byte // read already: what it begins with
	err     error  // of in
	bgzf    bool   // a member of BGZF may be next
	started bool
	most    int // bytes of text that a segment of BGZF has at most, or those of one member
}

// room returns how large the buffer must be for a segment of so many own bytes.
func (f *fetcher) room(own int) int {
	if f.bgzf || !f.started {
		own = max(own, bgzfMember)
	}
	return own + overlap
}

// next reads the next segment into buf, which is room(own) bytes long or longer. It must not
// be called behind the last one.
func (f *fetcher) next(buf []byte, s *segment) {
	n := copy(buf, f.carry)
	if n < len(buf) && f.err == nil {
		var k int
		k, f.err = io.ReadFull(f.in, buf[n:])
		n += k
		if f.err == io.ErrUnexpectedEOF {
			f.err = io.EOF
		}
	}
	if !f.started {
		f.started = true
		f.bgzf = isBGZF(buf[:n])
	}
	*s = segment{buf: buf[:n], at: f.at}
	if f.bgzf {
		f.members(s)
		if s.own > 0 {
			s.bgzf = true
			f.carry = append(f.carry[:0], s.buf[s.own:]...)
			s.buf = s.buf[:s.own]
			f.at += int64(s.own)
			return
		}
		f.bgzf = false // something else follows, or nothing
	}
	if s.own = len(buf) - overlap; n < len(buf) {
		s.own = n
	}
	if s.last = f.err != nil && s.own == n; s.last && f.err != io.EOF {
		s.err = f.err
	}
	f.carry = append(f.carry[:0], s.buf[s.own:]...)
	f.at += int64(s.own)
}

// members finds the members of BGZF that are whole. One that is cut off, or does not have the size that it gives, is none of them: it is
// read as any other gzip.
func (f *fetcher) members(s *segment) {
	for isBGZF(s.buf[s.own:]) {
		rest := s.buf[s.own:]
		size := bgzfSize(rest)
		if size < bgzfLeast || size > len(rest) {
			return
		}
		next := rest[size:]
		if len(next) < bgzfHeader && f.err == nil && s.own > 0 || !mayFollow(next) {
			return // in the next segment, if it is one
		}
		_, n := memberSum(rest[size-footerSize:])
		if n > bgzfMember {
			return
		}
		text := int(n)
		if s.text > 0 && s.text+text > f.most {
			return
		}
		s.text += text
		s.own += size
		s.empty = n == 0
	}
}
