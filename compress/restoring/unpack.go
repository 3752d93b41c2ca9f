package restoring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"orcomgo/bins/parse"
	"path"
	"slices"
	"strings"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/compress/archive"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// UnpackOptions control Unpack. Either OutDir or Stream is set.
type UnpackOptions struct {
	Threads int
	Memory  uint64 // bytes aimed for; 0 for the package's default

	// OutDir is the directory to restore the inputs in, made if it is missing. If it is a FIFO, it is written to as Stream is. FIFOs in
	// the directory are written to under the names of the files, those of mates at the same time.
	OutDir string
	Stream io.Writer // all text goes here, input after input
	// Interleave puts the mates of a pair in turn, instead of one input after the other, or instead of two files.
	Interleave bool
	// Gzip compresses the output, as BGZF; file names get .gz.
	Gzip bool
	// Split, if not 0, restores files of so many records, of an input or, interleaved, of both inputs of a pair.
	Split uint64
	// Force overwrites files.
	Force bool
	// Touch gives the files the present time, and not that which the files of the inputs had.
	Touch bool

	// What is restored. The zero values are everything. Names of files say which records they have.
	Records *RecordRange // of each input
	Chosen  []Place      // these records and their mates
	Inputs  []string     // names of inputs, or patterns as of path.Match
	Samples []string     // names of samples, of an archive of several
	Mate    int          // 1 or 2: only first or second mates
	Names   *NameFilter  // records by their names; of pairs, one mate's name is enough, if its input is asked for

	Progress workers.Progress // may be nil
}

// check returns an error for options that exclude each other.
func (o *UnpackOptions) check() error {
	switch {
	case (o.OutDir == "") == (o.Stream == nil):
		return errors.New("unpack: expected a directory or a stream to write to")
	case o.Split > 0 && o.Stream != nil:
		return errors.New("unpack: only files can be split")
	case o.Mate < 0 || o.Mate > 2:
		return fmt.Errorf("unpack: there are mates 1 and 2, not %d", o.Mate)
	case o.Interleave && o.Mate > 0:
		return errors.New("unpack: one of the mates can't be interleaved")
	case o.Records != nil && o.Records.From >= o.Records.To:
		return fmt.Errorf("unpack: there are no records from %d to %d", o.Records.From+1, o.Records.To)
	}
	for _, p := range o.Inputs {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("unpack: %q is no valid pattern", p)
		}
	}
	return nil
}

// partial reports whether some of the records are restored, for which it takes long to decode the pseudogenome.
func (o *UnpackOptions) partial() bool { return o.Names != nil || o.Records != nil || o.Chosen != nil }

// Unpack gives back the text of the archive that path leads to, from the packed archive or,
// before it is packed, from the bins. A file gets its name only after all of it was checked;
// on a stream, or in a FIFO, a slice is written once it was. Of a slice of which some records are restored, only what they need
// is decoded, and it is compared with the checksums of the sections alone.
//
// Where some inputs are damaged, the others are restored: the error is then a DamagedError,
// and the Summary says in Files which are damaged. A stream or FIFO ends at the first damage.
func Unpack(ctx context.Context, path string, o UnpackOptions) (_ *Summary, failed error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	src, err := source.Open(path, o.Threads, o.Memory)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if o.Stream == nil {
		if f := newFIFOStream(o.OutDir, ctx.Done()); f != nil {
			if o.Split > 0 {
				return nil, fmt.Errorf("%s: only files can be split, and this is a FIFO", o.OutDir)
			}
			o.Stream = f
			defer f.abort()
		}
	}
	u := &Unpacker{src: src, Man: src.Manifest(), O: &o, cancel: cancel}
	if u.sel, err = selectRecords(ctx, src, &o); err != nil {
		return nil, err
	}
	if o.partial() {
		if p, ok := src.(*source.Packed); ok {
			p.TakeIndex(o.Memory)
		}
	}
	made, err := u.makeSinks(ctx.Done())
	defer func() {
		cancel()
		for _, s := range u.sinks {
			s.abort()
		}
		if failed != nil {
			made.Undo() // what files were restored in stays
		}
	}()
	if err != nil {
		return nil, err
	}
	if err := u.run(ctx); err != nil {
		return nil, err
	}
	if err := u.name(); err != nil {
		return nil, err
	}
	return u.summary(path)
}

// summary returns what was done. The error is a DamagedError if inputs are damaged.
func (u *Unpacker) summary(path string) (*Summary, error) {
	s, err := SummaryOf(u.Man, u.src.Paths(), false)
	if err != nil {
		return nil, err
	}
	s.SlicesInFlight = u.flight
	for _, k := range u.sinks {
		if k == nil {
			continue
		}
		for _, f := range k.files {
			if f.note != nil {
				s.Notes = append(s.Notes, fmt.Sprintf("the time of the original could not be set: %v", f.note))
			}
		}
	}
	damaged := 0
	for i := range u.status {
		if !u.sel.asked[i] {
			continue
		}
		if s.Files = append(s.Files, u.status[i]); !u.status[i].OK {
			damaged++
		}
	}
	for _, p := range u.src.Problems() {
		s.Notes = append(s.Notes, p.Error())
	}
	if damaged > 0 {
		return s, &DamagedError{path, damaged, len(s.Files)}
	}
	return s, nil
}

