package main

import (
	"context"
	"fmt"

	"orcomgo/compress"

	"github.com/spf13/pflag"
)

var verifyCommand = command{
	name:     "verify",
	synopsis: "ARCHIVE/",
	about:    "decode everything and compare checksums",
	help: `verify decodes the whole archive, compares it with the checksums that were taken of the original text, and prints
one line a file. It writes no files. The exit status is 1 unless every file is OK.

Examples:
  orcomgo verify run/
  orcomgo verify --quiet run/ && rm run_R1.fastq.gz run_R2.fastq.gz
`,
	flags: func(f *pflag.FlagSet) action {
		var o resources
		o.add(f)
		return o.verify
	},
}

func (o *resources) verify(ctx context.Context, s *streams, args []string) error {
	dir, err := oneArchive("verify", args)
	if err != nil {
		return err
	}
	bar, err := o.start(s)
	if err != nil {
		return err
	}
	defer bar.close()
	files, err := compress.Verify(ctx, dir, compress.VerifyOptions{Threads: o.threads, Memory: uint64(o.memory), Progress: bar.report})
	bar.close()
	if err != nil {
		return err
	}
	damaged := 0
	for _, f := range files {
		switch {
		case !f.OK:
			damaged++
			fmt.Fprintf(s.out, "%s: DAMAGED: %s\n", oneLine(f.Name), oneLine(f.Problem))
		case !o.quiet:
			fmt.Fprintf(s.out, "%s: OK (%s, %s bytes, by %s)\n", oneLine(f.Name), plural(f.Records, "record"), countText(f.Bytes), f.Checked)
		}
	}
	if damaged > 0 {
		return fmt.Errorf("%s: %d of %s damaged", dir, damaged, plural(uint64(len(files)), "file"))
	}
	return nil
}
