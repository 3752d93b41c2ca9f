package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/compress"
	"orcomgo/compress/sidefiles"
)

// RestoreOptions control Restore.
type RestoreOptions struct {
	Dir string // made if it is missing
	// Chosen says which entries are restored, nil: all. The directories above them are restored as well.
	Chosen func(e *Entry) bool
	// Gzip restores reads that were compressed as .gz; else their text is restored, under the name without the extension.
	Gzip bool
	// Text restores the text of .gz that would come back as they were.
	Text bool
	// Touch leaves out the times, Force overwrites files.
	Touch, Force bool
	// Owner restores owners, and with them set-user-ID and set-group-ID; only root may.
	Owner bool

	Threads  int
	Memory   uint64
	GPU      func(note string)        // as in compress.UnpackOptions
	Progress func(done, total uint64) // in bytes of content, in several goroutines; may be nil
}

// Summary is what Restore did.
type Summary struct {
	Files       []compress.FileStatus // side files and files of reads, under the paths that they were restored at
	Directories int
	Links       int // symbolic and hard links, and FIFOs
	Notes       []string
}

// restoration is one run of Restore.
type restoration struct {
	*Reader
	o      *RestoreOptions
	done   atomic.Uint64 // bytes of content, those of side files as weight
	all    uint64        // of done
	bytes  uint64        // of content that is restored
	weight uint64        // of side files: see Weight
	sum    Summary
	status []compress.FileStatus // of each entry; without a name for those that are not restored
	made   map[string]bool       // directories that were made, by their paths below the root
	jobs   []*job                // an archive each
	out    []string              // where entries are restored, below the root; "" for those that are not
	links  []int                 // hard links that are made of other restored files
	group  errgroup.Group        // files that are being synced and named
	mu     sync.Mutex            // of status, notes, and what an archive has done
}

// Restore restores the directory, or some of it, from the side archive and the archives beside it. A file gets its name only when all of
// it was compared with its checksum. Nothing is written through symbolic links below Dir.
//
// Where files are damaged, or archives are missing, the others are restored: the error is then a compress.DamagedError, and Files says
// which.
func (r *Reader) Restore(ctx context.Context, o RestoreOptions) (*Summary, error) {
	x := &restoration{Reader: r, o: &o, made: make(map[string]bool), status: make([]compress.FileStatus, len(r.Entries))}
	x.group.SetLimit(16)
	if err := x.plan(); err != nil {
		return nil, err
	}
	if r.mended != nil {
		x.note("%v", r.mended)
	}
	special := 0
	for i := range r.Entries {
		if x.out[i] != "" && r.Entries[i].Mode&setID != 0 && !o.Owner {
			special++
		}
	}
	if special > 0 {
		x.note("set-user-ID and set-group-ID are not restored, since owners are not (--owner does both): entries that had them: %d", special)
	}
	for _, line := range r.LeftOut {
		x.note("left out when the directory was archived: %s", line)
	}
	x.weight = r.Weight()
	x.bytes, x.all = x.total(1, func(j *job) uint64 { return j.bytes }), x.total(x.weight, func(j *job) uint64 { return j.work })
	x.add(0)
	made, err := x.directories()
	undo := func() {
		for _, path := range slices.Backward(made) {
			vfs.Remove(path) // fails if something is in it
		}
	}
	defer commit.IfAbandoned(undo)()
	if err == nil {
		err = x.contents(ctx)
	}
	if wait := x.group.Wait(); err == nil {
		err = wait
	}
	if err == nil {
		err = x.linkAll()
	}
	if err == nil {
		err = x.finishDirectories()
	}
	if err != nil {
		undo()
		return nil, err
	}
	return x.summary()
}

// summary returns what was done.
func (x *restoration) summary() (*Summary, error) {
	damaged := 0
	for i := range x.status {
		if s := x.status[i]; s.Name != "" {
			if x.sum.Files = append(x.sum.Files, s); !s.OK {
				damaged++
			}
		}
	}
	if damaged > 0 {
		return &x.sum, &compress.DamagedError{Archive: x.path, Damaged: damaged, Files: len(x.sum.Files)}
	}
	return &x.sum, nil
}

// at returns the path in the file system of one below the root.
func (x *restoration) at(path string) string { return filepath.Join(x.o.Dir, path) }

