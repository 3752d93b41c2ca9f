package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"orcomgo/binning"
	"orcomgo/bins/commit"
	"orcomgo/compress"
)

// deleteOriginals removes the inputs of an archive. Before that all of it is decoded from where it is stored, and each file is compared
// with what came back. If one can't be removed, none is.
func (o *archiveFlags) deleteOriginals(ctx context.Context, s *streams, c *binning.Config) error {
	refuse := func(path, format string, args ...any) error {
		return fmt.Errorf("%s: %s; no input was removed", oneLine(path), fmt.Sprintf(format, args...))
	}
	e, found, err := commit.Lookup(c.OutDir, c.Name)
	if err == nil && !found {
		err = refuse(c.OutDir, "the archive is not there")
	}
	if err != nil {
		return err
	}
	bar, err := o.start(s, stageModel{name: "verify", unit: bytesUnit, perUnit: 1})
	if err != nil {
		return err
	}
	defer bar.close()
	status, err := compress.Verify(ctx, e, compress.VerifyOptions{Threads: o.threads, Memory: uint64(o.memory), Progress: bar.report})
	bar.close()
	if err != nil {
		return err
	}
	if n := countDamaged(status); n > 0 {
		return refuse(e.Path(), "%s damaged", plural(uint64(n), "file"))
	}
	n, err := compress.Info(e)
	if err != nil {
		return err
	}
	before := make([]fs.FileInfo, len(c.Inputs))
	for i, in := range c.Inputs {
		is := &n.Inputs[i]
		if !n.Verified || !n.Lossless || is.File == nil || is.File.Compressed && !is.Exact {
			return refuse(in.Path, "the archive does not give back the file as it is")
		}
		if before[i], err = os.Lstat(in.Path); err != nil {
			return err
		}
		want := is.File.SHA256
		if !is.File.Compressed {
			want = is.SHA256
		}
		if sum, err := sumOfFile(in.Path); err != nil {
			return err
		} else if !before[i].Mode().IsRegular() || sum.SHA256 != want {
			return refuse(in.Path, "it is a link, or not the file that was archived")
		}
	}
	for i, in := range c.Inputs {
		if now, err := os.Lstat(in.Path); err != nil || !os.SameFile(now, before[i]) || now.Size() != before[i].Size() ||
			!now.ModTime().Equal(before[i].ModTime()) {
			return errors.Join(err, refuse(in.Path, "it was changed meanwhile"))
		}
	}
	for _, in := range c.Inputs {
		if err := os.Remove(in.Path); err != nil {
			return err
		}
		if !o.quiet {
			fmt.Fprintf(s.err, "removed: %s, which %s gives back\n", oneLine(in.Path), oneLine(e.Path()))
		}
	}
	return nil
}
