package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
	"orcomgo/compress"
)

// job is what is restored of one archive into one directory.
type job struct {
	archive commit.Entry
	dir     string // below the root
	gzip    bool
	whole   bool // all inputs of the archive are restored
	renamed bool // the one input is restored under the name of a hard link, which is not that of its archive
	inputs  []string
	entries []int
	bytes   uint64 // of text
	work    uint64 // the same, but those whose .gz is made again count ExactWork times
}

// ExactWork is about how many bytes of text are restored in the time in which one is restored as part of its .gz, or verified so.
const ExactWork = 5

// bamKind is what compress.Information calls inputs of BAM.
var bamKind = record.BAM.Format().Name

// plan decides where entries are restored, and checks that nothing is in the way.
func (x *restoration) plan() error {
	x.out = make([]string, len(x.Entries))
	for i := range x.Entries {
		if e := &x.Entries[i]; x.o.Chosen == nil || x.o.Chosen(e) {
			x.out[i] = e.Path
		}
	}
	x.planCase()
	x.planDirectories()
	moved := x.planHardLinks()
	for i := range x.Entries {
		if e := &x.Entries[i]; x.out[i] != "" && (e.Kind == File || e.Kind == Reads) {
			x.status[i] = compress.FileStatus{Name: x.at(x.out[i]), Bytes: uint64(e.Size), OK: true, Checked: "XXH3-64"}
		}
	}
	x.planReads(moved)
	for _, i := range x.links {
		first := x.Entries[i].First
		x.out[i] = record.Renamed(x.Entries[first].Path, x.out[first], x.out[i])
	}
	return x.checkOutputs()
}

// planCase leaves out entries whose names differ only by case from those of others, where that does not count. They fail, unless they are
// directories, whose entries are put together.
func (x *restoration) planCase() {
	folded := make(map[string]int)
	folds := sync.OnceValue(func() bool { return vfs.FoldsCase(x.o.Dir) })
	for i := range x.Entries {
		e := &x.Entries[i]
		if x.out[i] == "" {
			continue
		}
		first, twice := folded[strings.ToLower(e.Path)]
		if !twice {
			folded[strings.ToLower(e.Path)] = i
			continue
		}
		if !folds() || e.Kind == Directory && x.Entries[first].Kind == Directory {
			continue
		}
		x.out[i] = ""
		x.status[i] = compress.FileStatus{Name: x.at(e.Path), Problem: "its name differs only by case from that of " + x.Entries[first].Path +
			", which does not count on this file system: restore it by --input into another directory"}
	}
}

// planDirectories adds the directories above what was chosen.
func (x *restoration) planDirectories() {
	needed := make(map[string]bool)
	for i := range x.Entries {
		for path := dir(x.out[i]); path != "" && !needed[path]; path = dir(path) {
			needed[path] = true
		}
	}
	for i := range x.Entries {
		if e := &x.Entries[i]; e.Kind == Directory && needed[e.Path] {
			x.out[i] = e.Path
		}
	}
}

// planHardLinks finds out which hard links are made of other restored files. Of a file that is restored only under other names than its
// first, the first of these gets the content; moved has such names.
func (x *restoration) planHardLinks() (moved map[int]string) {
	moved = make(map[int]string)
	for i := range x.Entries {
		e := &x.Entries[i]
		if e.Kind != HardLink || x.out[i] == "" {
			continue
		}
		if x.out[e.First] == "" {
			x.out[e.First], moved[e.First] = x.out[i], x.out[i]
			x.out[i] = ""
			continue
		}
		x.links = append(x.links, i)
	}
	return moved
}

// planReads divides the files of reads into jobs.
func (x *restoration) planReads(moved map[int]string) {
	type place struct {
		archive int
		dir     string
		gzip    bool
		moved   string // a name in moved
	}
	jobs := make(map[place]*job)
	for i := range x.Entries {
		e := &x.Entries[i]
		if e.Kind != Reads || x.out[i] == "" {
			continue
		}
		info, err := x.input(e)
		if err != nil {
			x.fail(i, err.Error())
			continue
		}
		in := &info.Inputs[e.Input]
		exact := in.Exact && !x.o.Text
		asBAM := in.Kind == bamKind && !x.o.Text
		p := place{e.Archive, dir(x.out[i]), x.o.Gzip && in.Name != base(e.Path) && !exact && !asBAM, moved[i]}
		j := jobs[p]
		if j == nil {
			j = &job{archive: commit.Entry{Dir: x.dir, Name: x.Archives[e.Archive].Name}, dir: p.dir, gzip: p.gzip, renamed: p.moved != ""}
			jobs[p] = j
			x.jobs = append(x.jobs, j)
		}
		name := in.Restored
		if (in.Exact || in.Kind == bamKind) && x.o.Text {
			name = in.Name
		}
		if p.gzip {
			name += ".gz"
		}
		restored := path.Join(dir(e.Path), name)
		if j.renamed {
			restored = record.Renamed(e.Path, restored, p.moved)
		}
		x.out[i] = restored
		x.status[i] = compress.FileStatus{Name: x.at(restored), OK: true}
		j.inputs, j.entries = append(j.inputs, in.Name), append(j.entries, i)
		if j.bytes += in.Bytes; exact {
			j.work += (ExactWork - 1) * in.Bytes
		}
		j.work += in.Bytes
		j.whole = len(j.inputs) == len(info.Inputs)
	}
}

