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
	members  int    // that have ended

	memberText, segment int64   // where in the text of the file the member begins, and the segment
	ends                []int64 // of segments, from the frame on that is completed next
	lastEnd             int64   // of those before
	frame               *frame  // which was begun
	atEnd               bool    // of the file
}

const pigzPiece = 128 << 10

func newScanner(gz io.Reader) *scanner {
	s := &scanner{}
	s.init(gz)
	s.begin(nil)
	return s
}

// begin begins a frame behind the text of the one before.
func (s *scanner) begin(text []byte) {
	keep := kept(len(text))
	by := len(text) - keep
	s.text = append(make([]byte, 0, frameTextMost+2*windowSize+tailBytes+padBytes), text[by:]...)
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
		memberEnds := !s.within && s.template.sizeAt == 0 && (text >= leastMember || s.members <= singleMembers)
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
	s.segment = s.memberText
	return nil
}

// junk reads bytes behind the last member.
func (s *scanner) junk(first bool) error {
	if first {
		return s.bad("it has no gzip header")
	}
	b, err := s.bytes(nil, maxRaw)
	if s.atEnd = err != nil; s.atEnd && s.err != io.EOF {
		return err
	}
	if s.raw += len(b); len(b) > 0 {
		s.parts = append(s.parts, part{event: eventRaw, raw: b})
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
	at := s.place64()
	piece := (at-s.memberText)%pigzPiece == 0 && s.bit() == 0 // pigz flushes, though there is no sign of it
	if (b.final || b.size == 0 || piece) && at > s.segment {
		s.ends = append(s.ends, at)
		s.segment = at
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
	s.members++
	if s.header >= 0 && s.template.fits(s.parts[s.header].raw, s.place()-s.headerAt) {
		s.parts[s.header].event = eventMember
	}
	s.parts = append(s.parts, p)
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
	for len(s.ends) > 0 && s.ends[0] <= f.start+int64(f.from) {
		s.lastEnd, s.ends = s.ends[0], s.ends[1:]
	}
	f.segment = int(max(s.lastEnd, f.memberText) - f.start)
	for _, e := range s.ends {
		if at := int(e - f.start); at < f.to+farAhead {
			f.ends = append(f.ends, at)
		}
	}
}
