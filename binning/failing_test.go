package binning

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"orcomgo/bins/record"
	"orcomgo/internal/testrun"

	"orcomgo/bins"
)

func TestDamagedSources(t *testing.T) {
	testrun.NoRace(t)
	text := simulate(4, 3000, 100, 100, "1")
	for name, data := range map[string][]byte{"gzip": gzipped(text, 3), "bgzip": bgzipped(text), "zstd": zstdCompressed(text)} {
		for _, n := range []int{len(data) - 1, len(data) - 9, len(data) - 28, len(data) / 2, 30, 19} {
			if _, err := binTexts(t, Config{}, testInput{"x", data[:n]}); err == nil {
				t.Errorf("%s cut to %d of %d: no error", name, n, len(data))
			} else if !strings.HasPrefix(err.Error(), "x: ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s cut to %d of %d: %v", name, n, len(data), err)
			}
		}
		rng := rand.New(rand.NewSource(1))
		flips := 20
		if testrun.Short() {
			flips = 5
		}
		for range flips {
			changed := bytes.Clone(data)
			changed[18+rng.Intn(len(data)-18)] ^= 1 << rng.Intn(8)
			dir, err := binTexts(t, Config{}, testInput{"x", changed})
			if err == nil && !bytes.Equal(restore(t, dir)[0], text) {
				t.Errorf("%s with a flipped bit: no error, and other text", name)
			}
		}
		if _, err := binTexts(t, Config{}, testInput{"x", append(bytes.Clone(data), "rubbish"...)}); err == nil {
			t.Errorf("%s with rubbish behind: no error", name)
		}
	}
}

func TestBadInputs(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.fastq")
	if err := os.WriteFile(file, []byte("@a\nA\n+\nI\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "a.fastq")
	if err := os.WriteFile(other, []byte("@a\nA\n+\nI\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	for _, tt := range []struct{ name, path, want string }{
		{"the same twice", file, file + ": this input is given twice"},
		{"the same name twice", other, other + ": " + file + " would be restored under the same name, a.fastq"},
		{"directory", dir, dir + ": is a directory, expected a FASTQ or FASTA file"},
		{"missing", file + "x", file + "x: no such file or directory"},
	} {
		_, err := Run(context.Background(), Config{Inputs: []InputSpec{{Path: file, Mate: -1}, {Path: tt.path, Mate: -1}}, OutDir: out})
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("out is there (%v)", err)
	}
}

// TestCancel ends runs at some moment; nothing may be left of them.
func TestCancel(t *testing.T) {
	text, runs := simulate(7, testrun.Pick(8000, 20000, 20000), 100, 100, "1"), testrun.Pick(10, 30, 30)
	dir := t.TempDir()
	path := filepath.Join(dir, "a.fastq")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	cancelled := 0
	for i := range runs {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Duration(i*30/runs)*time.Millisecond, cancel)
		_, err := Run(ctx, Config{Inputs: []InputSpec{{Path: path, Mate: -1}}, OutDir: out, Threads: 2,
			Options: record.Options{BlockSize: 100_000}})
		cancel()
		if err == nil {
			os.RemoveAll(out)
			continue
		}
		cancelled++
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("out is there (%v)", err)
		}
	}
	if cancelled == 0 {
		t.Error("no run was cancelled")
	}
}

// TestCancelWaiting ends runs that wait for input that does not come.
func TestCancelWaiting(t *testing.T) {
	for _, started := range []string{"", "@a\nACGT\n+\nIIII\n", strings.Repeat("@a\nACGT\n+\nIIII\n", 200_000)} {
		in, stop := io.Pipe()
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		go stop.Write([]byte(started))
		out := filepath.Join(t.TempDir(), "out")
		_, err := Run(ctx, Config{Inputs: []InputSpec{{Path: "-", Mate: -1}}, OutDir: out, Stdin: in,
			Options: record.Options{BlockSize: 100_000}})
		cancel()
		stop.Close()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("out is there (%v)", err)
		}
	}
}

// errAssigner fails on some block.
type errAssigner struct {
	Assigner
	left atomic.Int64
}

var errTest = errors.New("out of luck")

func (a *errAssigner) Assign(ctx context.Context, t *Text, b *bins.Block) error {
	if a.left.Add(-1) == 0 {
		return errTest
	}
	return a.Assigner.Assign(ctx, t, b)
}

func TestAssignerFails(t *testing.T) {
	text := simulate(9, 3000, 100, 100, "1")
	c := Config{Streams: 3, Options: record.Options{BlockSize: 50_000}, NewAssigner: func(r *Resources) (Assigner, error) {
		a := &errAssigner{Assigner: NewCPU(*r)}
		a.left.Store(5)
		return a, nil
	}}
	if _, err := binTexts(t, c, testInput{"x", text}); err == nil || err.Error() != errTest.Error() {
		t.Errorf("error is %v", err)
	}
	c.NewAssigner = func(*Resources) (Assigner, error) { return nil, errTest }
	if _, err := binTexts(t, c, testInput{"x", text}); err == nil || err.Error() != errTest.Error() {
		t.Errorf("error is %v", err)
	}
}

// TestReadError: what goes wrong while reading is told with the name of the input.
func TestReadError(t *testing.T) {
	text := simulate(10, 300, 100, 100, "1")
	in := io.MultiReader(bytes.NewReader(text[:30000]), iotest.ErrReader(errTest))
	out := filepath.Join(t.TempDir(), "out")
	_, err := Run(context.Background(), Config{Inputs: []InputSpec{{Path: "-", Mate: -1}}, OutDir: out, Stdin: in})
	if err == nil || err.Error() != "stdin: out of luck" {
		t.Errorf("error is %v", err)
	}
}

// TestAssignWaitEnds: Assign ends with the context while it waits for working memory.
func TestAssignWaitEnds(t *testing.T) {
	c := NewCPU(Resources{Streams: 1, Run: serial}).(*cpu)
	<-c.jobs
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	err := c.Assign(ctx, &Text{Data: []byte("@a\nC\n+\nI\n"), Last: true}, new(bins.Block))
	if err != context.Canceled {
		t.Errorf("Assign returned %v", err)
	}
}
