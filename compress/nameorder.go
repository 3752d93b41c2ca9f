package compress

import (
	"bytes"
	"cmp"
	"slices"

	"orcomgo/compress/archive"
)

// nameWord returns the first word of a record's name: what comes before the first space or tab.
func nameWord(name []byte) []byte {
	if i := bytes.IndexAny(name, " \t"); i >= 0 {
		return name[:i]
	}
	return name
}

// compareWords compares words of names in the order in which sequencers count: bytes as they are, but digits in a row as a number, which
// is followed by the same number with more zeros before it. A word follows those that it begins with.
func compareWords(a, b []byte) int {
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

func isDigit(b byte) bool { return b-'0' <= 9 }

// digitsOf returns the digits that b begins with.
func digitsOf(b []byte) []byte {
	n := 0
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	return b[:n]
}

// wordRange is the least and the greatest of some words.
type wordRange struct {
	least, greatest []byte
	any             bool
}

// add widens the range to a word.
func (r *wordRange) add(word []byte) {
	switch {
	case !r.any:
		r.least, r.greatest, r.any = word, word, true
	case compareWords(word, r.least) < 0:
		r.least = word
	case compareWords(word, r.greatest) > 0:
		r.greatest = word
	}
}

// addNames widens the range to the first words of names, each of which is followed by '\n'.
func (r *wordRange) addNames(names []byte) {
	for len(names) > 0 {
		n := bytes.IndexByte(names, '\n')
		r.add(nameWord(names[:n]))
		names = names[n+1:]
	}
}

// setWords sets the range of a slice's words. Where they are too long for a manifest, it says nothing of them.
func setWords(s *archive.Slice, ranges [2]wordRange) {
	all := ranges[0]
	if ranges[1].any {
		all.add(ranges[1].least)
		all.add(ranges[1].greatest)
	}
	if len(all.least) <= archive.MaxWord && len(all.greatest) <= archive.MaxWord {
		s.Least, s.Greatest = string(all.least), string(all.greatest)
	}
}

// wordsWorthRanges reports whether ranges of words are recorded: where a name can be looked for in some of the slices.
func wordsWorthRanges(man *archive.Manifest) bool {
	seen := make([]bool, len(man.Inputs))
	for i := range man.Slices {
		input := man.Slices[i].First.Input
		if seen[input] {
			return man.ChunkedHashes && !man.Options.ReadsOnly && !man.Options.DropNames
		}
		seen[input] = true
	}
	return false
}

// words returns the first words of names that match, ascending and without repetitions; ok is false if any word may.
func (f *NameFilter) words() (list [][]byte, ok bool) {
	if f.match != nil {
		return nil, false
	}
	for s := range f.listed {
		w := nameWord([]byte(s))
		list = append(list, w)
		for _, end := range []string{"/1", "/2"} {
			list = append(list, append(bytes.Clone(w), end...))
		}
	}
	slices.SortFunc(list, compareWords)
	return slices.CompactFunc(list, bytes.Equal), true
}

// slicesWith returns a function that reports whether a slice may have names that match; nil if all may.
func (f *NameFilter) slicesWith(man *archive.Manifest) func(s *archive.Slice) bool {
	words, ok := f.words()
	if !ok || !man.NameRanges {
		return nil
	}
	return func(s *archive.Slice) bool {
		if s.Least == "" && s.Greatest == "" {
			return true
		}
		i, _ := slices.BinarySearchFunc(words, []byte(s.Least), compareWords)
		return i < len(words) && compareWords(words[i], []byte(s.Greatest)) <= 0
	}
}
