// Package seqs codes the sequences of an archive. An Encoder lays out all reads on a
// pseudogenome (package overlap). The pseudogenome is a shared section, coded by package basemodel. A slice of records
// codes the places of its reads on the pseudogenome, in which bases they
// differ from it, and the bases of reads without a place. docs/FORMAT.md, "Sequences", is the specification.
package seqs

import (
	"errors"

	"orcomgo/bins/record"
	"orcomgo/compress/basemodel"
)

// ErrCorrupt reports a section that an Encoder did not write.
var ErrCorrupt = errors.New("seqs: section is corrupt")

// Column describes one input's records in a slice.
type Column struct {
	Input int
	From  uint64   // first record, when encoding
	Perm  []uint32 // encoding: the i-th record of the slice is From+Perm[i]; nil: From+i
	// Alternate, without Perm: it is From+2*i, of an interleaved input. When encoding.
	Alternate bool
	Records   int
	// Encoding: if not nil, the order of a run of records, of which Perm is the part from At on.
	Run []uint32
	At  int

	Lengths record.Lengths

	// Exceptions of the slice's reads, Read counted inside the slice after Perm, ascending by
	// (Read, Start). Encoding only.
	Exceptions record.ExceptionList
	Quals      []byte // end to end; nil if they are not kept

	// First, if not 0, is how many of the reads are to be decoded, the first ones; Quals are those of them or of all. Decoding only.
	First int

	// Wanted, if not nil, reports which of the reads are wanted. The letters of others may be zeros. Decoding only.
	Wanted func(i int) bool

	// Skip leaves out the letters of the column. Quals may be nil then. Decoding only.
	Skip bool

	Layout *Layout // decoding: if not nil, it is set to where the reads are

	// Lines has the letters of each read followed by '\n', in what DecodeSlice and Encoder.Letters return.
	Lines bool
	// Memory, if not nil, returns memory for n letters, whose content does not matter. Decoding of all reads only.
	Memory func(n int) []byte

	// Progress of the first column, if not nil, is called now and then, by any goroutine, with how many more bases of all columns were
	// coded. Most of them are told, not all.
	Progress func(bases int)
}

// progressEvery is about how many bases are coded between two calls of Column.Progress.
const progressEvery = 1 << 18

// decoded returns how many reads are coded, or to be decoded.
func (c *Column) decoded() int {
	if c.First > 0 {
		return min(c.First, c.Records)
	}
	return c.Records
}

// lineEnds returns how many bytes follow the letters of each read.
func (c *Column) lineEnds() int {
	if c.Lines {
		return 1
	}
	return 0
}

// withQuals returns of how many reads the qualities are there.
func (c *Column) withQuals() int {
	if uint64(len(c.Quals)) == c.bases() {
		return c.Records
	}
	return c.decoded()
}

// bases returns the sum of the lengths.
func (c *Column) bases() uint64 { return c.Lengths.Sum(0, c.Records) }

// SegmentThreads returns how many of the threads may code or decode segments of a pseudogenome side by side if the process may take
// `memory` bytes in all (0: no bound).
func SegmentThreads(threads int, memory uint64) int {
	if memory > 0 {
		threads = min(threads, int(min(memory/8/basemodel.ModelBytes, 1<<20)))
	}
	return max(threads, 1)
}

// Flags of a slice.
const (
	flagSorted = 1 << iota
	flagQuals
	flagMate
	flagPieces // long reads are aligned in pieces
	flagLanes  // positions by the tree are in lanes; not of a sorted slice
	flagsKnown = 1<<iota - 1
)
