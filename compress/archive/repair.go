package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/bins/vfs"
	"orcomgo/compress/parity"
)

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
	Memory  uint64 // see parity.Options
}

// files are the open files of a repair.
type files struct{ all []*vfs.File }

func (f *files) close() {
	for _, file := range f.all {
		file.Close()
	}
}

// open opens a file that may be missing: then the result is nil.
func (f *files) open(path string) (*vfs.File, int64, error) {
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
	var open files
	defer open.close()
	copies, sets, err := open.gather(path, o.From)
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
	beside := Repaired{Path: ParityPath(path), Problem: "it is missing"}
	if ours {
		beside.Problem = fmt.Sprintf("%d of %d packets are damaged", best.Lost, best.Packets)
	}
	if o.Share > 0 || ours {
		o.Share = max(o.Share, best.Share())
		if err := Protect(path, best.ID(), ParityOptions{Share: o.Share, Threads: o.Threads, Memory: o.Memory}); err != nil {
			return nil, err
		}
		beside.OK, beside.Written = true, true
		results = append(results, beside)
	}
	return results, nil
}

// setOf is parity that was found, and the path of its file.
type setOf struct {
	*parity.Set
	path string
}

// gather opens the file at path, copies of it, and their parity.
func (f *files) gather(path string, from []string) (copies []parity.Copy, sets []setOf, err error) {
	paths := []string{path}
	for _, p := range from {
		if info, err := vfs.Stat(p); err == nil && info.IsDir() {
			p = filepath.Join(p, filepath.Base(path))
		}
		paths = append(paths, p)
	}
	for _, p := range paths {
		file, size, err := f.open(p)
		if err != nil {
			return nil, nil, err
		}
		if file != nil {
			copies = append(copies, parity.Copy{R: file, Size: size})
		}
		if file, size, err = f.open(ParityPath(p)); err != nil {
			return nil, nil, err
		}
		if file != nil {
			if set, err := parity.Read(file, size); err == nil {
				sets = append(sets, setOf{set, ParityPath(p)})
			}
		}
	}
	return copies, sets, nil
}

// bestSet returns the parity beside path if there is any, and else any. ours says that it is beside path.
func bestSet(sets []setOf, path string) (best *parity.Set, ours bool) {
	for _, s := range sets {
		if s.path == ParityPath(path) {
			return s.Set, true
		}
	}
	if len(sets) > 0 {
		return sets[0].Set, false
	}
	return nil, false
}

