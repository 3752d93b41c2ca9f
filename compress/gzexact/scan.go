package gzexact

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// scanner reads a file in frames.
type scanner struct {
	inflater
	template *template
	start    int64 // of text[0] in the text of the file
	from     int   // of the frame in text
	parts    []part
	raw      int    // bytes of raw parts of the frame
	crc      uint32 // of the text of the member up to summed
	summed   int
	size     uint32 // of the text of the member
	within   bool   // a member
	header   int    // in parts, of the member, or -1
	headerAt int64  // in the file

	memberText, segment int64       // where the text of the member begins, and the segment
	reaches             bool        // a match of the segment refers to the text before it
	decided             bool        // whether the segment's beginning is marked if not
	ends                []endOfText // from the beginning of the frame that is completed next
	generation          int64       // the last of them that was cleared
	frame               *frame      // which was begun
	atEnd               bool        // of the file
}

// endOfText is a segmentEnd in the text of the file.
type endOfText struct {
	at    int64
	clear bool
}

const (
	pigzPiece    = 128 << 10
	leastCleared = 1 << 10 // a segment this long that does not refer to the text before it is taken for one that can't
)

func newScanner(gz io.Reader) *scanner {
	s := &scanner{}
	s.init(gz)
	s.begin(nil)
	return s
}

// begin begins a frame behind the text of the one before.
func (s *scanner) begin(text []byte) {
	keep := min(len(text), windowSize)
	by := len(text) - keep
	s.text = append(make([]byte, 0, frameTextMost+windowSize+tailBytes+padBytes), text[by:]...)
	s.start += int64(by)
	s.from, s.summed = keep, s.summed-by
	s.member = max(s.member-by, 0)
	s.frame = &frame{from: keep, bit: s.bit(), inside: s.within, start: s.start, memberText: s.memberText}
	s.parts, s.raw, s.header = nil, 0, -1
}

// place64 returns how much text was read.
func (s *scanner) place64() int64 { return s.start + int64(len(s.text)) }

// next returns the next frame, without what is only known when the one behind it was read; nil at the end of the file.
func (s *scanner) next() (*frame, error) {
	for !s.atEnd {
		if err := s.part(); err != nil {
			return nil, err
		}
		text := len(s.text) - s.from
		memberEnds := !s.within && s.template.sizeAt == 0 && text >= frameText/16 // perhaps that of another writer begins
		if text >= frameTextMost || text >= frameText && s.undecided() || memberEnds || len(s.parts) == frameParts || s.raw >= frameRaw {
			break
		}
	}
	f := s.frame
	if len(s.parts) == 0 {
		return nil, nil
	}
	f.text, f.to, f.parts, f.endBit = s.text, len(s.text), s.parts, s.bit()
	s.sum()
	s.begin(f.text)
	return f, nil
}

// undecided reports whether writers decide nothing of what follows before they see it: a segment begins, or the last token is a match.
func (s *scanner) undecided() bool {
	tokens := s.parts[len(s.parts)-1].block.tokens
	return s.segment == s.place64() || len(tokens) > 0 && tokens[len(tokens)-1].isMatch()
}

// part reads a part of the file.
func (s *scanner) part() error {
	if s.within {
		return s.blockPart()
	}
	at := s.place()
	header, err := s.memberHeader()
	if err != nil {
		return err
	}
	if header == nil {
		return s.junk(at == 0)
	}
	if s.template == nil {
		s.template = newTemplate(header)
	}
	p := part{event: eventRaw, raw: header}
	if s.template.sizeAt == 0 && s.template.fits(header, 0) {
		p.event = eventMember
	}
	s.raw += len(header)
	s.header, s.headerAt = len(s.parts), at
	s.parts = append(s.parts, p)
	s.within, s.member, s.crc, s.size, s.summed = true, len(s.text), 0, 0, len(s.text)
	s.memberText = s.place64()
	s.beginSegment()
	return nil
}

