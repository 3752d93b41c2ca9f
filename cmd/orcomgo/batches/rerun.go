// Package batches has the policies of runs over many samples: which samples share an archive, and what is done about what an earlier run
// with the same inputs left, which is that archive, or its bins.
package batches

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"orcomgo/binning"
	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/compress"
	"orcomgo/compress/tree"
)

// Archive is an archive to be made, or to be finished.
type Archive struct {
	Config binning.Config
	Pack   compress.PackOptions
	// TwoBit is what the command line says; nil for what an archive has already.
	TwoBit *bool
	// Report and Finish say how far a stage is, Note prints a line.
	Report func(stage string, done, total uint64)
	Finish func(stage string)
	Note   func(line string)
	// UsableGPU reports whether there is a GPU to pack with, or returns an error if one is required.
	UsableGPU func() (bool, error)
	// Collect frees the memory that binning does not need any more.
	Collect func()
	// Bins is how many bytes of bins were made.
	Bins uint64
}

// Outcome says what Run did.
type Outcome int

// The outcomes.
const (
	Made     Outcome = iota
	WasThere         // and is complete
)

// MayReplace has the archive replace none that a side archive needs, even with --force.
func (a *Archive) MayReplace(needs *tree.Needs) {
	if a.Config.Force {
		needs.Read()
	}
	// Not one of the same ID either: its files may have other names.
	a.Config.MayReplace = func(_, name string, _ [16]byte) error { return needs.Check(name, [16]byte{}) }
	a.Pack.MayReplace = a.Config.MayReplace
}

// Path returns DIR/NAME of the archive.
func (a *Archive) Path() string { return vfs.Shown(filepath.Join(a.Config.OutDir, a.Config.Name)) }

// Run makes the archive. If there is one of the same inputs it is left as it is, and bins of them are packed. That holds for one that
// another run makes meanwhile, too.
func (a *Archive) Run(ctx context.Context) (*compress.Summary, Outcome, error) {
	a.Config.Progress, a.Config.Note = a.Report, a.Note
	a.Pack.Progress, a.Pack.Note, a.Pack.GzipNote = a.Report, a.Note, a.Note
	if a.Config.Force {
		return a.make(ctx)
	}
	e, found, err := commit.Lookup(a.Config.OutDir, a.Config.Name)
	switch {
	case err != nil:
		return nil, Made, err
	case found:
		return a.goOn(ctx, e)
	}
	summary, outcome, err := a.make(ctx)
	if errors.Is(err, commit.ErrExists) {
		if e, found, lookupErr := commit.Lookup(a.Config.OutDir, a.Config.Name); found && lookupErr == nil {
			return a.goOn(ctx, e)
		}
	}
	return summary, outcome, err
}

// make makes the archive.
func (a *Archive) make(ctx context.Context) (*compress.Summary, Outcome, error) {
	r, summary, err := binning.RunUnnamed(ctx, a.Config)
	if err != nil {
		return nil, Made, err
	}
	defer r.Close()
	a.Finish(binning.Stage)
	a.Bins = summary.BinBytes
	a.Collect() // the blocks are garbage now, and packing should not begin with them
	if err := a.checkGPU(summary.DeviceFailed); err != nil {
		return nil, Made, err
	}
	a.Pack.Open = func(input int) (io.ReadCloser, error) { return os.Open(a.Config.Inputs[input].Path) }
	packed, err := compress.PackUnnamed(ctx, r, a.Pack)
	return packed, Made, err
}

// checkGPU has pack use no GPU if there is none that can be used; failed says that it failed in the middle of binning. Binning begins
// before that is known.
func (a *Archive) checkGPU(failed bool) error {
	if !a.Pack.GPU {
		return nil
	}
	usable, err := a.UsableGPU()
	a.Pack.GPU = usable && !failed
	return err
}

// Bin makes the bins alone. If there is an archive of the same inputs, packed or not, it is left as it is and described.
func (a *Archive) Bin(ctx context.Context) (binning.Summary, *compress.Information, error) {
	a.Config.Progress, a.Config.Note = a.Report, a.Note
	if e, found, err := commit.Lookup(a.Config.OutDir, a.Config.Name); found && err == nil && !a.Config.Force {
		if err := a.compare(ctx, e); err != nil {
			return binning.Summary{}, nil, err
		}
		there, err := compress.Info(e)
		return binning.Summary{}, there, err
	}
	summary, err := binning.Run(ctx, a.Config)
	return summary, nil, err
}

