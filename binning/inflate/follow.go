package inflate

import (
	"io"

	"orcomgo/internal/deflate"
)

// member looks at what is where a member may begin. It returns true if one does, else
// whether more of the input is needed to tell; if not, the chain has moved.
func (z *Reader) member() (ok, wait bool) {
	c := &z.chain
	seg := z.segs[0]
	head := seg.buf[c.at/8-seg.at:]
	if c.phase == behind && (c.pad || len(head) == 0 || head[0] != 0x1f || len(head) > 1 && head[1] != 0x8b) {
		for i, b := range seg.buf[c.at/8-seg.at : seg.own] {
			if b != 0 {
				c.err = &GarbageError{z.offset + uint64(c.at/8) + uint64(i), b}
				return false, false
			}
		}
		c.pad = c.pad || len(head) > 0
		c.at = seg.end() * 8
		if seg.last {
			switch c.err = io.EOF; {
			case seg.err != nil:
				c.err = seg.err
			case c.textLast && !c.otherGzip:
				c.err = ErrBGZFEnd
			}
		}
		return false, false
	}
	// The header may be longer than what this segment has of it.
	end := seg
	for k := 1; ; k++ {
		n, err := deflate.HeaderSize(head)
		if err == nil {
			if k > 1 {
				at := c.at/8 + int64(n)
				c.at, c.streamAt, c.phase, c.otherGzip, c.window = at*8, at, inDeflate, c.otherGzip || !deflate.IsBGZF(head), c.window[:0]
				c.d.reset(nil, 0)
			}
			z.want = 0
			return k == 1, false
		}
		if err != deflate.ErrShort {
			c.err = err
			return false, false
		}
		if end.last {
			if c.err = io.ErrUnexpectedEOF; end.err != nil {
				c.err = end.err
			}
			return false, false
		}
		if k >= len(z.segs) {
			z.want = k + 2
			return false, true
		}
		end = z.segs[k]
		have := int64(len(head)) + c.at/8 - end.at
		head = append(head[:len(head):len(head)], end.buf[have:]...)
	}
}

// accept takes what a task found as what comes next, if it is.
func (z *Reader) accept(s *span) bool {
	c := &z.chain
	if s.member {
		if c.phase != behind {
			return false
		}
	} else if c.phase != inDeflate || c.d.place != atBlock {
		return false
	}
	wide := (s.d.wideEnd - s.textAt) / 2
	if wide > 0 {
		if len(c.window) < windowSize && !known(s.buf, s.textAt, wide, len(c.window)) {
			return false // before the member's beginning
		}
		s.before.set(c.window)
	}
	z.spans[0] = nil
	z.stats.accepted++
	z.stats.wide += wide
	z.extend(s)
	if wide > 0 {
		z.begin(s, s.finish, true)
	} else {
		s.ready = true
	}
	return true
}

// extend moves the chain to the end of a span.
func (z *Reader) extend(s *span) {
	c := &z.chain
	c.at, c.phase, c.err = s.to, s.phase, s.err
	var next [windowSize]byte
	c.window = append(c.window[:0], s.window(next[:], c.window)...)
	if s.reset {
		c.streamAt, c.otherGzip = s.streamAt, c.otherGzip || s.otherGzip
	}
	if n := len(s.ends); n > 0 {
		c.textLast = s.ends[n-1].size > 0
	}
	z.queue = append(z.queue, s)
	if s.speculative && !s.full && len(s.ends) == 0 {
		// Room for a little more than the last segments had.
		if in := int(s.to-s.from) / 8; in > z.chunk/4 {
			z.ratio = (z.ratio*3 + s.length()*16/in + 3) / 4
		}
	}
	// The span's decoder is where the next one goes on, unless the span has still to be
	// finished: then a copy of its state is.
	c.d.follow(s.d)
}

// follow makes d go on where o stopped.
func (d *decoder) follow(o *decoder) {
	d.place, d.final, d.stored = o.place, o.final, o.stored
	if d.t = o.t; o.t == o.own && o.place == inCodes {
		*d.own = *o.own
		d.t = d.own
	}
}

// direct begins a task that goes on from the chain's end.
func (z *Reader) direct(stop int64) {
	c := &z.chain
	// Room for the text of a segment; what has more text is decoded in several tasks.
	own := min(z.chunk, max(z.segs[0].own, leastChunk))
	text := own*z.ratio/16 + own/2
	buf := z.pool.get(windowSize+text+slack, len(z.queue) == 0)
	if buf == nil {
		return // till some text has been taken
	}
	s := z.newSpan(z.segs[:min(2, len(z.segs))])
	s.buf = buf
	s.from, s.stop, s.phase, s.streamAt = c.at, stop, c.phase, c.streamAt
	s.d.blocks = 0
	s.d.follow(c.d)
	copy(s.buf[windowSize-len(c.window):], c.window)
	s.d.low, s.d.n = windowSize-len(c.window), windowSize
	z.running = s
	z.stats.direct++
	z.begin(s, s.run, true)
}

// pop hands out the first span's text.
func (z *Reader) pop() {
	s := z.queue[0]
	z.queue[0] = nil
	z.queue = z.queue[1:]
	first, second := s.sections()
	length := len(first) + len(second)
	from := 0
	for i, sum := range s.sums {
		to := length
		if i < len(s.ends) {
			to = s.ends[i].at
		}
		z.crc = combineCRC(z.crc, sum, to-from)
		z.size += uint32(to - from)
		from = to
		if i == len(s.ends) {
			break
		}
		if e := s.ends[i]; e.crc != z.crc || e.size != z.size {
			// What is behind is of no use.
			z.err = ErrChecksum
			first, second = first[:min(to, len(first))], second[:max(0, to-len(first))]
			break
		}
		z.crc, z.size = 0, 0
	}
	z.pieces, z.end = z.pieces[:0], s.to/8
	for _, text := range [][]byte{first, second} {
		if len(text) > 0 {
			z.taken += int64(len(text))
			z.pieces = append(z.pieces, &Piece{text, s, z})
		}
	}
	z.retire(s)
	if s.parts = int32(len(z.pieces)); s.parts == 0 {
		z.pool.put(s.buf)
	}
	if z.err != nil {
		z.finish()
	}
}
