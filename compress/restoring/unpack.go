package restoring

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
	"orcomgo/compress/archive"
	"orcomgo/compress/source"
)

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
	useGPU(src, o.GPU)
	if o.Stream == nil {
		if f := newFIFOStream(o.OutDir, ctx.Done()); f != nil {
			if o.Split > 0 {
				return nil, fmt.Errorf("%s: only files can be split, and this is a FIFO", o.OutDir)
			}
			o.Stream = f
			defer f.abort()
		}
	}
	u := &unpacker{src: src, man: src.Manifest(), o: &o, cancel: cancel}
	if u.sel, err = selectRecords(ctx, src, &o); err != nil {
		return nil, err
	}
	if o.Comments != nil && !slices.ContainsFunc(u.man.Inputs, func(in archive.Input) bool { return in.Kind == record.BAM }) {
		return nil, fmt.Errorf("%s: its inputs have no tags: none is BAM", src.Paths()[0])
	}
	if o.Names != nil || o.Records != nil || o.Chosen != nil { // for some records it takes long to decode the pseudogenome
		if p, ok := src.(*source.Packed); ok {
			p.TakeIndex(o.Memory)
		}
	}
	if o.Format == AsBAM {
		if err := u.makeBAM(ctx); err != nil {
			return nil, err
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
func (u *unpacker) summary(path string) (*Summary, error) {
	s, err := SummaryOf(u.man, u.src.Paths(), false)
	if err != nil {
		return nil, err
	}
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

// maxSplitFiles is how many files a run may write: each is open until all get their names.
const maxSplitFiles = 3000

// makeSinks decides where the text of each input goes. Of a directory it returns those above it that were missing.
func (u *unpacker) makeSinks(stop <-chan struct{}) (commit.Made, error) {
	u.sinks, u.bams = make([]*sink, len(u.man.Inputs)), make([]bool, len(u.man.Inputs))
	for i := range u.bams {
		u.bams[i] = u.asBAM(i)
	}
	if u.o.Stream != nil {
		all := &sink{stream: u.o.Stream, stop: stop}
		for i := range u.sinks {
			if u.sinks[i] = all; u.o.StreamFile && u.sel.asked[i] && u.asFile(i) {
				all.file = newGzipFile(&u.man.Inputs[i], u.o.Stream, u.o.Threads)
				all.stream = all.file
			} else if u.sel.asked[i] && u.bams[i] {
				u.o.Gzip = true
			}
		}
		if u.made != nil && u.made.first >= 0 {
			u.o.Gzip = true
			_, err := u.o.Stream.Write(u.made.headers[u.made.first]) // nothing if it comes with the records
			return nil, err
		}
		return nil, nil
	}
	parts, files := make([]int, len(u.sinks)), 0
	for i := range u.sinks {
		n := u.sel.count(u.man, i)
		if !u.sel.whole(i) && n == 0 || u.interleaved(i) && !u.man.Inputs[i].First {
			continue
		}
		parts[i] = 1
		if u.o.Split > 0 && n > 0 {
			if n = (n-1)/u.o.Split + 1; n > maxSplitFiles {
				return nil, u.tooManyFiles(n)
			}
			parts[i] = int(n)
		}
		files += parts[i]
	}
	if u.o.Split > 0 && files > maxSplitFiles {
		return nil, u.tooManyFiles(uint64(files))
	}
	u.files = make([]bool, len(u.sinks))
	for i := range u.files {
		u.files[i] = u.asFile(i)
	}
	names, err := outputNames(u.man, u.o, parts, u.files, u.bams)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.src.Paths()[0], err)
	}
	if err := u.checkCase(names); err != nil {
		return nil, err
	}
	made, err := commit.MakeDir(u.o.OutDir)
	if err != nil {
		return nil, err
	}
	for i, n := range parts {
		if n == 0 {
			continue
		}
		s := &sink{stop: stop}
		for _, name := range names[i] {
			f, err := newOutFile(u.o.OutDir, name, u.src, u.o)
			if err != nil {
				return made, err
			}
			if from := u.man.Inputs[i].Source; from != nil && u.sel.whole(i) && u.o.Split == 0 && !u.interleaved(i) && !u.o.Touch {
				f.time = from.Time // it is the whole input
			}
			if u.files[i] {
				f.input, f.gzip, f.threads = &u.man.Inputs[i], false, u.o.Threads
			} else if f.gzip = f.gzip || u.bams[i]; u.made != nil && !u.bams[i] {
				f.gzip, f.header = true, u.made.headers[i]
			}
			s.files = append(s.files, f)
		}
		u.sinks[i] = s
		if u.interleaved(i) {
			u.sinks[u.man.Inputs[i].Mate] = s
		}
	}
	for _, s := range u.sinks {
		if s != nil && s.queue == nil {
			s.begin()
		}
	}
	return made, nil
}

// asFile reports whether an input is restored as the very file that it was, and not as its text.
func (u *unpacker) asFile(i int) bool {
	in := &u.man.Inputs[i]
	return in.Source != nil && len(in.Source.Gzip) > 0 && u.notText(i)
}

// asBAM reports whether an input of BAM is restored as BAM, be it the very file or another one of the same records, and not as FASTQ.
func (u *unpacker) asBAM(i int) bool {
	return u.man.Inputs[i].Kind == record.BAM && (u.o.Stream == nil || u.o.StreamFile || u.made != nil) && u.notText(i)
}

// notText reports whether all of an input is restored, and not as its text.
func (u *unpacker) notText(i int) bool {
	in := &u.man.Inputs[i]
	some := in.Kind == record.BAM && (u.o.Format == AsFASTQ || u.o.Mate > 0)
	if some || u.o.Text || u.o.Split > 0 || !u.sel.whole(i) || u.interleaved(i) {
		return false
	}
	there, err := vfs.Stat(filepath.Join(u.o.OutDir, in.Name))
	return err != nil || there.Mode()&fs.ModeNamedPipe == 0 // FIFOs take text
}

// checkCase returns an error if two names are one name on the file system that they are restored to.
func (u *unpacker) checkCase(names [][]string) error {
	folded := make(map[string]string)
	for _, name := range slices.Concat(names...) {
		other, twice := folded[strings.ToLower(name)]
		if twice && other != name && vfs.FoldsCase(u.o.OutDir) {
			return fmt.Errorf("%s: %s and %s differ by case only, which does not count on this file system: choose one by --input",
				u.o.OutDir, other, name)
		}
		folded[strings.ToLower(name)] = name
	}
	return nil
}

func (u *unpacker) tooManyFiles(n uint64) error {
	return fmt.Errorf("%s: %d files of %d records are more than the %d that can be written at once", u.o.OutDir, n, u.o.Split,
		maxSplitFiles)
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
func (u *unpacker) name() error {
	if u.o.Stream != nil {
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
		if u.o.Split == 0 {
			u.status[i].Parts = 0
		}
		if u.interleaved(i) && !u.man.Inputs[i].First {
			continue
		}
		for _, f := range s.files {
			if err := f.name(u.o.Force); err != nil {
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
	if err := vfs.SyncDir(u.o.OutDir); err != nil {
		return fmt.Errorf("%w (the files are restored, but a power cut now may lose them)", err)
	}
	return nil
}
