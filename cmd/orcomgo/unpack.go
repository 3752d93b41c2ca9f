package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"orcomgo/bins/commit"
	"orcomgo/compress"

	"github.com/spf13/pflag"
)

var unpackCommand = command{
	name:     "unpack",
	group:    wholeGroup,
	synopsis: "DIR|DIR/NAME",
	about:    "restore the original files, byte for byte",
	help: `unpack writes each input of the archive under its own name, in the current directory or in that of
-o. A file gets its name only when all of it is written and its checksums are right, and the time at
which the file that was archived was last written to. It works before pack as well as after. Damage
that the parity can mend is mended as it is read; where a file is damaged beyond that, the others
are restored. The exit status is 1 then, and if standard output is closed.

A directory that was archived as a whole is restored as a whole: side files and the reads of all
samples, under their paths, with their modes (less the umask, set-user-ID and set-group-ID: these
come with --owner), times and links. --input chooses files or directories by their paths or names,
or by patterns. A .gz comes back as it was if the archive can make it (bin --help), else its text,
without .gz; --gzip compresses that again. One file can be written to -o -, as text. Some records of
BAM, and BAM on -o -, are FASTQ, with tags by -T. --format bam makes unaligned BAM of FASTQ as well:
read groups are of the names, what follows their first word is in CO.

Some records: --input and --mate choose files of the archive; --records, --name, --names-from and
--grep choose records, and names of files say so (run_R1.1-1000.fastq, run_R1.selected.fastq). Mates
come together: a pair is chosen by the name of one of its mates. A NAME is the first word of a
record's name, with or without /1 or /2, or the whole name if it has spaces. --sample finds the
archive of a sample in a directory. FIFOs at -o, or of the names of files there, get text.

Examples:
  orcomgo unpack run/ -o restored/                     into another directory, made if it is missing
  orcomgo unpack --interleave run/ -o - | bwa mem -p ref.fa -
  orcomgo unpack --split 1000000 --gzip run/ -o parts/ run_R1.part_001.fastq.gz, ...
`,
	flags: func(f *pflag.FlagSet) action {
		var o unpackFlags
		f.StringVarP(&o.output, "output", "o", ".", "`DIR` to restore the files in, or a FIFO, or - for standard output")
		f.StringArrayVar(&o.inputs, "input", nil,
			"only inputs or paths that match a `PATTERN` as *_R1*")
		f.BoolVar(&o.text, "text", false, "restore text, also of .gz that would come back as they were; FASTQ of BAM")
		f.StringVar(&o.format, "format", "", "restore `FORMAT`: bam (unaligned), or fastq of BAM")
		f.StringVarP(&o.tags, "tags", "T", "", "tags of BAM in the comments of FASTQ: a `LIST` as RG,BC, or * for all")
		f.StringArrayVar(&o.samples, "sample", nil, "only the inputs of the sample of this `NAME`; may be repeated")
		f.IntVar(&o.mate, "mate", 0, "only first mates (`1`) or only second ones (2)")
		f.StringVar(&o.records, "records", "", "only records `FROM-TO` of each input, from 1 on; also N, and FROM-")
		f.StringArrayVar(&o.names, "name", nil, "only the record with this `NAME`, or its pair; may be repeated")
		f.StringVar(&o.namesFrom, "names-from", "", "only the records whose names are in `FILE`, one a line")
		f.StringVar(&o.grep, "grep", "", "only records whose whole names match a `REGEXP` (RE2 syntax)")
		f.BoolVar(&o.interleave, "interleave", false, "alternate the mates of a pair, in one output; further mates follow")
		f.Uint64Var(&o.split, "split", 0, "write files of `N` records of each input")
		f.BoolVar(&o.gzip, "gzip", false, "compress the output with gzip, in blocks (BGZF)")
		f.BoolVar(&o.salvage, "salvage", false, "of a damaged archive, restore what is whole of each record, to files that say what is missing")
		f.BoolVar(&o.touch, "touch", false, "give the files the present time, not that of the originals")
		f.BoolVar(&o.owner, "owner", false, "of a directory, owners, set-user-ID and set-group-ID too; only root may")
		f.BoolVarP(&o.force, "force", "f", false, "overwrite files")
		f.StringVar(&o.device, "device", "auto", "`WHERE` to decode qualities: auto, cpu or gpu")
		o.add(f)
		return func(ctx context.Context, s *streams, args []string) error {
			if f.Changed("split") && o.split == 0 {
				return usagef("--split is at least 1")
			}
			if o.text && o.gzip {
				return usagef("--text and --gzip exclude each other")
			}
			if f.Changed("format") && o.format != "bam" && o.format != "fastq" {
				return usagef("--format is bam or fastq, not %q", o.format)
			}
			if o.format == "bam" && (o.text || o.gzip || o.tags != "") {
				return usagef("--format bam excludes --text, --gzip and --tags: BAM is compressed, and has all tags")
			}
			if f.Changed("mate") && o.mate != 1 && o.mate != 2 {
				return usagef("--mate is 1 or 2, not %d", o.mate)
			}
			// A variable of a script that is not set must not choose everything.
			given := map[string][]string{"records": {o.records}, "names-from": {o.namesFrom}, "grep": {o.grep}, "tags": {o.tags},
				"sample": o.samples}
			for flag, values := range given {
				if f.Changed(flag) && slices.Contains(values, "") {
					return usagef("--%s is empty", flag)
				}
			}
			return o.run(ctx, s, args)
		}
	},
}

