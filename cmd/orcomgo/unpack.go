package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"orcomgo/compress"

	"github.com/spf13/pflag"
)

var unpackCommand = command{
	name:     "unpack",
	group:    wholeGroup,
	synopsis: "DIR|DIR/NAME",
	complete: completeArchive,
	about:    "restore the original files, byte for byte",
	help: `unpack writes each input of the archive under its own name, in the current directory or in that of -o. A file
gets its name only when all of it is written and its checksum is right, and the time at which the file that was archived
was last written to. It works before pack as well as after.
Where a file of several is damaged in the archive, the others are restored, and the exit status is 1.
With -o - the exit status is 1 if standard output is closed; /dev/null that is open for reading and writing (as by
Python's subprocess.DEVNULL) counts as closed, because the two can't be told apart. orcomgo verify needs no output.

Examples:
  orcomgo unpack run/                                  into the current directory
  orcomgo unpack run/ -o restored/                     into another, made if it is missing
  orcomgo unpack --gzip run/ -o restored/              compressed
  orcomgo unpack run/ -o - | wc -l                     to standard output, input after input
  orcomgo unpack --interleave run/ -o - | bwa mem -p ref.fa -
  orcomgo unpack archives/sample7 -o restored/         one of several archives in a directory
  orcomgo unpack --records 1-1000 run/ -o peek/        the first thousand records of each input
`,
	flags: func(f *pflag.FlagSet) action {
		var o unpackFlags
		f.StringVarP(&o.output, "output", "o", ".", "`DIR` to restore the files in, or - for standard output")
		f.BoolVar(&o.interleave, "interleave", false, "with -o -: alternate the mates of a pair; further mates follow")
		f.BoolVar(&o.gzip, "gzip", false, "compress the output with gzip")
		f.StringVar(&o.records, "records", "", "only the records `FROM-TO` of each input, counted from 1")
		f.BoolVar(&o.touch, "touch", false, "give the files the present time, not that of the originals")
		f.BoolVarP(&o.force, "force", "f", false, "overwrite files")
		o.add(f)
		return o.run
	},
}

type unpackFlags struct {
	resources
	output, records                string
	interleave, gzip, touch, force bool
}

func (o *unpackFlags) run(ctx context.Context, s *streams, args []string) error {
	dir, err := oneArchive("unpack", args)
	if err != nil {
		return err
	}
	options := compress.UnpackOptions{Interleave: o.interleave, Gzip: o.gzip, Touch: o.touch, Force: o.force}
	switch {
	case o.output == "":
		return usagef("unpack: -o is a directory or -, not empty")
	case o.output == "-" && o.json:
		return usagef("unpack: --json and -o - exclude each other: both are for standard output")
	case o.output == "-":
		options.Stream = s.out
	case o.interleave:
		return usagef("unpack: --interleave needs -o -")
	default:
		if err := checkOutput("unpack", o.output, "write -o - >FILE for a single file"); err != nil {
			return err
		}
		options.OutDir = o.output
	}
	if options.Records, err = recordRange(o.records); err != nil {
		return err
	}
	if options.Stream != nil && s.noOut != nil {
		return s.noOut
	}
	bar, err := o.start(s, unpackModel)
	if err != nil {
		return err
	}
	defer bar.close()
	options.Threads, options.Memory, options.Progress = o.threads, uint64(o.memory), bar.report
	summary, err := compress.Unpack(ctx, dir, options)
	bar.close()
	if summary != nil {
		for _, n := range summary.Notes {
			fmt.Fprintf(s.err, "orcomgo: note: %s\n", oneLine(n))
		}
		for i := range summary.Files {
			if f := &summary.Files[i]; !f.OK {
				fmt.Fprintf(s.err, "orcomgo: %s\n", damageText(f))
			}
		}
	}
	if summary != nil && o.json {
		if e := writeJSON(s.out, unpackJSON{o.runJSON("unpack"), list(summary.Files), list(summary.Notes)}); err == nil {
			err = e
		}
	}
	if err != nil || o.quiet || o.json {
		return hint(err)
	}
	return o.unpacked(s.err, summary)
}

// recordRange reads FROM-TO, counted from 1, both included; "" is all records.
func recordRange(text string) (*compress.RecordRange, error) {
	if text == "" {
		return nil, nil
	}
	from, to, ok := strings.Cut(text, "-")
	a, err1 := strconv.ParseUint(from, 10, 63)
	b, err2 := strconv.ParseUint(to, 10, 63)
	if !ok || err1 != nil || err2 != nil || a < 1 || a > b {
		return nil, usageError{fmt.Errorf("unpack: --records is FROM-TO, counted from 1, not %q", text)}
	}
	return &compress.RecordRange{From: a - 1, To: b}, nil
}
