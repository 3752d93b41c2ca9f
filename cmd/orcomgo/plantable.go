package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// tell prints the plan. The error says how many archives can't be made.
func (p *plan) tell(s *streams, j *planJSON) (err error) {
	if p.json {
		err = writeJSON(s.out, j)
	} else {
		err = j.table(s.out)
	}
	failed := 0
	for i := range j.Archives {
		if j.Archives[i].Problem != "" {
			failed++
		}
	}
	for _, line := range j.Unread {
		fmt.Fprintf(s.err, "orcomgo: %s\n", line)
	}
	switch {
	case err != nil:
		return err
	case failed > 0:
		return fmt.Errorf("%d of %s can't be archived", failed, plural(uint64(len(j.Archives)), "sample"))
	case len(p.unread) > 0:
		return fmt.Errorf("not all directories could be read: %s", p.unread[0])
	}
	return nil
}

// table prints a line for each archive, and the sums.
func (j *planJSON) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "archive\tfiles\tbytes of text\tarchive\tratio\ttime\tmemory\ttemporary\t \n")
	var total uint64
	made, about := len(j.Sides), ""
	for i := range j.Archives {
		a, e, note := &j.Archives[i], j.Archives[i].Expected, ""
		if e == nil {
			fmt.Fprintf(t, "%s\t%d\t\t\t\t\t\t\t %s\n", oneLine(a.Archive), len(a.Inputs), a.Problem)
			continue
		}
		if !a.Whole {
			note, about = "about", "about "
		}
		made++
		total += a.Text
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%.2f\t%s\t%s\t%s\t %s\n", oneLine(a.Archive), len(a.Inputs), countText(a.Text), countText(e.Archive),
			float64(a.Text)/float64(max(e.Archive, 1)), secondsText(e.Seconds), bytesText(e.Memory), bytesText(e.Temporary), note)
	}
	if len(j.Archives) > 0 {
		if err := t.Flush(); err != nil {
			return err
		}
	}
	for i := range j.Archives {
		if a := &j.Archives[i]; len(a.Samples) > 1 {
			fmt.Fprintf(w, "%s holds the samples %s\n", oneLine(a.Archive), oneLine(strings.Join(a.Samples, ", ")))
		}
	}
	for i := range j.Sides {
		k, note := &j.Sides[i], ""
		total += k.Bytes
		if !k.Whole {
			note, about = "about ", "about "
		}
		fmt.Fprintf(w, "%s: %s, %s bytes in %s%s, %s\n", oneLine(k.Archive), plural(uint64(k.Files), "side file"),
			countText(k.Bytes), note, countText(k.Expected.Archive), secondsText(k.Expected.Seconds))
	}
	_, err := fmt.Fprintf(w, "%s: %s%s bytes in %s, %s, %s of memory, %s of temporary files; %s, %s at a time\n",
		plural(uint64(made), "archive"), about, countText(total), countText(j.Expected.Archive), secondsText(j.Expected.Seconds),
		bytesText(j.Expected.Memory), bytesText(j.Expected.Temporary), plural(uint64(j.Threads), "thread"),
		plural(uint64(j.Jobs), "archive"))
	return err
}

// secondsText writes a number of seconds.
func secondsText(s float64) string { return durationText(time.Duration(s * float64(time.Second))) }
