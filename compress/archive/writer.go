package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
)

// Writer writes a packed archive: sections first, then the manifest that makes them an
// archive. Until Commit, the files have no names or random ones.
type Writer struct {
	dir, name string
	replace   commit.MayReplace
	alone     bool // no bins of that name may be there after Commit
	f         *commit.Temp
	off       uint64
	hash      *xxh3.Hasher
	id        [16]byte
	written   atomic.Uint64 // off, for Readers
	ended     bool          // no section may follow
	err       error         // the first error; everything after fails with it
}

// Create starts a packed archive NAME in dir. If there is one already, it is replaced at
// Commit, as replace allows; without it the error is commit.ErrExists.
func Create(dir, name string, replace commit.MayReplace) (*Writer, error) {
	if err := commit.Begin(dir, name, commit.Packed, replace); err != nil {
		return nil, err
	}
	return create(dir, name, replace, false)
}

// CreateAlone is Create for reads whose bins have no name: bins of that name belong to another archive. Whether they and a packed archive
// may be replaced was looked at when these bins were begun, and is again at Commit, where they are removed.
func CreateAlone(dir, name string, replace commit.MayReplace) (*Writer, error) {
	return create(dir, name, replace, true)
}

func create(dir, name string, replace commit.MayReplace, alone bool) (*Writer, error) {
	f, err := commit.NewTemp(filepath.Join(dir, name+BulkSuffix))
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, name: name, replace: replace, alone: alone, off: bulkHeader, hash: xxh3.New(), f: f}
	// The ID is that of the content, so it is written last, in the place left for it here.
	if _, err := f.WriteAt(w.header(), 0); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// Restrict has the files open to no more than a allows.
func (w *Writer) Restrict(a commit.Access) { w.f.Restrict(a) }

func (w *Writer) header() []byte {
	return append(append([]byte(bulkMagic), Version), w.id[:]...)
}

// Paths returns the names of the two files, which they have after Commit.
func (w *Writer) Paths() []string {
	path := filepath.Join(w.dir, w.name)
	return []string{path + BulkSuffix, path + MetaSuffix}
}

// Add appends a section. Sections must come in the manifest's order: slice by slice, for
// each mate lengths, forms, names, qualities, and then the sequences; last the shared ones.
// An empty one takes no room.
func (w *Writer) Add(b []byte) (Section, error) {
	if w.err != nil {
		return Section{}, w.err
	}
	if w.ended {
		return Section{}, errors.New("archive: Add after End")
	}
	s := Section{Off: w.off, Len: uint64(len(b)), Hash: Hash64(b)}
	if len(b) > 0 {
		if _, err := w.f.WriteAt(b, int64(w.off)); err != nil {
			w.err = err
			return Section{}, err
		}
		w.hash.Write(b) // a Hasher does not fail
		w.off += uint64(len(b))
		w.written.Store(w.off)
	}
	return s, nil
}

// End says that no section follows. m's ID and BulkLen are set. What was written is handed
// to the disk.
func (w *Writer) End(m *Manifest) error {
	if w.err == nil && !w.ended {
		w.id = w.hash.Sum128().Bytes()
		if _, err := w.f.WriteAt(w.header(), 0); err != nil {
			w.err = err
		} else if err := w.f.Sync(); err != nil {
			w.err = err
		}
		w.ended = true
	}
	m.ID, m.BulkLen = w.id, w.off
	return w.err
}

// Reopen returns a Reader of what was written, before it is an archive; m must describe
// it. End must have been called. The reader must not be closed: it reads the writer's file.
func (w *Writer) Reopen(m *Manifest) (*Reader, error) {
	if w.err != nil {
		return nil, w.err
	}
	if !w.ended {
		return nil, errors.New("archive: Reopen before End")
	}
	if err := checkHeader(w.f.File, m); err != nil {
		return nil, err
	}
	return &Reader{f: w.f.File, entry: commit.Entry{Dir: w.dir, Name: w.name}, m: m}, nil
}

// Reader returns a Reader of the sections that were added so far, and will be; m will describe them. It may be used while others are
// added, and must not be closed: it reads the writer's file.
func (w *Writer) Reader(m *Manifest) *Reader {
	return &Reader{f: w.f.File, entry: commit.Entry{Dir: w.dir, Name: w.name}, m: m, writer: w}
}

// Commit writes the manifest, twice, and makes both files the packed archive NAME. The
// error is as that of commit.InstallPacked, or commit.InstallAlone.
func (w *Writer) Commit(m *Manifest) error {
	if err := w.End(m); err != nil {
		return err
	}
	data := m.marshal()
	m.size = uint64(len(data))
	path := filepath.Join(w.dir, w.name+MetaSuffix)
	if _, err := parseManifest(path, data); err != nil {
		return fmt.Errorf("the manifest does not read back: %w", err)
	}
	if _, err := w.f.WriteAt(appendTail(nil, data), int64(w.off)); err != nil {
		return err
	}
	if err := w.f.Sync(); err != nil {
		return err
	}
	meta, err := writeTemp(path, data)
	if err != nil {
		return err
	}
	defer meta.Discard()
	if w.alone {
		return commit.InstallAlone(w.dir, w.name, w.id, w.f, meta, w.replace, w.olderIsWhole())
	}
	return commit.InstallPacked(w.dir, w.name, w.id, w.f, meta, w.replace)
}

// olderIsWhole reports whether there is a packed archive of the name whose bulk file is enough to read it.
func (w *Writer) olderIsWhole() bool {
	f, err := vfs.OpenRegular(filepath.Join(w.dir, w.name) + BulkSuffix)
	if err != nil {
		return false
	}
	defer f.Close()
	m, _, err := readTail(f)
	return err == nil && checkHeader(f, m) == nil
}

// appendTail appends what follows the sections: the manifest and a footer to find it by.
func appendTail(b, manifest []byte) []byte {
	b = append(b, manifest...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(manifest)))
	return append(b, tailMagic...)
}

// Abort closes the file, and removes it unless Commit has succeeded.
func (w *Writer) Abort() {
	if w.f != nil {
		w.f.Discard()
		w.f = nil
	}
	if w.err == nil {
		w.err = errors.New("archive: the writer was closed")
	}
}

// writeTemp writes a file that will be called path and makes its content durable.
func writeTemp(path string, data []byte) (*commit.Temp, error) {
	t, err := commit.NewTemp(path)
	if err != nil {
		return nil, err
	}
	if _, err = t.Write(data); err == nil {
		err = t.Sync()
	}
	if err != nil {
		t.Discard()
		return nil, err
	}
	return t, nil
}
