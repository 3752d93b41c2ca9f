package names

import (
	"bytes"
	"slices"

	rc "orcomgo/compress/rangecoder"
)

const (
	maxWords = symbolCount - 1 // in the dictionary of a field
	wordNew  = maxWords

	maxWordLen = 255 // of a word in a dictionary
)

// dictionary numbers the words of a field.
type dictionary struct {
	words [][]byte
	index map[string]uint32
}

// setWord gives the field the word w without coding.
func (f *fieldState) setWord(w []byte) {
	f.word = append(f.word[:0], w...)
	i, ok := f.words.index[string(w)]
	if !ok {
		i = f.words.add(w)
	}
	f.index = i
}

// add gives the new word w a number, while there are numbers left and it is not too long.
func (d *dictionary) add(w []byte) uint32 {
	if len(d.words) == maxWords || len(w) > maxWordLen {
		return wordNew
	}
	i := uint32(len(d.words))
	d.words = append(d.words, bytes.Clone(w))
	d.index[string(w)] = i
	return i
}

// word codes the field's next word.
func (c *codec) word(f *fieldState, w []byte) {
	same := 0
	if !c.Decoding() {
		same = rc.BitOf(bytes.Equal(w, f.word))
	}
	if c.direct(same, hash(hSame, f.id, f.index), 500) == 1 {
		return
	}
	d := f.words
	i := uint32(wordNew)
	if !c.Decoding() {
		if k, ok := d.index[string(w)]; ok {
			i = k
		}
	}
	if i = c.symbol(i, &f.parts[min(f.index, uint32(len(f.parts))-1)]); i != wordNew {
		if i >= uint32(len(d.words)) {
			c.bad = true
			return
		}
		f.word = append(f.word[:0], d.words[i]...)
		f.index = i
		return
	}
	var line []byte
	if f.plan.fine {
		line = c.letters(c.spellBuf[:0], f, w)
	}
	if len(line) == 0 {
		line = c.spell(c.spellBuf[:0], f.word, w, f.id)
	}
	if c.bad {
		return
	}
	c.spellBuf, f.word = f.word, line
	f.index = d.add(line)
}

// letters codes a word that is as long as the last one of the field by the frequencies of letters at each place, and appends it to out. It
// appends nothing to out if the word has to be spelt.
func (c *codec) letters(out []byte, f *fieldState, w []byte) []byte {
	n := len(f.word)
	alike := len(w) == n && n <= symbolCount
	for _, b := range w {
		alike = alike && b < symbolCount
	}
	if c.direct(rc.BitOf(alike), hash(hAlike, f.id, 0), 250) == 0 {
		return out
	}
	if n > symbolCount || c.Decoding() && len(c.out)+n > c.limit {
		c.bad = true
		return out
	}
	if f.lower == nil {
		f.lower = new([symbolCount]*symbols)
	}
	for i := range n {
		var b byte
		if !c.Decoding() {
			b = w[i]
		}
		b = byte(c.symbol(uint32(b), &f.lower[i]))
		c.bad = c.bad || b == '\n'
		out = append(out, b)
	}
	return out
}

// alphabet numbers the bytes of a field's words, by first occurrence.
type alphabet struct {
	rank [256]uint16 // 1 + number, or 0
	sym  [256]byte
	n    uint32

	sizes *symbols // of words
}

// spell codes w letter by letter, and appends it to out. last is the word before in this
// field, whose letters are a context; id is the field's id.
func (c *codec) spell(out, last, w []byte, id uint32) []byte {
	a := c.alphabets[id]
	if a == nil {
		a = &alphabet{}
		c.alphabets[id] = a
	}
	size := uint32(len(last))
	if c.direct(rc.BitOf(len(w) == len(last)), hash(hSize, id, 0), 250) == 0 {
		size = c.spread(uint32(len(w))+1, &a.sizes) - 1
	}
	if c.Decoding() && uint64(len(c.out))+uint64(size) > uint64(c.limit) {
		c.bad = true
		return out
	}
	out = slices.Grow(out, int(size))
	var o1, o2, o3 uint32
	for i := 0; i < int(size); i++ {
		var b byte
		if !c.Decoding() {
			b = w[i]
		}
		r := a.n // a new letter
		if k := a.rank[b]; k != 0 {
			r = uint32(k - 1)
		}
		was := uint32(0)
		if i < len(last) {
			was = uint32(last[i])
		}
		n := bitLen(a.n)
		c.ctx[0] = hash(hLetter, id, o1<<8|uint32(n))
		c.ctx[1] = hash(hLetter+64, id, o1<<16|o2<<8)
		c.ctx[2] = hash(hLetter+128, id, o1<<16|o2<<8|o3)
		c.ctx[3] = hash(hLetter+192, id, uint32(min(i, 255))<<8|was)
		c.ctx[4] = hash(hLetter+256, id, was<<16|o1<<8)
		c.n = 5
		r = c.mixedTree(r, n, hash(hLetter, id, 0), 250)
		if r > a.n {
			c.bad = c.bad || c.Decoding()
			return out
		}
		if r == a.n {
			b = byte(c.tree(uint32(b), 8, hash(hLetter, 0, 1), 250))
			if b == '\n' {
				c.bad = true
				return out
			}
			if a.rank[b] == 0 {
				a.sym[a.n] = b
				a.n++
				a.rank[b] = uint16(a.n)
			}
		} else {
			b = a.sym[r]
		}
		out = append(out, b)
		o3, o2, o1 = o2, o1, uint32(b)
	}
	return out
}
