package main

import (
	"context"
	"runtime"

	"orcomgo/binning"
	"orcomgo/compress"

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
What was written is decoded and compared before it gets its name. If anything fails, OUT holds the same archives as
before. The inputs are never changed or removed.

Examples:
  orcomgo archive reads.fastq.gz run/                           one file
  orcomgo archive lane1.fastq.gz lane2.fastq.gz run/            several
  orcomgo archive -1 R1.fastq.gz -2 R2.fastq.gz run/            a pair; repeat -1 and -2 for more pairs
  zcat *.fastq.gz | orcomgo archive - run/                      from a pipe
  orcomgo archive --reads-only --order any reads.fastq run/     nothing but the sequences, as a set
  orcomgo archive --level max -t 16 reads.fastq run/            smaller qualities, slower
`,
	flags: func(f *pflag.FlagSet) action {
		o := archiveFlags{binFlags: binFlags{command: "archive"}}
		o.binFlags.define(f)
		o.effort.define(f)
		f.BoolVar(&o.noVerify, "no-verify", false, "don't decode what was written before it gets its name")
		f.StringVar(&o.tempDir, "tmpdir", "", "`DIR` for temporary files (default: OUT; $ORCOMGO_TMPDIR changes that)")
		o.add(f)
		return o.run
	},
}

type archiveFlags struct {
	binFlags
	effort
	noVerify bool
	tempDir  string
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
	c, bar, err := o.prepare(ctx, s, args, packStages(o.noVerify, binModel)...)
	if err != nil {
		return err
	}
	defer bar.close()
	c.Hold, c.TempDir = uint64(o.memory/heldShare), o.tempDir
	bins, _, err := binning.RunUnnamed(ctx, c)
	if err != nil {
		return hint(err)
	}
	defer bins.Close()
	bar.finish(binning.Stage)
	runtime.GC() // the blocks are garbage now, and packing should not begin with them
	summary, err := compress.PackUnnamed(ctx, bins, compress.PackOptions{
		Threads: o.threads, Memory: uint64(o.memory), Tool: tool,
		Level: level, NoVerify: o.noVerify, Force: o.force, GPU: c.NewAssigner != nil, Note: bar.note, Progress: bar.report,
	})
	bar.close()
	if err != nil {
		return hint(err)
	}
	return o.packed(s, "archive", summary)
}
