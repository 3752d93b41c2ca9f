package parity

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/bins/vfs"
)

// Path returns the path of the parity of a file: NAME.cpar of NAME.cdna, and FILE.cpar of others.
func Path(file string) string {
	return strings.TrimSuffix(file, commit.PackedDataExt) + commit.ParityExt
}

// WriteFile writes the file of parity of data, which will be called path, and makes it durable.
func WriteFile(path string, data io.ReaderAt, size int64, o Options) (*commit.Temp, error) {
	return commit.WriteTemp(path, nil, func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<20)
		if err := Write(out, data, size, o); err != nil {
			return err
		}
		return out.Flush()
	})
}

// Restore returns what copies and parity give. Sectors that were restored are in memory. The error is ErrMemory if there is too little.
func Restore(set *Set, copies ...Copy) (*View, error) {
	threads := runtime.GOMAXPROCS(0)
	v, err := set.Check(threads, copies...)
	if err != nil || v.Lost() == 0 {
		return v, err
	}
	limit := memoryLimit()
	sectors := Memory{Limit: int(min(limit/16, 64<<20))}
	if v.Lost()*int64(set.data.sector) > int64(sectors.Limit) || set.data.ofWords() && limit < wordsLimit {
		return nil, ErrMemory
	}
	return v, v.Mend(threads, min(limit/16, 256<<20), &sectors)
}

// RestoreFile returns what a file was before it was damaged, by the parity beside it, how many bytes that has, and what is wrong with the
// file now; nothing if it is as it was or if there is no parity. Of an encrypted file it is the content.
func RestoreFile(f *vfs.File) (whole io.ReaderAt, size int64, problem, err error) {
	path := Path(f.Name())
	set, err := Open(path)
	if set == nil {
		return nil, 0, nil, err
	}
	defer set.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, nil, err
	}
	v, err := Restore(set, Copy{R: f.Stored(), Size: info.Size()})
	if err != nil || v.Whole() {
		return nil, 0, nil, err
	}
	problem = v.Problem(f.Name(), filepath.Base(path))
	if c, err := vfs.Content(v, v.Size()); c != nil {
		return c, c.Size(), problem, err
	}
	return v, v.Size(), problem, nil
}

// Problem says what is wrong with the file whose first copy v is of, and by what it can be repaired. It wraps parse.ErrCorrupt.
func (v *View) Problem(path, by string) error {
	if v.Lost() == 0 {
		by += " restores them (orcomgo repair)"
	} else {
		by = fmt.Sprintf("%d can't be restored", v.Lost())
	}
	return fmt.Errorf("%s: %s; %s: %w", path, v.damage(), by, parse.ErrCorrupt)
}

// damage says what is wrong with the first copy of v.
func (v *View) damage() string {
	n := v.set.Sectors()
	for _, r := range v.runs {
		if r.of == 0 {
			n -= r.count
		}
	}
	if n > 0 {
		return fmt.Sprintf("%d of %d sectors are damaged", n, v.set.Sectors())
	}
	return "bytes were inserted, removed or added"
}

// Repaired says what Repair or Protect did to a file.
type Repaired struct {
	Path    string `json:"path"`
	Problem string `json:"problem,omitempty"` // what was wrong with it, a line; "" if nothing was
	OK      bool   `json:"ok"`                // it is as it was written, now
	Written bool   `json:"written"`           // it was written anew
}

// RepairOptions control Repair.
type RepairOptions struct {
	From    []string // other copies of the file, and of its parity beside them; directories have them under the same names
	Share   float64  // of the parity that is written for a file which has none, or too little is left of; 0: none
	Threads int
	Memory  uint64 // see Options
}

// Copies are a file that is to be repaired, other copies of it, and what is left of their parity.
type Copies struct {
	List  []Copy
	files []*vfs.File
	sets  []*Set
}

