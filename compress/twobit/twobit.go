// Package twobit codes the sequences of an assembly in two bits a base, for programs that read them back at the speed of memory.
//
// Bases that repeat earlier ones, on the same strand or reversed and complemented, are copied. All others are literals: two bits a base,
// in the bytes in which they are decoded. What is no A, C, G or T, and lower case, is kept in lists of runs. docs/FORMAT.md, section Two
// bits a base, specifies the bytes.
//
// Repeats are found as in other compressors of genomes: an index of k-mers at sampled places proposes an earlier place, and the match is
// extended both ways. A k-mer is sampled by the hash of itself or its reverse complement, whichever is smaller, so that both
// strands have the same sample.
package twobit

import "errors"

// ErrCorrupt is the error about bytes that Encode does not write.
var ErrCorrupt = errors.New("the sequences of two bits a base make no sense")

// op is a stretch of literals and what follows it: a copy of earlier bases, or As.
type op struct {
	literals int
	kind     uint8
	length   int // of the copy
	shift    int // see the kinds
}

// The kinds of copies.
const (
	kindForward = iota // copied from the place shift bases before
	kindReverse        // reversed and complemented, from the bases that end shift bases before
	kindFill           // As: what they are is in the list of runs
	kinds
)

// leastLength is how many bases a copy has at least.
const leastLength = 8

// leastDistance is how many bases are between a base and its copy at least, so that words of 32 bases can be copied.
const leastDistance = 64

// Run is a stretch of bases that are not upper-case A, C, G or T.
type run struct {
	start, end int
	letter     byte // of all of them; record.Lower: A, C, G and T in lower case
}

// Sequence is decoded bases.
type Sequence struct {
	packed []byte // base i is in bits 2*(i mod 4) of byte i/4; followed by bases.Pad bytes
	n      int
	runs   []run // ascending
}

// Len returns the number of bases.
func (s *Sequence) Len() int { return s.n }

// Memory returns the memory of the bases, which Decode can use again once nothing else of s is used.
func (s *Sequence) Memory() []byte { return s.packed }
