package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/cmd/orcomgo/batches"
	"orcomgo/compress"
	figures "orcomgo/compress/report"

	"github.com/spf13/pflag"
)

var reportCommand = command{
	name:     "report",
	group:    lookGroup,
	synopsis: "DIR|DIR/NAME...",
	about:    "a page with plots of what is inside",
	help: `report decodes an archive once, verifies it as verify does, and writes a page (-o) that any browser
shows without other files: qualities and bases by cycle, lengths, GC, N, duplicates, coverage of the
sequence that the reads were joined to, what each column costs, the size beside that of gzip, the
fields of the names, and what was verified. What is not known, as the qualities of an archive
without them, is listed as such. Of a damaged archive the sound records are counted, the page says
what is damaged, and the exit status is 1.

Of several archives, -o is a directory, for NAME.html of each. --multiqc writes files
NAME.*_mqc.json to a directory, which MultiQC reads as custom content. --json prints all figures.
Duplicates are reads of the same sequence; of those longer than 75 bases the first 50 are compared.

Examples:
  orcomgo report run/ -o run.html
  orcomgo report archives/ -o reports/ --multiqc reports/    one page for each archive there
  orcomgo report --json run/ | jq '.reports[].reads[].qualities.q30_percent'
`,
	flags: func(f *pflag.FlagSet) action {
		var o reportFlags
		f.StringVarP(&o.output, "output", "o", "", "write the page to `FILE` (- for standard output), or pages to a directory")
		f.StringVar(&o.multiqc, "multiqc", "", "write files for MultiQC to directory `DIR`")
		f.BoolVarP(&o.force, "force", "f", false, "replace files that exist")
		o.add(f)
		return o.run
	},
}

type reportFlags struct {
	resources
	output, multiqc string
	force           bool
}

// reportJSON is what report --json prints. Archives that can't be read are left out.
type reportJSON struct {
	runJSON
	Reports []*figures.Figures `json:"reports"`
}

func (o *reportFlags) check(args []string) error {
	switch {
	case len(args) == 0:
	case o.output == "" && o.multiqc == "" && !o.json:
		return usagef("give -o FILE for the page, --multiqc DIR or --json")
	case o.output == "-" && o.json:
		return usagef("--json and -o - exclude each other: both are for standard output")
	}
	for _, path := range []string{o.output, o.multiqc} {
		if batches.IsURL(path) {
			return usagef("%s is a URL: files are written on this machine", path)
		}
	}
	return nil
}

func (o *reportFlags) run(ctx context.Context, s *streams, args []string) error {
	args, err := checkArchives(s, args)
	if err == nil {
		err = o.check(args)
	}
	if err != nil {
		return err
	}
	found, err := archivesOf(args)
	if err != nil {
		return err
	}
	if len(found) > 1 && o.output != "" && !o.toDir() {
		return usagef("-o is a directory where there are %d archives, and %s is not one (end it in / to make it)", len(found), o.output)
	}
	if err := o.checkFiles(found); err != nil {
		return hint(err)
	}
	all, damaged := []*figures.Figures{}, 0
	failed, err := eachArchive(ctx, s, found, func(e commit.Entry) error {
		f, err := o.one(ctx, s, e)
		if err != nil {
			return err
		}
		all = append(all, f)
		if !f.Verification.OK {
			damaged++
		}
		return nil
	})
	if err != nil {
		return err
	}
	sides, damagedSides, err := o.sides(ctx, s, args)
	if err != nil {
		return err
	}
	if o.json {
		if err := writeJSON(s.out, reportJSON{o.runJSON("report"), all}); err != nil {
			return err
		}
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %s could not be read", failed, plural(uint64(len(found)), "archive"))
	case damaged > 0:
		return fmt.Errorf("%d of %s damaged: the report says what, and orcomgo verify does", damaged, plural(uint64(len(found)), "archive"))
	case damagedSides > 0:
		return fmt.Errorf("%d of %s damaged: orcomgo verify says what", damagedSides, plural(uint64(sides), "side archive"))
	}
	return nil
}

