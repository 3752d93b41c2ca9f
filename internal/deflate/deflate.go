// Package deflate holds what all that read or write deflate streams (RFC 1951) share: limits, the symbols of lengths and distances, and
// prefix codes, which the bins have, too.
package deflate

import "slices"

// Limits of deflate.
const (
	WindowSize  = 32 << 10 // the greatest distance
	MinMatch    = 3
	MaxMatch    = 258
	EndOfBlock  = 256
	MaxBits     = 15  // of a code
	Literals    = 286 // literals, EndOfBlock and lengths
	Lengths     = 29
	Dists       = 30
	LengthCodes = 19 // symbols of the code of code lengths
)

// LengthOrder is the order in which a block's header gives the lengths of the code of code lengths.
var LengthOrder = [LengthCodes]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// Runs are the symbols of code lengths from 16 on: the one before, Least times and as often more as some further bits say, or 0.
var Runs = [...]struct{ Least, Bits int }{{3, 2}, {3, 3}, {11, 7}}

// For each symbol of lengths less 257, and of distances, the least length or distance, and how many further bits it has.
var (
	LengthBase  [Lengths]uint16
	LengthExtra [Lengths]uint8
	DistBase    [Dists]uint16
	DistExtra   [Dists]uint8
)

// StaticLiterals and StaticDists are the code lengths of static blocks.
var (
	StaticLiterals = slices.Concat(slices.Repeat([]uint8{8}, 144), slices.Repeat([]uint8{9}, 112), slices.Repeat([]uint8{7}, 24),
		slices.Repeat([]uint8{8}, 8))
	StaticDists = slices.Repeat([]uint8{5}, 32)
)

func init() {
	base := MinMatch
	for i := range LengthBase {
		LengthBase[i] = uint16(base)
		if i >= 8 {
			LengthExtra[i] = uint8(i/4 - 1)
		}
		base += 1 << LengthExtra[i]
	}
	LengthBase[Lengths-1], LengthExtra[Lengths-1] = MaxMatch, 0
	base = 1
	for i := range DistBase {
		DistBase[i], DistExtra[i] = uint16(base), uint8(max(0, i/2-1))
		base += 1 << DistExtra[i]
	}
}
