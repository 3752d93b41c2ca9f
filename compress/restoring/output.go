package restoring

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
	"orcomgo/compress/archive"
	"orcomgo/compress/source"
	"orcomgo/internal/deflate"
)

// outputNames returns the file name under which each part of each input is restored. There is one part unless o.Split is set. asFile
// reports whether an input comes back as the very file that it was, asBAM whether it does as BAM.
func outputNames(man *archive.Manifest, o *UnpackOptions, parts []int, asFile, asBAM []bool) ([][]string, error) {
	names := make([][]string, len(man.Inputs))
	for part := range slices.Max(append([]int{1}, parts...)) {
		r := record.Restored{Gzip: o.Gzip, Suffix: func(i int) string { return suffix(&man.Inputs[i], o, part, parts[i]) },
			File: func(i int) bool { return asFile[i] }, FASTQ: func(i int) bool { return !asBAM[i] }, BAM: o.Format == AsBAM}
		list, err := record.RestoredNames(man.BinsInputs(), man.Options, r)
		if err != nil {
			return nil, err
		}
		for i, name := range list {
			if part < max(parts[i], 1) {
				names[i] = append(names[i], name)
			}
		}
	}
	return names, nil
}

// suffix returns what the name of a part of an input has in addition to that of the input.
func suffix(in *archive.Input, o *UnpackOptions, part, parts int) (s string) {
	if o.Records != nil {
		from, to := o.Records.From+1, min(o.Records.To, in.Records)
		if s = fmt.Sprintf(".%d", from); to != from {
			s += fmt.Sprintf("-%d", to)
		}
	}
	if o.Names != nil {
		s += ".selected"
	}
	if o.Interleave && in.Mate >= 0 {
		s += ".interleaved"
	}
	if o.Split > 0 {
		s += fmt.Sprintf(".part_%0*d", max(3, len(fmt.Sprint(parts))), part+1)
	}
	return s
}

// outFile is a file that text is restored in. It gets its name only once all of it is there. A FIFO has its name already: the text is
// written to it, once it has a reader.
type outFile struct {
	path   string
	gzip   bool
	header []byte        // that precedes all
	f      *commit.Temp  // nil before the first byte, and in the end
	time   time.Time     // that the file gets; zero for the present one
	done   bool          // complete and durable
	note   error         // why the file has not got its time
	access commit.Access // who may read the archive

	exact   *gzipFile      // that makes the file of the text; nil before the first byte, and in the end
	input   *archive.Input // whose file it is; nil for that of a text
	threads int            // for exact

	fifo bool
	pipe *vfs.File // of a FIFO; nil before the first byte, and in the end
}

// newOutFile returns the file called name in dir, which nothing has been written to. The
// error is for a name that is taken: by a file, unless force says to replace it, or by one
// of the archive that it comes from.
func newOutFile(dir, name string, src source.Source, o *UnpackOptions) (*outFile, error) {
	f := &outFile{path: filepath.Join(dir, name), gzip: o.Gzip, access: commit.AccessTo(src.Paths()...)}
	home, archived := src.Place()
	if err := commit.TakesName(f.path, home, archived); err != nil {
		return nil, err
	}
	st, err := CheckNew(f.path, true)
	switch {
	case err != nil:
		return nil, err
	case st == nil:
		return f, nil
	case st.Mode()&fs.ModeNamedPipe != 0:
		f.fifo = true
		return f, nil
	case !o.Force:
		return nil, fmt.Errorf("%s: %w", f.path, ErrFileExists)
	}
	there, err := vfs.Stat(f.path)
	if err != nil {
		return f, nil // a symbolic link to nothing
	}
	for _, p := range src.Paths() {
		if st, err := vfs.Stat(p); err == nil && os.SameFile(st, there) {
			return nil, fmt.Errorf("%s is a file of the archive itself", f.path)
		}
	}
	return f, nil
}

// write appends to the file. A FIFO is waited for until stop is closed.
func (o *outFile) write(b []byte, stop <-chan struct{}) (err error) {
	if h := o.header; h != nil {
		o.header = nil
		if err := o.write(h, stop); err != nil {
			return err
		}
	}
	if o.fifo {
		if o.pipe == nil {
			if o.pipe, err = vfs.OpenFIFO(o.path, stop); err != nil {
				return err
			}
		}
		_, err = o.pipe.Write(b)
		return err
	}
	if o.f == nil {
		if o.f, err = commit.NewTemp(o.path); err != nil {
			return err
		}
		o.f.Restrict(o.access)
	}
	if o.input == nil {
		_, err = o.f.Write(b)
		return err
	}
	if o.exact == nil {
		o.exact = newGzipFile(o.input, o.f, o.threads)
	}
	_, err = o.exact.Write(b)
	return err
}

// finish completes the content and makes it durable, before the file has its name.
func (o *outFile) finish(stop <-chan struct{}) error {
	if o == nil || o.done {
		return nil
	}
	end := "" // an empty file is a file
	if o.gzip {
		end = deflate.BGZFEnd
	}
	if err := o.write([]byte(end), stop); err != nil {
		return err
	}
	if o.exact != nil {
		err := o.exact.end()
		if o.exact = nil; err != nil {
			return err
		}
	}
	if o.fifo {
		o.done = true
		err := o.pipe.Close()
		o.pipe = nil
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
	if o.fifo {
		return nil
	}
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
	if o == nil {
		return
	}
	if o.pipe != nil {
		o.pipe.Close()
		o.pipe = nil
	}
	o.exact.abort()
	o.exact = nil
	if o.f != nil {
		o.f.Discard()
		o.f = nil
	}
}

// ErrFileExists is wrapped by the error for a file that Unpack would have to overwrite.
var ErrFileExists = errors.New("the file exists already")

// CheckNew returns an error if a file must not be written: a directory has the path, or without replace anything else has, which is
// ErrFileExists. It returns what is replaced, nil if nothing.
func CheckNew(path string, replace bool) (replaced fs.FileInfo, err error) {
	info, err := vfs.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", path)
	case !replace:
		return nil, fmt.Errorf("%s: %w", path, ErrFileExists)
	case commit.IsArchiveFile(path):
		return nil, fmt.Errorf("%s is a file of an archive, and is not overwritten", path)
	}
	return info, nil
}

// fifoStream is a FIFO as a stream; it is opened when it is written to.
type fifoStream struct {
	*outFile
	stop <-chan struct{}
}

// newFIFOStream returns the FIFO that path leads to; nil if it is anything else. stop ends waiting for a reader.
func newFIFOStream(path string, stop <-chan struct{}) *fifoStream {
	if st, err := vfs.Stat(path); err != nil || st.Mode()&fs.ModeNamedPipe == 0 {
		return nil
	}
	return &fifoStream{&outFile{path: path, fifo: true}, stop}
}

func (f *fifoStream) Write(b []byte) (int, error) {
	if err := f.write(b, f.stop); err != nil {
		return 0, err
	}
	return len(b), nil
}
