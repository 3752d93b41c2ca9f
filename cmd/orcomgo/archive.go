package main

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"orcomgo/binning"
	"orcomgo/binning/samples"
	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/cmd/orcomgo/batches"
	"orcomgo/compress"
	"orcomgo/compress/tree"

	"github.com/spf13/pflag"
)

var archiveCommand = command{
	name:     "archive",
	group:    wholeGroup,
	synopsis: "IN... OUT/",
	about:    "compress reads into an archive, and check it: bin and pack in one step",
	help: `archive reads FASTQ, FASTA or unaligned BAM, plain or compressed, and writes OUT/NAME.cdna and
OUT/NAME.cmeta. What was written is decoded and compared before it gets its name. A directory is
archived as a whole: samples, and all other files. More: orcomgo help directories, orcomgo help
groups, orcomgo help again.

Examples:
  orcomgo archive reads.fastq.gz run/                   one file or several; - is standard input
  orcomgo archive -1 R1.fastq.gz -2 R2.fastq.gz run/    a pair; repeat -1 and -2 for more pairs
  orcomgo archive --dry-run --exclude '*.tmp' run/ archives/    what of a directory would go where
  orcomgo archive --encrypt-to me.pub reads.fastq.gz run/       for the holder of me.sec alone
  orcomgo archive --group auto strains/ archives/       similar samples share an archive
  orcomgo archive reads.fastq.gz s3://bucket/2026/      in object storage: docs/STORAGE.md
`,
	flags: func(f *pflag.FlagSet) action { return newArchiveFlags(f, "archive").run },
}

// newArchiveFlags defines the flags of archive for a command.
func newArchiveFlags(f *pflag.FlagSet, name string) *archiveFlags {
	o := &archiveFlags{binFlags: binFlags{command: name}}
	o.binFlags.define(f)
	o.effort.define(f)
	f.BoolVar(&o.noVerify, "no-verify", false, "do not decode what was written")
	f.StringVar(&o.tempDir, "tmpdir", "", "`DIR` for temporary files (default: OUT)")
	f.StringVar(&o.sheet, "samples", "", "`SHEET` of samples as nf-core has it: sample, fastq_1, fastq_2")
	f.StringVar(&o.groupBy, "group", batches.GroupNone, "`HOW` samples share archives: none, auto, or a table of sample and group")
	f.IntVarP(&o.jobs, "jobs", "j", 1, "archive `N` samples at a time; they share threads and memory")
	f.StringArrayVar(&o.include, "include", nil, "of a directory, only what matches a `PATTERN` as *.xml or Data/**; may be repeated")
	f.StringArrayVar(&o.exclude, "exclude", nil, "of a directory, nothing that matches a `PATTERN`; may be repeated")
	f.StringArrayVar(&o.asIs, "as-is", nil, "of a directory, store files that match a `PATTERN` byte for byte")
	f.BoolVar(&o.deleteInputs, "delete-originals", false, "remove the inputs, once the archive has given back the very files")
	f.BoolVarP(&o.dryRun, "dry-run", "n", false, "list what would go where, and write nothing")
	o.add(f)
	return o
}

type archiveFlags struct {
	binFlags
	effort
	noVerify bool
	tempDir  string
	sheet    string
	groupBy  string // --group
	jobs     int

	include, exclude, asIs []string
	dryRun, deleteInputs   bool
}

