package gzexact

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"orcomgo/bins/parse"
	"orcomgo/compress/rangecoder"
	"orcomgo/internal/deflate"
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

// task is the coding of a frame, or its decoding.
type task struct {
	coding
	*frame
	template  *template
	predictor predictor // behind the frame when that is coded
	at        int       // in text
	within    bool      // within a member
	begun     bool      // the predictor has begun with this member
	open      bool      // end is known
	end       int       // of the segment
	size      int       // of the last segment of which it was coded
	member    int       // where the text of the member begins, or -1 if that is before the frame
	planned   block     // by the predictor

	code []byte        // the description of the frame; when decoding, its stream
	err  error         // of coding
	done chan struct{} // closed when that is set

	// Coding.
	file  int64 // how many bytes of the file are read behind the frame
	most  int   // bytes of code, or 0 if there may be any number; with more it is given up and err set
	exact bool  // it is given up as well where the predictor is wrong

	// Decoding.
	bits       deflate.Writer // the frame
	memberFrom int            // where in bits.Out the header of the member is, if its size is to be set there; or -1
	allRaw     int            // bytes of all parts that are eventRaw
}

var errDamaged = fmt.Errorf("%w: description of a gzip file", parse.ErrCorrupt)

// Flags of a frame: its lowest three bits are where in a byte it begins.
const (
	frameInside    = 8
	frameCarriedOn = 16
)

// encode sets code and predictor, unless they are set.
func (t *task) encode(before *task) {
	if t.code != nil {
		return
	}
	flags := t.bit | frameInside*byte(rangecoder.BitOf(t.inside)) | frameCarriedOn*byte(rangecoder.BitOf(t.carriedOn))
	t.code = append(t.code, t.writer.rules<<4|t.writer.level, flags)
	t.code = binary.AppendUvarint(t.code, uint64(t.to-t.from))
	t.code = binary.AppendUvarint(t.code, uint64(t.seen))
	t.Coder = *rangecoder.EncodeTo(t.code)
	t.err = t.run(before)
	t.code = t.Enc.Finish()
}

// parseFrame parses what is before the stream of a frame, and returns the stream and how many bytes of text the frame has.
func parseFrame(code []byte) (f *frame, size int, stream []byte, err error) {
	c := parse.Cursor{Rest: code}
	w, flags := c.Byte(), c.Byte()
	f = &frame{writer: writer{w >> 4, w & 15}, bit: flags & 7, inside: flags&frameInside != 0, carriedOn: flags&frameCarriedOn != 0}
	size, f.seen = c.Int(frameText+maxBlockText), c.Int(2*windowSize-1)
	if c.Failed() || !f.writer.valid() || flags >= frameCarriedOn<<1 || !f.inside && f.bit != 0 ||
		f.carriedOn && !(f.inside && f.writer.isSequential()) {
		return nil, 0, nil, errDamaged
	}
	return f, size, c.Rest, nil
}

// decode sets bits and predictor, given the description of the frame and its text.
func (t *task) decode(before *task) {
	t.Coder = *rangecoder.DecodeFrom(t.code)
	t.bits = deflate.Writer{Out: make([]byte, 0, (t.to-t.from)/2), N: int(t.bit)}
	if t.err = t.run(before); t.err == nil && t.Dec.Err() != nil {
		t.err = errDamaged
	}
}

// run codes all parts of the frame.
func (t *task) run(before *task) error {
	t.init()
	t.at, t.within, t.begun, t.member, t.memberFrom = t.from, t.inside, t.inside, -1, -1
	switch {
	case !t.carriedOn:
		t.predictor = t.writer.predictor()
		if t.inside {
			t.predictor.begin(t.text, t.from-t.seen, t.from)
		}
	case before.err != nil:
		return before.err
	default:
		t.predictor, before.predictor = before.predictor, nil
		t.predictor.(interface{ rebase([]byte, int) }).rebase(t.text, before.to-t.from)
	}
	for i := 0; i <= frameParts; i++ {
		p := &part{event: eventEnd}
		if i < len(t.parts) && !t.Decoding() {
			p = &t.parts[i]
		}
		p.event = t.number(numberEvent+rangecoder.BitOf(t.within)+rangecoder.BitOf(t.atEnd()), p.event)
		sound := true
		switch p.event {
		case eventEnd:
			if t.at != t.to {
				return errDamaged
			}
			return nil
		case eventMember:
			sound = !t.within
			t.header()
		case eventRaw:
			sound = !t.within && t.rawPart(p)
		default:
			sound = t.blockPart(p)
		}
		if !sound && !t.Decoding() {
			return fmt.Errorf("%w: the text has another checksum or size than its trailer says", ErrInput)
		} else if !sound || t.Decoding() && t.Dec.Overrun() {
			return errDamaged
		}
		if t.most > 0 && t.Enc.Len() > t.most {
			return ErrUnknownWriter
		}
	}
	return errDamaged
}

// atEnd reports whether the text has reached the end of a segment.
func (t *task) atEnd() bool { return t.within && t.open && t.at == t.end }

// header begins a member with the header of the template.
func (t *task) header() {
	if t.Decoding() {
		if t.template.sizeAt > 0 {
			t.memberFrom = len(t.bits.Out)
		}
		t.bits.Bytes(t.template.header)
	}
	t.within, t.begun, t.open, t.member = true, false, false, t.at
}

// rawPart codes bytes outside of members. They may be the header of one.
func (t *task) rawPart(p *part) (ok bool) {
	p.raw, ok = t.rawBytes(p.raw)
	if t.allRaw += len(p.raw); t.Decoding() {
		t.bits.Bytes(p.raw)
	}
	t.begun, t.open, t.member = false, false, t.at
	return ok && t.allRaw <= 2*frameRaw
}

