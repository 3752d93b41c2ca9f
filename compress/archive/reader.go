package archive

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// Reader reads the sections of a packed archive. Its methods are safe for concurrent use.
type Reader struct {
	f    *os.File
	name string // archive name; "" for one that is not committed
	dir  string
	m    *Manifest
}

// ErrSeveral is the ErrNotArchive of a directory that holds more than one packed archive.
var ErrSeveral = fmt.Errorf("%w: it holds several", ErrNotArchive)

// Find returns the name of the packed archive in dir. The error is ErrNotArchive when
// there is none, or ErrSeveral when the choice is not ours.
func Find(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var found []string
	for _, e := range entries {
		if n, ok := strings.CutSuffix(e.Name(), MetaSuffix); ok && !e.IsDir() {
			found = append(found, n)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%s: %w: it holds no %s file", dir, ErrNotArchive, MetaSuffix)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s: %w: %s", dir, ErrSeveral, strings.Join(found, ", "))
}

// ReadManifest reads and checks the manifest of archive NAME in dir, without a look at the
// bulk file.
func ReadManifest(dir, name string) (*Manifest, error) {
	path := filepath.Join(dir, name+MetaSuffix)
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrNotArchive)
	}
	if err != nil {
		return nil, err
	}
	return parse(path, data)
}

// Open opens the packed archive in dir: the manifest is checked in full, of the bulk file
// the header and the length. Errors wrap ErrNotArchive, ErrCorrupt or ErrVersion, or come
// from the file system.
func Open(dir string) (*Reader, error) {
	name, err := Find(dir)
	if err != nil {
		return nil, err
	}
	m, err := ReadManifest(dir, name)
	if err != nil {
		return nil, err
	}
	r, err := openBulk(filepath.Join(dir, name+BulkSuffix), m)
	if err != nil {
		return nil, err
	}
	r.dir, r.name = dir, name
	return r, nil
}

func openBulk(path string, m *Manifest) (*Reader, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, corrupt(path, "the file is missing")
	}
	if err != nil {
		return nil, err
	}
	if err := checkBulk(f, path, m); err != nil {
		f.Close()
		return nil, err
	}
	return &Reader{f: f, m: m}, nil
}

func checkBulk(f *os.File, path string, m *Manifest) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	var h [bulkHeader]byte
	switch _, err := f.ReadAt(h[:], 0); {
	case err == io.EOF:
		return corrupt(path, "%d bytes where the manifest says %d", st.Size(), m.BulkLen)
	case err != nil:
		return err
	}
	switch {
	case string(h[:8]) != bulkMagic:
		return corrupt(path, "the first bytes are not those of a %s file", BulkSuffix)
	case h[8] != Version:
		return corrupt(path, "format version %d beside a manifest of version %d", h[8], Version)
	case [16]byte(h[9:]) != m.ID:
		return corrupt(path, "it belongs to another archive (ID %x, the manifest says %x)", h[9:], m.ID)
	case uint64(st.Size()) != m.BulkLen:
		return corrupt(path, "%d bytes where the manifest says %d", st.Size(), m.BulkLen)
	}
	return nil
}

// Manifest returns what the archive says of itself; it must not be changed.
func (r *Reader) Manifest() *Manifest { return r.m }

// Paths returns the names of the two files.
func (r *Reader) Paths() []string {
	return []string{r.f.Name(), filepath.Join(r.dir, r.name+MetaSuffix)}
}

// Name returns the archive's name, the NAME of NAME.cdna.
func (r *Reader) Name() string { return r.name }

// Read returns the bytes of s, in dst if they fit. what says for errors which section of
// what it is. A checksum that does not match is ErrCorrupt.
func (r *Reader) Read(s Section, dst []byte, what string) ([]byte, error) {
	if s.Len == 0 {
		return dst[:0], nil
	}
	if s.Off > r.m.BulkLen || s.Len > r.m.BulkLen-s.Off || s.Len > math.MaxInt {
		return nil, corrupt(r.f.Name(), "%s lies outside the file", what)
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
		return nil, corrupt(r.f.Name(), "%s: its checksum does not match", what)
	}
	return dst, nil
}

// Corrupt returns an ErrCorrupt about a section that passed its checksum and still does
// not decode.
func (r *Reader) Corrupt(what string, err error) error {
	return corrupt(r.f.Name(), "%s: %v", what, err)
}

// Close closes the bulk file.
func (r *Reader) Close() error { return r.f.Close() }
