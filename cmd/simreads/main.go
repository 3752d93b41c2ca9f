// Command simreads draws sequencing reads from a genome, for tests and benchmarks: the same
// flags give the same bytes, whatever the number of threads.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"

	"orcomgo/cmd/simreads/sim"

	"github.com/spf13/pflag"
)

const usage = `simreads draws reads from a genome, given or invented.

Usage:
  simreads [flags] -o PREFIX     writes PREFIX.fastq, or PREFIX_R1.fastq and PREFIX_R2.fastq
  simreads [flags] -o -          writes to standard output, mates interleaved

Examples:
  simreads --reads 100000 -o run                                100,000 reads of an invented genome
  simreads --genome sacCer3.fa.gz --coverage 40 --paired -o yeast
  simreads --genome-size 2000000 --expression 2 --levels 8 --names ena --gzip -o rna
  simreads --long hifi --reads 500 -o ccs
  simreads --shape stutter --reads 100000 -o hard               reads that are hard to lay out

Flags:
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var bad usageError
	switch err := run(ctx, os.Args[1:], os.Stdout); {
	case err == nil, errors.Is(err, pflag.ErrHelp):
	case errors.As(err, &bad):
		fmt.Fprintf(os.Stderr, "simreads: %v (see --help)\n", err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "simreads:", err)
		os.Exit(1)
	}
}

// usageError is a mistake in the command line.
type usageError struct{ error }

// options are the flags that don't map to a field of sim.Config one to one.
type options struct {
	out, genome, genomeOut, names, long, shape string
	genomeConfig                               sim.GenomeConfig
	coverage                                   float64
	indels                                     float64
	levels                                     int
	gzip, bgzip, bam                           bool
	sim.Config
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	f := pflag.NewFlagSet("simreads", pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() { fmt.Fprint(stdout, usage, f.FlagUsages()) }
	f.StringVarP(&o.out, "output", "o", "", "prefix of the files to write, or - for standard output")
	f.StringVar(&o.genome, "genome", "", "FASTA file to draw from, plain or compressed (default: an invented genome)")
	f.IntVar(&o.genomeConfig.Size, "genome-size", 1_000_000, "bases of the invented genome")
	f.IntVar(&o.genomeConfig.Contigs, "contigs", 1, "contigs of the invented genome")
	f.Float64Var(&o.genomeConfig.Repeats, "repeats", 0.1, "share of the invented genome that is repeats")
	f.StringVar(&o.genomeOut, "genome-out", "", "also write the genome, as FASTA")
	f.Uint64VarP(&o.Reads, "reads", "n", 0, "reads to draw, or pairs with --paired")
	f.Float64Var(&o.coverage, "coverage", 0, "draw as many as cover the genome so often")
	f.IntVarP(&o.Length, "length", "l", 0, "bases of a read; the median with --long (default 100, or 9000)")
	f.BoolVar(&o.Paired, "paired", false, "draw pairs")
	f.IntVar(&o.levels, "levels", 41, "quality levels: 4 (NovaSeq), 8 (HiSeq X) or 41 (HiSeq 2500)")
	f.Float64Var(&o.MeanError, "mean-error", 0, "mean probability of a wrong base (default: the profile's own)")
	f.Float64Var(&o.NRate, "n-rate", 0.0001, "share of bases that are N")
	f.StringVar(&o.long, "long", "", "long reads with the qualities of hifi or nanopore")
	f.Float64Var(&o.indels, "indels", 0, "inserted and deleted bases, per base of a long read (default 0.002 with hifi, 0.025 with nanopore)")
	f.StringVar(&o.names, "names", "", "names like casava, sra, ena, pacbio or nanopore (default casava; long reads, their own)")
	f.Float64Var(&o.Trim, "trim", 0, "share of reads that are cut to mixed lengths, 35 bases at least")
	f.Float64Var(&o.Optical, "optical-duplicates", 0, "share of fragments that are their neighbour's")
	f.Float64Var(&o.PCR, "pcr-duplicates", 0, "share of fragments that are copies of any before")
	f.Float64Var(&o.Expression, "expression", 0,
		"draw transcripts, their expression (or that of amplicons, small RNA) log-normal with this sigma")
	f.IntVar(&o.Amplicons, "amplicons", 0, "draw whole stretches of 200 to 400 bases, so many")
	f.IntVar(&o.SmallRNA, "small-rna", 0, "draw whole stretches of 18 to 30 bases, so many")
	f.BoolVar(&o.Adapter, "adapter", false, "reads go on into an adapter where their fragment ends")
	f.Float64Var(&o.Bisulfite, "bisulfite", 0, "share of Cs that are read as T, in reads of both strands")
	f.StringVar(&o.shape, "shape", "", "reads of no genome that are hard to lay out; one of "+strings.Join(sim.Shapes(), ", "))
	f.BoolVar(&o.CRLF, "crlf", false, "end lines in CR LF")
	f.BoolVar(&o.FASTA, "fasta", false, "write FASTA: no qualities")
	f.BoolVar(&o.gzip, "gzip", false, "compress, one gzip member a chunk")
	f.BoolVar(&o.bgzip, "bgzip", false, "compress in BGZF blocks")
	f.BoolVar(&o.bam, "bam", false, "write unaligned BAM, pairs in one file, with the tags that such reads have")
	f.BoolVar(&o.Strands, "strands", false, "with --bam, HiFi reads have the kinetics of both strands")
	f.Uint64Var(&o.Seed, "seed", 1, "another seed, another draw")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		return usageError{err}
	}
	if err := o.check(f); err != nil {
		return usageError{err}
	}
	if o.shape == "" {
		return o.simulate(ctx, stdout)
	}
	write := func(w io.Writer) error { return sim.WriteShape(w, o.shape, int(o.Reads), o.Length, o.Seed) }
	if o.out == "-" {
		return write(stdout)
	}
	return writeFile(o.out+".fastq", write)
}

// check finds what is wrong in the flags, and sets the parts of Config that follow from them.
func (o *options) check(f *pflag.FlagSet) error {
	switch {
	case f.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.shape != "":
		return o.checkShape(f)
	case o.out == "":
		return errors.New("--output is missing")
	case o.Reads == 0 && o.coverage <= 0:
		return errors.New("one of --reads and --coverage is needed")
	case o.Reads != 0 && o.coverage != 0:
		return errors.New("--reads and --coverage exclude each other")
	case o.genome == "" && o.genomeConfig.Size < 1:
		return errors.New("--genome-size must be positive")
	case o.long == "" && o.indels != 0:
		return errors.New("--indels needs --long")
	case o.gzip && o.bgzip:
		return errors.New("--gzip and --bgzip exclude each other")
	case o.Strands && (!o.bam || o.long != "hifi"):
		return errors.New("--strands needs --bam and --long hifi")
	case o.bam && (o.gzip || o.bgzip || o.CRLF || o.FASTA):
		return errors.New("--bam excludes --gzip, --bgzip, --crlf and --fasta")
	}
	var ok bool
	if o.Quality, ok = map[int]sim.Profile{4: sim.Levels4, 8: sim.Levels8, 41: sim.Levels41}[o.levels]; !ok {
		return fmt.Errorf("--levels is 4, 8 or 41, not %d", o.levels)
	}
	own, indels := "casava", 0.
	switch o.long {
	case "":
	case "hifi":
		o.Long, o.Quality, own, indels = true, sim.HiFi, "pacbio", 0.002
	case "nanopore":
		o.Long, o.Quality, own, indels = true, sim.Nanopore, "nanopore", 0.025
	default:
		return fmt.Errorf("--long is hifi or nanopore, not %q", o.long)
	}
	if o.Indels = indels; f.Changed("indels") {
		o.Indels = o.indels
	}
	if o.names == "" {
		o.names = own
	}
	styles := map[string]sim.NameStyle{"casava": sim.Casava, "sra": sim.SRA, "ena": sim.ENA, "pacbio": sim.PacBio, "nanopore": sim.Nanoread}
	if o.Names, ok = styles[strings.ToLower(o.names)]; !ok {
		return fmt.Errorf("--names is casava, sra, ena, pacbio or nanopore, not %q", o.names)
	}
	return nil
}

// checkShape is check for --shape, with which few other flags go.
func (o *options) checkShape(f *pflag.FlagSet) (err error) {
	f.Visit(func(flag *pflag.Flag) {
		if !slices.Contains([]string{"output", "reads", "length", "seed", "shape"}, flag.Name) {
			err = fmt.Errorf("--shape and --%s exclude each other", flag.Name)
		}
	})
	switch {
	case err != nil:
		return err
	case o.out == "":
		return errors.New("--output is missing")
	case o.Reads == 0:
		return errors.New("--reads is needed")
	case o.Length < 0:
		return errors.New("--length must be positive")
	case !slices.Contains(sim.Shapes(), o.shape):
		return fmt.Errorf("--shape is %s, not %q", strings.Join(sim.Shapes(), ", "), o.shape)
	}
	if o.Length == 0 {
		o.Length = 100
	}
	return nil
}

func (o *options) simulate(ctx context.Context, stdout io.Writer) (err error) {
	if o.genome != "" {
		if o.Genome, err = loadGenome(o.genome); err != nil {
			return err
		}
	} else {
		o.genomeConfig.Seed = o.Seed
		o.Genome = sim.Invent(o.genomeConfig)
	}
	if o.genomeOut != "" {
		if err := writeFile(o.genomeOut, func(w io.Writer) error { return o.Genome.WriteFASTA(w) }); err != nil {
			return err
		}
	}
	if o.coverage > 0 {
		o.Reads = o.Config.ReadsFor(o.coverage)
	}
	s, err := sim.New(o.Config)
	if err != nil {
		return err
	}
	encode, suffix, header := sim.Encoding(nil), ".fastq", []byte(nil)
	if o.FASTA {
		suffix = ".fasta"
	}
	switch {
	case o.gzip:
		encode, suffix = sim.Gzip, suffix+".gz"
	case o.bgzip:
		encode, suffix = sim.BGZF, suffix+".gz"
	case o.bam:
		encode, suffix, header = o.BAM(), ".bam", sim.BAMHeader()
	}
	write := func(w1, w2 io.Writer) error {
		if _, err := w1.Write(header); err != nil {
			return err
		}
		return s.Write(ctx, w1, w2, runtime.NumCPU(), encode)
	}
	switch {
	case o.out == "-":
		return write(stdout, nil)
	case !o.Paired || o.bam:
		return writeFile(o.out+suffix, func(w io.Writer) error { return write(w, nil) })
	}
	return writeFile(o.out+"_R1"+suffix, func(w1 io.Writer) error {
		return writeFile(o.out+"_R2"+suffix, func(w2 io.Writer) error { return write(w1, w2) })
	})
}

// writeFile creates the file, and removes it again if write fails.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}