// information describes an archive, and checks that it is the one that the side archive was made with, or one of the same files.
func (r *Reader) information(k int) (*compress.Information, error) {
	a := &r.Archives[k]
	path := filepath.Join(r.dir, a.Name)
	e, found, err := commit.Lookup(r.dir, a.Name)
	switch {
	case err != nil:
		return nil, err
	case a.ID == [16]byte{}: // what is found is of other reads
		return nil, fmt.Errorf("%s could not be archived with the directory: mend that, and archive it again", path)
	case !found || !e.Has[commit.Packed]:
		return nil, fmt.Errorf("the archive %s is missing", path)
	}
	info, err := compress.Info(e)
	if err != nil {
		return nil, err
	}
	if info.ID != fmt.Sprintf("%x", a.ID) && !r.files()[k].in(info) {
		return nil, fmt.Errorf("%s is not the archive that %s was made with: if archive --force was interrupted, give that command again "+
			"(unpack %s restores what the archive holds)", path, filepath.Base(r.path), path)
	}
	return info, nil
}

// archivedFile is a file of reads as a listing says that it was archived.
type archivedFile struct {
	input int // of its archive
	name  string
	size  int64
	time  time.Time
}

// archivedFiles are all files of reads that a listing has of an archive.
type archivedFiles []archivedFile

// filesOf returns the files of each archive of a listing.
func filesOf(l *Listing) []archivedFiles {
	files := make([]archivedFiles, len(l.Archives))
	for i := range l.Entries {
		if e := &l.Entries[i]; e.Kind == Reads {
			files[e.Archive] = append(files[e.Archive], archivedFile{e.Input, base(e.Path), e.Size, e.Time})
		}
	}
	return files
}

// in reports whether an archive is of these files, by their names, sizes and times, where these are enough to tell. So are archives that a
// run with --force and other flags put in the place of older ones, before it ended without a side archive of its own.
func (files archivedFiles) in(info *compress.Information) bool {
	for i := range files {
		f := &files[i]
		if f.input >= len(info.Inputs) || !compress.TimeTells(uint64(f.size), f.time) {
			return false
		}
		is := info.Inputs[f.input].File
		if is == nil || is.Time == nil || is.Name != f.name || is.Bytes != uint64(f.size) || !is.Time.Equal(f.time) {
			return false
		}
	}
	return len(files) > 0
}

// input describes the archive of an entry of reads. The error says why the entry can't be restored, as far as can be told without decoding.
func (r *Reader) input(e *Entry) (*compress.Information, error) {
	info, err := r.infos[e.Archive]()
	if err == nil && e.Input >= len(info.Inputs) {
		err = fmt.Errorf("%s has no input %d", filepath.Join(r.dir, info.Name), e.Input)
	}
	return info, err
}

// checkOutputs returns an error if two entries would be restored under one name, or if something is in the way.
func (x *restoration) checkOutputs() error {
	if info, err := vfs.Stat(x.o.Dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s: it is not a directory", x.o.Dir)
	}
	seen := make(map[string]int)
	for i := range x.Entries {
		e := &x.Entries[i]
		if x.out[i] == "" || (e.Kind == File || e.Kind == Reads) && !x.status[i].OK {
			continue
		}
		if k, ok := seen[x.out[i]]; ok {
			return fmt.Errorf("%s: %s and %s would be restored under the same name: choose one by --input", x.path, x.Entries[k].Path, e.Path)
		}
		seen[x.out[i]] = i
		if err := x.checkFree(x.at(x.out[i]), e.Kind); err != nil {
			return err
		}
	}
	return nil
}

