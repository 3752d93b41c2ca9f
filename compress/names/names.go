// Package names codes the column of read names.
//
// A name is cut into fields (numbers and words) and separators. Names with the same
// separators and kinds of fields have the same shape. Each field of a shape keeps its last value,
// and the next value is coded relative to it: unchanged, a step up or down, a number by
// the frequencies of its upper bits, a word that occurred before, or letter by letter. Few decisions are binary: what has many outcomes is
// a symbol, which package rangecoder codes in one step by adaptive frequencies. Coordinates on patterned flow cells are coded by the rows
// of wells that they are in.
//
// The idea of coding names field by field against an earlier name is that of SCALCE
// (Hach et al., Bioinformatics 2012), fqzcomp (Bonfield and Mahoney, PLoS ONE 2013) and the
// CRAM 3.1 name tokeniser (Bonfield, Bioinformatics 2022); the models here are our own.
package names

import "errors"

// ErrCorrupt reports a stream that Encode or EncodeMate did not write for these arguments.
var ErrCorrupt = errors.New("names: stream is corrupt or truncated")

// Stream format versions; the first byte of a stream. docs/FORMAT.md, section Names.
const (
	formatEmpty  = 0 // no names at all
	formatFields = 1
	formatNext   = 2 // as formatFields, but it begins with the models that another section has left
)

// Encode codes n names, each followed by '\n' in names. A name may hold any bytes but '\n'.
// It panics if names does not hold n lines, which is an error of the caller.
func Encode(names []byte, n int) []byte { return new(Encoder).Encode(names, nil, n, nil) }

// Decode is the inverse of Encode: it returns n names, each followed by '\n'. The result is
// at most maxBytes long, otherwise the error wraps ErrCorrupt.
func Decode(data []byte, n int, maxBytes uint64) ([]byte, error) {
	return new(Decoder).Decode(data, nil, n, n, maxBytes)
}
