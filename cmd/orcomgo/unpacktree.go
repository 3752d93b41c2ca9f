package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"orcomgo/binning"
	"orcomgo/binning/samples"
	"orcomgo/bins/commit"
	"orcomgo/compress"
	"orcomgo/compress/tree"
)

// findTree returns the side archive that path leads to; found is false if an archive of reads is to be unpacked.
func (o *unpackFlags) findTree(path string) (t commit.Tree, found bool, err error) {
	// What is about records, or about one stream of them, is of one archive of reads.
	if o.records != "" || len(o.samples) > 0 || len(o.names) > 0 || o.namesFrom != "" || o.grep != "" || o.mate > 0 ||
		o.split > 0 || o.interleave || o.format != "" || o.tags != "" ||
		o.output == "-" && len(o.inputs) == 0 || isFIFO(o.output) {
		return t, false, nil
	}
	_, list, err := findAll(path)
	if errors.Is(err, commit.ErrNotArchive) { // unpacking says so
		err = nil
	}
	switch {
	case err != nil || len(list) == 0:
		return t, false, err
	case len(list) > 1:
		return t, false, fmt.Errorf("%s: there are side archives of %d directories: name one of them, as in %s", path, len(list), list[0].Path())
	}
	return list[0], true, nil
}

// tree restores a directory, or some of it.
func (o *unpackFlags) tree(ctx context.Context, s *streams, t commit.Tree, onGPU bool) error {
	var globs []samples.Glob
	for _, p := range o.inputs {
		g, err := samples.NewGlob(p)
		if err != nil {
			return usagef("--input: %w", err)
		}
		globs = append(globs, g)
	}
	bar, err := o.start(s, stageModel{name: "unpack", unit: bytesUnit, group: 0, perUnit: 1})
	if err != nil {
		return err
	}
	defer bar.close()
	r, err := openTree(t, tree.Options{Threads: o.threads, Memory: uint64(o.memory)})
	if compress.IsDamage(err) && o.inputs == nil && o.output != "-" {
		return o.readsAlone(ctx, s, t.Dir, err, bar.report)
	}
	if err != nil {
		return err
	}
	defer r.Close()
	options := tree.RestoreOptions{Dir: o.output, Gzip: o.gzip, Text: o.text, Touch: o.touch, Force: o.force, Owner: o.owner,
		Threads: o.threads, Memory: uint64(o.memory), Progress: func(done, total uint64) { bar.report("unpack", done, total) }}
	if onGPU {
		options.GPU = gpuNote(o.device, bar)
	}
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
		if e := o.restored(s, sum); e != nil && err == nil {
			err = e
		}
	}
	return hint(err)
}

// readsAlone restores the reads of the archives in a directory whose side archive can't be read, each archive's in a directory of its
// name if there are several. The error says why.
func (o *unpackFlags) readsAlone(ctx context.Context, s *streams, dir string, problem error, report compress.Progress) error {
	found, err := commit.Find(dir)
	if err != nil {
		return problem
	}
	restored := 0
	for _, e := range found {
		options := compress.UnpackOptions{Gzip: o.gzip, Text: o.text, Touch: o.touch, Force: o.force, OutDir: o.output, Threads: o.threads,
			Memory: uint64(o.memory), Progress: report}
		if len(found) > 1 {
			options.OutDir = filepath.Join(o.output, e.Name)
		}
		// With the extension the path can't be that of a directory.
		sum, err := compress.Unpack(ctx, e.Path()+commit.PackedDataExt, options)
		if ctx.Err() != nil {
			return err
		}
		if sum != nil {
			o.tellFiles(s, sum.Files, sum.Notes)
		}
		if err != nil {
			fmt.Fprintf(s.err, "orcomgo: %s\n", oneLine(hint(err).Error()))
			continue
		}
		restored++
	}
	return fmt.Errorf("%w (the reads of %d of %s were restored, and no other files)", problem, restored, plural(uint64(len(found)), "archive"))
}

// tellFiles prints notes, and what is damaged; it returns how many files are whole and their bytes.
func (o *unpackFlags) tellFiles(s *streams, files []compress.FileStatus, notes []string) (whole int, bytes uint64) {
	for _, n := range notes {
		fmt.Fprintf(s.err, "orcomgo: note: %s\n", oneLine(n))
	}
	for i := range files {
		if f := &files[i]; f.OK {
			whole++
			bytes += f.Bytes
		} else {
			fmt.Fprintf(s.err, "orcomgo: %s\n", damageText(f))
		}
	}
	return whole, bytes
}

// chosen returns which entries match patterns. Each pattern must match some.
func chosen(r *tree.Reader, globs []samples.Glob, patterns []string) (func(e *tree.Entry) bool, error) {
	used := make([]bool, len(globs))
	all := make(map[*tree.Entry]bool)
	for i := range r.Entries {
		for k, g := range globs {
			stored := r.Entries[i].Path
			for _, name := range []string{stored, path.Join(path.Dir(stored), binning.RestoredName(stored))} {
				if g.Match(name) || patterns[k] == name {
					all[&r.Entries[i]], used[k] = true, true
				}
				if r.Entries[i].Kind != tree.Reads {
					break // it is restored as it was
				}
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
	whole, bytes := o.tellFiles(s, sum.Files, sum.Notes)
	switch {
	case o.json:
		return writeJSON(s.out, unpackJSON{o.runJSON("unpack"), list(sum.Files), list(sum.Notes)})
	case o.quiet || whole < len(sum.Files):
		return nil
	}
	fmt.Fprintf(s.err, "%s, %s bytes; %s, %s\n", plural(uint64(len(sum.Files)), "file"), countText(bytes),
		plural(uint64(sum.Directories), "directory"), plural(uint64(sum.Links), "other entry"))
	if err := o.last(s.err, bytes); err != nil {
		return err
	}
	return tellWritten(s.err, []string{filepath.Join(o.output, "") + "/"})
}
