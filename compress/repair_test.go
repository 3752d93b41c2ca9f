package compress

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/packing"
	"orcomgo/compress/parity"
	"orcomgo/internal/codectest"
	"orcomgo/internal/testrun"
)

// longInput returns reads of 2000 bases.
func longInput(seed int64, n int) string {
	rng := rand.New(rand.NewSource(seed))
	genome := make([]byte, 20_000)
	for i := range genome {
		genome[i] = "ACGT"[rng.Intn(4)]
	}
	var b strings.Builder
	for i := range n {
		at, qual := rng.Intn(len(genome)-2000), make([]byte, 2000)
		for k := range qual {
			qual[k] = '!' + byte(20+rng.Intn(20))
		}
		fmt.Fprintf(&b, "@long/%d/ccs\n%s\n+\n%s\n", i*7, genome[at:at+2000], qual)
	}
	return b.String()
}

// protectedArchives returns the inputs of four kinds of archives of many slices.
func protectedArchives() map[string][]input {
	r1, r2 := simulated(201, 2500, true)
	o1, o2 := simulated(202, 1500, true)
	return map[string][]input{
		"short reads": single("r.fastq", r1),
		"pairs":       pair(r1, r2),
		"long reads":  single("long.fastq", longInput(203, 250)),
		"a group":     append(pair(r1, r2), input{"o_1.fastq", o1, 3, true}, input{"o_2.fastq", o2, 2, false}),
	}
}

// packedKinds calls f with the directory and the inputs of archives of each kind.
func packedKinds(t *testing.T, share float64, f func(t *testing.T, ins []input, dir string)) {
	smallSlices(t)
	setLimits(t, func(l *packing.Limits) { l.LeastLeading, l.Primer = 2000, 3000 })
	for name, ins := range protectedArchives() {
		t.Run(name, func(t *testing.T) {
			dir := binTo(t, ins, record.Options{BlockSize: 64 << 10})
			packTo(t, dir, PackOptions{Threads: 2, Parity: share})
			f(t, ins, dir)
		})
	}
}

