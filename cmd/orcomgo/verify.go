package main

import (
	"context"
	"fmt"

	"orcomgo/bins/commit"
	"orcomgo/compress"

	"github.com/spf13/pflag"
)

var verifyCommand = command{
	name:     "verify",
	group:    lookGroup,
	synopsis: "DIR|DIR/NAME",
	complete: completeArchive,
	about:    "decode everything and compare checksums",
	help: `verify decodes the whole archive, compares it with the checksums that were taken of the original text, and prints
one line a file. It writes no files. The exit status is 1 unless every file is OK. Of a directory with several
archives it verifies all, and prints with --json one object after another.

Examples:
  orcomgo verify run/
  orcomgo verify archives/sample7            one of several archives in a directory
  orcomgo verify --json run/ | jq '.files[] | select(.ok | not)'
  orcomgo verify --quiet run/ && rm run_R1.fastq.gz run_R2.fastq.gz
`,
	flags: func(f *pflag.FlagSet) action {
		var o resources
		o.add(f)
		return o.verify
	},
}

func (o *resources) verify(ctx context.Context, s *streams, args []string) error {
	path, err := oneArchive("verify", args)
	if err != nil {
		return err
	}
	found, err := commit.Find(path)
	if err != nil {
		return err
	}
	damaged, files := 0, 0
	for _, e := range found {
		prefix := ""
		if len(found) > 1 {
			prefix = oneLine(e.Name) + ": "
		}
		n, of, err := o.verifyOne(ctx, s, e, prefix)
		damaged, files = damaged+n, files+of
		if err == nil {
			continue
		}
		if len(found) == 1 || ctx.Err() != nil || !compress.IsDamage(err) {
			return err
		}
		// Go on with the other archives.
		damaged, files = damaged+1, files+1
		if o.json {
			err = writeJSON(s.out, verifyJSON{Archive: e.Name, Problem: oneLine(err.Error()), Files: []compress.FileStatus{}})
		} else {
			_, err = fmt.Fprintf(s.out, "%sDAMAGED: %s\n", prefix, oneLine(err.Error()))
		}
		if err != nil {
			return err
		}
	}
	if damaged > 0 {
		return fmt.Errorf("%s: %d of %s damaged", path, damaged, plural(uint64(files), "file"))
	}
	return nil
}

// verifyOne prints a line for each file of an archive, after a prefix, and returns how many
// there are and how many of them are damaged.
func (o *resources) verifyOne(ctx context.Context, s *streams, e commit.Entry, prefix string) (damaged, files int, err error) {
	bar, err := o.start(s, stageModel{"verify", bytesUnit, 0, 1})
	if err != nil {
		return 0, 0, err
	}
	defer bar.close()
	status, err := compress.Verify(ctx, e, compress.VerifyOptions{Threads: o.threads, Memory: uint64(o.memory), Progress: bar.report})
	bar.close()
	if err != nil {
		return 0, 0, err
	}
	for i := range status {
		f := &status[i]
		switch {
		case !f.OK && o.json:
			damaged++
		case !f.OK:
			damaged++
			_, err = fmt.Fprintf(s.out, "%s%s\n", prefix, damageText(f))
		case !o.quiet && !o.json:
			_, err = fmt.Fprintf(s.out, "%s%s: OK (%s, %s bytes, by %s)\n",
				prefix, oneLine(f.Name), plural(f.Records, "record"), countText(f.Bytes), f.Checked)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	if o.json {
		err = writeJSON(s.out, verifyJSON{Archive: e.Name, OK: damaged == 0, Files: list(status)})
	}
	return damaged, len(status), err
}

// damageText returns a line about what is wrong with a file.
func damageText(f *compress.FileStatus) string {
	text := oneLine(f.Name) + ": DAMAGED: "
	if records := f.DamagedText(); records != "" {
		text += records + ": "
	}
	return text + oneLine(f.Problem)
}