// blockPart codes a block, and the trailer of a member behind it. The block may follow upon a header that was eventRaw.
func (t *task) blockPart(p *part) bool {
	b, start := &p.block, t.at
	t.within = true
	begins := (p.event == eventBlock || p.event == eventStored) && (!t.open || t.atEnd())
	sound := !begins || t.beginSegment()
	switch {
	case !sound:
	case p.event == eventBlock:
		sound = t.tokens(b) && t.plan(b)
	case p.event == eventStored:
		sound = t.stored(b)
	case p.event == eventEmptyStored:
		b.kind = storedBlock
	case p.event == eventEmptyStatic:
		b.kind = staticBlock
	default:
		sound = false
	}
	if !sound {
		return false
	}
	b.final = t.flag(numberFinal, b.final)
	if t.Decoding() {
		writeBlock(&t.bits, b, t.text[start:])
	}
	return !b.final || t.endMember(p)
}

// endMember codes the trailer of a member.
func (t *task) endMember(p *part) bool {
	t.within = false
	trailer := p.trailer
	if t.member < 0 {
		trailer = uint64(t.Uniform(uint32(trailer), 32)) | uint64(t.Uniform(uint32(trailer>>32), 32))<<32
	} else {
		text := t.text[t.member:t.at]
		if trailer = uint64(crc32.ChecksumIEEE(text)) | uint64(len(text))<<32; !t.Decoding() && trailer != p.trailer {
			return false
		}
	}
	if t.Decoding() {
		t.bits.Bytes(binary.LittleEndian.AppendUint64(nil, trailer))
		if t.memberFrom >= 0 {
			size := len(t.bits.Out) - t.memberFrom
			binary.LittleEndian.PutUint16(t.bits.Out[t.memberFrom+t.template.sizeAt:], uint16(size-1))
		}
	}
	t.memberFrom = -1
	return true
}

// beginSegment codes where the segment ends that begins here or goes on here: 0 if that is further away than matters, 1 if it is as long as
// the last one, or one more than how long it is.
func (t *task) beginSegment() bool {
	if !t.begun {
		t.predictor.begin(t.text, t.at, t.at)
	}
	code := t.nextSize() + 1
	switch code - 1 {
	case 0:
		code = 0
	case t.size:
		code = 1
	}
	size := far
	if code = t.number(numberSegment, code); code > 0 {
		if code > 1 {
			t.size = code - 1
		}
		size = t.size
	}
	if size <= 0 || size < far && size > t.content-t.at && t.content-t.to < tailBytes {
		return false
	}
	t.begun, t.open, t.end = true, true, t.at+size
	t.predictor.segment(t.end)
	return true
}

// nextSize returns how far away the segment ends that begins or goes on here, or 0.
func (t *task) nextSize() int {
	for _, e := range t.ends {
		if e > t.at {
			return e - t.at
		}
	}
	return 0
}

// stored codes a stored block. What tokens the writer had for it is not known: that of one match is nearest, as all places are hashed.
func (t *task) stored(b *block) bool {
	b.size = t.number(numberStored, b.size)
	if b.size < 1 || b.size > 1<<16-1 || b.size > min(t.to, t.end)-t.at {
		return false
	}
	t.predictor.ends(nil)
	t.predictor.next()
	t.accept(match(b.size, 1))
	return true
}

// accept goes past a token.
func (t *task) accept(next token) {
	t.predictor.accept(next)
	t.at += next.size()
}

// plan codes kind and codes of a block of tokens.
func (t *task) plan(b *block) bool {
	t.predictor.plan(b.tokens, &t.planned)
	same := b.kind == t.planned.kind && (b.kind == staticBlock || bytes.Equal(b.codes.header, t.planned.codes.header))
	if t.flag(numberPlanned, same) {
		if t.Decoding() {
			b.kind, b.codes = t.planned.kind, t.planned.codes
		}
		return true
	}
	if t.exact {
		return false
	}
	header, sound := t.rawBytes(b.codes.header)
	if b.kind = staticBlock; len(header) > 0 {
		b.kind = dynamicBlock
		sound = sound && b.codes.read(&deflate.Bits{In: header}) && len(b.codes.header) == len(header)
	}
	return sound
}

// tokens codes the tokens of a block: how many of them are what the writer would choose before one that is not, that one, and so on. It is
// wrong as well if the block ends where the writer would not end it, or goes on where it would.
func (t *task) tokens(b *block) bool {
	p, limit := t.predictor, min(t.to, t.end)
	for done := 0; ; done++ {
		from, most, right, actual := done, len(b.tokens), 0, b.tokens
		if t.Decoding() {
			right, actual = t.number(numberRight, 0), nil
			if most = done + right - 1; right == 0 {
				most = math.MaxInt
			}
		}
		tokens := follow(p, b.tokens[:done], actual, most, limit)
		ends := p.ends(tokens)
		done, t.at = len(tokens), p.place()
		switch {
		case t.Decoding():
			if b.tokens = tokens; t.at > limit || right > 0 && done < most {
				return false
			} else if right == 0 {
				return ends
			}
		case ends && done == most:
			t.number(numberRight, 0)
			return true
		default:
			t.number(numberRight, done-from+1)
			if t.exact {
				return false
			}
		}
		var other token
		if !ends && t.flag(numberEnds, done == most) {
			return true
		} else if done < len(b.tokens) {
			other = b.tokens[done]
		}
		other, sound := t.otherToken(other, literal(t.text[t.at]))
		if !sound || other.size() > limit-t.at || t.most > 0 && t.Enc.Len() > t.most {
			return false
		}
		p.next()
		t.accept(other)
		if t.Decoding() {
			b.tokens = append(b.tokens, other)
		}
	}
}
