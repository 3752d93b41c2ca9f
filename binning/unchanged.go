package binning

import (
	"fmt"
	"io/fs"
	"os"

	"orcomgo/bins/vfs"
)

// statter is an open file, or a reader that has one.
type statter interface{ Stat() (fs.FileInfo, error) }

// unchanged returns an error if the file of a source was changed since it was opened: what was
// read of it may then be part old and part new. Standard input may be a file, without a known
// name. Pipes are not checked.
func (s *source) unchanged() error {
	if s.before == nil {
		return nil
	}
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s: the file was changed while it was read: %w", s.path, fmt.Errorf(format, args...))
	}
	now, err := s.file.Stat()
	if err != nil {
		return fail("%w", vfs.Cause(err))
	}
	if !s.named {
		return s.same(now, fail)
	}
	there, err := vfs.Stat(s.path)
	switch {
	case err != nil:
		return fail("%w", vfs.Cause(err))
	case !os.SameFile(s.before, there):
		return fail("another file has its name now")
	}
	return s.same(now, fail)
}

// same returns an error if the file's size, times or identity differ from those at the start.
func (s *source) same(now fs.FileInfo, fail func(string, ...any) error) error {
	const form = "2006-01-02 15:04:05.000000"
	switch b := s.before; {
	case b.Size() != now.Size():
		return fail("it had %d bytes and has %d", b.Size(), now.Size())
	case !b.ModTime().Equal(now.ModTime()):
		return fail("it was written to at %s", now.ModTime().Format(form))
	case !changeTime(b).Equal(changeTime(now)):
		return fail("its status was changed at %s", changeTime(now).Format(form))
	case !os.SameFile(b, now):
		return fail("it is another file now")
	}
	return nil
}

// unchanged checks the files of all inputs.
func (r *run) unchanged() error {
	for _, in := range r.inputs {
		if err := in.src.unchanged(); err != nil {
			return err
		}
	}
	return nil
}
