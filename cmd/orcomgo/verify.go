package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/compress"
	"orcomgo/compress/tree"

	"github.com/spf13/pflag"
)

var verifyCommand = command{
	name:     "verify",
	group:    lookGroup,
	synopsis: "DIR|DIR/NAME...",
	about:    "decode everything and compare checksums",
	help: `verify decodes the whole archive, compares it with the checksums that were taken of the original
text, and prints one line a file. It writes no files. The exit status is 1 unless every file is OK.
Of a directory with several archives it verifies all, and of several directories those of each; with
--json it prints one object after another. The side archive of a directory (DIR/NAME.ctree) has a
line for each of its files, and for each file of reads whose archive is missing or another one; that
it is missing itself is damage, too. --quick decodes nothing. It reads all of the archives and
compares the checksums of what is stored, which finds whatever has changed since it was written, as
fast as the disk reads.

Examples:
  orcomgo verify run/
  orcomgo verify archives/sample7            one of several archives in a directory
  orcomgo verify --quick archives/*/         many archives, from time to time
  orcomgo verify --json run/ | jq '.files[] | select(.ok | not)'
  orcomgo verify --quiet run/ && rm run_R1.fastq.gz run_R2.fastq.gz
`,
	flags: func(f *pflag.FlagSet) action {
		var o verifyFlags
		f.BoolVar(&o.quick, "quick", false, "don't decode: compare the checksums of what is stored")
		o.add(f)
		return o.run
	},
}

type verifyFlags struct {
	resources
	quick bool
}

// verification counts what verify finds.
type verification struct {
	files, damaged int
}

func (o *verifyFlags) run(ctx context.Context, s *streams, args []string) error {
	if len(args) == 0 {
		args = []string{""} // which oneArchive explains
	}
	for _, arg := range args {
		if _, err := oneArchive([]string{arg}); err != nil {
			return err
		}
	}
	var v verification
	what := args[0]
	for _, arg := range args {
		found, trees, err := findAll(arg)
		if err != nil && (len(args) == 1 || !compress.IsDamage(err)) {
			return err
		}
		if err != nil {
			if err := o.unreadable(s, &v, arg, arg+": ", err); err != nil {
				return err
			}
			continue
		}
		n := len(found) + len(trees)
		for _, e := range found {
			verify := func(prefix string) (int, int, error) {
				return o.verifyOne(ctx, s, e, labelOf(e.Name, e.Path(), len(args)), prefix)
			}
			if err := o.archive(ctx, s, &v, labelOf(e.Name, e.Path(), len(args)), n > 1 || len(args) > 1, verify); err != nil {
				return err
			}
		}
		for _, t := range trees {
			verify := func(prefix string) (int, int, error) { return o.verifyTree(ctx, s, t, prefix) }
			if err := o.archive(ctx, s, &v, labelOf(t.Name+commit.TreeExt, t.Path(), len(args)), n > 1 || len(args) > 1, verify); err != nil {
				return err
			}
		}
	}
	if len(args) > 1 {
		what = plural(uint64(len(args)), "path")
	}
	if v.damaged > 0 {
		return fmt.Errorf("%s: %d of %s damaged", what, v.damaged, plural(uint64(v.files), "file"))
	}
	return nil
}

// findAll returns the archives and the side archives that a path leads to. Those are among them that archives of a directory belong to and
// that are missing: openTree says so.
func findAll(path string) ([]commit.Entry, []commit.Tree, error) {
	trees, err := commit.FindTrees(path)
	if err != nil {
		return nil, nil, err
	}
	found, err := commit.Find(path)
	if len(trees) > 0 && errors.Is(err, commit.ErrNotArchive) {
		err = nil
	}
	for _, e := range found {
		sides, err := compress.Sides(e)
		if err != nil || filepath.Clean(e.Dir) != filepath.Clean(path) { // it is named alone
			continue
		}
		for _, name := range sides {
			if t := (commit.Tree{Dir: path, Name: name}); !slices.Contains(trees, t) {
				trees = append(trees, t)
			}
		}
	}
	return found, trees, err
}

// openTree opens a side archive that findAll returned.
func openTree(t commit.Tree, o tree.Options) (*tree.Reader, error) {
	r, err := tree.Open(t, o)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w: it is missing, and archives beside it belong to it", t.Path(), parse.ErrCorrupt)
	}
	return r, err
}

// labelOf returns what an archive is called among others: its name, or its path if several are given.
func labelOf(name, path string, paths int) string {
	if paths > 1 {
		return path
	}
	return name
}

// archive verifies one archive by a function that prints after a prefix. It counts one that can't be read, if there are several.
func (o *verifyFlags) archive(ctx context.Context, s *streams, v *verification, name string, several bool,
	verify func(prefix string) (damaged, files int, err error)) error {
	prefix := ""
	if several {
		prefix = oneLine(name) + ": "
	}
	n, of, err := verify(prefix)
	v.damaged, v.files = v.damaged+n, v.files+of
	if err == nil {
		return nil
	}
	if prefix == "" || ctx.Err() != nil || !compress.IsDamage(err) {
		return err
	}
	return o.unreadable(s, v, name, prefix, err)
}

// unreadable counts an archive that can't be read, and says why, after a prefix.
func (o *verifyFlags) unreadable(s *streams, v *verification, name, prefix string, problem error) error {
	v.damaged, v.files = v.damaged+1, v.files+1
	text := oneLine(problem.Error())
	if o.json {
		return writeJSON(s.out, verifyJSON{Archive: name, Problem: text, Files: []compress.FileStatus{}})
	}
	_, err := fmt.Fprintf(s.out, "%sDAMAGED: %s\n", prefix, text)
	return err
}

// verifyOne verifies an archive; see told.
func (o *verifyFlags) verifyOne(ctx context.Context, s *streams, e commit.Entry, name, prefix string) (damaged, files int, err error) {
	bar, err := o.start(s, stageModel{name: "verify", unit: bytesUnit, group: 0, weight: 1})
	if err != nil {
		return 0, 0, err
	}
	defer bar.close()
	verify := compress.Verify
	if o.quick {
		verify = compress.VerifyQuick
	}
	status, err := verify(ctx, e, compress.VerifyOptions{Threads: o.threads, Memory: uint64(o.memory), Progress: bar.report})
	bar.close()
	if err != nil {
		return 0, 0, err
	}
	return o.told(s, name, prefix, status)
}

// told prints a line for each file of an archive, after a prefix, or with --json an object. It returns how many files there are, and
// how many of them are damaged.
func (o *verifyFlags) told(s *streams, name, prefix string, status []compress.FileStatus) (damaged, files int, err error) {
	for i := range status {
		f := &status[i]
		if !f.OK {
			damaged++
		}
		switch {
		case o.json || f.OK && o.quiet:
			continue
		case !f.OK:
			_, err = fmt.Fprintf(s.out, "%s%s\n", prefix, damageText(f))
		case filepath.Ext(name) == commit.TreeExt: // side files have no records
			_, err = fmt.Fprintf(s.out, "%s%s: OK (%s bytes, by %s)\n", prefix, oneLine(f.Name), countText(f.Bytes), f.Checked)
		default:
			_, err = fmt.Fprintf(s.out, "%s%s: OK (%s, %s bytes, by %s)\n",
				prefix, oneLine(f.Name), plural(f.Records, "record"), countText(f.Bytes), f.Checked)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	if o.json {
		err = writeJSON(s.out, verifyJSON{Archive: name, OK: damaged == 0, Files: list(status)})
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
