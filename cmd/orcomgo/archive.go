package main

import (
	"context"
	"fmt"

	"orcomgo/binning"
	"orcomgo/compress"
	"orcomgo/compress/tree"

	"github.com/spf13/pflag"
)

var archiveCommand = command{
	name:     "archive",
	group:    wholeGroup,
	synopsis: "IN... OUT/",
	complete: completeReads,
	about:    "bin and pack in one step",
	help: `archive reads FASTQ or FASTA and writes OUT/NAME.cdna and OUT/NAME.cmeta, NAME from the first input: the same
bytes as bin and then pack with the same flags. It takes the inputs that bin takes; see bin --help.
There are no files of bins: they are kept in memory up to an eighth of --memory, and beyond that in temporary
files in OUT, or in the directory of --tmpdir, that are gone when archive ends, however it ends.
What was written is decoded and compared before it gets its name. If anything fails, OUT holds the same archive as
before. The inputs are never changed or removed.

If OUT holds an archive of the same inputs, made with the same flags, there is nothing to do; if it holds their bins,
they are packed. So a command that was interrupted can be given again. Inputs are the same if their files have the size
and time that were recorded, or else the same SHA-256, or else the same text. Of files below 1 MiB, and of times in whole
seconds, which different files may share, SHA-256 or the text is compared in any case, if the archive has one of them.

A directory as input is archived as a whole. Files of reads, told by their content, are put together to samples by their
names, such as liver_S1_L001_R1_001.fastq.gz, ERR123_1.fastq.gz, x.R1.fq or x.fasta, lanes in order; each sample becomes
an archive of its name. All other files go to one side archive, OUT/DIR.ctree, with the listing of the directory: names,
modes, times, links, empty directories. unpack OUT/ restores the directory from these. Of compressed files of reads it
restores the text (x.fastq of x.fastq.gz), or with --gzip a .gz of the same text; --as-is '*.gz' keeps their very bytes.
--include and --exclude choose what is archived. A pattern without a slash is one of names anywhere, one with a slash is one
of paths in the directory, where ** matches any directories. Hidden files are never samples. --dry-run lists what would
go where. OUT may be the directory or be in it: files of archives directly in OUT are left out, and so is the --log file.
--samples takes a sheet instead, with the columns sample, fastq_1 and fastq_2. What is archived already is skipped,
and what fails stops nothing else: a table at the end has all, and the exit status is 1 if something failed.
With --force, archives that were replaced before a run failed or was interrupted stay so: give the same command again.
--force replaces archives of other inputs, but none that the side archive of another directory needs: a sample of a
directory gets another name then, and one file or a sample of a sheet is an error.

With --group auto, samples whose reads or sequences have much in common share an archive, called NAME_group, NAME that of
the first of them. It stores the common sequence once: twenty genomes of a species take a quarter of the bytes. unpack
--sample restores one of them, in at most 1.3 times the time that it would take alone, which bounds how much a group may
hold. Groups that OUT holds already stay as they are, and so do samples that have an archive. By default each sample has
an archive of its own, so that samples that are added later change nothing.

Examples:
  orcomgo archive reads.fastq.gz run/                           one file
  orcomgo archive lane1.fastq.gz lane2.fastq.gz run/            several
  orcomgo archive -1 R1.fastq.gz -2 R2.fastq.gz run/            a pair; repeat -1 and -2 for more pairs
  orcomgo archive -1 R1.fq.gz -2 R2.fq.gz -3 I1.fq.gz -4 I2.fq.gz run/    with the reads of the index
  zcat *.fastq.gz | orcomgo archive - run/                      from a pipe
  orcomgo archive --reads-only --order any reads.fastq run/     nothing but the sequences, as a set
  orcomgo archive --level max -t 16 reads.fastq run/            smaller qualities, slower
  orcomgo archive run/ archives/                                a directory: samples, and all other files
  orcomgo archive --dry-run --exclude '*.tmp' run/ archives/    what would go where
  orcomgo archive --jobs 4 fastq/ archives/                     four at a time, which suits small ones
  orcomgo archive --samples sheet.csv archives/                 those of a sheet
  orcomgo archive --group auto strains/ archives/               similar samples share an archive
`,
	flags: func(f *pflag.FlagSet) action { return newArchiveFlags(f, "archive").run },
}

