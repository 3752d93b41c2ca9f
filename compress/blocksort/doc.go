// Package blocksort compresses text at large: the Burrows-Wheeler transform of blocks (package bwt), coded by a mixture of adaptive
// models. It is for text that no codec of this project knows, such as reports, logs and tables.
//
// The transform puts next to each other what comes before equal contexts, so its neighbours are much alike. Each symbol is coded
// by binary decisions: whether it is that before it, and if not, the path to it in a Huffman tree of the block. Each decision has some
// adaptive probabilities, chosen by the symbols and runs before; their logistic mixture is coded (Mahoney, "Adaptive weighing of
// context models for lossless data compression", 2005). Parts of the transform are coded independently, by all threads.
//
// docs/FORMAT.md, "Blocksort streams", is the specification.
package blocksort

import "errors"

// Errors of a Reader and of Decode.
var (
	// ErrCorrupt reports a stream that is damaged or cut off.
	ErrCorrupt = errors.New("blocksort: the stream is damaged or cut off")
	// ErrFormat reports what is no blocksort stream, or one of an unknown version.
	ErrFormat = errors.New("blocksort: not a blocksort stream of a known version")
	// ErrBlockSize reports a block that is larger than the reader allows.
	ErrBlockSize = errors.New("blocksort: a block of the stream is larger than allowed")
	// ErrClosed reports a write or read after Close.
	ErrClosed = errors.New("blocksort: the writer or reader is closed")
)

// magic begins a stream; its last byte is the version.
var magic = [4]byte{'O', 'B', 'S', 1}

const (
	// DefaultBlockSize is how many bytes a Writer transforms at a time, unless it is told otherwise.
	DefaultBlockSize = 64 << 20
	// MaxBlockSize is the largest block of a Writer, and the largest that a Reader accepts unless it is told otherwise.
	MaxBlockSize = 1 << 30
)
