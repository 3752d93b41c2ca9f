package gzexact

import (
	"bytes"
	"encoding/binary"
	"io"

	"orcomgo/internal/deflate"
)

// scanner reads a file in frames.
type scanner struct {
	inflater
	*frame   // which was begun; its text is that of the inflater
	template *template
	most     int   // bytes of text of a frame, but for the last part
	raw      int   // bytes of raw parts of the frame
	within   bool  // a member
	header   int   // in parts, of the member, or -1
	headerAt int64 // in the file
	members  int   // that have ended

	memberBegins, segmentText int64   // where in the text of the file the member begins, and the segment
	segmentEnds               []int64 // from the frame on that is completed next
	lastEnd                   int64   // of those before
	atEnd                     bool    // of the file
}

const pigzPiece = 128 << 10

func newScanner(gz io.Reader) *scanner {
	s := &scanner{frame: &frame{}, most: frameText}
	s.init(gz)
	s.begin()
	return s
}

// begin begins a frame behind that of the text before.
func (s *scanner) begin() {
	text := s.inflater.text
	keep := kept(len(text))
	by := len(text) - keep
	s.inflater.text = append(make([]byte, 0, frameText+2*windowSize+tailBytes+padBytes), text[by:]...)
	s.frame = &frame{from: keep, bit: byte(s.Bit & 7), inside: s.within, start: s.start + int64(by), memberText: s.memberBegins}
	s.inflater.member = max(s.inflater.member-by, 0)
	s.raw, s.header = 0, -1
}

// textRead returns how much text was read.
func (s *scanner) textRead() int64 { return s.start + int64(len(s.inflater.text)) }

// next returns the next frame, without what is only known when the one behind it was read; nil at the end of the file.
func (s *scanner) next() (*frame, error) {
	for !s.atEnd {
		if err := s.part(); err != nil {
			return nil, err
		}
		text := len(s.inflater.text) - s.from
		memberEnds := !s.within && s.template.sizeAt == 0 && (text >= leastMember || s.members <= singleMembers)
		if text >= s.most || memberEnds || len(s.parts) == frameParts || s.raw >= frameRaw {
			break
		}
	}
	f := s.frame
	if len(s.parts) == 0 {
		return nil, nil
	}
	f.text, f.to = s.inflater.text, len(s.inflater.text)
	s.begin()
	return f, nil
}

// part reads a part of the file.
func (s *scanner) part() error {
	if s.within {
		return s.blockPart()
	}
	at := s.place()
	s.load(maxRaw + 1)
	if !bytes.HasPrefix(s.rest(), []byte("\x1f\x8b\x08")) {
		return s.junk(at == 0)
	}
	n, err := deflate.HeaderSize(s.rest())
	if err != nil || n > maxRaw {
		s.Short = err == deflate.ErrShort
		return s.bad("a wrong gzip header")
	}
	p := part{event: eventRaw, raw: bytes.Clone(s.rest()[:n])}
	if s.template == nil {
		s.template = newTemplate(p.raw)
	}
	s.header, s.headerAt = len(s.parts), at
	s.add(p, n)
	s.within, s.inflater.member = true, len(s.inflater.text)
	s.memberBegins, s.segmentText = s.textRead(), s.textRead()
	return nil
}

// add adds a part with so many raw bytes.
func (s *scanner) add(p part, raw int) {
	s.raw, s.Bit, s.parts = s.raw+raw, s.Bit+8*raw, append(s.parts, p)
}

// junk reads bytes behind the last member.
func (s *scanner) junk(first bool) error {
	raw := bytes.Clone(s.rest()[:min(len(s.rest()), maxRaw)])
	if s.atEnd = len(raw) == 0; first || s.atEnd && s.err != io.EOF {
		return s.bad("it has no gzip header")
	}
	if !s.atEnd {
		s.add(part{event: eventRaw, raw: raw}, len(raw))
	}
	return nil
}

// blockPart reads a block, and the trailer of the member behind it.
func (s *scanner) blockPart() error {
	p := part{event: eventBlock}
	b := &p.block
	if err := s.inflater.block(b); err != nil {
		return err
	}
	switch {
	case b.kind == storedBlock && b.size > 0:
		p.event = eventStored
	case b.kind == storedBlock:
		p.event = eventEmptyStored
	case b.kind == staticBlock && len(b.tokens) == 0:
		p.event = eventEmptyStatic
	}
	at := s.textRead()
	piece := (at-s.memberBegins)%pigzPiece == 0 && s.Bit&7 == 0 // pigz flushes, though there is no sign of it
	if (b.final || b.size == 0 || piece) && at > s.segmentText {
		s.segmentEnds = append(s.segmentEnds, at)
		s.segmentText = at
	}
	if !b.final {
		s.add(p, 0)
		return nil
	}
	if err := s.align(); err != nil {
		return err
	}
	s.load(trailerBytes)
	if !s.Need(8 * trailerBytes) {
		return s.bad("")
	}
	p.trailer = binary.LittleEndian.Uint64(s.rest())
	s.Bit += 8 * trailerBytes
	s.within = false
	s.members++
	if s.header >= 0 && s.template.fits(s.parts[s.header].raw, s.place()-s.headerAt) {
		s.parts[s.header].event = eventMember
	}
	s.add(p, 0)
	return nil
}

// finish completes a frame, given the one behind it, if there is one.
func (s *scanner) finish(f, behind *frame) {
	f.content = f.to
	if behind != nil {
		tail := behind.text[behind.from:behind.to]
		f.text = append(f.text, tail[:min(len(tail), tailBytes)]...)
		f.content = len(f.text)
	}
	f.text = append(f.text, make([]byte, padBytes)...)
	for len(s.segmentEnds) > 0 && s.segmentEnds[0] <= f.start+int64(f.from) {
		s.lastEnd, s.segmentEnds = s.segmentEnds[0], s.segmentEnds[1:]
	}
	f.segment = int(max(s.lastEnd, f.memberText) - f.start)
	for _, e := range s.segmentEnds {
		f.ends = append(f.ends, int(e-f.start))
	}
}
