package samples

import (
	"errors"
	"fmt"
	"io"

	"orcomgo/binning"
	"orcomgo/bins/vfs"
)

// Refresh looks at a file of class Other or Reads again, since much time may have passed since Scan. The error names it.
func (f *File) Refresh() error {
	info, err := vfs.Stat(f.Path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return f.changed(vfs.ErrNotRegular)
	}
	f.Info = info
	return nil
}

func (f *File) changed(err error) error {
	return fmt.Errorf("%s: the file was changed while it was read: %w", f.Path, err)
}

// Open opens a file. Reading it to its end fails if it is not what Info says any more. Errors name the file.
func (f *File) Open() (io.ReadCloser, error) {
	r, err := vfs.OpenRegular(f.Path)
	if errors.Is(err, vfs.ErrNotRegular) {
		return nil, f.changed(vfs.ErrNotRegular)
	}
	if err != nil {
		return nil, err
	}
	o := &unchanged{File: r, of: f}
	if err := o.check(); err != nil {
		r.Close()
		return nil, err
	}
	return o, nil
}

// unchanged is a file that must not change while it is read.
type unchanged struct {
	*vfs.File
	of   *File
	read int64 // bytes
}

// check compares the file with what it was.
func (u *unchanged) check() error {
	now, err := u.Stat()
	if err != nil {
		return err
	}
	if err := binning.Changed(u.of.Info, now); err != nil {
		return u.of.changed(err)
	}
	return nil
}

func (u *unchanged) Read(p []byte) (int, error) {
	n, err := u.File.Read(p)
	if u.read += int64(n); err == io.EOF || u.read > u.of.Info.Size() {
		if changed := u.check(); changed != nil {
			err = changed
		}
	}
	return n, err
}
