package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"orcomgo/bins/commit"
	"orcomgo/bins/crypt"
	"orcomgo/bins/parse"
	"orcomgo/bins/vfs"
	"orcomgo/compress/parity"

	"github.com/zeebo/xxh3"
)

// Reader reads the sections of a packed archive. Its methods are safe for concurrent use.
type Reader struct {
	f           *vfs.File
	entry       commit.Entry
	m           *Manifest
	metaThere   bool
	metaProblem error   // what is wrong with the .cmeta file; nil if nothing is
	bulkProblem error   // the last problem of the bulk file that was seen when it was opened; nil if there is none
	writer      *Writer // of an archive that is being written; mostly nil

	mending sync.Mutex             // held while damage is looked for
	tried   bool                   // damage was looked for
	mended  atomic.Pointer[mended] // nil: nothing is
	found   map[Section]uint64     // where sections begin that were found at another place; nil: not looked for
	moved   sync.Once              // a problem says that sections are not where they were
	// problems are those of the bulk file, parityProblem is that of the parity beside it.
	problems      []error
	parityProblem error
	labels        sync.Map      // hashes of the headers of sections of a remote file that were read, by where these begin
	copies        []parity.Copy // other copies of the bulk file
}

// OpenEntry opens a packed archive that was found. The manifest is
// checked in full. It is taken from the end of the bulk file, or, if that is damaged, from
// the .cmeta file: either is enough, and Problems says what is wrong with the other. The error
// wraps ErrNotArchive, ErrCorrupt or ErrVersion, or comes from the file system. Nothing is
// written.
func OpenEntry(e commit.Entry) (*Reader, error) { return openEntry(e, nil) }

// Sides returns Manifest.Sides of a packed archive. The bulk file is opened only where the .cmeta file is missing or damaged, or remote:
// then what is fetched for it is kept for the next that opens it.
func Sides(e commit.Entry) ([]string, error) {
	path := e.Path() + MetaSuffix
	if !vfs.IsRemote(path) {
		if data, err := vfs.ReadFile(path); err == nil {
			if m, err := parseManifest(path, data); err == nil {
				return m.Sides, nil
			}
		}
	}
	r, err := OpenEntry(e)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.m.Sides, nil
}