// refill makes dir hold files, and nothing else.
func refill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name := range filesIn(t, dir) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRepair damages archives up to the parity's share: repair gives back all bytes of all files.
func TestRepair(t *testing.T) {
	testrun.NoRace(t)
	draws := testrun.Pick(1, 2, 300) // of each kind of damage, archive and share: 10,800 in make test-long
	kinds := make([]string, 0, len(codectest.FileDamages))
	for kind := range codectest.FileDamages {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	packedKinds(t, 0.05, func(t *testing.T, ins []input, dir string) {
		e, err := commit.One(dir)
		if err != nil {
			t.Fatal(err)
		}
		files := filesIn(t, dir)
		data, name := []byte(files[e.Name+".cdna"]), e.Name+".cdna"
		packets := files[e.Name+".cpar"]
		set, err := parity.Read(strings.NewReader(packets), int64(len(packets)))
		if err != nil {
			t.Fatal(err)
		}
		n := int(set.Share()*float64(set.Sectors()) + 0.5)
		sector := (len(data)/int(set.Sectors()) + 63) / 64 * 64
		rng := rand.New(rand.NewSource(9))
		for draw := range draws {
			for _, kind := range kinds {
				damaged := codectest.FileDamages[kind](rng, bytes.Clone(data), n, sector)
				if err := os.WriteFile(filepath.Join(dir, name), damaged, 0o666); err != nil {
					t.Fatal(err)
				}
				if draw%2 == 1 {
					os.Remove(filepath.Join(dir, e.Name+".cmeta"))
				}
				if draw%3 == 1 {
					flip(t, filepath.Join(dir, e.Name+".cpar"), int64(rng.Intn(72)), 1)
				}
				list, err := Repair(e, RepairOptions{Threads: 2})
				if err != nil || !list[0].OK {
					t.Errorf("%s: %+v, %v", kind, list, err)
				}
				if got := filesIn(t, dir); got[name] != files[name] || got[e.Name+".cmeta"] != files[e.Name+".cmeta"] {
					t.Errorf("%s, draw %d: other bytes", kind, draw)
				}
				refill(t, dir, files)
			}
		}
	})
}

// TestBeyondRepair damages more than the parity can restore: no wrong byte comes out under a final name.
func TestBeyondRepair(t *testing.T) {
	testrun.NoRace(t)
	draws := testrun.Pick(1, 2, 300)
	packedKinds(t, 0.01, func(t *testing.T, ins []input, dir string) {
		e, err := commit.One(dir)
		if err != nil {
			t.Fatal(err)
		}
		files := filesIn(t, dir)
		rng := rand.New(rand.NewSource(10))
		for kind, damage := range codectest.FileDamages {
			for range draws {
				damaged := damage(rng, []byte(files[e.Name+".cdna"]), 40, 512)
				if err := os.WriteFile(filepath.Join(dir, e.Name+".cdna"), damaged, 0o666); err != nil {
					t.Fatal(err)
				}
				list, err := Repair(e, RepairOptions{Threads: 2})
				if err != nil && !IsDamage(err) {
					t.Fatal(kind, err)
				}
				got := filesIn(t, dir)[e.Name+".cdna"]
				if ok := err == nil && list[0].OK; ok != (got == files[e.Name+".cdna"]) || !ok && got != string(damaged) {
					t.Errorf("%s: called whole: %v, and has other bytes", kind, ok)
				}
				out := t.TempDir()
				Unpack(context.Background(), dir, UnpackOptions{Threads: 2, OutDir: out})
				for name, text := range filesIn(t, out) {
					if text != texts(ins)[name] {
						t.Errorf("%s: %s has other text", kind, name)
					}
				}
				refill(t, dir, files)
			}
		}
	})
}

// TestOneByte flips a byte of archives without NAME.cpar: on average it costs at most 3 % of the records, and 10 % at worst.
func TestOneByte(t *testing.T) {
	testrun.NoRace(t)
	draws := testrun.Pick(5, 40, 500)
	packedKinds(t, 0, func(t *testing.T, ins []input, dir string) {
		e, err := commit.One(dir)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewSource(11))
		lost, worst, all := 0.0, 0.0, uint64(0)
		for range draws {
			path := e.Path() + []string{".cdna", ".cdna", ".cdna", ".cmeta"}[rng.Intn(4)]
			at, bit := int64(rng.Intn(int(fileSize(t, path)))), byte(1)<<rng.Intn(8)
			flip(t, path, at, bit)
			status, err := Verify(context.Background(), e, VerifyOptions{Threads: 2})
			if err != nil {
				t.Fatalf("byte %d of %s: %v", at, path, err)
			}
			one, said := uint64(0), false
			all = 0
			for _, s := range status {
				all, said = all+s.Records, said || !s.OK
				for _, r := range s.Damaged {
					one += r.To - r.From
				}
			}
			if !said {
				t.Errorf("byte %d of %s: nothing is said", at, path)
			}
			share := float64(one) / float64(all)
			lost, worst = lost+share, max(worst, share)
			flip(t, path, at, bit)
		}
		if lost /= float64(draws); lost > 0.03 || worst > 0.1 {
			t.Errorf("%.3f of the records are lost on average, %.3f at worst", lost, worst)
		}
	})
}

