package gzexact

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"orcomgo/bins/parse"
)

// A frame is a stretch of a file of whole parts, with their text. Its description needs no other frame, unless it is carried on.
type frame struct {
	text     []byte // what matches may refer to, the text of the frame, some text behind it, and padBytes more bytes
	from, to int    // the text of the frame
	content  int    // where the text behind it ends

	writer    writer
	bit       byte // where in a byte the first part begins
	inside    bool // begins within a member
	atSegment bool // and where a segment begins
	carriedOn bool // the writer goes on with all that it knew at the end of the frame before
	history   int  // how many bytes of text before the frame matches may refer to
	length    int  // of the match that the writer knew for the first token, or 0
	dist      int

	// What only describing needs.
	start      int64 // of text[0] in the text of the file
	memberText int64 // where the text of the member begins in it
	parts      []part
	endBit     byte         // where in a byte the last part ends
	ends       []segmentEnd // of the text, ascending, up to farAhead behind the frame
	literals   int          // how many literals are between the last match and the frame
}

// A segmentEnd is a place where the writer flushed or ended.
type segmentEnd struct {
	at    int  // in the text
	clear bool // matches behind it don't refer to the text before it
}

const (
	padBytes      = 8       // that loads of several bytes may read
	tailBytes     = 8 << 10 // of text behind a frame; no writer looks further ahead
	farAhead      = 1 << 20 // no writer knows whether its input ends further ahead
	frameText     = 1 << 20 // a frame ends at the next end of a segment or member behind so much text
	frameTextMost = frameText + 256<<10
	frameParts    = 1 << 16 // or behind so many parts
	frameRaw      = 256 << 10
)

// A part is a header, a block with the trailer behind it if it is the last one of a member, or bytes behind the last member.
type part struct {
	event   int
	raw     []byte // of eventHeader and eventJunk
	block   block
	trailer uint64 // if the block is final and the member began before the frame
}

const trailerBytes = 8 // CRC-32 and size of the text of a member

// A template is the header of the first member of a file. That of BGZF has the size of the member.
type template struct {
	header []byte
	sizeAt int // where in header the size less 1 of the member is, or 0
}

func newTemplate(header []byte) *template {
	t := &template{header: header}
	const extraAt = 12 // of the extra field's data
	if len(header) < extraAt+6 || header[3]&4 == 0 {
		return t
	}
	extra := header[extraAt:]
	extra = extra[:min(len(extra), int(binary.LittleEndian.Uint16(header[10:])))]
	for at := 0; at+6 <= len(extra); {
		size := int(binary.LittleEndian.Uint16(extra[at+2:]))
		if extra[at] == 'B' && extra[at+1] == 'C' && size == 2 {
			t.sizeAt = extraAt + at + 4
			return t
		}
		at += 4 + size
	}
	return t
}

// fits reports whether header is that of the template, but for the size of the member; 0 if that is not known.
func (t *template) fits(header []byte, size int64) bool {
	if len(header) != len(t.header) {
		return false
	}
	if t.sizeAt == 0 {
		return string(header) == string(t.header)
	}
	return string(header[:t.sizeAt]) == string(t.header[:t.sizeAt]) && string(header[t.sizeAt+2:]) == string(t.header[t.sizeAt+2:]) &&
		int64(binary.LittleEndian.Uint16(header[t.sizeAt:]))+1 == size
}

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
	trees      zlibTree
	wrong      []correction

	bits       bitWriter // the file, when decoding
	memberFrom int       // in bits.out
	patch      bool      // the header of the member gets its size
	rawBytes   int       // of all raw parts
}

var errDamaged = fmt.Errorf("%w: description of a gzip file", parse.ErrCorrupt)

// begin prepares the predictor.
func (s *session) begin() {
	s.at, s.within, s.begun, s.member = s.from, s.inside, s.inside, -1
	if s.inside && !s.carriedOn {
		s.predictor.begin(s.text, s.from-s.history, s.from)
	}
}

// findPending sets length and dist, by having the writer choose the last literals before the frame.
func (s *session) findPending() {
	if !s.inside || s.carriedOn || s.literals == 0 {
		return
	}
	p, at := s.predictor, s.from-s.literals
	p.begin(s.text, s.from-s.history, at)
	p.segment(s.nextEnd(at), false)
	for ; at < s.from; at++ {
		p.next()
		p.accept(literal(s.text[at]))
	}
	s.length, s.dist = p.pending()
}

