package main

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"orcomgo/bins/commit"
	"orcomgo/compress"

	"github.com/spf13/pflag"
)

var indexCommand = command{
	name:     "index",
	group:    searchGroup,
	synopsis: "ARCHIVE...",
	about:    "make archives searchable at once",
	help: `index writes NAME.cfm beside each packed archive: an index of the sequences that its reads consist
of, of about 3.5 bits for each base of these, and a byte a read. With it orcomgo find answers
without decoding the archive. The index can be deleted and made again; the archive is not changed.
An ARCHIVE is a directory, for all archives in it and in its directories, or DIR/NAME. What has an
index already is left as it is.

Examples:
  orcomgo index run/
  orcomgo index archives/                  of all archives there
  orcomgo index archives/sample7 --force   again
  orcomgo index --device cpu big/          not on a GPU
`,
	flags: func(f *pflag.FlagSet) action {
		var o indexFlags
		f.BoolVarP(&o.force, "force", "f", false, "make indexes again that are there")
		o.parity.define(f)
		f.StringVar(&o.device, "device", "auto", "`WHERE` to sort suffixes: auto, cpu or gpu; the index is the same")
		o.add(f)
		return o.run
	},
}

type indexFlags struct {
	resources
	force  bool
	device string
	parity share
}

// minIndexBases is from how many bases of pseudogenome on, for each thread, --device auto chooses a GPU. It takes about a second to start,
// in which a thread of the CPU transforms as many.
const minIndexBases = 20_000_000

func (o *indexFlags) run(ctx context.Context, s *streams, args []string) error {
	if len(args) == 0 {
		return usagef("give an archive, or a directory of archives")
	}
	if _, err := choice("device", o.device, "auto", "cpu", "gpu"); err != nil {
		return err
	}
	found, err := archivesOf(args)
	if err != nil {
		return err
	}
	onGPU, err := useGPU(ctx, o.device, o.enoughForGPU(func() bool {
		return slices.ContainsFunc(found, func(e commit.Entry) bool {
			return compress.IndexBases(e) >= minIndexBases*uint64(max(o.threads, 1))
		})
	}))
	if err != nil {
		return err
	}
	summaries := []*compress.IndexSummary{}
	failed, err := eachArchive(ctx, s, found, func(e commit.Entry) error {
		summary, err := o.one(ctx, s, e, onGPU)
		if err == nil {
			summaries = append(summaries, summary)
		}
		return err
	})
	if err != nil {
		return err
	}
	if o.json {
		if err := writeJSON(s.out, indexJSON{o.runJSON("index"), summaries}); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s could not be indexed", failed, plural(uint64(len(found)), "archive"))
	}
	return nil
}

// one indexes an archive and prints a summary.
func (o *indexFlags) one(ctx context.Context, s *streams, e commit.Entry, onGPU bool) (*compress.IndexSummary, error) {
	bar, err := o.start(s, indexModel...)
	if err != nil {
		return nil, err
	}
	defer bar.close()
	options := compress.IndexOptions{Threads: o.threads, Memory: uint64(o.memory), Force: o.force, Parity: float64(o.parity), GPU: onGPU,
		Progress: bar.report, Note: bar.note}
	n, err := compress.Index(ctx, e, options)
	bar.close()
	if err != nil || o.quiet || o.json {
		return n, err
	}
	what := "is there already"
	if !n.There {
		what = fmt.Sprintf("made in %s", durationText(o.took()))
	}
	fmt.Fprintf(s.err, "%s: %s: %s and %s of literals, %s bytes, %.2f bits a base\n", oneLine(n.Path), what,
		plural(n.Bases, "base"), plural(n.Literals, "base"), countText(n.Bytes), n.BitsBase)
	return n, nil
}

// archivesOf returns the archives that arguments lead to: of a directory all of it and of the directories in it. None is there twice.
func archivesOf(args []string) ([]commit.Entry, error) {
	var all []commit.Entry
	known := make(map[string]bool)
	add := func(found []commit.Entry) {
		for _, e := range found {
			path, err := filepath.Abs(e.Path())
			if err != nil {
				path = e.Path()
			}
			if !known[path] {
				known[path] = true
				all = append(all, e)
			}
		}
	}
	for _, arg := range args {
		found, err := commit.Find(arg)
		if err == nil {
			add(found)
		}
		before := len(all)
		// The directories below it; what can't be read there is left out.
		filepath.WalkDir(arg, func(path string, d fs.DirEntry, walkErr error) error {
			if walkErr != nil || !d.IsDir() || path == arg {
				return nil
			}
			if below, err := commit.Find(path); err == nil && below[0].Dir == path {
				add(below)
			}
			return nil
		})
		if err != nil && len(all) == before {
			return nil, err
		}
	}
	return all, nil
}
