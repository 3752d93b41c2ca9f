package names

import (
	"bytes"
	"slices"

	rc "orcomgo/compress/rangecoder"
)

const (
	maxWords = 255 // in the dictionary of a field
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
	if c.direct(rc.BitOf(i != wordNew), hash(hWord, f.id, 0), 250) == 1 {
		c.ctx[0] = hash(hWord+64, f.id, 0)
		c.ctx[1] = hash(hWord+128, f.id, f.index)
		c.n = 2
		i = c.mixedTree(i, 8, hash(hWord, f.id, 1), 500)
		if i >= uint32(len(d.words)) {
			c.bad = true
			return
		}
		f.word = append(f.word[:0], d.words[i]...)
		f.index = i
		return
	}
	line := c.spell(c.spellBuf[:0], f.word, w, f.id)
	if c.bad {
		return
	}
	c.spellBuf, f.word = f.word, line
	f.index = d.add(line)
}

// alphabet numbers the bytes of a field's words, by first occurrence.
type alphabet struct {
	rank [256]uint16 // 1 + number, or 0
	sym  [256]byte
	n    uint32
}

// spell codes w letter by letter, and appends it to out. last is the word before in this
// field, whose letters are a context; id is the field's id.
func (c *codec) spell(out, last, w []byte, id uint32) []byte {
	a := c.alphabets[id]
	if a == nil {
		a = &alphabet{}
		c.alphabets[id] = a
	}
	size := c.size(uint32(len(w)), uint32(len(last)), id)
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

// size codes the length of a word, given that of the one before.
func (c *codec) size(v, last, id uint32) uint32 {
	if c.direct(rc.BitOf(v == last), hash(hSize, id, 0), 250) == 1 {
		return last
	}
	k := c.tree(uint32(bitLen(v)), 5, hash(hSize, id, 1), 250)
	if k == 0 {
		return 0
	}
	k--
	t := min(k, 5)
	hi := c.tree(v>>(k-t)&(1<<t-1), int(t), hash(hSize, id, 2+k), 250)
	return 1<<k | hi<<(k-t) | c.Uniform(v, int(k-t))
}
