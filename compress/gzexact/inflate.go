package gzexact

import "math"

// inflater reads the blocks of deflate streams.
type inflater struct {
	*bitReader
	lit, dist, items      readCode
	staticLit, staticDist readCode
	text                  []byte // the text of blocks is appended to it
	member                int    // where in text the text of the member begins: matches go back no further
}

// Blocks of known writers have fewer tokens and less text.
const (
	maxTokens    = 1 << 19
	maxBlockText = 16 << 20
)

func newInflater(b *bitReader) *inflater {
	f := &inflater{bitReader: b}
	f.staticLit.set(staticLiterals[:])
	f.staticDist.set(staticDists[:])
	return f
}

// block reads a block.
func (f *inflater) block(b *block) error {
	*b = block{bit: f.bit(), tokens: b.tokens[:0], codes: codes{items: b.codes.items[:0]}}
	b.final = f.take(1) == 1
	b.kind = byte(f.take(2))
	start := len(f.text)
	var err error
	switch b.kind {
	case storedBlock:
		err = f.stored(b)
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

func (f *inflater) stored(b *block) error {
	b.padding = f.align()
	size, inverse := f.take(16), f.take(16)
	f.align()
	if f.n < 0 {
		return f.truncated()
	}
	if size != inverse^0xffff {
		return f.bad("lengths of a stored block that contradict each other")
	}
	var err error
	f.text, err = f.bytes(f.text, int(size))
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
	if !f.items.set(c.itemLengths[:]) {
		return f.bad("a code with too short words")
	}
	for n := 0; n < c.literals+c.dists; {
		f.fill()
		s, bits := f.items.symbol(f.ahead)
		if bits == 0 || bits > f.n {
			return f.bad("no word of the code")
		}
		f.take(bits)
		it := item(s) | item(f.take(itemExtra(s)))<<8
		c.items = append(c.items, it)
		n += it.runs()
	}
	if !c.expand() || c.lengths[endOfBlock] == 0 {
		return f.bad("lengths of codes that are not possible")
	}
	if !f.lit.set(c.literalLengths()) || !f.dist.set(c.distLengths()) {
		return f.bad("a code with too short words")
	}
	return nil
}

// symbol returns the next symbol and how many bits it has; 0 bits if there is none.
func (c *readCode) symbol(ahead uint64) (symbol, n int) {
	if e := c.fast[ahead&(1<<fastBits-1)]; e != 0 {
		return int(e >> 4), int(e & 15)
	}
	return c.long(ahead)
}

// tokens reads the tokens of a block up to its end, and appends their text.
func (f *inflater) tokens(b *block, lit, dist *readCode) error {
	r := f.bitReader
	tokens, text, most := b.tokens, f.text, len(f.text)+maxBlockText
	defer func() { b.tokens, f.text = tokens, text }()
	for {
		if r.n < 48 {
			r.fill()
			if len(tokens) > maxTokens || len(text) > most {
				return ErrUnknownWriter
			}
		}
		s, n := lit.symbol(r.ahead)
		if n == 0 || n > r.n {
			return f.bad("no word of the code")
		}
		r.ahead >>= n
		r.n -= n
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
		r.n -= extra
		if s == lengthCodes-2 && length == maxMatch {
			length = oddLength
		}
		d, n := dist.symbol(r.ahead)
		if n == 0 || d >= distCodes {
			return f.bad("no distance")
		}
		r.ahead >>= n
		extra = distExtra(d)
		far := distBase(d) + int(r.ahead&(1<<extra-1))
		r.ahead >>= extra
		if r.n -= n + extra; r.n < 0 {
			return f.truncated()
		}
		if far > len(text)-f.member {
			return f.bad("a match before the beginning of the text")
		}
		t := match(length, far)
		tokens = append(tokens, t)
		text = appendMatch(text, t.size(), far)
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

// memberHeader appends the header of a member to dst. It returns nil if no member begins here.
func (f *inflater) memberHeader(dst []byte) ([]byte, error) {
	const fixed, most = 10, 1 << 20
	head := f.peek(fixed)
	if len(head) < 3 || head[0] != 0x1f || head[1] != 0x8b || head[2] != 8 {
		return nil, nil
	}
	if len(head) < fixed {
		return nil, f.truncated()
	}
	flags := head[3]
	if flags&0xe0 != 0 {
		return nil, f.bad("a gzip header with unknown flags")
	}
	dst, err := f.bytes(dst, fixed)
	if flags&4 != 0 && err == nil { // extra field
		if dst, err = f.bytes(dst, 2); err == nil {
			dst, err = f.bytes(dst, int(dst[len(dst)-2])|int(dst[len(dst)-1])<<8)
		}
	}
	for _, text := range []byte{8, 16} { // name, comment
		for ended := flags&text == 0; !ended && err == nil; {
			if dst, err = f.bytes(dst, 1); err == nil {
				ended = dst[len(dst)-1] == 0
			}
			if len(dst) > most {
				return nil, ErrUnknownWriter
			}
		}
	}
	if flags&2 != 0 && err == nil {
		dst, err = f.bytes(dst, 2)
	}
	return dst, err
}

// far is a number of bytes that is more than any that matters.
const far = math.MaxInt32 / 2