// sides checks the side archives of directories, which have no page, by the checksums of what is stored.
func (o *reportFlags) sides(ctx context.Context, s *streams, args []string) (all, damaged int, err error) {
	for _, arg := range args {
		_, trees, err := findAll(arg)
		if err != nil && !errors.Is(err, commit.ErrNotArchive) {
			return 0, 0, err
		}
		for _, t := range trees {
			all++
			nowhere := func(string, uint64, uint64) {}
			status, err := verifyTree(ctx, t, compress.VerifyOptions{Threads: o.threads, Memory: uint64(o.memory), Progress: nowhere}, true)
			if err == nil && countDamaged(status) > 0 {
				err = fmt.Errorf("%s: %w", t.Path(), parse.ErrCorrupt)
			}
			if err != nil && !compress.IsDamage(err) {
				return 0, 0, err
			}
			if err != nil {
				damaged++
				fmt.Fprintf(s.err, "orcomgo: %s\n", oneLine(err.Error()))
			}
		}
	}
	return all, damaged, nil
}

// toDir reports whether pages are written to a directory.
func (o *reportFlags) toDir() bool {
	info, err := os.Stat(o.output)
	return err == nil && info.IsDir() || strings.HasSuffix(o.output, "/")
}

// pagePath returns where the page of an archive is written.
func (o *reportFlags) pagePath(e commit.Entry) string {
	if o.toDir() {
		return filepath.Join(o.output, e.Name+".html")
	}
	return o.output
}

// files returns the files that may be written for an archive.
func (o *reportFlags) files(e commit.Entry) (paths []string) {
	if o.output != "" && o.output != "-" {
		paths = append(paths, o.pagePath(e))
	}
	if o.multiqc != "" {
		for _, name := range figures.SectionFiles(e.Name) {
			paths = append(paths, filepath.Join(o.multiqc, name))
		}
	}
	return paths
}

// checkFiles returns an error if a file can't be written that is known before archives are decoded.
func (o *reportFlags) checkFiles(found []commit.Entry) error {
	names := make(map[string]string)
	for _, e := range found {
		if other, ok := names[e.Name]; ok {
			return fmt.Errorf("%s and %s have the same name: make their reports by commands of their own", other, e.Path())
		}
		names[e.Name] = e.Path()
		for _, path := range o.files(e) {
			if err := commit.TakesName(path, e.Dir, e.Name); err != nil {
				return err
			}
			if _, err := compress.CheckNew(path, o.force); err != nil {
				return err
			}
		}
	}
	return nil
}

// one reports on an archive.
func (o *reportFlags) one(ctx context.Context, s *streams, e commit.Entry) (*figures.Figures, error) {
	bar, err := o.start(s, stageModel{name: compress.InspectStage, unit: bytesUnit, group: 0, perUnit: 1})
	if err != nil {
		return nil, err
	}
	defer bar.close()
	f, err := figures.Make(ctx, e, figures.Options{Threads: o.threads, Memory: uint64(o.memory), Progress: bar.report})
	bar.close()
	if err != nil {
		return nil, err
	}
	var files []newFile
	access := commit.AccessTo(e.Path()+commit.PackedDataExt, e.Path()+commit.BinsDataExt)
	if o.multiqc != "" {
		for _, section := range f.MultiQC() {
			name, content, err := section.File(f.Archive.Name)
			if err != nil {
				return nil, err
			}
			files = append(files, newFile{filepath.Join(o.multiqc, name), content, access})
		}
	}
	var page bytes.Buffer
	path := o.pagePath(e)
	if o.output != "" {
		if err := f.Page(&page, "orcomgo "+version); err != nil {
			return nil, err
		}
		if o.output != "-" {
			files = append(files, newFile{path, page.Bytes(), access})
		}
	}
	if err := writeNew(files, o.force); err != nil {
		return nil, hint(err)
	}
	switch o.output {
	case "":
		return f, nil
	case "-":
		_, err := s.out.Write(page.Bytes())
		return f, err
	}
	if !o.quiet && !o.json {
		fmt.Fprintf(s.err, "%s: %s of %s, made in %s\n", oneLine(path), plural(f.Archive.Records, "record"), oneLine(e.Path()),
			durationText(o.took()))
	}
	return f, nil
}
