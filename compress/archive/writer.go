package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"orcomgo/bins"
)

// Writer writes a packed archive: sections first, then the manifest that makes them an
// archive. Until Commit, all it has made are files named *.tmp.
type Writer struct {
	dir, name string
	f         *os.File
	off       uint64
	hash      *xxh3.Hasher
	id        [16]byte
	synced    bool
	err       error // the first error; everything after fails with it
}

// Create starts an archive NAME in dir. The caller holds bins.Lock of dir until Commit or
// Abort has returned, and has removed what killed runs left (bins.RemoveStale).
func Create(dir, name string) (*Writer, error) {
	w := &Writer{dir: dir, name: name, off: bulkHeader, hash: xxh3.New()}
	f, err := os.OpenFile(w.tempBulk(), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	w.f = f
	// The ID is that of the content, so it goes in last; room is made for it here.
	if _, err := f.Write(w.header()); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

func (w *Writer) tempBulk() string { return filepath.Join(w.dir, w.name+BulkSuffix+tempSuffix) }
func (w *Writer) tempMeta() string { return filepath.Join(w.dir, w.name+MetaSuffix+tempSuffix) }

func (w *Writer) header() []byte {
	return append(append([]byte(bulkMagic), Version), w.id[:]...)
}

// Add appends a section. Sections must come in the manifest's order: slice by slice, for
// each mate lengths, layout, names, qualities, and then the sequences; last the shared ones.
// An empty one takes no room.
func (w *Writer) Add(b []byte) (Section, error) {
	if w.err != nil {
		return Section{}, w.err
	}
	if w.synced {
		return Section{}, errors.New("archive: Add after Sync")
	}
	s := Section{Off: w.off, Len: uint64(len(b)), Hash: Hash64(b)}
	if len(b) > 0 {
		if _, err := w.f.Write(b); err != nil {
			w.err = err
			return Section{}, err
		}
		w.hash.Write(b) // a Hasher does not fail
		w.off += uint64(len(b))
	}
	return s, nil
}

// Sync ends the bulk file and makes it durable. m's ID and BulkLen are set.
func (w *Writer) Sync(m *Manifest) error {
	if w.err == nil && !w.synced {
		w.id = w.hash.Sum128().Bytes()
		if _, err := w.f.WriteAt(w.header(), 0); err != nil {
			w.err = err
		} else if err := w.f.Sync(); err != nil {
			w.err = err
		}
		w.synced = true
	}
	m.ID, m.BulkLen = w.id, w.off
	return w.err
}

// Reopen returns a Reader of what was written, before it is an archive; m must describe
// it. Sync must have been called.
func (w *Writer) Reopen(m *Manifest) (*Reader, error) {
	if w.err != nil {
		return nil, w.err
	}
	if !w.synced {
		return nil, errors.New("archive: Reopen before Sync")
	}
	return openBulk(w.tempBulk(), m)
}

// Commit writes the manifest and makes both files the archive of the directory, in place of
// an earlier one, as bins.Install does.
func (w *Writer) Commit(m *Manifest) error {
	if err := w.Sync(m); err != nil {
		return err
	}
	data := m.marshal()
	if _, err := parse(w.tempMeta(), data); err != nil {
		return fmt.Errorf("the manifest does not read back: %w", err)
	}
	if err := writeSynced(w.tempMeta(), data); err != nil {
		return err
	}
	err := w.f.Close()
	w.f = nil
	if err != nil {
		return err
	}
	return bins.Install(w.dir, w.name, BulkSuffix, MetaSuffix)
}

// Abort closes and deletes what was written. After Commit has succeeded it does nothing.
func (w *Writer) Abort() {
	if w.f != nil {
		w.f.Close()
		w.f = nil
	}
	os.Remove(w.tempBulk())
	os.Remove(w.tempMeta())
	if w.err == nil {
		w.err = errors.New("archive: the writer was closed")
	}
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	return bins.SyncFile(f)
}
