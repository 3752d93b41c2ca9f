package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/internal/testrun"
)

// world is the data that the scenarios share.
type world struct {
	a, b, old []byte            // texts of two inputs, and of an archive to be replaced
	binned    map[string][]byte // the archive of a.fastq and b.fastq
	packed    map[string][]byte
	oldPacked map[string][]byte // the packed archive of old.fastq, under the same name
	foreign   map[string][]byte // files of others, one of them an archive

	index, oldIndex []byte // of packed and oldPacked
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	r1, r2 := simulated(t, dir, 40)
	w := &world{foreign: map[string][]byte{
		"human.cdna": []byte(">x\nACGT\n"), "run.cdna.tmp": []byte("t"), "run.cmeta.new": []byte("n"),
		".orcomgo-0.tmp": []byte("o"), "note": []byte("mine"),
	}}
	make := func(name string, texts map[string][]byte, pack bool) map[string][]byte {
		in := filepath.Join(dir, name)
		if err := os.Mkdir(in, 0o777); err != nil {
			t.Fatal(err)
		}
		put(t, in, texts)
		args := []string{"bin", "--quiet", "--block-size", "4KB", filepath.Join(in, "run.fastq")}
		if texts["b.fastq"] != nil {
			args = append(args, filepath.Join(in, "b.fastq"))
		}
		out := filepath.Join(dir, name+".out")
		mustRun(t, append(args, out)...)
		if pack {
			mustRun(t, "pack", "--quiet", out)
		}
		return contents(t, out)
	}
	var err error
	if w.a, err = os.ReadFile(r1); err != nil {
		t.Fatal(err)
	}
	if w.b, err = os.ReadFile(r2); err != nil {
		t.Fatal(err)
	}
	w.old = w.b[:len(w.b)/2]
	w.old = w.old[:bytes.LastIndex(w.old, []byte("\n@"))+1]
	inputs := map[string][]byte{"run.fastq": w.a, "b.fastq": w.b}
	w.binned, w.packed = make("binned", inputs, false), make("packed", inputs, true)
	w.oldPacked = make("old", map[string][]byte{"run.fastq": w.old}, true)
	index := func(files map[string][]byte) []byte {
		dir := t.TempDir()
		put(t, dir, files)
		mustRun(t, "index", "--quiet", dir)
		return contents(t, dir)["run.cfm"]
	}
	w.index, w.oldIndex = index(w.packed), index(w.oldPacked)
	for name, b := range w.packed {
		w.foreign["other"+filepath.Ext(name)] = b
	}
	return w
}

// putTime is the time of the files of put, which archives record.
var putTime = time.Unix(1_600_000_000, 0)

// put writes files.
func put(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, b := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, b, 0o666), os.Chtimes(path, putTime, putTime)); err != nil {
			t.Fatal(err)
		}
	}
}

// restored returns what unpack gives of the archive run in dir; nil if there is no archive.
func restored(t *testing.T, dir string) (map[string][]byte, error) {
	t.Helper()
	if _, err := commit.One(filepath.Join(dir, "run")); err != nil {
		if strings.Contains(err.Error(), "not an archive") {
			return nil, nil
		}
		return nil, err
	}
	out := memoryDir(t)
	if status, errs := runHere("unpack", "--quiet", filepath.Join(dir, "run"), "-o", out); status != 0 {
		return nil, fmt.Errorf("the archive can't be restored: %s", errs)
	}
	return contents(t, out), nil
}

func equal(got, want map[string][]byte) bool { return maps.EqualFunc(got, want, bytes.Equal) }

func (w *world) texts() map[string][]byte { return map[string][]byte{"run.fastq": w.a, "b.fastq": w.b} }

func (w *world) oldTexts() map[string][]byte {
	return map[string][]byte{"run.fastq": w.old}
}

// try runs a scenario by run, which returns the status, in a fresh directory, and checks what
// it did. It returns a line that says what is wrong, or "".
func (s *scenario) try(t *testing.T, w *world, run func(dir string) int) string {
	t.Helper()
	dir := memoryDir(t)
	defer os.RemoveAll(dir)
	s.prepare(t, w, dir)
	put(t, dir, w.foreign)
	before := contentsOfFiles(t, dir)
	status := run(dir)
	if err := w.foreignStay(t, dir); err != nil {
		return err.Error()
	}
	if s.name == "verify" {
		if after := contentsOfFiles(t, dir); !equal(after, before) {
			return "verify changed the directory"
		}
	}
	if err := s.check(t, w, dir, status); err != nil {
		return err.Error()
	}
	if err := w.foreignStay(t, dir); err != nil {
		return "afterwards: " + err.Error()
	}
	return ""
}

// foreignStay checks that the files of others are as they were, and that nothing but files of
// the command is new.
func (w *world) foreignStay(t *testing.T, dir string) error {
	now := contentsOfFiles(t, dir)
	for name, b := range w.foreign {
		if !bytes.Equal(now[name], b) {
			return fmt.Errorf("%s, which is somebody else's, changed or is gone", name)
		}
	}
	return nil
}

