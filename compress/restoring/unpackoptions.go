package restoring

import (
	"errors"
	"fmt"
	"io"
	"path"

	"orcomgo/compress/workers"
)

// UnpackOptions control Unpack. Either OutDir or Stream is set.
type UnpackOptions struct {
	Threads int
	Memory  uint64 // bytes aimed for; 0 for the package's default

	// OutDir is the directory to restore the inputs in, made if it is missing. If it is a FIFO, it is written to as Stream is. FIFOs in
	// the directory are written to under the names of the files, those of mates at the same time.
	OutDir string
	Stream io.Writer // all text goes here, input after input
	// StreamFile has Stream take the very file of the only input that is chosen, if the archive can make that again.
	StreamFile bool
	// Interleave puts the mates of a pair in turn, instead of one input after the other, or instead of two files.
	Interleave bool
	// Text gives the text of inputs, also where the archive can make the very files again.
	Text bool
	// Format is how inputs are restored: AsArchived, AsFASTQ or AsBAM.
	Format Format
	// Comments are the tags that comments of FASTQ made of BAM have; see bam.Comments.
	Comments []string
	// Gzip compresses text, as BGZF; file names get .gz.
	Gzip bool
	// Split, if not 0, restores files of so many records, of an input or, interleaved, of both inputs of a pair.
	Split uint64
	// Force overwrites files.
	Force bool
	// Touch gives the files the present time, and not that which the files of the inputs had.
	Touch bool

	// What is restored. The zero values are everything. Names of files say which records they have.
	Records *RecordRange // of each input
	Chosen  []Place      // these records and their mates
	Inputs  []string     // names of inputs, or patterns as of path.Match
	Samples []string     // names of samples, of an archive of several
	Mate    int          // 1 or 2: only first or second mates
	Names   *NameFilter  // records by their names; of pairs, one mate's name is enough, if its input is asked for

	// GPU, if not nil, has a GPU decode qualities if that pays, and is told why it can't.
	GPU func(note string)

	Progress workers.Progress // may be nil
}

// Format is the format that inputs are restored in.
type Format uint8

// The formats.
const (
	AsArchived Format = iota // but some records of BAM, and BAM on a stream, are FASTQ
	AsFASTQ                  // BAM is FASTQ
	AsBAM                    // all inputs are unaligned BAM
)

// check returns an error for options that exclude each other.
func (o *UnpackOptions) check() error {
	switch {
	case (o.OutDir == "") == (o.Stream == nil):
		return errors.New("unpack: expected a directory or a stream to write to")
	case o.Split > 0 && o.Stream != nil:
		return errors.New("unpack: only files can be split")
	case o.Mate < 0 || o.Mate > 2:
		return fmt.Errorf("unpack: there are mates 1 and 2, not %d", o.Mate)
	case o.Interleave && o.Mate > 0:
		return errors.New("unpack: one of the mates can't be interleaved")
	case o.Format == AsBAM && (o.Text || o.Gzip || o.Comments != nil):
		return errors.New("unpack: BAM is no text, and is compressed")
	case o.Records != nil && o.Records.From >= o.Records.To:
		return fmt.Errorf("unpack: there are no records from %d to %d", o.Records.From+1, o.Records.To)
	}
	for _, p := range o.Inputs {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("unpack: %q is no valid pattern", p)
		}
	}
	return nil
}
