package compress

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orcomgo/bins"
	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/source"
	"orcomgo/internal/codectest"
	"orcomgo/internal/testrun"
)

// dropParity makes the parity within a bulk file useless.
func dropParity(t testing.TB, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, codectest.WithoutParity(b), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// damage is flip without the parity that would mend it.
func damage(t testing.TB, path string, off int64, bits byte) {
	t.Helper()
	dropParity(t, path)
	flip(t, path, off, bits)
}

// flip flips bits of the byte at off.
func flip(t testing.TB, path string, off int64, bits byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], off); err != nil {
		t.Fatal(err)
	}
	b[0] ^= bits
	if _, err := f.WriteAt(b[:], off); err != nil {
		t.Fatal(err)
	}
}

// TestDamage flips single bits, truncates and swaps the files of both stages: nothing but
// the right bytes may come out, under whatever name, and verify must see it, too.
func TestDamage(t *testing.T) {
	testrun.NoRace(t)
	r1, r2 := simulated(51, 40, true)
	ins := pair(r1, r2)
	o1, o2 := simulated(52, 40, true)
	other := states(t, pair(o1, o2), record.Options{})
	rng := rand.New(rand.NewSource(6))
	flips := testrun.Pick(100, 100, 10_000)
	count := 0
	dirs := states(t, ins, record.Options{})
	for _, state := range slices.Sorted(maps.Keys(dirs)) { // so that the same bits are flipped in each run
		dir := dirs[state]
		check := func(what, path string, bad []byte) {
			t.Helper()
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(good, bad) {
				return
			}
			if err := os.WriteFile(path, bad, 0o666); err != nil {
				t.Fatal(err)
			}
			out := t.TempDir()
			s, err := Unpack(context.Background(), dir, UnpackOptions{Threads: 2, OutDir: out})
			unread := err == nil && len(s.Notes) == 0 // what was damaged is not needed
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Fatalf("%s, %s: more than a line: %v", state, what, err)
			}
			left := filesIn(t, out)
			if err == nil && len(left) != len(ins) || err != nil && len(left) == len(ins) {
				t.Fatalf("%s, %s: error %v, %d files restored", state, what, err, len(left))
			}
			for _, in := range ins {
				if text, there := left[in.name]; there && text != in.text {
					t.Fatalf("%s, %s, %s: %s has other text", state, filepath.Base(path), what, in.name)
				}
			}
			if count++; count%4 == 0 || unread {
				status, err := verifyPath(context.Background(), dir, VerifyOptions{Threads: 2})
				seen := err != nil
				for _, s := range status {
					seen = seen || !s.OK
				}
				if !seen {
					t.Fatalf("%s, %s, %s: verify says nothing", state, filepath.Base(path), what)
				}
			}
			if err := os.WriteFile(path, good, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		paths, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(paths) != 2 {
			t.Fatal(err, paths)
		}
		for _, path := range paths {
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for range flips / 4 {
				bad := bytes.Clone(good)
				bad[rng.Intn(len(bad))] ^= 1 << rng.Intn(8)
				check("flipped bit", path, bad)
			}
			for range testrun.Pick(5, 10, 20) {
				check("cut", path, good[:rng.Intn(len(good))])
			}
			check("longer", path, append(bytes.Clone(good), 0))
			foreign, err := os.ReadFile(filepath.Join(other[state], filepath.Base(path)))
			if err != nil {
				t.Fatal(err)
			}
			check("swapped", path, foreign)
		}
	}
}

// TestManifestBytes: a flipped bit of any byte of either copy of the manifest is seen when the archive is opened.
func TestManifestBytes(t *testing.T) {
	text, _ := simulated(56, 20, true)
	dir := binTo(t, single("a.fastq", text), record.Options{})
	packTo(t, dir, PackOptions{Tool: "a tool of which no check knows"})
	meta, err := os.ReadFile(filepath.Join(dir, "a.cmeta"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "a.cdna"))
	if err != nil {
		t.Fatal(err)
	}
	from := bytes.LastIndex(data, meta)
	if from < 0 {
		t.Fatal("no copy of the manifest")
	}
	for name, first := range map[string]int{"a.cmeta": 0, "a.cdna": from} {
		for i := range meta {
			path, at := filepath.Join(dir, name), int64(first+i)
			flip(t, path, at, 1<<(i%8))
			src, err := source.Open(dir, 1, 0)
			if err == nil {
				if len(src.Problems()) == 0 {
					t.Errorf("%s: a flipped bit of byte %d is not seen", name, at)
				}
				src.Close()
			}
			flip(t, path, at, 1<<(i%8))
		}
	}
}

// TestVerifyTellsWhich: damage to one input leaves the others' status alone.
func TestVerifyTellsWhich(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	a, _ := simulated(53, 200, false)
	b, _ := simulated(54, 200, false)
	dir := binTo(t, []input{{"a.fastq", a, -1, false}, {"b.fastq", b, -1, false}}, record.Options{})
	packTo(t, dir, PackOptions{Threads: 2})
	src, err := source.Open(dir, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	var at uint64
	for _, s := range src.Manifest().Slices {
		if s.First.Input == 1 {
			at = s.First.Sections[archive.Quals].Off
		}
	}
	src.Close()
	damage(t, filepath.Join(dir, "a.cdna"), int64(at)+3, 4)
	status, err := verifyPath(context.Background(), dir, VerifyOptions{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if !status[0].OK || status[1].OK || !strings.Contains(status[1].Problem, "qualities of records") {
		t.Errorf("status %+v", status)
	}
}

// TestVerifySeesKeptBins: bins beside the packed archive are verified too.
func TestVerifySeesKeptBins(t *testing.T) {
	a, _ := simulated(55, 200, false)
	dir := binTo(t, single("a.fastq", a), record.Options{})
	packTo(t, dir, PackOptions{KeepBins: true})
	verifyOK(t, dir, "SHA-256")
	flip(t, filepath.Join(dir, "a.bdna"), 500, 4)
	status, err := verifyPath(context.Background(), dir, VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if status[0].OK || !strings.Contains(status[0].Problem, "bdna") {
		t.Errorf("status %+v", status)
	}
}

// TestPackAgain goes through the states that a killed pack can leave.
func TestPackAgain(t *testing.T) {
	testrun.NoRace(t)
	text, _ := simulated(61, 300, true)
	ins := single("a.fastq", text)
	ctx := context.Background()
	t.Run("bins not yet dropped", func(t *testing.T) {
		dir := binTo(t, ins, record.Options{})
		packTo(t, dir, PackOptions{KeepBins: true})
		if s := packTo(t, dir, PackOptions{KeepBins: true}); !s.AlreadyPacked {
			t.Error("packed again")
		}
		if n := len(filesIn(t, dir)); n != 4 {
			t.Errorf("%d files, want 4", n)
		}
		if s := packTo(t, dir, PackOptions{}); !s.AlreadyPacked {
			t.Error("packed again")
		}
		if n := len(filesIn(t, dir)); n != 2 {
			t.Errorf("%d files, want 2", n)
		}
		sameFiles(t, unpackAll(t, dir, UnpackOptions{}), texts(ins))
	})
	t.Run("bmeta dropped, bdna not", func(t *testing.T) {
		dir := binTo(t, ins, record.Options{})
		packTo(t, dir, PackOptions{KeepBins: true})
		if err := os.Remove(filepath.Join(dir, "a.bmeta")); err != nil {
			t.Fatal(err)
		}
		sameFiles(t, unpackAll(t, dir, UnpackOptions{}), texts(ins))
		if s := packTo(t, dir, PackOptions{}); !s.AlreadyPacked {
			t.Error("packed again")
		}
		if n := len(filesIn(t, dir)); n != 2 {
			t.Errorf("%d files, want 2", n)
		}
		if _, err := Pack(ctx, dir, limited(PackOptions{Force: true})); err == nil {
			t.Error("packed again without bins")
		}
	})
	t.Run("other files", func(t *testing.T) {
		dir := binTo(t, ins, record.Options{})
		others := []string{"a.cdna.tmp", "a.cmeta.tmp", "b.cdna", "b.cmeta", "a.cdna.new", ".orcomgo-0123.tmp"}
		for _, f := range others {
			if err := os.WriteFile(filepath.Join(dir, f), []byte("half"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		packTo(t, filepath.Join(dir, "a"), PackOptions{})
		if n := len(filesIn(t, dir)); n != 2+len(others) {
			t.Errorf("%d files, want %d", n, 2+len(others))
		}
	})
	t.Run("killed in the middle of the commit", func(t *testing.T) {
		dir := binTo(t, ins, record.Options{})
		packTo(t, dir, PackOptions{KeepBins: true})
		whole := filesIn(t, dir)
		if err := os.Remove(filepath.Join(dir, "a.cmeta")); err != nil {
			t.Fatal(err)
		}
		sameFiles(t, unpackAll(t, dir, UnpackOptions{}), texts(ins))
		if s := packTo(t, dir, PackOptions{KeepBins: true}); !s.AlreadyPacked {
			t.Error("packed again")
		}
		sameFiles(t, filesIn(t, dir), whole)
	})
	t.Run("damaged manifest beside bins", func(t *testing.T) {
		dir := binTo(t, ins, record.Options{})
		packTo(t, dir, PackOptions{KeepBins: true})
		for _, f := range []string{"a.cmeta", "a.cdna"} {
			path := filepath.Join(dir, f)
			flip(t, path, fileSize(t, path)-20, 1)
		}
		before := filesIn(t, dir)
		sameFiles(t, unpackAll(t, dir, UnpackOptions{}), texts(ins))
		if _, err := Pack(ctx, dir, limited(PackOptions{})); !errors.Is(err, ErrCorrupt) {
			t.Errorf("error %v", err)
		}
		sameFiles(t, filesIn(t, dir), before)
		if s := packTo(t, dir, PackOptions{Force: true}); s.AlreadyPacked {
			t.Error("a damaged archive was taken for finished")
		}
		sameFiles(t, unpackAll(t, dir, UnpackOptions{}), texts(ins))
	})
	t.Run("damaged sections beside bins", func(t *testing.T) {
		dir := binTo(t, ins, record.Options{})
		packTo(t, dir, PackOptions{KeepBins: true})
		r := openPacked(t, dir)
		damage(t, filepath.Join(dir, "a.cdna"), int64(r.Man.Slices[0].Seqs.Off), 1)
		if _, err := Pack(ctx, dir, limited(PackOptions{})); !errors.Is(err, ErrCorrupt) {
			t.Errorf("error %v", err)
		}
		if n := len(filesIn(t, dir)); n != 4 {
			t.Errorf("%d files, want 4: the bins must stay", n)
		}
	})
	t.Run("archive of other reads", func(t *testing.T) {
		dir := binTo(t, ins, record.Options{})
		other, _ := simulated(62, 300, true)
		from := binTo(t, single("a.fastq", other), record.Options{})
		packTo(t, from, PackOptions{})
		for name, content := range filesIn(t, from) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Pack(ctx, dir, limited(PackOptions{})); !errors.Is(err, commit.ErrExists) {
			t.Errorf("error %v", err)
		}
		packTo(t, dir, PackOptions{Force: true})
		sameFiles(t, unpackAll(t, dir, UnpackOptions{}), texts(ins))
	})
	t.Run("cancelled", func(t *testing.T) {
		dir := binTo(t, ins, record.Options{})
		before := filesIn(t, dir)
		ctx, cancel := context.WithCancel(ctx)
		stop := func(stage string, done, total uint64) {
			if stage == "verify" {
				cancel()
			}
		}
		if _, err := Pack(ctx, dir, limited(PackOptions{Progress: stop})); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		sameFiles(t, filesIn(t, dir), before)
		packTo(t, dir, PackOptions{})
	})
	t.Run("damaged bins", func(t *testing.T) {
		dir := binTo(t, ins, record.Options{})
		flip(t, filepath.Join(dir, "a.bdna"), 400, 8)
		if _, err := Pack(ctx, dir, limited(PackOptions{})); !errors.Is(err, ErrCorrupt) {
			t.Errorf("error %v", err)
		}
		if n := len(filesIn(t, dir)); n != 2 {
			t.Errorf("%d files, want 2", n)
		}
	})
	t.Run("busy", func(t *testing.T) {
		dir := binTo(t, ins, record.Options{})
		r, err := bins.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.Lock(); err != nil {
			t.Fatal(err)
		}
		if _, err := Pack(ctx, dir, limited(PackOptions{})); !errors.Is(err, commit.ErrBusy) {
			t.Errorf("error %v", err)
		}
	})
}

// TestNoVerify: without verification the blocks' hashes still guard the text.
func TestNoVerify(t *testing.T) {
	smallSlices(t)
	text, _ := simulated(63, 300, true)
	ins := single("a.fastq", text)
	dir := binTo(t, ins, record.Options{})
	s := packTo(t, dir, PackOptions{NoVerify: true, Threads: 2})
	if s.Verified {
		t.Error("verified all the same")
	}
	sameFiles(t, unpackAll(t, dir, UnpackOptions{}), texts(ins))
	verifyOK(t, dir, "block hashes")
}