// openEntry is OpenEntry with other copies of the bulk file, of which sectors are taken that are damaged.
func openEntry(e commit.Entry, copies []parity.Copy) (*Reader, error) {
	if !e.Has[commit.Packed] {
		return nil, fmt.Errorf("%s: %w: it has no %s file", e.Path(), commit.ErrNotArchive, MetaSuffix)
	}
	f, err := vfs.OpenContent(e.Path() + BulkSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, corrupt(e.Path()+BulkSuffix, "the file is missing")
	}
	if errors.Is(err, vfs.ErrNotRegular) {
		return nil, corrupt(e.Path()+BulkSuffix, "it is not a regular file")
	}
	if err != nil {
		return nil, err
	}
	r := &Reader{f: f, entry: e, copies: copies}
	b, err := fileBulk(f)
	if err == nil {
		err = r.open(b)
	}
	// Damage of the manifests, of the header, and of the length may be mended before sections are read.
	opened := len(r.problems)
	if (damaged(err) || r.bulkProblem != nil) && r.mend() {
		r.problems, r.bulkProblem = r.problems[opened:], nil
		m := r.mended.Load()
		err = r.open(bulk{m, f.Name(), uint64(m.Size())})
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// bulk is a bulk file, or what it was before it was damaged.
type bulk struct {
	io.ReaderAt
	name string
	size uint64
}

// fileBulk returns a file as it is.
func fileBulk(f *vfs.File) (bulk, error) {
	size, err := f.Size()
	return bulk{f, f.Name(), uint64(size)}, err
}

// open reads the manifest.
func (r *Reader) open(b bulk) error {
	own, ownErr := readTail(b)
	if ownErr != nil && !damaged(ownErr) {
		return ownErr
	}
	if own != nil && r.f.IsRemote() { // that the copy is equal would cost a request
		r.m, r.metaThere = own, isFile(r.metaPath())
		return r.checkBulk(b)
	}
	data, metaErr := vfs.ReadFile(r.metaPath())
	r.metaThere = metaErr == nil
	var beside *Manifest
	switch {
	case metaErr == nil:
		beside, metaErr = parseManifest(r.metaPath(), data)
	case errors.Is(metaErr, fs.ErrNotExist) && own != nil && own.OneFile:
		metaErr = nil
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
	r.metaProblem = metaErr
	if ownErr != nil {
		r.noteBulk(ownErr)
	}
	return r.checkBulk(b)
}

// checkBulk compares the bulk file with the manifest.
func (r *Reader) checkBulk(b bulk) error {
	// If the bulk file is another archive's, no section will have the right checksum.
	if err := checkHeader(b, r.m); damaged(err) {
		r.noteBulk(err)
	} else if err != nil {
		return err
	}
	if b.size < r.m.BulkLen {
		r.noteBulk(corrupt(r.f.Name(), "%d bytes where the manifest says %d", b.size, r.m.BulkLen))
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

// readTail returns the manifest at the end of a bulk file.
func readTail(b bulk) (*Manifest, error) {
	var foot [tailFooter]byte
	if b.size < bulkHeader+tailFooter {
		return nil, corrupt(b.name, "%d bytes are too few", b.size)
	}
	if err := b.read(foot[:], b.size-tailFooter); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(foot[:])
	if string(foot[8:]) != tailMagic || n > b.size-bulkHeader-tailFooter {
		return nil, corrupt(b.name, "the copy of the manifest at its end is damaged or missing")
	}
	data := make([]byte, n)
	if err := b.read(data, b.size-tailFooter-n); err != nil {
		return nil, err
	}
	m, err := parseManifest(b.name, data)
	if err != nil {
		return nil, err
	}
	if m.FileLen() != b.size {
		return nil, corrupt(b.name, "%d bytes where the manifest says %d", b.size, m.FileLen())
	}
	return m, nil
}

// read reads all of p.
func (b *bulk) read(p []byte, at uint64) error {
	err := parse.ReadAt(b, p, int64(at))
	if err == io.ErrUnexpectedEOF {
		return corrupt(b.name, "the file ends early")
	}
	return err
}

// checkHeader compares the first bytes of the bulk file with the manifest.
func checkHeader(b bulk, m *Manifest) error {
	var h [bulkHeader]byte
	if err := b.read(h[:], 0); err != nil {
		return err
	}
	switch {
	case string(h[:8]) != bulkMagic:
		return corrupt(b.name, "the first bytes are not those of a %s file", BulkSuffix)
	case h[8] != Version:
		return corrupt(b.name, "format version %d beside a manifest of version %d", h[8], Version)
	case [16]byte(h[9:]) != m.ID:
		return corrupt(b.name, "it belongs to another archive (ID %x, the manifest says %x)", h[9:], m.ID)
	}
	return nil
}

// Manifest returns what the archive says of itself; it must not be changed.
func (r *Reader) Manifest() *Manifest { return r.m }

// Problems returns what is wrong with the archive though it can be read: a copy of the
// manifest that is damaged or missing, a damaged header, a file that is too short, and damage that was mended when sections were read.
// Each wraps ErrCorrupt.
func (r *Reader) Problems() []error {
	r.mending.Lock()
	defer r.mending.Unlock()
	all := slices.Concat([]error{r.metaProblem}, r.problems, []error{r.parityProblem})
	return slices.DeleteFunc(all, func(err error) bool { return err == nil })
}

// BulkProblem returns what is wrong with the bulk file, as far as it is known without reading its sections, such as its length; nil for
// nothing.
func (r *Reader) BulkProblem() error { return r.bulkProblem }

// MetaMissing reports whether there is no .cmeta file where there should be one.
func (r *Reader) MetaMissing() bool { return !r.metaThere && !r.m.OneFile }

// RestoreMeta writes the .cmeta file again, which must be missing.
func (r *Reader) RestoreMeta() error {
	t, err := writeTemp(r.metaPath(), r.Envelope(), r.m.marshal())
	if err != nil {
		return err
	}
	defer t.Discard()
	if err := commit.InstallMeta(r.entry.Dir, r.entry.Name, t); err != nil {
		return err
	}
	r.metaThere, r.metaProblem = true, nil
	return nil
}

// RestoreParity writes NAME.cpar if it is missing.
func (r *Reader) RestoreParity(o parity.Options) error {
	if isFile(parity.Path(r.f.Name())) {
		return nil
	}
	o.ID = r.m.ID
	return parity.Protect(r.f.Name(), o)
}

func (r *Reader) metaPath() string { return r.entry.Path() + MetaSuffix }

// Paths returns the names of the files that are there.
func (r *Reader) Paths() []string {
	paths := []string{r.f.Name()}
	if r.metaThere {
		paths = append(paths, r.metaPath())
	}
	if path := parity.Path(r.f.Name()); r.writer == nil && isFile(path) {
		paths = append(paths, path)
	}
	return paths
}

// Envelope returns how the archive is encrypted; nil if it is not.
func (r *Reader) Envelope() *crypt.Envelope { return r.f.Envelope() }

// Name returns the archive's name, the NAME of NAME.cdna.
func (r *Reader) Name() string { return r.entry.Name }

// Dir returns the directory of the archive.
func (r *Reader) Dir() string { return r.entry.Dir }

// Read returns the bytes of s, in what memory returns for so many bytes if it is not nil. what says for errors which section of
// what it is. A checksum that does not match is ErrCorrupt, unless the parity can mend that.
func (r *Reader) Read(s Section, memory func(n int) []byte, what string) ([]byte, error) {
	if s.Len == 0 {
		return nil, nil
	}
	if err := r.inside(s, what); err != nil {
		return nil, err
	}
	if err := r.there(s, what); err != nil {
		return nil, err
	}
	if memory == nil {
		memory = func(n int) []byte { return make([]byte, n) }
	}
	dst := memory(int(s.Len))[:s.Len]
	return dst, r.check(s, dst, what, nil)
}

// IsRemote reports whether the bulk file is one that the system does not have.
func (r *Reader) IsRemote() bool { return r.f.IsRemote() }

// Fetch has the sections in the bytes from..to-1 of a remote bulk file fetched, and their headers, for those who read them soon. Errors
// are told when they are read.
func (r *Reader) Fetch(from, to uint64) { r.f.Fetch(int64(from-labelLen), int64(to-from+labelLen)) }

// there returns an error if the file does not have as many bytes as s, for which there would be no memory.
func (r *Reader) there(s Section, what string) error {
	if r.writer == nil && r.mended.Load() == nil {
		if b, err := fileBulk(r.f); err != nil {
			return err
		} else if s.Len > b.size && !r.mend() {
			return corrupt(r.f.Name(), "%s: the file ends inside it", what)
		}
	}
	return nil
}

// mendingRead calls read with the bulk file, with what is mended of it, and with the file so that section s is where its header was found,
// until what it reads of the section or its header is not damaged.
func (r *Reader) mendingRead(s Section, read func(f io.ReaderAt) error) error {
	m := r.mended.Load()
	err := error(parse.ErrCorrupt)
	if m != nil {
		err = read(m)
	}
	if damaged(err) { // a sector that is lost may have bytes of another section as well
		err = read(r.f)
	}
	if damaged(err) && m == nil && r.mend() {
		err = read(r.mended.Load())
	}
	if damaged(err) && r.writer == nil {
		if at, ok := r.whereFound(s); ok && read(movedReader{r.f, int64(at - s.Off)}) == nil {
			r.moved.Do(func() {
				r.mending.Lock()
				defer r.mending.Unlock()
				r.problems = append(r.problems, corrupt(r.f.Name(), "sections are not where they were, such as that of byte %d", s.Off))
			})
			return nil
		}
	}
	return err
}

// movedReader reads so many bytes further on.
type movedReader struct {
	io.ReaderAt
	by int64
}

func (m movedReader) ReadAt(p []byte, at int64) (int, error) { return m.ReaderAt.ReadAt(p, at+m.by) }

// whereFound returns where a section of the length and the checksum of s begins by its header; ok is false if it begins where it was, or if
// no header was found.
func (r *Reader) whereFound(s Section) (at uint64, ok bool) {
	r.mending.Lock()
	defer r.mending.Unlock()
	if r.found == nil {
		r.found = make(map[Section]uint64)
		b, err := fileBulk(r.f)
		if err != nil {
			return 0, false
		}
		b.ReaderAt = r.f.Lenient()
		list, _ := findSections(b)
		places := make(map[label]Section)
		for _, f := range list {
			places[f.label] = f.Section
		}
		r.m.eachSection(func(l label, s *Section) {
			if f := places[l]; f.Off != s.Off && f.Len == s.Len && f.Hash == s.Hash {
				r.found[*s] = f.Off
			}
		})
	}
	at, ok = r.found[s]
	return at, ok
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

// checkPiece is how many bytes Check reads at a time.
const checkPiece = 1 << 20

// Check is Read without keeping the bytes: it compares s with its checksum in little memory. It calls count, which
// may be nil, with the number of bytes of each piece that it reads.
func (r *Reader) Check(s Section, what string, count func(bytes uint64)) error {
	if s.Len == 0 {
		return nil
	}
	if err := r.inside(s, what); err != nil {
		return err
	}
	return r.check(s, make([]byte, min(s.Len, checkPiece)), what, count)
}

// check compares s with its checksum, of which it reads as much at a time as buf has room for.
func (r *Reader) check(s Section, buf []byte, what string, count func(bytes uint64)) error {
	return r.mendingRead(s, func(f io.ReaderAt) error {
		h, b := xxh3.New(), bulk{f, r.f.Name() + ": " + what, 0}
		for done := uint64(0); done < s.Len; {
			p := buf[:min(s.Len-done, uint64(len(buf)))]
			if err := b.read(p, s.Off+done); err != nil {
				return err
			}
			h.Write(p) // a Hasher does not fail
			done += uint64(len(p))
			if count != nil {
				count(uint64(len(p)))
			}
		}
		if h.Sum64() != s.Hash {
			return corrupt(r.f.Name(), "%s: its checksum does not match", what)
		}
		var header [labelLen]byte
		// It was fetched with the section, unless that is too long.
		if r.f.IsRemote() && s.Len < vfs.MostFetched && b.read(header[:], s.Off-labelLen) == nil {
			r.labels.Store(s.Off, xxh3.Hash(header[:]))
		}
		return nil
	})
}

// Corrupt returns an ErrCorrupt about a section that passed its checksum and still does
// not decode.
func (r *Reader) Corrupt(what string, err error) error {
	return fmt.Errorf("%s: %s: %w: %w", r.f.Name(), what, err, parse.ErrCorrupt)
}

// Close closes the bulk file.
func (r *Reader) Close() error { return r.f.Close() }
