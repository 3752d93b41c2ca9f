package compress

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"sync/atomic"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/compress/restoring"
	"orcomgo/compress/source"
)

// The options and results of Unpack and Verify, and the records of a Reader.
type (
	// UnpackOptions control Unpack. Either OutDir or Stream is set.
	UnpackOptions = restoring.UnpackOptions
	// NameFilter says which names of records are wanted.
	NameFilter = restoring.NameFilter
	// VerifyOptions control Verify.
	VerifyOptions = restoring.VerifyOptions
	// Summary is the outcome of Pack or Unpack.
	Summary = restoring.Summary
	// ColumnBytes says where an archive's bytes are.
	ColumnBytes = restoring.ColumnBytes
	// FileStatus is what became of one file: verified, or restored by Unpack.
	FileStatus = restoring.FileStatus
	// DamagedError says that some inputs of an archive could not be restored.
	DamagedError = restoring.DamagedError

	// Reader gives the records of an archive, packed or still in bins.
	Reader = restoring.Reader
	// ReaderOptions control a Reader. The zero value is for all processors.
	ReaderOptions = restoring.ReaderOptions
	// Input describes an input of an archive: a file that was archived.
	Input = restoring.Input
	// Query says which records are wanted, and what of them. The zero value is everything.
	Query = restoring.Query
	// Want says which columns of records are wanted.
	Want = restoring.Want
	// RecordRange are the records From..To-1 of an input, counted from 0.
	RecordRange = restoring.RecordRange
	// Record is a record of an input. Its slices must not be changed.
	Record = restoring.Record
	// Batch is some records of an input, in their order.
	Batch = restoring.Batch
)

// The columns. Bases of short reads can't be decoded without their qualities, so these save no time unless bases are left out as well.
const (
	WantNames = restoring.WantNames
	WantBases = restoring.WantBases
	WantQuals = restoring.WantQuals
	WantAll   = restoring.WantAll
)

// The formats of UnpackOptions.Format.
const (
	AsArchived = restoring.AsArchived
	AsFASTQ    = restoring.AsFASTQ
	AsBAM      = restoring.AsBAM
)

// MemoryLimit is how many bytes a slice may take when it is decoded, in the whole process; 0, as at first: any. Archives with larger slices
// are refused.
var MemoryLimit = &source.MemoryLimit

// NamesStage is the stage of progress in which names are read and compared. It counts records.
const NamesStage = restoring.NamesStage

// ErrFileExists is wrapped by the error for a file that Unpack would have to overwrite.
var ErrFileExists = restoring.ErrFileExists

// Open opens the archive that path leads to: a directory with one archive, or DIR/NAME. Nothing is written. The error wraps
// ErrNotArchive, ErrCorrupt or ErrVersion, or comes from the file system.
func Open(path string, o ReaderOptions) (*Reader, error) { return restoring.Open(path, o) }

var readersGiven atomic.Uint64

// OpenReaderAt opens the archive whose .cdna file has the size bytes that r reads, by several goroutines at once: a local file, one of
// package storage, or the content of an encrypted one (package crypt). name is that of the archive, for errors, which are those of Open.
func OpenReaderAt(name string, r io.ReaderAt, size int64, o ReaderOptions) (*Reader, error) {
	path := fmt.Sprintf("given%d://-/%s", readersGiven.Add(1), name+commit.PackedDataExt)
	defer vfs.Give(path, r, size)()
	return restoring.Open(path, o)
}

// Unpack gives back the text of the archive that path leads to, from the packed archive or, before it is packed, from the bins. A file gets
// its name only after all of it was checked; on a stream, or in a FIFO, a slice is written once it was.
//
// Where some inputs are damaged, the others are restored: the error is then a DamagedError, and the Summary says in Files which are
// damaged. A stream or FIFO ends at the first damage.
func Unpack(ctx context.Context, path string, o UnpackOptions) (*Summary, error) {
	return restoring.Unpack(ctx, path, o)
}

// NewNameFilter returns a filter of names that are listed or match, if match is not nil. A listed name is the first word of a record's
// name, with or without /1 or /2 at its end, or a whole name; match is matched with whole names.
func NewNameFilter(listed []string, match *regexp.Regexp) *NameFilter {
	return restoring.NewNameFilter(listed, match)
}

// CheckNew returns an error if a file must not be written: a directory has the path, or without replace anything else has, which is
// ErrFileExists. It returns what is replaced, nil if nothing.
func CheckNew(path string, replace bool) (replaced fs.FileInfo, err error) {
	return restoring.CheckNew(path, replace)
}

// Verify decodes everything of an archive and compares it with the checksums taken when it was written. It returns a status for each input,
// and one for each file of the archive that is damaged in what the inputs don't depend on. Bins beside a packed archive are verified as
// well. The error is for what prevents a look at single files.
func Verify(ctx context.Context, e commit.Entry, o VerifyOptions) ([]FileStatus, error) {
	return restoring.Verify(ctx, e, o)
}

// VerifyQuick is Verify without decoding: it compares each section with its checksum.
func VerifyQuick(ctx context.Context, e commit.Entry, o VerifyOptions) ([]FileStatus, error) {
	return restoring.VerifyQuick(ctx, e, o)
}

// IsDamage reports whether err says that an archive is damaged or of an unknown version, and not that something else failed.
func IsDamage(err error) bool { return restoring.IsDamage(err) }
