package inflate

import (
	"io"
	"sync/atomic"

	"orcomgo/internal/deflate"
)

// memberEnd is the end of a member's text.
type memberEnd struct {
	at        int // bytes of the span's text before it
	crc, size uint32
}

// place in the input where decoding goes on
type phase uint8

const (
	atFirst   phase = iota // the header of the first member
	inDeflate              // see the decoder
	atFooter               // the footer of a member
	behind                 // a member: another may follow
)

// work is what a task needs until its text is complete.
type work struct {
	d      *decoder
	before resolver // the text before it; used by finish
}

// span is a run of text, decoded in one task from one or two segments.
type span struct {
	segs []*segment // the first is where it begins
	from int64      // the bit where it begins
	stop int64      // where to stop, if a block or member begins

	// How it is decoded. If nothing is known of what comes before, a place is looked for from
	// the first segment's begin on; else it begins at the bit, in the phase given, with a
	// decoder as it was left there.
	speculative bool
	member      bool // it was found to begin with a member
	phase       phase
	*work

	buf    []byte // the decoder's output; may be exchanged
	textAt int    // where in it the text begins
	grow   func(buf []byte, size int) []byte
	quit   *atomic.Bool

	// The result: where it ends, in which phase.
	to       int64
	err      error // behind the text; a speculative one is of no use then
	ends     []memberEnd
	reset    bool  // a member began, at streamAt
	streamAt int64 // the byte where the deflate stream begins
	full     bool  // it ended for lack of room
	// otherGzip is set if a member began that is not one of BGZF.
	otherGzip bool

	sums []uint32 // CRC-32 of the text up to each end, and behind the last

	// Of the reader.
	done    bool // the task is
	ready   bool // its text is complete
	dropped bool // nobody wants it
	parts   int32
}

// position is the absolute bit that the decoder is at.
func (s *span) position(seg int) int64 { return s.segs[seg].at*8 + int64(s.d.bit) }

// text returns how many bytes of text there are so far.
func (s *span) length() int {
	d := s.d
	if d.wide {
		return (d.n - s.textAt) / 2
	}
	return (d.wideEnd-s.textAt)/2 + d.n - d.wideEnd
}

// run is the task.
func (s *span) run() {
	if !s.speculative {
		s.textAt = windowSize
		s.d.wide, s.d.wideEnd = false, windowSize
		s.use(s.buf)
		s.decode(s.from)
		s.sum()
		return
	}
	s.search()
}

// use makes buf the decoder's output.
func (s *span) use(buf []byte) {
	s.buf = buf
	s.d.out, s.d.limit = buf, len(buf)-slack
}

// search looks for a place to begin at, and decodes from there. What turns out to be wrong in
// the first block was no such place.
func (s *span) search() {
	seg := s.segs[0]
	f := newFinder(seg.buf, 0, 8*seg.own)
	tried := 0 // bytes of text decoded from wrong places
	for {
		at, ok := f.next()
		if !ok || s.quit.Load() {
			s.err = errNowhere
			return
		}
		s.ends, s.reset, s.otherGzip, s.err, s.full = s.ends[:0], false, false, nil, false
		s.use(s.buf)
		s.from, s.member = seg.at*8+int64(at.bit), at.header
		d := s.d
		d.reset(seg.buf, at.bit)
		if at.header {
			s.phase = behind
			s.textAt = 0
			d.wide, d.wideEnd, d.low, d.n = false, 0, 0, 0
		} else {
			s.phase = inDeflate
			s.textAt = 2 * windowSize
			copy(s.buf, unknownWindow[:])
			d.wide, d.wideEnd, d.low, d.n = true, 0, 0, 2*windowSize
		}
		s.decode(s.from)
		if s.err == nil {
			break
		}
		if s.err == errQuit || d.blocks > 0 || s.reset && !at.header {
			return // probably a right place, and damaged data; in any case of no use
		}
		if tried += s.length() + 64; tried > 1<<20 {
			return
		}
	}
	if s.d.wide {
		s.d.wideEnd = s.d.n
	}
	if s.d.wideEnd <= s.textAt {
		s.sum()
	}
}

// unknownWindow are symbols that refer to the unknown bytes before a text.
var unknownWindow [2 * windowSize]byte

func init() {
	for i := range windowSize {
		unknownWindow[2*i] = byte((256 + i) & 255)
		unknownWindow[2*i+1] = byte((256 + i) >> 8)
	}
}

