package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"text/tabwriter"

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
	complete: completeArchive,
	about:    "describe what is inside",
	help: `info describes an archive without decoding it: inputs, reads, lengths, sizes of the columns, ratio.
Of a directory with several archives it describes all, as JSON one object after another.

Examples:
  orcomgo info run/
  orcomgo info --json run/ | jq .ratio
  orcomgo info --signatures run/ > bins.tsv    between bin and pack: signature, reads, bases of each bin
`,
	flags: func(f *pflag.FlagSet) action {
		var o infoFlags
		f.BoolVar(&o.json, "json", false, "as JSON, for scripts")
		f.BoolVar(&o.signatures, "signatures", false, "a line for each bin: signature, reads, bases; N, no signature, last")
		return o.run
	},
}

type infoFlags struct{ json, signatures bool }

func (o *infoFlags) run(_ context.Context, s *streams, args []string) error {
	dir, err := oneArchive("info", args)
	if err != nil {
		return err
	}
	if o.signatures {
		if o.json {
			return usagef("info: --json and --signatures exclude each other")
		}
		return signatures(s.out, dir)
	}
	found, err := commit.Find(dir)
	if err != nil {
		return err
	}
	failed := 0
	for i, e := range found {
		n, err := compress.Info(e)
		if err != nil {
			if len(found) == 1 {
				return err
			}
			failed++
			fmt.Fprintf(s.err, "orcomgo: %s\n", oneLine(err.Error()))
			continue
		}
		switch {
		case o.json:
			err = writeJSON(s.out, n)
		case i > 0:
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
	if failed > 0 {
		return fmt.Errorf("%s: %d of %s can't be read", dir, failed, plural(uint64(len(found)), "archive"))
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

// describe prints an archive's description for people.
func describe(w io.Writer, n *compress.Information) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s, %s by %s, format %d, ID %s\n", oneLine(n.Name), n.Stage, n.Tool, n.FormatVersion, n.ID)
	fmt.Fprintf(out, "order %s, names %s, quality %s", n.Order, n.Names, n.Quality)
	switch {
	case n.ReadsOnly:
		fmt.Fprint(out, ": the sequences alone")
	case n.Lossless:
		fmt.Fprint(out, ": every byte of the originals")
	}
	if n.Level != "" {
		fmt.Fprintf(out, "; level %s", n.Level)
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
		name := oneLine(in.Name)
		if in.Mates != "" {
			name += ", mates in " + oneLine(in.Mates)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t %s\n", in.Kind, countText(in.Records), countText(in.Bases), length, countText(in.Bytes), name)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := columnTable(out, n.Columns, n.Bases); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s bytes of text in %s: ratio %.2f\n", countText(n.TextBytes), countText(n.ArchiveBytes), n.Ratio)
	if n.OrderBytes > 0 {
		fmt.Fprintf(out, "the order, which was not kept, would have taken %s bytes at least\n", countText(n.OrderBytes))
	}
	return out.Flush()
}
