// Package seqs codes the sequences of an archive. Build lays all reads out on a
// pseudogenome (package overlap); it is a shared section, coded by a mixed context
// model, and each slice of records then codes where its reads stand on them, in which bases they
// differ, and the bases of reads that stand nowhere. docs/FORMAT.md, "Sequences", is the specification.
package seqs

import (
	"errors"

	"orcomgo/bins/record"

	"github.com/zeebo/xxh3"
)

// ErrCorrupt reports a section that no encoder wrote.
var ErrCorrupt = errors.New("seqs: section is corrupt")

// Column describes one input's records in a slice.
type Column struct {
	Input   int
	From    uint64   // first record, when encoding
	Perm    []uint32 // encoding: the i-th record of the slice is From+Perm[i]; nil: From+i
	Records int
	// Encoding: if not nil, the order of a run of records, of which Perm is what stands from At on.
	Run []uint32
	At  int

	Lengths record.Lengths

	// Exceptions of the slice's reads, Read counted inside the slice after Perm, ascending by
	// (Read, Start). Encoding only.
	Exceptions []record.Exception
	Quals      []byte // end to end; nil if they are not kept
}

// bases returns the sum of the lengths.
func (c *Column) bases() uint64 { return c.Lengths.Sum(0, c.Records) }

// modelBytes is about what a model of a segment of a pseudogenome takes.
const modelBytes = 24 << 20

// SegmentThreads returns on how many of the threads segments of a pseudogenome may be coded or decoded side by side, in so
// much memory for everything (0: no bound).
func SegmentThreads(threads int, memory uint64) int {
	if memory > 0 {
		threads = min(threads, int(min(memory/8/modelBytes, 1<<20)))
	}
	return max(threads, 1)
}

// ReadHash returns the hash of one read's letters and its ordinal in its input. Sums of these
// compare sets of reads whatever the order they come in.
func ReadHash(letters []byte, ordinal uint64) uint64 {
	return xxh3.HashSeed(letters, ordinal*0x9e3779b97f4a7c15+1)
}

// Flags of a slice.
const (
	flagSorted = 1 << iota
	flagQuals
	flagMate
	flagsKnown = 1<<iota - 1
)
