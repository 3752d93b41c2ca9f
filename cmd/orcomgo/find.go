package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"orcomgo/bins/commit"
	"orcomgo/compress"
	"orcomgo/internal/tasks"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
)

var findCommand = command{
	name:     "find",
	group:    searchGroup,
	synopsis: "SEQ... ARCHIVE...",
	about:    "search archives for sequences",
	help: `find searches archives for sequences, on both strands. It prints a table: archive, query, strand,
hits, depth, reads. Hits are the places of the sequence in the archive's pseudogenome, which its
reads were joined to, and in the reads that are not on it; depth is about how many reads lie over
these places. Both come from the index (orcomgo index), without decoding anything. With --count the
reads are decoded that may have the sequence, and reads is how many have it; strand is then that of
the read. An archive without an index is decoded and searched as a whole, as with --scan.

The index finds every read that has the sequence with --mismatches at most, if that stretch of the
read differs from the pseudogenome in --within bases at most. Hits are of the pseudogenome itself,
so a variant that few reads have may have none: --count finds them. Stretches of long reads with
insertions or deletions may be missed; --scan finds all.

A SEQ is an argument of letters of bases only, of which R, Y, S, W, K, M, B, D, H, V and N stand for
several, as in IUPAC's code; write ./ACGT for a directory of such a name. A sequence has at least 12
bases. The exit status is 1 if nothing was found. An ARCHIVE is a directory, for all archives in it
and in its directories, or DIR/NAME.

Examples:
  orcomgo find GATTACAGATTACAGGCCAT run/
  orcomgo find --count --mismatches 1 GATTACAGATTACAGGCCAT archives/
  orcomgo find --fasta primers.fa archives/*/ > table.tsv
  orcomgo find --reads GATTACAGATTACAGGCCAT run/ > found.fastq    the reads, and their mates
  orcomgo find --numbers GATTACAGATTACAGGCCAT run/      their numbers, and where in the read
  orcomgo find --reads --overlap 31 --fasta gene.fa run/   the reads that share 31 bases with it
  orcomgo find --scan GATTACAGATTACAGGCCAT run/                   without the index: every read
`,
	flags: func(f *pflag.FlagSet) action {
		var o findFlags
		f.StringArrayVar(&o.fasta, "fasta", nil,
			"also search the sequences of `FILE`, FASTA, plain or gzip; - is standard input; may be repeated")
		f.IntVarP(&o.options.Mismatches, "mismatches", "m", 0, "find stretches that differ in up to `N` bases, 0 to 4")
		f.IntVar(&o.options.Overlap, "overlap", 0, "find reads that have `N` bases in a row of a sequence, 12 or more, not all of it")
		f.IntVar(&o.options.Within, "within", 3, "find reads that differ from the pseudogenome there in up to `N` bases, 0 to 8")
		f.BoolVar(&o.count, "count", false, "count the reads, which decodes some")
		f.BoolVar(&o.numbers, "numbers", false, "print instead which reads: archive, input, record, query, strand, first base")
		f.BoolVar(&o.reads, "reads", false, "print instead the records of the reads and of their mates, as they were archived")
		f.BoolVar(&o.options.Scan, "scan", false, "decode and search all reads, without the index")
		o.add(f)
		return o.run
	},
}

type findFlags struct {
	resources
	fasta                 []string
	count, numbers, reads bool
	options               compress.FindOptions
}

// errNothingFound gives find the exit status 1, as grep has it. No message is needed.
var errNothingFound = errors.New("nothing was found")

// isSequence reports whether an argument is a sequence, and not the name of an archive.
func isSequence(arg string) bool {
	if arg == "" || strings.Trim(arg, "ACGTUNRYSWKMBDHVacgtun") != "" {
		return false
	}
	_, err := os.Stat(arg)
	return err != nil || len(arg) >= compress.MinQuery
}

