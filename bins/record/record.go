// Package record defines what both stages say about records: the text formats, what of an input
// is kept, the form of a record's text, the letters of a read that two bits can't express, the
// lengths of reads, and how records are rendered.
package record

import "fmt"

// Options are the choices that shape an archive; they are the same for all its inputs.
type Options struct {
	ReadsOnly bool // names, qualities and form were left out: one sequence a line is restored
	OrderAny  bool // the order of records need not be kept
	DropNames bool // records are numbered instead
	Quality   QualityMode
	BlockSize uint64 // bytes of text a block aimed for
}

// CheckGroups returns what is wrong with the mates of inputs: "" if those of each pair name each other and have the same number of
// records, and so have further mates and those that they belong to, and interleaved inputs have as many first mates as second ones.
func CheckGroups(inputs []Input) string {
	for i := range inputs {
		in := &inputs[i]
		switch {
		case in.Further:
			if in.Mate >= 0 || in.Lead < 0 || in.Lead >= len(inputs) {
				return fmt.Sprintf("input %d has further mates of input %d", i+1, in.Lead+1)
			}
			if lead := &inputs[in.Lead]; lead.Further || lead.Mate < 0 || !lead.First || lead.Records != in.Records {
				return fmt.Sprintf("input %d does not have first mates for input %d", in.Lead+1, i+1)
			}
		case in.Interleaved:
			if in.Mate >= 0 || in.Records%2 != 0 {
				return fmt.Sprintf("input %d does not alternate between first and second mates", i+1)
			}
		case in.Mate >= 0:
			if in.Mate >= len(inputs) || in.Mate == i {
				return fmt.Sprintf("input %d has input %d as its mates", i+1, in.Mate+1)
			}
			if o := &inputs[in.Mate]; o.Mate != i || o.First == in.First || o.Records != in.Records {
				return fmt.Sprintf("inputs %d and %d are not a pair", i+1, in.Mate+1)
			}
		}
	}
	return ""
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
	// Further says that the input holds further mates, such as reads of an index: of the same fragments as the records of input Lead,
	// which holds first mates. Mate is -1 then.
	Further bool
	Lead    int // only with Further
	// Interleaved says that first and second mates alternate. Mate is -1 then. Its blocks have whole pairs.
	Interleaved bool
	// Records and Bytes are the totals over the input's blocks, Bytes of original text.
	Records, Bytes uint64
	// SourceBytes is the size of the input as it was read, compressed or not. It is not
	// stored: see Source.
	SourceBytes uint64
	// Source is what is recorded of the file; nil if nothing is. Then plain and compressed inputs give the same archive.
	Source *Source
}

// FirstOf returns the number of the input with the first mates of the group of input i, which in is, or i.
func (in *Input) FirstOf(i int) int {
	switch {
	case in.Further:
		return in.Lead
	case in.Mate >= 0 && !in.First:
		return in.Mate
	}
	return i
}
