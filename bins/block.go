package bins

import (
	"orcomgo/bins/record"
	"orcomgo/minimizer"
)

// NBin is the bin of the reads that have no signature; it sorts after all others.
const NBin = minimizer.None

// Block is one block of one input after binning: its reads grouped by signature, its
// names and qualities in input order, and sparse lists of everything else in the text.
// Reads are numbered 0..Records-1 inside the block, in input order (their ordinal).
type Block struct {
	Input       int    // index into Meta.Inputs
	FirstRecord uint64 // how many records of the input precede the block
	Records     int

	TextLen  uint64   // bytes of original text
	TextHash [16]byte // of the original text, see digest.TextHasher

	Lengths record.Lengths // in input order

	// Bins lists the bins that occur, by ascending signature. The stored reads follow in
	// this order: the i-th stored read is read Order[i]; inside a bin Order ascends.
	Bins  []Bin
	Order []uint32
	// Place holds, for the i-th stored read, signature position << 1 | 1 if the stored
	// bases are the reverse complement of the read; 0 in the N bin.
	Place []uint32
	// Packed holds the stored reads' bases one after another, each starting on a byte of
	// its own: base j of a read is in byte j/4, bits 2*(j%4). A=0 C=1 G=2 T=3, lower
	// case as upper, and every other byte of the alphabet as 0 in the stored orientation.
	Packed []byte

	// Exceptions are the runs of letters that two bits can't express, ascending by
	// (Read, Start), in input orientation.
	Exceptions record.ExceptionList

	// Names holds the record names (the line after '@' or '>') in input order, each
	// followed by '\n'; nil if they were left out.
	Names []byte
	// Quals holds the quality bytes in input order, end to end, one for each base; nil for
	// FASTA and if they were left out.
	Quals []byte

	// CodedNames and CodedQuals, where they are not nil, are what EncodeBlock writes instead of Names and Quals. They are
	// what it would code these to. Readers leave them alone.
	CodedNames, CodedQuals *Coded
	// Uncoded has EncodeBlock store Names and Quals as they are. Readers leave it alone.
	Uncoded bool

	Forms record.Forms
}

// Bin is the stored reads of one signature, which follow one another.
type Bin struct {
	Signature uint32 // 0..NBin-1, or NBin
	Reads     uint32
	Bases     uint64
}
