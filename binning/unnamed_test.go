package binning

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"orcomgo/bins"
)

// TestRunUnnamed: bins without a name are those that Run writes; and after an error, even the last one, nothing is left.
func TestRunUnnamed(t *testing.T) {
	text := simulate(1, 2_000, 100, 100, "1")
	dir := t.TempDir()
	path, bad := filepath.Join(dir, "x.fastq"), filepath.Join(dir, "bad.fastq")
	for path, text := range map[string][]byte{path: text, bad: text[:len(text)-10]} {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	named := filepath.Join(dir, "named")
	c := Config{Inputs: []InputSpec{{Path: path, Mate: -1}}, OutDir: named, Threads: 2}
	c.Options.BlockSize = 64 << 10
	want, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	w, err := bins.Open(named)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	c.OutDir = filepath.Join(dir, "new", "out")
	for _, c.uncodedFrom = range []uint64{0, 1} { // names and qualities are coded, or not if the bins stay in memory
		for _, c.Hold = range []uint64{0, uint64(len(text)) - 1, 1 << 30} {
			r, got, err := RunUnnamed(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			coded := c.uncodedFrom == 0 || c.Hold < uint64(len(text))
			if r.Meta().ID != w.Meta().ID || got.Records != want.Records || (r.Held() > 0) != (c.Hold == 1<<30) ||
				coded != (got.BinBytes == want.BinBytes) {
				t.Errorf("ID %x, want %x; %d bytes in memory, %d in bins", r.Meta().ID, w.Meta().ID, r.Held(), got.BinBytes)
			}
			var a, b bins.Block
			if err := errors.Join(r.ReadColumns(0, bins.WantAll, &a), w.ReadColumns(0, bins.WantAll, &b), r.Check(t.Context()),
				r.Close()); err != nil {
				t.Error(err)
			}
			if string(a.Names) != string(b.Names) || string(a.Quals) != string(b.Quals) {
				t.Error("names or qualities differ")
			}
			nothingMade(t, dir)
		}
	}
	c.uncodedFrom = 0
	failing := c
	failing.NewAssigner = func(r *Resources) (Assigner, error) { return closeFails{NewCPU(*r)}, nil }
	if r, _, err := RunUnnamed(context.Background(), failing); r != nil || !errors.Is(err, errClose) {
		t.Errorf("where closing the assigner fails: %v", err)
	}
	nothingMade(t, dir)
	c.Inputs[0].Path = bad
	if r, _, err := RunUnnamed(context.Background(), c); r != nil || err == nil {
		t.Errorf("a malformed input: %v", err)
	}
	nothingMade(t, dir)
}

func nothingMade(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is there: %v", err)
	}
}

var errClose = errors.New("the device is gone")

// closeFails is an Assigner whose Close fails.
type closeFails struct{ Assigner }

func (closeFails) Close() error { return errClose }

// TestHold: bins get the memory that the run leaves, and no more than they may have.
func TestHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.fastq")
	if err := os.WriteFile(path, []byte("@"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<32); err != nil { // of holes
		t.Fatal(err)
	}
	const run = memoryBase + memoryPerInput + memoryPerByte*100e6
	for _, tt := range []struct{ memory, hold, want uint64 }{
		{0, 1 << 40, 1 << 40},
		{run, 1 << 20, 0},
		{run + 5, 1 << 20, 5},
		{run + 1<<30, 1 << 20, 1 << 20},
	} {
		c := Config{Inputs: []InputSpec{{Path: path, Mate: -1}}, Threads: 2, Streams: 1, Memory: tt.memory, Hold: tt.hold}
		c.Options.BlockSize = 100e6
		if err := c.fitMemory(true); err != nil || c.Hold != tt.want {
			t.Errorf("%+v: %d, %v", tt, c.Hold, err)
		}
	}
}
