package compress

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"orcomgo/bins"
	"orcomgo/compress/archive"
)

// outputNames returns the file name under which each input is restored. A name that could
// lead out of a directory is an error: archives come from anywhere.
func outputNames(man *archive.Manifest, o *UnpackOptions) ([]string, error) {
	names := make([]string, len(man.Inputs))
	fill := func(strip bool) bool {
		seen := make(map[string]bool)
		for i := range man.Inputs {
			names[i] = outputName(man, i, o, strip)
			if seen[names[i]] {
				return false
			}
			seen[names[i]] = true
		}
		return true
	}
	// a.fastq and a.fq may both become a.fasta; then their full names are kept.
	if !fill(true) && !fill(false) {
		return nil, fmt.Errorf("two inputs of the archive have the same name")
	}
	for i := range man.Inputs {
		if err := checkName(man.Inputs[i].Name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func outputName(man *archive.Manifest, i int, o *UnpackOptions, strip bool) string {
	in := &man.Inputs[i]
	name := in.Name
	stem, ext := name, ""
	for _, e := range []string{".fastq", ".fq", ".fasta", ".fa", ".fna"} {
		if s, ok := strings.CutSuffix(name, e); ok && s != "" {
			stem, ext = s, e
			break
		}
	}
	if o.Records != nil {
		stem += fmt.Sprintf(".%d-%d", o.Records.From+1, min(o.Records.To, in.Records))
		name = stem + ext
	}
	if !strip {
		stem = name
	}
	switch formOf(man.Options, in.Kind) {
	case asLines:
		name = stem + ".reads"
	case asFASTA:
		name = stem + ".fasta"
	}
	if o.Gzip {
		name += ".gz"
	}
	return name
}

// checkName accepts the name of a file, and nothing that is a path.
func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("an input of the archive has no name: %w", ErrCorrupt)
	case name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") || len(name) > 255:
		return fmt.Errorf("an input of the archive is called %q, which is not a file name: %w", name, ErrCorrupt)
	}
	return nil
}

// outFile is a file on its way: written beside its final name, and there only once whole.
// A nil one is for an input that is not restored.
type outFile struct {
	path, temp string
	f          *os.File
	done       bool // closed and durable under temp
}

func newOutFile(dir, name string) *outFile {
	// A long name leaves no room for a suffix.
	short := name
	if len(short) > 200 {
		short = short[:200]
	}
	return &outFile{path: filepath.Join(dir, name), temp: filepath.Join(dir, "."+short+".unpacking")}
}

// free returns an error if a file is in the way.
func (o *outFile) free(force bool) error {
	if o == nil {
		return nil
	}
	st, err := os.Lstat(o.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case st.IsDir():
		return fmt.Errorf("%s is a directory", o.path)
	case !force:
		return fmt.Errorf("%s: %w", o.path, ErrFileExists)
	}
	return nil
}

// spare returns an error if the file would replace one of the archive that it comes from.
func (o *outFile) spare(archive []string) error {
	if o == nil {
		return nil
	}
	there, err := os.Stat(o.path)
	if err != nil {
		return nil // nothing to replace
	}
	for _, p := range archive {
		if st, err := os.Stat(p); err == nil && os.SameFile(st, there) {
			return fmt.Errorf("%s is a file of the archive itself", o.path)
		}
	}
	return nil
}

func (o *outFile) Write(b []byte) (int, error) {
	if o.f == nil {
		f, err := os.OpenFile(o.temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
		if err != nil {
			return 0, err
		}
		o.f = f
	}
	return o.f.Write(b)
}

// finish makes the content durable under the temporary name.
func (o *outFile) finish() error {
	if o == nil || o.done {
		return nil
	}
	if _, err := o.Write(nil); err != nil { // an empty file is a file
		return err
	}
	o.done = true
	f := o.f
	o.f = nil
	return bins.SyncFile(f)
}

// commit gives the file its name.
func (o *outFile) commit(force bool) error {
	if o == nil {
		return nil
	}
	if err := o.free(force); err != nil {
		return err
	}
	if err := os.Rename(o.temp, o.path); err != nil {
		return err
	}
	o.temp = ""
	return nil
}

// abort removes what was written, if it has not got its name yet.
func (o *outFile) abort() {
	if o == nil {
		return
	}
	if o.f != nil {
		o.f.Close()
	} else if !o.done {
		return // nothing was written
	}
	if o.temp != "" {
		os.Remove(o.temp)
	}
	o.f, o.done = nil, false
}

// ErrFileExists is wrapped by the error for a file that Unpack would have to overwrite.
var ErrFileExists = errors.New("the file exists already")

// files is where text goes, by input: files in a directory, or one stream.
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
