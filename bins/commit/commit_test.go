package commit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orcomgo/bins/vfs"
)

func list0(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func temp(t *testing.T, path, text string) *Temp {
	t.Helper()
	f, err := NewTemp(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	return f
}

// both runs a test with files that have no name until they are complete, and with files of
// random names, as on file systems that need these.
func both(t *testing.T, test func(t *testing.T)) {
	t.Run("unnamed", test)
	t.Run("random names", func(t *testing.T) {
		withoutUnnamed(t)
		test(t)
	})
}

func withoutUnnamed(t *testing.T) {
	vfs.Fault = func(call, path string) error {
		if call == "tmpfile" {
			return errors.ErrUnsupported
		}
		return nil
	}
	t.Cleanup(func() { vfs.Fault = nil })
}

func TestTemp(t *testing.T) {
	both(t, func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "x")
		f := temp(t, path, "first")
		for _, name := range list0(t, dir) {
			if !strings.HasPrefix(name, tempPrefix) || !strings.HasSuffix(name, tempSuffix) {
				t.Errorf("a file called %s", name)
			}
		}
		if err := f.Install(path, false); err != nil {
			t.Fatal(err)
		}
		f.Discard()

		// A name that is taken stays, unless told otherwise.
		f = temp(t, path, "second")
		if err := f.Install(path, false); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Install: %v", err)
		}
		if b, _ := os.ReadFile(path); string(b) != "first" {
			t.Errorf("content %q", b)
		}
		if err := f.Install(path, true); err != nil {
			t.Fatal(err)
		}
		f.Discard()
		if b, _ := os.ReadFile(path); string(b) != "second" {
			t.Errorf("content %q", b)
		}

		f = temp(t, path, "third")
		f.Discard()
		if got := list0(t, dir); !slices.Equal(got, []string{"x"}) {
			t.Errorf("left: %v", got)
		}
		// Nor does a directory or a link give way.
		if err := os.Mkdir(filepath.Join(dir, "d"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("nowhere", filepath.Join(dir, "l")); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name    string
			replace bool
		}{{"d", false}, {"d", true}, {"l", false}} {
			f := temp(t, filepath.Join(dir, c.name), "fourth")
			if err := f.Install(filepath.Join(dir, c.name), c.replace); err == nil {
				t.Errorf("%s was replaced", c.name)
			}
			f.Discard()
		}
		if got := list0(t, dir); !slices.Equal(got, []string{"d", "l", "x"}) {
			t.Errorf("left: %v", got)
		}
	})
}

// TestUnnamed: a file for the time that it is open has no name meanwhile.
func TestUnnamed(t *testing.T) {
	both(t, func(t *testing.T) {
		dir := t.TempDir()
		f, err := NewUnnamed(dir, filepath.Join(dir, "x"))
		if err != nil {
			t.Fatal(err)
		}
		if got := list0(t, dir); len(got) != 0 {
			t.Errorf("a file called %v", got)
		}
		if _, err := f.WriteAt([]byte("text"), 0); err != nil {
			t.Error(err)
		}
		got := make([]byte, 4)
		if _, err := f.ReadAt(got, 0); err != nil || string(got) != "text" {
			t.Errorf("it holds %q, %v", got, err)
		}
		f.Discard()
	})
}

// TestInstallRace: of many that give files the same name without replacing, one succeeds.
func TestInstallRace(t *testing.T) {
	both(t, func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "x")
		var mu sync.Mutex
		var won []string
		var wait sync.WaitGroup
		for i := range 16 {
			f := temp(t, path, fmt.Sprint(i))
			wait.Add(1)
			go func() {
				defer wait.Done()
				defer f.Discard()
				err := f.Install(path, false)
				if err != nil && !errors.Is(err, fs.ErrExist) {
					t.Error(err)
				}
				if err == nil {
					mu.Lock()
					won = append(won, fmt.Sprint(i))
					mu.Unlock()
				}
			}()
		}
		wait.Wait()
		if b, err := os.ReadFile(path); err != nil || len(won) != 1 || string(b) != won[0] {
			t.Errorf("%v won, content %q, %v", won, b, err)
		}
	})
}

