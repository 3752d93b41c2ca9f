package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"orcomgo/binning"
	"orcomgo/binning/samples"
	"orcomgo/bins/commit"
	"orcomgo/cmd/orcomgo/batches"
	"orcomgo/compress"
	"orcomgo/compress/tree"
)

// formerNames returns a function for samples.Samples: which names the samples of the directories have in the side archives of these.
func (b *batch) formerNames() func(root, rel string) string {
	type file struct{ root, rel string }
	names := make(map[file]string)
	for _, t := range b.trees {
		old, err := tree.Open(commit.Tree{Dir: b.config.OutDir, Name: sideName(t.Root)}, tree.Options{Threads: 1})
		if err != nil {
			continue // there is none, or archiving says what is wrong with it
		}
		members := make(map[int][]compress.InputInformation)
		for i := range old.Entries {
			e := &old.Entries[i]
			if e.Kind != tree.Reads || old.Archives[e.Archive].ID == [16]byte{} {
				continue
			}
			name := old.Archives[e.Archive].Name
			if parsed, _ := samples.Parse(path.Base(e.Path)); parsed.Sample != name { // it may be a group
				if _, ok := members[e.Archive]; !ok {
					members[e.Archive] = inputsOf(filepath.Join(b.config.OutDir, name))
				}
				if of := members[e.Archive]; e.Input < len(of) && of[e.Input].Sample != "" {
					name = of[e.Input].Sample
				}
			}
			names[file{t.Root, e.Path}] = name
		}
		old.Close()
	}
	return func(root, rel string) string { return names[file{root, rel}] }
}

// inputsOf describes the inputs of a packed archive; nil if it can't be read.
func inputsOf(path string) []compress.InputInformation {
	e, err := commit.One(path + commit.PackedDataExt)
	if err != nil {
		return nil
	}
	n, err := compress.Info(e)
	if err != nil {
		return nil
	}
	return n.Inputs
}

// runNamed makes the archive of a sample. If another directory needs the archive of its name, and that is of other reads, the sample gets
// another name: with --force the other directory would lose its reads.
func (b *batch) runNamed(ctx context.Context, a *batches.Archive, s *samples.Sample) (*compress.Summary, batches.Outcome, error) {
	for wanted, n := s.Name, 1; ; n++ {
		a.Config.Name = s.Name
		needed := s.Root != "" && b.force && b.needs.Has(s.Name)
		if !needed {
			summary, outcome, err := a.Run(ctx)
			switch {
			case s.Root == "":
				return summary, outcome, err
			case errors.Is(err, commit.ErrNeeded): // a side archive was written meanwhile
			case !errors.Is(err, commit.ErrExists) || !b.needs.Has(s.Name):
				return summary, outcome, err
			}
		}
		b.rename(s, wanted, n)
	}
}

// rename gives a sample the nth name instead of one that it can't have, or a later one if another sample has that. With --force it is one
// that no archive has: the user knows of the samples' names, but not of this one.
func (b *batch) rename(s *samples.Sample, wanted string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ; ; n++ {
		name := binning.CutName(sideName(s.Root) + "_" + wanted)
		if n > 1 {
			name = binning.CutName(fmt.Sprintf("%s_%d", wanted, n))
		}
		taken := slices.ContainsFunc(b.list, func(other samples.Sample) bool { return other.Name == name })
		if !taken && b.force {
			_, taken, _ = commit.Lookup(b.config.OutDir, name) // on an error archiving says what is wrong
		}
		if !taken {
			s.Name = name
			return
		}
	}
}
