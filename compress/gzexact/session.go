package gzexact

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"orcomgo/bins/parse"
)

// What comes next in a frame.
const (
	eventEnd         = iota // of the frame
	eventMember             // a member with the header of the template
	eventRaw                // bytes outside of members, or another header
	eventBlock              // a block of tokens
	eventStored             // a stored block with text
	eventEmptyStored        // a stored block without text: a flush
	eventEmptyStatic        // a static block without text: a flush, or the end of a member
)

// session codes a frame, or decodes one into bits.
type session struct {
	coding
	*frame
	template   *template
	predictor  predictor
	at         int  // in text
	within     bool // within a member
	begun      bool // the predictor has begun with this member
	open       bool // segmentEnd is known
	segmentEnd int
	size       int // of the last segment
	member     int // where the text of the member begins, or -1 if that is before the frame
	planned    block
	rights     int  // coding: how often the predictor was right since it was wrong; decoding: one more than how often it will be
	allRight   bool // decoding: it is right in the rest of the block
	wrong      int  // coding: how often it was not

	bits       bitWriter // the file, when decoding
	memberFrom int       // where in bits.out the header of the member is, if its size is to be set there; or -1
	allRaw     int       // bytes of all parts that are eventRaw
	most       int       // coding: see task
}

var errDamaged = fmt.Errorf("%w: description of a gzip file", parse.ErrCorrupt)

// run codes all parts of the frame.
func (s *session) run() error {
	s.at, s.within, s.begun, s.member, s.memberFrom = s.from, s.inside, s.inside, -1, -1
	if s.inside && !s.carriedOn {
		s.predictor.begin(s.text, s.from-s.history, s.from)
	}
	for i := 0; i <= frameParts; i++ {
		p := &part{event: eventEnd}
		switch {
		case s.Decoding():
			p.block.bit = byte(s.bits.n & 7)
		case i < len(s.parts):
			p = &s.parts[i]
		default:
			p.block.bit = s.endBit
		}
		p.event = s.number(numberEvent+s.context(p.block.bit), p.event)
		sound := true
		switch p.event {
		case eventEnd:
			if s.at != s.to {
				return errDamaged
			}
			return nil
		case eventMember:
			sound = !s.within
			s.header()
		case eventRaw:
			sound = !s.within && s.rawPart(p)
		default:
			sound = s.blockPart(p)
		}
		if !sound || s.Decoding() && s.Dec.Overrun() {
			return errDamaged
		}
		if s.most > 0 && s.Enc.Len() > s.most {
			return ErrUnknownWriter
		}
	}
	return errDamaged
}

// atEnd reports whether the text has reached the end of a segment.
func (s *session) atEnd() bool { return s.open && s.at == s.segmentEnd }

// context returns what the next event depends on.
func (s *session) context(bit byte) int {
	switch {
	case !s.within:
		return 0
	case s.atEnd():
		return 2 + int(bit)
	}
	return 1
}

// header begins a member with the header of the template.
func (s *session) header() {
	if s.Decoding() {
		if s.template.sizeAt > 0 {
			s.memberFrom = len(s.bits.out)
		}
		s.bits.bytes(s.template.header)
	}
	s.within, s.begun, s.open, s.member = true, false, false, s.at
}

// rawPart codes bytes outside of members. They may be the header of one.
func (s *session) rawPart(p *part) (ok bool) {
	p.raw, ok = s.rawBytes(p.raw)
	if s.allRaw += len(p.raw); s.Decoding() {
		s.bits.bytes(p.raw)
	}
	s.begun, s.open, s.member = false, false, s.at
	return ok && s.allRaw <= 2*frameRaw
}

// blockPart codes a block, and the trailer of a member behind it. The block may follow upon a header that was eventRaw.
func (s *session) blockPart(p *part) bool {
	b, start := &p.block, s.at
	s.within = true
	hasText := p.event == eventBlock || p.event == eventStored
	if hasText {
		if (!s.open || s.atEnd()) && !s.beginSegment() {
			return false
		}
		s.predictor.block()
	}
	switch sound := true; p.event {
	case eventBlock:
		if sound = s.tokens(b); sound {
			sound = s.plan(b)
		}
		if !sound {
			return false
		}
	case eventStored:
		if !s.stored(b) {
			return false
		}
	case eventEmptyStored:
		b.kind = storedBlock
	case eventEmptyStatic:
		b.kind = staticBlock
	default:
		return false
	}
	b.final = s.flag(numberFinal, b.final)
	if s.Decoding() {
		s.bits.block(b, s.text[start:])
	}
	if b.final {
		return s.endMember(p)
	}
	return true
}

// endMember codes the trailer of a member.
func (s *session) endMember(p *part) bool {
	s.within = false
	if s.member < 0 {
		p.trailer = uint64(s.Uniform(uint32(p.trailer), 32)) | uint64(s.Uniform(uint32(p.trailer>>32), 32))<<32
	} else {
		text := s.text[s.member:s.at]
		p.trailer = uint64(crc32.ChecksumIEEE(text)) | uint64(len(text))<<32
	}
	if s.Decoding() {
		s.bits.bytes(binary.LittleEndian.AppendUint64(nil, p.trailer))
		if s.memberFrom >= 0 {
			size := len(s.bits.out) - s.memberFrom
			binary.LittleEndian.PutUint16(s.bits.out[s.memberFrom+s.template.sizeAt:], uint16(size-1))
		}
	}
	s.memberFrom = -1
	return true
}

