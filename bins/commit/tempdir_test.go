//go:build unix

package commit

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTempDir: what a killed command left is removed by the next one, and nothing else is.
func TestTempDir(t *testing.T) {
	parent := t.TempDir()
	const prefix = "orcomgo-plan-"
	marks := map[string]string{"1": "", "2": "temporary directory of orcomgo on another\n", "notes": markText(), "3": markText()}
	for name, mark := range marks {
		dir := filepath.Join(parent, prefix+name)
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.WriteFile(filepath.Join(dir, markName), []byte(mark), 0o666),
			os.WriteFile(filepath.Join(dir, "x"), nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(parent, prefix+"4"), 0o777); err != nil {
		t.Fatal(err)
	}
	used, err := NewTempDir(parent, prefix)
	if err != nil {
		t.Fatal(err)
	}
	killed, err := NewTempDir(parent, prefix)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(killed.Path, "part"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	killed.mark.Close() // as the system does
	next, err := NewTempDir(parent, prefix)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Base(used.Path), filepath.Base(next.Path)}
	for _, name := range []string{"1", "2", "4", "notes"} {
		want = append(want, prefix+name)
	}
	slices.Sort(want)
	list := func() (names []string) {
		entries, err := os.ReadDir(parent)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if got := list(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := next.Remove(); err != nil {
		t.Error(err)
	}
	if err := used.Remove(); err != nil {
		t.Error(err)
	}
	if got := list(); len(got) != 4 {
		t.Errorf("%v are left", got)
	}
	if _, err := NewTempDir(filepath.Join(parent, "missing"), prefix); err == nil {
		t.Error("no error")
	}
}

// TestTempDirPlace: an error says where the directory could not be made.
func TestTempDirPlace(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "missing")
	want := parent + ": a directory for temporary files can't be made: no such file or directory"
	if _, err := NewTempDir(parent, "orcomgo-"); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	t.Setenv("TMPDIR", parent)
	if _, err := NewTempDir("", "orcomgo-"); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}
