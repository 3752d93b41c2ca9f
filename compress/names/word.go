package names

import (
	"bytes"

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
	line := c.spell(c.spellBuf[:0], f.word, w, f.id)
	if c.bad {
		return
	}
	c.spellBuf, f.word = f.word, line
	f.index = d.add(line)
}

// spell codes w letter by letter, each given the one before it, and appends it to out. last is the word before in this field, which is
// mostly as long; id is the field's id.
func (c *codec) spell(out, last, w []byte, id uint32) []byte {
	size := uint32(len(last))
	if c.direct(rc.BitOf(len(w) == len(last)), hash(hSize, id, 0), 250) == 0 {
		size = c.spread(uint32(len(w))+1, &c.sizes) - 1
	}
	if c.Decoding() && uint64(len(c.out))+uint64(size) > uint64(c.limit) {
		c.bad = true
		return out
	}
	letter := uint32(0)
	for i := range int(size) {
		next := uint32(0)
		if !c.Decoding() {
			next = uint32(w[i])
		}
		if letter = c.tree(next, 8, hash(hLetter, id, letter), 250); letter == '\n' {
			c.bad = true
			return out
		}
		out = append(out, byte(letter))
	}
	return out
}
