package tree

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/dustin/go-humanize"
	"github.com/zeebo/xxh3"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/bins/vfs"
	"orcomgo/compress/blocksort"
	"orcomgo/compress/sidefiles"
	"orcomgo/digest"
)

// Reader reads a side archive.
type Reader struct {
	*Listing
	f      *vfs.File
	data   io.ReaderAt // f, or what it was before it was damaged
	path   string
	dir    string // where the archives are
	stored int64  // bytes of the file
	side   *sidefiles.Reader
	number []int                  // of each entry that is a File: of its content in side
	entry  []int                  // of each content in side: its entry
	files  func() []archivedFiles // of the listing
	o      Options

	parity  *vfs.File // open while sectors are restored by it, or nil
	problem error
}

// Open opens a side archive. The error wraps parse.ErrCorrupt or parse.ErrVersion if it is damaged or of an unknown version.
func Open(t commit.Tree, o Options) (*Reader, error) {
	f, err := vfs.OpenRegular(t.Path())
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	var r *Reader
	if err == nil {
		r, err = openMended(f, info.Size(), o)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	r.dir = t.Dir
	return r, nil
}

// Close closes the file.
func (r *Reader) Close() error {
	if r.parity != nil {
		r.parity.Close()
	}
	return r.f.Close()
}

// Path returns the path of the side archive.
func (r *Reader) Path() string { return r.path }

// IsFile reports whether now describes the file that r reads, and not another one that has its name now.
func (r *Reader) IsFile(now fs.FileInfo) bool {
	info, err := r.f.Stat()
	return err == nil && os.SameFile(info, now)
}

// Stored returns the size of the side archive in bytes.
func (r *Reader) Stored() int64 { return r.stored }

// newReader reads the listing of a file of size bytes.
func newReader(f *vfs.File, data io.ReaderAt, path string, size int64, o Options) (*Reader, error) {
	r := &Reader{f: f, data: data, path: path, stored: size, o: o}
	if size < int64(headerSize) {
		return nil, damaged(path, "it is too short")
	}
	head := make([]byte, headerSize)
	if err := r.read(head, 0); err != nil {
		return nil, err
	}
	if string(head[:headerSize-1]) != commit.TreeMagic {
		return nil, damaged(path, "it does not begin as a side archive")
	}
	if version := head[headerSize-1]; version != Version {
		return nil, fmt.Errorf("%s: %w: %d, this program reads version %d", path, parse.ErrVersion, version, Version)
	}
	end := size - int64(footerSize)
	foot := make([]byte, footerSize)
	if end < int64(headerSize) {
		return nil, damaged(path, "it is too short")
	}
	if err := r.read(foot, end); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(foot)
	if string(foot[16:]) != endMagic || n > uint64(end)-uint64(headerSize) {
		return nil, damaged(path, "it is cut off")
	}
	coded := make([]byte, n)
	if err := r.read(coded, end-int64(n)); err != nil {
		return nil, err
	}
	if xxh3.Hash(coded) != binary.LittleEndian.Uint64(foot[8:]) {
		return nil, damaged(path, "the checksum of its listing is wrong")
	}
	if n := uint64(blocksort.TextSize(coded)) * decodedBytes; o.Memory > 0 && n > o.Memory {
		return nil, r.tooLarge(n)
	}
	text, err := blocksort.Decode(coded, min(maxListing, listingSlack+listingRatio*len(coded)))
	if err != nil {
		return nil, damaged(path, "its listing can't be decoded")
	}
	var reason string
	if n := entryCount(text) * entryBytes; o.Memory > 0 && n > o.Memory {
		return nil, r.tooLarge(n)
	}
	if r.Listing, reason = parseListing(text); reason != "" {
		return nil, damaged(path, reason)
	}
	r.files = sync.OnceValue(func() []archivedFiles { return filesOf(r.Listing) })
	start := int64(headerSize)
	length := end - int64(n) - start
	if r.side, err = sidefiles.NewReader(io.NewSectionReader(data, start, length), length, o.sidefiles()...); err != nil {
		return nil, r.explain(err)
	}
	return r, r.assign()
}

// How many bytes of memory a byte of the listing's text takes while it is decoded, and an entry, with its path.
const (
	decodedBytes = 8
	entryBytes   = 256
)

// tooLarge returns the error for a listing that takes so much memory.
func (r *Reader) tooLarge(need uint64) error {
	return fmt.Errorf("%s: its listing takes about %s of memory: --memory allows %s", r.path, humanize.IBytes(need),
		humanize.IBytes(r.o.Memory))
}

// explain turns an error of package sidefiles into one of this package.
func (r *Reader) explain(err error) error {
	if errors.Is(err, sidefiles.ErrCorrupt) || errors.Is(err, sidefiles.ErrFormat) {
		return damaged(r.path, "the index of its files can't be read")
	}
	return err
}

func (r *Reader) read(b []byte, at int64) error {
	n, err := r.data.ReadAt(b, at)
	if n < len(b) && (err == nil || err == io.EOF) {
		err = damaged(r.path, "it is cut off")
	}
	if n == len(b) {
		err = nil
	}
	return err
}

// assign finds the contents of the entries, which are in the order of these.
func (r *Reader) assign() error {
	r.number = make([]int, len(r.Entries))
	for i := range r.Entries {
		e := &r.Entries[i]
		if e.Kind != File {
			continue
		}
		r.number[i] = len(r.entry)
		if r.entry = append(r.entry, i); len(r.entry) <= r.side.Len() {
			e.Size = r.side.Size(r.number[i])
		}
	}
	if len(r.entry) != r.side.Len() {
		return damaged(r.path, fmt.Sprintf("it lists %d files and has %d", len(r.entry), r.side.Len()))
	}
	return nil
}

// Coded returns about how many bytes the content of entry i, a File, takes.
func (r *Reader) Coded(i int) int64 { return r.side.Coded(r.number[i]) }

// WriteFile writes the content of entry i, a File, to w.
func (r *Reader) WriteFile(ctx context.Context, w io.Writer, i int) error {
	err := r.side.WriteFile(ctx, counter{w, &r.o}, r.number[i])
	if errors.Is(err, sidefiles.ErrCorrupt) {
		err = damaged(r.path, r.Entries[i].Path+" can't be restored")
	}
	return err
}

// Verify decodes the contents of all files and compares them with their checksums. It returns an error for each entry, nil for those that
// are whole; the second error is one of reading, or of ctx.
func (r *Reader) Verify(ctx context.Context) (damage []error, err error) {
	v := &verifier{r: r, damage: make([]error, len(r.Entries))}
	err = r.side.Extract(ctx, nil, v)
	return v.damage, err
}

// verifier notes which files are damaged.
type verifier struct {
	r      *Reader
	damage []error
}

func (v *verifier) Begin(int) (io.Writer, error) { return counter{io.Discard, &v.r.o}, nil }

func (v *verifier) End(i int, damage error) error {
	if damage != nil {
		v.damage[v.r.entry[i]] = parse.ErrCorrupt
	}
	return nil
}

// VerifyQuick is Verify without decoding: it compares what is stored with its checksums.
func (r *Reader) VerifyQuick(ctx context.Context) (damage []error, err error) {
	damage = make([]error, len(r.Entries))
	list, err := r.side.Check(ctx, r.o.add)
	for i, e := range list {
		if e != nil {
			damage[r.entry[i]] = parse.ErrCorrupt
		}
	}
	return damage, err
}

// Sums decodes the contents of all files and returns the MD5, or else the SHA-256, of each by entry; nil for entries of other kinds, but for
// hard links to files. The error is parse.ErrCorrupt if a file is damaged.
func (r *Reader) Sums(ctx context.Context, ofMD5 bool) ([]*digest.Sums, error) {
	s := &summer{r: r, md5: ofMD5, sums: make([]*digest.Sums, len(r.Entries))}
	if err := r.side.Extract(ctx, nil, s); err != nil {
		return nil, err
	}
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Kind == HardLink {
			s.sums[i] = s.sums[e.First]
		}
	}
	return s.sums, nil
}

// summer computes checksums.
type summer struct {
	r    *Reader
	md5  bool
	now  *digest.Digest
	sums []*digest.Sums
}

func (s *summer) Begin(int) (io.Writer, error) {
	s.now = digest.New(!s.md5, s.md5)
	return s.now, nil
}

func (s *summer) End(k int, damage error) error {
	i := s.r.entry[k]
	if damage != nil {
		return damaged(s.r.path, s.r.Entries[i].Path+" can't be restored")
	}
	sums := s.now.Sums()
	s.sums[i] = &sums
	return nil
}