// add counts bytes of content that were restored, those of side files as weight.
func (x *restoration) add(n int) {
	if done := x.done.Add(uint64(n)); x.o.Progress != nil {
		x.o.Progress(uint64(float64(x.bytes)*min(float64(done)/float64(max(x.all, 1)), 1)), x.bytes)
	}
}

// total returns how many bytes of content are restored, those of side files as `side`.
func (x *restoration) total(side uint64, ofReads func(j *job) uint64) (n uint64) {
	for i := range x.Entries {
		if x.Entries[i].Kind == File && x.out[i] != "" {
			n += side * uint64(x.Entries[i].Size)
		}
	}
	for _, j := range x.jobs {
		n += ofReads(j)
	}
	return n
}

// note adds a line to the summary.
func (x *restoration) note(format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sum.Notes = append(x.sum.Notes, fmt.Sprintf(format, args...))
}

// fail notes that entry i can't be restored.
func (x *restoration) fail(i int, problem string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status[i].OK, x.status[i].Problem = false, problem
}

// directories makes the directories. It returns those above the root that were missing, and it.
func (x *restoration) directories() (commit.Made, error) {
	made, err := commit.MakeDir(x.o.Dir)
	if err != nil {
		return nil, err
	}
	if len(made) > 0 {
		_ = vfs.SetMode(x.o.Dir, 0o700) // until it has its own
	}
	list, err := vfs.ReadDir(x.o.Dir)
	if err != nil {
		return made, err
	}
	x.made[""] = len(list) == 0
	for i := range x.Entries {
		if x.Entries[i].Kind != Directory || x.out[i] == "" {
			continue
		}
		err := vfs.Mkdir(x.at(x.out[i]), 0o700)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return made, err
		}
		if err == nil {
			x.made[x.out[i]] = true
			made = append(made, x.at(x.out[i]))
		}
		x.sum.Directories++
	}
	return made, nil
}

