package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"orcomgo/binning"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
)

// firstPart is the first part of the text of an input: whole records.
type firstPart struct {
	kind    record.Kind
	text    []byte
	all     uint64 // bytes of all of the text, about
	records int
}

// cutInputs writes the first records of each input to files in dir, about n bytes together, mates up to the same record. It returns these,
// and about how much text there is in all; or the inputs themselves and 0, if they have no more text, or can't be cut.
func cutInputs(ctx context.Context, dir string, inputs []binning.InputSpec, n, threads int) ([]binning.InputSpec, uint64, error) {
	parts, total := make([]*firstPart, len(inputs)), uint64(0)
	for i, in := range inputs {
		t, err := readPart(ctx, in.Path, n/len(inputs), threads)
		if t == nil {
			return inputs, 0, err
		}
		parts[i] = t
		total += t.all
	}
	if total <= uint64(n) {
		return inputs, 0, nil
	}
	for i := range parts { // first the leads take the least of their mates, then the mates that of their leads
		lead := parts[inputs[i].FirstOf(i)]
		lead.records = min(lead.records, parts[i].records)
	}
	cut := make([]binning.InputSpec, len(inputs))
	for i, t := range parts {
		sub := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			return nil, 0, vfs.Cause(err)
		}
		cut[i] = inputs[i]
		cut[i].Path = filepath.Join(sub, binning.RestoredName(inputs[i].Path))
		if err := os.WriteFile(cut[i].Path, t.first(parts[inputs[i].FirstOf(i)].records), 0o600); err != nil {
			return nil, 0, vfs.Cause(err)
		}
	}
	return cut, total, nil
}

// readAhead is how many times the part is read of a compressed file, to know how much text it holds.
const readAhead = 4

// readPart reads the first n bytes of the text of a file, and cuts them after a record. It returns nil if that can't be done.
func readPart(ctx context.Context, path string, n, threads int) (*firstPart, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: only a file can be planned, because its size is needed", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, vfs.Cause(err))
	}
	in, err := binning.OpenText(ctx, path, threads)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var text bytes.Buffer
	read, err := io.CopyN(&text, in, int64(n)+1) // one byte more tells whether the file ends there
	if err != nil && err != io.EOF {
		return nil, err
	}
	more, err := io.CopyN(io.Discard, in, max(readAhead*int64(n)-read, 0))
	if err != nil && err != io.EOF {
		return nil, err
	}
	t := &firstPart{text: text.Bytes(), all: uint64(read + more)}
	if err == nil {
		of, stored := in.Extent()
		t.all = uint64(float64(info.Size()) * float64(of) / float64(max(stored, 1)))
	}
	if len(t.text) == 0 {
		return t, nil
	}
	if kind, ok := record.KindOf(t.text[0]); ok {
		t.kind = kind
	}
	if read > int64(n) {
		t.text = t.text[:n]
	}
	for range t.ends {
		t.records++
	}
	if t.records == 0 {
		return nil, nil
	}
	if t.records > 1 {
		t.records &^= 1 // no half of a pair, if mates are interleaved
	}
	return t, nil
}

// ends returns where whole records end, one by one; FASTQ that is wrapped has none.
func (t *firstPart) ends(yield func(end int) bool) {
	mark := t.kind.Format().Mark
	for at, lines := 0, 0; ; lines++ {
		n := bytes.IndexByte(t.text[at:], '\n')
		if n < 0 {
			return
		}
		if t.kind == record.FASTQ && (lines&3 == 0 && t.text[at] != mark || lines&3 == 2 && t.text[at] != '+') {
			return
		}
		at += n + 1
		whole := t.kind == record.FASTQ && lines&3 == 3 || t.kind != record.FASTQ && at < len(t.text) && t.text[at] == mark
		if whole && !yield(at) {
			return
		}
	}
}

// first returns the first n records.
func (t *firstPart) first(n int) []byte {
	for end := range t.ends {
		if n--; n == 0 {
			return t.text[:end]
		}
	}
	return nil
}
