package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	"orcomgo/binning"
	"orcomgo/bins/commit"
)

// batchJSON is what archive --json prints of many samples.
type batchJSON struct {
	runJSON
	Jobs     int          `json:"jobs"`
	Archived int          `json:"archived"`
	Present  int          `json:"present"` // were archived before
	Failed   int          `json:"failed"`
	Samples  []sampleJSON `json:"samples"`
	Unread   []string     `json:"unread"`      // why entries of directories can't be archived
	Others   []string     `json:"other_files"` // that are in side archives
	Sides    []sideJSON   `json:"side_archives"`
}

// sideJSON is what became of the side archive of a directory.
type sideJSON struct {
	Archive string  `json:"archive"` // DIR/NAME.ctree
	Result  string  `json:"result"`  // archived, present or failed
	Problem string  `json:"problem,omitempty"`
	Files   int     `json:"files"`  // with their content
	Others  int     `json:"others"` // directories, links, FIFOs
	Bytes   uint64  `json:"bytes"`  // of the files
	Stored  int64   `json:"archive_bytes"`
	Seconds float64 `json:"seconds"`
}

// sampleJSON is what became of a sample.
type sampleJSON struct {
	Sample       string   `json:"sample"`
	Archive      string   `json:"archive"` // DIR/NAME
	ArchiveFiles []string `json:"archive_files"`
	Result       string   `json:"result"` // archived, present or failed
	Problem      string   `json:"problem,omitempty"`
	Samples      []string `json:"samples,omitempty"` // of a group
	Inputs       []string `json:"inputs"`
	Seconds      float64  `json:"seconds"`
	Records      uint64   `json:"records,omitempty"`
	Bases        uint64   `json:"bases,omitempty"`
	TextBytes    uint64   `json:"text_bytes,omitempty"`
	ArchiveBytes uint64   `json:"archive_bytes,omitempty"`
}

// tell prints what became of all samples. The error says how many failed.
func (b *batch) tell(s *streams) error {
	j := batchJSON{runJSON: b.runJSON("archive"), Jobs: b.jobs, Samples: []sampleJSON{}, Unread: linesOf(b.unread), Others: list(b.others),
		Sides: []sideJSON{}}
	counts := make(map[string]int)
	for i := range b.list {
		k := b.sampleJSON(i)
		counts[k.Result]++
		j.Samples = append(j.Samples, k)
	}
	j.Archived, j.Present, j.Failed = counts["archived"], counts["present"], counts["failed"]
	sideFailed := ""
	for i, r := range b.sideResults {
		k := sideJSON{Archive: commit.Tree{Dir: b.config.OutDir, Name: r.name}.Path(), Files: r.files, Others: r.others,
			Bytes: r.bytes, Stored: r.stored, Seconds: r.took.Seconds()}
		if k.Result, k.Problem = r.word(); r.err != nil {
			sideFailed = b.trees[i].Root
		}
		j.Sides = append(j.Sides, k)
	}
	var err error
	switch {
	case b.json:
		err = writeJSON(s.out, j)
	case !b.quiet:
		err = b.table(s.err, &j)
	}
	if b.quiet { // else they were told at once
		for i := range b.results {
			if r := &b.results[i]; r.err != nil {
				fmt.Fprintf(s.err, "orcomgo: %s: %s\n", oneLine(b.list[i].Name), r.text())
			}
		}
		for _, r := range b.sideResults {
			if r.err != nil {
				fmt.Fprintf(s.err, "orcomgo: %s\n", r.text())
			}
		}
	}
	for _, line := range j.Unread {
		fmt.Fprintf(s.err, "orcomgo: %s\n", line)
	}
	switch {
	case err != nil:
		return err
	case b.unsuitedReads():
		return fmt.Errorf("%d of %s failed (--as-is stores files as they are)", j.Failed, plural(uint64(len(b.list)), "sample"))
	case j.Failed > 0:
		return fmt.Errorf("%d of %s failed", j.Failed, plural(uint64(len(b.list)), "sample"))
	case sideFailed != "":
		return fmt.Errorf("the side archive of %s failed", sideFailed)
	case len(b.unread) > 0:
		return fmt.Errorf("not everything could be archived: %s", b.unread[0])
	}
	return nil
}

