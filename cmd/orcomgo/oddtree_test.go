package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"orcomgo/binning/samples"
	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/internal/testrun"
)

// oddTree makes a directory of entries of every kind, with reads or without, and returns its path.
func oddTree(t *testing.T, reads bool) string {
	t.Helper()
	dir := filepath.Join(memoryDir(t), "run")
	for _, d := range []string{"Data", "Data/empty"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	put(t, dir, map[string][]byte{"log.txt": []byte("one\ntwo\n"), "Data/a.xml": []byte("<a/>\n"), "Data/x.bin": {0, 1, 2}, "\xff": nil})
	if reads {
		put(t, dir, map[string][]byte{"x.fastq": []byte("@r\nACGT\n+\nIIII\n")})
	}
	if err := errors.Join(os.Symlink("..", filepath.Join(dir, "Data/up")), os.Link(filepath.Join(dir, "log.txt"), filepath.Join(dir, "z.txt")),
		os.Chmod(filepath.Join(dir, "Data"), 0o2750), os.Chtimes(filepath.Join(dir, "Data"), putTime, putTime)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// treesDiffer says how two directories differ: in names, modes, times, links or bytes; "" if in nothing.
func treesDiffer(t *testing.T, got, want string) string {
	t.Helper()
	a, errA := listing(got)
	b, errB := listing(want)
	if errA != nil || errB != nil {
		return fmt.Sprint(errA, errB)
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] + "is not " + b[i]
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d entries, not %d", len(a), len(b))
	}
	err := filepath.WalkDir(want, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, _ := filepath.Rel(want, path)
		x, errX := os.ReadFile(path)
		y, errY := os.ReadFile(filepath.Join(got, name))
		if errX != nil || errY != nil || !bytes.Equal(x, y) {
			return fmt.Errorf("%s differs: %v, %v", name, errX, errY)
		}
		return nil
	})
	if err != nil {
		return err.Error()
	}
	return ""
}

// TestSocket: what has no content is named, and the rest of the directory is archived.
func TestSocket(t *testing.T) {
	dir := oddTree(t, false)
	out := filepath.Join(filepath.Dir(dir), "out")
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	status, errText := runHere("archive", dir, out)
	if want := "orcomgo: " + filepath.Join(dir, "s") + ": a socket can't be archived"; status != 1 || !strings.Contains(errText, want) {
		t.Errorf("status %d, expected %q: %s", status, want, errText)
	}
	mustRun(t, "archive", "--exclude", "s", dir, out)
	back := filepath.Join(filepath.Dir(dir), "back")
	mustRun(t, "unpack", "--quiet", out, "-o", back)
	if err := os.Remove(filepath.Join(dir, "s")); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "archive", dir, out)
}

// TestForceKeepsUnreadable: a side archive is not replaced by --force, if it holds what can't be read now.
func TestForceKeepsUnreadable(t *testing.T) {
	for _, c := range []struct {
		call, path string
		kept       bool
	}{{"open", "x.fastq", true}, {"readdir", "Data", true}, {"lstat", "log.txt", true}, {"open", "more", false}} {
		dir := oddTree(t, true)
		out := filepath.Join(filepath.Dir(dir), "out")
		mustRun(t, "archive", "--quiet", dir, out)
		side := filepath.Join(out, filepath.Base(dir)+".ctree")
		before, err := os.ReadFile(side)
		if err != nil {
			t.Fatal(err)
		}
		put(t, dir, map[string][]byte{"more": []byte("more"), "and": []byte("another")})
		path := filepath.Join(dir, c.path)
		vfs.Fault = func(call, at string) error {
			if call == c.call && at == path {
				return syscall.EIO
			}
			return nil
		}
		status, errs := runHere("archive", "--quiet", "--force", dir, out)
		vfs.Fault = nil
		after, err := os.ReadFile(side)
		if err != nil {
			t.Fatal(err)
		}
		if kept := strings.Contains(errs, side+" is kept, since not everything of "+dir+" can be read now: "); status != exitFailure ||
			kept != c.kept || bytes.Equal(before, after) != c.kept {
			t.Errorf("%s of %s: status %d: %s", c.call, c.path, status, errs)
		}
		mustRun(t, "verify", "--quiet", out)
	}
}

