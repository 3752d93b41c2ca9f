package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"orcomgo/internal/largepages"
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

// needMappings skips a test where files are never written to by mappings.
func needMappings(t *testing.T) {
	t.Helper()
	if !followsAdvice() {
		t.Skip("the system does not say where there is no memory for a mapping")
	}
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
	memory := inMemory(t, "64m")
	for _, c := range []struct {
		name, dir string
		mapped    bool
		few       bool // large pages are not asked for
	}{
		{"at once", memory, false, false},
		{"mapped", memory, true, false},
		{"mapped, small pages", memory, true, true},
		{"disk", t.TempDir(), false, false},
	} {
		path := filepath.Join(c.dir, "f")
		f, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := NewConcurrentWriter(f)
		w.fewLargePages.Store(c.few)
		if c.dir == memory && w.unmapped == followsAdvice() {
			t.Errorf("%s: mappings are used: %v", c.name, !w.unmapped)
		}
		tasks.Each(len(order), 4, func(_, i int) {
			from, to := cuts[order[i]], cuts[order[i]+1]
			if !c.mapped || w.unmapped {
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
	needMappings(t)
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
	needMappings(t)
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

// TestConcurrentWriterLarge: large pages that what is written fills are large pages in memory.
func TestConcurrentWriterLarge(t *testing.T) {
	needMappings(t)
	dir := inMemory(t, "64m")
	f, err := Create(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 5 << 20
	w := NewConcurrentWriter(f)
	p := bytes.Repeat([]byte("12345"), size/5)
	w.end = 3*size + 1
	for _, at := range []int64{2*size + 1, 1, size + 1} {
		if done, err := w.writeMapped(p, at); !done || err != nil {
			t.Fatalf("write at %d: %v, %v", at, done, err)
		}
	}
	if w.fewLargePages.Load() {
		t.Skip("the system has no large pages for files, or gives them slowly")
	}
	// Bytes 1 to 5 MiB, to 10 MiB and to 15 MiB, each and one more, fill these.
	for i, want := range []bool{false, true, false, true, true, false, true} {
		if got := hasLargePage(t, f, int64(i)*largepages.Size); got != want {
			t.Errorf("page at %d MiB: large %v, want %v", 2*i, got, want)
		}
	}
	if err := w.Finish(); err != nil {
		t.Error(err)
	}
	got, err := os.ReadFile(f.Name())
	if err != nil || !bytes.Equal(got, append([]byte{0}, bytes.Repeat(p, 3)...)) {
		t.Errorf("%d other bytes were written: %v", len(got), err)
	}
}

// hasLargePage reports whether a file has a large page at an offset.
func hasLargePage(t *testing.T, f *File, at int64) bool {
	t.Helper()
	w, err := newWindow()
	if err != nil {
		t.Fatal(err)
	}
	defer w.free()
	m, _, err := w.show(f.f, at, largepages.Size)
	if err == nil {
		err = madvise(m, unix.MADV_POPULATE_READ)
	}
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	_, of, found := strings.Cut(string(maps), fmt.Sprintf("\n%x-", uintptr(w.begin)))
	_, mapped, _ := strings.Cut(of, "\nShmemPmdMapped:")
	if !found {
		t.Fatal("the mapping is not listed")
	}
	return strings.HasPrefix(strings.TrimLeft(mapped, " "), "2048 kB")
}

// TestConcurrentWriterFullLarge fills a file system with large and small pages, by several goroutines: a write that has no room says so,
// and the process lives.
func TestConcurrentWriterFullLarge(t *testing.T) {
	for _, few := range []bool{false, true} {
		dir := inMemory(t, "21m")
		f, err := Create(filepath.Join(dir, "f"))
		if err != nil {
			t.Fatal(err)
		}
		w := NewConcurrentWriter(f)
		w.fewLargePages.Store(few)
		const size = 3<<20 + 100
		p := bytes.Repeat([]byte("x"), size)
		var full atomic.Int32
		tasks.Each(9, 3, func(_, i int) {
			switch _, err := w.WriteAt(p, int64(i)*size); {
			case errors.Is(err, syscall.ENOSPC):
				full.Add(1)
			case err != nil:
				t.Error(err)
			}
		})
		if n := full.Load(); n < 3 {
			t.Errorf("%d of 9 writes had no room: 21 MiB have room for 6 of them", n)
		}
		if err := errors.Join(w.Finish(), f.Close(), Remove(f.Name())); err != nil {
			t.Error(err)
		}
		var free unix.Statfs_t
		if err := unix.Statfs(dir, &free); err != nil || free.Bfree != free.Blocks {
			t.Errorf("%d of %d blocks are free afterwards: %v", free.Bfree, free.Blocks, err)
		}
	}
}
