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
		if starts, ok := small(dst, text); ok {
			return starts, nil
		}
	}
	return large(dst, text, max(threads, 1)), nil
}

// memory is what the steps of a transform use one after another.
type memory struct {
	entries []uint64
	giant   [2][]uint64
}

// reuse returns n elements of any value, from *memory if it has as many.
func reuse[T any](memory *[]T, n int) []T {
	if cap(*memory) < n {
		*memory = nil // so that both need not be there at once
		*memory = largepages.Make[T](n)
	}
	return (*memory)[:n]
}

// large is Transform for a text that is not empty.
func large(dst, text []byte, threads int) (starts []uint32) {
	m := new(memory)
	t := newCodedText(text, threads)
	ty := newTypes(t, text, threads)
	starts = make([]uint32, Starts(len(text)))
	v := newInducer(m, dst, text, t, ty, starts, threads)
	groups, place := v.layOut()
	s := newSorter(m, t, threads, ty.stars, func() *ranks { return newRanks(t, text, threads) })
	s.run(text, func(first uint64, a []uint64, _ []tie) { v.setStars(groups, first, a, s.symbol) })
	v.run(place)
	return starts
}
