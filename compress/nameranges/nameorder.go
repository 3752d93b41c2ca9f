// Package nameranges says which names the records of a slice may have: a range of the first words of names. So most slices need not be
// decoded to find a record by its name.
package nameranges

import (
	"bytes"
	"cmp"
	"slices"

	"orcomgo/compress/archive"
)

// FirstWord returns the first word of a record's name: what comes before the first space or tab.
func FirstWord(name []byte) []byte {
	if i := bytes.IndexAny(name, " \t"); i >= 0 {
		return name[:i]
	}
	return name
}

// Compare compares words of names in the order in which sequencers count: bytes as they are, but digits in a row as a number, which
// is followed by the same number with more zeros before it. A word follows those that it begins with.
func Compare(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	if i == n {
		return cmp.Compare(len(a), len(b))
	}
	for i > 0 && isDigit(a[i-1]) { // these are the same in both
		i--
	}
	x, y := digitsOf(a[i:]), digitsOf(b[i:])
	if len(x) == 0 || len(y) == 0 {
		return bytes.Compare(a[i:], b[i:])
	}
	p, q := bytes.TrimLeft(x, "0"), bytes.TrimLeft(y, "0")
	return cmp.Or(cmp.Compare(len(p), len(q)), bytes.Compare(p, q), cmp.Compare(len(x), len(y)))
}

// digitsOf returns the digits that b begins with.
func digitsOf(b []byte) []byte {
	n := 0
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	return b[:n]
}

// Range bounds some words: by the least and the greatest, and, if their numbers alone differ, by those of each number.
type Range struct {
	least, greatest []byte
	any             bool
	shape           *wordShape // nil if more than numbers differ
	low, high       []uint64   // the least and the greatest of each number
	numbers         []uint64   // of the word that is added
}

// add widens the range to a word.
func (r *Range) add(word []byte) {
	switch {
	case !r.any:
		r.least, r.greatest, r.any = word, word, true
		if r.shape, r.low = newWordShape(word); r.shape != nil {
			r.high, r.numbers = slices.Clone(r.low), make([]uint64, len(r.low))
		}
	case Compare(word, r.least) < 0:
		r.least = word
	case Compare(word, r.greatest) > 0:
		r.greatest = word
	}
	if r.shape == nil {
		return
	}
	if !r.shape.cut(word, r.numbers) {
		r.shape = nil
		return
	}
	for i, v := range r.numbers {
		r.low[i], r.high[i] = min(r.low[i], v), max(r.high[i], v)
	}
}

// AddNames widens the range to the first words of names, each of which is followed by '\n'.
func (r *Range) AddNames(names []byte) {
	for len(names) > 0 {
		n := bytes.IndexByte(names, '\n')
		r.add(FirstWord(names[:n]))
		names = names[n+1:]
	}
}

// Words returns what the range says in a manifest. Where words are too long for that, it says nothing.
func (r *Range) Words() archive.Words {
	w := archive.Words{Kind: archive.OrderedWords, Least: string(r.least), Greatest: string(r.greatest)}
	if r.shape != nil {
		w = archive.Words{Kind: archive.NumberWords, Least: string(r.shape.word(r.low)), Greatest: string(r.shape.word(r.high))}
	}
	if !r.any || len(w.Least) > archive.MaxWord || len(w.Greatest) > archive.MaxWord {
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

// MayHave reports whether names with first words in the range that w says can have one of some words, which are ascending.
func MayHave(w *archive.Words, words [][]byte) bool {
	if w.Kind == archive.AnyWords {
		return true
	}
	least, greatest := []byte(w.Least), []byte(w.Greatest)
	from, _ := slices.BinarySearchFunc(words, least, Compare)
	to, found := slices.BinarySearchFunc(words, greatest, Compare)
	if found {
		to++
	}
	if w.Kind == archive.OrderedWords || from >= to {
		return from < to
	}
	shape, low := newWordShape(least)
	if shape == nil {
		return true // another program's; an order is all that it can say
	}
	high, numbers := make([]uint64, len(low)), make([]uint64, len(low))
	if !shape.cut(greatest, high) {
		return true
	}
	return slices.ContainsFunc(words[from:to], func(w []byte) bool {
		if !shape.cut(w, numbers) {
			return false
		}
		for i, v := range numbers {
			if v < low[i] || v > high[i] {
				return false
			}
		}
		return true
	})
}
