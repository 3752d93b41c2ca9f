package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"orcomgo/binning"
	"orcomgo/binning/samples"
)

// batchTrial is archives to be made as many at a time as there are jobs, with the threads and memory of all together.
type batchTrial struct {
	Inputs [][]binning.InputSpec
	Jobs   int
}

// makeBatch makes the archives.
func (t *trial) makeBatch(ctx context.Context, r resources) error {
	b := &batch{archiveFlags: &archiveFlags{binFlags: binFlags{resources: r, device: "cpu", given: func(string) bool { return false }},
		noVerify: t.NoVerify, tempDir: t.TempDir, jobs: t.Batch.Jobs}, level: t.Level}
	b.slice = size(t.Slice)
	b.config = binning.Config{OutDir: t.OutDir, Options: t.Options, Record: t.Record, Streams: t.Streams, Tool: tool}
	for i, in := range t.Batch.Inputs {
		b.list = append(b.list, samples.Sample{Name: fmt.Sprint("measured", i), Inputs: in})
	}
	b.begin()
	b.archiveAll(ctx, b.device)
	for i := range b.results {
		if err := b.results[i].err; err != nil {
			return err
		}
	}
	return nil
}

// togetherJobs is how many archives for each job are made to measure what several at a time take.
const togetherJobs = 4

// together returns which share of the memory that the largest archives take one by one is taken by as many at a time as there are jobs.
// Not all of them have their peak at the same time, and they share what the heap grows by before garbage is collected. That is measured
// with the samples of those archives in a row that take most.
func (p *plan) together(ctx context.Context, list []planned) (float64, error) {
	var of []planned
	for _, a := range list {
		if a.err == nil {
			of = append(of, a)
		}
	}
	if p.jobs == 1 || len(of) < 2 {
		return 1, nil
	}
	n := min(togetherJobs*p.jobs, len(of))
	from, most := 0, uint64(0)
	for i := 0; i+n <= len(of); i++ {
		if peaks, _ := peaksOfArchives(of[i : i+n]); sumOfLargest(peaks, p.jobs) > most {
			from, most = i, sumOfLargest(peaks, p.jobs)
		}
	}
	of = of[from : from+n]
	t := p.newTrial()
	t.Batch, t.Threads, t.Memory = &batchTrial{Jobs: p.jobs}, p.threads, uint64(p.memory)
	for _, a := range of {
		parts, err := p.cut(ctx, a.sample.Inputs)
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(parts.dir)
		t.Batch.Inputs = append(t.Batch.Inputs, parts.full)
	}
	m, err := p.try(ctx, t)
	if err != nil {
		return 1, err
	}
	peaks, program := peaksOfArchives(of)
	return min(float64(m.Peak-min(program, m.Peak))/float64(max(sumOfLargest(peaks, p.jobs), 1)), 1), nil
}

// peaksOfArchives returns what was measured of the samples of archives: peaks of memory without that of the program itself, and that.
func peaksOfArchives(list []planned) (peaks []uint64, program uint64) {
	for i := range list {
		a := &list[i]
		peaks, program = append(peaks, a.peak-min(a.program, a.peak)), max(program, a.program)
	}
	return peaks, program
}

// sumOfLargest returns the sum of the n largest numbers.
func sumOfLargest(of []uint64, n int) (sum uint64) {
	slices.Sort(of)
	for _, k := range of[max(len(of)-n, 0):] {
		sum += k
	}
	return sum
}
