//go:build unix

package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orcomgo/internal/tasks"
	"orcomgo/internal/testrun"
)

// TestReadMapped: where the memory of a file can't be read, an error says so, in whatever goroutine it is read.
func TestReadMapped(t *testing.T) {
	testrun.NotEmulated(t, "nothing says at which address reading failed")
	path := filepath.Join(t.TempDir(), "f")
	const size = 1 << 20
	if err := os.WriteFile(path, make([]byte, size), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := OpenRegular(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, unmap, err := f.Map(size)
	if err != nil {
		t.Fatal(err)
	}
	defer unmap()
	sums := make([]int, 4)
	read := func() error {
		tasks.Each(len(sums), len(sums), func(_, i int) {
			for _, b := range data[i*size/len(sums):][:size/len(sums)] {
				sums[i] += int(b)
			}
		})
		return nil
	}
	if err := ReadMapped(path, read); err != nil {
		t.Error(err)
	}
	if err := os.Truncate(path, 1); err != nil {
		t.Fatal(err)
	}
	if err := ReadMapped(path, read); err == nil || !strings.HasPrefix(err.Error(), path+": it can't be read any more") {
		t.Errorf("%v", err)
	}
	other := errors.New("other")
	if err := ReadMapped(path, func() error { return other }); err != other {
		t.Error(err)
	}
}

// TestOpenRegular: opening what is not a regular file is an error, and does not wait.
func TestOpenRegular(t *testing.T) {
	dir := t.TempDir()
	fifo, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "link")
	if err := errors.Join(syscall.Mkfifo(fifo, 0o666), os.Symlink("fifo", link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, fifo, link, "/dev/null"} {
		if f, err := OpenRegular(path); !errors.Is(err, ErrNotRegular) || err.Error() != path+": it is not a regular file" {
			t.Errorf("%s: %v, %v", path, f, err)
		}
	}
	if _, err := OpenRegular(filepath.Join(dir, "x")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := ReadFile(link); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
}
