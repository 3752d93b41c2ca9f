//go:build unix

package compress

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

// fifos makes FIFOs in a new directory.
func fifos(t *testing.T, names ...string) (dir string, paths []string) {
	t.Helper()
	dir = t.TempDir()
	for _, n := range names {
		paths = append(paths, filepath.Join(dir, n))
		if err := syscall.Mkfifo(filepath.Join(dir, n), 0o600); err != nil {
			t.Skip(err)
		}
	}
	return dir, paths
}

// TestUnpackFIFOs: both mates are written at once, whichever is opened first, to readers that take a batch of one and then of the other.
func TestUnpackFIFOs(t *testing.T) {
	smallSlices(t)
	reads := testrun.Pick(600, 1000, 3000)
	r1, r2 := simulated(68, reads, true)
	want := []string{r1, r2}
	dir := binTo(t, pair(r1, r2), record.Options{BlockSize: 64 << 10})
	packTo(t, dir, PackOptions{})
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		out, paths := fifos(t, "r_1.fastq", "r_2.fastq")
		done := make(chan error, 1)
		go func() {
			_, err := Unpack(context.Background(), dir, UnpackOptions{OutDir: out, Threads: 2})
			done <- err
		}()
		var files [2]*os.File
		for _, k := range order {
			f, err := os.Open(paths[k])
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			files[k] = f
		}
		var got [2]strings.Builder
		for ended := 0; ended < 2; {
			ended = 0
			for _, k := range order {
				if n, _ := io.CopyN(&got[k], files[k], 30_000); n == 0 {
					ended++
				}
			}
		}
		if err := <-done; err != nil || got[0].String() != want[0] || got[1].String() != want[1] {
			t.Errorf("order %v: %d and %d bytes, %v", order, got[0].Len(), got[1].Len(), err)
		}
		if len(filesOf(t, out)) != 2 {
			t.Errorf("other files than the FIFOs: %v", filesOf(t, out))
		}
	}
}

func filesOf(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestUnpackToFIFO: a FIFO in place of the directory is a stream.
func TestUnpackToFIFO(t *testing.T) {
	r1, r2 := simulated(69, 100, true)
	dir := binTo(t, pair(r1, r2), record.Options{})
	_, paths := fifos(t, "all")
	var got []byte
	var wg sync.WaitGroup
	wg.Go(func() { got, _ = os.ReadFile(paths[0]) })
	if _, err := Unpack(context.Background(), dir, UnpackOptions{OutDir: paths[0]}); err != nil {
		t.Fatal(err)
	}
	if wg.Wait(); string(got) != r1+r2 {
		t.Errorf("%d bytes", len(got))
	}
}

// TestFIFOReaderGone: a reader that closes a FIFO early is an error, as is one that never comes, once the run is interrupted.
func TestFIFOReaderGone(t *testing.T) {
	smallSlices(t)
	r1, r2 := simulated(70, 900, true)
	dir := binTo(t, pair(r1, r2), record.Options{BlockSize: 64 << 10})
	out, paths := fifos(t, "r_1.fastq", "r_2.fastq")
	go func() {
		for _, p := range paths {
			f, err := os.Open(p)
			if err == nil {
				f.Read(make([]byte, 10))
				f.Close()
			}
		}
	}()
	_, err := Unpack(context.Background(), dir, UnpackOptions{OutDir: out, Threads: 2})
	if !errors.Is(err, syscall.EPIPE) || !strings.Contains(err.Error(), "r_") {
		t.Errorf("error %v", err)
	}
	for _, o := range []UnpackOptions{{OutDir: out}, {OutDir: paths[0]}} {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		if _, err := Unpack(ctx, dir, o); err == nil {
			t.Error("nobody reads, and there is no error")
		}
	}
}
