package gzexact

import (
	"bufio"
	"io"
	"slices"
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
	f.r = bufio.NewReaderSize(r, 64<<10)
	f.staticLit.set(staticLiterals)
	f.staticDist.set(staticDists)
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
	if c.literals > literalCodes || c.dists > distCodes {
		return f.bad("a code with too many symbols")
	}
	for _, s := range itemOrder[:c.itemCount] {
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
	r := &f.bitReader
	text, most := f.text, len(f.text)+maxBlockText
	tokens := f.spare[:0]
	defer func() { b.tokens, f.spare, f.text = slices.Clone(tokens), tokens, text }()
	for {
		if r.n < 48 {
			r.fill()
			if len(tokens) > maxTokens || len(text) > most {
				return ErrUnknownWriter
			}
		}
		s, n := lit.symbol(r.ahead)
		r.ahead >>= n
		if r.n -= n; r.n < 0 || n == 0 {
			return f.bad("no word of the code")
		}
		if s < endOfBlock {
			text = append(text, byte(s))
			tokens = append(tokens, literal(byte(s)))
			continue
		}
		if s == endOfBlock {
			return nil
		}
		if s -= endOfBlock + 1; s >= lengthCodes {
			return f.bad("no length")
		}
		extra := int(lengthExtra[s])
		length := int(lengthBase[s]) + int(r.ahead&(1<<extra-1))
		r.ahead >>= extra
		if s == lengthCodes-2 && length == maxMatch {
			return ErrUnknownWriter // there is a symbol for this length alone
		}
		d, n := dist.symbol(r.ahead)
		if n == 0 || d >= distCodes {
			return f.bad("no distance")
		}
		r.ahead >>= n
		more := distExtra(d)
		far := distBase(d) + int(r.ahead&(1<<more-1))
		r.ahead >>= more
		if r.n -= extra + n + more; r.n < 0 || far > len(text)-f.member {
			return f.bad("a match before the beginning of the text")
		}
		tokens = append(tokens, match(length, far))
		text = appendMatch(text, length, far)
	}
}

// appendMatch appends n bytes that are those dist before.
func appendMatch(text []byte, n, dist int) []byte {
	for n > dist {
		text = append(text, text[len(text)-dist:]...)
		n -= dist
		dist *= 2 // what repeats does so at every multiple
	}
	from := len(text) - dist
	return append(text, text[from:from+n]...)
}

// memberHeader reads the header of a member; nil if no member begins here.
func (f *inflater) memberHeader() ([]byte, error) {
	const fixed = 10
	if head, _ := f.r.Peek(3); string(head) != "\x1f\x8b\x08" {
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
