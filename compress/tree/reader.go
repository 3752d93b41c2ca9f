package tree

import (
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
	f      *vfs.File
	data   io.ReaderAt // f, or what it was before it was damaged
	path   string
	dir    string // where the archives are
	stored int64  // bytes of the file
	side   *sidefiles.Reader
	mended error                                   // what was wrong with the file until its parity mended it; nil: nothing
	number []int                                   // of each entry that is a File: of its content in side
	entry  []int                                   // of each content in side: its entry
	files  func() []archivedFiles                  // of the listing
	infos  []func() (*compress.Information, error) // of the archives, once each: see information
	o      Options
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

// newReader reads the listing of a file of size bytes, and the index of its side files.
func newReader(f *vfs.File, data io.ReaderAt, path string, size int64, o Options) (*Reader, error) {
	r := &Reader{f: f, data: data, path: path, stored: size, o: o}
	coded, err := r.end()
	if err != nil {
		return nil, err
	}
	limit, entries := general.MaxSize, uint64(math.MaxInt)
	if o.Memory > 0 {
		limit, entries = int(min(general.MaxSize, o.Memory/listingShare)), o.Memory/entryMemory
	}
	text, err := general.Decode(coded, limit)
	switch {
	case errors.Is(err, general.ErrSize):
		return nil, damaged(path, "its listing takes more than --memory, or is too long")
	case err != nil:
		return nil, damaged(path, "its listing can't be decoded")
	}
	var reason string
	var index []byte
	if r.Listing, index, reason = parseListing(text, entries); reason != "" {
		return nil, damaged(path, reason)
	}
	for k := range r.Archives {
		r.infos = append(r.infos, sync.OnceValues(func() (*compress.Information, error) { return r.information(k) }))
	}
	r.files = sync.OnceValue(func() []archivedFiles { return filesOf(r.Listing) })
	r.number = make([]int, len(r.Entries))
	for i := range r.Entries {
		if r.Entries[i].Kind == File {
			r.number[i] = len(r.entry)
			r.entry = append(r.entry, i)
		}
	}
	length := size - int64(headerSize+len(coded)+footerSize)
	r.side, err = sidefiles.NewReader(io.NewSectionReader(data, int64(headerSize), length), length, index, len(r.entry), o.sidefiles())
	if err != nil {
		return nil, damaged(path, "the index of its files can't be read")
	}
	for k, i := range r.entry {
		r.Entries[i].Size = r.side.Size(k)
	}
	return r, nil
}

// end returns the listing and the index as they are stored, between the side files and the footer.
func (r *Reader) end() ([]byte, error) {
	head, foot := make([]byte, headerSize), make([]byte, footerSize)
	if err := r.read(head, 0); err != nil {
		return nil, err
	}
	magic, version := head[:len(commit.TreeMagic)], head[len(commit.TreeMagic)]
	if string(magic) != commit.TreeMagic {
		return nil, damaged(r.path, "it does not begin as a side archive")
	}
	if version != Version {
		return nil, fmt.Errorf("%s: %w: %d, this program reads version %d", r.path, parse.ErrVersion, version, Version)
	}
	at := r.stored - int64(footerSize)
	if err := r.read(foot, max(at, 0)); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(foot[8:]))
	if string(foot[12:]) != endMagic || n > at-int64(headerSize) {
		return nil, damaged(r.path, "it is cut off")
	}
	coded := make([]byte, n)
	if err := r.read(coded, at-n); err != nil {
		return nil, err
	}
	if xxh3.Hash(coded) != binary.LittleEndian.Uint64(foot) {
		return nil, damaged(r.path, "the checksum of its listing is wrong")
	}
	return coded, nil
}

func (r *Reader) read(b []byte, at int64) error {
	err := parse.ReadAt(r.data, b, at)
	if err == io.ErrUnexpectedEOF {
		return damaged(r.path, "it is cut off")
	}
	return err
}

// Coded returns about how many bytes the content of entry i, a File, takes.
func (r *Reader) Coded(i int) int64 { return r.side.Coded(r.number[i]) }

// Damage says what was wrong with the side archive until its parity mended it; nil for nothing.
func (r *Reader) Damage() error { return r.mended }

// WriteFile writes the content of entry i, a File, to w.
func (r *Reader) WriteFile(ctx context.Context, w io.Writer, i int) error {
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
	if r.mended != nil {
		status = append(status, compress.FileStatus{Name: filepath.Base(r.path), Problem: r.mended.Error()})
	}
	for i := range r.Entries {
		e := &r.Entries[i]
		var problem error
		switch e.Kind {
		case File:
			problem = damage[r.number[i]]
		case Reads:
			_, problem = r.input(e)
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
	if quick {
		damage, err = r.side.Check(ctx)
	} else {
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
	return damage, err
}

// Sums decodes the contents of all files and returns the MD5, or else the SHA-256, of each by entry; nil for entries of other kinds, but
// for hard links to files. The error is parse.ErrCorrupt if a file is damaged.
func (r *Reader) Sums(ctx context.Context, ofMD5 bool) ([]*digest.Sums, error) {
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
