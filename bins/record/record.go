// Package record defines what both stages say about records: the text formats, what of an input
// is kept, the form of a record's text, the letters of a read that two bits can't express, the
// lengths of reads, and how records are rendered.
package record

// Options are the choices that shape an archive; they are the same for all its inputs.
type Options struct {
	ReadsOnly bool // names, qualities and form were left out: one sequence a line is restored
	OrderAny  bool // the order of records need not be kept
	DropNames bool // records are numbered instead
	Quality   QualityMode
	BlockSize uint64 // bytes of text a block aimed for
}

// Exact reports whether an input of kind comes back byte for byte.
func (o Options) Exact(kind Kind) bool {
	return !o.ReadsOnly && !o.OrderAny && !o.DropNames && (o.Quality == QualityKeep || !kind.Format().Quals)
}

// QualityMode is what is kept of the qualities.
type QualityMode uint8

// The quality modes.
const (
	QualityKeep QualityMode = iota
	QualityBin8             // Illumina's eight levels
	QualityDrop
)

// Input describes one input file.
type Input struct {
	Name  string // base name to restore under, without .gz, .bgz or .zst
	Kind  Kind
	Mate  int  // index of the input with the mates, or -1
	First bool // with Mate: this one holds the first mates
	// Records and Bytes are the totals over the input's blocks, Bytes of original text.
	Records, Bytes uint64
	// SourceBytes is the size of the input as it was read, compressed or not. It is not
	// stored: see Source.
	SourceBytes uint64
	// Source is what is recorded of the file; nil if nothing is. Then plain and compressed inputs give the same archive.
	Source *Source
}
