package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"orcomgo/binning/samples"
	"orcomgo/bins/commit"
	"orcomgo/compress/estimate"
)

// sideTrial is a side archive to be made and measured.
type sideTrial struct {
	Root                   string
	Include, Exclude, AsIs []string
	// Every says that only every so many-th side file counts.
	Every int
}

// makeSide makes the side archive, and says how large it is. Text is the bytes of its files.
func (t *trial) makeSide(ctx context.Context, r resources, p *estimate.Point) error {
	k := t.Side
	b := &batch{archiveFlags: &archiveFlags{binFlags: binFlags{resources: r}, noVerify: t.NoVerify, include: k.Include, exclude: k.Exclude,
		asIs: k.AsIs}}
	b.config.OutDir = t.OutDir
	if err := b.scan([]string{k.Root}); err != nil {
		return err
	}
	tree := b.trees[0]
	tree.Files = everySideFile(tree.Files, k.Every)
	b.begin()
	var made sideResult
	made.name = sideName(tree.Root)
	err := b.side(ctx, tree, &made)
	p.Text, p.Archive = made.bytes, uint64(made.stored)
	return err
}

// everySideFile returns the entries of a tree without most side files: every n-th one is left. Hard links are left out.
func everySideFile(files []samples.File, n int) (list []samples.File) {
	if n <= 1 {
		return files
	}
	seen := 0
	for _, f := range files {
		switch f.Class {
		case samples.HardLink:
			continue
		case samples.Other:
			if seen++; seen%n != 0 {
				continue
			}
		}
		list = append(list, f)
	}
	return list
}

// plannedSide is the side archive of a directory.
type plannedSide struct {
	root     string
	name     string
	files    int
	bytes    uint64 // of the files
	whole    bool   // all of it was measured
	expected estimate.Expected
}

// planSides plans the side archives of the directories.
func (p *plan) planSides(ctx context.Context) (list []plannedSide, err error) {
	for _, t := range p.trees {
		k := plannedSide{root: t.Root, name: sideName(t.Root)}
		for i := range t.Files {
			if f := &t.Files[i]; f.Class == samples.Other {
				k.files++
				k.bytes += uint64(f.Info.Size())
			}
		}
		every := int(k.bytes/uint64(p.sample)) + 1
		every = max(min(every, k.files), 1)
		k.whole = every == 1
		out := filepath.Join(p.dir, "out")
		of := trial{Side: &sideTrial{t.Root, p.include, p.exclude, p.asIs, every}, NoVerify: p.noVerify, OutDir: out, TempDir: p.tempDir,
			Threads: p.threads, Memory: uint64(p.memory)}
		m, err := of.measure(ctx)
		if err := errors.Join(err, os.RemoveAll(out)); err != nil {
			return nil, err
		}
		more := max(float64(k.bytes)/float64(max(m.Text, 1)), 1)
		if k.whole {
			more = 1
		}
		k.expected = estimate.Expected{Archive: uint64(float64(m.Archive) * more), Seconds: m.Seconds * more, CPU: m.CPU * more,
			Memory: m.Peak}
		list = append(list, k)
		p.ready += k.bytes
		p.bar.report(planStage, p.ready, p.sum)
	}
	return list, nil
}

// plannedSideJSON is what is expected of the side archive of a directory.
type plannedSideJSON struct {
	Archive   string            `json:"archive"` // its file's name
	Directory string            `json:"directory"`
	Files     int               `json:"files"`
	Bytes     uint64            `json:"bytes"`
	Whole     bool              `json:"whole"`
	Expected  estimate.Expected `json:"expected"`
	Resources *resourcesJSON    `json:"resources"`
}

func (k *plannedSide) json(p *plan) plannedSideJSON {
	return plannedSideJSON{k.name + commit.TreeExt, k.root, k.files, k.bytes, k.whole, k.expected, p.resourcesJSON(&k.expected)}
}
