package bins

import "sort"

// Kind is the text format of an input.
type Kind uint8

// The text formats that can be archived.
const (
	FASTQ Kind = iota
	FASTA
)

// NBin is the bin of the reads that have no signature; it sorts after the 65,536 real ones.
const NBin = 1 << 16

// Block is one block of one input after binning: its reads grouped by signature, its
// names and qualities in input order, and a sparse record of everything else in the text.
// Reads are numbered 0..Records-1 inside the block, in input order (their ordinal).
type Block struct {
	Input       int    // index into Meta.Inputs
	FirstRecord uint64 // how many records of the input precede the block
	Records     int

	TextLen  uint64   // bytes of original text
	TextHash [16]byte // XXH3-128 of the original text, big-endian

	// Lengths holds the length in bases of each read, in input order; nil when all are FixedLen.
	Lengths  []uint32
	FixedLen uint32

	// Bins lists the bins that occur, by ascending signature. The stored reads follow in
	// this order: the i-th stored read is read Order[i]; inside a bin Order ascends.
	Bins  []Bin
	Order []uint32
	// Place holds, for the i-th stored read, signature position << 1 | 1 if the stored
	// bases are the reverse complement of the read; 0 in the N bin.
	Place []uint32
	// Packed holds the stored reads' bases one after another, each starting on a byte of
	// its own: base j of a read stands in byte j/4, bits 2*(j%4). A=0 C=1 G=2 T=3, lower
	// case as upper, and every other byte of the alphabet as 0 in the stored orientation.
	Packed []byte

	// Exceptions are what the two bits of a base can't tell, in runs, ascending by
	// (Read, Start), in input orientation.
	Exceptions []Exception

	// Names holds the record names (the line after '@' or '>') in input order, each
	// followed by '\n'; nil if they were left out.
	Names []byte
	// Quals holds the quality bytes in input order, end to end, one for each base; nil for
	// FASTA and if they were left out.
	Quals []byte

	Layout Layout
}

// Bin is a run of stored reads with one signature.
type Bin struct {
	Signature uint32 // 0..65535, or NBin
	Reads     uint32
	Bases     uint64
}

// Lower is the Exception.Byte of a run of lower-case a, c, g, t.
const Lower = 0

// Exception is a run of sequence bytes of one read that are not plain A, C, G, T.
type Exception struct {
	Read  uint32 // ordinal in the block
	Start uint32 // offset in the read, input orientation
	Len   uint32 // at least 1
	Byte  byte   // every byte of the run, or Lower: the bases stand, in lower case
}

// Len returns the length in bases of the read with the given ordinal.
func (b *Block) Len(ordinal int) int {
	if b.Lengths == nil {
		return int(b.FixedLen)
	}
	return int(b.Lengths[ordinal])
}

// PackedLen returns how many bytes n bases take in Block.Packed.
func PackedLen(n int) int { return (n + 3) / 4 }

// Plus tells what follows the '+' of a FASTQ record.
type Plus uint8

// The kinds of text after '+'.
const (
	PlusEmpty Plus = iota
	PlusName       // the name again
	PlusText       // RecordLayout.PlusText
)

// RecordLayout is how a record's text was laid out beyond its name, sequence and
// qualities. The zero value is a four-line FASTQ record, LF line ends, nothing after '+';
// for FASTA, the sequence on one line.
type RecordLayout struct {
	// CR has a bit for each of the four lines (name 1, sequence 2, plus 4, quality 8) that
	// ended in CR LF. With SeqLines or QualLines set, bits 2 and 8 are not used: the lines tell.
	CR       uint8
	Plus     Plus
	PlusText string
	// SeqWidth and QualWidth, when not 0, wrap the sequence or the qualities over lines of
	// so many bytes, the last line holding the rest (1..width). All their lines end alike (CR).
	SeqWidth, QualWidth uint32
	// SeqLines and QualLines, when not nil, give each line's length << 1 | 1 if it ended
	// in CR LF; they are used where no width describes the lines. Blank lines have length 0.
	SeqLines, QualLines []uint32
	// NoNewline: the record's last line was the end of the file and had no LF.
	NoNewline bool
	// Tail is text after the record's last line end: blank lines ("\n" or "\r\n") only.
	Tail string
}

// Layout is the RecordLayout of every record of a block: a default, and the records that differ.
type Layout struct {
	Default    RecordLayout
	Exceptions []LayoutException // ascending by Read
}

// LayoutException is the layout of one record.
type LayoutException struct {
	Read uint32 // ordinal in the block
	RecordLayout
}

// Of returns the layout of the record with the given ordinal.
func (l *Layout) Of(ordinal uint32) *RecordLayout {
	i := sort.Search(len(l.Exceptions), func(i int) bool { return l.Exceptions[i].Read >= ordinal })
	if i < len(l.Exceptions) && l.Exceptions[i].Read == ordinal {
		return &l.Exceptions[i].RecordLayout
	}
	return &l.Default
}

// Options are the choices that shape an archive; they are the same for all its inputs.
type Options struct {
	ReadsOnly bool // names, qualities and layout were left out: one sequence a line comes back
	OrderAny  bool // the order of records need not be kept
	DropNames bool // records are numbered instead
	Quality   QualityMode
	BlockSize uint64 // bytes of text a block aimed for
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
	// stored: plain and compressed inputs give the same archive.
	SourceBytes uint64
}
