package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"orcomgo/binning"
	"orcomgo/binning/groups"
	"orcomgo/binning/samples"
	"orcomgo/bins/commit"
	"orcomgo/compress"
	"orcomgo/compress/estimate"

	"github.com/spf13/pflag"
)

var planCommand = command{
	name:     "plan",
	group:    wholeGroup,
	synopsis: "DIR...",
	complete: completeReads,
	about:    "say what archive of a directory will make and take",
	help: `plan finds the samples of directories as archive does, archives the first --sample of each into temporary files,
and prints for each archive: its size, and the time, memory and temporary disk that it takes. Nothing is kept.
What has up to one and a half times --sample of text is archived as a whole, so its figures are measured. Others are extrapolated, from
how the archive grew from half of --sample to all of it, and from new k-mers in more of the text. Less than 64MB of sample tells less: with
4MB, memory may be wrong by a fourth. With --jobs, the archives that take most are measured once more, several at a time.
The figures hold for archive with the same flags, on this machine, without a GPU. With --json they come with resources for a workflow:
threads, mem_mb, runtime (minutes) and tmpdir_bytes, each with a margin.

Examples:
  orcomgo plan fastq/                                 the samples of a directory
  orcomgo plan --sample 16MB -t 8 --memory 16GB run/  in less time, for these limits
  orcomgo plan --samples sheet.csv                    those of a sheet
  orcomgo plan --json run/ | jq .archives[].resources
`,
	flags: func(f *pflag.FlagSet) action {
		all := pflag.NewFlagSet("", pflag.ContinueOnError)
		o := planFlags{archiveFlags: newArchiveFlags(all, "plan"), sample: 64e6}
		f.Var(&o.sample, "sample", "`SIZE` of text of each archive to measure with")
		for _, name := range []string{"samples", "group", "include", "exclude", "as-is", "jobs", "reads-only", "order", "names", "quality",
			"source", "level", "slice-size", "no-verify", "block-size", "streams", "tmpdir", "threads", "memory", "quiet", "json"} {
			f.AddFlag(all.Lookup(name))
		}
		return o.run
	},
}

type planFlags struct {
	*archiveFlags
	sample size
}

// plan is what archives are expected to be and to take.
type plan struct {
	batch
	sample size   // of text to measure with
	dir    string // for temporary files
	limits estimate.Limits
	each   resources // for one archive
	ready  uint64    // bytes of inputs that are planned
}

// planned is an archive to be made.
type planned struct {
	sample   *samples.Sample
	stored   uint64 // bytes of the inputs
	text     uint64 // about
	whole    bool   // all of it was measured
	expected estimate.Expected
	program  uint64 // bytes of memory that the program itself takes
	peak     uint64 // of memory, of what was measured
	err      error
}

func (o *planFlags) run(ctx context.Context, s *streams, args []string) error {
	p := &plan{batch: batch{archiveFlags: o.archiveFlags, log: s.log}, sample: o.sample}
	if err := p.find(args); err != nil {
		return err
	}
	var err error
	if p.bar, err = o.start(s, p.stages(planStage)...); err != nil {
		return err
	}
	defer p.bar.close()
	if o.memory/size(o.jobs) < minMemory {
		return o.usagef("--memory %s is too little for --jobs %d: each takes at least 64MiB", o.memory.String(), o.jobs)
	}
	temporary, err := commit.NewTempDir(o.tempDir, "orcomgo-plan-")
	if err != nil {
		return err
	}
	defer temporary.Remove()
	p.dir = temporary.Path
	if err := p.group(ctx); err != nil {
		return err
	}
	p.setLimits()
	var list []planned
	p.bar.report(planStage, 0, p.sum)
	for i := range p.list {
		a := p.archive(ctx, &p.list[i])
		if err := ctx.Err(); err != nil {
			return err
		}
		if a.err != nil {
			p.bar.note(a.sample.Name + ": " + oneLine(a.err.Error()))
		}
		list = append(list, a)
		p.ready += a.stored
		p.bar.report(planStage, p.ready, p.sum)
	}
	share, err := p.together(ctx, list)
	if err != nil {
		return err
	}
	sides, err := p.planSides(ctx)
	if err != nil {
		return err
	}
	p.bar.close()
	return p.tell(s, list, sides, share)
}

const planStage = "plan"

// find checks the command line and finds the samples.
func (p *plan) find(args []string) (err error) {
	o := p.archiveFlags
	switch {
	case o.sheet != "" && len(args) > 0:
		return o.usagef("give no directory with --samples")
	case o.sheet == "" && len(args) == 0:
		return o.usagef("give the directories of samples, or a sheet (--samples)")
	case o.jobs < 1:
		return o.usagef("--jobs must be at least 1")
	}
	if o.tempDir != "" {
		if err := checkTempDir(o.tempDir); err != nil {
			return o.usagef("--tmpdir is %q: %w", o.tempDir, err)
		}
	}
	if p.level, err = o.level(); err != nil {
		return err
	}
	if err := o.settings(&p.config); err != nil {
		return err
	}
	if o.sheet != "" {
		p.list, err = samples.ReadSheet(o.sheet)
	} else {
		err = p.scan(args)
	}
	for i := range p.list {
		p.sum += storedSize(p.list[i].Inputs)
	}
	p.sum += p.sideTotal()
	if err != nil {
		return err
	}
	return p.checkGroup()
}

