// Package cudakern bins a block of FASTQ text on an NVIDIA GPU: CUDA C++ kernels
// (kernels/*.cu, *.cuh), the PTX made from them (block.ptx), and launchers over the CUDA
// driver API, which are built with the tag cuda.
//
// The text of a block is assembled on the device from pieces, which go there through a few
// pinned buffers (Ring). It is copied back as finished columns: the reads in the order of
// (signature, ordinal), two bits a base, names and qualities end to end or, with Columns.Coded,
// coded as bins stores them. The kernels support FASTQ of four lines a record, with nothing or the
// name after '+'. A block with anything else, or with a malformed record, is reported as
// Unsupported, and the caller bins it on the CPU.
//
// Coded columns are the bytes that packages bins and bins/entropy write (docs/FORMAT.md, section
// Bins). Names are compared line by line, a thread a line (kernels/names.cuh), which gives five
// streams for each chunk of 1 MiB; a chunk of qualities is one stream. All streams of a block are
// then coded together (kernels/encode.cuh): the kernels run over pieces of 4096 symbols, and the
// codes of a stream are made by one thread block. Nothing depends on the order in which thread
// blocks run: they add integers, or write bits of their own.
//
// Each 16 KiB of the text is summed (kernels/texthash.cuh); the hash of these sums is the text's.
//
// The text may also be made on the device, from the members of BGZF: a Lane is given compressed bytes
// and a table of Members, and inflates each with one warp. What it takes for right, compress/flate
// inflates to the same text; where it doesn't, the caller inflates on the CPU.
//
// Offsets in a block have 32 bits: see MaxText.
//
// A Placer indexes the k-mers of a pseudogenome for package overlap, and finds the places of reads on it, a thread a read
// (kernels/place.cuh). The reads stay on the device from one pass to the next. It also has them vote on the bases of the pseudogenome
// (kernels/vote.cuh). A Joiner finds which contigs overlap (kernels/join.cuh).
//
// A Transformer computes the Burrows-Wheeler transform of package compress/bwt (kernels/suffixes.cuh).
package cudakern

import "errors"

// MaxText is the most bytes of text that the kernels take in one block.
const MaxText = 1<<31 - 1<<20

// PlaceMode holds the parameters of a search for places, each of them at most 255; package overlap defines what they mean.
type PlaceMode struct {
	K, SampleMask, SeedStep, BasesPerCandidate, BasesPerMoreSeed, GoodMismatches, MaxCandidates, BasesPerMismatch int
}

// Retry says which reads that have a place are placed again.
type Retry int

// Those with more than PlaceMode.GoodMismatches mismatches, or those that are poorly placed.
const (
	RetryNone Retry = iota
	RetryMismatched
	RetryPoor
)

// PlaceReads are packed reads: 2 bits a base, base j of a read at bits 2*(j%4) of byte j/4. Read i begins at byte Offsets[i] of
// Packed, or i*Stride if Offsets is nil, and has Lengths[i] bases, or Length if Lengths is nil.
type PlaceReads struct {
	Packed  []byte
	First   uint64   // what Offsets have for the first byte of Packed; a multiple of 8
	Offsets []uint64 // of the reads; may have more elements
	Stride  uint64
	Lengths []uint32
	Length  uint32
	Count   int

	Masked         []uint64 // one bit a read: there are runs of it
	Runs           []Run    // ascending by read
	StoredReversed []uint64 // one bit a read: it is stored in reverse
	Records        []uint32 // of each read, by which it is known in Places
}

// Run is a run of letters other than A, C, G and T in a read, in the orientation in which it is packed. They match any base.
type Run struct {
	Read, Start, Length uint32
}

// JoinContigs are contigs, in the order of their rank. Contig i has Length[i] bases, from byte Start[i] of Packed on, and so many reads, of
// ReadBases bases on average. Left is how many comparisons it may still make. Starts ascend, without gaps. After the last base, Packed goes
// on for 16 bytes.
type JoinContigs struct {
	Packed    []byte
	Start     []uint64
	Length    []uint32
	Reads     []uint64
	Left      []uint32
	Settled   []bool // nil if no contig is settled
	ReadBases uint64
}

// JoinSampler says which k-mers of contigs are selected; package overlap defines how (sampler).
type JoinSampler struct {
	Rate, Ends  int
	Part, Parts uint32
}

// Places are the places of reads by record.
type Places struct {
	Positions  []uint32 // of the leftmost base on the pseudogenome; NoPlace if the read has none
	Reversed   []uint32 // one bit a record: the read, in input orientation, is on the reverse strand
	Mismatches []uint8
}

// NoPlace is the position of a read for which no place was found.
const NoPlace = 1<<32 - 1

// ErrMemory means that there is too little memory on the device, or too little pinned memory of
// the host. The errors that wrap it say for what.
var ErrMemory = errors.New("not enough memory")

// Description says what a GPU is.
type Description struct {
	Name               string
	Major, Minor       int    // compute capability
	Driver             int    // CUDA version of the driver: 1000*major + 10*minor
	FreeMemory, Memory uint64 // bytes on the device
	Multiprocessors    int
}

// BinStart is the beginning of a bin: its signature, and the stored reads and bases before it.
type BinStart struct {
	Signature, First, Bases uint32
}

// Exception is a run of sequence bytes that are not A, C, G or T, as record.Exception; a Byte of 0
// means lower-case bases.
type Exception struct {
	Read, Start, Len, Byte uint32
}

// Columns says which of the optional columns are wanted.
type Columns struct {
	Names, Quals bool
	Map          bool // qualities are mapped by the lane's table
	// Coded: names and qualities are coded on the device, and returned only so (Result.CodedNames,
	// CodedQuals).
	Coded bool
	// RawNames: the names are returned in plain, also without Names, or coded as well.
	RawNames bool
}

// Coded is a column as bins stores it, in chunks of 1 MiB.
type Coded struct {
	Raw     uint64   // bytes of the column before coding
	Data    []byte   // the chunks end to end
	Methods []byte   // of each chunk
	Ends    []uint64 // of each chunk: the bytes of Data up to its end
}

// Result is a binned block. Its slices are memory of the Output, valid until that is used again.
type Result struct {
	// Unsupported is set if the kernels don't support the block. Then only Record is set as well: the
	// smallest ordinal that they refused, or -1 if the number of lines is no multiple of four.
	Unsupported bool
	Record      int

	Records                int
	Bases                  uint64
	MinLen, MaxLen         uint32
	Lengths                []uint32 // input order; nil if MinLen == MaxLen
	Codes                  []byte   // form codes, Plus<<4 | CR, in input order; nil if all are Code
	Code                   byte
	NoNewline              bool // the text does not end in '\n'
	Bins                   []BinStart
	Order, Place           []uint32
	Packed                 []byte
	Exceptions             []Exception
	Names, Quals           []byte // nil if not asked for
	CodedNames, CodedQuals *Coded // nil if not asked for
	// TextSums is the XXH3-64 of each 16 KiB of the text, little-endian, the last chunk filled up
	// with zero bytes.
	TextSums []byte
}
