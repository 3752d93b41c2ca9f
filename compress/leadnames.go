package compress

import (
	"errors"
	"fmt"
	"sync"

	"orcomgo/compress/archive"
	"orcomgo/compress/names"
)

// Names of further mates are decoded given those of the first mates, which are in another slice. That comes just before theirs, so the
// names that were decoded last are kept.

// leadNames keeps decoded names of first mates.
type leadNames struct {
	keep int // how many slices
	mu   sync.Mutex
	last []*leadEntry // the most recent one last
}

// leadEntry is names of the first records of a slice.
type leadEntry struct {
	slice *archive.Slice
	first int // how many records
	once  sync.Once
	names []byte
	err   error
}

// get returns the names of the first n records of a slice of first mates.
func (l *leadNames) get(p *packed, s *archive.Slice, n int) ([]byte, error) {
	e := l.entry(s, n)
	e.once.Do(func() {
		var data []byte
		if data, e.err = p.r.Read(s.First.Sections[archive.Names], nil, namesOf(p, s)); e.err == nil {
			e.names, e.err = names.DecodePrefix(data, s.Records, n, s.First.NamesLen)
		}
	})
	return e.names, e.err
}

// namesOf says for errors which names those of the first member of a slice are.
func namesOf(p *packed, s *archive.Slice) string {
	return archive.Names.String() + " of " + whereRecords(p.man, s, 0)
}

// forFurther is get for a slice of further mates. An error says that the names of the first mates are missing.
func (l *leadNames) forFurther(p *packed, lead *archive.Slice, n int) ([]byte, error) {
	names, err := l.get(p, lead, n)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		err = p.r.Corrupt(namesOf(p, lead), err)
	}
	if err != nil {
		return nil, &leadError{"those of the first mates", err}
	}
	return names, nil
}

// entry returns that of the first n records of a slice, a new one if it is not kept.
func (l *leadNames) entry(s *archive.Slice, n int) *leadEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.last {
		if e.slice == s && e.first == n {
			return e
		}
	}
	if len(l.last) >= l.keep {
		l.last = append(l.last[:0], l.last[len(l.last)-l.keep+1:]...)
	}
	e := &leadEntry{slice: s, first: n}
	l.last = append(l.last, e)
	return e
}

// leadError is an error about what others are coded given: the names of first mates, or the first qualities of an input.
type leadError struct {
	what string
	error
}

func (e *leadError) Unwrap() error { return e.error }

// corrupt returns an error about what does not decode.
func (p *packed) corrupt(what string, err error) error {
	var lead *leadError
	if errors.As(err, &lead) {
		return fmt.Errorf("%s: %s are needed: %w", what, lead.what, lead.error)
	}
	return p.r.Corrupt(what, err)
}
