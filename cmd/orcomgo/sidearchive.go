package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"orcomgo/binning"
	"orcomgo/binning/samples"
	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/cmd/orcomgo/batches"
	"orcomgo/compress"
	"orcomgo/compress/tree"
)

// sideResult is what became of the side archive of a directory.
type sideResult struct {
	result
	name   string
	files  int // whose content is in it
	others int // directories, links and FIFOs
	bytes  uint64
	stored int64
}

// sideName returns the name of the side archive of a directory.
func sideName(root string) string {
	path, err := filepath.Abs(root)
	name := filepath.Base(path)
	if err != nil || commit.CheckName(name) != nil {
		name = "root"
	}
	return binning.CutName(name)
}

// sides are the side archives of the directories of a batch.
func (b *batch) sides(ctx context.Context) {
	for _, t := range b.trees {
		if ctx.Err() != nil {
			return
		}
		began := time.Now()
		r := &sideResult{name: sideName(t.Root)}
		b.log.event("side archive begins", "name", r.name)
		r.err = hint(b.side(ctx, t, r))
		r.took = time.Since(began)
		if ctx.Err() != nil {
			return
		}
		b.sideResults = append(b.sideResults, r)
		b.log.event("side archive ends", "name", r.name, "result", r.text(), "seconds", r.took.Seconds())
		if r.err != nil {
			b.bar.note(r.text())
		}
	}
}

// sideTotal returns how many bytes the side files have.
func (b *batch) sideTotal() (n uint64) {
	for _, t := range b.trees {
		for i := range t.Files {
			if t.Files[i].Class == samples.Other {
				n += uint64(t.Files[i].Info.Size())
			}
		}
	}
	return n
}

// side makes the side archive of a directory, unless the one that is there is of the directory as it is now. If another run writes one
// meanwhile, that is compared with the directory in its turn.
func (b *batch) side(ctx context.Context, t *samples.Tree, r *sideResult) (err error) {
	again := true
	for try := 0; again && try < 10 && ctx.Err() == nil; try++ {
		again, err = b.sideOnce(ctx, t, r)
	}
	return err
}

// sideOnce is side, but reports by again that another run wrote a side archive meanwhile.
func (b *batch) sideOnce(ctx context.Context, t *samples.Tree, r *sideResult) (again bool, err error) {
	r.files, r.others, r.bytes = 0, 0, 0
	old, err := b.olderSide(r.name)
	if err != nil {
		return false, err
	}
	if old != nil {
		defer old.Close()
		r.stored = old.Stored()
	}
	l, files, err := b.listing(t, old)
	if err != nil {
		return false, err
	}
	for i := range l.Entries {
		switch e := &l.Entries[i]; e.Kind {
		case tree.File:
			r.files++
			r.bytes += uint64(e.Size)
		case tree.Reads:
		default:
			r.others++
		}
	}
	open := func(e *tree.Entry) (io.ReadCloser, error) { return files[e.Path].Open() }
	if old != nil && (!b.force || len(t.Unread) > 0) {
		path := commit.Tree{Dir: b.config.OutDir, Name: r.name}.Path()
		switch d, what, err := old.Compare(ctx, l, open); {
		case err != nil:
			return false, err
		case d == tree.Lost && b.force:
			return false, fmt.Errorf("%s is kept, since not everything of %s can be read now: %s", path, t.Root, what)
		case d == tree.Lost:
			return false, fmt.Errorf("%s: %w: %s", path, commit.ErrExists, what)
		case d == tree.Same && !b.force:
			r.outcome = batches.WasThere
			return false, nil
		}
	}
	if n, path := withAttributes(t); n > 0 {
		text := fmt.Sprintf("%s: extended attributes and ACLs are not kept: %s has some", r.name, path)
		if n > 1 {
			text += fmt.Sprintf(", and %d more", n-1)
		}
		b.bar.note(text)
	}
	o := tree.Options{Threads: b.threads, Memory: uint64(b.memory), Parity: float64(b.parity),
		Progress: func(n int) { b.sideBytes.Add(uint64(n)) }}
	o.Access.Add(t.Info, searchable(t.Info.Mode()))
	for _, f := range files {
		o.Access.Add(f.Info, b.allowed[f.Path])
	}
	replaces := func(now fs.FileInfo) bool { return b.force || old != nil && old.IsFile(now) }
	complete := func() error { return b.replaced(l) }
	r.stored, err = tree.Make(ctx, b.config.OutDir, r.name, l, open, replaces, complete, b.noVerify, o)
	return errors.Is(err, commit.ErrExists), err
}

// withAttributes returns how many files and directories have extended attributes or ACLs, and the path of one of them.
func withAttributes(t *samples.Tree) (n int, path string) {
	for i := range t.Files {
		if f := &t.Files[i]; f.Class != samples.Archive && f.Class != samples.Link && vfs.HasAttributes(f.Path) {
			if n == 0 {
				path = f.Path
			}
			n++
		}
	}
	return n, path
}

// olderSide opens the side archive that is there; nil if there is none, or if it is replaced whatever it holds.
func (b *batch) olderSide(name string) (*tree.Reader, error) {
	t, found, err := commit.LookupTree(b.config.OutDir, name)
	if err != nil || !found {
		return nil, err
	}
	old, err := tree.Open(t, tree.Options{Threads: 1})
	if err == nil && old.Damage() != nil {
		old, err = nil, errors.Join(old.Damage(), old.Close())
	}
	switch {
	case err != nil && b.force:
		return nil, nil
	case compress.IsDamage(err):
		return nil, fmt.Errorf("%s: %w, and it can't be read: %w", t.Path(), commit.ErrExists, err)
	}
	return old, err
}