// junk reads bytes behind the last member.
func (s *scanner) junk(first bool) error {
	if first {
		return s.bad("it has no gzip header")
	}
	b := make([]byte, maxRaw)
	n, err := io.ReadFull(s.r, b)
	s.before += int64(n)
	s.raw += n
	if s.atEnd = n < maxRaw; s.atEnd && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if n > 0 {
		s.parts = append(s.parts, part{event: eventRaw, raw: b[:n]})
	}
	return nil
}

// sum goes on with the CRC-32 of the member.
func (s *scanner) sum() {
	if s.within {
		part := s.text[s.summed:]
		s.crc = crc32.Update(s.crc, crc32.IEEETable, part)
		s.size += uint32(len(part))
	}
	s.summed = len(s.text)
}

// blockPart reads a block, and the trailer of the member behind it.
func (s *scanner) blockPart() error {
	var p part
	b := &p.block
	if err := s.inflater.block(b); err != nil {
		return err
	}
	p.event = eventBlock
	switch {
	case b.kind == storedBlock && b.size > 0:
		p.event = eventStored
	case b.kind == storedBlock:
		p.event = eventEmptyStored
	case b.kind == staticBlock && len(b.tokens) == 0:
		p.event = eventEmptyStatic
	}
	s.seeReach(b)
	piece := (s.place64()-s.memberText)%pigzPiece == 0 && s.bit() == 0 // pigz flushes, though there is no sign of it
	if b.final || b.size == 0 || piece {
		s.endSegment()
	}
	if !b.final {
		s.parts = append(s.parts, p)
		return nil
	}
	s.sum()
	if err := s.align(); err != nil {
		return err
	}
	trailer, err := s.bytes(nil, trailerBytes)
	if err != nil {
		return err
	}
	p.trailer = binary.LittleEndian.Uint64(trailer)
	if p.trailer != uint64(s.crc)|uint64(s.size)<<32 {
		return s.bad("the text has another checksum or size than its trailer says")
	}
	s.within = false
	if s.header >= 0 && s.template.fits(s.parts[s.header].raw, s.place()-s.headerAt) {
		s.parts[s.header].event = eventMember
	}
	s.parts = append(s.parts, p)
	return nil
}

// beginSegment notes that a segment begins.
func (s *scanner) beginSegment() { s.segment, s.reaches, s.decided = s.place64(), false, false }

// seeReach notes whether the tokens of a block that was just read, within the segment's first 32 KiB, refer to the text before the segment.
func (s *scanner) seeReach(b *block) {
	at := s.place64() - int64(b.size) - s.segment
	for _, t := range b.tokens {
		if at >= windowSize || s.reaches {
			break
		}
		s.reaches = int64(t.dist()) > at
		at += int64(t.size())
	}
	if at >= windowSize {
		s.decide()
	}
}

// decide marks the beginning of the segment if it does not refer to the text before it.
func (s *scanner) decide() {
	if n := len(s.ends); !s.decided && !s.reaches && n > 0 && s.ends[n-1].at == s.segment && s.segment != s.memberText {
		s.ends[n-1].clear = s.place64()-s.segment >= leastCleared
	}
	s.decided = true
}

func (s *scanner) endSegment() {
	if at := s.place64(); at > s.segment {
		s.decide()
		s.ends = append(s.ends, endOfText{at: at})
		s.beginSegment()
	}
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
	start := f.start + int64(f.from)
	for len(s.ends) > 0 && s.ends[0].at <= start {
		f.atSegment = f.inside && s.ends[0].at == start
		if s.ends[0].clear {
			s.generation = s.ends[0].at
		}
		s.ends = s.ends[1:]
	}
	f.history = int(min(windowSize, start-max(s.generation, f.memberText)))
	for _, e := range s.ends {
		if at := e.at - f.start; at < int64(f.to+farAhead) {
			f.ends = append(f.ends, segmentEnd{int(at), e.clear})
		}
	}
}
