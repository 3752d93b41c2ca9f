package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/compress/archive"
	"orcomgo/compress/fmindex"
	"orcomgo/compress/parity"
	"orcomgo/compress/seqs"
)

// AllRanks is for OpenIndex: it opens the whole index.
const AllRanks = math.MaxInt64

// ErrNoIndex means that there is no index beside an archive.
var ErrNoIndex = errors.New("there is no index")

// ErrIndex means that an index is damaged, or is that of another archive.
var ErrIndex = errors.New("the index can't be used")

// OpenIndex opens the index of an archive, without its ranks if these have more bytes than mostRanks. Damage that the parity beside it
// can mend is mended in memory; mended says what it was, nil for nothing. The error wraps ErrNoIndex if there is none, and ErrIndex if it
// can't be used.
func OpenIndex(e commit.Entry, man *archive.Manifest, mostRanks int64) (x *fmindex.Index, closeIndex func(), mended, err error) {
	path := e.Path() + commit.IndexExt
	ahead := int64(mostAhead) // rather than first the bytes that say how many are needed
	if mostRanks < AllRanks {
		ahead = min(mostRanks/5+nearSections, vfs.MostFetched-1) // about what is before the ranks
	}
	f, err := vfs.OpenAhead(path, ahead)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil, fmt.Errorf("%s: %w", path, ErrNoIndex)
	}
	if errors.Is(err, vfs.ErrNotRegular) {
		return nil, nil, nil, fmt.Errorf("%w: %w: --scan searches without it", err, ErrIndex)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	data, unmap, err := mapIndex(f, mostRanks)
	if err != nil {
		f.Close()
		return nil, nil, nil, err
	}
	closeIndex = func() {
		unmap()
		f.Close()
	}
	const again = "orcomgo index makes it again, and --scan searches without it"
	err = vfs.ReadMapped(path, func() (err error) {
		size, err := f.Size()
		if err == nil {
			x, err = fmindex.Open(data, f, size)
		}
		return err
	})
	if err != nil {
		if x, mended = mendedIndex(f); x == nil {
			closeIndex()
			return nil, nil, nil, fmt.Errorf("%s: %w: %w: %s", path, ErrIndex, err, again)
		}
	}
	if x.Archive() != man.ID || x.Slices() != len(man.Slices) {
		closeIndex()
		return nil, nil, nil, fmt.Errorf("%s: %w: it is of another archive: %s", path, ErrIndex, again)
	}
	return x, closeIndex, mended, nil
}

// mapIndex maps what fmindex.Open reads of a file, or all of it if that is no index.
func mapIndex(f *vfs.File, mostRanks int64) (data []byte, unmap func(), err error) {
	size, err := f.Size()
	if err != nil {
		return nil, nil, err
	}
	head := make([]byte, min(size, 128))
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, nil, err
	}
	if least, all, err := fmindex.MainLen(head); err == nil {
		if all-least > mostRanks {
			all = least
		}
		size = min(size, all)
	}
	f.Fetch(0, size)
	return f.Map(size)
}

// mendedIndex returns the index in a damaged file as its parity restores it, and what is wrong with the file; nil if it does not.
func mendedIndex(f *vfs.File) (*fmindex.Index, error) {
	whole, size, problem, err := parity.RestoreFile(f)
	if err != nil || whole == nil {
		return nil, nil
	}
	data := make([]byte, size)
	if _, err := whole.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, nil
	}
	x, err := fmindex.Open(data, bytes.NewReader(data), size)
	if err != nil {
		return nil, nil
	}
	return x, problem
}

// MostRanks returns what mostRanks is for OpenIndex where the pseudogenome is needed as well: of a remote archive, the bytes from which
// that is decoded otherwise.
func (p *Packed) MostRanks() int64 {
	if !p.Archive.IsRemote() {
		return AllRanks
	}
	return int64(p.Man.SharedLen())
}

// NeedGenome has the pseudogenome decoded for an index without ranks. The error wraps ErrIndex if the index is of another one.
func (p *Packed) NeedGenome(ctx context.Context, x *fmindex.Index) error {
	if err := p.NeedShared(ctx); err != nil {
		return err
	}
	if n, err := p.Seqs.Len(); err == nil && n != x.Genome() {
		return fmt.Errorf("%w: its pseudogenome has %d bases, that of the archive %d", ErrIndex, x.Genome(), n)
	}
	x.GenomeBases = func(dst []byte, from, to int) ([]byte, error) {
		err := p.Pool.Do(ctx, func() (err error) {
			if dst, err = p.Seqs.Genome(dst, from, to); err != nil {
				err = p.Archive.Corrupt(SharedName(0), err)
			}
			return err
		})
		return dst, err
	}
	return nil
}

// ShareIndex takes the pseudogenome from the archive's index, which restores it in less time than it is decoded in, unless it is decoded
// already. It must be called before slices are decoded.
func (p *Packed) ShareIndex(ctx context.Context, x *fmindex.Index) error {
	return p.share(ctx, func() (*seqs.Decoder, error) { return p.ofIndex(x) })
}

// ofIndex returns a decoder that has the pseudogenome of an index.
func (p *Packed) ofIndex(x *fmindex.Index) (*seqs.Decoder, error) {
	genome, err := x.Packed(p.Threads)
	if err != nil {
		return nil, err
	}
	return seqs.NewDecoderOf(len(p.Man.Shared), p.readShared, genome, x.Genome(), p.seqsConfig())
}

// mostFromIndex is how many bases a pseudogenome has at most that TakeIndex takes: see fmindex.Index.Packed for the memory.
const mostFromIndex = 1 << 27

// TakeIndex is ShareIndex, if there is an index of the archive that can be used, in `memory` bytes (0: no bound). If there is none, the
// pseudogenome is decoded, as is that of a remote archive: its section is shorter than the index.
func (p *Packed) TakeIndex(memory uint64) {
	if p.Archive.IsRemote() {
		return
	}
	e := commit.Entry{Dir: p.Archive.Dir(), Name: p.Archive.Name()}
	x, closeIndex, _, err := OpenIndex(e, p.Man, AllRanks)
	if err != nil {
		return
	}
	defer closeIndex()
	if n := uint64(x.Genome()); n > mostFromIndex || memory > 0 && n > memory/20 {
		return
	}
	var decoder *seqs.Decoder
	err = vfs.ReadMapped(e.Path()+commit.IndexExt, func() (err error) {
		decoder, err = p.ofIndex(x)
		return err
	})
	if err == nil {
		p.Seqs = decoder
	}
}