func (o *findFlags) run(ctx context.Context, s *streams, args []string) error {
	queries, archives, err := o.queries(s, args)
	if err != nil {
		return err
	}
	switch {
	case o.reads && (o.json || o.numbers || o.count):
		return usagef("--reads excludes --numbers, --count and --json: the records are for standard output")
	case o.options.Mismatches < 0 || o.options.Mismatches > compress.MaxMismatches:
		return usagef("--mismatches is 0 to %d, not %d", compress.MaxMismatches, o.options.Mismatches)
	case o.options.Within < 0 || o.options.Within > compress.MaxWithin:
		return usagef("--within is 0 to %d, not %d", compress.MaxWithin, o.options.Within)
	case o.options.Overlap != 0 && o.options.Overlap < compress.MinQuery:
		return usagef("--overlap is %d or more, not %d", compress.MinQuery, o.options.Overlap)
	case o.reads && s.noOut != nil:
		return s.noOut
	}
	found, err := archivesOf(archives)
	if err != nil {
		return err
	}
	r := &findRun{findFlags: o, s: s, queries: queries, results: make([]*compress.Finding, len(found))}
	if err := r.search(ctx, found); err != nil {
		return err
	}
	if err := r.print(); err != nil {
		return err
	}
	if !o.quiet && !o.json {
		r.summary(found)
	}
	if r.failed > 0 && len(found) > 1 {
		return fmt.Errorf("%d of %s could not be searched", r.failed, plural(uint64(len(found)), "archive"))
	}
	if !slices.ContainsFunc(r.results, func(n *compress.Finding) bool { return n != nil && len(n.Counts) > 0 }) {
		return errNothingFound
	}
	return nil
}

// queries returns the sequences that the arguments and files give, and the other arguments.
func (o *findFlags) queries(s *streams, args []string) (queries []compress.FindQuery, archives []string, err error) {
	for len(args) > 0 && isSequence(args[0]) {
		q, err := compress.ParseQuery(args[0], args[0])
		if err != nil {
			return nil, nil, usagef("%w", err)
		}
		queries, args = append(queries, q), args[1:]
	}
	for _, file := range o.fasta {
		more, err := readQueries(s, file)
		if err != nil {
			return nil, nil, err
		}
		queries = append(queries, more...)
	}
	switch {
	case len(queries) == 0:
		return nil, nil, usagef("give a sequence of bases, or --fasta FILE, before the archives")
	case len(args) == 0:
		return nil, nil, usagef("give an archive, or a directory of archives, after the sequences")
	}
	return queries, args, nil
}

