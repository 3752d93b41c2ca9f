package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTimes: times are set to the nanosecond, also those that 64 bits of nanoseconds can't count.
func TestTimes(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(path, nil, 0o666), os.Symlink("file", link)); err != nil {
		t.Fatal(err)
	}
	f, err := OpenRegular(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, at := range []time.Time{
		time.Unix(0, 1), time.Date(1960, 5, 1, 0, 0, 0, 123456789, time.UTC), time.Date(2400, 5, 1, 0, 0, 0, 7, time.UTC),
	} {
		for name, set := range map[string]func() error{
			"SetTime":      func() error { return SetTime(path, at) },
			"SetLinkTime":  func() error { return SetLinkTime(link, at) },
			"File.SetTime": func() error { return f.SetTime(at) },
		} {
			of := path
			if name == "SetLinkTime" {
				of = link
			}
			if err := errors.Join(SetTime(path, time.Unix(9, 9)), set()); err != nil {
				t.Error(err)
			}
			if info, err := os.Lstat(of); err != nil || !info.ModTime().Equal(at) {
				t.Errorf("%s: %v, want %v", name, info.ModTime(), at)
			}
		}
	}
}