type unpackFlags struct {
	resources
	output, records, device string
	format, tags            string
	inputs, names, samples  []string
	namesFrom, grep         string
	mate                    int
	split                   uint64
	interleave, gzip, text  bool
	touch, force            bool
	salvage, owner          bool
}

func (o *unpackFlags) run(ctx context.Context, s *streams, args []string) (failed error) {
	dir, err := oneArchive(s, args)
	if err != nil {
		return err
	}
	options := compress.UnpackOptions{Interleave: o.interleave, Gzip: o.gzip, Text: o.text, Touch: o.touch, Force: o.force, Split: o.split,
		Inputs: o.inputs, Samples: o.samples, Mate: o.mate}
	switch {
	case o.format == "bam":
		options.Format = compress.AsBAM
	case o.format == "fastq" || o.tags != "":
		options.Format = compress.AsFASTQ
	}
	if o.tags == "*" {
		options.Comments = []string{}
	} else if o.tags != "" {
		options.Comments = strings.Split(o.tags, ",")
	}
	switch {
	case o.output == "":
		return usagef("-o is a directory or -, not empty")
	case o.output == "-" && o.json:
		return usagef("--json and -o - exclude each other: both are for standard output")
	case o.output == "-":
		options.Stream = s.out
	default:
		if !isFIFO(o.output) {
			if err := checkOutput(o.output, "write -o - >FILE for a single file"); err != nil {
				return err
			}
		}
		options.OutDir = o.output
	}
	switch {
	case o.split > 0 && (options.Stream != nil || isFIFO(o.output)):
		return usagef("--split needs a directory, by -o")
	case o.interleave && o.mate > 0:
		return usagef("--interleave and --mate exclude each other")
	}
	for _, p := range o.inputs {
		if _, err := path.Match(p, ""); err != nil {
			return usagef("--input %q is no valid pattern: a [ without ]?", p)
		}
	}
	if options.Records, err = recordRange(o.records); err != nil {
		return err
	}
	if options.Names, err = o.nameFilter(s); err != nil {
		return err
	}
	if o.owner && (o.salvage || o.output == "-") {
		return usagef("--owner restores the owners of a directory that was archived as a whole, into a directory")
	}
	if o.owner && os.Geteuid() != 0 {
		return errors.New("unpack: --owner: only root can restore owners")
	}
	if o.salvage {
		return o.salvaged(ctx, s, dir, options)
	}
	if options.Stream != nil && s.noOut != nil {
		return s.noOut
	}
	if dir, options.Samples, err = o.ofSamples(dir); err != nil {
		return err
	}
	found, _ := commit.Find(dir) // else unpacking says why
	ctx, onGPU, done, err := o.decodesOnGPU(ctx, o.device, found)
	if err != nil {
		return err
	}
	defer func() { failed = done(failed) }()
	if options.Stream != nil && o.device == "gpu" {
		options.Stream = checkedWriter{options.Stream, done}
	}
	if t, found, err := o.findTree(dir); err != nil {
		return err
	} else if found {
		return o.tree(ctx, s, t, onGPU)
	} else if o.owner {
		return fmt.Errorf("%s: --owner: owners are recorded of directories that were archived as a whole", dir)
	}
	stages := []stageModel{unpackModel}
	if options.Names != nil {
		stages = []stageModel{namesModel, unpackModel}
	}
	bar, err := o.start(s, stages...)
	if err != nil {
		return err
	}
	defer bar.close()
	options.Threads, options.Memory, options.Progress = o.threads, uint64(o.memory), bar.report
	if onGPU {
		options.GPU = gpuNote(o.device, bar)
	}
	summary, err := compress.Unpack(ctx, dir, options)
	bar.close()
	if summary != nil && options.Names != nil {
		if missing := options.Names.Missing(); missing != "" {
			summary.Notes = append(summary.Notes, "no record is called "+missing)
		}
	}
	if summary != nil {
		o.tellFiles(s, summary.Files, summary.Notes)
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

// ofSamples returns the archive at a path, which may be a directory of several, that has the samples that are asked for, and these: nil if
// all of the archive is one sample, which is called like that.
func (o *unpackFlags) ofSamples(path string) (archive string, wanted []string, err error) {
	found, err := commit.Find(path)
	if err != nil || len(o.samples) == 0 {
		return path, nil, nil // unpacking says what is wrong
	}
	for _, e := range found {
		n, err := compress.Info(e)
		if err != nil {
			continue
		}
		var members []string
		for _, in := range n.Inputs {
			if in.Sample != "" {
				members = append(members, in.Sample)
			}
		}
		// With the extension the path can't be that of a directory.
		switch lacks := func(sample string) bool { return !slices.Contains(members, sample) }; {
		case members == nil && len(o.samples) == 1 && o.samples[0] == e.Name:
			return e.Path() + commit.PackedDataExt, nil, nil
		case members != nil && !slices.ContainsFunc(o.samples, lacks):
			return e.Path() + commit.PackedDataExt, o.samples, nil
		}
	}
	if len(found) > 1 {
		return "", nil, fmt.Errorf("%s: no archive there is of the sample %s", path, strings.Join(o.samples, " and "))
	}
	return path, o.samples, nil
}

// salvaged is run with --salvage.
func (o *unpackFlags) salvaged(ctx context.Context, s *streams, path string, options compress.UnpackOptions) error {
	if options.Stream != nil || isFIFO(o.output) || options.Records != nil || options.Names != nil || options.Inputs != nil ||
		options.Samples != nil || o.mate > 0 || o.split > 0 || o.interleave || o.gzip || o.text ||
		o.format != "" || o.tags != "" {
		return usagef("--salvage restores all there is to a directory, without other choices")
	}
	bar, err := o.start(s)
	if err != nil {
		return err
	}
	bar.close()
	options.Threads, options.Memory = o.threads, uint64(o.memory)
	list, err := compress.Salvage(ctx, path, options)
	if err != nil {
		return hint(err)
	}
	if o.json {
		return writeJSON(s.out, filesJSON[compress.Salvaged]{o.runJSON("unpack"), list})
	}
	for _, f := range list {
		switch {
		case o.quiet:
		case f.Records == 0:
			fmt.Fprintf(s.err, "%s: which records lack what\n", oneLine(f.Path))
		case f.Missing != "":
			fmt.Fprintf(s.err, "%s: %s without %s\n", oneLine(f.Path), plural(f.Records, "record"), f.Missing)
		default:
			fmt.Fprintf(s.err, "%s: %s\n", oneLine(f.Path), plural(f.Records, "record"))
		}
	}
	return nil
}

// isFIFO reports whether path leads to a FIFO.
func isFIFO(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode()&fs.ModeNamedPipe != 0
}

// recordRange reads FROM-TO, FROM- or a number, counted from 1, both included; "" is all records.
func recordRange(text string) (*compress.RecordRange, error) {
	if text == "" {
		return nil, nil
	}
	from, to, ok := strings.Cut(text, "-")
	a, err1 := strconv.ParseUint(from, 10, 63)
	b, err2 := a, error(nil)
	switch {
	case ok && to == "":
		b = math.MaxUint64
	case ok:
		b, err2 = strconv.ParseUint(to, 10, 63)
	}
	if err1 != nil || err2 != nil || a < 1 || a > b {
		return nil, usagef("--records is FROM-TO, FROM- or a number, counted from 1, not %q", text)
	}
	return &compress.RecordRange{From: a - 1, To: b}, nil
}

// nameFilter returns what --name, --names-from and --grep ask for; nil if none of them is given.
func (o *unpackFlags) nameFilter(s *streams) (*compress.NameFilter, error) {
	if o.names == nil && o.namesFrom == "" && o.grep == "" {
		return nil, nil
	}
	names := slices.Clone(o.names)
	var pattern *regexp.Regexp
	if o.grep != "" {
		var err error
		if pattern, err = regexp.Compile(o.grep); err != nil {
			return nil, usagef("--grep: %w", err)
		}
	}
	if o.namesFrom != "" {
		list, err := readNames(s, o.namesFrom)
		if err != nil {
			return nil, err
		}
		names = append(names, list...)
	}
	return compress.NewNameFilter(names, pattern), nil
}

// readNames returns the lines of a file that are not empty; - is standard input.
func readNames(s *streams, path string) (names []string, err error) {
	in := s.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		line := lines.Text()
		if len(names) == 0 {
			line = strings.TrimPrefix(line, "\ufeff") // some editors write it before UTF-8
		}
		if name := strings.TrimRight(line, "\r\t "); name != "" {
			names = append(names, name)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: line %d: %w", path, len(names)+1, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: there are no names in it, one a line", path)
	}
	return names, nil
}
