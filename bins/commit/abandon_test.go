package commit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"orcomgo/internal/testrun"
)

// TestAbandon undoes what is not over, the last first, and leaves directories in which something is. It runs in a process of its own, as
// nothing is committed after Abandon.
func TestAbandon(t *testing.T) {
	if testrun.Emulated() {
		t.Skip("an emulated test can't start itself")
	}
	const variable = "ORCOMGO_ABANDON"
	dir := os.Getenv(variable)
	if dir == "" {
		dir = t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run", "^TestAbandon$")
		cmd.Env = append(os.Environ(), variable+"="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for name, want := range map[string]bool{"kept": true, "kept/file": true, "kept/empty": false, "empty": false} {
			if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != want {
				t.Errorf("%s: %v", name, err)
			}
		}
		return
	}
	for _, name := range []string{"kept/empty", "empty/below"} {
		if _, err := MakeDir(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "kept/file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	order := ""
	IfAbandoned(func() { order += "a" })
	over := IfAbandoned(func() { order += "b" })
	IfAbandoned(func() { order += "c" })
	over()
	unlock, _, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	time.AfterFunc(100*time.Millisecond, unlock)
	Abandon(time.Minute)
	if took := time.Since(began); order != "ca" || took < 100*time.Millisecond || took > 30*time.Second {
		t.Errorf("%q in %s", order, took)
	}
}
