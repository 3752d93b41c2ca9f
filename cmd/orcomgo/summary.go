package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"orcomgo/binning"
	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/compress"
	"orcomgo/storage"
)

// nothingToDo prints why a run has nothing to do.
func (r *resources) nothingToDo(to *streams, why string) error {
	if r.quiet {
		return nil
	}
	_, err := fmt.Fprintf(to.err, "%s: nothing to do\n", oneLine(why))
	return err
}

// written returns the files of an archive DIR/NAME: those with these extensions that there are.
func written(path string, exts ...string) (files []string) {
	for _, ext := range exts {
		if _, err := vfs.Lstat(path + ext); err == nil {
			files = append(files, path+ext)
		}
	}
	return files
}

// binnedFiles and packedFiles return the files of bins and of a packed archive.
func binnedFiles(path string) []string { return written(path, commit.BinsDataExt, commit.BinsMetaExt) }
func packedFiles(path string) []string {
	return written(path, commit.PackedDataExt, commit.PackedMetaExt, commit.ParityExt)
}

// summarize prints what a bin did, and what is to be done with the bins DIR/NAME next. there describes what was there already, or is nil.
func (o *binFlags) summarize(to *streams, s *binning.Summary, there *compress.Information, path string) error {
	w := to.err
	switch {
	case o.json:
		return writeJSON(to.out, o.binJSON(s, there, path))
	case o.quiet:
		return nil
	}
	fmt.Fprintf(w, "%s, %s, %s bases\n", plural(uint64(len(s.Inputs)), "file"), plural(s.Records, "read"), countText(s.Bases))
	fmt.Fprintf(w, "%s bytes of text, read as %s, in bins of %s", countText(s.TextBytes), countText(s.SourceBytes), countText(s.BinBytes))
	if s.BinBytes > 0 {
		fmt.Fprintf(w, ": ratio %.2f", float64(s.TextBytes)/float64(s.BinBytes))
	}
	fmt.Fprintln(w)
	if s.DeviceBlocks > 0 || o.device == "gpu" {
		fmt.Fprintf(w, "%s: %s on the GPU, %s on the CPU\n", plural(uint64(s.Blocks), "block"), countText(uint64(s.DeviceBlocks)),
			countText(uint64(s.Blocks-s.DeviceBlocks)))
	}
	if err := o.last(w, s.TextBytes); err != nil {
		return err
	}
	tellWritten(w, binnedFiles(path))
	_, err := fmt.Fprintf(w, "next: orcomgo pack %s\n", oneLine(path))
	return err
}

// packed prints what a pack or an archive did for the archive DIR/NAME; bins is how many bytes of bins archive made.
func (r *resources) packed(to *streams, command, path string, s *compress.Summary, bins uint64) error {
	w := to.err
	switch {
	case r.json:
		return writeJSON(to.out, packJSON{r.runJSON(command), s, bins, packedFiles(path)})
	case s.AlreadyPacked:
		return r.nothingToDo(to, path+" is packed already")
	case r.quiet:
		return nil
	}
	fmt.Fprintf(w, "%s, %s, %s bases\n", plural(uint64(s.Inputs), "file"), plural(s.Records, "read"), countText(s.Bases))
	if err := columnTable(w, s.Columns, s.Bases); err != nil {
		return err
	}
	fmt.Fprintf(w, "%s bytes of text in %s", countText(s.TextBytes), countText(s.ArchiveBytes))
	if s.ArchiveBytes > 0 {
		fmt.Fprintf(w, ": ratio %.2f", float64(s.TextBytes)/float64(s.ArchiveBytes))
	}
	if s.Verified {
		fmt.Fprint(w, ", decoded and compared")
	}
	fmt.Fprintln(w)
	if err := r.last(w, s.TextBytes); err != nil {
		return err
	}
	return tellWritten(w, packedFiles(path))
}

// unpacked prints what an unpack did.
func (o *unpackFlags) unpacked(w io.Writer, s *compress.Summary) error {
	var records, bytes uint64
	for _, f := range s.Files {
		records += f.Records
		bytes += f.Bytes
	}
	fmt.Fprintf(w, "%s, %s, %s bytes of text\n", plural(uint64(len(s.Files)), "file"), plural(records, "read"), countText(bytes))
	if err := o.last(w, bytes); err != nil || o.output == "-" {
		return err
	}
	var names []string
	for _, f := range s.Files {
		if o.split > 0 {
			f.Name += " and so on"
		}
		names = append(names, f.Name)
	}
	return tellWritten(w, slices.Compact(names))
}

// tellWritten prints which files were written, or the first few.
func tellWritten(w io.Writer, files []string) error {
	if slices.Contains(files, storage.Piped) {
		return nil // to standard output
	}
	_, err := fmt.Fprintf(w, "written: %s\n", oneLine(commit.FirstNames(files, 6)))
	return err
}

// columnTable prints the sizes of the columns of an archive.
func columnTable(w io.Writer, c compress.ColumnBytes, bases uint64) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "column\tbytes\tshare\tbits a base\t\n")
	total := c.Total()
	row := func(name string, bytes uint64) {
		bits := ""
		if bases > 0 && (name == "sequences" || name == "qualities" || name == "total") {
			bits = fmt.Sprintf("%.3f", 8*float64(bytes)/float64(bases))
		}
		fmt.Fprintf(t, "%s\t%s\t%.1f %%\t%s\t\n", name, countText(bytes), 100*float64(bytes)/float64(max(total, 1)), bits)
	}
	c.Each(row)
	row("total", total)
	return t.Flush()
}

// last prints the last line of a summary: time, speed in bytes of text and of side files, memory.
func (r *resources) last(w io.Writer, text uint64) error {
	took := time.Since(r.began)
	_, err := fmt.Fprintf(w, "%s, %s/s, %s, peak memory %s\n",
		durationText(took), bytesText(rate(text, took)), plural(uint64(r.threads), "thread"), bytesText(peakMemory()))
	return err
}

// plural writes a count and its noun.
func plural(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	switch stem, ok := strings.CutSuffix(noun, "y"); {
	case ok: // directory
		return countText(n) + " " + stem + "ies"
	case strings.HasPrefix(noun, "file of "):
		return countText(n) + " files" + noun[4:]
	}
	return countText(n) + " " + noun + "s"
}