func (o *archiveFlags) run(ctx context.Context, s *streams, args []string) error {
	o.tuning = s.tuning
	if err := o.check(); err != nil {
		return err
	}
	directory := len(args) > 1 && slices.ContainsFunc(args[:len(args)-1], batches.IsDirectory)
	for _, flag := range []string{"include", "exclude", "as-is"} {
		if o.given(flag) && (!directory || o.sheet != "") {
			return usagef("--%s is for a directory", flag)
		}
	}
	switch {
	case o.deleteInputs && (o.sheet != "" || directory || o.dryRun || o.noVerify || slices.Contains(args, "-")):
		return usagef("--delete-originals is for files, not for directories, samples or standard input, and needs verification")
	case o.deleteInputs:
		o.exactGzip = "require"
	}
	if o.file != "" {
		if o.sheet != "" || directory || o.dryRun || o.given("as") || o.json && o.file == "-" {
			return usagef("-o is for files, without --as and --dry-run, and standard output for that or for what --json prints")
		}
		dir, name := o.oneFile(s)
		args, o.name = append(slices.Clone(args), dir), name
	}
	if o.sheet != "" || directory {
		return o.batch(ctx, s, args)
	}
	for _, flag := range []string{"group", "jobs"} {
		if o.given(flag) {
			return usagef("--%s is for a directory of samples or a sheet (--samples)", flag)
		}
	}
	if o.dryRun {
		c, err := o.config(args)
		if err != nil {
			return err
		}
		b := &batch{archiveFlags: o, config: c}
		b.list = oneSample(&b.config)
		return b.tellPlan(s)
	}
	c, bar, err := o.prepare(ctx, s, args, packStages(o.noVerify, binModel)...)
	if err != nil {
		return err
	}
	defer bar.close()
	a := o.archiving(c)
	if o.file != "" {
		a.Config.Name, a.Pack.OneFile = o.name, true
	}
	a.MayReplace(tree.NewNeeds(c.OutDir))
	a.Report, a.Finish, a.Note, a.Pack.Sized = bar.report, bar.finish, bar.note, bar.sized
	summary, outcome, err := a.Run(ctx)
	bar.close()
	if err != nil {
		return o.hintMates(err)
	}
	if outcome == batches.WasThere && !o.json {
		err = o.nothingToDo(s, a.Path()+" holds these inputs already")
	} else {
		err = o.packed(s, "archive", a.Path(), summary, a.Bins)
	}
	if err == nil && o.deleteInputs {
		err = o.deleteOriginals(ctx, s, &a.Config)
	}
	return err
}

// check checks flags that each run has.
func (o *archiveFlags) check() error {
	if o.tempDir != "" {
		if err := checkTempDir(o.tempDir); err != nil {
			return usagef("--tmpdir is %q: %w", o.tempDir, err)
		}
		vfs.TempDir = o.tempDir
	}
	return o.effort.check()
}

// archiving returns what is to be done for the inputs of c: they are packed with the threads and the memory that bin them, and on a GPU if
// one bins them.
func (o *archiveFlags) archiving(c binning.Config) *batches.Archive {
	a := &batches.Archive{Config: c, UsableGPU: func() (bool, error) { return usableGPU(o.device) }, Collect: collectGarbage}
	a.Pack = compress.PackOptions{
		Threads: c.Threads, Memory: c.Memory, GPU: c.NewAssigner != nil,
		Tool: tool, TwoBit: o.twoBit, SliceText: uint64(o.slice), NoVerify: o.noVerify, Force: o.force,
		Parity: float64(o.parity),
	}
	o.tuning.pack(a.Pack)
	a.Config.Name = oneSample(&c)[0].Name
	if o.given("two-bit") {
		a.TwoBit = &o.twoBit
	}
	a.Pack.Access = batches.AccessTo(c.Inputs, nil)
	a.Config.Hold, a.Config.TempDir = c.Memory/max(o.tuning.heldShare, heldShare), o.tempDir
	return a
}

// oneSample returns what is given as files as the only sample of a batch. That of a pair is called as one of a directory: run for run_R1.
func oneSample(c *binning.Config) []samples.Sample {
	name := binning.ArchiveName(c.Inputs)
	if in := c.Inputs[0]; in.Mate >= 0 {
		x, _ := samples.Parse(filepath.Base(in.Path))
		y, _ := samples.Parse(filepath.Base(c.Inputs[in.Mate].Path))
		if x.Role == samples.First && y.Role == samples.Second && x.Sample == y.Sample && commit.CheckName(x.Sample) == nil {
			name = x.Sample
		}
	}
	return []samples.Sample{{Name: cmp.Or(c.Name, name), Inputs: c.Inputs}}
}
