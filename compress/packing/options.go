package packing

import (
	"cmp"
	"io"

	"orcomgo/bins/commit"
	"orcomgo/compress/slicing"
	"orcomgo/compress/workers"
)

// Options control Pack. The zero value packs on one thread.
type Options struct {
	Threads int
	Memory  uint64 // bytes aimed for; 0 for the package's default
	Tool    string // program and version, recorded in the archive
	// Access is who may read the archive of bins without names, as it is of their inputs; that of others is as that of the bins.
	Access commit.Access
	// Sides are the names of the side archives that will list the inputs. They are recorded, so that a lost one is noticed.
	Sides []string

	// TwoBit has the sequences of assemblies (FASTA) in two bits a base: larger, and unpacked several times as fast.
	TwoBit bool
	// SliceText is how many bytes of text of an input a slice has, more or less; 0 for the default of 64 MiB, or of 2 MiB for inputs
	// of short reads with 64 Mi qualities or more that are kept. Slices are decoded by
	// themselves: some records of smaller ones take less time, and their models learn from less. Where nothing but the reads is
	// kept, as a set, it has no effect.
	SliceText uint64
	OneFile   bool // the archive is NAME.cdna alone
	// OutDir and OutName are where Pack makes the archive; "" beside the bins.
	OutDir, OutName string
	KeepBins        bool // leave the bins beside the packed archive
	NoVerify        bool // do not decode what was written before the bins are dropped
	Force           bool // pack again though a packed archive is there
	// Parity is the share of the archive that can be restored if it is damaged, see parity.Options.Share; 0: no NAME.cpar is written.
	Parity float64
	// MayReplace is asked with Force whether an archive may be replaced; nil: any may.
	MayReplace commit.MayReplace

	GPU  bool              // a GPU does what it can, if the program supports one; the archive is the same
	Note func(line string) // is told when the GPU can't be used; may be nil
	// GzipNote, unless it is nil, is told which .gz does not come back as the file that it was, though the bins have it, and why.
	GzipNote func(line string)
	// Ready, unless it is nil, is called while reads are loaded. Its error, that there is no GPU, ends Pack.
	Ready func() error

	// Open opens the file of an input again, for the checksums of its text; nil: they are computed of the text that comes back.
	Open func(input int) (io.ReadCloser, error)

	Progress workers.Progress // may be nil
	// Sized, unless it is nil, is called before the work begins, with how many reads there are, their bases, the bytes of names and qualities
	// in the bins, and those of the .gz that are to come back: to these, how long packing takes is about proportional.
	Sized func(reads, bases, coded, gzip uint64)

	// Limits, unless it is nil, has others than UsualLimits, so that tests can have many slices of small inputs.
	Limits *Limits
}

// Limits say how slices are cut and how their names depend on each other.
type Limits struct {
	slicing.Sizes
	// Chain is how many records the slices of a chain of names have together at most, unless a slice alone has more.
	Chain uint64
	// LongChain is the same where names repeat others from far before them, as of files that were sampled from several runs with
	// the same seed.
	LongChain uint64
}

// UsualLimits are those of all archives but those of tests.
var UsualLimits = Limits{Sizes: slicing.Usual, Chain: 1 << 15, LongChain: 1 << 19}

// limits returns those that are asked for.
func (o *Options) limits() *Limits { return cmp.Or(o.Limits, &UsualLimits) }
