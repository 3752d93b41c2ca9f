package compress

import (
	"context"
	"errors"
	"fmt"

	"github.com/zeebo/xxh3"

	"orcomgo/bins"
	"orcomgo/compress/archive"
)

// source gives back the records of an archive, slice by slice, packed or still in bins.
type source interface {
	// manifest describes the archive. For bins it is drawn up from their index: its slices
	// have no sections, and it is never Verified.
	manifest() *archive.Manifest
	// prepare announces which slices decode will be asked for, each once.
	prepare(slices []int)
	// decode returns slice i of the manifest. What is needed for the members that are not
	// wanted is not decoded unless the others depend on it. Safe for concurrent use.
	decode(ctx context.Context, i int, want [2]bool) (*batch, error)
	// paths are the files of the archive.
	paths() []string
	Close() error
}

// batch is a decoded slice: columns and letters of its members; nil where not wanted.
type batch struct {
	slice *archive.Slice
	cols  [2]*columns
	seqs  [2][]byte
}

// drop lets go of the decoded columns, once the text stands.
func (b *batch) drop() {
	b.cols, b.seqs = [2]*columns{}, [2][]byte{}
}

// text renders member m of b, after checking that it is what was verified when the archive
// was packed. ends is as in render.
func (b *batch) text(dst []byte, man *archive.Manifest, m int, ends []int) ([]byte, error) {
	c := b.cols[m]
	in := &man.Inputs[c.input]
	text, err := render(dst, formOf(man.Options, in.Kind), in.Kind, c, b.seqs[m], ends)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", whereRecords(man, b.slice, m), err)
	}
	if man.Verified {
		mem := b.slice.Members()[m]
		if uint64(len(text)) != mem.TextLen || xxh3.Hash(text) != mem.TextHash {
			return nil, fmt.Errorf("%s: the text differs from what was packed: %w", whereRecords(man, b.slice, m), ErrCorrupt)
		}
	}
	return text, nil
}

// whereRecords names the records of a member of a slice, for errors.
func whereRecords(man *archive.Manifest, s *archive.Slice, m int) string {
	return fmt.Sprintf("records %d to %d of %s", s.From+1, s.From+uint64(s.Records), man.Inputs[s.Members()[m].Input].Name)
}

// openSource opens what dir holds: the packed archive if there is one, else the bins.
func openSource(dir string, threads int) (source, error) {
	if err := recoverDir(dir); err != nil {
		return nil, err
	}
	r, err := archive.Open(dir)
	if err == nil {
		return newPacked(r, threads), nil
	}
	if !errors.Is(err, ErrNotArchive) {
		return nil, err
	}
	b, binErr := bins.Open(dir)
	if binErr == nil {
		s, err := newBinned(b, threads)
		if err != nil {
			b.Close()
			return nil, err
		}
		return s, nil
	}
	if errors.Is(binErr, ErrNotArchive) {
		return nil, notArchive(dir, err)
	}
	return nil, binErr
}

// recoverDir finishes a commit that a crash interrupted. A missing directory is left for
// others to report.
func recoverDir(dir string) error {
	err := bins.Recover(dir)
	if errors.Is(err, errNoSuchFile) {
		return fmt.Errorf("%s: %w: there is no such directory", dir, ErrNotArchive)
	}
	return err
}

// notArchive says that dir holds neither stage's files; of several packed archives it says so.
func notArchive(dir string, packedErr error) error {
	if _, err := archive.Find(dir); errors.Is(err, archive.ErrSeveral) {
		return packedErr
	}
	return fmt.Errorf("%s: %w: it holds no %s and no %s file", dir, ErrNotArchive, archive.MetaSuffix, bins.MetaExt)
}
