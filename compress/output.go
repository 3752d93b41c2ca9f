package compress

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"orcomgo/bins/record"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/compress/archive"
)

// outputNames returns the file name under which each input is restored.
func outputNames(man *archive.Manifest, o *UnpackOptions) ([]string, error) {
	r := record.Restored{Gzip: o.Gzip}
	if o.Records != nil {
		r.Suffix = func(i int) string {
			return fmt.Sprintf(".%d-%d", o.Records.From+1, min(o.Records.To, man.Inputs[i].Records))
		}
	}
	return record.RestoredNames(binsInputs(man), man.Options, r)
}

// binsInputs returns what stage 1 said of the inputs.
func binsInputs(man *archive.Manifest) []record.Input {
	inputs := make([]record.Input, len(man.Inputs))
	for i := range inputs {
		inputs[i] = man.Inputs[i].Input
	}
	return inputs
}

// outFile is a restored file, which gets its name only once all of it is there. A nil one is
// for an input that is not restored.
type outFile struct {
	path string
	f    *commit.Temp // nil before the first byte, and in the end
	time time.Time    // that the file gets; zero for the present one
	done bool         // complete and durable
	note error        // why the file has not got its time
}

// newOutFile returns the file called name in dir, which nothing has been written to. The
// error is for a name that is taken: by a file, unless force says to replace it, or by one
// of the archive that it comes from.
func newOutFile(dir, name string, src source, force bool) (*outFile, error) {
	o := &outFile{path: filepath.Join(dir, name)}
	if err := takesName(o.path, src); err != nil {
		return nil, err
	}
	st, err := vfs.Lstat(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o, nil
	case err != nil:
		return nil, err
	case st.IsDir():
		return nil, fmt.Errorf("%s is a directory", o.path)
	case !force:
		return nil, fmt.Errorf("%s: %w", o.path, ErrFileExists)
	}
	there, err := vfs.Stat(o.path)
	if err != nil {
		return o, nil // a symbolic link to nothing
	}
	for _, p := range src.paths() {
		if st, err := vfs.Stat(p); err == nil && os.SameFile(st, there) {
			return nil, fmt.Errorf("%s is a file of the archive itself", o.path)
		}
	}
	return o, nil
}

func takesName(path string, src source) error {
	dir, name := src.place()
	return commit.TakesName(path, dir, name)
}

func (o *outFile) Write(b []byte) (int, error) {
	if o.f == nil {
		f, err := commit.NewTemp(o.path)
		if err != nil {
			return 0, err
		}
		o.f = f
	}
	return o.f.Write(b)
}

// finish makes the content durable, before the file has its name.
func (o *outFile) finish() error {
	if o == nil || o.done {
		return nil
	}
	if _, err := o.Write(nil); err != nil { // an empty file is a file
		return err
	}
	if !o.time.IsZero() {
		o.note = o.f.SetTime(o.time) // some file systems have no times
	}
	if err := o.f.Sync(); err != nil {
		return err
	}
	o.done = true
	return nil
}

// name gives the file its name.
func (o *outFile) name(force bool) error {
	err := o.f.Install(o.path, force)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s: %w", o.path, ErrFileExists)
	}
	if err == nil {
		o.abort() // which closes it
	}
	return err
}

// abort removes what was written, if it has not got its name yet.
func (o *outFile) abort() {
	if o == nil || o.f == nil {
		return
	}
	o.f.Discard()
	o.f = nil
}

// ErrFileExists is wrapped by the error for a file that Unpack would have to overwrite.
var ErrFileExists = errors.New("the file exists already")

// files are what text is written to, by input: files in a directory, or one stream.
type files struct {
	stream io.Writer // nil: by file
	outs   []*outFile
}

func (f *files) write(input int, b []byte) error {
	if f.stream != nil {
		if len(b) == 0 {
			return nil
		}
		_, err := f.stream.Write(b)
		return err
	}
	_, err := f.outs[input].Write(b)
	return err
}

// finish ends an input's file; the stream has no ends.
func (f *files) finish(input int) error {
	if f.stream != nil {
		return nil
	}
	return f.outs[input].finish()
}

// abort removes the files that have not got their names.
func (f *files) abort() {
	for _, o := range f.outs {
		o.abort()
	}
}
