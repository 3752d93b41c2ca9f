package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"orcomgo/binning"
	"orcomgo/binning/samples"
	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/cmd/orcomgo/batches"
	"orcomgo/compress"

	"github.com/spf13/pflag"
)

var planCommand = command{
	name:     "plan",
	group:    wholeGroup,
	synopsis: "IN...",
	about:    "say what archive of files or directories will make and take",
	help: `plan archives the first --sample of each archive's text into temporary files, which are removed, and
scales size and time by how much text there is. Memory is the bound that so many reads can reach,
--memory at most. What has no more text than --sample is archived as a whole, so its figures are
measured. Of more text they are upper bounds as a rule: more reads of the same organism overlap
more, which makes the archive smaller. The figures are of archive with the same flags on this
machine, without a GPU. With --json they come with resources for a workflow: threads, mem_mb,
runtime (minutes) and tmpdir_bytes, each with a margin.

Examples:
  orcomgo plan run_R1.fastq.gz                        one file
  orcomgo plan -1 R1.fastq.gz -2 R2.fastq.gz          a pair
  orcomgo plan fastq/                                 the samples of a directory
  orcomgo plan --order any --memory 16GB run/         for these flags
  orcomgo plan --samples sheet.csv                    those of a sheet
  orcomgo plan --json run/ | jq .archives[].resources
`,
	flags: func(f *pflag.FlagSet) action {
		all := pflag.NewFlagSet("", pflag.ContinueOnError)
		o := planFlags{archiveFlags: newArchiveFlags(all, "plan"), sample: 64e6}
		f.Var(&o.sample, "sample", "`SIZE` of text of each archive to measure with")
		for _, name := range slices.Concat([]string{"first", "second", "third", "fourth", "samples", "group", "include", "exclude",
			"as-is", "jobs"}, planPasses, []string{"threads", "memory", "quiet", "json"}) {
			f.AddFlag(all.Lookup(name))
		}
		o.flags = f
		return o.run
	},
}

// planPasses are the flags that plan passes on to archive.
var planPasses = []string{"reads-only", "order", "names", "quality", "source", "two-bit", "slice-size", "no-verify",
	"block-size", "streams", "tmpdir", "unpaired", "exact-gzip"}

type planFlags struct {
	*archiveFlags
	sample size
	flags  *pflag.FlagSet
}

// plan is what archives are expected to be and to take.
type plan struct {
	batch
	sample size           // of text to measure with
	flags  *pflag.FlagSet // of the command
	dir    string         // for temporary files
	each   resources      // for one archive
	ready  uint64         // bytes of inputs that are planned
}

// expected is what an archive is expected to be and to take.
type expected struct {
	Archive   uint64  `json:"archive_bytes"`
	Seconds   float64 `json:"seconds"`
	Memory    uint64  `json:"memory_bytes"`    // at most
	Temporary uint64  `json:"temporary_bytes"` // in files without a name
}

// planJSON is what plan --json prints.
type planJSON struct {
	runJSON
	Memory   uint64        `json:"memory"` // bytes to stay within
	Jobs     int           `json:"jobs"`
	Expected expected      `json:"expected"` // of all archives
	Group    string        `json:"group"`
	Sides    []plannedSide `json:"sides"` // of directories
	Archives []planned     `json:"archives"`
	Unread   []string      `json:"unread"`
	Others   []string      `json:"other_files"`
}

// planned is an archive to be made.
type planned struct {
	Archive   string         `json:"archive"` // its name
	Samples   []string       `json:"samples"`
	Inputs    []string       `json:"inputs"`
	Problem   string         `json:"problem,omitempty"`
	Stored    uint64         `json:"stored_bytes"`
	Text      uint64         `json:"text_bytes"` // about, unless Whole
	Whole     bool           `json:"whole"`      // all of it was measured
	Expected  *expected      `json:"expected,omitempty"`
	Resources *resourcesJSON `json:"resources,omitempty"`
}