// contents restores side files and reads.
func (x *restoration) contents(ctx context.Context) error {
	want := make([]bool, len(x.entry))
	any := false
	for k, i := range x.entry {
		want[k] = x.out[i] != ""
		any = any || want[k]
	}
	if any {
		s := &sink{x: x}
		err := x.side.Extract(ctx, want, sidefiles.Sink{Begin: s.begin, End: s.end})
		if s.f != nil { // it is not complete
			s.f.f.Discard()
		}
		if err != nil {
			return err
		}
	}
	for _, j := range x.jobs {
		if err := x.unpack(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

// sink restores side files.
type sink struct {
	x *restoration
	f *holeWriter // that is being written
}

// begin is that of sidefiles.Sink.
func (s *sink) begin(k int) (io.Writer, error) {
	f, err := commit.NewTemp(s.x.at(s.x.out[s.x.entry[k]]))
	if err != nil {
		return nil, err
	}
	s.f = &holeWriter{f: f, written: func(n int) { s.x.add(int(s.x.weight) * n) }}
	return s.f, nil
}

// end is that of sidefiles.Sink.
func (s *sink) end(k int, damage error) error {
	i, f, w := s.x.entry[k], s.f.f, s.f
	s.f = nil
	if damage != nil {
		f.Discard()
		s.x.fail(i, "it is damaged in "+s.x.path)
		return nil
	}
	s.x.group.Go(func() error {
		defer f.Discard()
		if err := w.finish(); err != nil {
			return err
		}
		return s.x.name(i, f)
	})
	return nil
}

// name completes a restored file and gives it its name.
func (x *restoration) name(i int, f *commit.Temp) error {
	x.describe(f, &x.Entries[i])
	if err := f.Sync(); err != nil {
		return err
	}
	path := x.at(x.out[i])
	err := f.Install(path, x.o.Force)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s: %w", path, compress.ErrFileExists)
	}
	return err
}

// linkAll makes hard links, FIFOs and symbolic links, after all contents, so that nothing is written through a link.
func (x *restoration) linkAll() error {
	for _, i := range x.links {
		if err := x.hardLink(i); err != nil {
			return err
		}
	}
	for i := range x.Entries {
		e := &x.Entries[i]
		if x.out[i] == "" || e.Kind != FIFO && e.Kind != Link {
			continue
		}
		path := x.at(x.out[i])
		err := x.replace(path, func(path string) error {
			if e.Kind == Link {
				return vfs.Symlink(e.Target, path)
			}
			return vfs.MakeFIFO(path)
		})
		switch {
		case err != nil:
			return err
		case e.Kind == FIFO:
			x.describePath(path, e)
		case x.o.Owner:
			if err := vfs.SetLinkOwner(path, e.Owner); err != nil {
				x.note("the owner of the original could not be set: %v", err)
			}
		}
		if e.Kind == Link && !x.o.Touch {
			vfs.SetLinkTime(path, e.Time) // some systems have none
		}
		x.sum.Links++
	}
	return nil
}

// replace calls create for something that has no content. With Force that is made under another name and then takes the place of what is
// at path, which stays there if either fails. A directory is never replaced.
func (x *restoration) replace(path string, create func(path string) error) error {
	if !x.o.Force {
		return create(path)
	}
	return commit.Replace(path, create)
}

// hardLink makes entry i another name of the file that its first name was restored as, or where that is not possible a copy of it.
func (x *restoration) hardLink(i int) error {
	first := x.Entries[i].First
	if !x.status[first].OK {
		return nil
	}
	path := x.at(x.out[i])
	x.sum.Links++
	err := x.replace(path, func(path string) error { return vfs.HardLink(x.at(x.out[first]), path) })
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	from, err := vfs.OpenRegular(x.at(x.out[first]))
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := commit.NewTemp(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := io.Copy(f, from); err != nil {
		return err
	}
	x.describe(f, &x.Entries[first])
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Install(path, x.o.Force)
}

// setID are set-user-ID and set-group-ID.
const setID = 0o6000

// described is a file that gets its owner, mode and time: under its name, or before it has one.
type described interface {
	SetOwner(o vfs.Owner) error
	SetMode(bits uint32) error
	SetTime(t time.Time) error
}

// describe gives a file or a directory the owner, mode and time of an entry, as far as the options say. The mode is no more than the umask
// allows, without set-user-ID and set-group-ID if the owner is not restored. What can't be set is noted.
func (x *restoration) describe(f described, e *Entry) {
	mode := vfs.Masked(e.Mode)
	owned := x.o.Owner
	if owned {
		if err := f.SetOwner(e.Owner); err != nil {
			x.note("the owner of the original could not be set: %v", err)
			owned = false
		}
	}
	if !owned {
		mode &^= setID
	}
	if err := f.SetMode(mode); err != nil {
		x.note("the mode of the original could not be set: %v", err)
	}
	if !x.o.Touch {
		if err := f.SetTime(e.Time); err != nil {
			x.note("the time of the original could not be set: %v", err)
		}
	}
}

// byPath is something that is described by its path. It has no owner then.
type byPath string

func (p byPath) SetOwner(vfs.Owner) error  { return errors.ErrUnsupported }
func (p byPath) SetMode(bits uint32) error { return vfs.SetMode(string(p), bits) }
func (p byPath) SetTime(t time.Time) error { return vfs.SetTime(string(p), t) }

// describePath is describe of what is at path. With the owner it is opened first: a link that somebody puts in its place meanwhile must not
// give another file set-user-ID.
func (x *restoration) describePath(path string, e *Entry) {
	if !x.o.Owner {
		x.describe(byPath(path), e)
		return
	}
	f, err := vfs.OpenEntry(path)
	if err != nil {
		x.note("the owner of the original could not be set: %v", err)
		return
	}
	defer f.Close()
	x.describe(f, e)
}

// finishDirectories gives directories their modes and times, the innermost first, and makes the names in them durable.
func (x *restoration) finishDirectories() error {
	for i := range slices.Backward(x.Entries) {
		e := &x.Entries[i]
		if e.Kind != Directory || x.out[i] == "" {
			continue
		}
		path := x.at(x.out[i])
		if err := vfs.SyncDir(path); err != nil {
			return err
		}
		x.describePath(path, e)
	}
	if err := vfs.SyncDir(x.o.Dir); err != nil {
		return err
	}
	if x.made[""] {
		x.describePath(x.o.Dir+"/.", &Entry{Mode: x.Mode, Owner: x.Owner, Time: x.Time}) // -o may be a link
	}
	return nil
}
