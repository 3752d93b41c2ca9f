package binning

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orcomgo/bins/record"
	"orcomgo/internal/testrun"

	"orcomgo/bins"
)

// changingAssigner is an assigner that does something to the inputs before its first block, or its
// second if there is one.
type changingAssigner struct {
	Assigner
	change func()
	once   sync.Once
}

func (m *changingAssigner) Assign(ctx context.Context, t *Text, b *bins.Block) error {
	if t.FirstRecord > 0 || t.Last {
		m.once.Do(m.change)
	}
	return m.Assigner.Assign(ctx, t, b)
}

// TestChangedInputs: an input that is changed while it is read is refused, whatever the
// change; one that is only looked at is not.
func TestChangedInputs(t *testing.T) {
	text := simulate(1, 1000, 100, 100, "1")
	wrapped := bytes.ReplaceAll(text, []byte("\n+\n"), []byte("\n\n+\n"))
	reversed := func(data []byte) []byte {
		data = bytes.Clone(data)
		slices.Reverse(data)
		return data
	}
	check := func(t *testing.T, err error) {
		if err != nil {
			t.Error(err)
		}
	}
	write := func(t *testing.T, path string, data []byte) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		check(t, err)
		_, err = f.Write(data)
		check(t, errors.Join(err, f.Close()))
	}
	meddles := []struct {
		name string
		do   func(t *testing.T, path string, data []byte)
		want string
	}{
		{"rewritten in place", func(t *testing.T, path string, data []byte) { write(t, path, reversed(data)) }, "it was written to at "},
		{"a byte rewritten", func(t *testing.T, path string, data []byte) { write(t, path, data[:1]) }, "it was written to at "},
		{"rewritten, and its time put back", func(t *testing.T, path string, data []byte) {
			write(t, path, reversed(data))
			check(t, os.Chtimes(path, hourAgo, hourAgo))
		}, "its status was changed at "},
		{"longer", func(t *testing.T, path string, data []byte) {
			write(t, path, append(data[:len(data):len(data)], data...))
		}, "bytes and has "},
		{"shorter", func(t *testing.T, path string, data []byte) { check(t, os.Truncate(path, int64(len(data)/2))) }, "bytes and has "},
		{"empty", func(t *testing.T, path string, _ []byte) { check(t, os.Truncate(path, 0)) }, "bytes and has 0"},
		{"given another mode", func(t *testing.T, path string, _ []byte) { check(t, os.Chmod(path, 0o600)) }, "its status was changed at "},
		{"removed", func(t *testing.T, path string, _ []byte) { check(t, os.Remove(path)) }, "no such file or directory"},
		{"replaced", func(t *testing.T, path string, data []byte) {
			check(t, os.WriteFile(path+".new", data, 0o666))
			check(t, os.Rename(path+".new", path))
		}, "another file has its name now"},
		{"renamed", func(t *testing.T, path string, _ []byte) { check(t, os.Rename(path, path+".old")) }, "no such file or directory"},
		{"read", func(t *testing.T, path string, _ []byte) {
			_, err := os.ReadFile(path)
			check(t, err)
		}, ""},
		{"joined by another", func(t *testing.T, path string, data []byte) { check(t, os.WriteFile(path+".other", data, 0o666)) }, ""},
	}
	for _, in := range []testInput{
		{"plain", text}, {"gzip", gzipped(text, 3)}, {"bgzip", bgzipped(text)}, {"zstd", zstdCompressed(text)}, {"wrapped", wrapped},
	} {
		for _, tt := range meddles {
			t.Run(in.name+" "+tt.name, func(t *testing.T) {
				if testrun.Short() && in.name != "gzip" {
					t.Skip("make test has all")
				}
				t.Parallel() // it waits for the clock and the disk
				dir := t.TempDir()
				path, out := filepath.Join(dir, "x.fastq"), filepath.Join(dir, "out")
				check(t, os.WriteFile(path, in.text, 0o666))
				check(t, os.Chtimes(path, hourAgo, hourAgo))
				time.Sleep(12 * time.Millisecond) // a later change has another time
				c := Config{Inputs: []InputSpec{{Path: path, Mate: -1}}, OutDir: out, Threads: 2, Streams: 1,
					Options: record.Options{BlockSize: 100_000}}
				c.NewAssigner = func(r *Resources) (Assigner, error) {
					return &changingAssigner{Assigner: NewCPU(*r), change: func() { tt.do(t, path, in.text) }}, nil
				}
				_, err := Run(context.Background(), c)
				if tt.want == "" {
					check(t, err)
					return
				}
				if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), tt.want) &&
					!strings.Contains(err.Error(), "became ") { // shorter or longer than a plain file was, as reading finds
					t.Errorf("error is %v", err)
				}
				if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("out is there (%v)", err)
				}
			})
		}
	}
}

var hourAgo = time.Now().Add(-time.Hour)

// TestChangedLate: the inputs are looked at after everything of the archive is written, and
// all of them.
func TestChangedLate(t *testing.T) {
	dir := t.TempDir()
	var inputs []InputSpec
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("@a\nACGT\n+\nIIII\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, InputSpec{Path: path, Mate: -1})
	}
	time.Sleep(12 * time.Millisecond)
	c := Config{Inputs: inputs, OutDir: filepath.Join(dir, "out"), Threads: 1, Streams: 1}
	c.NewAssigner = func(r *Resources) (Assigner, error) {
		return &changingAssigner{Assigner: NewCPU(*r), change: func() { // the first block is a's
			if err := os.WriteFile(inputs[1].Path, []byte("@b\nACGT\n+\nIIII\n"), 0o666); err != nil {
				t.Error(err)
			}
		}}, nil
	}
	want := inputs[1].Path + ": the file was changed while it was read: "
	if _, err := Run(context.Background(), c); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(c.OutDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("out is there (%v)", err)
	}
}

// TestChangedStdin: standard input may be a file, too.
func TestChangedStdin(t *testing.T) {
	text := simulate(1, 3000, 100, 100, "1")
	for _, change := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "x")
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		time.Sleep(12 * time.Millisecond)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c := Config{Inputs: []InputSpec{{Path: "-", Mate: -1}}, Stdin: f, OutDir: filepath.Join(dir, "out"),
			Options: record.Options{BlockSize: 100_000}}
		c.NewAssigner = func(r *Resources) (Assigner, error) {
			return &changingAssigner{Assigner: NewCPU(*r), change: func() {
				if change {
					os.WriteFile(path, text[:len(text)/2], 0o666)
				}
			}}, nil
		}
		_, err = Run(context.Background(), c)
		if change != (err != nil) || change && !strings.HasPrefix(err.Error(), "stdin: ") {
			t.Errorf("change %v: error is %v", change, err)
		}
	}
}
