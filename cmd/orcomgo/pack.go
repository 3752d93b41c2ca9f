package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/cmd/orcomgo/batches"
	"orcomgo/compress"
	"orcomgo/compress/tree"
	"orcomgo/storage"

	"github.com/spf13/pflag"
)

var packCommand = command{
	name:     "pack",
	group:    stepGroup,
	synopsis: "DIR|DIR/NAME",
	about:    "compress the bins, verify, remove them",
	help: `pack compresses what bin wrote into NAME.cdna and NAME.cmeta, decodes it again and compares, and
then removes the bins. Interrupted at any moment, it leaves the bins or the finished archive, and
can be run again. A packed archive that was made from other bins is replaced only with --force. Of a
directory with several archives it packs all that are not packed; with --json it prints one object
after another.

Examples:
  orcomgo pack run/
  orcomgo pack archives/sample7              one of several archives in a directory
  orcomgo pack --keep-bins run/              leave the bins beside the archive
  orcomgo pack -t 16 run/                    with 16 threads
  orcomgo pack --two-bit genomes/            assemblies that are unpacked ten times as fast as .gz
  orcomgo pack --slice-size 64MB run/     a large run, half a percent smaller
`,
	flags: func(f *pflag.FlagSet) action {
		var o packFlags
		f.BoolVar(&o.keepBins, "keep-bins", false, "leave the bins beside the packed archive")
		f.BoolVar(&o.noVerify, "no-verify", false, "don't decode what was written before the bins are removed")
		o.define(f)
		f.BoolVarP(&o.force, "force", "f", false,
			"replace a packed archive of this name, unless a directory needs it")
		f.StringVar(&o.device, "device", "auto", "`WHERE` to lay out reads and code qualities: auto, cpu or gpu; the archive is the same")
		o.add(f)
		return o.run
	},
}

type packFlags struct {
	resources
	effort
	keepBins, noVerify, force bool
	device                    string
}

// effort is the flags --output, --two-bit, --slice-size and --parity.
type effort struct {
	file   string // of an archive of one file; "" of others
	twoBit bool
	slice  size
	parity share
}

func (e *effort) define(f *pflag.FlagSet) {
	f.StringVarP(&e.file, "output", "o", "", "write the archive as one `FILE`, NAME.cdna, or - for standard output")
	f.BoolVar(&e.twoBit, "two-bit", false, "keep assemblies (FASTA) in two bits a base: larger, but unpacked ten times as fast as .gz")
	e.parity.define(f)
	f.Var(&e.slice, "slice-size", "`SIZE` of text that is decoded for any record in it")
}

func (e *effort) check() error {
	if e.slice != 0 && (e.slice < 1e6 || e.slice > 1e9) {
		return usagef("--slice-size must be between 1MB and 1GB")
	}
	name, ok := strings.CutSuffix(filepath.Base(e.file), commit.PackedDataExt)
	if e.file != "" && e.file != "-" && (!ok || commit.CheckName(name) != nil) {
		return usagef("-o is NAME%s or -, not %q", commit.PackedDataExt, e.file)
	}
	return nil
}

// oneFile returns directory and name of the archive that -o says. Standard output is s.out.
func (e *effort) oneFile(s *streams) (dir, name string) {
	path := e.file
	if path == "-" {
		path = storage.Piped
		storage.MountPipe(s.out)
	}
	return filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), commit.PackedDataExt)
}

