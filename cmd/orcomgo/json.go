package main

import (
	"encoding/json"
	"io"
	"time"

	"orcomgo/binning"
	"orcomgo/compress"
)

// writeJSON prints a value for scripts.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// runJSON is what --json prints about every run.
type runJSON struct {
	Command    string  `json:"command"`
	Seconds    float64 `json:"seconds"`
	Threads    int     `json:"threads"`
	PeakMemory uint64  `json:"peak_memory"` // bytes
}

func (r *resources) runJSON(command string) runJSON {
	return runJSON{command, time.Since(r.began).Seconds(), r.threads, peakMemory()}
}

// binJSON is what bin --json prints.
type binJSON struct {
	runJSON
	Inputs      int    `json:"inputs"`
	Records     uint64 `json:"records"`
	Bases       uint64 `json:"bases"`
	TextBytes   uint64 `json:"text_bytes"`
	SourceBytes uint64 `json:"source_bytes"` // the inputs as they are stored
	BinBytes    uint64 `json:"bin_bytes"`
	Blocks      int    `json:"blocks"`
	GPUBlocks   int    `json:"gpu_blocks"` // that were binned on a GPU
	// Files are what is recorded of the inputs, in their order; null where nothing is.
	Files []*compress.FileInformation `json:"files"`
	// AlreadyThere says that there was an archive of these inputs already, packed or not. Then nothing is known of their stored form.
	AlreadyThere bool     `json:"already_there"`
	ArchiveFiles []string `json:"archive_files"`
}

func (o *binFlags) binJSON(s *binning.Summary, there *compress.Information, path string) binJSON {
	if there != nil {
		j := binJSON{runJSON: o.runJSON("bin"), Inputs: len(there.Inputs), Records: there.Records, Bases: there.Bases, TextBytes: there.TextBytes,
			Blocks: there.Blocks, AlreadyThere: true,
			ArchiveFiles: append(binnedFiles(path), packedFiles(path)...)}
		for _, in := range there.Inputs {
			j.Files = append(j.Files, in.File)
		}
		return j
	}
	files := make([]*compress.FileInformation, len(s.Inputs))
	for i, in := range s.Inputs {
		if in.Source != nil {
			files[i] = compress.NewFileInformation(in.Source, in.Source.Sums)
		}
	}
	return binJSON{o.runJSON("bin"), len(s.Inputs), s.Records, s.Bases, s.TextBytes, s.SourceBytes, s.BinBytes,
		s.Blocks, s.DeviceBlocks, files, false, binnedFiles(path)}
}

// packJSON is what pack --json and archive --json print.
type packJSON struct {
	runJSON
	*compress.Summary
	BinBytes     uint64   `json:"bin_bytes,omitempty"` // of archive, if it binned
	ArchiveFiles []string `json:"archive_files"`
}

// list returns a list that is [] in JSON, not null, when it is empty.
func list[T any](all []T) []T { return append([]T{}, all...) }

// pathsOf returns the paths of inputs.
func pathsOf(inputs []binning.InputSpec) []string {
	paths := make([]string, len(inputs))
	for i := range inputs {
		paths[i] = inputs[i].Path
	}
	return paths
}

// linesOf returns errors as lines.
func linesOf(errs []error) []string {
	lines := make([]string, len(errs))
	for i := range errs {
		lines[i] = oneLine(errs[i].Error())
	}
	return lines
}

// unpackJSON is what unpack --json prints, also when files are damaged.
type unpackJSON struct {
	runJSON
	Files []compress.FileStatus `json:"files"`
	Notes []string              `json:"notes"`
}

// verifyJSON is what verify --json prints for each archive.
type verifyJSON struct {
	Archive string                `json:"archive"`
	OK      bool                  `json:"ok"`
	Problem string                `json:"problem,omitempty"` // of the archive as a whole
	Files   []compress.FileStatus `json:"files"`
}

// indexJSON is what index --json prints.
type indexJSON struct {
	runJSON
	Indexes []*compress.IndexSummary `json:"indexes"`
}

// findJSON is what find --json prints. Archives that could not be searched are left out.
type findJSON struct {
	runJSON
	Archives []foundJSON `json:"archives"`
}

// foundJSON is what was found in an archive.
type foundJSON struct {
	Archive string      `json:"archive"`
	Indexed bool        `json:"indexed"`
	Counted bool        `json:"counted"` // reads were decoded
	Found   []countJSON `json:"found"`
	Reads   []readJSON  `json:"reads,omitempty"` // with --numbers
}

// countJSON is a row of the table.
type countJSON struct {
	Query  string   `json:"query"`
	Strand string   `json:"strand"`
	Hits   *int     `json:"hits,omitempty"`
	Depth  *float64 `json:"depth,omitempty"`
	Reads  *uint64  `json:"reads,omitempty"`
}

// readJSON is a read that was found; record and base are counted from 1.
type readJSON struct {
	Input  string `json:"input"`
	Record uint64 `json:"record"`
	Query  string `json:"query"`
	Strand string `json:"strand"`
	Base   int    `json:"base"`
}

// filesJSON is what repair --json, protect --json and unpack --salvage --json print.
type filesJSON[T compress.Repaired | compress.Salvaged] struct {
	runJSON
	Files []T `json:"files"`
}
