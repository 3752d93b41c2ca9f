package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orcomgo/binning"
	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress"

	"github.com/spf13/pflag"
)

var benchCommand = command{
	name:     "bench",
	group:    selfGroup,
	synopsis: "FILE",
	complete: completeReads,
	about:    "measure this machine on a file, suggest settings",
	help: `bench archives the first --sample of a file of reads with several settings, in memory and temporary files, restores
it, and prints a table: size, ratio, time and rate of each, and the time that all threads ran together (CPU). For the
whole file it says how large the archive will be at most, and about how long archive and unpack will take; then it
suggests settings. Reads of a larger sample overlap more, so their archive is smaller for each of them. Nothing is kept.

Examples:
  orcomgo bench run_R1.fastq.gz                   its first 64 MB of text: a minute on two cores
  orcomgo bench --sample 1GB run_R1.fastq.gz      more of it, which tells more
  orcomgo bench -t 4 --memory 4GB run.fastq       as with these flags
  orcomgo bench --json run.fastq | jq .suggested
`,
	flags: func(f *pflag.FlagSet) action {
		o := benchFlags{sample: 64e6}
		f.Var(&o.sample, "sample", "`SIZE` of text to measure with, from the beginning of the file")
		f.StringVar(&o.tempDir, "tmpdir", "", "`DIR` for temporary files (default: that of the system; $ORCOMGO_TMPDIR changes that)")
		o.add(f)
		return o.run
	},
}

type benchFlags struct {
	resources
	sample  size
	tempDir string
}

// setting is a choice of flags that bench measures.
type setting struct {
	Flags   string         `json:"flags"` // as on the command line; "" for the defaults
	options record.Options // what they mean
	level   compress.Level
	kinds   []record.Kind // that it makes sense for; nil for all
}

var benchSettings = []setting{
	{},
	{Flags: "--level fast", level: compress.LevelFast, kinds: []record.Kind{record.FASTQ}},
	{Flags: "--level max", level: compress.LevelMax, kinds: []record.Kind{record.FASTQ}},
	{Flags: "--quality bin8", options: record.Options{Quality: record.QualityBin8}, kinds: []record.Kind{record.FASTQ}},
	{Flags: "--quality drop", options: record.Options{Quality: record.QualityDrop}, kinds: []record.Kind{record.FASTQ}},
	{Flags: "--reads-only --order any", options: record.Options{ReadsOnly: true, OrderAny: true}},
}

func (o *benchFlags) run(ctx context.Context, s *streams, args []string) error {
	switch {
	case len(args) != 1 || args[0] == "":
		return usagef("bench: give one file of reads")
	case args[0] == "-" || isURL(args[0]):
		return usagef("bench: %s: only a file can be measured, because its size is needed", args[0])
	}
	if o.tempDir != "" {
		if err := checkTempDir(o.tempDir); err != nil {
			return usagef("bench: --tmpdir is %q: %w", o.tempDir, err)
		}
	}
	bar, err := o.start(s)
	if err != nil {
		return err
	}
	defer bar.close()
	sample, err := readSample(ctx, args[0], int(min(o.sample, 1<<40)), o.threads)
	if err != nil {
		return err
	}
	var settings []setting
	for _, s := range benchSettings {
		if s.fits(sample.kind) {
			settings = append(settings, s)
		}
	}
	if bar != nil {
		bar.prepare(benchStages(settings))
	}
	dir, err := commit.NewTempDir(o.tempDir, "orcomgo-bench-")
	if err != nil {
		return err
	}
	defer dir.Remove()
	b := benchJSON{File: args[0], Stored: sample.stored, Text: sample.allText(), Whole: sample.whole,
		Sample: uint64(len(sample.text)), Read: sample.rate}
	for _, s := range settings {
		m, err := o.measure(ctx, filepath.Join(dir.Path, "x"), sample, s, bar)
		if err != nil {
			return err
		}
		m.extrapolate(&b)
		b.Settings = append(b.Settings, m)
	}
	bar.close()
	b.runJSON = o.runJSON("bench")
	o.suggest(&b)
	if o.json {
		return writeJSON(s.out, b)
	}
	return b.print(s.out)
}

