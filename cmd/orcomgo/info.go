package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"orcomgo/binning"
	"orcomgo/bins"
	"orcomgo/bins/commit"
	"orcomgo/compress"

	"github.com/spf13/pflag"
)

var infoCommand = command{
	name:     "info",
	group:    lookGroup,
	synopsis: "DIR|DIR/NAME",
	about:    "describe what is inside",
	help: `info describes an archive without decoding it: inputs, reads, lengths, sizes of the columns, ratio.
Of a directory with several archives it describes all, as JSON one object after another. If there is
the side archive of a directory, it lists that first: each entry with mode, time and size, and which
input of which archive a file of reads is.

--sha256 and --md5 print a list that sha256sum -c and md5sum -c take: of the texts, under the names
that unpack restores them by, or with --files of the files that were archived, such as x.fastq.gz,
as they were stored. bin records those of compressed files; those of texts, and so of plain files,
are known after pack. If one is not known, the others are printed and the exit status is 1. Of a
directory that was archived as a whole the list has side files, too, which are decoded for it, and
the paths of all.

Examples:
  orcomgo info run/
  orcomgo info --json run/ | jq .ratio
  orcomgo info --sha256 run/ > out/SUMS; orcomgo unpack run/ -o out/; cd out/; sha256sum -c SUMS
  orcomgo info --md5 --files run/ | md5sum -c    are these the files that were archived?
  orcomgo info --signatures run/ > bins.tsv      of bins: signature, reads, bases of each bin
`,
	flags: func(f *pflag.FlagSet) action {
		var o infoFlags
		f.BoolVar(&o.json, "json", false, "as JSON, for scripts")
		f.BoolVar(&o.signatures, "signatures", false, "a line for each bin: signature, reads, bases; N, no signature, last")
		f.BoolVar(&o.sha256, "sha256", false, "list SHA-256 and name of each text, for sha256sum -c")
		f.BoolVar(&o.md5, "md5", false, "list MD5 and name of each text, for md5sum -c")
		f.BoolVar(&o.files, "files", false, "with --sha256 or --md5: of the files that were archived, not of their texts")
		return o.run
	},
}

type infoFlags struct{ json, signatures, sha256, md5, files bool }

// exclusive returns a usage error for flags of which only one makes sense.
func (o *infoFlags) exclusive() error {
	var given []string
	for _, f := range []struct {
		name string
		on   bool
	}{{"--json", o.json}, {"--signatures", o.signatures}, {"--sha256", o.sha256}, {"--md5", o.md5}} {
		if f.on {
			given = append(given, f.name)
		}
	}
	switch {
	case len(given) > 1:
		return usagef("%s and %s exclude each other", given[0], given[1])
	case o.files && !o.sha256 && !o.md5:
		return usagef("--files needs --sha256 or --md5")
	}
	return nil
}

func (o *infoFlags) run(ctx context.Context, s *streams, args []string) error {
	dir, err := oneArchive(s, args)
	if err != nil {
		return err
	}
	if err := o.exclusive(); err != nil {
		return err
	}
	if o.signatures {
		return signatures(s.out, dir)
	}
	found, trees, err := findAll(dir)
	if err != nil {
		return err
	}
	failed, missing, why := 0, 0, ""
	sums := checksumList{md5: o.md5, files: o.files}
	all := len(found) + len(trees)
	unreadable := func(err error) error {
		if all == 1 || !compress.IsDamage(err) && brokenStdout(err) {
			return err
		}
		failed++
		fmt.Fprintf(s.err, "orcomgo: %s\n", oneLine(err.Error()))
		return nil
	}
	for i, t := range trees {
		var err error
		switch {
		case o.sha256 || o.md5:
			err = sums.writeTree(ctx, s.out, t)
		case i > 0 && !o.json:
			fmt.Fprintln(s.out)
			fallthrough
		default:
			err = infoTree(s.out, t, o.json)
		}
		if err != nil && unreadable(err) != nil {
			return err
		}
	}
	for i, e := range found {
		n, err := compress.Info(e)
		if err != nil && unreadable(err) != nil {
			return err
		} else if err != nil {
			continue
		}
		switch {
		case o.sha256 || o.md5:
			var unknown int
			var reason string
			unknown, reason, err = sums.write(s.out, n)
			if missing == 0 {
				why = reason
			}
			missing += unknown
		case o.json:
			err = writeJSON(s.out, n)
		case i > 0 || len(trees) > 0:
			if _, err = fmt.Fprintln(s.out); err != nil {
				return err
			}
			fallthrough
		default:
			err = describe(s.out, n)
		}
		if err != nil {
			return err
		}
	}
	if missing > 1 {
		why += fmt.Sprintf(" (%d of this list are not known)", missing)
	}
	if missing > 0 {
		return fmt.Errorf("%s: %s", dir, why)
	}
	if failed > 0 {
		return fmt.Errorf("%s: %d of %s can't be read", dir, failed, plural(uint64(all), "archive"))
	}
	return nil
}

