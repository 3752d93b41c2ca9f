package bins

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
	"orcomgo/digest"
)

// TestFiles: bins have the files of their inputs, or know them if they have no name; the ID is the same. Damage of a file is seen.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	var inputs []record.Input
	var files []*vfs.File
	var want [][]byte
	for i, in := range sampleInputs() {
		file := bytes.Repeat([]byte{byte(i), 7, 9}, 500_000*(i+1))
		path := filepath.Join(dir, in.Name+".gz")
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := vfs.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		d := digest.New(true, true)
		d.Write(file)
		sums := d.Sums()
		in.Source = &record.Source{Name: in.Name + ".gz", Size: uint64(len(file)), Sums: &sums, Gzip: record.GzipKept}
		inputs, files, want = append(inputs, in), append(files, f), append(want, file)
	}
	check := func(r *Reader) {
		t.Helper()
		for i, want := range want {
			if got, err := io.ReadAll(r.File(i)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("file %d: %d bytes, %v; want %d", i, len(got), err, len(want))
			}
		}
		if err := r.Check(t.Context()); err != nil || r.FileBytes() != 4_500_000 {
			t.Errorf("%d bytes of files, %v", r.FileBytes(), err)
		}
	}
	w, err := Create(dir, "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := w.AppendFile(io.NewSectionReader(f, 0, 1<<40)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(sampleOptions, inputs); err != nil {
		t.Fatal(err)
	}
	named, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	check(named)
	if w, err = CreateUnnamed(filepath.Join(dir, "other"), "a", nil, 0, ""); err != nil {
		t.Fatal(err)
	}
	unnamed, err := w.Finish(sampleOptions, inputs, files)
	if err != nil {
		t.Fatal(err)
	}
	defer unnamed.Close()
	check(unnamed)
	if named.Meta().ID != unnamed.Meta().ID {
		t.Error("the IDs differ")
	}

	path := filepath.Join(dir, "a"+commit.BinsDataExt)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1000] ^= 1
	if err := errors.Join(os.WriteFile(path, data, 0o666), named.CheckFile(0, func(uint64) {})); err != nil {
		t.Fatal(err)
	}
	if err := named.CheckFile(1, func(uint64) {}); !errors.Is(err, parse.ErrCorrupt) {
		t.Errorf("a changed byte: error %v", err)
	}
	if err := named.Check(t.Context()); !errors.Is(err, parse.ErrCorrupt) {
		t.Errorf("a changed byte: error %v", err)
	}
}
