package tree

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/bins/vfs"
	"orcomgo/compress"
	"orcomgo/compress/general"
	"orcomgo/compress/sidefiles"
	"orcomgo/digest"
)

// Reader reads a side archive.
type Reader struct {
	*Listing
	f           *vfs.File
	data        io.ReaderAt // f, or what it was before it was damaged
	path        string
	dir         string            // where the archives are
	stored      int64             // bytes of the file
	side        *sidefiles.Reader // nil: it can't be read, as sideProblem says
	copyProblem error             // what is wrong with one of the two copies of the listing; nil: nothing
	mended      error             // what was wrong with the file until its parity mended it; nil: nothing
	sideProblem error
	number      []int                  // of each entry that is a File: of its content in side
	entry       []int                  // of each content in side: its entry
	files       func() []archivedFiles // of the listing
	o           Options
}

// Open opens a side archive. The error wraps parse.ErrCorrupt or parse.ErrVersion if it is damaged or of an unknown version.
func Open(t commit.Tree, o Options) (*Reader, error) {
	f, err := vfs.OpenContent(t.Path())
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	var r *Reader
	if err == nil {
		r, err = openMended(f, size, o)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	r.dir = t.Dir
	return r, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.f.Close() }

// Path returns the path of the side archive.
func (r *Reader) Path() string { return r.path }

// IsFile reports whether now describes the file that r reads, and not another one that has its name now.
func (r *Reader) IsFile(now fs.FileInfo) bool {
	info, err := r.f.Stat()
	return err == nil && os.SameFile(info, now)
}

// Stored returns the size of the side archive in bytes.
func (r *Reader) Stored() int64 { return r.stored }

// Bytes returns how many bytes the side files have.
func (r *Reader) Bytes() (n uint64) {
	for _, i := range r.entry {
		n += uint64(r.Entries[i].Size)
	}
	return n
}

// Weight returns about how many bytes of text of reads are restored, or verified, in the time of a byte of side files.
func (r *Reader) Weight() uint64 { return 1 + 50*uint64(r.stored)/max(r.Bytes(), 1) }

// newReader reads the listing of a file of size bytes: from its begin or, if that is damaged, from its end.
func newReader(f *vfs.File, data io.ReaderAt, path string, size int64, o Options) (*Reader, error) {
	r := &Reader{f: f, data: data, path: path, stored: size, o: o}
	coded, err := r.firstListing()
	if errors.Is(err, parse.ErrVersion) {
		return nil, err
	}
	last, lastErr := r.lastListing()
	if r.copyProblem = cmp.Or(err, lastErr); err != nil {
		if lastErr != nil {
			return nil, err
		}
		coded = last
	}
	limit, entries := maxListing, uint64(math.MaxInt)
	if o.Memory > 0 {
		limit, entries = int(min(maxListing, o.Memory/listingShare)), o.Memory/entryMemory
	}
	text, err := general.Decode(coded, limit)
	switch {
	case errors.Is(err, general.ErrSize):
		return nil, damaged(path, "its listing takes more than --memory, or is too long")
	case err != nil:
		return nil, damaged(path, "its listing can't be decoded")
	}
	var reason string
	if r.Listing, reason = parseListing(text, entries); reason != "" {
		return nil, damaged(path, reason)
	}
	r.files = sync.OnceValue(func() []archivedFiles { return filesOf(r.Listing) })
	start := int64(headerSize + len(coded))
	length := r.lastStart(coded, lastErr == nil) - start
	side, err := sidefiles.NewReader(io.NewSectionReader(data, start, length), length, len(r.Entries), o.sidefiles())
	switch {
	case err == nil:
		r.side = side
	case errors.Is(err, sidefiles.ErrCorrupt), errors.Is(err, sidefiles.ErrFormat):
		err = damaged(path, "the index of its files can't be read")
	default:
		return nil, err
	}
	r.sideProblem = cmp.Or(err, r.assign())
	return r, nil
}

// firstListing returns the listing after the header as it is stored.
func (r *Reader) firstListing() ([]byte, error) {
	head := make([]byte, headerSize)
	if err := r.read(head, 0); err != nil {
		return nil, err
	}
	magic, sized := head[:len(commit.TreeMagic)], head[len(commit.TreeMagic)+1:]
	if string(magic) != commit.TreeMagic {
		return nil, damaged(r.path, "it does not begin as a side archive")
	}
	if version := head[len(magic)]; version != Version {
		return nil, fmt.Errorf("%s: %w: %d, this program reads version %d", r.path, parse.ErrVersion, version, Version)
	}
	return r.codedListing(sized, func(uint64) int64 { return int64(headerSize) })
}

// lastListing returns the listing before the footer as it is stored.
func (r *Reader) lastListing() ([]byte, error) {
	foot, end := make([]byte, footerSize), r.stored-int64(footerSize)
	if err := r.read(foot, max(end, 0)); err != nil {
		return nil, err
	}
	if string(foot[16:]) != endMagic {
		return nil, damaged(r.path, "it is cut off")
	}
	return r.codedListing(foot, func(n uint64) int64 { return end - int64(n) })
}

// lastStart returns where the last listing begins, which is known as it is stored. If the file is cut off, that is later than its size
// says.
func (r *Reader) lastStart(coded []byte, whole bool) int64 {
	at := r.stored - int64(len(coded)+footerSize)
	tail := make([]byte, len(coded)+footerSize)
	if whole || at < 0 || r.read(tail, at) != nil {
		return at
	}
	return at + int64(max(bytes.Index(tail, coded[:min(len(coded), 64)]), 0))
}

// codedListing returns a listing as it is stored, whose size and hash are given.
func (r *Reader) codedListing(sized []byte, at func(n uint64) int64) ([]byte, error) {
	n := binary.LittleEndian.Uint64(sized)
	if n > uint64(max(r.stored-int64(headerSize+footerSize), 0)) {
		return nil, damaged(r.path, "it is cut off")
	}
	coded := make([]byte, n)
	if err := r.read(coded, at(n)); err != nil {
		return nil, err
	}
	if xxh3.Hash(coded) != binary.LittleEndian.Uint64(sized[8:]) {
		return nil, damaged(r.path, "the checksum of its listing is wrong")
	}
	return coded, nil
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
		if r.entry = append(r.entry, i); r.side != nil && len(r.entry) <= r.side.Len() {
			e.Size = r.side.Size(r.number[i])
		}
	}
	if side := r.side; side != nil && len(r.entry) != side.Len() {
		r.side = nil
		return damaged(r.path, fmt.Sprintf("it lists %d files and has %d", len(r.entry), side.Len()))
	}
	return nil
}

