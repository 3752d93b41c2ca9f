package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"orcomgo/binning/samples"
	"orcomgo/bins/commit"
	"orcomgo/compress"
	"orcomgo/compress/tree"
)

// ofRecords reports whether a flag is given that is about records, or about one stream of them: then unpack is of one archive of reads.
func (o *unpackFlags) ofRecords() bool {
	return o.records != "" || len(o.samples) > 0 || len(o.names) > 0 || o.namesFrom != "" || o.grep != "" || o.mate > 0 ||
		o.split > 0 || o.interleave ||
		o.output == "-" && len(o.inputs) == 0 || isFIFO(o.output)
}

// findTree returns the side archive that path leads to; found is false if an archive of reads is to be unpacked.
func (o *unpackFlags) findTree(path string) (t commit.Tree, found bool, err error) {
	if o.ofRecords() {
		return t, false, nil
	}
	list, err := commit.FindTrees(path)
	switch {
	case err != nil || len(list) == 0:
		return t, false, err
	case len(list) > 1:
		return t, false, fmt.Errorf("%s: there are side archives of %d directories: name one of them, as in %s", path, len(list), list[0].Path())
	}
	return list[0], true, nil
}

// tree restores a directory, or some of it.
func (o *unpackFlags) tree(ctx context.Context, s *streams, t commit.Tree) error {
	var globs []samples.Glob
	for _, p := range o.inputs {
		g, err := samples.NewGlob(p)
		if err != nil {
			return usagef("unpack: --input: %w", err)
		}
		globs = append(globs, g)
	}
	bar, err := o.start(s, stageModel{name: "unpack", unit: bytesUnit, group: 0, weight: 1})
	if err != nil {
		return err
	}
	defer bar.close()
	r, err := tree.Open(t, tree.Options{Threads: o.threads, Memory: uint64(o.memory)})
	if err != nil {
		return err
	}
	defer r.Close()
	options := tree.RestoreOptions{Dir: o.output, Gzip: o.gzip, Touch: o.touch, Force: o.force, Threads: o.threads, Memory: uint64(o.memory),
		Progress: func(done, total uint64) { bar.report("unpack", done, total) }}
	if globs != nil {
		if options.Chosen, err = chosen(r, globs, o.inputs); err != nil {
			return err
		}
	}
	if o.output == "-" {
		err := o.streamed(ctx, s, r, options.Chosen)
		bar.close()
		return err
	}
	sum, err := r.Restore(ctx, options)
	bar.close()
	if sum != nil {
		if p := r.Problem(); p != nil {
			sum.Notes = append(sum.Notes, p.Error())
		}
		if e := o.restored(s, sum); e != nil && err == nil {
			err = e
		}
	}
	return hint(err)
}

// chosen returns which entries match patterns. Each pattern must match some.
func chosen(r *tree.Reader, globs []samples.Glob, patterns []string) (func(e *tree.Entry) bool, error) {
	used := make([]bool, len(globs))
	all := make(map[*tree.Entry]bool)
	for i := range r.Entries {
		for k, g := range globs {
			if g.Match(r.Entries[i].Path) || patterns[k] == r.Entries[i].Path {
				all[&r.Entries[i]], used[k] = true, true
			}
		}
	}
	for k, ok := range used {
		if !ok {
			return nil, fmt.Errorf("%s: nothing in it matches %s", r.Path(), patterns[k])
		}
	}
	return func(e *tree.Entry) bool { return all[e] }, nil
}

// streamed writes the one file that is chosen to standard output.
func (o *unpackFlags) streamed(ctx context.Context, s *streams, r *tree.Reader, chosen func(e *tree.Entry) bool) error {
	if s.noOut != nil {
		return s.noOut
	}
	one := -1
	for i := range r.Entries {
		e := &r.Entries[i]
		if !chosen(e) || e.Kind == tree.Directory {
			continue
		}
		switch {
		case e.Kind == tree.Link || e.Kind == tree.FIFO:
			return fmt.Errorf("%s: only files can be written to standard output, and %s is a %s", r.Path(), e.Path, e.Kind)
		case one >= 0:
			return fmt.Errorf("%s: only one file can be written to standard output, and %s is chosen as well", r.Path(), e.Path)
		}
		one = i
	}
	if one < 0 {
		return fmt.Errorf("%s: no file is chosen", r.Path())
	}
	if r.Entries[one].Kind == tree.HardLink {
		one = r.Entries[one].First
	}
	if r.Entries[one].Kind == tree.File {
		return r.WriteFile(ctx, s.out, one)
	}
	return r.WriteReads(ctx, s.out, one, o.gzip)
}

