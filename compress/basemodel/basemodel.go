// Package basemodel codes bases (A, C, G, T as 0 to 3) under a model that mixes what several contexts predict.
//
// Model predicts each base by the sum of what eight contexts say (online logistic regression): the last 2 to 10 bases, and what followed an
// earlier occurrence of the last 13 bases on either strand, past differences (the "tolerant" context of GeCo3; Silva et al., GigaScience
// 2020). Inverted repeats are learnt as in GeCo (Pratas, Pinho, Ferreira, DCC 2016). Bases are coded in lanes side by side, so that a
// core works on many at once.
//
// Encode codes a long sequence, a pseudogenome, as one section: it is cut into segments of at most 2^24 bases with models of their own.
// Decode decodes a section in the background; readers of its Sequence wait for the bases that they need. Both give the model of the
// first segment, of which clones code other bases, literals (reads without a place on the pseudogenome): Model.Clone.
//
// docs/FORMAT.md, "Bases", "Matches" and "Pseudogenome section", is the specification. The package knows nothing of reads, records
// or archives.
package basemodel

import "errors"

// ErrCorrupt reports a section that Encode did not write.
var ErrCorrupt = errors.New("basemodel: section is corrupt")

// ModelBytes is about how much memory a model of a segment takes, in bytes.
const ModelBytes = 32 << 20

// MaxBases is the largest number of bases of a section.
const MaxBases = 1<<32 - 2

// Source appends n bases, one a byte (0 to 3), from base pos on to dst. It must be safe for concurrent use.
type Source func(dst []byte, pos, n int) []byte
