package fmindex

import (
	"errors"
	"fmt"
	"io"

	"orcomgo/compress/bwt"
)

// MaxBases is the most bases of a text.
const MaxBases = bwt.MaxLen

// Errors that can be tested for with errors.Is.
var (
	// ErrCorrupt reports bytes that are not those of an index, or that were changed.
	ErrCorrupt = errors.New("it is damaged")
	// ErrTooLong reports a text of more than MaxBases.
	ErrTooLong = errors.New("an index holds at most 4,294,967,294 bases")
)

// Index is an index of a text. Its data may be a file that is mapped to memory.
type Index struct {
	archive  [idBytes]byte
	genome   uint32 // bases of the pseudogenome
	bases    uint32 // of the text
	first    uint32 // the row of the suffix at place 0
	less     [5]uint32
	ranks    []byte // see rank.go
	samples  []byte // four bytes each: the places of rows 0, 64, 128, ...
	starts   []byte // four bytes each: the rows of places 0, step, 2*step, ...
	coverage []byte // two bytes each, see coverage.go
	slices   []byte // eight bytes each, see literals.go
	lengths  []byte // of the literals
	literals []byte // their bases, four a byte, and bases.Pad or more bytes
	table    []byte // of blocks, see begins.go
	span     uint32 // the most bases of the pseudogenome under a read
	marks    []literalMark
	file     []byte      // all of it, if Build made it, else what Open reads
	mainLen  uint64      // bytes of its header and sections
	whole    io.ReaderAt // all of it

	// GenomeBases appends the bases from..to-1 of the pseudogenome to dst, one a byte, 0 to 3. AppendText needs it if there are no ranks.
	GenomeBases func(dst []byte, from, to int) ([]byte, error)
}

// Archive returns the ID of the archive that the index is of.
func (x *Index) Archive() [16]byte { return x.archive }

// Genome returns the number of bases of the pseudogenome, with which the text begins.
func (x *Index) Genome() int { return int(x.genome) }

// Len returns the number of bases of the text.
func (x *Index) Len() int { return int(x.bases) }

// Bytes returns the file of an index that Build made. It must not be changed.
func (x *Index) Bytes() []byte { return x.file }

// corrupt returns an ErrCorrupt that says what was found.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}
