package compress

import (
	"context"
	"time"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/describing"
	"orcomgo/digest"
)

// The results of Info and Inspect, and what MadeOf compares.
type (
	// Information is what Info returns about an archive; as JSON it is for scripts.
	Information = describing.Information
	// InputInformation is about one input.
	InputInformation = describing.InputInformation
	// FileInformation is about the file of an input, as it was stored.
	FileInformation = describing.FileInformation
	// InspectOptions control Inspect.
	InspectOptions = describing.InspectOptions
	// InspectedSlice is what was decoded of a slice.
	InspectedSlice = describing.InspectedSlice
	// Inspection is what Inspect returns.
	Inspection = describing.Inspection
	// Pseudogenome says how the reads are laid out.
	Pseudogenome = describing.Pseudogenome
	// Original is an input that an archive may have been made of.
	Original = describing.Original
	// SameOptions control MadeOf.
	SameOptions = describing.SameOptions
)

// InspectStage is the stage of progress in which Inspect decodes. It counts bytes of text.
const InspectStage = describing.InspectStage

// Info describes an archive, packed or binned, without decoding it.
func Info(e commit.Entry) (*Information, error) { return describing.Info(e) }

// Sides returns the names of the side archives that list the inputs of a packed archive, as Information.Sides.
func Sides(e commit.Entry) ([]string, error) { return archive.Sides(e) }

// NewFileInformation describes the file of an input. sums are nil if they are not known.
func NewFileInformation(s *record.Source, sums *digest.Sums) *FileInformation {
	return describing.NewFileInformation(s, sums)
}

// Inspect decodes an archive once, verifies it as Verify does, and shows what was decoded to o.Look. Bins beside a packed archive are
// not read. The error is for what prevents a look at single files, and that of Look.
func Inspect(ctx context.Context, e commit.Entry, o InspectOptions) (*Inspection, error) {
	return describing.Inspect(ctx, e, o)
}

// MadeOf finds out whether an archive, packed or not, was made of some inputs with some options. If not, difference says in words
// why not, or that it can't be told.
func MadeOf(ctx context.Context, e commit.Entry, inputs []Original, o SameOptions) (difference string, err error) {
	return describing.MadeOf(ctx, e, inputs, o)
}

// TimeTells reports whether a file that has the same size and the same time of modification as another one of its name can be taken for
// that without reading it.
func TimeTells(size uint64, modified time.Time) bool { return describing.TimeTells(size, modified) }
