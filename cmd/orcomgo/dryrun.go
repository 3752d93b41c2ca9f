package main

import (
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"orcomgo/binning/samples"
	"orcomgo/bins/commit"
)

// dryRunJSON is what archive --dry-run --json prints.
type dryRunJSON struct {
	Entries []dryRunEntry  `json:"entries"`
	Samples []dryRunSample `json:"samples"`
	Unread  []string       `json:"unread"` // why entries can't be archived
	// Excluded is how many files, links and directories patterns leave out.
	Excluded int `json:"excluded"`
}

// dryRunEntry says where an entry of a directory would go.
type dryRunEntry struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"` // reads, side file, directory, link, hard link or FIFO
	Bytes   int64  `json:"bytes"`
	Archive string `json:"archive"`         // DIR/NAME of an archive of reads, or DIR/NAME.ctree
	Input   int    `json:"input,omitempty"` // of an archive of reads, counted from 1
	Target  string `json:"target,omitempty"`
}

// dryRunSample is a sample that would be archived.
type dryRunSample struct {
	Sample  string   `json:"sample"`
	Archive string   `json:"archive"`
	Inputs  []string `json:"inputs"`
	Problem string   `json:"problem,omitempty"` // why it would fail
}

// dryRunPlan lists what a batch would do.
func (b *batch) dryRunPlan() *dryRunJSON {
	p := &dryRunJSON{Entries: []dryRunEntry{}, Samples: []dryRunSample{}, Unread: []string{}}
	type input struct{ sample, number int }
	at := make(map[string]input)
	for i := range b.list {
		s := dryRunSample{Sample: b.list[i].Name, Archive: b.path(i), Inputs: []string{}}
		for k, in := range b.list[i].Inputs {
			s.Inputs = append(s.Inputs, in.Path)
			at[in.Path] = input{i, k}
		}
		if problem := b.list[i].Problem; problem != nil {
			s.Problem = oneLine(problem.Error())
		}
		p.Samples = append(p.Samples, s)
	}
	for _, t := range b.trees {
		side := commit.Tree{Dir: b.config.OutDir, Name: sideName(t.Root)}.Path()
		for i := range t.Files {
			f := &t.Files[i]
			e := dryRunEntry{Path: f.Path, Archive: side, Target: f.Target}
			switch f.Class {
			case samples.Archive:
				continue
			case samples.Reads:
				in := at[f.Path]
				e.Kind, e.Archive, e.Input = "reads", b.path(in.sample), in.number+1
			case samples.Directory:
				e.Kind = "directory"
			case samples.Link:
				e.Kind = "link"
			case samples.HardLink:
				e.Kind, e.Target = "hard link", filepath.Join(t.Root, f.Target)
			case samples.FIFO:
				e.Kind = "FIFO"
			default:
				e.Kind = "side file"
			}
			if f.Class == samples.Reads || f.Class == samples.Other {
				e.Bytes = f.Info.Size()
			}
			p.Entries = append(p.Entries, e)
		}
		p.Excluded += t.Excluded
	}
	for _, err := range b.unread {
		p.Unread = append(p.Unread, oneLine(err.Error()))
	}
	return p
}

// tellPlan prints what a batch would do.
func (b *batch) tellPlan(s *streams) error {
	p := b.dryRunPlan()
	if b.json {
		return writeJSON(s.out, p)
	}
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "goes to\tinput\tkind\tbytes\tpath\n")
	var reads, files, others int
	var total uint64
	for i := range p.Entries {
		e := &p.Entries[i]
		number, bytes, path := "", "", oneLine(e.Path)
		switch e.Kind {
		case "reads":
			number, bytes = fmt.Sprint(e.Input), countText(uint64(e.Bytes))
			reads++
		case "side file":
			bytes = countText(uint64(e.Bytes))
			files++
		default:
			others++
		}
		if e.Target != "" {
			path += " -> " + oneLine(e.Target)
		}
		total += uint64(e.Bytes)
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", oneLine(e.Archive), number, e.Kind, bytes, path)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, k := range p.Samples {
		if k.Problem != "" {
			fmt.Fprintf(s.out, "%s would fail: %s\n", oneLine(k.Sample), k.Problem)
		}
	}
	for _, line := range p.Unread {
		fmt.Fprintf(s.out, "left out: %s\n", line)
	}
	_, err := fmt.Fprintf(s.out, "%s of %s, %s, %s; %s bytes; %s excluded\n", plural(uint64(len(p.Samples)), "sample"),
		plural(uint64(reads), "file"), plural(uint64(files), "side file"), plural(uint64(others), "other entry"), countText(total),
		countText(uint64(p.Excluded)))
	return err
}
