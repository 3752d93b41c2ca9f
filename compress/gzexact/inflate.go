package gzexact

import (
	"io"
	"slices"

	"orcomgo/internal/deflate"
)

// inflater reads the blocks of deflate streams.
type inflater struct {
	bitReader
	lit, dist, items      readCode
	staticLit, staticDist readCode
	text                  []byte // the text of blocks is appended to it
	spare                 []token
	member                int // where in text the text of the member begins: matches go back no further
}

// Blocks of known writers have fewer tokens and less text.
const (
	maxTokens    = 1 << 19
	maxBlockText = 16 << 20
)

func (f *inflater) init(r io.Reader) {
	f.bitReader.init(r)
	f.staticLit.set(deflate.StaticLiterals)
	f.staticDist.set(deflate.StaticDists)
}

// block reads a block.
func (f *inflater) block(b *block) (err error) {
	b.bit = f.bit()
	b.final = f.take(1) == 1
	b.kind = byte(f.take(2))
	start := len(f.text)
	switch b.kind {
	case storedBlock:
		err = f.stored()
	case staticBlock:
		err = f.tokens(b, &f.staticLit, &f.staticDist)
	case dynamicBlock:
		if err = f.codes(&b.codes); err == nil {
			err = f.tokens(b, &f.lit, &f.dist)
		}
	default:
		err = f.bad("a block of no known kind")
	}
	b.size = len(f.text) - start
	return err
}

func (f *inflater) stored() error {
	if err := f.align(); err != nil {
		return err
	}
	size, inverse := f.take(16), f.take(16)
	if f.n >= 0 && size != inverse^0xffff {
		return f.bad("lengths of a stored block that contradict each other")
	}
	err := f.align()
	if err == nil {
		f.text, err = f.bytes(f.text, int(size))
	}
	return err
}

// codes reads the codes of a dynamic block.
func (f *inflater) codes(c *codes) error {
	c.literals, c.dists, c.itemCount = int(f.take(5))+257, int(f.take(5))+1, int(f.take(4))+4
	if c.literals > deflate.Literals || c.dists > deflate.Dists {
		return f.bad("a code with too many symbols")
	}
	for _, s := range deflate.LengthOrder[:c.itemCount] {
		c.itemLengths[s] = uint8(f.take(3))
	}
	sound := f.items.set(c.itemLengths[:])
	for n := 0; sound && n < c.literals+c.dists; sound = n >= 0 {
		f.fill()
		s, bits := f.items.symbol(f.ahead)
		f.take(bits)
		extra := f.take(itemExtra[s])
		if n = c.add(item(s)|item(extra)<<8, n); bits == 0 || f.n < 0 {
			n = -1
		}
	}
	if !sound || c.lengths[endOfBlock] == 0 || !f.lit.set(c.literalLengths()) || !f.dist.set(c.distLengths()) {
		return f.bad("codes that are not possible")
	}
	return nil
}

// tokens reads the tokens of a block up to its end, and appends their text.
func (f *inflater) tokens(b *block, lit, dist *readCode) error {
	text, most := f.text, len(f.text)+maxBlockText
	tokens, ahead, n := f.spare[:0], f.ahead, f.n
	wrong, unknown := "", false
	for {
		if n < 48 { // of a length and a distance
			f.ahead, f.n = ahead, n
			f.fill()
			ahead, n = f.ahead, f.n
			if unknown = len(tokens) > maxTokens || len(text) > most; unknown {
				break
			}
			text = slices.Grow(text, 64+maxMatch+storeBytes)
		}
		s, k := lit.symbol(ahead)
		ahead >>= k & 63
		if n -= k; n < 0 || k == 0 {
			wrong = "no word of the code"
			break
		}
		if s < endOfBlock {
			text = append(text, byte(s))
			tokens = append(tokens, literal(byte(s)))
			continue
		}
		if s == endOfBlock {
			break
		}
		if s -= endOfBlock + 1; s >= deflate.Lengths {
			wrong = "no length"
			break
		}
		extra := deflate.LengthExtra[s] & 63
		length := int(deflate.LengthBase[s]) + int(ahead&(1<<extra-1))
		ahead >>= extra
		if unknown = s == deflate.Lengths-2 && length == maxMatch; unknown {
			break // there is a symbol for this length alone
		}
		d, k := dist.symbol(ahead)
		if k == 0 || d >= deflate.Dists {
			wrong = "no distance"
			break
		}
		ahead >>= k & 63
		more := deflate.DistExtra[d] & 63
		far := int(deflate.DistBase[d]) + int(ahead&(1<<more-1))
		ahead >>= more
		if n -= int(extra) + k + int(more); n < 0 || far > len(text)-f.member {
			wrong = "a match before the beginning of the text"
			break
		}
		tokens = append(tokens, match(length, far))
		text = appendMatch(text, length, far)
	}
	b.tokens, f.spare, f.text, f.ahead, f.n = slices.Clone(tokens), tokens, text, ahead, n
	if unknown {
		return ErrUnknownWriter
	} else if wrong != "" {
		return f.bad(wrong)
	}
	return nil
}

// storeBytes is how many bytes appendMatch may store behind what it appends.
const storeBytes = 8

// appendMatch appends n bytes, for which there is room, that are those dist before.
func appendMatch(text []byte, n, dist int) []byte {
	at := len(text)
	text = text[:at+n]
	if dist < storeBytes {
		for i := at; i < len(text); i++ {
			text[i] = text[i-dist]
		}
		return text
	}
	for i := at; i < len(text); i += storeBytes {
		deflate.Store64(text[:len(text)+storeBytes], i, deflate.Load64(text, i-dist))
	}
	return text
}

// memberHeader reads the header of a member; nil if no member begins here.
func (f *inflater) memberHeader() ([]byte, error) {
	const fixed = 10
	if !f.has(3) || string(f.buf[f.at:f.at+3]) != "\x1f\x8b\x08" {
		return nil, nil
	}
	b, err := f.bytes(nil, fixed)
	if err != nil {
		return nil, err
	}
	flags := b[3]
	if flags&0xe0 != 0 {
		return nil, f.bad("a gzip header with unknown flags")
	}
	if flags&4 != 0 { // extra field
		if b, err = f.bytes(b, 2); err == nil {
			b, err = f.bytes(b, int(b[fixed])|int(b[fixed+1])<<8)
		}
	}
	for _, text := range []byte{8, 16} { // name, comment
		for ended := flags&text == 0; !ended && err == nil; ended = len(b) > maxRaw || b[len(b)-1] == 0 {
			b, err = f.bytes(b, 1)
		}
	}
	if flags&2 != 0 && err == nil { // checksum
		b, err = f.bytes(b, 2)
	}
	if len(b) > maxRaw {
		return nil, ErrUnknownWriter
	}
	return b, err
}
