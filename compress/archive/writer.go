package archive

import (
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/commit"
	"orcomgo/bins/crypt"
	"orcomgo/bins/vfs"
	"orcomgo/compress/parity"
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
	meta      bool          // there is NAME.cmeta, too
	parity    bool          // there is NAME.cpar, too
}

// Create starts a packed archive NAME in dir. If there is one already, it is replaced at
// Commit, as replace allows; without it the error is commit.ErrExists.
//
// alone is for reads whose bins have no name: bins of that name belong to another archive. The caller has asked whether they and a packed
// archive may be replaced, when it began its bins. Commit asks again, and removes them.
func Create(dir, name string, replace commit.MayReplace, alone bool) (*Writer, error) {
	if !alone {
		if err := commit.Begin(dir, name, commit.Packed, replace); err != nil {
			return nil, err
		}
	}
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

// EncryptAs has the files encrypted by e, unless that is nil or they are already. It is called before anything is added.
func (w *Writer) EncryptAs(e *crypt.Envelope) error {
	if w.f.Envelope() == nil {
		w.f.EncryptAs(e)
	}
	_, err := w.f.WriteAt(w.header(), 0)
	return err
}

// SendEarly has the archive sent while it is written, see vfs.File. It is called before EncryptAs.
func (w *Writer) SendEarly(kept uint64) { w.f.SendEarly(int64(kept)) }

// Restrict has the files open to no more than a allows.
func (w *Writer) Restrict(a commit.Access) { w.f.Restrict(a) }

func (w *Writer) header() []byte {
	return append(append([]byte(bulkMagic), Version), w.id[:]...)
}

// Paths returns the names of the files, which they have after Commit.
func (w *Writer) Paths() []string {
	path := filepath.Join(w.dir, w.name)
	paths := []string{path + BulkSuffix}
	if w.meta {
		paths = append(paths, path+MetaSuffix)
	}
	if w.parity {
		paths = append(paths, parity.Path(paths[0]))
	}
	return paths
}

// Begin writes the section Head, before all others. m says what is known before slices are coded: the inputs, and how they are coded.
func (w *Writer) Begin(m *Manifest) error {
	head := *m
	head.Slices, head.Shared, head.Verified, head.NameRanges = nil, nil, false, false
	var err error
	m.Head, err = w.add(label{kind: kindHead}, head.marshal())
	w.hash.Reset() // the ID is that of the reads alone
	return err
}

// AddSlice appends the sections of slice number i, which must come in order, and sets them in s. An empty one takes no room.
func (w *Writer) AddSlice(i int, s *Slice, section func(c Column, m int) []byte) (err error) {
	s.EachSection(func(c Column, m int, sec *Section) { sec.Len = uint64(len(section(c, m))) })
	s.EachSection(func(c Column, m int, sec *Section) {
		if err == nil {
			*sec, err = w.add(s.labelOf(i, c, m), section(c, m))
		}
	})
	return err
}

// AddShared appends the next shared section to the file and to m, whose flags for shared sections must be set. They come after all slices.
func (w *Writer) AddShared(m *Manifest, b []byte) error {
	s, err := w.add(m.sharedLabel(len(m.Shared)), b)
	m.Shared = append(m.Shared, s)
	return err
}

// add appends a section.
func (w *Writer) add(l label, b []byte) (Section, error) {
	s := Section{Off: w.off, Len: uint64(len(b)), Hash: Hash64(b)}
	if len(b) == 0 {
		return s, nil
	}
	s.Off += labelLen
	for _, b := range [][]byte{l.append(nil, &s), b} {
		if _, err := w.f.WriteAt(b, int64(w.off)); err != nil {
			return Section{}, err
		}
		w.hash.Write(b) // a Hasher does not fail
		w.off += uint64(len(b))
	}
	w.written.Store(w.off)
	return s, nil
}

// End says that no section follows, once. m's ID and BulkLen are set. What was written is handed
// to the disk.
func (w *Writer) End(m *Manifest) error {
	w.id = w.hash.Sum128().Bytes()
	m.ID, m.BulkLen = w.id, w.off
	if _, err := w.f.WriteAt(w.header(), 0); err != nil {
		return err
	}
	return w.f.Sync()
}

// Reopen returns a Reader of what was written, before it is an archive; m must describe
// it. End must have been called. The reader must not be closed: it reads the writer's file.
func (w *Writer) Reopen(m *Manifest) (*Reader, error) {
	if err := checkHeader(bulk{w.f.File, w.f.Name(), w.off}, m); err != nil {
		return nil, err
	}
	return w.Reader(m), nil
}

// Reader returns a Reader of the sections that were added so far, and will be; m will describe them. It may be used while others are
// added, and must not be closed: it reads the writer's file.
func (w *Writer) Reader(m *Manifest) *Reader {
	return &Reader{f: w.f.File, entry: commit.Entry{Dir: w.dir, Name: w.name}, m: m, writer: w}
}

// ParityOptions say how the archive is protected.
type ParityOptions struct {
	// Share is that of NAME.cpar, see parity.Options; 0: there is none.
	Share float64
	// Needed is how many bytes of sections others cannot be decoded without, roughly: the parity within NAME.cdna mends 1 % of them.
	Needed  uint64
	Threads int
	Memory  uint64 // see parity.Options
}

// Commit, after End, writes the parity and the manifest, this twice, and makes the files the packed archive NAME. The
// error is as that of commit.InstallPacked, or commit.InstallAlone.
func (w *Writer) Commit(m *Manifest, o ParityOptions) error {
	if vfs.IsRemote(w.dir) && w.off/16 > o.Memory { // most is read from there: as seldom, and in as large pieces, as can be
		o.Memory *= 8
	}
	within := int64(o.Needed / 100)
	if m.OneFile {
		within = max(within, int64(o.Share*float64(w.off)))
	}
	if err := w.addParity(m, parity.Options{Bytes: within, Threads: o.Threads, Memory: o.Memory}); err != nil {
		return err
	}
	data, err := w.endWith(m)
	if err != nil {
		return err
	}
	if m.OneFile {
		return w.install(nil, nil)
	}
	meta, err := writeTemp(filepath.Join(w.dir, w.name+MetaSuffix), w.f.Envelope(), data)
	if err != nil {
		return err
	}
	defer meta.Discard()
	var beside *commit.Temp
	if o.Share > 0 {
		info, err := w.f.Stat()
		if err != nil {
			return err
		}
		if beside, err = parity.WriteFile(parity.Path(filepath.Join(w.dir, w.name+BulkSuffix)), w.f.Stored(), info.Size(),
			parity.Options{ID: w.id, Share: o.Share, Threads: o.Threads, Memory: o.Memory}); err != nil {
			return err
		}
		defer beside.Discard()
		w.parity = true
	}
	return w.install(meta, beside)
}

// install gives the files their names; meta and beside are nil where there are none.
func (w *Writer) install(meta, beside *commit.Temp) error {
	w.meta = meta != nil
	if w.alone {
		return commit.InstallAlone(w.dir, w.name, w.id, w.f, meta, beside, w.replace, w.olderIsWhole())
	}
	return commit.InstallPacked(w.dir, w.name, w.id, w.f, meta, beside, w.replace)
}

// addParity appends the section of parity, unless m has one, and sets it in m. It is of the file from its beginning to the end of the other
// sections; o says how much.
func (w *Writer) addParity(m *Manifest, o parity.Options) error {
	if m.Parity.Len > 0 || w.off == bulkHeader {
		return nil
	}
	o.ID = w.id
	out, hash := io.NewOffsetWriter(w.f, int64(w.off+labelLen)), xxh3.New()
	if err := parity.Write(io.MultiWriter(out, hash), w.f, int64(w.off), o); err != nil {
		return err
	}
	end, err := out.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	s := Section{Off: w.off + labelLen, Len: uint64(end), Hash: hash.Sum64()}
	l := label{kind: kindParity}
	if _, err := w.f.WriteAt(l.append(nil, &s), int64(w.off)); err != nil {
		return err
	}
	w.off = s.Off + s.Len
	m.Parity, m.BulkLen = s, w.off
	return nil
}

// endWith writes the manifest and a footer to find it by at the end of the bulk file, which is synced then, and returns the manifest's
// bytes.
func (w *Writer) endWith(m *Manifest) (data []byte, err error) {
	data = m.marshal()
	m.size = uint64(len(data))
	if _, err := parseManifest(w.f.Name(), data); err != nil {
		return nil, fmt.Errorf("the manifest does not read back: %w", err)
	}
	tail := binary.LittleEndian.AppendUint64(slices.Clone(data), uint64(len(data)))
	if _, err := w.f.WriteAt(append(tail, tailMagic...), int64(w.off)); err != nil {
		return nil, err
	}
	return data, w.f.Sync()
}

// olderIsWhole reports whether there is a packed archive of the name whose bulk file is enough to read it.
func (w *Writer) olderIsWhole() bool {
	f, err := vfs.OpenContent(filepath.Join(w.dir, w.name) + BulkSuffix)
	if err != nil {
		return false
	}
	defer f.Close()
	b, err := fileBulk(f)
	if err != nil {
		return false
	}
	m, err := readTail(b)
	return err == nil && checkHeader(b, m) == nil
}

// Abort closes the file, and removes it unless Commit has succeeded.
func (w *Writer) Abort() { w.f.Discard() }

// writeTemp writes a file that will be called path, encrypted by e unless that is nil, and makes its content durable.
func writeTemp(path string, e *crypt.Envelope, data []byte) (*commit.Temp, error) {
	return commit.WriteTemp(path, e, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