// TestUnreadable: what can't be read is named, and the rest is archived.
func TestUnreadable(t *testing.T) {
	for _, c := range []struct{ call, path string }{{"open", "Data/a.xml"}, {"open", "x.fastq"},
		{"readdir", "Data/empty"}, {"lstat", "log.txt"}} {
		dir := oddTree(t, true)
		out, back := filepath.Join(filepath.Dir(dir), "out"), filepath.Join(filepath.Dir(dir), "back")
		path := filepath.Join(dir, c.path)
		vfs.Fault = func(call, at string) error {
			if call == c.call && at == path {
				return syscall.EACCES
			}
			return nil
		}
		status, errText := runHere("archive", "--quiet", dir, out)
		vfs.Fault = nil
		if want := "orcomgo: " + path + ": permission denied\n"; status != 1 || !strings.Contains(errText, want) {
			t.Errorf("%s of %s: status %d, expected %q: %s", c.call, c.path, status, want, errText)
		}
		mustRun(t, "unpack", "--quiet", out, "-o", back)
		if _, err := os.Stat(filepath.Join(back, "Data/x.bin")); err != nil {
			t.Error(err)
		}
		// When it can be read, it is added.
		mustRun(t, "archive", "--quiet", dir, out)
		mustRun(t, "unpack", "--quiet", out, "-o", back+"2")
		if d := treesDiffer(t, back+"2", dir); d != "" {
			t.Errorf("%s of %s: %s", c.call, c.path, d)
		}
	}
}

// TestChangedTree: a file that changes between the scan and the end of reading is named, and there is no side archive. Samples are there.
func TestChangedTree(t *testing.T) {
	for name, c := range map[string]struct {
		change func(path string) error
		want   string
	}{
		"longer": {func(path string) error { return os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o666) }, "changed while it was read"},
		"other":  {func(path string) error { return os.WriteFile(path, []byte("one\nTWO\n"), 0o666) }, "changed while it was read"},
		"gone":   {os.Remove, "no such file"},
		"a directory": {func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o777)) },
			"changed while it was read: it "},
	} {
		// The scan opens it once and reads it twice, up to its end; then a sample of it is read.
		for at, before := range map[string]int{"stat": 0, "open": 1, "read": 3} {
			dir := oddTree(t, true)
			out, path := filepath.Join(filepath.Dir(dir), "out"), filepath.Join(dir, "log.txt")
			calls, changed := 0, false
			vfs.Fault = func(call, of string) error {
				if call != at || of != path || changed {
					return nil
				}
				if calls++; calls <= before {
					return nil
				}
				changed = true
				return c.change(path)
			}
			status, errText := runHere("archive", "--quiet", dir, out)
			vfs.Fault = nil
			if at == "read" && name != "longer" && name != "other" {
				continue // what is open can be read
			}
			if at == "stat" && (name == "longer" || name == "other") { // before the file is described
				if status != 0 {
					t.Errorf("%s at %s: %s", name, at, errText)
				}
				continue
			}
			if status != 1 || !strings.Contains(errText, "log.txt: ") || !strings.Contains(errText, c.want) {
				t.Errorf("%s at %s: status %d, %s", name, at, status, errText)
			}
			if trees, err := commit.FindTrees(out); len(trees) > 0 || err != nil {
				t.Errorf("%s at %s: a side archive, %v", name, at, err)
			}
			verifyReads(t, out)
		}
	}
}

// eachFault runs a command with each call of the file system failing in turn, in a fresh directory that prepare makes. It returns how
// many calls there are.
func eachFault(t *testing.T, prepare func() []string, check func(status int, errText, what string)) (n int) {
	t.Helper()
	for ; ; n += testrun.Pick(2, 2, 1) {
		args := prepare()
		var mu sync.Mutex
		calls, what := 0, ""
		vfs.Fault = func(call, path string) error {
			mu.Lock()
			defer mu.Unlock()
			if calls++; calls == n+1 {
				what = call + " of " + path
				return syscall.EIO
			}
			return nil
		}
		status, errText := runHere(args...)
		vfs.Fault = nil
		if check(status, errText, what); what == "" {
			return n
		}
	}
}