// TestSalvage: what is whole of each record comes back, even if both manifests are lost.
func TestSalvage(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	text, _ := simulated(204, 800, true)
	dir := binTo(t, single("r.fastq", text), record.Options{BlockSize: 64 << 10})
	packTo(t, dir, PackOptions{})
	records := expected(text, record.Options{})
	man := manifestIn(t, dir)
	path := filepath.Join(dir, "r.cdna")
	size := fileSize(t, path)
	for _, c := range []struct {
		what    string
		column  archive.Column
		missing string
		file    string
	}{
		{"names", archive.Names, "names", "r.fastq.without_names.fastq"},
		{"qualities", archive.Quals, "qualities, sequences", "r.fastq.without_sequences.tsv"},
		{"sequences", archive.Seqs, "sequences", "r.fastq.without_sequences.tsv"},
	} {
		for _, scanned := range []bool{false, true} {
			was := filesIn(t, dir)
			s := &man.Slices[1]
			damage(t, path, int64(s.Section(c.column, 0).Off)+3, 1)
			if scanned {
				os.Remove(filepath.Join(dir, "r.cmeta"))
				if err := os.Truncate(path, size-30); err != nil {
					t.Fatal(err)
				}
			}
			out := t.TempDir()
			list, err := Salvage(context.Background(), dir, UnpackOptions{Threads: 2, OutDir: out})
			if err != nil {
				t.Fatal(err)
			}
			files := filesIn(t, out)
			missing := fmt.Sprintf("%d\t%d\t%s\n", s.From+1, s.From+uint64(s.Records), c.missing)
			if !strings.Contains(files["r.fastq.missing.tsv"], missing) {
				t.Errorf("%s: missing %q", c.what, files["r.fastq.missing.tsv"])
			}
			left := slices.Concat(records[:s.From], records[s.From+uint64(s.Records):])
			if c.column == archive.Names { // later slices go on from it
				n := strings.Count(files["r.fastq.salvaged.fastq"], "\n") / 4
				left = slices.Concat(records[:s.From], records[uint64(len(records))-(uint64(n)-s.From):])
			}
			if files["r.fastq.salvaged.fastq"] != strings.Join(left, "") {
				t.Errorf("%s, scanned %v: other whole records: %+v", c.what, scanned, list)
			}
			if files[c.file] == "" {
				t.Errorf("%s: files %+v", c.what, list)
			}
			refill(t, dir, was)
		}
	}
}

// TestRepairWithoutManifests: an archive without parity beside it, both of whose manifests are lost, is whole again after repair but for
// what only they knew.
func TestRepairWithoutManifests(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(205, 600, true)
	ins := pair(r1, r2)
	dir := binTo(t, ins, record.Options{BlockSize: 64 << 10})
	packTo(t, dir, PackOptions{})
	path := filepath.Join(dir, "r_1.cdna")
	os.Remove(filepath.Join(dir, "r_1.cmeta"))
	if err := os.Truncate(path, fileSize(t, path)-50); err != nil {
		t.Fatal(err)
	}
	flip(t, path, 5000, 8)
	e, err := commit.One(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Repair(e, RepairOptions{Threads: 2})
	if err != nil || !list[0].OK {
		t.Fatalf("%+v, %v", list, err)
	}
	verifyOK(t, dir, "block hashes")
	sameFiles(t, unpackAll(t, dir, UnpackOptions{}), texts(ins))
}

// TestRepairFrom merges two damaged copies of an archive, with and without its parity.
func TestRepairFrom(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	text, _ := simulated(206, 800, true)
	for _, share := range []float64{0, 0.01} {
		dir := binTo(t, single("r.fastq", text), record.Options{BlockSize: 64 << 10})
		packTo(t, dir, PackOptions{Parity: share})
		files := filesIn(t, dir)
		copied := t.TempDir()
		refill(t, copied, files)
		n := len(files["r.cdna"])
		broken := func(dir string, from, to int) {
			b := []byte(files["r.cdna"])
			clear(b[from:to])
			if err := os.WriteFile(filepath.Join(dir, "r.cdna"), b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		broken(dir, n/4, n/2)
		broken(copied, n/2+5000, n-3000)
		e, err := commit.One(dir)
		if err != nil {
			t.Fatal(err)
		}
		if list, err := Repair(e, RepairOptions{Threads: 2, From: []string{copied}}); err != nil || !list[0].OK {
			t.Errorf("share %g: %+v, %v", share, list, err)
		}
		sameFiles(t, filesIn(t, dir), files)
	}
}

// TestProtect adds parity to an archive without, and not to a damaged one.
func TestProtect(t *testing.T) {
	text, _ := simulated(207, 100, true)
	dir := binTo(t, single("r.fastq", text), record.Options{})
	packTo(t, dir, PackOptions{})
	e, err := commit.One(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, written := range []bool{true, false} {
		list, err := Protect(context.Background(), e, RepairOptions{Share: 0.02, Threads: 1})
		if err != nil || len(list) != 1 || list[0].Written != written {
			t.Fatalf("%+v, %v", list, err)
		}
	}
	flip(t, filepath.Join(dir, "r.cdna"), 600, 1)
	if _, err := Protect(context.Background(), e, RepairOptions{Share: 0.2, Threads: 1}); !IsDamage(err) {
		t.Errorf("a damaged archive: error %v", err)
	}
}