func (o *packFlags) run(ctx context.Context, s *streams, args []string) error {
	dir, err := oneArchive(s, args)
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	if _, err := choice("device", o.device, "auto", "cpu", "gpu"); err != nil {
		return err
	}
	found, err := commit.Find(dir)
	if err != nil {
		return err
	}
	if o.file != "" && (len(found) > 1 || o.json && o.file == "-") {
		return usagef("-o takes one archive, and standard output either that or what --json prints")
	}
	if len(found) > 1 {
		all := len(found)
		if found = slices.DeleteFunc(found, func(e commit.Entry) bool { return !e.Has[commit.Bins] }); len(found) == 0 {
			return o.nothingToDo(s, fmt.Sprintf("%s: %s are packed already", dir, plural(uint64(all), "archive")))
		}
	}
	onGPU, err := wantGPU(ctx, o.device, o.enoughForGPU(func() bool {
		return slices.ContainsFunc(found, func(e commit.Entry) bool {
			return binnedBases(e.Path()+commit.BinsDataExt) >= minGPUBases*uint64(max(o.threads, 1))
		})
	})) // before anything is shown, since it may replace the process
	if err != nil {
		return err
	}
	failed, err := eachArchive(ctx, s, found, func(e commit.Entry) error { return o.one(ctx, s, e, onGPU) })
	if failed > 0 {
		return fmt.Errorf("%d of %s could not be packed", failed, plural(uint64(len(found)), "archive"))
	}
	return err
}

// one packs an archive and prints a summary.
func (o *packFlags) one(ctx context.Context, s *streams, e commit.Entry, onGPU bool) error {
	bar, err := o.start(s, packStages(o.noVerify)...)
	if err != nil {
		return err
	}
	defer bar.close()
	options := o.options(onGPU, bar)
	s.tuning.pack(options)
	path := e.Path()
	if o.file != "" {
		options.OneFile = true
		options.OutDir, options.OutName = o.oneFile(s)
		path = filepath.Join(options.OutDir, options.OutName)
	}
	// With the extension the path can't be that of a directory.
	summary, err := compress.Pack(ctx, e.Path()+commit.PackedDataExt, options)
	bar.close()
	if err != nil {
		return err
	}
	return o.packed(s, "pack", path, summary, 0)
}

// eachArchive calls do for archives. An error about one of several is printed, and the others go on; failed is of how many.
func eachArchive[T any](ctx context.Context, s *streams, found []T, do func(e T) error) (failed int, err error) {
	for _, e := range found {
		if err := do(e); err != nil {
			if err = hint(err); len(found) == 1 || ctx.Err() != nil || brokenStdout(err) {
				return 0, err
			}
			failed++
			fmt.Fprintf(s.err, "orcomgo: %s\n", oneLine(err.Error()))
		}
	}
	return failed, nil
}

// options returns how to pack; o.start has set the memory. onGPU says whether a GPU is used if there is one.
func (o *packFlags) options(onGPU bool, bar *progress) compress.PackOptions {
	p := compress.PackOptions{
		Threads: o.threads, Memory: uint64(o.memory), Tool: tool, TwoBit: o.twoBit, SliceText: uint64(o.slice),
		KeepBins: o.keepBins, NoVerify: o.noVerify, Force: o.force, Parity: float64(o.parity),
		MayReplace: keepNeeded, GPU: onGPU, Progress: bar.report, Sized: bar.sized, GzipNote: bar.note,
	}
	if onGPU {
		p.Ready = func() error {
			_, err := usableGPU(o.device)
			return err
		}
		p.Note = gpuNote(o.device, bar)
	}
	return p
}

// keepNeeded is the commit.MayReplace of pack: a packed archive that a side archive needs is only replaced by one of the same content.
func keepNeeded(dir, name string, by [16]byte) error {
	if by == [16]byte{} {
		return nil // that is not known before the bins are packed
	}
	return tree.NewNeeds(dir).Check(name, by)
}

// oneArchive returns the path of the archive, a command's only argument. For - it is that of standard input.
func oneArchive(s *streams, args []string) (string, error) {
	if len(args) == 1 && args[0] == "-" {
		return storage.Piped, storage.Spool(s.in)
	}
	if len(args) != 1 || args[0] == "" {
		return "", usagef("give one archive: DIR, the directory that bin wrote to, or DIR/NAME where it holds several")
	}
	if batches.IsURL(args[0]) && !vfs.IsRemote(args[0]) {
		return "", usagef("%s is a URL: archives are read from directories, s3://BUCKET/PREFIX/ and https://HOST/NAME.cdna", args[0])
	}
	return args[0], nil
}