// MaxSplitFiles is how many files a run may write: each is open until all get their names.
const MaxSplitFiles = 3000

// makeSinks decides where the text of each input goes. Of a directory it returns those above it that were missing.
func (u *Unpacker) makeSinks(stop <-chan struct{}) (commit.Made, error) {
	u.sinks = make([]*sink, len(u.Man.Inputs))
	if u.O.Stream != nil {
		all := &sink{stream: u.O.Stream, stop: stop}
		for i := range u.sinks {
			u.sinks[i] = all
		}
		return nil, nil
	}
	parts, files := make([]int, len(u.sinks)), 0
	for i := range u.sinks {
		n := u.sel.count(u.Man, i)
		if !u.sel.whole(i) && n == 0 || u.interleaved(i) && !u.Man.Inputs[i].First {
			continue
		}
		parts[i] = 1
		if u.O.Split > 0 && n > 0 {
			if n = (n-1)/u.O.Split + 1; n > MaxSplitFiles {
				return nil, u.tooManyFiles(n)
			}
			parts[i] = int(n)
		}
		files += parts[i]
	}
	if u.O.Split > 0 && files > MaxSplitFiles {
		return nil, u.tooManyFiles(uint64(files))
	}
	names, err := u.OutputNames(parts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.src.Paths()[0], err)
	}
	if err := u.checkCase(names); err != nil {
		return nil, err
	}
	made, err := commit.MakeDir(u.O.OutDir)
	if err != nil {
		return nil, err
	}
	for i, n := range parts {
		if n == 0 {
			continue
		}
		s := &sink{stop: stop}
		for _, name := range names[i] {
			f, err := newOutFile(u.O.OutDir, name, u.src, u.O)
			if err != nil {
				return made, err
			}
			if from := u.Man.Inputs[i].Source; from != nil && u.sel.whole(i) && u.O.Split == 0 && !u.interleaved(i) && !u.O.Touch {
				f.time = from.Time // it is the whole input
			}
			s.files = append(s.files, f)
		}
		u.sinks[i] = s
		if u.interleaved(i) {
			u.sinks[u.Man.Inputs[i].Mate] = s
		}
	}
	for _, s := range u.sinks {
		if s != nil && s.queue == nil {
			s.begin()
		}
	}
	return made, nil
}

// checkCase returns an error if two names are one name on the file system that they are restored to.
func (u *Unpacker) checkCase(names [][]string) error {
	folded := make(map[string]string)
	for _, name := range slices.Concat(names...) {
		other, twice := folded[strings.ToLower(name)]
		if twice && other != name && vfs.FoldsCase(u.O.OutDir) {
			return fmt.Errorf("%s: %s and %s differ by case only, which does not count on this file system: choose one by --input",
				u.O.OutDir, other, name)
		}
		folded[strings.ToLower(name)] = name
	}
	return nil
}

func (u *Unpacker) tooManyFiles(n uint64) error {
	return fmt.Errorf("%s: %d files of %d records are more than the %d that can be written at once", u.O.OutDir, n, u.O.Split,
		MaxSplitFiles)
}

// interleaved reports whether an input is restored together with its mates.
func (u *Unpacker) interleaved(input int) bool {
	mate := u.Man.Inputs[input].Mate
	return u.O.Interleave && mate >= 0 && u.sel.asked[input] && u.sel.asked[mate]
}

// DamagedError says that some inputs of an archive could not be restored.
type DamagedError struct {
	Archive        string
	Damaged, Files int
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s: %d of %d files are damaged and were not restored", e.Archive, e.Damaged, e.Files)
}

// Unwrap makes it an ErrCorrupt.
func (e *DamagedError) Unwrap() error { return parse.ErrCorrupt }

// name gives the files that were restored their names, and makes these durable.
func (u *Unpacker) name() error {
	if u.O.Stream != nil {
		return nil
	}
	restored := func(i int) bool { return u.sinks[i] != nil && u.status[i].OK }
	for i, s := range u.sinks {
		if restored(i) {
			if err := s.finish(); err != nil {
				return err
			}
		}
	}
	named := false
	for i, s := range u.sinks {
		if !restored(i) {
			continue
		}
		u.status[i].Name, u.status[i].Parts = s.files[0].path, len(s.files)
		if u.O.Split == 0 {
			u.status[i].Parts = 0
		}
		if u.interleaved(i) && !u.Man.Inputs[i].First {
			continue
		}
		for _, f := range s.files {
			if err := f.name(u.O.Force); err != nil {
				if named {
					err = fmt.Errorf("%w (the files before it are restored)", err)
				}
				return err
			}
			named = named || !f.fifo
		}
	}
	if !named {
		return nil
	}
	if err := vfs.SyncDir(u.O.OutDir); err != nil {
		return fmt.Errorf("%w (the files are restored, but a power cut now may lose them)", err)
	}
	return nil
}

// Unpacker is the state of one run of Unpack.
type Unpacker struct {
	src    source.Source
	Man    *archive.Manifest
	O      *UnpackOptions
	sel    *selection
	sinks  []*sink // by input; nil: it is not restored
	checks []*TextCheck
	status []FileStatus
	flight int
	cancel func()
}
