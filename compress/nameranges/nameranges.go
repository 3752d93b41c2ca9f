// Package nameranges says which names the records of a slice may have: of the first words of names, the least and the greatest value of
// each number. So most slices need not be decoded to find a record by its name.
package nameranges

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"

	"orcomgo/compress/archive"
)

// FirstWord returns the first word of a record's name: what comes before the first space or tab.
func FirstWord(name []byte) []byte {
	for _, end := range []byte(" \t") {
		if i := bytes.IndexByte(name, end); i >= 0 {
			name = name[:i]
		}
	}
	return name
}

// Word is a word whose numbers are apart from the rest.
type Word struct {
	shape   []byte // the word with a 0 in place of each number
	numbers []uint64
}

// maxDigits is the most digits of a number, so that any fits into 64 bits.
const maxDigits = 18

// Cut sets w, whose memory is used again, to a word. It returns false if a number has too many digits: no range bounds such words.
func (w *Word) Cut(word []byte) bool {
	w.shape, w.numbers = w.shape[:0], w.numbers[:0]
	for i := 0; i < len(word); {
		if !isDigit(word[i]) {
			w.shape = append(w.shape, word[i])
			i++
			continue
		}
		v, end, ok := numberAt(word, i)
		if !ok {
			return false
		}
		i = end
		w.shape, w.numbers = append(w.shape, '0'), append(w.numbers, v)
	}
	return true
}

// numberAt returns the number whose digits begin at word[i], and where they end; false if there are none or too many.
func numberAt(word []byte, i int) (v uint64, end int, ok bool) {
	for end = i; end < len(word) && isDigit(word[end]); end++ {
		v = v*10 + uint64(word[end]-'0')
	}
	return v, end, i < end && end <= i+maxDigits
}

// text returns the word with these numbers.
func (w *Word) text(numbers []uint64) string {
	var text []byte
	for _, b := range w.shape {
		if b != '0' {
			text = append(text, b)
			continue
		}
		text = strconv.AppendUint(text, numbers[0], 10)
		numbers = numbers[1:]
	}
	return string(text)
}

func isDigit(b byte) bool { return b-'0' <= 9 }

// Range bounds words of which the numbers alone differ, by the least and the greatest of each number.
type Range struct {
	some, any bool     // there are words; they differ in more
	low       Word     // with the least numbers
	high      []uint64 // the greatest numbers
	last      []byte   // the last word
	numbers   []place  // of its numbers
}

// place is where a number ends in a word, and where it is in the shape.
type place struct{ end, inShape int }

// add widens the range to a word, which must not be changed before the next one is added.
func (r *Range) add(word []byte) {
	if !r.some {
		r.some, r.any = true, !r.low.Cut(word)
		r.high = slices.Clone(r.low.numbers)
		for i, b := range r.low.shape {
			if b == '0' {
				r.numbers = append(r.numbers, place{inShape: i})
			}
		}
	}
	r.any = r.any || !r.widen(word)
	r.last = word
}

// commonStart returns how many bytes a and b begin with that are equal, or a few fewer.
func commonStart(a, b []byte) (n int) {
	for n+8 <= len(a) && n+8 <= len(b) && binary.LittleEndian.Uint64(a[n:]) == binary.LittleEndian.Uint64(b[n:]) {
		n += 8
	}
	return n
}

// widen widens the range to a word of the shape of the others, and returns false of another. The start that the word has in common with
// the last one is not read again.
func (r *Range) widen(word []byte) bool {
	same := commonStart(word, r.last)
	n := 0 // numbers that are those of the last word
	for n < len(r.numbers) && r.numbers[n].end < same {
		n++
	}
	i, shape := 0, r.low.shape
	if n > 0 {
		i, shape = r.numbers[n-1].end, shape[r.numbers[n-1].inShape+1:]
	}
	for _, b := range shape {
		if b != '0' {
			if i == len(word) || word[i] != b {
				return false
			}
			i++
			continue
		}
		v, end, ok := numberAt(word, i)
		if !ok {
			return false
		}
		r.numbers[n].end = end
		r.low.numbers[n], r.high[n] = min(r.low.numbers[n], v), max(r.high[n], v)
		i, n = end, n+1
	}
	return i == len(word)
}

// AddNames widens the range to the first words of names, each of which is followed by '\n'.
func (r *Range) AddNames(names []byte) {
	for len(names) > 0 {
		n := bytes.IndexByte(names, '\n')
		r.add(FirstWord(names[:n]))
		names = names[n+1:]
	}
}

// Words returns what the range says in a manifest. Where words differ in more than numbers, or are too long, it says nothing.
func (r *Range) Words() archive.Words {
	w := archive.Words{Least: r.low.text(r.low.numbers), Greatest: r.low.text(r.high)}
	if r.any || len(w.Greatest) > archive.MaxWord {
		return archive.Words{}
	}
	return w
}

// Worthwhile reports whether ranges of words are recorded: where a name can be looked for in some of the slices.
func Worthwhile(man *archive.Manifest) bool {
	seen := make([]bool, len(man.Inputs))
	for i := range man.Slices {
		input := man.Slices[i].First.Input
		if seen[input] {
			return !man.Options.ReadsOnly && !man.Options.DropNames
		}
		seen[input] = true
	}
	return false
}

// MayHave reports whether names with first words in the range that w says can have one of some words.
func MayHave(w *archive.Words, words []Word) bool {
	var low, high Word
	if w.Greatest == "" || !low.Cut([]byte(w.Least)) || !high.Cut([]byte(w.Greatest)) || !bytes.Equal(low.shape, high.shape) {
		return true
	}
	return slices.ContainsFunc(words, func(x Word) bool {
		if !bytes.Equal(x.shape, low.shape) {
			return false
		}
		for i, v := range x.numbers {
			if v < low.numbers[i] || v > high.numbers[i] {
				return false
			}
		}
		return true
	})
}
