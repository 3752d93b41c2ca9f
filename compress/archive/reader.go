package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/bins/vfs"

	"github.com/zeebo/xxh3"
)

// Reader reads the sections of a packed archive. Its methods are safe for concurrent use.
type Reader struct {
	f         *vfs.File
	entry     commit.Entry
	m         *Manifest
	metaThere bool
	problems  []error
	// bulkProblem is the last of the problems that are of the bulk file; nil if there is none.
	bulkProblem error
	writer      *Writer // of an archive that is being written; mostly nil
}

// Open opens the packed archive that path leads to, as commit.One finds it. The manifest is
// checked in full. It is taken from the end of the bulk file, or, if that is damaged, from
// the .cmeta file: either is enough, and Problems says what is wrong with the other. The error
// wraps ErrNotArchive, ErrCorrupt or ErrVersion, or comes from the file system. Nothing is
// written.
func Open(path string) (*Reader, error) {
	e, err := commit.One(path)
	if err != nil {
		return nil, err
	}
	return OpenEntry(e)
}

// OpenEntry is Open for an archive that was found.
func OpenEntry(e commit.Entry) (*Reader, error) {
	if !e.Has[commit.Packed] {
		return nil, fmt.Errorf("%s: %w: it has no %s file", e.Path(), commit.ErrNotArchive, MetaSuffix)
	}
	f, err := vfs.OpenRegular(e.Path() + BulkSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, corrupt(e.Path()+BulkSuffix, "the file is missing")
	}
	if errors.Is(err, vfs.ErrNotRegular) {
		return nil, corrupt(e.Path()+BulkSuffix, "it is not a regular file")
	}
	if err != nil {
		return nil, err
	}
	r := &Reader{f: f, entry: e}
	if err := r.open(); err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// open reads the manifest.
func (r *Reader) open() error {
	own, size, ownErr := readTail(r.f)
	if ownErr != nil && !damaged(ownErr) {
		return ownErr
	}
	data, metaErr := vfs.ReadFile(r.metaPath())
	r.metaThere = metaErr == nil
	var beside *Manifest
	switch {
	case metaErr == nil:
		beside, metaErr = parseManifest(r.metaPath(), data)
	case errors.Is(metaErr, fs.ErrNotExist):
		metaErr = corrupt(r.metaPath(), "the file is missing")
	case errors.Is(metaErr, vfs.ErrNotRegular):
		metaErr = corrupt(r.metaPath(), "it is not a regular file")
	}
	if metaErr != nil && !damaged(metaErr) {
		return metaErr
	}
	switch {
	case own != nil && beside != nil && own.ID != beside.ID:
		// There is no way to know which of the two is meant.
		return corrupt(r.metaPath(), "it belongs to another archive than %s (ID %x, that has %x)", filepath.Base(r.f.Name()), beside.ID, own.ID)
	case own != nil:
		r.m = own
	case beside != nil:
		r.m = beside
	case errors.Is(ownErr, parse.ErrVersion):
		return ownErr
	default:
		return metaErr
	}
	if metaErr != nil {
		r.problems = append(r.problems, metaErr)
	}
	if ownErr != nil {
		r.noteBulk(ownErr)
	}
	// If the bulk file is another archive's, no section will have the right checksum.
	if err := checkHeader(r.f, r.m); damaged(err) {
		r.noteBulk(err)
	} else if err != nil {
		return err
	}
	if size < r.m.BulkLen {
		r.noteBulk(corrupt(r.f.Name(), "%d bytes where the manifest says %d", size, r.m.BulkLen))
	}
	return nil
}

// noteBulk notes what is wrong with the bulk file.
func (r *Reader) noteBulk(err error) {
	r.problems = append(r.problems, err)
	r.bulkProblem = err
}

// damaged reports whether err says that a file is not as it was written, or newer than the
// program, as opposed to errors of the file system.
func damaged(err error) bool {
	return errors.Is(err, parse.ErrCorrupt) || errors.Is(err, parse.ErrVersion)
}

// readTail returns the manifest at the end of a bulk file, and the size of the file.
func readTail(f *vfs.File) (*Manifest, uint64, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, corrupt(f.Name(), "it is not a regular file")
	}
	size := uint64(info.Size())
	var foot [tailFooter]byte
	if size < bulkHeader+tailFooter {
		return nil, size, corrupt(f.Name(), "%d bytes are too few", size)
	}
	if err := readAt(f, foot[:], size-tailFooter); err != nil {
		return nil, size, err
	}
	n := binary.LittleEndian.Uint64(foot[:])
	if string(foot[8:]) != tailMagic || n > size-bulkHeader-tailFooter {
		return nil, size, corrupt(f.Name(), "the copy of the manifest at its end is damaged or missing")
	}
	data := make([]byte, n)
	if err := readAt(f, data, size-tailFooter-n); err != nil {
		return nil, size, err
	}
	m, err := parseManifest(f.Name(), data)
	if err != nil {
		return nil, size, err
	}
	if m.FileLen() != size {
		return nil, size, corrupt(f.Name(), "%d bytes where the manifest says %d", size, m.FileLen())
	}
	return m, size, nil
}

func readAt(f *vfs.File, p []byte, at uint64) error {
	n, err := f.ReadAt(p, int64(at))
	switch {
	case n == len(p):
		return nil
	case err == io.EOF:
		return corrupt(f.Name(), "the file ends early")
	}
	return err
}