// signatures prints the bins as the reads were assigned, over all inputs.
func signatures(w io.Writer, dir string) error {
	r, err := bins.Open(dir)
	if e, found := commit.One(dir); found == nil && !e.Has[commit.Bins] {
		return fmt.Errorf("%s: the bins have been removed: --signatures works between bin and pack, and after pack --keep-bins", dir)
	}
	if err != nil {
		return err
	}
	defer r.Close()
	return binning.Signatures(r, w)
}

// fileTable prints what is recorded of the files that were archived.
func fileTable(w io.Writer, n *compress.Information) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	rows := 0
	for _, in := range n.Inputs {
		f := in.File
		if f == nil {
			continue
		}
		if rows++; rows == 1 {
			fmt.Fprint(t, "bytes\twritten\tMD5\t file\n")
		}
		name, written, sum := oneLine(f.Name), "", f.MD5
		if name == "" {
			name = "standard input, or a pipe"
		}
		if f.Time != nil {
			written = f.Time.Local().Format(time.DateTime)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t %s\n", countText(f.Bytes), written, sum, name)
	}
	if rows > 0 {
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// describe prints an archive's description for people.
func describe(w io.Writer, n *compress.Information) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s, %s by %s, format %d, ID %s\n", oneLine(n.Name), n.Stage, oneLine(n.Tool), n.FormatVersion, n.ID)
	fmt.Fprintf(out, "order %s, names %s, quality %s", n.Order, n.Names, n.Quality)
	switch {
	case n.ReadsOnly:
		fmt.Fprint(out, ": the sequences alone")
	case n.Lossless:
		fmt.Fprint(out, ": every byte of the originals")
	}
	switch {
	case n.Verified:
		fmt.Fprint(out, "; verified when packed")
	case n.Stage == "packed":
		fmt.Fprint(out, "; not verified when packed")
	}
	if n.BinsKept {
		fmt.Fprint(out, "; bins kept")
	}
	fmt.Fprint(out, "\n")
	for _, p := range n.Problems {
		fmt.Fprintf(out, "DAMAGED: %s\n", oneLine(p))
	}
	fmt.Fprint(out, "\n")

	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "kind\trecords\tbases\tlength\tbytes\t input\n")
	for _, in := range n.Inputs {
		length := fmt.Sprint(in.MinLen)
		if in.MaxLen != in.MinLen {
			length = fmt.Sprintf("%d-%d, mean %.1f", in.MinLen, in.MaxLen, in.MeanLen)
		}
		name, isBAM := oneLine(in.Name), in.Kind == "BAM"
		if isBAM && in.Restored != "" {
			name = oneLine(in.Restored)
		}
		if in.Mates != "" {
			name += ", mates in " + oneLine(in.Mates)
		}
		if in.Interleaved {
			name += ", interleaved mates"
		}
		if in.Lead != "" {
			name += ", further mates of " + oneLine(in.Lead)
		}
		switch {
		case in.Exact && isBAM:
			name += ", which comes back as it was"
		case in.Exact:
			name += ", whose .gz comes back as it was"
		case isBAM:
			name += ", whose records and header come back in another file"
		}
		if in.Sample != "" {
			name += ", sample " + oneLine(in.Sample)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t %s\n", in.Kind, countText(in.Records), countText(in.Bases), length, countText(in.Bytes), name)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := fileTable(out, n); err != nil {
		return err
	}
	if err := columnTable(out, n.Columns, n.Bases); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s bytes of text in %s: ratio %.2f\n", countText(n.TextBytes), countText(n.ArchiveBytes), n.Ratio)
	if n.OrderBytes > 0 {
		fmt.Fprintf(out, "the order, which was not kept, would have taken %s bytes at least\n", countText(n.OrderBytes))
	}
	return out.Flush()
}
