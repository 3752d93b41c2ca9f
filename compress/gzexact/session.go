package gzexact

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

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
	template  *template
	predictor predictor
	at        int   // in text
	within    bool  // within a member
	begun     bool  // the predictor has begun with this member
	open      bool  // segment is known
	end       int   // of the segment
	size      int   // of the last segment
	member    int   // where the text of the member begins, or -1 if that is before the frame
	planned   block // by the predictor
	wrong     int   // coding: how often the predictor was

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
func (s *session) atEnd() bool { return s.open && s.at == s.end }

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
	if p.event == eventBlock || p.event == eventStored {
		if (!s.open || s.atEnd()) && !s.beginSegment() {
			return false
		}
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
	end := s.nextEnd()
	if !s.begun {
		s.predictor.begin(s.text, s.at, s.at)
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
	s.begun, s.open, s.end = true, true, end
	s.predictor.segment(end)
	return true
}

// far is a number of bytes that is more than any that matters.
const far = 1 << 30

// nextEnd returns where the segment ends that begins or goes on here.
func (s *session) nextEnd() int {
	for _, e := range s.ends {
		if e > s.at {
			return e
		}
	}
	return s.to + far
}

// stored codes a stored block. What tokens the writer had for it is not known, but it had some.
func (s *session) stored(b *block) bool {
	b.size = s.number(numberStored, b.size)
	if b.size < 1 || b.size > 1<<16-1 || b.size > min(s.to, s.end)-s.at {
		return false
	}
	s.predictor.ends(nil)
	for end := s.at + b.size; s.at < end; {
		t := s.predictor.next()
		if t.size() > end-s.at {
			t = literal(s.text[s.at])
		}
		s.accept(t)
	}
	return true
}

// accept goes past a token.
func (s *session) accept(t token) {
	s.predictor.accept(t)
	s.at += t.size()
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

// tokens codes the tokens of a block: how many of them are what the writer would choose before one that is not, that one, and so on. It is
// wrong as well if the block ends where the writer would not end it, or goes on where it would.
func (s *session) tokens(b *block) bool {
	p, limit := s.predictor, min(s.to, s.end)
	for done := 0; ; done++ {
		from, most, right, actual := done, len(b.tokens), 0, b.tokens
		if s.Decoding() {
			right, actual = s.number(numberRight, 0), nil
			if most = done + right - 1; right == 0 {
				most = math.MaxInt
			}
		}
		tokens := p.run(b.tokens[:done], actual, most, limit)
		ends := p.ends(tokens)
		done, s.at = len(tokens), p.place()
		switch {
		case s.Decoding():
			if b.tokens = tokens; s.at > limit || right > 0 && done < most {
				return false
			} else if right == 0 {
				return ends
			}
		case ends && done == most:
			s.number(numberRight, 0)
			return true
		default:
			s.number(numberRight, done-from+1)
			s.wrong++
		}
		var t token
		if !ends && s.flag(numberEnds, done == most) {
			return true
		} else if done < len(b.tokens) {
			t = b.tokens[done]
		}
		t, sound := s.otherToken(t, literal(s.text[s.at]))
		if !sound || t.size() > limit-s.at || s.most > 0 && s.Enc.Len() > s.most {
			return false
		}
		p.next()
		s.accept(t)
		if s.Decoding() {
			b.tokens = append(b.tokens, t)
		}
	}
}