// checkFree returns an error if an entry of a kind can't be restored at a path.
func (x *restoration) checkFree(path string, kind Kind) error {
	if kind == Directory {
		info, err := vfs.Lstat(path)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%s is in the way: expected a directory, or nothing", path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	replaced, err := compress.CheckNew(path, x.o.Force)
	switch {
	case replaced == nil:
		return err
	case replaced.Mode()&fs.ModeNamedPipe != 0 && kind != FIFO:
		return fmt.Errorf("%s is a FIFO: only single archives are restored into these", path)
	}
	return nil
}

// unpack restores the files of reads of a job.
func (x *restoration) unpack(ctx context.Context, j *job) error {
	before := uint64(0) // bytes that count as done
	o := compress.UnpackOptions{Threads: x.o.Threads, Memory: x.o.Memory, Gzip: j.gzip, Text: x.o.Text, Force: x.o.Force,
		Touch: x.o.Touch, GPU: x.o.GPU,
		Progress: func(_ string, done, total uint64) {
			x.mu.Lock()
			n := max(uint64(float64(j.work)*float64(done)/float64(max(total, 1))), before) - before
			before += n
			x.mu.Unlock()
			x.add(int(n))
		}}
	if !j.whole {
		for _, name := range j.inputs {
			o.Inputs = append(o.Inputs, literal.Replace(name))
		}
	}
	// With the extension the path can't be that of a directory.
	path := j.archive.Path() + commit.PackedDataExt
	if j.renamed {
		return x.unpackRenamed(ctx, path, j.entries[0], o)
	}
	o.OutDir = x.at(j.dir)
	sum, err := compress.Unpack(ctx, path, o)
	var damaged *compress.DamagedError
	if err != nil && !errors.As(err, &damaged) {
		return x.damage(ctx, j.entries, err)
	}
	x.sum.Notes = append(x.sum.Notes, sum.Notes...)
	return x.unpacked(j, sum.Files)
}

// damage notes that entries can't be restored because of damage. Other errors it returns.
func (x *restoration) damage(ctx context.Context, entries []int, err error) error {
	if ctx.Err() != nil || !compress.IsDamage(err) {
		return err
	}
	for _, i := range entries {
		x.fail(i, err.Error())
	}
	return nil
}

// unpackRenamed restores entry i, which is one input of the archive at path, under a name that the archive doesn't know. Nothing is
// written under the name that it does know: that may be one of the user's files.
func (x *restoration) unpackRenamed(ctx context.Context, path string, i int, o compress.UnpackOptions) error {
	f, err := commit.NewTemp(x.at(x.out[i]))
	if err != nil {
		return err
	}
	defer f.Discard()
	o.Stream, o.StreamFile = f, true
	sum, err := compress.Unpack(ctx, path, o)
	if err != nil {
		return x.damage(ctx, []int{i}, err)
	}
	if err := x.name(i, f); err != nil {
		return err
	}
	s := &x.status[i]
	s.Records, s.Bytes, s.Checked = sum.Files[0].Records, sum.Files[0].Bytes, sum.Files[0].Checked
	return nil
}

// literal makes a name a pattern that matches nothing else.
var literal = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// unpacked completes the files that were restored of an archive. status is that of its inputs in their order.
func (x *restoration) unpacked(j *job, status []compress.FileStatus) error {
	byName := make(map[string]compress.FileStatus)
	for _, s := range status {
		byName[s.Name] = s
	}
	for k, i := range j.entries {
		s, ok := byName[x.at(x.out[i])]
		if !ok { // the name of the input is that of a damaged one
			s = byName[j.inputs[k]]
		}
		s.Name = x.at(x.out[i])
		if x.status[i] = s; !s.OK {
			continue
		}
		x.describePath(s.Name, &x.Entries[i])
	}
	return nil
}

// WriteReads writes the text of entry i, of Reads, to w, compressed if gzip is set and the file that was archived was.
func (r *Reader) WriteReads(ctx context.Context, w io.Writer, i int, gzip bool) error {
	e := &r.Entries[i]
	info, err := r.input(e)
	if err != nil {
		return fmt.Errorf("%s: %w", e.Path, err)
	}
	name := info.Inputs[e.Input].Name
	o := compress.UnpackOptions{Threads: r.o.Threads, Memory: r.o.Memory, Stream: w, Gzip: gzip && name != base(e.Path),
		Inputs: []string{literal.Replace(name)}}
	_, err = compress.Unpack(ctx, filepath.Join(r.dir, r.Archives[e.Archive].Name)+commit.PackedDataExt, o)
	return err
}
