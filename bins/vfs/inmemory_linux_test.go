package vfs

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestWriteInMemory: what several goroutines write side by side is in the file, and what was there already stays.
func TestWriteInMemory(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "orcomgo-test-")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "f")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !inMemory(f.f) {
		t.Skip("/dev/shm is no tmpfs")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	want := make([]byte, 3_000_000)
	for i := range want {
		want[i] = byte(rng.Uint32())
	}
	if _, err := f.WriteAt(want[:10_000], 0); err != nil {
		t.Fatal(err)
	}
	var lock sync.Mutex
	var wg sync.WaitGroup
	for at := 10_000; at < len(want); {
		from := at
		at = min(at+1+rng.IntN(200_000), len(want))
		part := want[from:at]
		wg.Go(func() {
			if err := f.WriteInMemory(part, int64(from), &lock); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d, or others: %v", len(got), len(want), err)
	}
	readOnly, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	if err := readOnly.WriteInMemory(want[:10], 5, &lock); err == nil || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("writing a file that is open for reading: %v", err)
	}
}