// Coded returns about how many bytes the content of entry i, a File, takes.
func (r *Reader) Coded(i int) int64 {
	if r.side == nil {
		return 0
	}
	return r.side.Coded(r.number[i])
}

// Damage says what is wrong with the side archive as far as Open can tell: one of the two copies of its listing is damaged, or no side file
// can be restored; nil for nothing.
func (r *Reader) Damage() error { return cmp.Or(r.sideProblem, r.copyProblem, r.mended) }

// WriteFile writes the content of entry i, a File, to w.
func (r *Reader) WriteFile(ctx context.Context, w io.Writer, i int) error {
	if r.side == nil {
		return r.sideProblem
	}
	err := r.side.WriteFile(ctx, w, r.number[i])
	if errors.Is(err, sidefiles.ErrCorrupt) {
		err = damaged(r.path, r.Entries[i].Path+" can't be restored")
	}
	return err
}

// Verify compares the contents of all files with their checksums, or with quick what is stored of them, and looks for the archives of files
// of reads. It returns a status for each of both, in the order of the entries. The error is one of reading, or of ctx.
func (r *Reader) Verify(ctx context.Context, quick bool) (status []compress.FileStatus, err error) {
	damage, err := r.check(ctx, quick)
	if err != nil {
		return nil, err
	}
	checked := "XXH3-64"
	if quick {
		checked = "section checksums"
	}
	missing := r.checkReads()
	if r.mended != nil {
		status = append(status, compress.FileStatus{Name: filepath.Base(r.path), Problem: r.mended.Error()})
	}
	if r.copyProblem != nil {
		status = append(status, compress.FileStatus{Name: filepath.Base(r.path),
			Problem: "of its two listings one can't be read, so all can be restored: " + r.copyProblem.Error()})
	}
	for i := range r.Entries {
		e := &r.Entries[i]
		problem := missing[i]
		switch e.Kind {
		case File:
			problem = damage[r.number[i]]
		case Reads:
		default:
			continue
		}
		f := compress.FileStatus{Name: e.Path, Bytes: uint64(e.Size), OK: true, Checked: checked}
		if problem != nil {
			f.OK, f.Problem, f.Checked = false, problem.Error(), ""
		}
		if e.Kind == File || problem != nil { // archives are verified by themselves
			status = append(status, f)
		}
	}
	return status, nil
}

// check returns an error for each content that is damaged, nil for those that are whole.
func (r *Reader) check(ctx context.Context, quick bool) (damage []error, err error) {
	damage = make([]error, len(r.entry))
	switch {
	case r.side == nil:
		for i := range damage {
			damage[i] = r.sideProblem
		}
	case quick:
		damage, err = r.side.Check(ctx)
	default:
		err = r.side.Extract(ctx, nil, sidefiles.Sink{
			Begin: func(int) (io.Writer, error) { return io.Discard, nil },
			End: func(i int, wrong error) error {
				damage[i] = wrong
				return nil
			},
		})
	}
	for i, e := range damage {
		if e != nil {
			damage[i] = parse.ErrCorrupt
		}
	}
	if errors.Is(err, sidefiles.ErrCorrupt) {
		err = damaged(r.path, "its files are not those that were archived")
	}
	return damage, err
}

// Sums decodes the contents of all files and returns the MD5, or else the SHA-256, of each by entry; nil for entries of other kinds, but
// for hard links to files. The error is parse.ErrCorrupt if a file is damaged.
func (r *Reader) Sums(ctx context.Context, ofMD5 bool) ([]*digest.Sums, error) {
	if r.side == nil {
		return nil, r.sideProblem
	}
	all := make([]*digest.Sums, len(r.Entries))
	var of *digest.Digest
	err := r.side.Extract(ctx, nil, sidefiles.Sink{
		Begin: func(int) (io.Writer, error) {
			of = digest.New(!ofMD5, ofMD5)
			return of, nil
		},
		End: func(k int, damage error) error {
			i := r.entry[k]
			if damage != nil {
				return damaged(r.path, r.Entries[i].Path+" can't be restored")
			}
			sums := of.Sums()
			all[i] = &sums
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Kind == HardLink {
			all[i] = all[e.First]
		}
	}
	return all, nil
}
