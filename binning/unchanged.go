package binning

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"time"

	"orcomgo/bins/vfs"
)

// statter is an open file, or a reader that has one.
type statter interface{ Stat() (fs.FileInfo, error) }

// ErrChanged means that a file was changed while it was read. The errors of the package wrap it.
var ErrChanged = errors.New("the file was changed while it was read")

// changedError is an ErrChanged that says more than that.
type changedError string

func (e changedError) Error() string      { return string(e) }
func (changedError) Is(target error) bool { return target == ErrChanged }

// unchanged returns an error if the file of a source was changed since it was opened: what was
// read of it may then be part old and part new. Standard input may be a file, without a known
// name. Pipes are not checked.
func (s *source) unchanged() error {
	if s.before == nil {
		return nil
	}
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w: %w", s.path, ErrChanged, fmt.Errorf(format, args...))
	}
	now, err := s.file.Stat()
	if err != nil {
		return fail("%w", vfs.Cause(err))
	}
	if s.named {
		there, err := vfs.Stat(s.path)
		switch {
		case err != nil:
			return fail("%w", vfs.Cause(err))
		case !os.SameFile(s.before, there):
			return fail("another file has its name now")
		}
	}
	if err := Changed(s.before, now); err != nil {
		return fail("%w", err)
	}
	return nil
}

// Changed returns an error that says how a file differs from what it was before: in size, times or identity; nil if in nothing.
func Changed(before, now fs.FileInfo) error {
	const form = "2006-01-02 15:04:05.000000"
	switch {
	case before.Size() != now.Size():
		return fmt.Errorf("it had %d bytes and has %d", before.Size(), now.Size())
	case !before.ModTime().Equal(now.ModTime()):
		return fmt.Errorf("it was written to at %s", now.ModTime().Format(form))
	case !changeTime(before).Equal(changeTime(now)):
		return fmt.Errorf("its status was changed at %s", changeTime(now).Format(form))
	case !os.SameFile(before, now):
		return errors.New("it is another file now")
	}
	return nil
}

// changeTime returns when the content or the status of a file was changed last, the zero time where systems don't say so. They call it
// by one of two names.
func changeTime(info fs.FileInfo) time.Time {
	stat := reflect.Indirect(reflect.ValueOf(info.Sys()))
	for _, name := range []string{"Ctim", "Ctimespec"} {
		if stat.Kind() != reflect.Struct {
			break
		}
		if t := stat.FieldByName(name); t.IsValid() {
			return time.Unix(t.FieldByName("Sec").Int(), t.FieldByName("Nsec").Int())
		}
	}
	return time.Time{}
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