// setLimits divides threads and memory among the jobs.
func (p *plan) setLimits() {
	jobs := p.jobs
	p.each = p.resources
	p.each.threads, p.each.memory = max(p.each.threads/jobs, 1), p.each.memory/size(jobs)
	p.limits = estimate.Limits{Threads: p.each.threads, Memory: uint64(p.each.memory), Hold: uint64(p.each.memory / heldShare),
		SliceText: uint64(p.slice), BasesOnly: p.config.Options.ReadsOnly, Layout: compress.LayoutMemory}
	if p.slice == 0 {
		p.limits.SliceText = sliceText // what takes most memory; small slices are of large inputs
	}
}

// archive plans the archive of a sample.
func (p *plan) archive(ctx context.Context, s *samples.Sample) planned {
	a := planned{sample: s, stored: storedSize(s.Inputs), err: s.Problem}
	if a.err == nil {
		a.err = p.checkPaths(s)
	}
	if a.err == nil {
		a.err = p.measure(ctx, &a)
	}
	return a
}

// measure makes archives of parts of the inputs, or of all.
func (p *plan) measure(ctx context.Context, a *planned) error {
	inputs := a.sample.Inputs
	parts, err := p.cut(ctx, inputs)
	if err != nil {
		return err
	}
	defer os.RemoveAll(parts.dir)
	full, err := p.trial(ctx, parts.full)
	if err != nil {
		return parts.original(err)
	}
	a.program, a.peak = full.Program, full.Peak
	if a.text, a.whole = full.Text, parts.whole; a.whole {
		a.expected = p.limits.Whole(&full)
		return nil
	}
	half, err := p.trial(ctx, parts.half)
	if err != nil {
		return parts.original(err)
	}
	sketch, err := groups.SketchInputs(ctx, inputs, p.each.threads)
	if err != nil {
		return err
	}
	a.text = max(parts.text, full.Text)
	// Reads of an index are not in the sketch.
	share := 1 - float64(parts.index)/float64(max(parts.text, 1))
	kmers := func(text uint64) float64 { return sketch.KmersAt(uint64(share * float64(text))) }
	limits, c := p.limits, p.config
	c.Inputs, c.Threads, c.Memory = inputs, p.each.threads, uint64(p.each.memory)
	if limits.BlockText, err = c.TextInFlight(); err != nil {
		return err
	}
	if slices.ContainsFunc(inputs, func(in binning.InputSpec) bool { return in.Mate >= 0 }) {
		limits.SliceText *= 2 // a slice has both mates
	}
	a.expected = limits.Extrapolate(&half, &full, a.text, kmers)
	return nil
}

// trial makes an archive of inputs as the flags say, measures that, and removes it.
func (p *plan) trial(ctx context.Context, inputs []binning.InputSpec) (estimate.Point, error) {
	t := p.newTrial()
	t.Inputs = inputs
	return p.try(ctx, t)
}

// newTrial returns a trial of no inputs yet.
func (p *plan) newTrial() *trial {
	return &trial{Options: p.config.Options, Record: p.config.Record, Streams: p.config.Streams, Level: p.level, Slice: uint64(p.slice),
		NoVerify: p.noVerify, OutDir: filepath.Join(p.dir, "out"), TempDir: p.tempDir, Threads: p.each.threads, Memory: uint64(p.each.memory)}
}

// try measures a trial and removes what it made.
func (p *plan) try(ctx context.Context, t *trial) (estimate.Point, error) {
	m, err := t.measure(ctx)
	return m, errors.Join(err, os.RemoveAll(t.OutDir))
}

// betweenArchives and betweenShare are about how much memory a run over many samples takes besides the largest archive: parts of what the
// archives before had, which are free, but too small or too far apart to be used again. That is one byte in betweenShare of the second
// largest archive, and betweenArchives bytes at most.
const betweenArchives, betweenShare = 7e6, 8

// total returns what all archives are expected to take, as many at a time as there are jobs, and then the side archives. Archives that are
// made at the same time take that share of their memory.
func (p *plan) total(list []planned, sides []plannedSide, share float64) (all estimate.Expected) {
	var memory, temporary []uint64
	var program uint64
	for i := range list {
		e := &list[i].expected
		program = max(program, list[i].program)
		all.Archive += e.Archive
		all.Seconds += e.Seconds
		all.CPU += e.CPU
		memory, temporary = append(memory, e.Memory-min(list[i].program, e.Memory)), append(temporary, e.Temporary)
	}
	jobs := p.jobs
	all.Seconds = max(all.Seconds/float64(jobs), all.CPU/float64(p.threads))
	all.Memory, all.Temporary = uint64(share*float64(sumOfLargest(memory, jobs)))+program, sumOfLargest(temporary, jobs)
	for i := range sides {
		e := &sides[i].expected
		all.Archive += e.Archive
		all.Seconds += e.Seconds
		all.CPU += e.CPU
		all.Memory = max(all.Memory, e.Memory)
	}
	second := sumOfLargest(memory, 2) - sumOfLargest(memory, 1)
	all.Memory += min(second/betweenShare, betweenArchives)
	return all
}
