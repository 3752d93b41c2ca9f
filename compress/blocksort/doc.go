// Package blocksort compresses text at large: the Burrows-Wheeler transform of a text (package bwt), coded by a mixture of adaptive
// models. It is for text that no codec of this project knows, such as reports, logs and tables.
//
// The transform puts next to each other what comes before equal contexts, so its neighbours are much alike. Each symbol is coded
// by binary decisions: whether it is that before it, and if not, the path to it in a Huffman tree of the text. Each decision has some
// adaptive probabilities, chosen by the symbols and runs before; their logistic mixture is coded (Mahoney, "Adaptive weighing of
// context models for lossless data compression", 2005).
//
// A stream has no checksum: whoever keeps it compares the text, or the stream, with one of its own.
//
// docs/FORMAT.md, "Blocksort streams", is the specification.
package blocksort

import "errors"

// Errors of Decode.
var (
	// ErrCorrupt reports a stream that is damaged or cut off.
	ErrCorrupt = errors.New("blocksort: the stream is damaged or cut off")
	// ErrSize reports a stream of a text that is longer than allowed.
	ErrSize = errors.New("blocksort: the text of the stream is longer than allowed")
)

// MaxSize is the most bytes of a text.
const MaxSize = 1 << 30
