package restoring

import (
	"errors"
	"fmt"
	"io"

	"orcomgo/bins/parse"
	"orcomgo/compress/archive"
	"orcomgo/compress/gzexact"
	"orcomgo/digest"
)

// gzipFile makes the gzip file that an input was of its text, which is written to it, and compares it with the checksums of that file.
type gzipFile struct {
	name string
	text *io.PipeWriter
	sums *digest.Digest
	want digest.Sums
	done chan struct{} // closed when err is set
	err  error
}

// newGzipFile starts to write the file of an input, which has Source.Gzip. end or abort must be called.
func newGzipFile(in *archive.Input, to io.Writer, threads int) *gzipFile {
	r, w := io.Pipe()
	f := &gzipFile{name: in.Source.Name, text: w, sums: digest.New(true, true), want: *in.Source.Sums, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		if out := io.MultiWriter(to, f.sums); in.File != nil {
			_, f.err = io.Copy(out, io.NewSectionReader(in.File, 0, in.File.Size()))
		} else {
			f.err = gzexact.Restore(in.Source.Gzip, r, out, threads)
		}
		if f.err == nil {
			_, f.err = io.Copy(io.Discard, r) // there is no more
		}
		r.CloseWithError(f.err)
	}()
	return f
}

// Write takes the next bytes of the text.
func (f *gzipFile) Write(text []byte) (int, error) {
	if len(text) == 0 {
		return 0, nil // which would wait for the reader
	}
	n, err := f.text.Write(text)
	return n, f.wrap(err)
}

// end is called after the last byte. The error wraps ErrCorrupt if the file is not what it was.
func (f *gzipFile) end() error {
	f.text.Close()
	<-f.done
	if f.err == nil && f.sums.Sums() != f.want {
		f.err = fmt.Errorf("its SHA-256 and MD5 are not those of the file that was archived: %w", parse.ErrCorrupt)
	}
	return f.wrap(f.err)
}

// abort ends what newGzipFile started.
func (f *gzipFile) abort() {
	if f != nil {
		f.text.CloseWithError(errors.New("aborted"))
		<-f.done
	}
}

func (f *gzipFile) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: the gzip file can't be made again, only its text: %w", f.name, err)
}
