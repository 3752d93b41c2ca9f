package source

import (
	"errors"
	"fmt"

	"orcomgo/bins/parse"
	"orcomgo/compress/archive"
)

// neededError is an error about what others are coded given: names, or the first qualities of an input.
type neededError struct {
	what string
	error
}

func (e *neededError) Unwrap() error { return e.error }

// needed returns an error about a column of a slice that others, what, are coded given.
func needed(r *archive.Reader, what, column string, err error) error {
	var other *neededError
	if errors.As(err, &other) {
		return other
	}
	if !errors.Is(err, parse.ErrCorrupt) {
		err = r.Corrupt(column, err)
	}
	return &neededError{what, err}
}

// corrupt returns an error about a column that does not decode.
func corrupt(r *archive.Reader, column string, err error) error {
	var other *neededError
	if errors.As(err, &other) {
		return fmt.Errorf("%s: %s are needed: %w", column, other.what, other.error)
	}
	return r.Corrupt(column, err)
}

// columnOf says for errors which column of which records one is.
func columnOf(man *archive.Manifest, c archive.Column, s *archive.Slice, member int) string {
	return c.String() + " of " + WhereRecords(man, s, member)
}
