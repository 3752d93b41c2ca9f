package binning

import (
	"context"
	"fmt"

	"orcomgo/bins"
	"orcomgo/bins/record"
)

// Text is one block of one input on its way to becoming a bins.Block.
type Text struct {
	// Data is whole records of four lines each: '@' and name, sequence, '+' and anything,
	// qualities. Lines end in LF, or CR LF. If Last is set, the last line may have no line
	// end, and blank lines may follow the last record. Data may be empty, then Last is set.
	Data []byte
	// Buffer, if not nil, has the text in its first Len bytes, not in memory of the host; then
	// Data is nil. It is one that the assigner's Text returned.
	Buffer TextBuffer
	Len    int
	// Last is set if the block ends its input.
	Last bool
	// Marks has the number of line ends before some offsets of Data, ascending, about one a
	// megabyte; nil if they were not counted.
	Marks []Mark

	// Kind is that of the input. A FASTA record has four lines here: the third is '+', the
	// fourth is empty.
	Kind record.Kind
	// Canonical is set if Data was made by a walker, from wrapped FASTQ or from FASTA: every
	// line ends in LF, a CR belongs to its line, and the caller has the forms already.
	Canonical bool

	File        string // name of the input in errors
	FirstRecord uint64 // how many records of the input precede the block
	Keep        Keep
}

// Mark is the number of line ends before an offset.
type Mark struct{ Offset, Lines int }

// Keep says which columns an assigner has to fill.
type Keep struct {
	Names bool // Block.Names, or Block.CodedNames
	// PlainNames: Block.Names is needed, also where Names is not set or CodedNames is there.
	PlainNames bool
	Quals      bool
	Forms      bool
	Bin8       bool // map the qualities to Illumina's eight levels
	// Uncoded: names and qualities are not coded, neither by the assigner nor when the block is encoded.
	Uncoded bool
}

// Assigner turns blocks of text into blocks of binned reads. There is one for a run; the
// pipeline calls Assign from as many goroutines as there are streams.
//
// What an assigner must produce is fully determined by the text, so that every assigner
// produces the same bytes:
//
//   - It fills Records; FixedLen and Lengths (Lengths is nil exactly when all reads have
//     one length, also for no reads at all: then FixedLen is 0); Bins, Order, Place and
//     Packed (unused bits of a read's last byte are 0); Exceptions; and, as Keep says,
//     Names, Quals and Forms. What is not kept is nil, or the zero Forms. The pipeline
//     fills Input, FirstRecord and TextLen, and for Canonical text the Forms and TextHash, which
//     the assigner computes of other text.
//     Names and Quals that are kept are not nil, even when empty (Quals of FASTA is nil).
//   - Signatures are those of package minimizer.
//   - Exceptions cover every sequence byte but A, C, G and T, in the longest runs of one
//     kind: of one byte, or of any of a, c, g, t.
//   - A line end is CR LF if there is a CR before the LF (or before the end of the input);
//     one CR, no more. Forms.Default is the commonest of the 32 combinations of CR bits
//     and PlusEmpty or PlusName, of equally common ones that with the smallest
//     Plus<<4 | CR; a block of nothing but PlusText has the zero default. Forms.Exceptions
//     holds all the records that differ from it, NoNewline and Tail included. A '+' line
//     that repeats an empty name is PlusEmpty.
//   - It checks that the first line begins with '@' and the third with '+', that sequence
//     and qualities have the same length, that a sequence holds only letters, '.', '-' and
//     '*', and a quality line only bytes 33 to 126 (whether kept or not). The first record
//     that fails is reported as a RecordError.
//
// An implementation may pass any block that it does not support (for example an unusual form or
// a long read) to the one that NewCPU returns, which needs nothing but the Text.
type Assigner interface {
	// Text returns memory with room for n bytes of text, of the kind that is best for the
	// assigner, until its Free. The pipeline holds one for each stream at a time. Where Text or a
	// method of the buffer waits for memory that others use, the end of ctx ends that with its error.
	Text(ctx context.Context, n int) (TextBuffer, error)
	// Assign fills b from t. It must not keep the text, which is overwritten after Assign has
	// returned. It may reuse the memory of b's slices, or make them point to its own memory,
	// which must then not change until Assign gets the same b again or Close is called. The
	// caller may overwrite b.Quals.
	Assign(ctx context.Context, t *Text, b *bins.Block) error
	// Admit waits until another block may be read, in the order of the blocks, or until ctx ends; then it returns the error of that.
	// Written is called for each block that was admitted unless the run fails.
	Admit(ctx context.Context) error
	// Written is called when a block that Assign has filled was written. Its slices are not used any more.
	Written(b *bins.Block)
	// Finish is called when all blocks have been assigned and their texts are free, before the last blocks have been written. Slices of
	// blocks that are memory of the assigner are valid until Close. The run fails with its error.
	Finish() error
	// DeviceBlocks returns how many blocks were binned on a device so far.
	DeviceBlocks() int
	// Close frees everything. Texts and blocks must not be used after it.
	Close() error
}

// Resources is what an assigner may use.
type Resources struct {
	Threads     int               // CPU threads of the run, shared by all streams
	Streams     int               // blocks in flight
	BlockSize   uint64            // bytes of text of a block, unless one record is longer
	BlocksFixed bool              // BlockSize must not be changed
	Inflating   int               // bytes that the buffers of an input of gzip may take; 0: as many as are of use
	AllGzip     bool              // all inputs are gzip, or may be
	Keep        Keep              // that of every Text of the run
	Run         bins.Runner       // runs tasks on the run's threads
	Note        func(line string) // prints a line for the user; never nil
}

// RecordError describes a malformed record.
type RecordError struct {
	File            string
	Record          uint64 // from 1
	Expected, Found string
	// structural is set if the record does not have the four lines of FASTQ, so the input may be
	// FASTQ wrapped over lines.
	structural bool
	// wrapped is set if the text was read as wrapped FASTQ, and looks like that.
	wrapped bool
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("%s: record %d: expected %s, found %s", e.File, e.Record, e.Expected, e.Found)
}
