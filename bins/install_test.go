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
	"strconv"
	"strings"
	"testing"
	"time"
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

// TestEveryMoment builds the directory as it is after each step of replacing an archive,
// under the same and under another name: what then opens is the old archive before the
// commit point and the new one after it, and nothing else is left in the end.
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
	for _, oldName := range []string{"new", "old"} {
		oldFiles := map[string][]byte{oldName + ".bdna": get(oldDir, ".bdna"), oldName + ".bmeta": get(oldDir, ".bmeta")}
		moments := []struct {
			name      string
			old       []string
			data      string // what the new data file is called
			meta      string
			committed bool
		}{
			{"data written in part", []string{".bdna", ".bmeta"}, "new.bdna.tmp", "", false},
			{"both written", []string{".bdna", ".bmeta"}, "new.bdna.tmp", "new.bmeta.tmp", false},
			{"data renamed", []string{".bdna", ".bmeta"}, "new.bdna.new", "new.bmeta.tmp", false},
			{"committed", []string{".bdna", ".bmeta"}, "new.bdna.new", "new.bmeta.new", true},
			{"old data removed", []string{".bmeta"}, "new.bdna.new", "new.bmeta.new", true},
			{"old meta removed", []string{".bdna"}, "new.bdna.new", "new.bmeta.new", true},
			{"both removed", nil, "new.bdna.new", "new.bmeta.new", true},
			{"data in place", nil, "new.bdna", "new.bmeta.new", true},
			{"done", nil, "new.bdna", "new.bmeta", true},
		}
		for _, m := range moments {
			for _, by := range []string{"Open", "Create", "Create with force"} {
				t.Run(oldName+"/"+m.name+"/"+by, func(t *testing.T) {
					dir := t.TempDir()
					put := func(name string, data []byte) {
						if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
							t.Fatal(err)
						}
					}
					for _, ext := range m.old {
						put(oldName+ext, oldFiles[oldName+ext])
					}
					put(m.data, get(newDir, ".bdna"))
					if m.meta != "" {
						put(m.meta, get(newDir, ".bmeta"))
					}
					want, wantName := oldID, oldName
					if m.committed {
						want, wantName = newID, "new"
					}
					wantNames := []string{wantName + ".bdna", wantName + ".bmeta"}
					switch by {
					case "Create":
						if _, err := Create(dir, "y", false); !errors.Is(err, ErrExists) {
							t.Fatalf("Create: %v", err)
						}
					case "Create with force":
						w, err := Create(dir, "y", true)
						if err != nil {
							t.Fatal(err)
						}
						if got := names(t, dir); !slices.Equal(got, append(slices.Clone(wantNames), "y.bdna.tmp", "y.bmeta.tmp")) {
							t.Errorf("while writing: %v", got)
						}
						w.Abort()
						if got := names(t, dir); !slices.Equal(got, wantNames) {
							t.Errorf("after Abort: %v", got)
						}
					}
					if got := idOf(t, dir); got != want {
						t.Error("it is the other archive")
					}
				})
			}
		}
	}
}

// TestBusy: two writers in one directory would spoil each other's files.
func TestBusy(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, "a", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, "b", true); !errors.Is(err, ErrBusy) {
		t.Errorf("a second writer: %v", err)
	}
	w.Abort()
	if w, err = Create(dir, "b", false); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"", "..", "a/b", "/", "a\x00b"} {
		if w, err := Create(dir, name, false); err == nil {
			w.Abort()
			t.Errorf("Create(%q) succeeds", name)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if w, err := Create(file, "a", false); err == nil {
		w.Abort()
		t.Error("Create in a file succeeds")
	}
	// A packed archive is one as well.
	if err := os.WriteFile(filepath.Join(dir, "x.cmeta"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, "a", false); !errors.Is(err, ErrExists) {
		t.Errorf("over a packed archive: %v", err)
	}
}

// TestCommitFails: a writer that can't finish leaves nothing.
func TestCommitFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	w, err := Create(dir, "a", false)
	if err != nil {
		t.Fatal(err)
	}
	w.meta.f.Close() // as good as a full disk
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
	fmt.Println("begun")
	var e Encoded
	for i := 0; ; i++ {
		w, err := Create(dir, "name"+strconv.Itoa(i/2%2), true)
		fail(err)
		fail(EncodeBlock(&e, clone(blocks[i%2]), side(1)))
		fail(w.WriteBlock(&e))
		fail(w.Commit(sampleOptions, sampleInputs()))
	}
}

// TestKilled kills a writer at random moments: a whole archive is there every time.
func TestKilled(t *testing.T) {
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
	tiny(1, 2000).write(t, dir, "name0", false, 1)
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
	w, err := Create(dir, "last", true)
	if err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("left: %v", got)
	}
	t.Logf("%d of 30 left something for the next run to clear away", leftovers)
}