// TestRemoveStale removes what a killed writer left, and neither what another is writing
// nor what is somebody else's.
func TestRemoveStale(t *testing.T) {
	withoutUnnamed(t)
	dir := t.TempDir()
	stale, live, foreign := temp(t, filepath.Join(dir, "a"), BinsDataMagic+"..."),
		temp(t, filepath.Join(dir, "b"), PackedDataMagic), temp(t, filepath.Join(dir, "c"), "text")
	stalePath := stale.path
	stale.Close() // as when the process ends
	foreign.Close()
	if err := RemoveStale(dir); err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Base(live.path), filepath.Base(foreign.path)}
	slices.Sort(want)
	if got := list0(t, dir); !slices.Equal(got, want) {
		t.Errorf("left: %v, want %v without %s", got, want, filepath.Base(stalePath))
	}
	live.Discard()
}

func TestMakeDir(t *testing.T) {
	dir := t.TempDir()
	made, err := MakeDir(filepath.Join(dir, "a", "b", "..", "c"))
	if err != nil || len(made) != 2 {
		t.Fatal(made, err)
	}
	made.Undo()
	if got := list0(t, dir); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
	made, err = MakeDir(filepath.Join(dir, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a"), map[string]string{"x": ""})
	made.Undo()
	if got := list0(t, filepath.Join(dir, "a")); !slices.Equal(got, []string{"x"}) {
		t.Errorf("left: %v", got)
	}
	if made, err := MakeDir(filepath.Join(dir, "a")); err != nil || len(made) != 0 {
		t.Error(made, err)
	}
	for _, path := range []string{"a/x", "a/x/y"} {
		if _, err := MakeDir(filepath.Join(dir, path)); err == nil {
			t.Errorf("%s was made", path)
		}
	}
	// What was made goes again when the rest can't be.
	defer func() { vfs.Fault = nil }()
	vfs.Fault = func(call, path string) error {
		if call == "mkdir" && strings.HasSuffix(path, "r") {
			return syscall.ENOSPC
		}
		return nil
	}
	if _, err := MakeDir(filepath.Join(dir, "p", "q", "r")); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if got := list0(t, dir); !slices.Equal(got, []string{"a"}) {
		t.Errorf("left: %v", got)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"packed.cdna": PackedDataMagic, "packed.cmeta": PackedMetaMagic,
		"binned.bdna": BinsDataMagic, "binned.bmeta": BinsMetaMagic,
		"lone.cdna":     PackedDataMagic,
		"damaged.cdna":  "x", // both are there
		"damaged.cmeta": "y",
		"cdna.cdna":     ">human", "other.cmeta": "text", "gone.bdna": BinsDataMagic,
		"both.bdna": BinsDataMagic, "both.bmeta": BinsMetaMagic, "both.cdna": PackedDataMagic, "both.cmeta": PackedMetaMagic,
		".cdna": PackedDataMagic,
	})
	if err := os.Mkdir(filepath.Join(dir, "dir.cdna"), 0o777); err != nil {
		t.Fatal(err)
	}
	found, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, e := range found {
		got += fmt.Sprint(" ", e.Name, e.Has)
	}
	if want := " binned[true false] both[true true] damaged[false true] lone[false true] packed[false true]"; got != want {
		t.Errorf("found%s, want%s", got, want)
	}
	for _, c := range []struct{ path, want string }{
		{"packed", "packed"}, {"packed.cdna", "packed"}, {"packed.cmeta", "packed"}, {"binned.bmeta", "binned"}, {"binned.bdna", "binned"},
		{"lone.cmeta", "lone"}, {"other.cmeta", ""}, {"cdna", ""}, {"nothing", ""}, {"gone", ""}, {"nothing/at/all", ""}, {"packed/", ""},
	} {
		e, err := One(dir + "/" + c.path)
		if (err == nil) != (c.want != "") || e.Name != c.want {
			t.Errorf("%s: %q, %v", c.path, e.Name, err)
		}
		if err != nil && !errors.Is(err, ErrNotArchive) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	if _, err := One(dir); !errors.Is(err, ErrSeveral) {
		t.Error(err)
	}
	// An archive and an empty directory of one name.
	if err := os.Mkdir(filepath.Join(dir, "lone"), 0o777); err != nil {
		t.Fatal(err)
	}
	if e, err := One(filepath.Join(dir, "lone")); err != nil || e.Name != "lone" {
		t.Errorf("%v, %v", e, err)
	}
}

func TestTakesName(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "sub")
	for _, d := range []string{sub, filepath.Join(dir, "other")} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("sub", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for path, takes := range map[string]bool{
		"sub/x.cdna": true, "sub/x.bmeta": true, "link/x.cmeta": true, "other/../sub/x.bdna": true,
		"sub/x.fastq": false, "sub/xx.cdna": false, "sub/x.cdna.gz": false, "other/x.cdna": false, "missing/x.cdna": false, "x.cdna": false,
	} {
		if err := TakesName(filepath.Join(dir, "other")+"/../"+path, sub, "x"); (err != nil) != takes {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestCheckName(t *testing.T) {
	for _, bad := range []string{"", ".", "..", "a/b", "a\x00", strings.Repeat("x", MaxName+1)} {
		if CheckName(bad) == nil {
			t.Errorf("%q passed", bad)
		}
	}
	for _, good := range []string{"x", "..x", " ", "a\\b", "\xff", strings.Repeat("x", MaxName)} {
		if err := CheckName(good); err != nil {
			t.Error(err)
		}
	}
}

// TestPatience: whoever finds the directory locked waits, and then says so.
func TestPatience(t *testing.T) {
	dir := t.TempDir()
	unlock, held, err := lockDir(dir)
	if err != nil || !held {
		t.Skipf("no locks here: %v", err)
	}
	defer func(was time.Duration) { lockTimeout = was }(lockTimeout)
	lockTimeout = 30 * time.Millisecond
	if _, _, err := lockDir(dir); !errors.Is(err, ErrBusy) {
		t.Errorf("error %v", err)
	}
	unlock()
	unlock, _, err = lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// TestFindDamaged: a file of an archive whose first bytes are damaged is found by its last ones.
func TestFindDamaged(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"x.cdna": "y" + PackedDataMagic[1:] + "content" + PackedDataEnd, "x.ctree": "y" + TreeMagic[1:] + "content" + TreeEnd,
		"foreign.cdna": "content", "foreign.ctree": "content", "short.ctree": "c", "empty.ctree": "", "empty.cdna": "",
	})
	found, err := Find(dir)
	if err != nil || len(found) != 1 || found[0].Name != "x" {
		t.Errorf("%v, %v", found, err)
	}
	trees, err := FindTrees(dir)
	if err != nil || len(trees) != 4 || trees[0].Name != "empty" || trees[3].Name != "x" { // by their names
		t.Errorf("%v, %v", trees, err)
	}
	if _, _, err := LookupTree(dir, "foreign"); !errors.Is(err, ErrForeign) {
		t.Error(err)
	}
	if _, found, err := LookupTree(dir, "empty"); !found || err != nil {
		t.Error(found, err)
	}
}

// TestEmptyFiles: an empty file counts as an archive's if the other one of its pair is an archive's or empty. Alone it may be a file that
// another program is about to fill, and a link to one may be anything.
func TestEmptyFiles(t *testing.T) {
	files := map[string]string{
		"x.cdna": "", "x.cmeta": PackedMetaMagic, "y.cdna": "", "y.cmeta": "", "bins.bdna": BinsDataMagic, "bins.bmeta": "",
		"side.ctree": "", "index.cdna": PackedDataMagic, "index.cfm": "",
		"lone.cdna": "", "lone.cfm": "", "beside.cdna": "", "beside.cmeta": "text", "full.cdna": "text", "full.cmeta": "", "empty": "",
	}
	dir := t.TempDir()
	write(t, dir, files)
	for _, name := range []string{"linked.ctree", "linked.cdna", "linked.cmeta"} {
		if err := os.Symlink("empty", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		files[name] = ""
	}
	ours := []string{"x.cdna", "x.cmeta", "y.cdna", "y.cmeta", "bins.bdna", "bins.bmeta", "side.ctree", "index.cdna", "index.cfm"}
	for file := range files {
		if is := IsArchiveFile(filepath.Join(dir, file)); is != slices.Contains(ours, file) {
			t.Errorf("%s: %v", file, is)
		}
	}
	for name, want := range map[string]error{"x": nil, "y": nil, "bins": nil, "lone": ErrForeign, "beside": ErrForeign, "full": ErrForeign,
		"linked": ErrForeign} {
		if err := Begin(dir, name, Bins, Forced(true, nil)); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
		if err := Begin(dir, name, Bins, nil); want == nil && !errors.Is(err, ErrExists) {
			t.Errorf("%s without replace: %v", name, err)
		}
	}
}