// TestTreeFaults: whatever call of the file system fails, a side archive is whole or not there, and a restored file is right or not there.
func TestTreeFaults(t *testing.T) {
	dir := oddTree(t, false)
	base := filepath.Dir(dir)
	run := 0
	out := ""
	n := eachFault(t, func() []string {
		run++
		out = filepath.Join(base, fmt.Sprint("out", run))
		return []string{"archive", "--quiet", dir, out}
	}, func(status int, errText, what string) {
		defer os.RemoveAll(out)
		trees, err := commit.FindTrees(out)
		if err != nil || status == 0 && len(trees) != 1 {
			t.Errorf("%s: status %d, %d side archives, %v", what, status, len(trees), err)
		}
		if status != 0 && !strings.HasPrefix(errText, "orcomgo: ") {
			t.Errorf("%s: %s", what, errText)
		}
		if len(trees) == 1 {
			mustRun(t, "verify", "--quiet", out)
		}
		mustRun(t, "archive", "--quiet", dir, out)
	})
	if n < 30 {
		t.Errorf("only %d calls", n)
	}
	dir = oddTree(t, true)
	base = filepath.Dir(dir)
	archived := filepath.Join(base, "archived")
	mustRun(t, "archive", "--quiet", dir, archived)
	n = eachFault(t, func() []string {
		run++
		out = filepath.Join(base, fmt.Sprint("back", run))
		return []string{"unpack", "--quiet", archived, "-o", out}
	}, func(status int, errText, what string) {
		defer os.RemoveAll(out)
		if status == 0 && errText == "" {
			if d := treesDiffer(t, out, dir); d != "" && !strings.HasPrefix(what, "utimens") {
				t.Errorf("%s: status 0, and %s", what, d)
			}
			return
		}
		err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			name, _ := filepath.Rel(out, path)
			got, _ := os.ReadFile(path)
			if want, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
				return fmt.Errorf("%s is not right: %v", name, err)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", what, err)
		}
	})
	if n < 60 {
		t.Errorf("only %d calls", n)
	}
}

// TestHardLinkToNothing: a hard link whose first name is not archived is an error that names both, not a link to another file.
func TestHardLinkToNothing(t *testing.T) {
	dir := oddTree(t, false)
	tree, err := samples.Scan(dir, samples.Options{})
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for i := range tree.Files {
		if f := &tree.Files[i]; f.Class == samples.HardLink {
			f.Target = "gone.txt"
			links++
		}
	}
	_, _, err = (&batch{}).listing(tree, nil)
	const want = "z.txt: it is a hard link to gone.txt, which is not archived"
	if links != 1 || err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%d hard links, error %v, want %q", links, err, want)
	}
}

// TestManyEntries: many entries in directories of all depths come back, ten thousand with ORCOMGO_LONG.
func TestManyEntries(t *testing.T) {
	n := 1000
	if testrun.Long() {
		n = 10_000
	}
	dir := filepath.Join(memoryDir(t), "run")
	path := dir
	for i := range n {
		if i%100 == 0 {
			if path = dir; i%500 != 0 {
				path = filepath.Join(path, fmt.Sprintf("d%d/e", i/500))
			}
			path = filepath.Join(path, fmt.Sprintf("%d", i))
			if err := os.MkdirAll(path, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(path, fmt.Sprintf("%05d\x80.log", i))
		if err := os.WriteFile(file, []byte(strings.Repeat("x", i%7)), 0o600|fs.FileMode(i%64)); err != nil {
			t.Fatal(err)
		}
	}
	base := filepath.Dir(dir)
	mustRun(t, "archive", "--quiet", dir, filepath.Join(base, "out"))
	mustRun(t, "unpack", "--quiet", filepath.Join(base, "out"), "-o", filepath.Join(base, "back"))
	if d := treesDiffer(t, filepath.Join(base, "back"), dir); d != "" {
		t.Error(d)
	}
}

// TestRunFolder archives and restores the side files of a run, and compares their size with that of tar | xz -9e.
func TestRunFolder(t *testing.T) {
	testrun.OnlyLong(t)
	data := testrun.Data(t)
	dir := filepath.Join(data, "runfolder")
	if _, err := os.Stat(dir); err != nil {
		t.Skip(err)
	}
	base := t.TempDir()
	out, back := filepath.Join(base, "out"), filepath.Join(base, "back")
	mustRun(t, "archive", "--quiet", dir, out)
	mustRun(t, "verify", "--quiet", out)
	mustRun(t, "unpack", "--quiet", out, "-o", back)
	if d := treesDiffer(t, back, dir); d != "" {
		t.Error(d)
	}
	info, err := os.Stat(filepath.Join(out, "runfolder.ctree"))
	if err != nil {
		t.Fatal(err)
	}
	const xz = 8123336
	t.Logf("%d bytes, %.3f of xz -9e", info.Size(), float64(info.Size())/xz)
	if info.Size() > xz*85/100 {
		t.Errorf("%d bytes, at most %d expected", info.Size(), xz*85/100)
	}
}
