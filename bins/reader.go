package bins

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// Reader reads an archive of stage 1. All its methods but Close and Remove are safe for
// concurrent use. What they return has been checked against the checksums.
type Reader struct {
	dir        string
	data, meta *os.File
	info       *Meta
	dirs       []atomic.Pointer[directory]
}

// Open opens the archive in dir, after completing a commit that a crash interrupted. The
// error wraps ErrNotArchive, ErrCorrupt or ErrVersion. Only the index is read.
func Open(dir string) (*Reader, error) {
	name, err := find(dir)
	if err != nil {
		return nil, err
	}
	r := &Reader{dir: dir}
	if err := r.open(filepath.Join(dir, name)); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// find returns the name of the archive in dir.
func find(dir string) (string, error) {
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w: there is no such directory", dir, ErrNotArchive)
	} else if err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", fmt.Errorf("%s: %w: it is not a directory", dir, ErrNotArchive)
	}
	if err := Recover(dir); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), MetaExt); ok {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return "", fmt.Errorf("%s: %w: it holds no %s file", dir, ErrNotArchive, MetaExt)
	case 1:
		return names[0], nil
	}
	return "", fmt.Errorf("%s: %w: it holds %d %s files, one is expected", dir, ErrNotArchive, len(names), MetaExt)
}

func (r *Reader) open(path string) (err error) {
	if r.meta, err = os.Open(path + MetaExt); err != nil {
		return err
	}
	if r.data, err = os.Open(path + DataExt); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w: it is missing", path+DataExt, ErrCorrupt)
		}
		return err
	}
	metaSize, err := size(r.meta)
	if err != nil {
		return err
	}
	dataSize, err := size(r.data)
	if err != nil {
		return err
	}
	if metaSize < metaHeaderLen+footerLen {
		return fmt.Errorf("%s: %w: it is truncated", r.meta.Name(), ErrCorrupt)
	}
	head := make([]byte, metaHeaderLen)
	foot := make([]byte, footerLen)
	if err := readAt(r.meta, head, 0); err != nil {
		return err
	}
	if err := checkHeader(r.meta.Name(), head, metaMagic); err != nil {
		return err
	}
	if err := readAt(r.meta, foot, metaSize-footerLen); err != nil {
		return err
	}
	at, n, wantData := binary.LittleEndian.Uint64(foot), binary.LittleEndian.Uint64(foot[8:]), binary.LittleEndian.Uint64(foot[16:])
	if string(foot[footerLen-8:]) != endMagic || at < metaHeaderLen || at > metaSize-footerLen || n != metaSize-footerLen-at {
		return fmt.Errorf("%s: %w: it is truncated or longer than it should be", r.meta.Name(), ErrCorrupt)
	}
	trailer := make([]byte, n)
	if err := readAt(r.meta, trailer, at); err != nil {
		return err
	}
	want, id := footer(trailer, at, wantData)
	if string(want) != string(foot) {
		return fmt.Errorf("%s: %w: the checksum of its index differs", r.meta.Name(), ErrCorrupt)
	}
	if r.info, err = parseTrailer(trailer, wantData, at); err != nil {
		return fmt.Errorf("%s: %w", r.meta.Name(), err)
	}
	r.info.ID = id
	r.dirs = make([]atomic.Pointer[directory], len(r.info.Blocks))
	if dataSize < dataHeaderLen {
		return fmt.Errorf("%s: %w: it is truncated", r.data.Name(), ErrCorrupt)
	}
	head = make([]byte, dataHeaderLen)
	if err := readAt(r.data, head, 0); err != nil {
		return err
	}
	if err := checkHeader(r.data.Name(), head, dataMagic); err != nil {
		return err
	}
	if string(head[dataHeaderLen-16:]) != string(id[:]) {
		return fmt.Errorf("%s: %w: it belongs to another archive than %s", r.data.Name(), ErrCorrupt, filepath.Base(r.meta.Name()))
	}
	if dataSize != wantData {
		return fmt.Errorf("%s: %w: it has %d bytes, %d are expected", r.data.Name(), ErrCorrupt, dataSize, wantData)
	}
	return nil
}

func size(f *os.File) (uint64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s: %w: it is not a regular file", f.Name(), ErrCorrupt)
	}
	return uint64(info.Size()), nil
}

func readAt(f *os.File, p []byte, at uint64) error {
	_, err := f.ReadAt(p, int64(at))
	if err == io.EOF {
		return fmt.Errorf("%s: %w: it is truncated", f.Name(), ErrCorrupt)
	}
	return err
}

// Meta returns what the index says; it must not be changed.
func (r *Reader) Meta() *Meta { return r.info }

// Paths returns the names of the data file and the meta file.
func (r *Reader) Paths() (data, meta string) { return r.data.Name(), r.meta.Name() }

// Close closes the files.
func (r *Reader) Close() error {
	var err error
	for _, f := range []*os.File{r.data, r.meta} {
		if f != nil {
			if e := f.Close(); err == nil {
				err = e
			}
		}
	}
	return err
}

// Remove removes both files, the meta file first, so that an interruption leaves no
// archive rather than a damaged one. The reader stays usable until Close.
func (r *Reader) Remove() error {
	if err := os.Remove(r.meta.Name()); err != nil {
		return err
	}
	if err := syncDir(r.dir); err != nil {
		return err
	}
	return os.Remove(r.data.Name())
}

// directory returns the directory of a block.
func (r *Reader) directory(block int) (*directory, *BlockInfo, error) {
	b := &r.info.Blocks[block]
	if d := r.dirs[block].Load(); d != nil {
		return d, b, nil
	}
	data := make([]byte, b.dirLen)
	if err := readAt(r.meta, data, b.metaAt+b.StoredMeta-b.dirLen); err != nil {
		return nil, nil, err
	}
	if sum(data) != b.dirSum {
		return nil, nil, fmt.Errorf("%s: %w: the checksum of block %d's directory differs", r.meta.Name(), ErrCorrupt, block)
	}
	d, err := parseDirectory(data, b)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", r.meta.Name(), err)
	}
	r.dirs[block].Store(d)
	return d, b, nil
}

// bad returns an error about a section of a block.
func (r *Reader) bad(sec, block int, what string) error {
	f := r.meta
	if sec < dataSections {
		f = r.data
	}
	return fmt.Errorf("%s: %w: block %d: %s: %s", f.Name(), ErrCorrupt, block, sectionNames[sec], what)
}
