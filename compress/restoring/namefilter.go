package restoring

import (
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"orcomgo/bins/commit"
	"orcomgo/compress/archive"
	"orcomgo/compress/nameranges"
)

// NameFilter says which names of records are wanted: those that are listed, or that match a pattern.
type NameFilter struct {
	listed map[string]*listedName
	match  *regexp.Regexp
}

// listedName is a name as it was listed, and whether a record has it.
type listedName struct {
	name  string
	found atomic.Bool
}

// NewNameFilter returns a filter of names that are listed or match, if match is not nil.
//
// A listed name is the first word of a record's name. If the record's ends in /1 or /2, it may be listed without that. A listed name
// with white space inside is a whole name. It may have the @ or > before it that text has. match is matched with whole names.
func NewNameFilter(listed []string, match *regexp.Regexp) *NameFilter {
	f := &NameFilter{make(map[string]*listedName, len(listed)), match}
	for _, s := range listed {
		n := &listedName{name: s}
		f.listed[s] = n
		if bare := strings.TrimLeft(s, "@>"); len(bare) == len(s)-1 && f.listed[bare] == nil {
			f.listed[bare] = n
		}
	}
	return f
}

// Missing lists the first few names that are listed and that no record had so far, "" if there is none.
func (f *NameFilter) Missing() string {
	var names []string
	for _, n := range f.listed {
		if !n.found.Load() {
			names = append(names, n.name)
		}
	}
	slices.Sort(names)
	return commit.FirstNames(slices.Compact(names), 5)
}

// isListed reports whether a name is listed, and notes that a record has it.
func (f *NameFilter) isListed(name []byte) bool {
	n := f.listed[string(name)]
	if n != nil && !n.found.Load() {
		n.found.Store(true)
	}
	return n != nil
}

// Matches reports whether a record with this name is wanted. It is safe for concurrent use.
func (f *NameFilter) Matches(name []byte) bool {
	if f.match != nil && f.match.Match(name) {
		return true
	}
	if len(f.listed) == 0 {
		return false
	}
	word := nameranges.FirstWord(name)
	if len(word) < len(name) && f.isListed(name) || f.isListed(word) {
		return true
	}
	n := len(word) - 2
	return n > 0 && word[n] == '/' && (word[n+1] == '1' || word[n+1] == '2') && f.isListed(word[:n])
}

// words returns the first words of names that match, but for those that no range of words bounds; ok is false if any word may match.
func (f *NameFilter) words() (list []nameranges.Word, ok bool) {
	if f.match != nil {
		return nil, false
	}
	for s := range f.listed {
		for _, end := range []string{"", "/1", "/2"} {
			var w nameranges.Word
			if w.Cut(append(nameranges.FirstWord([]byte(s)), end...)) {
				list = append(list, w)
			}
		}
	}
	return list, true
}

// slicesWith returns a function that reports whether a slice may have names that match; nil if all may.
func (f *NameFilter) slicesWith(man *archive.Manifest) func(s *archive.Slice) bool {
	words, ok := f.words()
	if !ok || !man.NameRanges {
		return nil
	}
	return func(s *archive.Slice) bool { return nameranges.MayHave(&s.Words, words) }
}
