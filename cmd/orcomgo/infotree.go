package main

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
	"time"

	"orcomgo/binning"
	"orcomgo/bins/commit"
	"orcomgo/compress/tree"
)

// treeJSON is what info --json prints of a side archive.
type treeJSON struct {
	SideArchive string      `json:"side_archive"` // DIR/NAME.ctree
	Tool        string      `json:"tool"`
	Bytes       int64       `json:"bytes"`             // of side files
	Stored      int64       `json:"archive_bytes"`     // of the side archive
	LeftOut     []string    `json:"left_out"`          // what could not be read when the directory was archived
	Problem     string      `json:"problem,omitempty"` // what is damaged, as far as it is known without decoding
	Entries     []entryJSON `json:"entries"`
}

// entryJSON is an entry of a directory.
type entryJSON struct {
	Path    string    `json:"path"`
	Kind    string    `json:"kind"` // file, reads, directory, link, hard link or FIFO
	Mode    string    `json:"mode"` // octal
	User    uint32    `json:"user"` // that it belongs to, a number
	Group   uint32    `json:"group"`
	Time    time.Time `json:"time,omitzero"`
	Bytes   int64     `json:"bytes"`            // of the file, as it was stored
	Stored  int64     `json:"archive_bytes"`    // of a file, about
	Target  string    `json:"target,omitempty"` // of links
	Archive string    `json:"archive,omitempty"`
	Input   int       `json:"input,omitempty"` // of the archive, counted from 1
	// TextName is the name that the text of compressed reads is restored under, without --gzip.
	TextName string `json:"text_name,omitempty"`
}

// newTreeJSON describes a side archive with a listing. What it stores is not known of one that is not written yet.
func newTreeJSON(t commit.Tree, l *tree.Listing) treeJSON {
	j := treeJSON{SideArchive: t.Path(), Tool: l.Tool, LeftOut: list(l.LeftOut), Entries: make([]entryJSON, len(l.Entries))}
	for i := range l.Entries {
		e := &l.Entries[i]
		k := entryJSON{Path: e.Path, Kind: e.Kind.String(), Mode: fmt.Sprintf("%04o", e.Mode), Time: e.Time, Bytes: e.Size, Target: e.Target,
			User: e.Owner.User, Group: e.Owner.Group}
		switch e.Kind {
		case tree.File:
			j.Bytes += e.Size
		case tree.Reads:
			k.Archive, k.Input = l.Archives[e.Archive].Name, e.Input+1
			if name := binning.RestoredName(e.Path); name != filepath.Base(e.Path) {
				k.TextName = name
			}
		case tree.HardLink:
			k.Target = l.Entries[e.First].Path
		}
		j.Entries[i] = k
	}
	return j
}

// infoTree describes a side archive.
func infoTree(w io.Writer, t commit.Tree, asJSON bool) error {
	r, err := openTree(t, tree.Options{Threads: 1, Memory: uint64((&resources{}).limit())})
	if err != nil {
		return err
	}
	defer r.Close()
	j := newTreeJSON(t, r.Listing)
	j.Stored = r.Stored()
	if damage := r.Damage(); damage != nil {
		j.Problem = damage.Error()
	}
	for i := range r.Entries {
		if r.Entries[i].Kind == tree.File {
			j.Entries[i].Stored = r.Coded(i)
		}
	}
	if asJSON {
		return writeJSON(w, j)
	}
	return j.describe(w)
}

// describe prints a side archive for people.
func (j *treeJSON) describe(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s, side archive of a directory by %s\n\n", oneLine(filepath.Base(j.SideArchive)), oneLine(j.Tool))
	if j.Problem != "" {
		fmt.Fprintf(out, "DAMAGED: %s\n\n", oneLine(j.Problem))
	}
	for _, line := range j.LeftOut {
		fmt.Fprintf(out, "left out: %s\n", oneLine(line))
	}
	b := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(b, "kind\tmode\twritten\tbytes\tstored\t path\n")
	counts := make(map[string]int)
	for i := range j.Entries {
		e := &j.Entries[i]
		counts[e.Kind]++
		written, bytes, stored, path := "", "", "", oneLine(e.Path)
		if !e.Time.IsZero() {
			written = e.Time.Local().Format(time.DateTime)
		}
		switch e.Kind {
		case tree.File.String():
			bytes, stored = countText(uint64(e.Bytes)), countText(uint64(e.Stored))
		case tree.Reads.String():
			bytes = countText(uint64(e.Bytes))
			path += fmt.Sprintf(", input %d of %s", e.Input, oneLine(e.Archive))
			if e.TextName != "" {
				path += ", text restored as " + oneLine(e.TextName)
			}
		}
		if e.Target != "" {
			path += " -> " + oneLine(e.Target)
		}
		fmt.Fprintf(b, "%s\t%s\t%s\t%s\t%s\t %s\n", e.Kind, e.Mode, written, bytes, stored, path)
	}
	if err := b.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s, %s, %s, %s; %s bytes of side files in %s\n", plural(uint64(counts["reads"]), "file of reads"),
		plural(uint64(counts["file"]), "side file"), plural(uint64(counts["directory"]), "directory"),
		plural(uint64(counts["link"]+counts["hard link"]+counts["FIFO"]), "other entry"), countText(uint64(j.Bytes)), countText(uint64(j.Stored)))
	return out.Flush()
}