// plannedSide is the side archive of a directory.
type plannedSide struct {
	Archive   string   `json:"archive"` // its file's name
	Directory string   `json:"directory"`
	Files     int      `json:"files"`
	Bytes     uint64   `json:"bytes"` // of the files
	Whole     bool     `json:"whole"`
	Expected  expected `json:"expected"`
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

// sliceText is about how many bytes of text are coded by one thread.
const sliceText = 64 << 20

const planStage = "plan"

func (o *planFlags) run(ctx context.Context, s *streams, args []string) error {
	p := &plan{batch: batch{archiveFlags: o.archiveFlags, log: s.log}, sample: o.sample, flags: o.flags}
	if err := p.find(args); err != nil {
		return err
	}
	var err error
	if p.bar, err = o.start(s, p.stages(planStage, nil)...); err != nil {
		return err
	}
	defer p.bar.close()
	if err := o.checkJobs(); err != nil {
		return err
	}
	p.each = o.resources
	p.each.threads, p.each.memory = max(o.threads/o.jobs, 1), o.memory/size(o.jobs)
	if p.dir, err = os.MkdirTemp(o.tempDir, "orcomgo-plan-"); err != nil {
		return fmt.Errorf("%s: a directory for temporary files can't be made: %w", cmp.Or(o.tempDir, os.TempDir()), vfs.Cause(err))
	}
	defer os.RemoveAll(p.dir)
	defer commit.IfAbandoned(func() { os.RemoveAll(p.dir) })()
	if err := p.group(ctx); err != nil {
		return err
	}
	j := planJSON{Memory: uint64(o.memory), Jobs: o.jobs, Group: o.groupBy, Sides: []plannedSide{}, Archives: []planned{},
		Unread: linesOf(p.unread), Others: list(p.others)}
	p.bar.report(planStage, 0, p.sum)
	for i := range p.list {
		a := p.archive(ctx, &p.list[i])
		if err := ctx.Err(); err != nil {
			return err
		}
		j.Archives = append(j.Archives, a)
		p.advance(a.Stored)
	}
	for _, t := range p.trees {
		k, err := p.side(ctx, t)
		if err != nil {
			return err
		}
		j.Sides = append(j.Sides, k)
		p.advance(k.Bytes)
	}
	p.bar.close()
	j.runJSON, j.Expected = p.runJSON("plan"), j.total()
	return p.tell(s, &j)
}

// advance reports that so many bytes more are planned.
func (p *plan) advance(n uint64) {
	p.ready += n
	p.bar.report(planStage, p.ready, p.sum)
}

// find checks the command line and finds the samples.
func (p *plan) find(args []string) (err error) {
	o := p.archiveFlags
	if err := o.check(); err != nil {
		return err
	}
	switch directory := slices.ContainsFunc(args, batches.IsDirectory); {
	case o.sheet != "" && len(args)+len(o.first) > 0:
		return usagef("give no files and no directory with --samples")
	case o.sheet == "" && len(args)+len(o.first) == 0:
		return usagef("give files, the directories of samples, or a sheet (--samples)")
	case o.jobs < 1:
		return usagef("--jobs must be at least 1")
	case o.sheet == "" && !directory: // p.dir is not known yet, and plays no part
		if p.config, err = o.config(append(slices.Clone(args), "plan/")); err != nil {
			return err
		}
		p.list = oneSample(&p.config)
	case len(o.first) > 0:
		return usagef("-1 to -4 can't be combined with samples")
	default:
		if err := o.settings(&p.config); err != nil {
			return err
		}
		if o.sheet != "" {
			p.list, err = samples.ReadSheet(o.sheet)
		} else {
			err = p.scan(args)
		}
	}
	if err != nil {
		return err
	}
	for i := range p.list {
		p.sum += binning.StoredSize(p.list[i].Inputs)
	}
	p.sum += p.sideTotal()
	p.config.OutDir = ""
	return p.checkGroup()
}

// archive plans the archive of a sample.
func (p *plan) archive(ctx context.Context, s *samples.Sample) planned {
	a := planned{Archive: s.Name, Samples: s.Members(), Inputs: pathsOf(s.Inputs), Stored: binning.StoredSize(s.Inputs)}
	if a.Samples == nil {
		a.Samples = []string{s.Name}
	}
	err := s.Problem
	if err == nil {
		err = batches.CheckPaths(s)
	}
	if err == nil {
		err = p.measure(ctx, s, &a)
	}
	if err != nil {
		a.Problem = oneLine(err.Error())
		p.bar.note(s.Name + ": " + a.Problem)
	}
	return a
}

// measure archives a part of the inputs, or all, and scales what that takes.
func (p *plan) measure(ctx context.Context, s *samples.Sample, a *planned) error {
	defer removeContent(p.dir)
	parts, text, err := cutInputs(ctx, p.dir, s.Inputs, int(min(p.sample, 1<<40)), p.each.threads)
	if err != nil {
		return err
	}
	m, err := p.trial(ctx, s.Name, parts)
	if err != nil {
		message := err.Error()
		for i := range parts {
			message = strings.ReplaceAll(message, parts[i].Path, s.Inputs[i].Path)
		}
		return errors.New(message)
	}
	a.Whole = text == 0
	if a.Text = max(text, m.TextBytes); a.Whole {
		a.Text = m.TextBytes
	}
	more := float64(a.Text) / float64(max(m.TextBytes, 1))
	scaled := func(n uint64) uint64 { return uint64(float64(n) * more) }
	limit := uint64(p.each.memory)
	e := &expected{Archive: scaled(m.ArchiveBytes), Seconds: m.Seconds * more, Memory: m.PeakMemory}
	if !a.Whole { // what grows is the layout of the reads, and the text in work, which takes three times as much as it has bytes
		bound := m.PeakMemory + compress.MemoryFor(scaled(m.Records)-m.Records, scaled(m.Bases)-m.Bases) +
			3*min(a.Text-min(a.Text, m.TextBytes), uint64(p.each.threads)*sliceText)
		e.Memory = max(min(bound, scaled(m.PeakMemory), limit), m.PeakMemory)
		for _, in := range s.Inputs { // the sample has their text
			if p.keepsGzip() && slices.Contains(binning.GzipExts, filepath.Ext(in.Path)) {
				e.Memory += gzipMemory
			}
		}
	}
	if n := scaled(m.BinBytes); n > limit/heldShare {
		e.Temporary = n
	}
	a.Expected = e
	a.Resources = &resourcesJSON{Threads: p.each.threads, Memory: limit,
		MemMB:   uint64(math.Ceil((float64(e.Memory)*memoryMargin + memorySpare) / 1e6)),
		Runtime: uint64(math.Ceil(e.Seconds*timeMargin/60)) + 1, Tmpdir: uint64(float64(e.Temporary) * diskMargin)}
	return nil
}

// trial has a process of its own archive inputs, since the peak of memory is known of a process only. The error is that of the archive.
func (p *plan) trial(ctx context.Context, name string, inputs []binning.InputSpec) (m packJSON, err error) {
	self, err := os.Executable()
	if err != nil {
		return m, vfs.Cause(err)
	}
	args := []string{"archive", "--json", "--quiet", "--device", "cpu", "--as", name, "--threads", fmt.Sprint(p.each.threads),
		"--memory", p.each.memory.String()}
	for _, flag := range planPasses {
		if f := p.flags.Lookup(flag); f.Changed {
			args = append(args, "--"+flag+"="+f.Value.String())
		}
	}
	var single []string
	further := make(map[int]int) // mates of an input with first mates
	for _, in := range inputs {
		switch {
		case in.Further:
			args = append(args, fmt.Sprintf("-%d", 3+further[in.Lead]), in.Path)
			further[in.Lead]++
		case in.Mate < 0:
			single = append(single, in.Path)
		case in.First:
			args = append(args, "-1", in.Path)
		default:
			args = append(args, "-2", in.Path)
		}
	}
	args = slices.Concat(args, []string{"--"}, single, []string{filepath.Join(p.dir, "out") + "/"})
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Args[0] = os.Args[0] // tests are a program that looks at its name
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	var out, message bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &message
	if err := cmd.Run(); err != nil {
		if lines := strings.Split(strings.TrimSpace(message.String()), "\n"); lines[0] != "" {
			err = errors.New(strings.TrimPrefix(lines[len(lines)-1], "orcomgo: "))
		}
		return m, err
	}
	err = json.Unmarshal(out.Bytes(), &m)
	return m, err
}

// side plans the side archive of a directory: it makes one of all its files, or of every n-th one.
func (p *plan) side(ctx context.Context, t *samples.Tree) (k plannedSide, err error) {
	k = plannedSide{Archive: sideName(t.Root) + commit.TreeExt, Directory: t.Root}
	for i := range t.Files {
		if f := &t.Files[i]; f.Class == samples.Other {
			k.Files++
			k.Bytes += uint64(f.Info.Size())
		}
	}
	every := max(min(int(k.Bytes/uint64(p.sample))+1, k.Files), 1)
	k.Whole = every == 1
	part := *t
	part.Files = everySideFile(t.Files, every)
	b := &batch{archiveFlags: p.archiveFlags, list: p.list, trees: []*samples.Tree{&part}}
	b.config.OutDir = filepath.Join(p.dir, "out")
	b.begin()
	defer removeContent(p.dir)
	made, began := sideResult{name: sideName(t.Root)}, time.Now()
	if err := b.side(ctx, &part, &made); err != nil {
		return k, err
	}
	more := 1.0
	if !k.Whole {
		more = float64(k.Bytes) / float64(max(made.bytes, 1))
	}
	k.Expected = expected{Archive: uint64(float64(made.stored) * more), Seconds: time.Since(began).Seconds() * more, Memory: peakMemory()}
	return k, nil
}

// everySideFile returns the entries of a tree without most side files: every n-th one is left. Hard links are left out.
func everySideFile(files []samples.File, n int) (list []samples.File) {
	if n <= 1 {
		return files
	}
	seen := 0
	for _, f := range files {
		if f.Class == samples.Other {
			seen++
		}
		if f.Class != samples.HardLink && (f.Class != samples.Other || seen%n == 0) {
			list = append(list, f)
		}
	}
	return list
}

// removeContent removes what is in a directory.
func removeContent(dir string) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		os.RemoveAll(filepath.Join(dir, e.Name()))
	}
}