// restored prints what was restored of a directory.
func (o *unpackFlags) restored(s *streams, sum *tree.Summary) error {
	notes := list(sum.Notes)
	for _, n := range notes {
		fmt.Fprintf(s.err, "orcomgo: note: %s\n", oneLine(n))
	}
	var bytes, failed uint64
	for i := range sum.Files {
		if f := &sum.Files[i]; !f.OK {
			fmt.Fprintf(s.err, "orcomgo: %s\n", damageText(f))
			failed++
		} else {
			bytes += f.Bytes
		}
	}
	switch {
	case o.json:
		return writeJSON(s.out, unpackJSON{o.runJSON("unpack"), list(sum.Files), notes})
	case o.quiet || failed > 0:
		return nil
	}
	fmt.Fprintf(s.err, "%s, %s bytes; %s, %s\n", plural(uint64(len(sum.Files)), "file"), countText(bytes),
		plural(uint64(sum.Directories), "directory"), plural(uint64(sum.Links), "link"))
	return o.last(s.err, bytes)
}

// verifyTree prints a line for each file of a side archive, and for each of reads that its archive lacks, after a prefix. It returns how
// many there are and how many of them are damaged.
func (o *verifyFlags) verifyTree(ctx context.Context, s *streams, t commit.Tree, prefix string) (damaged, files int, err error) {
	bar, err := o.start(s, stageModel{name: "verify", unit: bytesUnit, group: 0, weight: 1})
	if err != nil {
		return 0, 0, err
	}
	defer bar.close()
	var done, total atomic.Uint64
	r, err := tree.Open(t, tree.Options{Threads: o.threads, Memory: uint64(o.memory), Progress: func(n uint64) {
		bar.report("verify", done.Add(n), max(total.Load(), 1))
	}})
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	for i := range r.Entries {
		if r.Entries[i].Kind == tree.File {
			total.Add(uint64(r.Entries[i].Size))
		}
	}
	verify, checked := r.Verify, "XXH3-64"
	if o.quick {
		verify, checked = r.VerifyQuick, "section checksums"
	}
	damage, err := verify(ctx)
	bar.close()
	if err != nil {
		return 0, 0, err
	}
	status := []compress.FileStatus{}
	if p := r.Problem(); p != nil {
		file, problem, _ := strings.Cut(p.Error(), ": ")
		status = append(status, compress.FileStatus{Name: file, Problem: problem})
	}
	missing := r.CheckReads()
	for i := range r.Entries {
		e := &r.Entries[i]
		f := compress.FileStatus{Name: e.Path, Bytes: uint64(e.Size), OK: true, Checked: checked}
		switch {
		case e.Kind == tree.File && damage[i] != nil:
			f.OK, f.Problem, f.Checked = false, damage[i].Error(), ""
		case e.Kind == tree.Reads && missing[i] != nil:
			f.OK, f.Problem, f.Checked = false, missing[i].Error(), ""
		case e.Kind != tree.File:
			continue // archives are verified by themselves
		}
		status = append(status, f)
	}
	for i := range status {
		f := &status[i]
		if !f.OK {
			damaged++
		}
		switch {
		case o.json:
		case !f.OK:
			_, err = fmt.Fprintf(s.out, "%s%s\n", prefix, damageText(f))
		case !o.quiet:
			_, err = fmt.Fprintf(s.out, "%s%s: OK (%s bytes, by %s)\n", prefix, oneLine(f.Name), countText(f.Bytes), f.Checked)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	if o.json {
		err = writeJSON(s.out, verifyJSON{Archive: t.Path(), OK: damaged == 0, Files: status})
	}
	return damaged, len(status), err
}