// checkHeader compares the first bytes of the bulk file with the manifest.
func checkHeader(f *vfs.File, m *Manifest) error {
	var h [bulkHeader]byte
	if err := readAt(f, h[:], 0); err != nil {
		return err
	}
	switch {
	case string(h[:8]) != bulkMagic:
		return corrupt(f.Name(), "the first bytes are not those of a %s file", BulkSuffix)
	case h[8] != Version:
		return corrupt(f.Name(), "format version %d beside a manifest of version %d", h[8], Version)
	case [16]byte(h[9:]) != m.ID:
		return corrupt(f.Name(), "it belongs to another archive (ID %x, the manifest says %x)", h[9:], m.ID)
	}
	return nil
}

// Manifest returns what the archive says of itself; it must not be changed.
func (r *Reader) Manifest() *Manifest { return r.m }

// Problems returns what is wrong with the archive though it can be read: a copy of the
// manifest that is damaged or missing, a damaged header, a file that is too short. Each
// wraps ErrCorrupt.
func (r *Reader) Problems() []error { return r.problems }

// BulkProblem returns what is wrong with the bulk file, as far as it is known without reading its sections, such as its length; nil for
// nothing.
func (r *Reader) BulkProblem() error { return r.bulkProblem }

// MetaMissing reports whether there is no .cmeta file.
func (r *Reader) MetaMissing() bool { return !r.metaThere }

// RestoreMeta writes the .cmeta file again, which must be missing.
func (r *Reader) RestoreMeta() error {
	t, err := writeTemp(r.metaPath(), r.m.marshal())
	if err != nil {
		return err
	}
	defer t.Discard()
	if err := commit.InstallMeta(r.entry.Dir, r.entry.Name, t); err != nil {
		return err
	}
	r.metaThere = true
	return nil
}

func (r *Reader) metaPath() string { return r.entry.Path() + MetaSuffix }

// Paths returns the names of the files that are there.
func (r *Reader) Paths() []string {
	paths := []string{r.f.Name()}
	if r.metaThere {
		paths = append(paths, r.metaPath())
	}
	return paths
}

// Name returns the archive's name, the NAME of NAME.cdna.
func (r *Reader) Name() string { return r.entry.Name }

// Dir returns the directory of the archive.
func (r *Reader) Dir() string { return r.entry.Dir }

// Read returns the bytes of s, in dst if they fit. what says for errors which section of
// what it is. A checksum that does not match is ErrCorrupt.
func (r *Reader) Read(s Section, dst []byte, what string) ([]byte, error) {
	if s.Len == 0 {
		return dst[:0], nil
	}
	if err := r.inside(s, what); err != nil {
		return nil, err
	}
	n := int(s.Len)
	if cap(dst) < n {
		dst = make([]byte, n)
	}
	dst = dst[:n]
	switch k, err := r.f.ReadAt(dst, int64(s.Off)); {
	case k == n:
	case err == io.EOF:
		return nil, corrupt(r.f.Name(), "%s: the file ends inside it", what)
	default:
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if Hash64(dst) != s.Hash {
		return nil, r.differs(what)
	}
	return dst, nil
}

// inside returns an error if s is not within the file.
func (r *Reader) inside(s Section, what string) error {
	var end uint64
	if r.writer != nil {
		end = r.writer.written.Load() // Writer.End may be setting BulkLen
	} else {
		end = r.m.BulkLen
	}
	if s.Off > end || s.Len > end-s.Off || s.Len > math.MaxInt {
		return corrupt(r.f.Name(), "%s lies outside the file", what)
	}
	return nil
}

// differs returns the error about a wrong checksum.
func (r *Reader) differs(what string) error {
	return corrupt(r.f.Name(), "%s: its checksum does not match", what)
}

// checkPiece is how many bytes Check reads at a time.
const checkPiece = 1 << 20

// Check is Read without keeping the bytes: it compares s with its checksum in little memory. It calls count with the number of bytes
// of each piece that it reads.
func (r *Reader) Check(s Section, what string, count func(bytes uint64)) error {
	if s.Len == 0 {
		return nil
	}
	if err := r.inside(s, what); err != nil {
		return err
	}
	h, buf := xxh3.New(), make([]byte, min(s.Len, checkPiece))
	for done := uint64(0); done < s.Len; {
		p := buf[:min(s.Len-done, uint64(len(buf)))]
		switch k, err := r.f.ReadAt(p, int64(s.Off+done)); {
		case k == len(p):
		case err == io.EOF:
			return corrupt(r.f.Name(), "%s: the file ends inside it", what)
		default:
			return fmt.Errorf("%s: %w", what, err)
		}
		h.Write(p) // a Hasher does not fail
		done += uint64(len(p))
		count(uint64(len(p)))
	}
	if h.Sum64() != s.Hash {
		return r.differs(what)
	}
	return nil
}

// Corrupt returns an ErrCorrupt about a section that passed its checksum and still does
// not decode.
func (r *Reader) Corrupt(what string, err error) error {
	return fmt.Errorf("%s: %s: %w: %w", r.f.Name(), what, err, parse.ErrCorrupt)
}

// Close closes the bulk file.
func (r *Reader) Close() error { return r.f.Close() }