// comparing is the name of the stage in which inputs are compared with an archive.
const comparing = "comparing inputs"

// compare returns an error unless an archive that is there was made of the same inputs.
func (a *Archive) compare(ctx context.Context, e commit.Entry) error {
	difference, err := compress.MadeOf(ctx, e, a.originals(ctx),
		compress.SameOptions{Options: a.Config.Options, TwoBit: a.TwoBit})
	switch {
	case compress.IsDamage(err):
		return fmt.Errorf("%s: %w, and it can't be read: %w", e.Path(), commit.ErrExists, err)
	case difference != "":
		return fmt.Errorf("%s: %w: %s", e.Path(), commit.ErrExists, difference)
	}
	return err
}

// goOn finishes an archive that is there, if it was made of the same inputs.
func (a *Archive) goOn(ctx context.Context, e commit.Entry) (*compress.Summary, Outcome, error) {
	before, _ := compress.Info(e) // compare says what is wrong
	if err := a.compare(ctx, e); err != nil {
		return nil, Made, err
	}
	a.Finish(comparing)
	a.Finish(binning.Stage)
	if e.Has[commit.Bins] {
		a.Note("packing the bins of these inputs, which are there already")
	}
	if err := a.checkGPU(false); err != nil {
		return nil, Made, err
	}
	// With the extension the path can't be that of a directory.
	summary, err := compress.Pack(ctx, e.Path()+commit.PackedDataExt, a.Pack)
	if err != nil || !summary.AlreadyPacked {
		return summary, Made, err
	}
	if before != nil && before.Stage == "packed" && before.ID != hex.EncodeToString(summary.ID[:]) {
		return nil, Made, ReplacedMeanwhile(e.Path())
	}
	// Pack has written a lost .cmeta file again; other damage is left.
	if now, err := compress.Info(e); err != nil || len(now.Problems) > 0 {
		if err == nil {
			err = errors.New(now.Problems[0])
		}
		return nil, Made, fmt.Errorf("%s: %w, and it is damaged: %w", e.Path(), commit.ErrExists, err)
	}
	return summary, WasThere, nil
}

// ReplacedMeanwhile is the error for an archive that this run made, or compared with its inputs, and that is another one now.
func ReplacedMeanwhile(path string) error {
	return fmt.Errorf("another run replaced %s meanwhile: give the command again", path)
}

// originals describes the inputs for a comparison.
func (a *Archive) originals(ctx context.Context) []compress.Original {
	list := make([]compress.Original, len(a.Config.Inputs))
	total, before := binning.StoredSize(a.Config.Inputs), uint64(0)
	for i, in := range a.Config.Inputs {
		list[i] = compress.Original{Name: binning.RestoredName(in.Path), Mate: in.Mate, First: in.First, Further: in.Further, Lead: in.Lead}
		info, err := os.Stat(in.Path)
		if in.Path == "-" || err == nil && !info.Mode().IsRegular() {
			continue
		}
		list[i].Open = func() (io.ReadCloser, error) {
			t, err := binning.OpenInput(ctx, in.Path, a.Config.Threads)
			if err != nil {
				return nil, err
			}
			return &comparedText{t, func(stored uint64) { a.Report(comparing, before+stored, total) }}, nil
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

// AccessTo returns who may read all inputs that are files. allowed are the modes of those that are in directories that not everybody may
// look into, by their paths: less than those of the files.
func AccessTo(inputs []binning.InputSpec, allowed map[string]fs.FileMode) (a commit.Access) {
	for _, in := range inputs {
		info, err := binning.StatInput(in.Path)
		if err != nil || !info.Mode().IsRegular() { // pipes are their owner's, whatever wrote to them
			continue
		}
		mode, ok := allowed[in.Path]
		if !ok {
			mode = info.Mode()
		}
		a.Add(info, mode)
	}
	return a
}
