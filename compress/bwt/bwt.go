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

// Transform writes the transform of text to dst, which is as long and does not overlap text.
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
	threads = max(threads, 1)
	t := newCodedText(text, threads)
	r := newRanks(t, text, threads)
	s := newSorter(t, threads, ^uint64(0), r)
	step := Step(len(text))
	starts = make([]uint32, Starts(len(text)))
	s.run(text, step, func(first uint64, a []uint64, _ []tie) {
		out := dst[first : first+uint64(len(a))]
		mask := uint64(1)<<s.symbolBits - 1
		for i, e := range a {
			b := e & mask
			if b == uint64(t.size) {
				p := int(s.symbol(e))
				starts[p/step] = uint32(first) + uint32(i)
				if p == 0 {
					p = len(text)
				}
				out[i] = text[p-1]
				continue
			}
			out[i] = t.symbols[b]
		}
	})
	return starts, nil
}
