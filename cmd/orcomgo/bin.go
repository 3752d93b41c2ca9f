package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"orcomgo/binning"
	"orcomgo/binning/samples"
	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/cmd/orcomgo/batches"
	"orcomgo/compress"
	"orcomgo/compress/tree"

	"github.com/spf13/pflag"
)

var binCommand = command{
	name:     "bin",
	group:    stepGroup,
	synopsis: "IN... OUT/",
	about:    "sort reads by signature into bins",
	help: `bin reads FASTQ or FASTA and writes OUT/NAME.bdna and OUT/NAME.bmeta, NAME from the first input.
Inputs may be plain, gzip, bgzip, zstd, xz or bzip2, told apart by their content; - is standard
input. OUT is a directory, made if it is missing; a name that looks like a file of reads
(x.fastq.gz) or a URL is refused. Everything is kept unless a flag says otherwise; unaligned BAM is
read as FASTQ then, without its tags. Of each input file its name, size, time, SHA-256 and MD5 are
recorded, for info --sha256 and --md5. Of a plain file, which is read faster than one thread can
compute these, they are computed by pack, and MD5 only up to 1 GB of text: --source all has bin
compute all of them, and verify --certificate states them. With --source none nothing is recorded,
and equal texts give equal bins, whatever files they are from.

A .gz or BAM comes back as the very file if it is known what made it: gzip, zlib, pigz, bgzip,
libdeflate. That takes up to as long as compressing it, when it is packed and when it is restored,
so auto does it for 2 MB or less together; --exact-gzip require for all, or bin or pack fails. Until
then the bins have the file.

Examples:
  orcomgo bin reads.fastq.gz run/                           one file
  orcomgo bin lane1.fastq.gz lane2.fastq.gz run/            several
  orcomgo bin -1 R1.fastq.gz -2 R2.fastq.gz run/            a pair; repeat -1 and -2 for more pairs
  orcomgo bin --as liver -1 R1.fq.gz -2 R2.fq.gz run/       the archive is called liver, not R1
  orcomgo bin -1 R1.fq.gz -2 R2.fq.gz -3 I1.fq.gz -4 I2.fq.gz run/    with the reads of the index
  zcat *.fastq.gz | orcomgo bin - run/                      from a pipe
  orcomgo bin --reads-only --order any reads.fastq run/     nothing but the sequences, as a set
  orcomgo bin --quality bin8 --names drop reads.fastq run/  coarser qualities, numbered reads
`,
	flags: func(f *pflag.FlagSet) action {
		o := binFlags{command: "bin"}
		o.define(f)
		o.add(f)
		return o.run
	},
}

// binFlags are the flags of bin, which archive has too.
type binFlags struct {
	resources
	command               string // bin or archive, for messages
	first, second         []string
	third, fourth         []string
	unpaired              bool
	readsOnly, force      bool
	order, names, quality string
	source, exactGzip     string
	blockSize             size
	streams               int
	device                string
	name                  string
	given                 func(flag string) bool
	tuning                tuning

	gzips   uint64   // bytes of the .gz among all inputs
	noticed bool     // a pair was found that was not given as one
	notes   []string // what is odd about the inputs
}

// define defines the flags, but for those of resources.
func (o *binFlags) define(f *pflag.FlagSet) {
	f.StringArrayVarP(&o.first, "first", "1", nil, "`FILE` of first mates; repeat for more pairs")
	f.StringArrayVarP(&o.second, "second", "2", nil, "`FILE` of second mates, as many as -1")
	f.StringArrayVarP(&o.third, "third", "3", nil, "`FILE` of third reads or of an index (I1), as many as -1 or none")
	f.StringArrayVarP(&o.fourth, "fourth", "4", nil, "`FILE` of fourth reads or of another index (I2), likewise")
	f.BoolVar(&o.unpaired, "unpaired", false, "files without -1 and -2 are no pairs, and none has interleaved mates")
	f.BoolVar(&o.readsOnly, "reads-only", false, "keep nothing but the sequences: no names, no qualities")
	f.StringVar(&o.order, "order", "original", "`ORDER` of records: original, or any to discard it")
	f.StringVar(&o.names, "names", "keep", "`NAMES` of the records: keep, or drop to number them")
	f.StringVar(&o.quality, "quality", "keep", "`QUALITIES`: keep, bin8 (Illumina's levels) or drop")
	f.StringVar(&o.name, "as", "", "`NAME` of the archive (default: that of the first input)")
	f.StringVar(&o.source, "source", "auto", "`WHAT` to record of the inputs: auto, all, time or none")
	f.StringVar(&o.exactGzip, "exact-gzip", "auto", "`WHICH` .gz come back as they were: auto, require or no")
	f.StringVar(&o.device, "device", "auto", "`WHERE` to run: auto, cpu or gpu")
	f.BoolVarP(&o.force, "force", "f", false, "replace an archive of that name, unless a directory needs it")
	o.blockSize = binning.DefaultBlockSize
	f.Var(&o.blockSize, "block-size", "`SIZE` of text that is sorted at a time")
	f.IntVar(&o.streams, "streams", 0, "`BLOCKS` in flight at once")
	for _, tuning := range []string{"block-size", "streams"} { // of measurements and tests
		f.MarkHidden(tuning)
	}
	o.given = f.Changed
}

