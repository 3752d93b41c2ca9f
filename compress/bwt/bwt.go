package bwt

import (
	"errors"
	"fmt"
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
	s := newSorter(text, max(threads, 1))
	s.sort()
	step := uint32(Step(len(text)))
	starts = make([]uint32, Starts(len(text)))
	s.eachShare(len(text), func(_, from, to int) {
		for i, p := range s.order[from:to] {
			if p%step == 0 {
				starts[p/step] = uint32(from + i)
			}
			if p == 0 {
				p = uint32(len(text))
			}
			dst[from+i] = text[p-1]
		}
	})
	return starts, nil
}
