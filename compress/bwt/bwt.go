package bwt

import (
	"errors"
	"fmt"

	"orcomgo/internal/largepages"
)

// MaxLen is the most bytes of a text.
const MaxLen = 1<<32 - 2

// ErrTooLong reports a text of more than MaxLen bytes.
var ErrTooLong = errors.New("bwt: a text of more than 2^32-2 bytes")

const (
	minStep   = 1 << 16
	maxStarts = 1 << 10
)

// Step returns the distance between the starting points of a text of n bytes.
func Step(n int) int { return max(minStep, (n+maxStarts-1)/maxStarts) }

// Starts returns how many starting points a text of n bytes has.
func Starts(n int) int { return (n + Step(n) - 1) / Step(n) }

// Transform writes the transform of text to dst, which is as long and does not overlap text, with the given number of threads. It returns
// the starting points.
func Transform(dst, text []byte, threads int) (starts []uint32, err error) {
	return new(Transformer).Transform(dst, text, threads)
}

// Inverse writes the text to dst of which transformed and starts are the transform. dst is as long and does not overlap transformed.
// For what Transform did not make, the result is an error or some text.
func Inverse(dst, transformed []byte, starts []uint32, threads int) error {
	return new(Transformer).Inverse(dst, transformed, starts, threads)
}

// Transformer keeps its memory from one text to the next, which saves the time that the system needs to hand it out. The zero value is
// ready. It is for one call at a time.
type Transformer struct {
	coded   []byte
	marks   []mark
	stars   []uint64
	ordered []uint64
	entries []uint64
	ranks   []uint32
	order   []uint32
	giant   [2][]uint64
	next    []uint32
	sample  *Transformer // for sorting the sample
	short   []smallSuffix
}

// reuse returns n elements of any value, from *memory if it has as many. Memory that was too small is replaced by a little more than is
// needed, so that texts of one size seldom replace it.
func reuse[T any](memory *[]T, n int) []T {
	if had := cap(*memory); had < n {
		*memory = nil // so that both need not be there at once
		more := 0
		if had > 0 {
			more = n / 8
		}
		*memory = largepages.Make[T](n + more)
	}
	return (*memory)[:n]
}

// Transform is the function Transform.
func (m *Transformer) Transform(dst, text []byte, threads int) (starts []uint32, err error) {
	if uint64(len(text)) > MaxLen {
		return nil, ErrTooLong
	}
	if len(dst) != len(text) {
		return nil, fmt.Errorf("bwt: %d bytes for the transform of %d", len(dst), len(text))
	}
	if len(text) == 0 {
		return nil, nil
	}
	if len(text) <= smallText {
		if starts, ok := m.small(dst, text); ok {
			return starts, nil
		}
	}
	return m.large(dst, text, max(threads, 1)), nil
}

// large is Transform for a text that is not empty.
func (m *Transformer) large(dst, text []byte, threads int) (starts []uint32) {
	t := newCodedText(m, text, threads)
	ty := newTypes(m, t, text, threads)
	starts = make([]uint32, Starts(len(text)))
	v := newInducer(m, dst, text, t, ty, starts, threads)
	groups, place := v.layOut()
	s := newSorter(m, t, threads, ty.stars, func() *ranks {
		if m.sample == nil {
			m.sample = new(Transformer)
		}
		return newRanks(m.sample, t, text, threads)
	})
	s.run(text, func(first uint64, a []uint64, _ []tie) { v.setStars(groups, first, a, s.symbol) })
	v.run(m, place)
	return starts
}