// nextEnd returns where the segment ends that has text from the place at on.
func (s *session) nextEnd(at int) int {
	for _, e := range s.ends {
		if e.at > at {
			if e.at-s.to < farAhead {
				return e.at
			}
			break
		}
	}
	return s.to + far
}

// run codes all parts of the frame.
func (s *session) run() error {
	s.begin()
	end := part{event: eventEnd, block: block{bit: s.endBit}}
	var decoded part
	for i := 0; i <= frameParts; i++ {
		p := &decoded
		switch {
		case s.Decoding():
			if s.Dec.Overrun() {
				return errDamaged
			}
			decoded = part{block: block{tokens: p.block.tokens[:0], bit: byte(s.bits.n & 7)}}
		case i < len(s.parts):
			p = &s.parts[i]
		default:
			p = &end
		}
		p.event = s.tree(&s.event[s.context(p.block.bit)], p.event)
		ok := true
		switch p.event {
		case eventEnd:
			if s.at != s.to {
				return errDamaged
			}
			return nil
		case eventMember, eventHeader:
			ok = !s.within && s.header(p)
		case eventJunk:
			ok = !s.within && s.raw(p)
		default:
			ok = s.within && s.blockPart(p)
		}
		if !ok {
			return errDamaged
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

// raw codes a part of bytes.
func (s *session) raw(p *part) (ok bool) {
	p.raw, ok = s.coding.rawBytes(p.raw)
	if s.Decoding() && ok {
		s.bits.bytes(p.raw)
	}
	s.rawBytes += len(p.raw)
	return ok && s.rawBytes <= 2*frameRaw
}

// header codes the header of a member.
func (s *session) header(p *part) bool {
	if s.Decoding() {
		s.bits.align(0)
	}
	s.memberFrom = len(s.bits.out)
	if p.event == eventHeader {
		if !s.raw(p) {
			return false
		}
	} else if s.Decoding() {
		s.bits.bytes(s.template.header)
	} else {
		s.memberFrom = 0
	}
	s.within, s.begun, s.open, s.member = true, false, false, s.at
	s.patch = p.event == eventMember && s.template.sizeAt > 0
	return true
}

// blockPart codes a block, and the trailer of a member behind it.
func (s *session) blockPart(p *part) bool {
	b, start := &p.block, s.at
	if p.event == eventBlock || p.event == eventStored {
		if (!s.open || s.atEnd()) && !s.beginSegment() {
			return false
		}
		s.predictor.block()
	}
	switch p.event {
	case eventBlock:
		if !s.tokens(b) || !s.plan(b) {
			return false
		}
	case eventEmptyStatic:
		b.kind = staticBlock
	default:
		b.kind = storedBlock
		if !s.stored(p) {
			return false
		}
	}
	b.final = s.flag(&s.final[boolBit(s.atEnd())], b.final)
	if s.Decoding() {
		s.bits.block(b, s.text[start:])
	}
	return !b.final || s.endMember(p)
}

// endMember codes the trailer of a member.
func (s *session) endMember(p *part) bool {
	s.within = false
	if s.member < 0 {
		p.trailer = uint64(s.Uniform(uint32(p.trailer), 32)) | uint64(s.Uniform(uint32(p.trailer>>32), 32))<<32
	}
	if !s.Decoding() {
		return true
	}
	if s.member >= 0 {
		text := s.text[s.member:s.at]
		p.trailer = uint64(crc32.ChecksumIEEE(text)) | uint64(uint32(len(text)))<<32
	}
	s.bits.align(0)
	s.bits.out = binary.LittleEndian.AppendUint64(s.bits.out, p.trailer)
	if s.patch {
		size := len(s.bits.out) - s.memberFrom
		if size > 1<<16 {
			return false
		}
		binary.LittleEndian.PutUint16(s.bits.out[s.memberFrom+s.template.sizeAt:], uint16(size-1))
	}
	return true
}

// beginSegment codes where the segment ends that begins here or goes on here.
func (s *session) beginSegment() bool {
	fresh := s.open || s.carriedOn && s.atSegment
	resumes := s.begun && !s.open && !s.carriedOn
	if !s.begun {
		s.predictor.begin(s.text, s.at, s.at)
		s.begun, fresh = true, false
	} else if s.open && s.flag(&s.models.clear, s.clears()) {
		s.predictor.begin(s.text, s.at, s.at)
		fresh = false
	}
	end := s.nextEnd(s.at)
	kind := segmentOther
	switch {
	case end == s.to+far:
		kind = segmentFar
	case end-s.at == s.size:
		kind = segmentAgain
	}
	switch kind = s.tree(&s.segment, kind); kind {
	case segmentFar:
		end = s.to + far
	case segmentAgain:
		end = s.at + s.size
	case segmentOther:
		s.size = s.number(s.segmentSize, end-s.at)
		end = s.at + s.size
	default:
		return false
	}
	if end <= s.at || end > s.content && s.content-s.to < tailBytes {
		return false
	}
	s.open, s.segmentEnd = true, end
	s.predictor.segment(end, fresh)
	if resumes {
		s.predictor.resume(s.length, s.dist)
	}
	return true
}

// clears reports whether matches don't refer to the text before the segment that begins here.
func (s *session) clears() bool {
	for _, e := range s.ends {
		if e.at == s.at {
			return e.clear
		}
	}
	return false
}

// stored codes a stored block.
func (s *session) stored(p *part) bool {
	b := &p.block
	if s.flag(&s.padded, b.padding != 0) {
		b.padding = byte(s.tree(&s.padding, int(b.padding)))
	}
	if p.event == eventEmptyStored {
		return true
	}
	b.size = s.number(s.storedSize, b.size)
	if b.size < 1 || b.size > 1<<16-1 || b.size > min(s.to, s.segmentEnd)-s.at {
		return false
	}
	for end := s.at + b.size; s.at < end; { // what the writer chose is not known, but it chose something
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
	if s.flag(&s.models.planned, same) {
		if s.Decoding() {
			b.kind, b.codes = s.planned.kind, s.planned.codes
		}
		return true
	}
	b.kind = staticBlock + byte(boolBit(s.flag(&s.dynamic, b.kind == dynamicBlock)))
	return b.kind == staticBlock || s.blockCodes(&b.codes, &s.planned.codes, &s.trees)
}

// A correction is a place where the predictor was wrong: the block goes on though the writer would have ended it, ends though it would have gone
// on, or has another token.
type correction struct {
	place            int // the number of tokens before it
	goesOn, endsHere bool
	token, predicted token
	literal          token // of the byte at this place
}

// tokens codes the tokens of a block: how many corrections there are, and for each how many tokens were right since the last one.
func (s *session) tokens(b *block) bool {
	if s.Decoding() {
		return s.decodeTokens(b)
	}
	s.compare(b)
	s.number(s.corrections, len(s.wrong))
	place := 0
	for i := range s.wrong {
		w := &s.wrong[i]
		s.number(s.gap, w.place-place)
		place = w.place
		if w.goesOn {
			continue
		}
		if !s.flag(&s.endsHere, w.endsHere) {
			s.differingToken(w.token, w.predicted, w.literal)
			place++
		}
	}
	return true
}

// compare has the predictor go through the tokens of a block, and notes where it is wrong.
func (s *session) compare(b *block) {
	p := s.predictor
	s.wrong = s.wrong[:0]
	for i, t := range b.tokens {
		if p.ends() {
			s.wrong = append(s.wrong, correction{place: i, goesOn: true})
		}
		if predicted := p.next(); predicted != t {
			s.wrong = append(s.wrong, correction{place: i, token: t, predicted: predicted, literal: literal(s.text[s.at])})
		}
		p.accept(t)
		s.at += t.size()
	}
	if !p.ends() {
		s.wrong = append(s.wrong, correction{place: len(b.tokens), endsHere: true})
	}
}

func (s *session) decodeTokens(b *block) bool {
	p := s.predictor
	left := s.number(s.corrections, 0)
	next := -1
	correct := func(place int) {
		if next = -1; left > 0 {
			left--
			next = place + s.number(s.gap, 0)
		}
	}
	correct(0)
	for i := 0; ; i++ {
		ends := p.ends()
		if ends && i == next {
			correct(i)
			ends = false
		}
		if ends {
			return next < 0
		}
		if i == next && s.flag(&s.endsHere, false) {
			return left == 0
		}
		if s.at >= s.to || s.at >= s.segmentEnd {
			return false
		}
		t := p.next()
		if i == next {
			var ok bool
			if t, ok = s.differingToken(0, t, literal(s.text[s.at])); !ok {
				return false
			}
			correct(i + 1)
		}
		if t.size() > min(s.to, s.segmentEnd)-s.at {
			return false
		}
		p.accept(t)
		s.at += t.size()
		b.tokens = append(b.tokens, t)
	}
}