// beginSegment codes where the segment ends that begins here or goes on here.
func (s *session) beginSegment() bool {
	fresh := s.open || s.carriedOn && s.atSegment
	end, clears := s.nextEnd()
	if !s.begun || s.open && s.flag(numberClears, clears) {
		s.predictor.begin(s.text, s.at, s.at)
		fresh = false
	}
	kind := segmentOther
	switch end {
	case s.to + far:
		kind = segmentFar
	case s.at + s.size:
		kind = segmentAgain
	}
	switch kind = s.number(numberSegment, kind); kind {
	case segmentFar:
		end = s.to + far
	case segmentOther:
		s.size = s.number(numberSegmentSize, end-s.at)
		end = s.at + s.size
	default:
		end = s.at + s.size
	}
	if end <= s.at || end > s.content && s.content-s.to < tailBytes {
		return false
	}
	s.begun, s.open, s.segmentEnd = true, true, end
	s.predictor.segment(end, fresh)
	return true
}

// far is a number of bytes that is more than any that matters.
const far = 1 << 30

// nextEnd returns where the segment ends that begins or goes on here, and whether matches in it don't refer to the text before it.
func (s *session) nextEnd() (end int, clears bool) {
	for _, e := range s.ends {
		if e.at == s.at {
			clears = e.clear
		} else if e.at > s.at && e.at-s.to < farAhead {
			return e.at, clears
		}
	}
	return s.to + far, clears
}

// stored codes a stored block. What tokens the writer had for it is not known, but it had some.
func (s *session) stored(b *block) bool {
	b.size = s.number(numberStored, b.size)
	if b.size < 1 || b.size > 1<<16-1 || b.size > min(s.to, s.segmentEnd)-s.at {
		return false
	}
	for end := s.at + b.size; s.at < end; {
		t := s.predictor.next()
		if t.size() > end-s.at {
			t = literal(s.text[s.at])
		}
		s.predictor.accept(t)
		s.at += t.size()
	}
	return true
}

// plan codes kind and codes of a block of tokens.
func (s *session) plan(b *block) bool {
	s.predictor.plan(b, &s.planned)
	same := b.kind == s.planned.kind && (b.kind == staticBlock || b.codes.equal(&s.planned.codes))
	if s.flag(numberPlanned, same) {
		if s.Decoding() {
			b.kind, b.codes = s.planned.kind, s.planned.codes
		}
		return true
	}
	s.wrong++
	sound := s.blockCodes(&b.codes)
	if b.kind = dynamicBlock; b.codes.literals == 0 {
		b.kind = staticBlock
	}
	return sound
}

// How the end of a segment is coded.
const (
	segmentFar   = iota // further away than matters
	segmentAgain        // as long as the last one
	segmentOther
)

// tokens codes the tokens of a block: for each of them, and its end, whether it is what the writer would choose.
func (s *session) tokens(b *block) bool {
	p, limit := s.predictor, min(s.to, s.segmentEnd)
	for i := 0; ; i++ {
		ends := i == len(b.tokens) && !s.Decoding()
		if p.ends() && s.right(ends) {
			return s.endRights()
		}
		if s.at >= limit && s.at == s.segmentEnd {
			return false
		}
		t, actual, sound := p.next(), token(0), true
		if i < len(b.tokens) {
			actual = b.tokens[i]
		}
		if !s.right(t == actual && !ends) {
			if s.flag(numberEnds, ends) {
				return s.endRights()
			}
			t, sound = s.otherToken(actual, literal(s.text[s.at]))
			if s.most > 0 && s.Enc.Len() > s.most {
				return false
			}
		}
		if !sound || t.size() > limit-s.at {
			return false
		}
		p.accept(t)
		s.at += t.size()
		if s.Decoding() {
			b.tokens = append(b.tokens, t)
		}
	}
}

// right codes whether the predictor was right: where it was not, numberRight is coded, one more than how often it was since the block
// began or it was wrong. A block ends with 0.
func (s *session) right(right bool) bool {
	if !s.Decoding() {
		if s.rights++; !right {
			s.number(numberRight, s.rights)
			s.rights = 0
			s.wrong++
		}
		return right
	}
	if s.rights == 0 && !s.allRight {
		s.rights = s.number(numberRight, 0)
		s.allRight = s.rights == 0
	}
	if s.allRight {
		return true
	}
	s.rights--
	return s.rights > 0
}

// endRights ends a block for right.
func (s *session) endRights() (sound bool) {
	sound = !s.Decoding() || s.allRight || s.rights == 0 && s.number(numberRight, 0) == 0
	if !s.Decoding() {
		s.number(numberRight, 0)
	}
	s.rights, s.allRight = 0, false
	return sound
}
