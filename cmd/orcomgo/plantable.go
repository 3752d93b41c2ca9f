package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"orcomgo/compress/estimate"
)

// planJSON is what plan --json prints.
type planJSON struct {
	runJSON
	Memory   uint64            `json:"memory"` // bytes to stay within
	Jobs     int               `json:"jobs"`
	Expected estimate.Expected `json:"expected"` // of all archives
	Group    string            `json:"group"`
	Sides    []plannedSideJSON `json:"sides"` // of directories
	Archives []plannedJSON     `json:"archives"`
	Unread   []string          `json:"unread"`
	Others   []string          `json:"other_files"`
}

// plannedJSON is what is expected of an archive.
type plannedJSON struct {
	Archive   string             `json:"archive"` // its name
	Samples   []string           `json:"samples"`
	Inputs    []string           `json:"inputs"`
	Problem   string             `json:"problem,omitempty"`
	Stored    uint64             `json:"stored_bytes"`
	Text      uint64             `json:"text_bytes"`
	Whole     bool               `json:"whole"`
	Expected  *estimate.Expected `json:"expected,omitempty"`
	Resources *resourcesJSON     `json:"resources,omitempty"`
}

// resourcesJSON is what a workflow is to give the job that makes an archive.
type resourcesJSON struct {
	Threads int `json:"threads"`
	// Memory is for archive --memory: with another one the archive and what it takes may differ.
	Memory  uint64 `json:"memory"`
	MemMB   uint64 `json:"mem_mb"`
	Runtime uint64 `json:"runtime"` // minutes
	Tmpdir  uint64 `json:"tmpdir_bytes"`
}

// The margins of what a workflow is to give: a job that takes more is ended.
const (
	memoryMargin, memorySpare = 1.25, 64e6
	timeMargin                = 2.0
	diskMargin                = 1.1
)

func (r *resources) resourcesJSON(e *estimate.Expected) *resourcesJSON {
	return &resourcesJSON{Threads: r.threads, Memory: uint64(r.memory),
		MemMB:   uint64(math.Ceil((float64(e.Memory)*memoryMargin + memorySpare) / 1e6)),
		Runtime: uint64(math.Ceil(e.Seconds*timeMargin/60)) + 1, Tmpdir: uint64(float64(e.Temporary) * diskMargin)}
}

// tell prints the plan. The error says how many archives can't be made.
func (p *plan) tell(s *streams, all []planned, sides []plannedSide, share float64) error {
	failed := 0
	j := planJSON{runJSON: p.runJSON("plan"), Memory: uint64(p.memory), Jobs: p.jobs, Group: p.groupBy,
		Expected: p.total(all, sides, share), Sides: []plannedSideJSON{}, Archives: []plannedJSON{}, Unread: []string{}, Others: list(p.others)}
	for i := range all {
		a := &all[i]
		one := plannedJSON{Archive: a.sample.Name, Samples: a.sample.Members(), Inputs: []string{}, Stored: a.stored, Text: a.text,
			Whole: a.whole}
		if one.Samples == nil {
			one.Samples = []string{a.sample.Name}
		}
		for _, in := range a.sample.Inputs {
			one.Inputs = append(one.Inputs, in.Path)
		}
		if a.err != nil {
			failed++
			one.Problem = oneLine(a.err.Error())
		} else {
			one.Expected, one.Resources = &a.expected, p.each.resourcesJSON(&a.expected)
		}
		j.Archives = append(j.Archives, one)
	}
	for i := range sides {
		j.Sides = append(j.Sides, sides[i].json(p))
	}
	for _, err := range p.unread {
		j.Unread = append(j.Unread, oneLine(err.Error()))
	}
	var err error
	if p.json {
		err = writeJSON(s.out, j)
	} else {
		err = p.table(s.out, &j)
	}
	for _, line := range j.Unread {
		fmt.Fprintf(s.err, "orcomgo: %s\n", line)
	}
	switch {
	case err != nil:
		return err
	case failed > 0:
		return fmt.Errorf("%d of %s can't be archived", failed, plural(uint64(len(all)), "sample"))
	case len(p.unread) > 0:
		return fmt.Errorf("not all directories could be read: %s", p.unread[0])
	}
	return nil
}

// table prints a line for each archive, and the sums.
func (p *plan) table(w io.Writer, j *planJSON) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "archive\tfiles\tbytes of text\tarchive\tratio\ttime\tmemory\ttemporary\t \n")
	var total uint64
	made, measured := len(j.Sides), true
	for i := range j.Archives {
		a := &j.Archives[i]
		if a.Problem != "" {
			fmt.Fprintf(t, "%s\t%d\t\t\t\t\t\t\t %s\n", oneLine(a.Archive), len(a.Inputs), a.Problem)
			continue
		}
		note, e := "", a.Expected
		if !a.Whole {
			note, measured = "about", false
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
		k := &j.Sides[i]
		note := ""
		total += k.Bytes
		if !k.Whole {
			note, measured = "about ", false
		}
		fmt.Fprintf(w, "%s: %s, %s bytes in %s%s, %s, %s of memory\n", oneLine(k.Archive), plural(uint64(k.Files), "side file"),
			countText(k.Bytes), note, countText(k.Expected.Archive), secondsText(k.Expected.Seconds), bytesText(k.Expected.Memory))
	}
	about := ""
	if !measured {
		about = "about "
	}
	_, err := fmt.Fprintf(w, "%s: %s%s bytes in %s, %s, %s of memory, %s of temporary files; %s, %s at a time\n",
		plural(uint64(made), "archive"), about, countText(total),
		countText(j.Expected.Archive), secondsText(j.Expected.Seconds),
		bytesText(j.Expected.Memory), bytesText(j.Expected.Temporary), plural(uint64(j.Threads), "thread"),
		plural(uint64(j.Jobs), "archive"))
	return err
}
