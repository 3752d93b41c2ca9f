// Package cudakern bins a block of FASTQ text on an NVIDIA GPU: CUDA C++ kernels
// (kernels/*.cu, *.cuh), the PTX made from them (block.ptx), and launchers over the CUDA
// driver API, which are built with the tag cuda. Without the tag, Open and Probe say
// that no GPU is built in.
//
// A block goes to the device once, as text, and comes back as columns that need no more
// work: the reads in the order of (signature, ordinal), two bits a base, names and
// qualities end to end. What the kernels don't take (anything but FASTQ of four lines a
// record, a wrong record, text of another kind after '+') they report as Odd, and the
// caller bins that block on the CPU.
//
// Everything in a block is addressed with 32 bits: see MaxText.
package cudakern

import "errors"

// MaxText is the most bytes of text that the kernels take in one block.
const MaxText = 1<<31 - 1<<20

// ErrNotBuilt tells that the program was built without the tag cuda.
var ErrNotBuilt = errors.New("this program was built without CUDA (use orcomgo-cuda)")

// ErrMemory tells that the device, or the host's pinned memory, has too little room. The
// errors that wrap it say for what.
var ErrMemory = errors.New("not enough memory")

// Description says what a GPU is.
type Description struct {
	Name                string
	Major, Minor        int    // compute capability
	Driver              int    // CUDA version of the driver: 1000*major + 10*minor
	FreeMemory, Memory  uint64 // bytes on the device
	Multiprocessors     int
	ContextMS, ModuleMS float64 // what making the context and loading the kernels took; 0 for Probe
}

// Bits of a record's form code, one byte a record (Result.Codes).
const (
	CodeCR   = 15 // the four lines that ended in CR LF: name 1, sequence 2, plus 4, quality 8
	CodeName = 16 // the name stands again after the '+'
)

// BinStart is where a bin begins: its signature, and the stored reads and bases before it.
type BinStart struct {
	Signature, First, Bases uint32
}

// Exception is a run of sequence bytes that are no plain A, C, G, T, as in bins.Exception;
// Byte 0 stands for lower-case bases.
type Exception struct {
	Read, Start, Len, Byte uint32
}

// Columns says which of the columns that can be left out are wanted.
type Columns struct {
	Names, Quals bool
	Map          bool // the qualities come back through the lane's table
}

// Result is a binned block. Its slices are memory of the Output that was given, valid until
// that is given again.
type Result struct {
	// Odd: the kernels don't take the block, and nothing else here is set but Record, the
	// smallest ordinal that they refused (-1: the lines are not a multiple of four).
	Odd    bool
	Record int

	Records          int
	Bases            uint64
	MinLen, MaxLen   uint32
	Lengths          []uint32 // input order; nil if MinLen == MaxLen
	Codes            []byte   // input order; nil if all are Code
	Code             byte
	NoNewline        bool // the text does not end in '\n'
	Bins             []BinStart
	Order, Place     []uint32
	Packed           []byte
	Exceptions       []Exception
	Names, Quals     []byte // nil if not asked for
	UploadMS         float64
	KernelMS         float64
	DownloadMS       float64
	UploadB, DownldB uint64
}
