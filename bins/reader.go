package bins

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"orcomgo/bins/commit"
	"orcomgo/bins/crypt"
	"orcomgo/bins/parse"
	"orcomgo/bins/vfs"
)

// Reader reads an archive of stage 1. All its methods but Close, Remove and Spill are safe for
// concurrent use. Everything that they return has been compared with its checksum.
type Reader struct {
	dir, name  string
	data, meta inFile
	named      [2]*vfs.File // data and meta, if they have names
	unnamed    [2]*scratch  // data and meta, if they have none: see Writer.Finish
	made       commit.Made  // directories to be removed with unnamed bins
	files      []*vfs.File  // of unnamed bins, by input: those that Finish was given
	info       *Meta
	dirs       []atomic.Pointer[directory]
	chunks     chunkCache
	part       partSize
}

// inFile is one of the two files: a regular file, or a scratch.
type inFile interface {
	io.ReaderAt
	io.Closer
	Name() string
	Size() (int64, error)
}

// Envelope returns how the bins are encrypted; nil if they are not, or have no names.
func (r *Reader) Envelope() *crypt.Envelope {
	if r.named[0] == nil {
		return nil
	}
	return r.named[0].Envelope()
}

// Open opens the bins that path leads to, as commit.One finds them. The error wraps
// ErrNotArchive, ErrCorrupt or ErrVersion. Only the index is read, and nothing is written.
func Open(path string) (*Reader, error) {
	e, err := commit.One(path)
	if err != nil {
		return nil, err
	}
	return OpenEntry(e)
}

// OpenEntry opens the bins of an archive.
func OpenEntry(e commit.Entry) (*Reader, error) {
	if !e.Has[commit.Bins] {
		return nil, fmt.Errorf("%s: %w: it has no %s file", e.Path(), commit.ErrNotArchive, commit.BinsMetaExt)
	}
	for tries := 1; ; tries++ {
		r := &Reader{dir: e.Dir, name: e.Name, part: largeParts}
		err := r.open(e.Path())
		if err == nil {
			return r, nil
		}
		replaced := r.replaced()
		r.Close()
		if !replaced || tries == 3 {
			return nil, err
		}
	}
}

// replaced reports whether the meta file was replaced after it was opened. Then the data file
// may belong to the new one.
func (r *Reader) replaced() bool {
	if r.named[1] == nil {
		return false
	}
	was, err := r.named[1].Stat()
	if err != nil {
		return false
	}
	is, err := vfs.Stat(r.meta.Name())
	return err == nil && !os.SameFile(was, is)
}

// openUnnamed opens bins that have no name. They are closed with the reader, unless there is an error.
func openUnnamed(dir, name string, data, meta *scratch) (*Reader, error) {
	r := &Reader{dir: dir, name: name, data: data, meta: meta, unnamed: [2]*scratch{data, meta},
		part: largeParts}
	if err := r.readIndex(); err != nil {
		return nil, err
	}
	return r, r.checkData()
}

func (r *Reader) open(path string) (err error) {
	if err := r.openFile(1, path+commit.BinsMetaExt); err != nil {
		return err
	}
	r.meta = r.named[1]
	if err := r.readIndex(); err != nil {
		return err
	}
	if err := r.openFile(0, commit.BinsData(r.dir, r.name, r.info.ID)); err != nil {
		return err
	}
	r.data = r.named[0]
	return r.checkData()
}

// openFile sets named[i].
func (r *Reader) openFile(i int, path string) (err error) {
	r.named[i], err = vfs.OpenContent(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w: it is missing", path, parse.ErrCorrupt)
	}
	return err
}

// readIndex reads the index in the meta file.
func (r *Reader) readIndex() error {
	size, err := r.meta.Size()
	if err != nil {
		return err
	}
	metaSize := uint64(size)
	if metaSize < metaHeaderLen+footerLen {
		return fmt.Errorf("%s: %w: it is truncated", r.meta.Name(), parse.ErrCorrupt)
	}
	head := make([]byte, metaHeaderLen)
	foot := make([]byte, footerLen)
	if err := readAt(r.meta, head, 0); err != nil {
		return err
	}
	if err := checkHeader(r.meta.Name(), head, commit.BinsMetaMagic); err != nil {
		return err
	}
	if err := readAt(r.meta, foot, metaSize-footerLen); err != nil {
		return err
	}
	at, n, wantData := binary.LittleEndian.Uint64(foot), binary.LittleEndian.Uint64(foot[8:]), binary.LittleEndian.Uint64(foot[16:])
	if string(foot[footerLen-8:]) != commit.BinsMetaEnd || at < metaHeaderLen || at > metaSize-footerLen || n != metaSize-footerLen-at {
		return fmt.Errorf("%s: %w: it is truncated or longer than it should be", r.meta.Name(), parse.ErrCorrupt)
	}
	trailer := make([]byte, n)
	if err := readAt(r.meta, trailer, at); err != nil {
		return err
	}
	id := [16]byte(foot[footerLen-8-16:])
	if string(footer(trailer, id, at, wantData)) != string(foot) {
		return fmt.Errorf("%s: %w: the checksum of its index differs", r.meta.Name(), parse.ErrCorrupt)
	}
	if r.info, err = parseTrailer(trailer, wantData, at); err != nil {
		return fmt.Errorf("%s: %w", r.meta.Name(), err)
	}
	r.info.ID, r.info.dataLen = id, wantData
	r.dirs = make([]atomic.Pointer[directory], len(r.info.Blocks))
	return nil
}

