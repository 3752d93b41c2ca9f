package report

import (
	"context"
	"fmt"
	"sync"

	"orcomgo/bins/commit"
	"orcomgo/compress"
)

// Options control Make.
type Options struct {
	Threads  int
	Memory   uint64            // bytes aimed for; 0 for the default of package compress
	Progress compress.Progress // may be nil; the stage is compress.InspectStage
}

// Make decodes an archive once and returns its figures. Of what is damaged nothing is counted; Verification says what that is. The
// error is that of compress.Inspect.
func Make(ctx context.Context, e commit.Entry, o Options) (*Figures, error) {
	info, err := compress.Info(e)
	if err != nil {
		return nil, err
	}
	c := &counting{named: info.Names == "keep", text: info.TextBytes}
	for i := range info.Inputs {
		c.numbers = append(c.numbers, info.Inputs[i].Read)
	}
	n, err := compress.Inspect(ctx, e, compress.InspectOptions{Threads: o.Threads, Memory: o.Memory, Progress: o.Progress, Look: c.look})
	if err != nil {
		return nil, err
	}
	f := &Figures{Archive: n.Information, Columns: columnCosts(n.Information), Pseudogenome: pseudogenomeFigures(n.Pseudogenome)}
	f.Verification = Verification{OK: len(n.Information.Problems) == 0, Files: n.Files}
	for i := range n.Files {
		f.Verification.OK = f.Verification.OK && n.Files[i].OK
	}
	total := newCounts(c.numbers)
	for _, free := range c.free {
		total.merge(free)
	}
	for k := range total.reads {
		var inputs []string
		for i, number := range c.numbers {
			if number == k+1 {
				inputs = append(inputs, info.Inputs[i].Name)
			}
		}
		f.Reads = append(f.Reads, total.reads[k].figures(k+1, inputs))
	}
	f.Pairs = total.pairs.result()
	f.Gzip = total.gzip.result(n.Information)
	f.Unknown = unknown(f)
	return f, nil
}

// counts are the counts of some slices.
type counts struct {
	reads []readCounts // by number, less one
	pairs sequenceSample
	gzip  gzipSample
}

func newCounts(numbers []int) *counts {
	most := 0
	for _, n := range numbers {
		most = max(most, n)
	}
	return &counts{reads: make([]readCounts, most)}
}

func (c *counts) merge(d *counts) {
	for i := range c.reads {
		c.reads[i].merge(&d.reads[i])
	}
	c.pairs.merge(&d.pairs)
	c.gzip.merge(&d.gzip)
}

// counting hands out counts to the goroutines that look at slices: as many as there are at once.
type counting struct {
	numbers []int // of the reads of each input in their fragments
	named   bool  // names were kept
	text    uint64

	mu   sync.Mutex
	free []*counts
}

func (c *counting) take() *counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.free); n > 0 {
		last := c.free[n-1]
		c.free = c.free[:n-1]
		return last
	}
	return newCounts(c.numbers)
}

// look counts a slice.
func (c *counting) look(s *compress.InspectedSlice) error {
	n := c.take()
	defer func() {
		c.mu.Lock()
		c.free = append(c.free, n)
		c.mu.Unlock()
	}()
	for m, b := range s.Batches {
		if b == nil {
			continue
		}
		reads := &n.reads[c.numbers[b.Input]-1]
		for i := range b.Len() {
			r := b.Record(i)
			if !c.named {
				r.Name = nil // unpack makes one
			}
			reads.add(&r)
		}
		if err := n.gzip.add(s, m, c.text); err != nil {
			return err
		}
	}
	if first, second := s.Batches[0], s.Batches[1]; first != nil && second != nil {
		for i := range first.Len() {
			n.pairs.add(hashPair(first.Record(i).Bases, second.Record(i).Bases), 1)
		}
	}
	return nil
}

// unknown says what can't be told of an archive.
func unknown(f *Figures) []string {
	list := []string{}
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	a := f.Archive
	switch {
	case a.Quality == "drop":
		add("Qualities: they were not kept when the reads were archived.")
	case a.Quality == "bin8":
		add("The original qualities: they were rounded to Illumina's eight levels when the reads were archived. Figures are of these levels.")
	}
	for _, r := range f.Reads {
		switch {
		case r.Qualities == nil && r.Records > 0 && a.Quality != "drop":
			add("Qualities of read %d: the input is FASTA, which has none.", r.Number)
		case r.Qualities != nil && r.Qualities.Without > 0:
			add("Qualities of %d records of read %d: they are FASTA, which has none.", r.Qualities.Without, r.Number)
		}
		if r.NamesVary {
			add("Fields of the names of read %d: the names have more than %d forms.", r.Number, maxForms)
		}
	}
	if a.Names == "drop" {
		add("Names: they were not kept when the reads were archived.")
	}
	if a.Order == "any" {
		add("The original order of the records: it was not kept when the reads were archived.")
	}
	switch {
	case f.Pseudogenome != nil || a.Records == 0:
	case a.Stage == "binned":
		add("The pseudogenome and its coverage: the archive is not packed yet (orcomgo pack).")
	default:
		add("The pseudogenome and its coverage: they can't be decoded.")
	}
	if f.Gzip.StoredBytes == 0 && a.Records > 0 {
		add("The size of the files that were archived: it is not recorded of all of them.")
	}
	if !f.Verification.OK {
		add("What is in the damaged records: nothing of them is counted here.")
	}
	return list
}
