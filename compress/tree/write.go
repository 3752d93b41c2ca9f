package tree

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/compress/general"
	"orcomgo/compress/parity"
	"orcomgo/compress/sidefiles"
)

const (
	// Version is that of the format.
	Version = 1

	endMagic   = commit.TreeEnd
	headerSize = len(commit.TreeMagic) + 1
	footerSize = 8 + 4 + len(endMagic)
)

// Options say what Write and Open may use.
type Options struct {
	Threads int    // at least 1
	Memory  uint64 // bytes to stay within, roughly; 0 for any
	// Progress is called with the bytes of side files that were looked at, coded or decoded since the last call, in several goroutines; it
	// may be nil.
	Progress func(n int)
	// Access is who may read the files, and so the side archive that Make writes.
	Access commit.Access
	// Parity is the share of the side archive that can be restored, see parity.Options.Share; 0: Make writes no parity.
	Parity float64
}

func (o *Options) sidefiles() sidefiles.Options {
	return sidefiles.Options{Threads: max(o.Threads, 1), Memory: o.Memory, Coded: o.Progress}
}

// Write writes the side archive of a listing to w. open opens the content of an entry, a File, as often as it is asked to. An error of a
// file names it as open or its reader does, or by its path. With less than 240 MB of memory, a larger side archive is the result.
func Write(ctx context.Context, w io.Writer, l *Listing, open func(e *Entry) (io.ReadCloser, error), o Options) error {
	text := appendListing(nil, l)
	if len(text) > maxListing {
		return errTooLong
	}
	if _, _, reason := parseListing(text, math.MaxInt); reason != "" {
		return fmt.Errorf("tree: the listing can't be read: %s", reason)
	}
	if _, err := w.Write(append([]byte(commit.TreeMagic), Version)); err != nil {
		return err
	}
	var files []sidefiles.File
	for i := range l.Entries {
		e := &l.Entries[i]
		if e.Kind != File {
			continue
		}
		files = append(files, sidefiles.File{Name: e.Path, Size: e.Size, Open: func() (io.ReadCloser, error) {
			f, err := open(e)
			if err != nil {
				return nil, &named{err}
			}
			return &source{ctx, f}, nil
		}})
	}
	index, err := sidefiles.Encode(ctx, w, files, o.sidefiles())
	if err != nil {
		var n *named
		if errors.As(err, &n) {
			return n.error // without the path in front of it
		}
		return err
	}
	_, err = w.Write(appendEnd(nil, append(text, index...)))
	return err
}

// appendEnd appends what follows the side files: the text of the listing and of their index, and the footer.
func appendEnd(dst, text []byte) []byte {
	coded := general.Encode(text)
	dst = binary.LittleEndian.AppendUint64(append(dst, coded...), xxh3.Hash(coded))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(coded)))
	return append(dst, endMagic...)
}

// named is an error that names its file.
type named struct{ error }

func (n *named) Unwrap() error { return n.error }

// source is a file that is read until ctx ends.
type source struct {
	ctx context.Context
	io.ReadCloser
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, &named{err}
	}
	n, err := s.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = &named{err}
	}
	return n, err
}

// Make writes the side archive name in dir. The file is decoded and compared before it gets its name, unless noVerify is set. One that
// is there then is replaced as replaces says, or the error is ErrExists; complete says whether the listing's archives are there. See
// commit.InstallTree for both. Other parameters are those of Write. It returns the size in bytes, that of its parity included.
func Make(ctx context.Context, dir, name string, l *Listing, open func(e *Entry) (io.ReadCloser, error),
	replaces func(now fs.FileInfo) bool, complete func() error, noVerify bool, o Options) (size int64, err error) {
	path := commit.Tree{Dir: dir, Name: name}.Path()
	made, err := commit.MakeDir(dir)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			made.Undo()
		}
	}()
	f, err := commit.NewTemp(path)
	if err != nil {
		return 0, err
	}
	defer f.Discard()
	f.Restrict(o.Access)
	if err := Write(ctx, f, l, open, o); err != nil {
		return 0, err
	}
	if size, err = verified(ctx, f, path, noVerify, o); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	if err := commit.InstallTree(dir, name, f, replaces, complete); err != nil || o.Parity == 0 {
		return size, err
	}
	if err := parity.Protect(path, parity.Options{Share: o.Parity, Threads: o.Threads, Memory: o.Memory / 16}); err != nil {
		return size, err
	}
	info, err := vfs.Stat(parity.Path(path))
	if err != nil {
		return size, err
	}
	return size + info.Size(), nil
}

// verified reads a side archive that was written, and returns its size.
func verified(ctx context.Context, f *commit.Temp, path string, noVerify bool, o Options) (int64, error) {
	size, err := f.Size()
	if err != nil || noVerify {
		return size, err
	}
	r, err := newReader(f.File, f.File, path, size, o)
	if err != nil {
		return 0, err
	}
	list, err := r.check(ctx, false)
	for _, s := range list {
		if err == nil && s != nil {
			err = fmt.Errorf("%s: what was written does not decode to the same files", path)
		}
	}
	return size, err
}
