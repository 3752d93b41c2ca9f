package gzexact

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"orcomgo/internal/deflate"
)

// ErrInput means that a file is no sound gzip file.
var ErrInput = errors.New("not a sound gzip file")

// inflater reads the blocks of deflate streams.
type inflater struct {
	deflate.Bits           // the part of the file that is in memory, with padBytes behind it
	file         io.Reader // the rest
	before       int64     // bytes of the file before In
	err          error     // of file

	lit, dist, staticLit, staticDist readCode

	text   []byte // the text of blocks is appended to it
	spare  []token
	member int // where in text the text of the member begins: matches go back no further
}

const (
	inMemory = 256 << 10
	readStep = 16 << 10 // not more is read than is needed, since an unknown writer is seen early
	fastBits = 11

	mostCodes = 512 // bytes of the codes of a block, and more

	// Blocks of known writers have fewer tokens and less text.
	maxTokens    = 1 << 19
	maxBlockText = 16 << 20
)

func (f *inflater) init(file io.Reader) {
	f.file, f.In = file, make([]byte, 0, inMemory)
	f.staticLit.set(deflate.StaticLiterals)
	f.staticDist.set(deflate.StaticDists)
}

// load reads on, if fewer than n bytes are in memory.
func (f *inflater) load(n int) {
	at := f.Bit / 8
	if len(f.In)-at >= n || f.err != nil {
		return
	}
	f.before, f.Bit = f.before+int64(at), f.Bit-8*at
	f.In = f.In[:copy(f.In, f.In[at:])]
	for len(f.In) < n && f.err == nil {
		var more int
		more, f.err = io.ReadAtLeast(f.file, f.In[len(f.In):len(f.In)+readStep], 1)
		f.In = f.In[:len(f.In)+more]
	}
	clear(f.In[len(f.In) : len(f.In)+padBytes])
}

// rest returns what is in memory, where a byte begins.
func (f *inflater) rest() []byte { return f.In[f.Bit/8:] }

// place returns how many bytes of the file were begun.
func (f *inflater) place() int64 { return f.before + int64(f.Bit+7)/8 }

// align goes past the rest of a byte that was begun; its bits are 0 in the files of all known writers.
func (f *inflater) align() error {
	if f.Take(-f.Bit&7) != 0 {
		return ErrUnknownWriter
	}
	return nil
}

// bad returns what is wrong with the file, unless it could not be read or is cut off.
func (f *inflater) bad(what string) error {
	if f.err != nil && f.err != io.EOF {
		return f.err
	}
	if f.Short || f.Bit > 8*len(f.In) {
		what = "it is cut off"
	}
	return fmt.Errorf("%w: %s, byte %d", ErrInput, what, f.place())
}

// readCode is a code to read. Codes of up to fastBits bits are in a table.
type readCode struct {
	deflate.Code
	fast [1 << fastBits]uint16
}

// set makes the code of lengths. It reports whether a block may have it.
func (c *readCode) set(lengths []uint8) bool {
	sound := c.InitBlock(lengths)
	c.Fill(c.fast[:])
	return sound
}

// symbol returns the next symbol and how many bits it has; 0 bits if there is none.
func (c *readCode) symbol(ahead uint64) (symbol, n int) {
	if e := c.fast[ahead&(1<<fastBits-1)]; e != 0 {
		return int(e >> 4), int(e & 15)
	}
	symbol, n, _ = c.Read(ahead, deflate.MaxBits)
	return symbol, n
}

// block reads a block.
func (f *inflater) block(b *block) (err error) {
	f.load(mostCodes)
	b.final, b.kind = f.Take(1) == 1, byte(f.Take(2))
	start := len(f.text)
	switch b.kind {
	case storedBlock:
		err = f.stored()
	case staticBlock:
		err = f.tokens(b, &f.staticLit, &f.staticDist)
	case dynamicBlock:
		if !b.codes.read(&f.Bits) || !f.lit.set(b.codes.literalLengths()) || !f.dist.set(b.codes.distLengths()) {
			return f.bad("codes that are not possible")
		}
		err = f.tokens(b, &f.lit, &f.dist)
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
	size, inverse := f.Take(16), f.Take(16)
	f.load(size)
	if f.Short || size != inverse^0xffff || !f.Need(8*size) {
		return f.bad("lengths of a stored block that contradict each other")
	}
	f.text = append(f.text, f.rest()[:size]...)
	f.Bit += 8 * size
	return nil
}

// tokens reads the tokens of a block up to its end, and appends their text.
func (f *inflater) tokens(b *block, lit, dist *readCode) error {
	text, most := f.text, len(f.text)+maxBlockText
	tokens, in, bit, end := f.spare[:0], f.In[:len(f.In)+padBytes], f.Bit, 8*len(f.In)
	wrong, unknown, ended := "", false, false
	for !ended && !unknown && wrong == "" {
		if end-bit < 8*padBytes {
			if unknown = len(tokens) > maxTokens || len(text) > most; unknown || bit > end {
				break
			}
			f.Bit = bit
			f.load(2 * padBytes)
			in, bit, end = f.In[:len(f.In)+padBytes], f.Bit, 8*len(f.In)
		}
		v := deflate.Load64(in, bit>>3) >> (bit & 7)
		s, k := lit.symbol(v)
		v, bit = v>>(k&63), bit+k
		if s < endOfBlock && k > 0 {
			text = append(text, byte(s))
			tokens = append(tokens, literal(byte(s)))
			continue
		}
		if ended = s == endOfBlock; ended {
			break
		}
		if s -= endOfBlock + 1; k == 0 || s >= deflate.Lengths {
			wrong = "no word of the code"
			break
		}
		extra := deflate.LengthExtra[s] & 63
		length := int(deflate.LengthBase[s]) + int(v&(1<<extra-1))
		v >>= extra
		d, k := dist.symbol(v)
		if k == 0 || d >= deflate.Dists {
			wrong = "no distance"
			break
		}
		v >>= k & 63
		more := deflate.DistExtra[d] & 63
		far := int(deflate.DistBase[d]) + int(v&(1<<more-1))
		bit += int(extra) + k + int(more)
		if far > len(text)-f.member {
			wrong = "a match before the beginning of the text"
			break
		}
		tokens = append(tokens, match(length, far))
		text = appendMatch(text, length, far)
		// There is a symbol for the greatest length alone.
		unknown = s == deflate.Lengths-2 && length == maxMatch
	}
	b.tokens, f.spare, f.text, f.Bit = slices.Clone(tokens), tokens, text, bit
	if unknown || len(tokens) > maxTokens || len(text) > most {
		return ErrUnknownWriter
	} else if !ended || bit > end {
		return f.bad(wrong)
	}
	return nil
}

// appendMatch appends n bytes that are those dist before.
func appendMatch(text []byte, n, dist int) []byte {
	at := len(text)
	text = slices.Grow(text, n+padBytes)[:at+n]
	if dist < 8 {
		for i := at; i < len(text); i++ {
			text[i] = text[i-dist]
		}
		return text
	}
	for i := at; i < len(text); i += 8 {
		deflate.Store64(text[:len(text)+padBytes], i, deflate.Load64(text, i-dist))
	}
	return text
}