// readQueries reads a file of queries.
func readQueries(s *streams, file string) ([]compress.FindQuery, error) {
	if file == "-" {
		return compress.ReadQueries(s.in, "standard input")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return compress.ReadQueries(f, file)
}

// findRun is a run of find.
type findRun struct {
	*findFlags
	s       *streams
	queries []compress.FindQuery
	results []*compress.Finding // by archive; nil for those that failed
	failed  int
}

// search searches the archives: first, many at once, those whose index is enough, then the others one after another.
func (r *findRun) search(ctx context.Context, found []commit.Entry) error {
	bar, err := r.start(r.s)
	if err != nil {
		return err
	}
	bar.close()
	o := r.options
	o.Memory = uint64(r.memory)
	o.Count, o.Reads = r.count, r.numbers
	if r.reads {
		o.Records = func(text []byte) error {
			_, err := r.s.out.Write(text)
			return err
		}
	}
	errs := make([]error, len(found))
	if !r.reads && !r.numbers && !r.count && !o.Scan {
		// Several threads an archive, so that those of the last archives have work as well.
		o.Threads, o.OnlyIndex = max(r.threads/len(found), min(r.threads, 4)), true
		finder, err := compress.NewFinder(r.queries, o)
		if err != nil {
			return err
		}
		g := new(errgroup.Group)
		g.SetLimit(r.threads)
		for i := range found {
			g.Go(func() error {
				r.results[i], errs[i] = finder.Find(ctx, found[i])
				return nil
			})
		}
		g.Wait()
		o.OnlyIndex = false
	}
	o.Threads = r.threads
	for i, e := range found {
		if r.results[i] == nil && (errs[i] == nil || errors.Is(errs[i], compress.ErrNoIndex)) {
			r.results[i], errs[i] = r.decode(ctx, e, o)
		}
		if errs[i] == nil {
			for _, note := range r.results[i].Notes {
				fmt.Fprintf(r.s.err, "orcomgo: note: %s\n", oneLine(note))
			}
			continue
		}
		if len(found) == 1 || ctx.Err() != nil || brokenStdout(errs[i]) {
			return hint(errs[i])
		}
		r.failed++
		r.results[i] = nil
		fmt.Fprintf(r.s.err, "orcomgo: %s\n", oneLine(errs[i].Error()))
	}
	return nil
}

// decode searches an archive and shows progress.
func (r *findRun) decode(ctx context.Context, e commit.Entry, o compress.FindOptions) (*compress.Finding, error) {
	began := r.began
	bar, err := r.start(r.s, findModel)
	if err != nil {
		return nil, err
	}
	defer bar.close()
	r.began = began
	o.Progress = bar.report
	finder, err := compress.NewFinder(r.queries, o)
	if err != nil {
		return nil, err
	}
	return finder.Find(ctx, e)
}

// strand is how a strand is printed.
func strand(reverse bool) string {
	if reverse {
		return "-"
	}
	return "+"
}

// print prints the results.
func (r *findRun) print() error {
	switch {
	case r.reads:
		return nil
	case r.json:
		return writeJSON(r.s.out, r.findJSON())
	}
	head := "archive\tquery\tstrand\thits\tdepth\treads\n"
	if r.numbers {
		head = "archive\tinput\trecord\tquery\tstrand\tbase\n"
	}
	if _, err := fmt.Fprint(r.s.out, head); err != nil {
		return err
	}
	names := make([]string, len(r.queries))
	for i := range names {
		names[i] = oneLine(r.queries[i].Name)
	}
	texts := make([][]byte, len(r.results))
	tasks.Each(len(texts), r.threads, func(_, i int) {
		if n := r.results[i]; n != nil {
			texts[i] = r.rows(n, names)
		}
	})
	for _, t := range texts {
		if _, err := r.s.out.Write(t); err != nil {
			return err
		}
	}
	return nil
}

// rows returns the rows of the table for an archive. Names are those of the queries.
func (r *findRun) rows(n *compress.Finding, names []string) (b []byte) {
	archive := oneLine(n.Archive)
	if r.numbers {
		for _, f := range n.Reads {
			b = fmt.Appendf(b, "%s\t%s\t%d\t%s\t%s\t%d\n",
				archive, oneLine(n.Inputs[f.Input]), f.Record+1, names[f.Query], strand(f.Reverse), f.At+1)
		}
		return b
	}
	b = make([]byte, 0, len(n.Counts)*(len(archive)+len("\tquery1234\t+\t1\t123.4\t-\n")))
	for _, c := range n.Counts {
		for _, text := range []string{archive, "\t", names[c.Query], "\t", strand(c.Reverse), "\t"} {
			b = append(b, text...)
		}
		if n.Indexed {
			b = append(strconv.AppendInt(b, int64(c.Hits), 10), '\t')
			b = append(strconv.AppendFloat(b, c.Depth, 'f', 1, 64), '\t')
		} else {
			b = append(b, "-\t-\t"...)
		}
		if n.Counted {
			b = strconv.AppendUint(b, c.Reads, 10)
		} else {
			b = append(b, '-')
		}
		b = append(b, '\n')
	}
	return b
}

// summary says on standard error how much was found, and which archives have no index.
func (r *findRun) summary(found []commit.Entry) {
	queries, different, archives := make([]bool, len(r.queries)), 0, 0
	for i, n := range r.results {
		if n == nil {
			continue
		}
		if !n.Indexed && !r.options.Scan {
			fmt.Fprintf(r.s.err, "orcomgo: note: %s has no index, all of its reads were searched: orcomgo index makes one\n",
				oneLine(found[i].Path()))
		}
		for _, c := range n.Counts {
			if !queries[c.Query] {
				queries[c.Query] = true
				different++
			}
		}
		if len(n.Counts) > 0 {
			archives++
		}
	}
	fmt.Fprintf(r.s.err, "%d of %s found, in %d of %s; %s, %s\n", different, plural(uint64(len(r.queries)), "query"), archives,
		plural(uint64(len(found)), "archive"), durationText(r.took()), plural(uint64(r.threads), "thread"))
}

// took returns how long the command has been running.
func (r *resources) took() time.Duration { return time.Since(r.began) }

// findJSON returns what --json prints.
func (r *findRun) findJSON() findJSON {
	j := findJSON{runJSON: r.runJSON("find"), Archives: []foundJSON{}}
	for _, n := range r.results {
		if n == nil {
			continue
		}
		a := foundJSON{Archive: n.Archive, Indexed: n.Indexed, Counted: n.Counted, Found: []countJSON{}}
		for _, c := range n.Counts {
			row := countJSON{Query: r.queries[c.Query].Name, Strand: strand(c.Reverse)}
			if n.Indexed {
				row.Hits, row.Depth = &c.Hits, &c.Depth
			}
			if n.Counted {
				row.Reads = &c.Reads
			}
			a.Found = append(a.Found, row)
		}
		if r.numbers {
			for _, f := range n.Reads {
				a.Reads = append(a.Reads, readJSON{n.Inputs[f.Input], f.Record + 1, r.queries[f.Query].Name, strand(f.Reverse), f.At + 1})
			}
		}
		j.Archives = append(j.Archives, a)
	}
	return j
}