// checkData checks that the data file is the one that the index belongs to.
func (r *Reader) checkData() error {
	size, err := r.data.Size()
	if err != nil {
		return err
	}
	if size < dataHeaderLen {
		return fmt.Errorf("%s: %w: it is truncated", r.data.Name(), parse.ErrCorrupt)
	}
	head := make([]byte, dataHeaderLen)
	if err := readAt(r.data, head, 0); err != nil {
		return err
	}
	if err := checkHeader(r.data.Name(), head, commit.BinsDataMagic); err != nil {
		return err
	}
	if string(head[dataHeaderLen-16:]) != string(r.info.ID[:]) {
		return fmt.Errorf("%s: %w: it belongs to another archive than %s", r.data.Name(), parse.ErrCorrupt, filepath.Base(r.meta.Name()))
	}
	want := r.info.dataLen
	if !r.Unnamed() {
		want += r.FileBytes()
	}
	if uint64(size) != want {
		return fmt.Errorf("%s: %w: it has %d bytes, %d are expected", r.data.Name(), parse.ErrCorrupt, size, want)
	}
	return nil
}

// Meta returns the index, which must not be changed.
func (r *Reader) Meta() *Meta { return r.info }

// Paths returns the names of the data file and the meta file.
func (r *Reader) Paths() []string { return []string{r.data.Name(), r.meta.Name()} }

// Close closes the files. Bins without a name are gone then, and so are directories that were made for them and are empty.
func (r *Reader) Close() error {
	var err error
	for _, f := range []inFile{r.data, r.meta} {
		if f != nil {
			if e := f.Close(); err == nil {
				err = e
			}
		}
	}
	for _, f := range r.files {
		if f != nil {
			f.Close()
		}
	}
	r.made.Undo()
	return err
}

// FileBytes returns how many bytes the files have that File returns.
func (r *Reader) FileBytes() (n uint64) {
	for i := range r.info.Inputs {
		if in := &r.info.Inputs[i]; keepsFile(in) {
			n += in.Source.Size
		}
	}
	return n
}

// File returns the file of an input, where Source.Gzip is set; nil for others. It is not compared with Source.Sums.
func (r *Reader) File(input int) *io.SectionReader {
	in := &r.info.Inputs[input]
	switch {
	case !keepsFile(in):
		return nil
	case r.Unnamed():
		return io.NewSectionReader(r.files[input], 0, int64(in.Source.Size))
	}
	at := r.info.dataLen
	for i := range input {
		if before := &r.info.Inputs[i]; keepsFile(before) {
			at += before.Source.Size
		}
	}
	return io.NewSectionReader(r.data, int64(at), int64(in.Source.Size))
}

// Unnamed reports whether the bins have no name: the reader is then the only one, and Lock and Remove do nothing.
func (r *Reader) Unnamed() bool { return r.unnamed[0] != nil }

// Held returns how many bytes of memory the bins take: 0 unless they have no name.
func (r *Reader) Held() uint64 {
	sum := uint64(0)
	for _, f := range r.unnamed {
		if f != nil {
			sum += f.held()
		}
	}
	return sum
}

// Spill moves bins that are in memory to temporary files.
func (r *Reader) Spill() error {
	r.chunks.Shrink(func(int, []byte) bool { return true }) // some of them lie there
	for _, f := range r.unnamed {
		if f != nil {
			if err := f.spill(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Forget gives back the room that names and qualities of a block take on the disk, if the bins have no name. Nobody may read them after
// that.
func (r *Reader) Forget(block int) {
	if d, _, err := r.directory(block); err == nil && r.Unnamed() {
		names, quals := &d.sections[secNames], &d.sections[secQuals]
		r.unnamed[0].forget(int64(names.at), int64(names.stored+quals.stored))
	}
}

// Name returns the archive's name, the NAME of NAME.bdna.
func (r *Reader) Name() string { return r.name }

// Dir returns the directory of the archive.
func (r *Reader) Dir() string { return r.dir }

// Lock locks the bins until the reader is closed; call it before Remove. The error is ErrBusy if
// another process has locked them. It does nothing where the file system has no locks.
func (r *Reader) Lock() error {
	if r.Unnamed() {
		return nil
	}
	locked, err := r.named[1].Lock()
	switch {
	case locked || errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s: %w", filepath.Join(r.dir, r.name), commit.ErrBusy)
}

// Remove removes both files, unless other files have their names by now. The reader can be
// used until Close.
func (r *Reader) Remove() error {
	if r.Unnamed() {
		return nil
	}
	return commit.RemoveBins(r.dir, r.name, r.named[0], r.named[1])
}
