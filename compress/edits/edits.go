// Package edits codes where stretches of reads lie on a shared sequence, and in which bases they differ from it: the pieces of the
// reads of a slice (Encoder), from which the bases are decoded (Decoder). It is made for long reads, whose errors are mostly
// insertions and deletions in runs of one base.
//
// Each base of a read that follows from the shared sequence belongs to a class: by how long the run of equal bases there is, whether
// it is the first of the run, how frequent edits are in the read, or, if the qualities are given, by the
// quality of the base. What is coded is how many bases of a class follow one another without an edit. So bases that are equal cost
// no coding step at all, only a count, and the edits of each class cost what their frequency says.
//
// docs/FORMAT.md, "Edits section", is the specification. The package knows nothing of records or archives.
package edits

import (
	"errors"

	rc "orcomgo/compress/rangecoder"
)

// ErrCorrupt reports a section that an Encoder did not write, or another shared sequence, lengths or qualities than it was given.
var ErrCorrupt = errors.New("edits: section is corrupt")

// Source appends n bases of the shared sequence, one a byte (0 to 3), from base pos on to dst.
type Source func(dst []byte, pos, n int) []byte

// Options of a section, whose reads have less than 2^32 - 1 bases together. An Encoder and the Decoder of its section have the same ones.
type Options struct {
	Bases     uint64 // of the shared sequence, less than 2^32 - 1
	Source    Source // of the shared sequence
	Qualities bool   // the reads are given with their qualities

	Decoded func(from, to uint64) // if not nil, it is called for each piece that is decoded, with the bases from..to-1 that it lies on
}

// Limits of the counts of probabilities.
const (
	longMemory  = rc.MaxCount
	shortMemory = 255
)