// listing describes a directory for its side archive. What is recorded of samples that failed is taken over from an older one. It also
// returns the files by their paths.
func (b *batch) listing(t *samples.Tree, old *tree.Reader) (*tree.Listing, map[string]*samples.File, error) {
	l := &tree.Listing{Tool: tool, Mode: tree.ModeOf(t.Info.Mode()), Time: t.Info.ModTime()}
	l.Owner, _ = vfs.OwnerOf(t.Info)
	for _, err := range t.Unread {
		l.LeftOut = append(l.LeftOut, oneLine(err.Error()))
	}
	reads := b.places(t, l)
	before := make(map[string]*tree.Entry)
	if old != nil {
		for i := range old.Entries {
			before[old.Entries[i].Path] = &old.Entries[i]
		}
	}
	at, files := make(map[string]int), make(map[string]*samples.File)
	for i := range t.Files {
		f := &t.Files[i]
		e := tree.Entry{Path: f.Rel, Mode: tree.ModeOf(f.Info.Mode()), Time: f.Info.ModTime()}
		e.Owner, _ = vfs.OwnerOf(f.Info)
		switch f.Class {
		case samples.Archive:
			continue
		case samples.Directory:
			e.Kind = tree.Directory
		case samples.FIFO:
			e.Kind = tree.FIFO
		case samples.Link:
			e.Kind, e.Target, e.Mode = tree.Link, f.Target, 0
		case samples.HardLink:
			e = tree.Entry{Path: f.Rel, Kind: tree.HardLink}
		case samples.Reads:
			e.Kind, e.Size = tree.Reads, f.Info.Size()
			p := reads[f.Path]
			if e.Archive, e.Input = p.archive, p.input; l.Archives[p.archive].ID == [16]byte{} {
				if was := before[f.Rel]; was != nil && was.Kind == tree.Reads && old.Archives[was.Archive].Name == l.Archives[p.archive].Name {
					e = *was
					e.Archive = p.archive
					l.Archives[p.archive].ID = old.Archives[was.Archive].ID
				}
			}
		default:
			if err := f.Refresh(); err != nil {
				return nil, nil, err
			}
			e.Kind, e.Mode, e.Time, e.Size = tree.File, tree.ModeOf(f.Info.Mode()), f.Info.ModTime(), f.Info.Size()
			e.Owner, _ = vfs.OwnerOf(f.Info)
			files[f.Rel] = f
		}
		at[f.Rel] = len(l.Entries)
		l.Entries = append(l.Entries, e)
	}
	for i := range t.Files {
		if f := &t.Files[i]; f.Class == samples.HardLink {
			first, ok := at[f.Target]
			if !ok {
				return nil, nil, fmt.Errorf("%s: it is a hard link to %s, which is not archived", f.Path, f.Target)
			}
			l.Entries[at[f.Rel]].First = first
		}
	}
	return l, files, nil
}

// place is where a file of reads is archived.
type place struct{ archive, input int }

// places adds the archives of a directory's samples to a listing, and returns where each file of reads is.
func (b *batch) places(t *samples.Tree, l *tree.Listing) map[string]place {
	at := make(map[string]place)
	for i := range t.Files {
		if t.Files[i].Class == samples.Reads {
			at[t.Files[i].Path] = place{}
		}
	}
	for i := range b.list {
		here := func(in binning.InputSpec) bool { _, ok := at[in.Path]; return ok } // a group may be of several directories
		if !slices.ContainsFunc(b.list[i].Inputs, here) {
			continue
		}
		a := tree.Archive{Name: b.list[i].Name}
		if r := &b.results[i]; r.tried && r.err == nil {
			a.ID = r.summary.ID
		}
		for k, in := range b.list[i].Inputs {
			if here(in) {
				at[in.Path] = place{len(l.Archives), k}
			}
		}
		l.Archives = append(l.Archives, a)
	}
	return at
}

// replaced returns an error if an archive of a listing is not the one that this run made or found: another run has replaced it. The
// directory is listed once for all of them, since other runs wait meanwhile.
func (b *batch) replaced(l *tree.Listing) error {
	listed := make(map[tree.Archive]bool, len(l.Archives))
	for _, a := range l.Archives {
		listed[a] = true
	}
	found, err := commit.Find(b.config.OutDir)
	if err != nil && !errors.Is(err, commit.ErrNotArchive) {
		return err
	}
	there := make(map[string]commit.Entry, len(found))
	for _, e := range found {
		there[e.Name] = e
	}
	for i := range b.list {
		s, r := &b.list[i], &b.results[i]
		if !r.tried || r.err != nil || !listed[tree.Archive{Name: s.Name, ID: r.summary.ID}] {
			continue
		}
		e, ok := there[s.Name]
		if !ok {
			return fmt.Errorf("%s: %w", b.path(i), commit.ErrNotArchive)
		}
		now, err := compress.Info(e)
		if err != nil {
			return err
		}
		same := func(in compress.InputInformation, name string) bool { return in.Name == name }
		if now.ID != hex.EncodeToString(r.summary.ID[:]) || !slices.EqualFunc(now.Inputs, batches.RestoredNames(s), same) {
			return batches.ReplacedMeanwhile(b.path(i))
		}
	}
	return nil
}