// fits reports whether the setting makes sense for inputs of a kind.
func (s *setting) fits(kind record.Kind) bool {
	for _, k := range s.kinds {
		if k == kind {
			return true
		}
	}
	return s.kinds == nil
}

// stage is the name of the stage in which a setting is measured.
func (s *setting) stage() string { return strings.TrimSpace("measuring " + s.Flags) }

// benchStages returns the stages of a run: about as much time for each.
func benchStages(settings []setting) (list []stageModel) {
	for i, s := range settings {
		list = append(list, stageModel{name: s.stage(), unit: bytesUnit, group: i, weight: 1})
	}
	return list
}

// measured is what one setting gives.
type measured struct {
	setting
	Archive uint64  `json:"archive_bytes"` // of the sample
	Bin     float64 `json:"bin_seconds"`
	Pack    float64 `json:"pack_seconds"` // with the check of what was written
	Unpack  float64 `json:"unpack_seconds"`
	// How long the threads ran for that, together; 0 if unknown.
	ArchiveCPU float64 `json:"archive_cpu_seconds"`
	UnpackCPU  float64 `json:"unpack_cpu_seconds"`
	// Of the whole file:
	WholeArchive uint64  `json:"file_archive_bytes"` // at most, unless the sample is all of it
	WholeTime    float64 `json:"file_archive_seconds"`
	WholeUnpack  float64 `json:"file_unpack_seconds"`

	records, bases uint64
}

// measure archives the sample to dir, restores it, and removes the archive.
func (o *benchFlags) measure(ctx context.Context, dir string, sample *benchSample, s setting, bar *progress) (measured, error) {
	m := measured{setting: s}
	part := newProgress(io.Discard, false, packStages(false, binModel), nil)
	defer part.close()
	total := uint64(len(sample.text))
	report := func(stage string, done, of uint64) {
		part.report(stage, done, of)
		bar.report(s.stage(), uint64(float64(total)*part.sharePart()), total)
	}
	options := s.options
	c := binning.Config{Inputs: []binning.InputSpec{{Path: "-", Mate: -1}}, Stdin: bytes.NewReader(sample.text), OutDir: dir,
		Options: options, Threads: o.threads, Memory: uint64(o.memory), Hold: uint64(o.memory / heldShare), Tool: tool, Progress: report}
	began, cpu := time.Now(), cpuTime()
	bins, binned, err := binning.RunUnnamed(ctx, c)
	var wrong *binning.RecordError
	if errors.As(err, &wrong) {
		wrong.File = sample.path
	}
	if err != nil {
		return m, err
	}
	defer bins.Close()
	part.finish(binning.Stage)
	m.Bin, m.records, m.bases = time.Since(began).Seconds(), binned.Records, binned.Bases
	began = time.Now()
	summary, err := compress.PackUnnamed(ctx, bins, compress.PackOptions{Threads: o.threads, Memory: uint64(o.memory), Tool: tool,
		Level: s.level, Progress: report})
	if err != nil {
		return m, err
	}
	m.Pack, m.ArchiveCPU, m.Archive = time.Since(began).Seconds(), (cpuTime() - cpu).Seconds(), summary.ArchiveBytes
	began, cpu = time.Now(), cpuTime()
	unpack := compress.UnpackOptions{Threads: o.threads, Memory: uint64(o.memory), Stream: io.Discard}
	if _, err := compress.Unpack(ctx, dir, unpack); err != nil {
		return m, err
	}
	m.Unpack, m.UnpackCPU = time.Since(began).Seconds(), (cpuTime() - cpu).Seconds()
	bar.finish(s.stage())
	return m, os.RemoveAll(dir)
}

// extrapolate computes what is expected of the whole file.
func (m *measured) extrapolate(b *benchJSON) {
	factor := float64(b.Text) / float64(max(b.Sample, 1))
	m.WholeArchive = uint64(float64(m.Archive) * factor)
	m.WholeTime, m.WholeUnpack = (m.Bin+m.Pack)*factor, m.Unpack*factor
}