// unsuitedReads reports whether a sample of a directory failed for what its files hold or are called, so that they could only be stored as
// files of any kind.
func (b *batch) unsuitedReads() bool {
	return b.trees != nil && slices.ContainsFunc(b.results, func(r result) bool {
		var system syscall.Errno
		is := func(target error) bool { return errors.Is(r.err, target) }
		return r.err != nil && !errors.As(r.err, &system) &&
			!slices.ContainsFunc([]error{commit.ErrExists, commit.ErrForeign, commit.ErrNeeded, commit.ErrBusy, binning.ErrChanged}, is)
	})
}

func (b *batch) sampleJSON(i int) sampleJSON {
	r := &b.results[i]
	j := sampleJSON{Sample: b.list[i].Name, Archive: b.path(i), Samples: b.list[i].Members(),
		Inputs: pathsOf(b.list[i].Inputs), Seconds: r.took.Seconds()}
	j.Result, j.Problem = r.word()
	if s := r.summary; s != nil && r.err == nil {
		j.Records, j.Bases, j.TextBytes, j.ArchiveBytes = s.Records, s.Bases, s.TextBytes, s.ArchiveBytes
	}
	j.ArchiveFiles = list(packedFiles(j.Archive))
	return j
}

// table prints a line for each sample and each side archive, and the sums.
func (b *batch) table(w io.Writer, j *batchJSON) error {
	text, err := b.sampleTable(w, j)
	if err != nil {
		return err
	}
	for i := range j.Sides {
		k := &j.Sides[i]
		text += k.Bytes
		fmt.Fprintf(w, "%s: %s, %s; %s bytes in %s: %s\n", oneLine(k.Archive), plural(uint64(k.Files), "side file"),
			plural(uint64(k.Others), "other entry"), countText(k.Bytes), countText(uint64(k.Stored)), b.sideResults[i].text())
	}
	if err := b.last(w, text); err != nil || j.Archived == 0 {
		return err
	}
	return tellWritten(w, []string{filepath.Join(b.config.OutDir, "") + "/"})
}

// sampleTable prints a line for each sample, if there are any, and returns the bytes of their texts.
func (b *batch) sampleTable(w io.Writer, j *batchJSON) (text uint64, err error) {
	if len(j.Samples) == 0 {
		return 0, nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "sample\tfiles\treads\tbytes of text\tarchive\tratio\ttime\t result\n")
	var stored uint64
	for i := range j.Samples {
		s, r := &j.Samples[i], &b.results[i]
		if s.Problem != "" {
			fmt.Fprintf(t, "%s\t%d\t\t\t\t\t\t %s\n", oneLine(s.Sample), len(s.Inputs), r.text())
			continue
		}
		text, stored = text+s.TextBytes, stored+s.ArchiveBytes
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%.2f\t%s\t %s\n", oneLine(s.Sample), len(s.Inputs), countText(s.Records),
			countText(s.TextBytes), countText(s.ArchiveBytes), float64(s.TextBytes)/float64(max(s.ArchiveBytes, 1)), durationText(r.took), r.text())
	}
	if err := t.Flush(); err != nil {
		return text, err
	}
	all, counts := 0, make(map[string]int) // of samples, where j has those of archives
	for i := range j.Samples {
		s := &j.Samples[i]
		n := max(len(s.Samples), 1)
		all, counts[s.Result] = all+n, counts[s.Result]+n
		if len(s.Samples) > 0 {
			fmt.Fprintf(w, "%s holds the samples %s\n", oneLine(s.Sample), oneLine(strings.Join(s.Samples, ", ")))
		}
	}
	what := plural(uint64(all), "sample")
	if all > len(j.Samples) {
		what += " in " + plural(uint64(len(j.Samples)), "archive")
	}
	fmt.Fprintf(w, "%s: %d archived, %d there already, %d failed; %s bytes of text in %s\n", what,
		counts["archived"], counts["present"], counts["failed"], countText(text), countText(stored))
	return text, nil
}
