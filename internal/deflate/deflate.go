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
	LengthBase = [Lengths]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
		MaxMatch}
	LengthExtra = [Lengths]uint8{8: 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	DistBase    = [Dists]uint16{1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
		6145, 8193, 12289, 16385, 24577}
	DistExtra = [Dists]uint8{4: 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13}
)

// StaticLiterals and StaticDists are the code lengths of static blocks.
var (
	StaticLiterals = slices.Concat(slices.Repeat([]uint8{8}, 144), slices.Repeat([]uint8{9}, 112), slices.Repeat([]uint8{7}, 24),
		slices.Repeat([]uint8{8}, 8))
	StaticDists = slices.Repeat([]uint8{5}, 32)
)