// OpenCopies opens the file at path, if it is there, and the copies of RepairOptions.From.
func OpenCopies(path string, from []string) (*Copies, error) {
	paths := []string{path}
	for _, p := range from {
		if info, err := vfs.Stat(p); err == nil && info.IsDir() {
			p = filepath.Join(p, filepath.Base(path))
		}
		paths = append(paths, p)
	}
	c := new(Copies)
	for _, p := range paths {
		if err := c.open(p); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

// open opens a copy and its parity, either of which may be missing.
func (c *Copies) open(path string) error {
	f, err := vfs.OpenRegular(path)
	if err == nil {
		c.files = append(c.files, f)
		info, err := f.Stat()
		if err != nil {
			return err
		}
		c.List = append(c.List, Copy{R: f, Size: info.Size()})
	} else if !isMissing(err) {
		return err
	}
	set, err := Open(Path(path))
	if set != nil {
		c.sets = append(c.sets, set)
	}
	if errors.Is(err, parse.ErrCorrupt) { // no packet is left, or too few
		err = nil
	}
	return err
}

// Close closes the files.
func (c *Copies) Close() {
	for _, f := range c.files {
		f.Close()
	}
	for _, s := range c.sets {
		s.Close()
	}
}

// Repair makes the file at path what it was when its parity was written, from it, its parity, and other copies of both. A file takes the
// place of the damaged one only when it is complete and has been compared with the checksums of all sectors. Damaged parity is written
// again. The error is for what is not damage; where the file can't be repaired, the result says so.
func Repair(path string, o RepairOptions) (results []Repaired, err error) {
	c, err := OpenCopies(path, o.From)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if len(c.files) == 0 || c.files[0].Name() != path {
		return nil, fmt.Errorf("%s: %w: there is no such file", path, commit.ErrNotArchive)
	}
	if len(c.sets) == 0 {
		return []Repaired{{Path: path, Problem: "there is no parity that can be used"}}, nil
	}
	set := c.sets[0]
	if set.data.ofWords() {
		go Prepare() // while sectors are compared
	}
	ours := set.file.Name() == Path(path) // and not of a copy
	v, err := set.Check(max(o.Threads, 1), c.List...)
	if err != nil {
		return nil, err
	}
	result := Repaired{Path: path, OK: v.Whole()}
	if !result.OK {
		if result, err = replaceBy(c.files[0], set, v, o); err != nil {
			return nil, err
		}
	}
	results = append(results, result)
	if !result.OK || ours && set.Lost == 0 {
		return results, nil
	}
	beside := Repaired{Path: Path(path), Problem: "it is missing"}
	if ours {
		beside.Problem = set.damage()
	}
	if o.Share > 0 || ours {
		o.Share = max(o.Share, set.Share())
		if err := Protect(path, Options{ID: set.ID(), Share: o.Share, Threads: o.Threads, Memory: o.Memory}); err != nil {
			return nil, err
		}
		beside.OK, beside.Written = true, true
		results = append(results, beside)
	}
	return results, nil
}

// replaceBy replaces a file by what v restores, if that is all of it. set is the parity that v is by.
func replaceBy(was *vfs.File, set *Set, v *View, o RepairOptions) (result Repaired, err error) {
	path := was.Name()
	result.Path = path
	t, err := commit.NewTemp(path)
	if err != nil {
		return result, err
	}
	defer t.Discard()
	t.EncryptAs(nil) // it is what is stored
	there, copied := v.pieces(), make(chan error, 1)
	go func() { // beside what takes processor time
		copied <- eachTask(len(there), o.Threads, func(task int, buf []byte) error { return v.copyTo(t, there[task], buf) })
	}()
	store := newFile{t, int64(set.data.sector), sync.OnceValue(func() error { return <-copied })}
	err = v.Mend(o.Threads, o.Memory, store)
	if e := store.copied(); e != nil {
		return result, e
	}
	if err != nil && !errors.Is(err, parse.ErrCorrupt) {
		return result, err
	}
	if result.Problem = v.damage(); v.Lost() > 0 {
		result.Problem += fmt.Sprintf(", and %d can't be restored", v.Lost())
		return result, nil
	}
	if err := t.Sync(); err != nil {
		return result, err
	}
	written, err := set.Check(max(o.Threads, 1), Copy{R: t, Size: v.Size()})
	if err != nil {
		return result, err
	}
	if !written.Whole() {
		return result, fmt.Errorf("%s: what was written is not what was to be written", path)
	}
	result.OK, result.Written = true, true
	return result, commit.ReplaceFile(was, t)
}

// newFile is a Store in the file that is to replace a damaged one: a restored sector is put where it was, when all others have been copied.
type newFile struct {
	*commit.Temp
	sector int64
	copied func() error
}

// Put implements Store.
func (f newFile) Put(i int64, b []byte) (at int64, err error) {
	if err := f.copied(); err != nil {
		return 0, err
	}
	_, err = f.WriteAt(b, i*f.sector)
	return i * f.sector, err
}

// pieces returns the runs of v, divided into pieces of up to checkTask bytes.
func (v *View) pieces() (all []run) {
	sector := int64(v.set.data.sector)
	for _, r := range v.runs {
		for ; r.count > 0; r.count -= checkTask / sector {
			piece := r
			piece.count = min(r.count, checkTask/sector)
			all = append(all, piece)
			r.first, r.at = r.first+piece.count, r.at+piece.count*sector
		}
	}
	return all
}

// copyTo writes the sectors of r, which take up to len(buf) bytes, where they were in the protected file.
func (v *View) copyTo(w io.WriterAt, r run, buf []byte) error {
	at := r.first * int64(v.set.data.sector)
	buf = buf[:min(r.count*int64(v.set.data.sector), v.Size()-at)]
	if err := parse.ReadAt(v.copies[r.of].R, buf, r.at); err != nil {
		return err
	}
	_, err := w.WriteAt(buf, at)
	return err
}

// Protect writes the parity of the file at path. An older one is replaced.
func Protect(path string, o Options) error {
	f, err := vfs.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	to := Path(path)
	t, err := WriteFile(to, f, info.Size(), o)
	if err != nil {
		return err
	}
	defer t.Discard()
	t.Restrict(commit.AccessTo(path))
	return commit.InstallBeside(filepath.Dir(to), filepath.Base(to[:len(to)-len(commit.ParityExt)]), commit.ParityExt, t)
}

// ProtectAnew writes the parity of the file at path, o.Share of it, unless there is as much that is whole, and of an archive with the
// same ID.
func ProtectAnew(path string, id [16]byte, o RepairOptions) (Repaired, error) {
	result := Repaired{Path: Path(path), OK: true}
	set, err := Open(result.Path)
	if err != nil && !errors.Is(err, parse.ErrCorrupt) {
		return result, err
	}
	if set != nil {
		defer set.Close()
		if set.ID() == id && set.Lost == 0 && set.hasShare(o.Share) {
			return result, nil
		}
	}
	result.Written = true
	return result, Protect(path, Options{ID: id, Share: o.Share, Threads: o.Threads, Memory: o.Memory})
}
