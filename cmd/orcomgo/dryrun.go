package main

import (
	"fmt"
	"os"
	"strings"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
)

// dryRunJSON is what archive --dry-run --json prints.
type dryRunJSON struct {
	Sides   []treeJSON     `json:"side_archives"` // as info --json describes them
	Samples []dryRunSample `json:"samples"`
	Unread  []string       `json:"unread"` // why entries can't be archived
	// Excluded is how many files, links and directories patterns leave out.
	Excluded int `json:"excluded"`
}

// dryRunSample is a sample that would be archived.
type dryRunSample struct {
	Sample  string   `json:"sample"`
	Archive string   `json:"archive"`
	Inputs  []string `json:"inputs"`
	Problem string   `json:"problem,omitempty"` // why it would fail
}

// tellPlan prints what a batch would do: the side archives of directories that it would write, else the samples.
func (b *batch) tellPlan(s *streams) error {
	b.begin()
	j := dryRunJSON{Sides: []treeJSON{}, Samples: []dryRunSample{}, Unread: linesOf(b.unread)}
	for i := range b.list {
		k := dryRunSample{Sample: b.list[i].Name, Archive: b.path(i), Inputs: pathsOf(b.list[i].Inputs)}
		for _, path := range k.Inputs {
			if _, err := os.Stat(path); err != nil && path != "-" {
				k.Problem = oneLine(fmt.Sprintf("%s: %s", path, vfs.Cause(err)))
			}
		}
		if problem := b.list[i].Problem; problem != nil {
			k.Problem = oneLine(problem.Error())
		}
		j.Samples = append(j.Samples, k)
	}
	for _, t := range b.trees {
		l, _, err := b.listing(t, nil)
		if err != nil {
			return err
		}
		j.Sides = append(j.Sides, newTreeJSON(commit.Tree{Dir: b.config.OutDir, Name: sideName(t.Root)}, l))
		j.Excluded += t.Excluded
	}
	if b.json {
		return writeJSON(s.out, j)
	}
	for i := range j.Sides {
		if err := j.Sides[i].describe(s.out); err != nil {
			return err
		}
	}
	for _, k := range j.Samples {
		switch {
		case k.Problem != "":
			fmt.Fprintf(s.out, "%s would fail: %s\n", oneLine(k.Sample), k.Problem)
		case len(b.trees) == 0:
			fmt.Fprintf(s.out, "%s: %s\n", oneLine(k.Archive), oneLine(strings.Join(k.Inputs, ", ")))
		}
	}
	for _, line := range b.notes {
		fmt.Fprintln(s.out, oneLine(line))
	}
	for _, line := range j.Unread {
		fmt.Fprintf(s.out, "left out: %s\n", line)
	}
	_, err := fmt.Fprintf(s.out, "%s; %s excluded\n", plural(uint64(len(j.Samples)), "sample"), countText(uint64(j.Excluded)))
	return err
}