// prepare turns the command line into what binning is to do, decides on the device and starts to show progress.
func (o *binFlags) prepare(ctx context.Context, s *streams, args []string, model ...stageModel) (c binning.Config, bar *progress,
	err error) {
	if c, err = o.config(args); err != nil {
		return c, nil, err
	}
	c.Stdin, c.Threads = s.in, o.threads
	device := o.device
	if device == "auto" && o.limit() < minGPUMemory {
		device = "cpu"
	}
	if err := useDevice(ctx, device, &c); err != nil {
		return c, nil, err
	}
	if c.NewAssigner != nil && o.command == "bin" {
		gpu.binOnly(c.Inputs)
	}
	if bar, err = o.start(s, model...); err != nil {
		return c, nil, err
	}
	bar.sized(o.guessed(c.Inputs))
	c.Memory, c.Progress, c.Note = uint64(o.memory), bar.report, bar.note
	for _, n := range o.notes {
		bar.note(n)
	}
	return c, bar, nil
}

func (o *binFlags) run(ctx context.Context, s *streams, args []string) error {
	c, bar, err := o.prepare(ctx, s, args, binModel)
	if err != nil {
		return err
	}
	defer bar.close()
	c.Access, c.Name = batches.AccessTo(c.Inputs, nil), oneSample(&c)[0].Name
	a := &batches.Archive{Config: c, Report: bar.report, Note: bar.note}
	a.MayReplace(tree.NewNeeds(c.OutDir))
	summary, there, err := a.Bin(ctx)
	bar.close()
	if err != nil {
		return o.hintMates(err)
	}
	if there != nil && !o.json {
		return o.nothingToDo(s, a.Path()+" holds these inputs already")
	}
	s.log.event("binned", "blocks", summary.Blocks, "gpu_blocks", summary.DeviceBlocks)
	return o.summarize(s, &summary, there, a.Path())
}

// config turns the command line into what binning is to do.
func (o *binFlags) config(args []string) (c binning.Config, err error) {
	if len(o.first) != len(o.second) {
		return c, usagef("files of first mates (-1): %d, of second (-2): %d: give as many of both", len(o.first), len(o.second))
	}
	for i, further := range [][]string{o.third, o.fourth} {
		if len(further) > 0 && len(further) != len(o.first) {
			return c, usagef("files of first mates (-1): %d, of -%d: %d: give as many, or none", len(o.first), i+3, len(further))
		}
	}
	switch {
	case len(args) == 0 && len(o.first) > 0:
		return c, usagef("give the output directory after the inputs")
	case len(args) == 0:
		return c, usagef("no input and no output directory given")
	case len(args) == 1 && len(o.first) == 0 && !batches.IsDirectory(args[0]):
		return c, usagef("the output directory is missing: give it last, as in orcomgo %s %s OUT/", o.command, args[0])
	case len(args) == 1 && len(o.first) == 0:
		return c, usagef("give the inputs first, the output directory last")
	}
	for i := range o.first {
		n := len(c.Inputs)
		c.Inputs = append(c.Inputs,
			binning.InputSpec{Path: o.first[i], Mate: n + 1, First: true},
			binning.InputSpec{Path: o.second[i], Mate: n})
		for _, further := range [][]string{o.third, o.fourth} {
			if len(further) > 0 {
				c.Inputs = append(c.Inputs, binning.InputSpec{Path: further[i], Mate: -1, Further: true, Lead: n})
			}
		}
	}
	if paths := args[:len(args)-1]; o.unpaired || len(o.first) > 0 {
		for _, path := range paths {
			c.Inputs = append(c.Inputs, binning.InputSpec{Path: path, Mate: -1})
		}
	} else {
		c.Inputs = samples.Pairs(paths)
	}
	c.OutDir = args[len(args)-1]
	stdin := 0
	for _, in := range c.Inputs {
		switch in.Path {
		case "":
			return c, usagef("an input has an empty name")
		case "-":
			stdin++
		}
		if isArchive(in.Path) {
			return c, usagef("%s is of an archive, not a file of reads: orcomgo unpack restores these", in.Path)
		}
		if batches.IsURL(in.Path) {
			return c, usagef("%s is a URL: only files and standard input are read, so pipe the download into %s -", in.Path, o.command)
		}
	}
	if stdin > 1 {
		return c, usagef("standard input can be read only once")
	}
	o.gzips = storedAs(c.Inputs, binning.GzipExts)
	check := checkArchiveOutput
	if o.command == "bin" {
		check = func(path string) error { return checkOutput(path, "give the output directory last") }
	}
	if err := check(c.OutDir); err != nil {
		return c, err
	}
	o.lookAtMates(c.Inputs)
	err = o.settings(&c)
	return c, err
}