// betweenArchives is about how much memory one archive leaves behind that the next one can't use again.
const betweenArchives = 10e6

// total returns what all archives are expected to take, as many at a time as there are jobs, and then the side archives.
func (j *planJSON) total() (all expected) {
	var memory, temporary []uint64
	for i := range j.Archives {
		if e := j.Archives[i].Expected; e != nil {
			all.Archive += e.Archive
			all.Seconds += e.Seconds / float64(j.Jobs)
			memory, temporary = append(memory, e.Memory), append(temporary, e.Temporary)
		}
	}
	all.Memory, all.Temporary = sumOfLargest(memory, j.Jobs), sumOfLargest(temporary, j.Jobs)
	if len(memory) > j.Jobs {
		all.Memory += betweenArchives
	}
	for i := range j.Sides {
		e := &j.Sides[i].Expected
		all.Archive += e.Archive
		all.Seconds += e.Seconds
		need := e.Memory
		if len(memory)+i > 0 {
			need += betweenArchives
		}
		all.Memory = max(all.Memory, need)
	}
	return all
}

// sumOfLargest returns the sum of the n largest numbers.
func sumOfLargest(of []uint64, n int) (sum uint64) {
	slices.Sort(of)
	for _, k := range of[max(len(of)-n, 0):] {
		sum += k
	}
	return sum
}
