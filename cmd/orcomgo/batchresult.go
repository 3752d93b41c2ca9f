package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// batchJSON is what archive --json prints of many samples.
type batchJSON struct {
	runJSON
	Jobs     int          `json:"jobs"`
	Archived int          `json:"archived"`
	Present  int          `json:"present"` // were archived before
	Failed   int          `json:"failed"`
	Samples  []sampleJSON `json:"samples"`
	Unread   []string     `json:"unread"`      // why directories can't be read
	Others   []string     `json:"other_files"` // that are not archived
}

// sampleJSON is what became of a sample.
type sampleJSON struct {
	Sample       string   `json:"sample"`
	Archive      string   `json:"archive"` // DIR/NAME
	Result       string   `json:"result"`  // archived, present or failed
	Problem      string   `json:"problem,omitempty"`
	Inputs       []string `json:"inputs"`
	Seconds      float64  `json:"seconds"`
	Records      uint64   `json:"records,omitempty"`
	Bases        uint64   `json:"bases,omitempty"`
	TextBytes    uint64   `json:"text_bytes,omitempty"`
	ArchiveBytes uint64   `json:"archive_bytes,omitempty"`
}

// tell prints what became of all samples. The error says how many failed.
func (b *batch) tell(s *streams) error {
	j := batchJSON{runJSON: b.runJSON("archive"), Jobs: b.jobs, Samples: []sampleJSON{}, Unread: []string{}, Others: list(b.others)}
	for i := range b.list {
		j.Samples = append(j.Samples, b.sampleJSON(i))
		switch r := &b.results[i]; {
		case r.err != nil:
			j.Failed++
		case r.outcome == wasThere:
			j.Present++
		default:
			j.Archived++
		}
	}
	for _, err := range b.unread {
		j.Unread = append(j.Unread, oneLine(err.Error()))
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
	}
	for _, line := range j.Unread {
		fmt.Fprintf(s.err, "orcomgo: %s\n", line)
	}
	switch {
	case err != nil:
		return err
	case j.Failed > 0:
		return fmt.Errorf("%d of %s failed", j.Failed, plural(uint64(len(b.list)), "sample"))
	case len(b.unread) > 0:
		return fmt.Errorf("not all directories could be read: %s", b.unread[0])
	}
	return nil
}

func (b *batch) sampleJSON(i int) sampleJSON {
	r := &b.results[i]
	j := sampleJSON{Sample: b.list[i].Name, Archive: b.path(i), Result: "archived", Inputs: []string{}, Seconds: r.took.Seconds()}
	for _, in := range b.list[i].Inputs {
		j.Inputs = append(j.Inputs, in.Path)
	}
	switch {
	case r.err != nil:
		j.Result, j.Problem = "failed", oneLine(r.err.Error())
	case r.outcome == wasThere:
		j.Result = "present"
	}
	if s := r.summary; s != nil && r.err == nil {
		j.Records, j.Bases, j.TextBytes, j.ArchiveBytes = s.Records, s.Bases, s.TextBytes, s.ArchiveBytes
	}
	return j
}

// table prints a line for each sample, and the sums.
func (b *batch) table(w io.Writer, j *batchJSON) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "sample\tfiles\treads\tbytes of text\tarchive\tratio\ttime\t result\n")
	var text, stored uint64
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
		return err
	}
	fmt.Fprintf(w, "%s: %d archived, %d there already, %d failed; %s bytes of text in %s\n", plural(uint64(len(j.Samples)), "sample"),
		j.Archived, j.Present, j.Failed, countText(text), countText(stored))
	if n := len(b.others); n > 0 {
		fmt.Fprintf(w, "%s that hold no reads by their names were left out, such as %s\n", plural(uint64(n), "file"), oneLine(b.others[0]))
	}
	return b.last(w, text)
}
