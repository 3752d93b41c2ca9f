package compress

import (
	"errors"
	"fmt"
	"io/fs"
	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/compress/archive"
	"orcomgo/compress/fmindex"
	"orcomgo/compress/seqs"
)

// ErrNoIndex means that there is no index beside an archive.
var ErrNoIndex = errors.New("there is no index")

// ErrIndex means that an index is damaged, or is that of another archive.
var ErrIndex = errors.New("the index can't be used")

// openIndex opens the index of an archive. The error wraps ErrNoIndex if there is none, and ErrIndex if it can't be used.
func openIndex(e commit.Entry, man *archive.Manifest) (x *fmindex.Index, closeIndex func(), err error) {
	path := e.Path() + commit.IndexExt
	f, err := vfs.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s: %w", path, ErrNoIndex)
	}
	if errors.Is(err, vfs.ErrNotRegular) {
		return nil, nil, fmt.Errorf("%w: %w: --scan searches without it", err, ErrIndex)
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, unmap, err := f.Map()
	if err != nil {
		return nil, nil, err
	}
	const again = "orcomgo index makes it again, and --scan searches without it"
	err = vfs.ReadMapped(path, func() (err error) {
		x, err = fmindex.Open(data)
		return err
	})
	if err != nil {
		unmap()
		return nil, nil, fmt.Errorf("%s: %w: %w: %s", path, ErrIndex, err, again)
	}
	if x.Archive() != man.ID || x.Slices() != len(man.Slices) {
		unmap()
		return nil, nil, fmt.Errorf("%s: %w: it is of another archive: %s", path, ErrIndex, again)
	}
	return x, unmap, nil
}

// shareIndex takes the pseudogenome from the archive's index, which restores it in less time than it is decoded in. It must be called
// before slices are decoded.
func (p *packed) shareIndex(x *fmindex.Index) error {
	shared, c, err := p.readShared()
	if err != nil {
		return err
	}
	genome, err := x.Packed(p.threads)
	if err == nil {
		p.dec = seqs.NewDecoderOf(shared, genome, x.Genome(), c)
	}
	return err
}

// mostFromIndex is how many bases a pseudogenome has at most that takeIndex takes: see fmindex.Index.Packed for the memory.
const mostFromIndex = 1 << 27

// takeIndex is shareIndex, if there is an index of the archive that can be used, in `memory` bytes (0: no bound). If there is none, the
// pseudogenome is decoded.
func (p *packed) takeIndex(memory uint64) {
	e := commit.Entry{Dir: p.r.Dir(), Name: p.r.Name()}
	x, closeIndex, err := openIndex(e, p.man)
	if err != nil {
		return
	}
	defer closeIndex()
	if n := uint64(x.Genome()); n > mostFromIndex || memory > 0 && n > memory/20 {
		return
	}
	if vfs.ReadMapped(e.Path()+commit.IndexExt, func() error { return p.shareIndex(x) }) != nil {
		p.dec = nil
	}
}
