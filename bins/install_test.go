package bins

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orcomgo/bins/record"

	"orcomgo/bins/commit"
	"orcomgo/internal/testrun"
)

// tiny makes an archive of one block whose content depends on the seed.
func tiny(seed int64, records int) *archive {
	b, reads := sample(rand.New(rand.NewSource(seed)), 0, 0, records, false)
	return &archive{[]*Block{b}, [][][]byte{reads}}
}

// idOf returns the ID of the archive in dir after reading all of it.
func idOf(t *testing.T, dir string) [16]byte {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.Meta().ID
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestEveryMoment builds the directory as it is after each step of replacing an archive, or of
// writing a first one: what then opens is the old archive before the commit point and the new
// one after it. Reading leaves the directory as it is; the next writer tidies up.
func TestEveryMoment(t *testing.T) {
	oldDir, newDir := t.TempDir(), t.TempDir()
	tiny(1, 50).write(t, oldDir, "x", false, 1)
	tiny(2, 60).write(t, newDir, "x", false, 1)
	oldID, newID := idOf(t, oldDir), idOf(t, newDir)
	get := func(dir, ext string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, "x"+ext))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	pending := fmt.Sprintf("x.bdna.%x", newID)
	type file struct {
		name string
		dir  string // whose content it has
		ext  string
	}
	oldData, oldMeta := file{"x.bdna", oldDir, ".bdna"}, file{"x.bmeta", oldDir, ".bmeta"}
	newMeta, newPending, newData := file{"x.bmeta", newDir, ".bmeta"}, file{pending, newDir, ".bdna"}, file{"x.bdna", newDir, ".bdna"}
	temp := file{".orcomgo-00112233445566778899aabb.tmp", newDir, ".bdna"}
	for _, m := range []struct {
		name  string
		files []file
		want  *[16]byte // nil: no archive
	}{
		{"replace: a temporary file", []file{oldData, oldMeta, temp}, &oldID},
		{"replace: data pending", []file{oldData, oldMeta, newPending}, &oldID},
		{"replace: committed", []file{oldData, newMeta, newPending}, &newID},
		{"replace: done", []file{newData, newMeta}, &newID},
		{"first: a temporary file", []file{temp}, nil},
		{"first: data pending", []file{newPending}, nil},
		{"first: committed", []file{newPending, newMeta}, &newID},
		{"first: done", []file{newData, newMeta}, &newID},
	} {
		for _, by := range []string{"Open", "Create", "Create with force"} {
			t.Run(m.name+"/"+by, func(t *testing.T) {
				dir := t.TempDir()
				for _, f := range m.files {
					if err := os.WriteFile(filepath.Join(dir, f.name), get(f.dir, f.ext), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				before := names(t, dir)
				if m.want == nil {
					if _, err := Open(dir); !errors.Is(err, commit.ErrNotArchive) {
						t.Errorf("Open: %v", err)
					}
				} else if got := idOf(t, dir); got != *m.want {
					t.Error("it is the other archive")
				}
				if got := names(t, dir); !slices.Equal(got, before) {
					t.Errorf("Open changed %v to %v", before, got)
				}
				if by == "Open" {
					return
				}
				w, err := Create(dir, "x", commit.Forced(by == "Create with force", nil))
				if exists := m.want != nil && by == "Create"; exists != errors.Is(err, commit.ErrExists) || !exists && err != nil {
					t.Fatalf("Create: %v", err)
				}
				want := []string{"x.bdna", "x.bmeta"}
				if m.want == nil {
					want = nil
				}
				if w != nil {
					w.Abort()
					if got := names(t, dir); !slices.Equal(got, want) {
						t.Errorf("after Abort: %v", got)
					}
				}
				if m.want != nil && idOf(t, dir) != *m.want {
					t.Error("then it is the other archive")
				}
			})
		}
	}
}

// TestPendingOfOthers: what looks like the leftover of an interrupted commit, but is not by its
// content, stays.
func TestPendingOfOthers(t *testing.T) {
	dir := t.TempDir()
	name := fmt.Sprintf("x.bdna.%x", [16]byte{1, 2, 3})
	if err := os.WriteFile(filepath.Join(dir, name), []byte("precious"), 0o666); err != nil {
		t.Fatal(err)
	}
	tiny(1, 50).write(t, dir, "x", false, 1)
	if got := names(t, dir); !slices.Equal(got, []string{"x.bdna", name, "x.bmeta"}) {
		t.Errorf("%v", got)
	}
}

// TestSideBySide: archives of different names can be written to one directory at once, and
// of two of one name the second to commit is refused.
func TestSideBySide(t *testing.T) {
	dir := t.TempDir()
	var writers []*Writer
	for _, name := range []string{"a", "b", "a"} {
		w, err := Create(dir, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		writers = append(writers, w)
	}
	for i, w := range writers {
		err := w.Commit(sampleOptions, []record.Input{{Name: "x", Mate: -1}})
		if i < 2 && err != nil || i == 2 && !errors.Is(err, commit.ErrExists) {
			t.Errorf("writer %d: %v", i, err)
		}
	}
	if got := names(t, dir); !slices.Equal(got, []string{"a.bdna", "a.bmeta", "b.bdna", "b.bmeta"}) {
		t.Errorf("%v", got)
	}
	if _, err := Open(dir); !errors.Is(err, commit.ErrSeveral) {
		t.Errorf("Open: %v", err)
	}
	for _, path := range []string{"a", "b", "b.bmeta", "a.bdna"} {
		r, err := Open(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if want := path[:1]; r.Name() != want {
			t.Errorf("%s is %s", path, r.Name())
		}
		r.Close()
	}
}

// TestReaderLock: one process at a time may pack bins.
func TestReaderLock(t *testing.T) {
	dir := t.TempDir()
	tiny(1, 50).write(t, dir, "x", false, 1)
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := a.Lock(); err != nil {
		t.Fatal(err)
	}
	if err := b.Lock(); !errors.Is(err, commit.ErrBusy) {
		t.Errorf("a second lock: %v", err)
	}
	a.Close()
	if err := b.Lock(); err != nil {
		t.Errorf("after the first is closed: %v", err)
	}
}

// TestRemoveReplaced: a reader removes the bins that it has read, not those that took their place.
func TestRemoveReplaced(t *testing.T) {
	dir := t.TempDir()
	tiny(1, 50).write(t, dir, "x", false, 1)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tiny(2, 60).write(t, dir, "x", true, 1)
	want := idOf(t, dir)
	if err := r.Remove(); err != nil {
		t.Fatal(err)
	}
	if got := idOf(t, dir); got != want {
		t.Error("it is the other archive")
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"", "..", "a/b", "/", "a\x00b"} {
		if w, err := Create(dir, name, nil); err == nil {
			w.Abort()
			t.Errorf("Create(%q) succeeds", name)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if w, err := Create(file, "a", nil); err == nil {
		w.Abort()
		t.Error("Create in a file succeeds")
	}
	// Other people's files are never replaced, whatever force says.
	for _, ext := range []string{".bdna", ".bmeta", ".cdna", ".cmeta"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a"+ext), []byte("precious"), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, force := range []bool{false, true} {
			if _, err := Create(dir, "a", commit.Forced(force, nil)); !errors.Is(err, commit.ErrForeign) {
				t.Errorf("over a%s: %v", ext, err)
			}
		}
		if got := names(t, dir); !slices.Equal(got, []string{"a" + ext}) {
			t.Errorf("%v", got)
		}
	}
	// A packed archive of that name counts.
	if err := os.WriteFile(filepath.Join(dir, "a.cmeta"), []byte(commit.PackedMetaMagic), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, "a", nil); !errors.Is(err, commit.ErrExists) {
		t.Errorf("over a packed archive: %v", err)
	}
}

// TestCommitFails: a writer that can't finish leaves nothing.
func TestCommitFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	w, err := Create(dir, "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.meta.f.file.Close() // as good as a full disk
	if err := w.Commit(sampleOptions, sampleInputs()); err == nil {
		t.Error("Commit succeeds")
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is there: %v", err)
	}
}

const killedEnv = "ORCOMGO_TEST_KILLED"

// TestMain lets the test binary be the program that TestKilled kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv(killedEnv); dir != "" {
		replaceForever(dir)
	}
	os.Exit(m.Run())
}

// replaceForever writes archives over one another, each under one of two names.
func replaceForever(dir string) {
	fail := func(err error) {
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
	}
	blocks := []*Block{tiny(1, 2000).blocks[0], tiny(2, 2000).blocks[0]}
	fmt.Println("started")
	var e Encoded
	for i := 0; ; i++ {
		w, err := Create(dir, "name", commit.Forced(true, nil))
		fail(err)
		fail(EncodeBlock(&e, clone(blocks[i%2]), side(1)))
		fail(writeBlock(w, &e))
		fail(w.Commit(sampleOptions, sampleInputs()))
	}
}

// TestKilled kills a writer at random moments: a whole archive is there every time.
func TestKilled(t *testing.T) {
	testrun.NotEmulated(t, "a program can't start itself")
	ids := make(map[[16]byte]bool)
	for seed := range int64(2) {
		dir := t.TempDir()
		tiny(seed+1, 2000).write(t, dir, "name", false, 1)
		ids[idOf(t, dir)] = true
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	tiny(1, 2000).write(t, dir, "name", false, 1)
	rng := rand.New(rand.NewSource(time.Now().UnixNano()))
	leftovers := 0
	for range 30 {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), killedEnv+"="+dir)
		var out bytes.Buffer
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		one := make([]byte, 6)
		if _, err := stdout.Read(one); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.Intn(30_000)) * time.Microsecond)
		cmd.Process.Kill()
		out.ReadFrom(stdout)
		cmd.Wait()
		if s := out.String(); strings.Contains(s, "failed") {
			t.Fatal(s)
		}
		if len(names(t, dir)) != 2 {
			leftovers++
		}
		if !ids[idOf(t, dir)] {
			t.Fatal("the archive is neither")
		}
	}
	w, err := Create(dir, "name", commit.Forced(true, nil))
	if err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("left: %v", got)
	}
	t.Logf("%d of 30 left something for the next run to clear away", leftovers)
}