// contentsOfFiles is contents without the directories in dir.
func contentsOfFiles(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if e.Type().IsRegular() {
			if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	return files
}

// in makes paths of a scenario's arguments in dir.
func (s *scenario) in(dir string) []string {
	args := append([]string{}, s.args...)
	for i, a := range args {
		if a == "." || a == "run" || a == "out" || strings.HasSuffix(a, ".fastq") {
			args[i] = filepath.Join(dir, a)
		}
	}
	return args
}

// TestFaults makes each call of the file system that a command makes fail, one in each run,
// with one kind of error after another, or that call and all that follow: nothing is lost, and
// the exit status tells the truth. A second pass is made where files can't be made without a name.
func TestFaults(t *testing.T) {
	w := newWorld(t)
	type fault struct {
		kind    error
		forever bool
	}
	kinds := []fault{{syscall.EIO, false}, {syscall.ENOSPC, true}}
	long := testrun.Long()
	tried := 0
	for _, named := range []bool{false, true} {
		for i, s := range scenarios() {
			t.Run(fmt.Sprintf("%s/named=%v", s.name, named), func(t *testing.T) {
				// Of each two scenarios of archive, one has the bins in memory and the other in a file; the second pass swaps them.
				if inFile := (i%2 == 0) == named; inFile {
					testTuning = noneHeld
					defer func() { testTuning = tuning{} }()
				}
				// inject runs the command with the call at a given number failing, or also all
				// that follow; it returns how many calls there were.
				inject := func(at int64, kind error, forever bool) (calls int64, problem string) {
					var n atomic.Int64
					var failed atomic.Value
					problem = s.try(t, w, func(dir string) int {
						args := s.in(dir)
						vfs.Fault = func(call, path string) error {
							if named && call == "tmpfile" {
								return syscall.EOPNOTSUPP
							}
							i := n.Add(1)
							if i == at || forever && i > at && call != "unlink" {
								failed.CompareAndSwap(nil, call)
								return kind
							}
							return nil
						}
						status, errs := runHere(args...)
						vfs.Fault = nil
						if s.args[0] == "unpack" && failed.Load() == "futimens" && !forever && status == 0 {
							if !strings.Contains(errs, "note: the time of the original could not be set") {
								t.Errorf("call %d: no note of the time: %q", at, errs)
							}
							errs = ""
						}
						// unpack says in a line each which files are damaged.
						if (status == 0) != (errs == "") || status > 1 || s.args[0] != "unpack" && strings.Count(errs, "\n") > 1 {
							t.Errorf("call %d (%v): status %d, %q", at, failed.Load(), status, errs)
						}
						return status
					})
					if problem != "" {
						problem = fmt.Sprintf("call %d (%v: %v, forever %v): %s", at, failed.Load(), kind, forever, problem)
					}
					return n.Load(), problem
				}
				calls, problem := inject(0, nil, false)
				if problem != "" {
					t.Fatalf("without a fault: %s", problem)
				}
				for at := int64(1); at <= calls; at++ {
					for k, f := range kinds {
						// Every kind at every call takes minutes.
						every := int64(113)
						if s.args[0] == "archive" { // two steps, which are tried for themselves above
							every = 401
						}
						if !long && (at*7+int64(k))%every != 0 {
							continue
						}
						if _, problem := inject(at, f.kind, f.forever); problem != "" {
							t.Error(problem)
						}
						tried++
					}
				}
				t.Logf("%d calls", calls)
			})
		}
	}
	t.Logf("%d faults", tried)
}

// TestUnpackPartlyRestored: an error after the first file has its name says that it is restored.
func TestUnpackPartlyRestored(t *testing.T) {
	dir := t.TempDir()
	r1, r2 := simulated(t, dir, 20)
	run := filepath.Join(dir, "run")
	mustRun(t, "archive", "-q", "-1", r1, "-2", r2, run)
	for _, c := range []struct {
		call, file, want string
	}{
		{"link", "r2.fastq", "(the files before it are restored)"},
		{"syncdir", "", "(the files are restored, but a power cut now may lose them)"},
	} {
		out := filepath.Join(dir, c.call)
		if err := os.Mkdir(out, 0o777); err != nil {
			t.Fatal(err)
		}
		vfs.Fault = func(call, path string) error {
			if (call == c.call || c.call == "link" && call == "rename") && filepath.Clean(path) == filepath.Join(out, c.file) {
				return syscall.EIO
			}
			return nil
		}
		status, errs := runHere("unpack", "-q", run, "-o", out)
		vfs.Fault = nil
		if _, err := os.Stat(filepath.Join(out, "r1.fastq")); status != 1 || !strings.Contains(errs, c.want) || err != nil {
			t.Errorf("%s fails: status %d, %q, %v", c.call, status, errs, err)
		}
	}
}