// lookAtMates notes which pairs were found among inputs that were given without -1 and -2, and mates that are given in the wrong order.
func (o *binFlags) lookAtMates(inputs []binning.InputSpec) {
	for _, in := range inputs {
		if in.Mate < 0 || !in.First {
			continue
		}
		first, second := in.Path, inputs[in.Mate].Path
		if len(o.first) == 0 {
			o.noticed = true
			o.notes = append(o.notes, first+" and "+second+" are taken as a pair (--unpaired takes them as they are)")
		}
		x, _ := samples.Parse(filepath.Base(first))
		y, _ := samples.Parse(filepath.Base(second))
		if x.Role == samples.Second && y.Role == samples.First || binning.MateNumber(first) == 2 && binning.MateNumber(second) == 1 {
			o.notes = append(o.notes, warning+first+" is given as first mates and "+second+
				" as second ones, but their names, or those of their records, say the opposite")
		}
	}
}

// hintMates adds to an error about mates that were not given as such how to archive them.
func (o *binFlags) hintMates(err error) error {
	var mates *binning.MateError
	if o.noticed && errors.As(err, &mates) {
		return fmt.Errorf("%w (--unpaired archives them without mates)", err)
	}
	return hintName(err)
}

// settings puts what the flags say about all inputs into c.
func (o *binFlags) settings(c *binning.Config) error {
	switch {
	case o.given("streams") && (o.streams < 1 || o.streams > maxStreams):
		return usagef("--streams must be from 1 to %d", maxStreams)
	case o.blockSize < 1e3 || o.blockSize > 1e9:
		return usagef("--block-size must be between 1KB and 1GB")
	}
	if o.given("as") && commit.CheckName(o.name) != nil {
		return usagef("--as: %q can't be the name of an archive", o.name)
	}
	c.Streams, c.Force, c.Tool, c.Name, c.Unpaired = o.streams, o.force, tool, o.name, o.unpaired
	c.Options = record.Options{ReadsOnly: o.readsOnly}
	if o.given("block-size") {
		c.Options.BlockSize = uint64(o.blockSize)
	}
	var order, names, quality, source, exact int
	for _, c := range []struct {
		is          *int
		flag, value string
		words       []string
	}{{&order, "order", o.order, []string{"original", "any"}}, {&names, "names", o.names, []string{"keep", "drop"}},
		{&quality, "quality", o.quality, []string{"keep", "bin8", "drop"}},
		{&source, "source", o.source, []string{"none", "time", "auto", "all"}},
		{&exact, "exact-gzip", o.exactGzip, []string{"no", "auto", "require"}}} {
		var err error
		if *c.is, err = choice(c.flag, c.value, c.words...); err != nil {
			return err
		}
	}
	c.Record = binning.RecordMode(source)
	if exact > 0 && c.Record > binning.RecordTime && order+names+quality == 0 && !o.readsOnly {
		c.NeedGzip = exact == 2
		c.KeepGzip = func(file io.Reader) (bool, error) {
			if exact == 2 {
				return true, compress.KnownGzip(file) // seen early, before all is binned
			}
			return o.keepsGzip(), nil
		}
	} else if exact == 2 {
		return usagef("--exact-gzip require needs all that the files have: no --source, --order, --names, --quality or --reads-only")
	}
	if _, err := choice("device", o.device, "auto", "cpu", "gpu"); err != nil {
		return err
	}
	c.Options.OrderAny, c.Options.DropNames, c.Options.Quality = order == 1, names == 1, record.QualityMode(quality)
	return nil
}

// autoGzip is how many bytes the .gz of a command have at most, together, that come back as the very files without being asked for: to make
// them again, when they are packed and when they are restored, takes up to as long as to compress them anew.
const autoGzip = 2e6

// gzipMemory is about how many bytes of memory that takes for each file.
const gzipMemory = 30e6

// keepsGzip reports whether .gz come back as the very files, if the flags keep all of their text.
func (o *binFlags) keepsGzip() bool {
	return o.exactGzip == "require" || o.exactGzip == "auto" && o.gzips <= autoGzip
}

// choice returns which of the words a flag's value is.
func choice(flag, value string, words ...string) (int, error) {
	if i := slices.Index(words, value); i >= 0 {
		return i, nil
	}
	last := len(words) - 1
	return 0, usagef("--%s is %s or %s, not %q", flag, strings.Join(words[:last], ", "), words[last], value)
}
