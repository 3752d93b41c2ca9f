package parity

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

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
	t, err := commit.NewTemp(path)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(t, 1<<20)
	err = Write(out, data, size, o)
	if err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = t.Sync()
	}
	if err != nil {
		t.Discard()
		return nil, err
	}
	return t, nil
}

// Memory that readers mend with, in bytes: sectors that were restored, and the parity of a group while it is decoded.
const (
	mendedMemory = 64 << 20
	parityMemory = 16 << 20
)

// Restore returns what copies and parity give. Sectors that were restored are in memory.
func Restore(set *Set, copies ...Copy) (*View, error) {
	threads := runtime.GOMAXPROCS(0)
	v, err := set.Check(threads, copies...)
	if err == nil {
		err = v.Mend(threads, parityMemory, &Memory{Limit: mendedMemory})
	}
	return v, err
}

// Damage says what is wrong with the first copy of v.
func (v *View) Damage() string {
	damaged := fmt.Sprintf("%d of %d sectors are damaged", v.Restored()+v.Taken()+v.Lost(), v.Sectors())
	switch {
	case v.Lost() > 0:
		return fmt.Sprintf("%s, and %d can't be restored", damaged, v.Lost())
	case v.Restored()+v.Taken() > 0:
		return damaged
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

// Files are the open files of a repair.
type Files struct{ all []*vfs.File }

func (f *Files) Close() {
	for _, file := range f.all {
		file.Close()
	}
}

// Open opens a regular file that may be missing: then the result is nil.
func (f *Files) Open(path string) (*vfs.File, int64, error) {
	file, err := vfs.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, vfs.ErrNotRegular) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	f.all = append(f.all, file)
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// Repair makes the file at path what it was when its parity was written, from it, its parity, and other copies of both. A file takes the
// place of the damaged one only when it is complete and has been compared with the checksums of all sectors. Damaged parity is written
// again. The error is for what is not damage; where the file can't be repaired, the result says so.
func Repair(path string, o RepairOptions) (results []Repaired, err error) {
	var open Files
	defer open.Close()
	copies, sets, err := open.Copies(path, o.From)
	if err != nil {
		return nil, err
	}
	if len(copies) == 0 {
		return nil, fmt.Errorf("%s: %w: there is no such file", path, commit.ErrNotArchive)
	}
	result := Repaired{Path: path}
	best, ours := bestSet(sets, path)
	if best == nil {
		return []Repaired{{Path: path, Problem: "there is no parity that can be used"}}, nil
	}
	v, err := best.Check(max(o.Threads, 1), copies...)
	if err != nil {
		return nil, err
	}
	if result.OK = v.Whole(); !result.OK {
		if result, err = replaceBy(open.all[0], best, v, o); err != nil {
			return nil, err
		}
	}
	results = append(results, result)
	if !result.OK || ours && best.Lost == 0 {
		return results, nil
	}
	beside := Repaired{Path: Path(path), Problem: "it is missing"}
	if ours {
		beside.Problem = fmt.Sprintf("%d of %d packets are damaged", best.Lost, best.Packets)
	}
	if o.Share > 0 || ours {
		o.Share = max(o.Share, best.Share())
		if err := Protect(path, Options{ID: best.ID(), Share: o.Share, Threads: o.Threads, Memory: o.Memory}); err != nil {
			return nil, err
		}
		beside.OK, beside.Written = true, true
		results = append(results, beside)
	}
	return results, nil
}

// SetOf is parity that was found, and the path of its file.
type SetOf struct {
	*Set
	path string
}

// Copies opens the file at path, copies of it, and their parity.
func (f *Files) Copies(path string, from []string) (copies []Copy, sets []SetOf, err error) {
	paths := []string{path}
	for _, p := range from {
		if info, err := vfs.Stat(p); err == nil && info.IsDir() {
			p = filepath.Join(p, filepath.Base(path))
		}
		paths = append(paths, p)
	}
	for _, p := range paths {
		file, size, err := f.Open(p)
		if err != nil {
			return nil, nil, err
		}
		if file != nil {
			copies = append(copies, Copy{R: file, Size: size})
		}
		if file, size, err = f.Open(Path(p)); err != nil {
			return nil, nil, err
		}
		if file != nil {
			if set, err := Read(file, size); err == nil {
				sets = append(sets, SetOf{set, Path(p)})
			}
		}
	}
	return copies, sets, nil
}

// bestSet returns the parity beside path if there is any, and else any. ours says that it is beside path.
func bestSet(sets []SetOf, path string) (best *Set, ours bool) {
	for _, s := range sets {
		if s.path == Path(path) {
			return s.Set, true
		}
	}
	if len(sets) > 0 {
		return sets[0].Set, false
	}
	return nil, false
}

// replaceBy replaces a file by what v restores, if that is all of it. set is the parity that v is by.
func replaceBy(was *vfs.File, set *Set, v *View, o RepairOptions) (result Repaired, err error) {
	path := was.Name()
	result.Path = path
	store, err := commit.NewUnnamed(filepath.Dir(path), path)
	if err != nil {
		return result, err
	}
	defer store.Discard()
	if err := v.Mend(o.Threads, o.Memory, store); err != nil && !errors.Is(err, parse.ErrCorrupt) {
		return result, err
	}
	if result.Problem = v.Damage(); v.Lost() > 0 {
		return result, nil
	}
	t, err := commit.NewTemp(path)
	if err != nil {
		return result, err
	}
	defer t.Discard()
	if _, err := io.CopyBuffer(t, io.NewSectionReader(v, 0, v.Size()), make([]byte, 1<<20)); err != nil {
		return result, err
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

// Protect writes the parity of the file at path. An older one is replaced.
func Protect(path string, o Options) error {
	var open Files
	defer open.Close()
	f, size, err := open.Open(path)
	if err != nil {
		return err
	}
	if f == nil {
		return fmt.Errorf("%s: %w: there is no such file", path, commit.ErrNotArchive)
	}
	to := Path(path)
	t, err := WriteFile(to, f, size, o)
	if err != nil {
		return err
	}
	defer t.Discard()
	t.Restrict(commit.AccessTo(path))
	return commit.InstallParity(filepath.Dir(to), filepath.Base(to[:len(to)-len(commit.ParityExt)]), t)
}

// ProtectAnew writes the parity of the file at path, o.Share of it, unless there is as much that is whole, and of an archive with the
// same ID.
func ProtectAnew(path string, id [16]byte, o RepairOptions) (Repaired, error) {
	result := Repaired{Path: Path(path), OK: true}
	var open Files
	defer open.Close()
	f, size, err := open.Open(result.Path)
	if err != nil {
		return result, err
	}
	if f != nil {
		set, err := Read(f, size)
		if err == nil && set.ID() == id && set.Lost == 0 && set.hasShare(o.Share) {
			return result, nil
		}
	}
	result.Written = true
	return result, Protect(path, Options{ID: id, Share: o.Share, Threads: o.Threads, Memory: o.Memory})
}