// newArchiveFlags defines the flags of archive for a command.
func newArchiveFlags(f *pflag.FlagSet, name string) *archiveFlags {
	o := &archiveFlags{binFlags: binFlags{command: name}}
	o.binFlags.define(f)
	o.effort.define(f)
	f.BoolVar(&o.noVerify, "no-verify", false, "don't decode what was written before it gets its name")
	f.StringVar(&o.tempDir, "tmpdir", "", "`DIR` for temporary files (default: OUT; $ORCOMGO_TMPDIR changes that)")
	f.StringVar(&o.sheet, "samples", "", "`SHEET` of samples instead of inputs: CSV, or separated by tabs;\n"+
		"columns sample, fastq_1, fastq_2, as the pipelines of nf-core have it")
	f.StringVar(&o.groupBy, "group", groupNone, "`HOW` samples share archives: none, each has its own; auto, similar ones share one;\n"+
		"or a file with the columns sample and group")
	f.IntVarP(&o.jobs, "jobs", "j", 1, "archive `N` samples at a time; they share threads and memory")
	f.StringArrayVar(&o.include, "include", nil, "of a directory, only what matches a `PATTERN` as *.xml or Data/**; may be repeated")
	f.StringArrayVar(&o.exclude, "exclude", nil, "of a directory, nothing that matches a `PATTERN`; may be repeated")
	f.StringArrayVar(&o.asIs, "as-is", nil, "of a directory, store files that match a `PATTERN` byte for byte beside the samples,\n"+
		"even if they hold reads; may be repeated")
	f.BoolVarP(&o.dryRun, "dry-run", "n", false, "of a directory, list what would go where, and write nothing")
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
	dryRun                 bool
}

// heldShare is the share of --memory, one of so many, that bins may take. Tests change it.
var heldShare size = 8

func (o *archiveFlags) run(ctx context.Context, s *streams, args []string) error {
	level, err := o.level()
	if err != nil {
		return err
	}
	if o.tempDir != "" {
		if err := checkTempDir(o.tempDir); err != nil {
			return usagef("archive: --tmpdir is %q: %w", o.tempDir, err)
		}
	}
	directory := len(args) > 1 && anyDirectory(args[:len(args)-1])
	for _, flag := range []string{"include", "exclude", "as-is", "dry-run"} {
		if o.given(flag) && (!directory || o.sheet != "") {
			return o.usagef("--%s is for a directory", flag)
		}
	}
	if o.sheet != "" || directory {
		return o.batch(ctx, s, args, level)
	}
	if o.given("group") {
		return o.usagef("--group is for a directory of samples or a sheet (--samples)")
	}
	if o.given("jobs") {
		return o.usagef("--jobs is for a directory of samples or a sheet (--samples)")
	}
	c, bar, err := o.prepare(ctx, s, args, packStages(o.noVerify, binModel)...)
	if err != nil {
		return err
	}
	defer bar.close()
	a := o.archiving(c, level)
	a.mayReplace(tree.NewNeeds(c.OutDir))
	a.report, a.finish, a.note = bar.report, bar.finish, bar.note
	summary, outcome, err := a.run(ctx)
	bar.close()
	if err != nil {
		return hintName(err)
	}
	if outcome == wasThere && !o.json {
		if !o.quiet {
			fmt.Fprintf(s.err, "%s holds these inputs already: nothing to do\n", oneLine(a.path()))
		}
		return nil
	}
	return o.packed(s, "archive", summary, a.bins)
}

// packOptions returns how to pack what c bins: with the same threads and memory, and on a GPU if it bins on one.
func (o *archiveFlags) packOptions(c *binning.Config, level compress.Level) compress.PackOptions {
	return compress.PackOptions{
		Threads: c.Threads, Memory: c.Memory, GPU: c.NewAssigner != nil,
		Tool: tool, Level: level, SliceText: uint64(o.slice), NoVerify: o.noVerify, Force: o.force,
	}
}
