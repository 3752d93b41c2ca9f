package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"orcomgo/binning"
	"orcomgo/bins/commit"
	"orcomgo/compress"
	"orcomgo/compress/tree"
)

// archiving is an archive to be made, or to be finished.
type archiving struct {
	config binning.Config
	pack   compress.PackOptions
	// level is what the command line says; nil for any that an archive has already.
	level *compress.Level
	// report and finish are those of progress, note prints a line.
	report func(stage string, done, total uint64)
	finish func(stage string)
	note   func(line string)
	// device is that of the command line.
	device string
	// bins is how many bytes of bins were made.
	bins uint64
}

// outcome says what archiving did.
type outcome int

const (
	archived outcome = iota
	wasThere         // and is complete
)

// archiving returns what is to be done for the inputs of c.
func (o *archiveFlags) archiving(c binning.Config, level compress.Level) *archiving {
	a := &archiving{config: c, pack: o.packOptions(&c, level), device: o.device}
	if a.config.Name == "" {
		a.config.Name = binning.ArchiveName(c.Inputs)
	}
	if o.given("level") {
		a.level = &level
	}
	a.config.Hold, a.config.TempDir = c.Memory/uint64(heldShare), o.tempDir
	return a
}

// mayReplace has the archive replace none that a side archive needs, even with --force.
func (a *archiving) mayReplace(needs *tree.Needs) {
	if a.config.Force {
		needs.Read()
	}
	// Not one of the same ID either: its files may have other names.
	a.config.MayReplace = func(_, name string, _ [16]byte) error { return needs.Check(name, [16]byte{}) }
	a.pack.MayReplace = a.config.MayReplace
}

// path returns DIR/NAME of the archive.
func (a *archiving) path() string { return filepath.Join(a.config.OutDir, a.config.Name) }

// run makes the archive. If there is one of the same inputs it is left as it is, and bins of them are packed. That holds for one that
// another run makes meanwhile, too.
func (a *archiving) run(ctx context.Context) (*compress.Summary, outcome, error) {
	a.config.Progress, a.config.Note = a.report, a.note
	a.pack.Progress, a.pack.Note = a.report, a.note
	if a.config.Force {
		return a.make(ctx)
	}
	e, found, err := commit.Lookup(a.config.OutDir, a.config.Name)
	switch {
	case err != nil:
		return nil, archived, err
	case found:
		return a.goOn(ctx, e)
	}
	summary, outcome, err := a.make(ctx)
	if errors.Is(err, commit.ErrExists) {
		if e, found, lookupErr := commit.Lookup(a.config.OutDir, a.config.Name); found && lookupErr == nil {
			return a.goOn(ctx, e)
		}
	}
	return summary, outcome, err
}

// make makes the archive.
func (a *archiving) make(ctx context.Context) (*compress.Summary, outcome, error) {
	bins, summary, err := binning.RunUnnamed(ctx, a.config)
	if err != nil {
		return nil, archived, err
	}
	defer bins.Close()
	a.finish(binning.Stage)
	a.bins = summary.BinBytes
	garbage.collect() // the blocks are garbage now, and packing should not begin with them
	if err := a.checkGPU(summary.DeviceFailed); err != nil {
		return nil, archived, err
	}
	a.pack.Text = a.text
	packed, err := packUnnamed(ctx, bins, a.pack)
	return packed, archived, err
}

// text opens the file of an input, if it is one.
func (a *archiving) text(input int) (io.ReadCloser, error) {
	path := a.config.Inputs[input].Path
	if path == "-" {
		return nil, nil
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, err // a FIFO would wait for a writer
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// checkGPU has pack use no GPU if there is none that can be used; failed says that it failed in the middle of binning. Binning begins
// before that is known.
func (a *archiving) checkGPU(failed bool) error {
	if !a.pack.GPU {
		return nil
	}
	usable, err := usableGPU(a.device)
	a.pack.GPU = usable && !failed
	return err
}

// comparing is the name of the stage in which inputs are compared with an archive.
const comparing = "comparing inputs"

// goOn finishes an archive that is there, if it was made of the same inputs.
func (a *archiving) goOn(ctx context.Context, e commit.Entry) (*compress.Summary, outcome, error) {
	before, _ := compress.Info(e) // MadeOf says what is wrong
	difference, err := compress.MadeOf(ctx, e, a.originals(ctx), compress.SameOptions{Options: a.config.Options, Level: a.level})
	switch {
	case compress.IsDamage(err):
		return nil, archived, fmt.Errorf("%s: %w, and it can't be read: %w", e.Path(), commit.ErrExists, err)
	case err != nil:
		return nil, archived, err
	case difference != "":
		return nil, archived, fmt.Errorf("%s: %w: %s", e.Path(), commit.ErrExists, difference)
	}
	a.finish(comparing)
	a.finish(binning.Stage)
	if e.Has[commit.Bins] {
		a.note("packing the bins of these inputs, which are there already")
	}
	if err := a.checkGPU(false); err != nil {
		return nil, archived, err
	}
	// With the extension the path can't be that of a directory.
	summary, err := packBins(ctx, e.Path()+commit.PackedDataExt, a.pack)
	if err != nil || !summary.AlreadyPacked {
		return summary, archived, err
	}
	if before != nil && before.Stage == "packed" && before.ID != hex.EncodeToString(summary.ID[:]) {
		return nil, archived, replacedMeanwhile(e.Path())
	}
	return summary, wasThere, nil
}

// replacedMeanwhile is the error for an archive that this run made, or compared with its inputs, and that is another one now.
func replacedMeanwhile(path string) error {
	return fmt.Errorf("another run replaced %s meanwhile: give the command again", path)
}

// originals describes the inputs for a comparison.
func (a *archiving) originals(ctx context.Context) []compress.Original {
	list := make([]compress.Original, len(a.config.Inputs))
	total, before := storedSize(a.config.Inputs), uint64(0)
	for i, in := range a.config.Inputs {
		list[i] = compress.Original{Name: binning.RestoredName(in.Path), Mate: in.Mate, First: in.First, Further: in.Further, Lead: in.Lead}
		info, err := os.Stat(in.Path)
		if in.Path == "-" || err == nil && !info.Mode().IsRegular() {
			continue
		}
		list[i].Open = func() (io.ReadCloser, error) {
			t, err := binning.OpenText(ctx, in.Path, a.config.Threads)
			if err != nil {
				return nil, err
			}
			return &comparedText{t, func(stored uint64) { a.report(comparing, before+stored, total) }}, nil
		}
		list[i].File = func() (io.ReadCloser, error) { return os.Open(in.Path) }
		if err == nil {
			list[i].Size, list[i].Time = uint64(info.Size()), info.ModTime()
			before += list[i].Size
		}
	}
	return list
}

// comparedText reports how much of an input was read.
type comparedText struct {
	*binning.TextReader
	report func(stored uint64)
}

func (c *comparedText) Read(p []byte) (int, error) {
	n, err := c.TextReader.Read(p)
	c.report(c.Stored())
	return n, err
}

// storedSize returns the size of inputs as they are stored, as far as they are files.
func storedSize(inputs []binning.InputSpec) (total uint64) {
	for _, in := range inputs {
		if info, err := os.Stat(in.Path); in.Path != "-" && err == nil && info.Mode().IsRegular() {
			total += uint64(info.Size())
		}
	}
	return total
}

// anyDirectory reports whether one of the paths is a directory.
func anyDirectory(paths []string) bool {
	for _, path := range paths {
		if isDirectory(path) {
			return true
		}
	}
	return false
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func sameDirectory(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