// replaceBy replaces a file by what v restores, if that is all of it. set is the parity that v is by.
func replaceBy(was *vfs.File, set *parity.Set, v *parity.View, o RepairOptions) (result Repaired, err error) {
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
	if result.Problem = damageOf(v, "the parity"); v.Lost() > 0 {
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
	written, err := set.Check(max(o.Threads, 1), parity.Copy{R: t, Size: v.Size()})
	if err != nil {
		return result, err
	}
	if !written.Whole() {
		return result, fmt.Errorf("%s: what was written is not what was to be written", path)
	}
	result.OK, result.Written = true, true
	return result, commit.ReplaceFile(was, t)
}

// Protect writes the parity of the file at path. id is that of the archive, see parity.Options.
func Protect(path string, id [16]byte, o ParityOptions) error {
	var open files
	defer open.close()
	f, size, err := open.open(path)
	if err != nil {
		return err
	}
	if f == nil {
		return fmt.Errorf("%s: %w: there is no such file", path, commit.ErrNotArchive)
	}
	to := ParityPath(path)
	t, err := writeParity(to, f, size, id, o)
	if err != nil {
		return err
	}
	defer t.Discard()
	info, err := f.Stat()
	if err == nil {
		err = t.SetMode(vfs.ModeBits(info.Mode()) & 0o666)
	}
	if err != nil {
		return err
	}
	return commit.InstallParity(filepath.Dir(to), filepath.Base(to[:len(to)-len(commit.ParityExt)]), t)
}

// RepairArchive repairs the files of a packed archive. Where there is no parity beside it, the parity within it mends some damage.
func RepairArchive(e commit.Entry, o RepairOptions) ([]Repaired, error) {
	path := e.Path() + BulkSuffix
	results, err := Repair(path, o)
	if err != nil {
		return nil, err
	}
	if !results[0].OK {
		own, err := repairByItself(e, o)
		if err != nil {
			return nil, err
		}
		if results[0] = own; !own.OK {
			return results, nil
		}
	}
	meta, err := repairMeta(e)
	if err != nil {
		return nil, err
	}
	return append(results, meta...), nil
}

// repairByItself repairs the bulk file without the parity beside it: by its own parity, by its copy of the manifest or the one beside it
// or, if both are lost, by the headers of its sections.
func repairByItself(e commit.Entry, o RepairOptions) (result Repaired, err error) {
	result.Path = e.Path() + BulkSuffix
	var open files
	defer open.close()
	copies, _, err := open.gather(result.Path, o.From)
	if err != nil {
		return result, err
	}
	r, err := openEntry(e, copies[1:])
	if damaged(err) {
		result.Problem = "both manifests are lost"
		r, err = OpenScan(e)
	}
	if damaged(err) {
		result.Problem = err.Error()
		return result, nil
	}
	if err != nil {
		return result, err
	}
	defer r.Close()
	var damages []error
	note := func(err error) {
		if err != nil {
			damages = append(damages, err)
		}
	}
	r.m.eachSection(func(_ label, s *Section) { note(r.Check(*s, "a section", func(uint64) {})) })
	if !r.m.complete() {
		note(errors.New("sections are missing"))
	}
	if len(damages) > 0 {
		result.Problem = fmt.Sprintf("%d sections are damaged beyond repair; orcomgo unpack --salvage restores what is left", len(damages))
		return result, nil
	}
	if err := r.CheckRest(func(uint64) {}); err != nil {
		return result, err
	}
	if result.Problem == "" && len(r.mendProblems) == 0 && r.bulkProblem == nil {
		result.OK = true
		return result, nil
	}
	if result.Problem == "" {
		for _, p := range append(r.mendProblems, r.problems...) {
			result.Problem = p.Error()
		}
	}
	return result, r.rewrite(&result)
}

// rewrite writes the bulk file again, with its manifest.
func (r *Reader) rewrite(result *Repaired) error {
	t, err := commit.NewTemp(r.f.Name())
	if err != nil {
		return err
	}
	defer t.Discard()
	out := bufio.NewWriterSize(t, 1<<20)
	out.WriteString(bulkMagic) // the buffer keeps its errors
	out.WriteByte(Version)
	out.Write(r.m.ID[:])
	r.m.eachSection(func(l label, s *Section) {
		if s.Len == 0 || err != nil {
			return
		}
		out.Write(l.append(nil, s))
		err = r.mendingRead("", func(f io.ReaderAt) error {
			_, err := io.Copy(out, io.NewSectionReader(f, int64(s.Off), int64(s.Len)))
			return err
		})
	})
	if err != nil {
		return err
	}
	data := r.m.marshal()
	if _, err := parseManifest(r.f.Name(), data); err != nil {
		return err
	}
	out.Write(appendTail(nil, data))
	if err := out.Flush(); err != nil {
		return err
	}
	if err := t.Sync(); err != nil {
		return err
	}
	result.OK, result.Written = true, true
	return commit.ReplaceFile(r.f, t)
}

// repairMeta writes the .cmeta file again unless it is the manifest of the bulk file.
func repairMeta(e commit.Entry) ([]Repaired, error) {
	r, err := OpenEntry(e)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var open files
	defer open.close()
	was, _, err := open.open(r.metaPath())
	if err != nil {
		return nil, err
	}
	result, want := Repaired{Path: r.metaPath(), Problem: "it is missing"}, r.m.marshal()
	if was != nil {
		result.Problem = "it is damaged"
		if data, err := io.ReadAll(was); err != nil || bytes.Equal(data, want) {
			return nil, err
		}
	}
	t, err := writeTemp(r.metaPath(), want)
	if err != nil {
		return nil, err
	}
	defer t.Discard()
	if was != nil {
		err = commit.ReplaceFile(was, t)
	} else {
		err = commit.InstallMeta(e.Dir, e.Name, t)
	}
	result.OK, result.Written = err == nil, err == nil
	return []Repaired{result}, err
}