// decode decodes from a bit on.
func (s *span) decode(from int64) {
	d := s.d
	seg := 0
	if len(s.segs) > 1 && from >= s.segs[0].end()*8 {
		seg = 1
	}
	enter := func() {
		d.in = s.segs[seg].buf
		d.bit = int(from - s.segs[seg].at*8)
	}
	enter()
	for s.err == nil {
		short := false
		switch s.phase {
		case inDeflate:
			stop := s.stop - s.segs[seg].at*8
			switch d.run(int(max(stop, 0))) {
			case needInput:
				short = true
			case memberEnds:
				s.phase = atFooter
			case outputFull:
				if s.grow != nil {
					if buf := s.grow(s.buf, d.n); buf != nil {
						s.use(buf)
						continue
					}
				}
				s.full = true
				s.to = s.position(seg)
				return
			case atStop:
				s.to = s.position(seg)
				return
			case corrupt:
				s.err = CorruptError(s.segs[seg].at + int64(d.bit/8) - s.streamAt)
				return
			default:
				s.err = errQuit
				return
			}
		case atFooter:
			if short = len(d.in)-d.bit/8 < footerSize; !short {
				crc, size := memberSum(d.in[d.bit/8:])
				s.ends = append(s.ends, memberEnd{s.length(), crc, size})
				d.bit += 8 * footerSize
				s.phase = behind
			}
		case behind, atFirst:
			head := d.in[d.bit/8:]
			if s.phase == behind && (len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b) ||
				s.position(seg) >= s.stop && s.position(seg) > s.from {
				s.to = s.position(seg)
				return
			}
			n, err := deflate.HeaderSize(head)
			switch {
			case err == deflate.ErrShort:
				short = true
			case err != nil:
				s.err = err
			default:
				s.begin(d.bit + 8*n)
				s.otherGzip = s.otherGzip || !deflate.IsBGZF(head)
				s.streamAt = s.position(seg) / 8
			}
		}
		if !short {
			continue
		}
		// The next segment may have more.
		from = s.position(seg)
		if seg+1 == len(s.segs) || from < s.segs[seg].end()*8 {
			if s.to = from; s.segs[seg].last && s.segs[seg].err == nil {
				s.err = io.ErrUnexpectedEOF
			} else if s.segs[seg].last {
				s.err = s.segs[seg].err
			}
			return
		}
		seg++
		enter()
	}
}

// begin begins with the deflate stream at a bit of the input.
func (s *span) begin(bit int) {
	d := s.d
	if d.wide {
		d.wide, d.wideEnd = false, d.n
	}
	d.reset(d.in, bit)
	d.low = d.n
	s.reset, s.phase = true, inDeflate
}

// window returns the last bytes of the text, up to windowSize of them, that the text behind it
// may refer to; last are the ones before it.
func (s *span) window(dst []byte, last []byte) []byte {
	d := s.d
	if !d.wide {
		return append(dst[:0], d.out[max(d.low, d.n-windowSize):d.n]...)
	}
	n := min(windowSize, len(last)+(d.n-s.textAt)/2)
	dst = dst[:n]
	s.before.resolve(dst, d.out[d.n-2*n:d.n], n)
	return dst
}

// finish completes the text, when before is set.
func (s *span) finish() {
	s.before.resolve(s.buf[s.textAt:], s.buf[s.textAt:], (s.d.wideEnd-s.textAt)/2)
	s.sum()
}

// sections returns the text, which may be in two places.
func (s *span) sections() (first, second []byte) {
	n := (s.d.wideEnd - s.textAt) / 2
	return s.buf[s.textAt:][:n], s.buf[s.d.wideEnd:s.d.n]
}

// sum computes the CRC-32 of the text between the ends of members.
func (s *span) sum() {
	a, b := s.sections()
	s.sums = s.sums[:0]
	from := 0
	for i := 0; i <= len(s.ends); i++ {
		to := len(a) + len(b)
		if i < len(s.ends) {
			to = s.ends[i].at
		}
		crc := uint32(0)
		if from < len(a) {
			crc = updateCRC(crc, a[from:min(to, len(a))])
		}
		if to > len(a) {
			crc = updateCRC(crc, b[max(from, len(a))-len(a):to-len(a)])
		}
		s.sums = append(s.sums, crc)
		from = to
	}
}
