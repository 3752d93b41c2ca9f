package vfs

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"orcomgo/internal/tasks"
)

// inMemory mounts a tmpfs of so many bytes, which takes a privileged user, or skips the test.
func inMemory(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mounting a tmpfs: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// TestConcurrentWriter writes a file in pieces of many sizes from several goroutines: all at once, all by mappings, and on a disk.
func TestConcurrentWriter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	want := make([]byte, 13<<20+77)
	for i := range want {
		want[i] = byte(rng.Uint32())
	}
	var cuts []int
	for at := 0; at < len(want); at += 1 + rng.IntN(1<<rng.IntN(24)) {
		cuts = append(cuts, at)
	}
	cuts = append(cuts, len(want))
	order := rng.Perm(len(cuts) - 1)
	memory := inMemory(t, "32m")
	for _, c := range []struct {
		name, dir string
		mapped    bool
	}{{"at once", memory, false}, {"mapped", memory, true}, {"disk", t.TempDir(), false}} {
		path := filepath.Join(c.dir, "f")
		f, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := NewConcurrentWriter(f)
		if c.dir == memory && w.unmapped {
			t.Errorf("%s: no mappings", c.name)
		}
		tasks.Each(len(order), 4, func(_, i int) {
			from, to := cuts[order[i]], cuts[order[i]+1]
			if !c.mapped {
				if n, err := w.WriteAt(want[from:to], int64(from)); n != to-from || err != nil {
					t.Errorf("%s: %d bytes at %d: %d, %v", c.name, to-from, from, n, err)
				}
				return
			}
			w.mu.Lock()
			w.end = max(w.end, int64(to))
			w.mu.Unlock()
			if done, err := w.writeMapped(want[from:to], int64(from)); !done || err != nil {
				t.Errorf("%s: %d bytes at %d: %v, %v", c.name, to-from, from, done, err)
			}
		})
		if err := errors.Join(w.Finish(), f.Close()); err != nil {
			t.Error(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d other bytes than the %d written: %v", c.name, len(got), len(want), err)
		}
		os.Remove(path)
	}
}

// TestConcurrentWriterFull: where there is no room for a mapping, the write says so, and the process lives.
func TestConcurrentWriterFull(t *testing.T) {
	f, err := Create(filepath.Join(inMemory(t, "4m"), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := NewConcurrentWriter(f)
	p := bytes.Repeat([]byte("x"), 3<<20)
	w.end = int64(len(p))
	if done, err := w.writeMapped(p, 0); !done || err != nil {
		t.Fatalf("%v, %v", done, err)
	}
	if done, err := w.writeMapped(p, int64(len(p))); done || err != nil {
		t.Errorf("without room: %v, %v", done, err)
	}
	if !w.unmapped {
		t.Error("mappings are used further")
	}
	if _, err := w.WriteAt(p, int64(len(p))); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
}

// TestConcurrentWriterFault: an error that a test injects is returned by whichever way bytes are written.
func TestConcurrentWriterFault(t *testing.T) {
	f, err := Create(filepath.Join(inMemory(t, "4m"), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := NewConcurrentWriter(f)
	w.writing.Lock() // of a goroutine that writes
	if _, err := w.WriteAt(make([]byte, 100), 0); err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{"pwrite", "ftruncate"} {
		Fault = func(c, _ string) error {
			if c == call {
				return syscall.EIO
			}
			return nil
		}
		_, err := w.WriteAt(make([]byte, 100), 50)
		if call == "ftruncate" && err == nil {
			err = w.Finish()
		}
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", call, err)
		}
		Fault = nil
	}
	if err := w.Finish(); err != nil {
		t.Error(err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != 150 {
		t.Errorf("%v, %v", info, err)
	}
}
