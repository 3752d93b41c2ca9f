// Package sidefiles codes a set of files of any content: what a sequencing run leaves beside its reads. How a file is coded is
// chosen by its content, and never by its name:
//
//   - data that is compressed already is stored as it is;
//   - tables of text are coded by package tables, where this is smaller;
//   - other text is coded by package general, files of one extension next to each other, so that small ones share what they
//     have in common, and base64 in it as its decoded bytes;
//   - arrays of numbers (.npy, or raw) are coded by package doubles, and records by package records;
//   - other binary data is coded by package general, and so is any block that takes less by it; a sample says whether that is tried.
//
// The files are put in an order in which such groups are together, and cut into blocks. A block is coded by itself, so blocks
// are coded and decoded side by side, and any one file is read without the others.
//
// docs/FORMAT.md, "Side files", is the specification.
package sidefiles

import (
	"cmp"
	"errors"
	"io"
	"math"
	"runtime"
)

// ErrCorrupt reports a block or an index that is damaged or cut off.
var ErrCorrupt = errors.New("sidefiles: the files are damaged or cut off")

const (
	// blockSize is the size of blocks, in bytes, where there is enough memory: larger blocks are smaller when coded.
	blockSize = 8 << 20
	// maxBlockSize is the largest size of blocks that a reader takes.
	maxBlockSize = 32 << 20
)

// File is a file to be coded.
type File struct {
	// Name is for errors, and for the order of the files in the stream, which has no names. It is a path with slashes, of any bytes.
	Name string
	// Size is the number of bytes of the file.
	Size int64
	// Open opens the file. It is called twice at most, and never while another file's is.
	Open func() (io.ReadCloser, error)
}

// Options say what Encode or a Reader may use.
type Options struct {
	// Threads is how many threads work at a time; 0: GOMAXPROCS. The stream does not depend on it.
	Threads int
	// Memory is how many bytes of memory to stay within, roughly; 0: any. With little, fewer threads work at a time, and where one block
	// takes more, Encode takes smaller blocks, of at least 64 KiB. So the stream depends on it if it is less than 30 times the block size.
	Memory uint64

	Coded func(n int) // if not nil, is told of how many more bytes the class was found, or that were coded, or decoded, in several goroutines

	blockSize int // of tests; 0: the constant
}

// Memory that a block takes while it is coded or decoded, in bytes for each of its own.
const (
	encodeMemory = 30
	decodeMemory = 20
)

// complete returns o with numbers in place of 0.
func (o Options) complete() Options {
	if o.Coded == nil {
		o.Coded = func(int) {}
	}
	return Options{cmp.Or(o.Threads, runtime.GOMAXPROCS(0)), cmp.Or(o.Memory, math.MaxUint64), o.Coded, cmp.Or(o.blockSize, blockSize)}
}

// within returns how many threads stay within the memory if each takes so many bytes, at least 1.
func (o *Options) within(each uint64) int {
	return int(min(uint64(o.Threads), max(o.Memory/max(each, 1), 1)))
}
