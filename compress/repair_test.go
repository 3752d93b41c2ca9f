package compress

import (
	"context"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/packing"
	"orcomgo/compress/parity"
	"orcomgo/internal/codectest"
	"orcomgo/internal/tasks"
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

// protectedArchives returns the inputs of four kinds of archives of many slices, and a divisor: of so much less data, in smaller slices.
func protectedArchives() (kinds map[string][]input, less int) {
	less = testrun.Pick(2, 2, 1)
	r1, r2 := simulated(201, 2500/less, true)
	o1, o2 := simulated(202, 1500/less, true)
	return map[string][]input{
		"short reads": single("r.fastq", r1),
		"pairs":       pair(r1, r2),
		"long reads":  single("long.fastq", longInput(203, 250/less)),
		"a group":     append(pair(r1, r2), input{"o_1.fastq", o1, 3, true}, input{"o_2.fastq", o2, 2, false}),
	}, less
}

// packedKinds calls f with the directory and the inputs of archives of each kind.
func packedKinds(t *testing.T, share float64, f func(t *testing.T, ins []input, dir string)) {
	archives, less := protectedArchives()
	setLimits(t, func(l *packing.Limits) {
		l.Text, l.Reads, l.LeastLeading, l.Primer = 20_000/uint64(less), 150/uint64(less), 2000/less, 3000/less
	})
	for name, ins := range archives {
		t.Run(name, func(t *testing.T) {
			dir := binTo(t, ins, record.Options{BlockSize: 64 << 10})
			packTo(t, dir, PackOptions{Threads: 2, Parity: share})
			f(t, ins, dir)
		})
	}
}

// eachDraw calls f for each draw, each of some goroutines with a copy of an archive in a directory of its own, which f leaves as it was.
func eachDraw(t *testing.T, draws int, files map[string]string, f func(rng *rand.Rand, draw int, e commit.Entry)) {
	tasks.EachWorker(draws, runtime.GOMAXPROCS(0), func(int) func(int) {
		dir := t.TempDir()
		refill(t, dir, files)
		e, err := commit.One(dir)
		if err != nil {
			t.Error(err)
		}
		return func(draw int) { f(rand.New(rand.NewSource(int64(draw))), draw, e) }
	})
}

// damageKinds returns the names of the kinds of damage, in order.
func damageKinds() []string { return slices.Sorted(maps.Keys(codectest.FileDamages)) }

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
	kinds := damageKinds()
	draws := testrun.Pick(1, 2, 300) * len(kinds) // of each kind of archive: 10,800 in make test-long
	packedKinds(t, 0.05, func(t *testing.T, ins []input, dir string) {
		files := filesIn(t, dir)
		eachDraw(t, draws, files, func(rng *rand.Rand, draw int, e commit.Entry) {
			name := e.Name + ".cdna"
			data, packets := []byte(files[name]), files[e.Name+".cpar"]
			set, err := parity.Read(strings.NewReader(packets), int64(len(packets)))
			if err != nil {
				t.Error(err)
				return
			}
			n := int(set.Share()*float64(set.Sectors()) + 0.5)
			sector := (len(data)/int(set.Sectors()) + 63) / 64 * 64
			kind, round := kinds[draw%len(kinds)], draw/len(kinds)
			damaged := codectest.FileDamages[kind](rng, data, n, sector)
			if err := os.WriteFile(filepath.Join(e.Dir, name), damaged, 0o666); err != nil {
				t.Error(err)
			}
			if round%2 == 1 {
				os.Remove(filepath.Join(e.Dir, e.Name+".cmeta"))
			}
			if round%3 == 1 {
				flip(t, filepath.Join(e.Dir, e.Name+".cpar"), int64(rng.Intn(72)), 1)
			}
			list, err := Repair(e, RepairOptions{Threads: 1})
			if err != nil || !list[0].OK {
				t.Errorf("%s, draw %d: %+v, %v", kind, draw, list, err)
			}
			for name, was := range files {
				if filesIn(t, e.Dir)[name] != was {
					t.Errorf("%s, draw %d: other bytes in %s", kind, draw, name)
				}
			}
			refill(t, e.Dir, files)
		})
	})
}

// TestBeyondRepair damages more than the parity can restore: no wrong byte comes out under a final name, and each record that is called
// lost is lost: something that it depends on is neither where it was, nor elsewhere with its header.
func TestBeyondRepair(t *testing.T) {
	testrun.NoRace(t)
	kinds := damageKinds()
	draws := testrun.Pick(5, 5, 300*len(kinds)) // the archives have different ones of the 9 kinds first
	packedKinds(t, 0.01, func(t *testing.T, ins []input, dir string) {
		files, man, want := filesIn(t, dir), manifestIn(t, dir), texts(ins)
		var called, lost atomic.Uint64
		eachDraw(t, draws, files, func(rng *rand.Rand, draw int, e commit.Entry) {
			kind, whole := kinds[(2*draw+len(ins))%len(kinds)], files[e.Name+".cdna"]
			damaged := codectest.FileDamages[kind](rng, []byte(whole), 10+rng.Intn(40), 512)
			path := e.Path() + ".cdna"
			if err := os.WriteFile(path, damaged, 0o666); err != nil {
				t.Error(err)
			}
			list, err := Repair(e, RepairOptions{Threads: 1})
			if err != nil && !IsDamage(err) {
				t.Error(kind, err)
			}
			got := filesIn(t, e.Dir)[e.Name+".cdna"]
			if ok := err == nil && list[0].OK; ok != (got == whole) || !ok && got != string(damaged) {
				t.Errorf("%s, draw %d: called whole: %v, and has other bytes", kind, draw, ok)
			}
			out := filepath.Join(e.Dir, "out")
			Unpack(context.Background(), e.Dir, UnpackOptions{Threads: 1, OutDir: out})
			if _, err := os.Stat(out); err == nil {
				for name, text := range filesIn(t, out) {
					if text != want[name] {
						t.Errorf("%s, draw %d: %s has other text", kind, draw, name)
					}
				}
				os.RemoveAll(out)
			}
			status, err := Verify(context.Background(), e, VerifyOptions{Threads: 1})
			if err != nil {
				t.Errorf("%s, draw %d: %v", kind, draw, err)
			}
			there := sectionsThere(whole, got)
			for input := range man.Inputs {
				for _, r := range status[input].Damaged {
					called.Add(r.To - r.From)
					for i := range man.Slices {
						if s := &man.Slices[i]; s.From >= r.From && s.From < r.To && !dependsOnLost(man, i, input, there) {
							t.Errorf("%s, draw %d: records %d to %d of %s are called lost and are not: %s", kind, draw, s.From+1,
								s.From+uint64(s.Records), man.Inputs[input].Name, status[input].Problem)
						}
					}
				}
				if status[input].Problem != "" {
					lost.Add(1)
				}
			}
			refill(t, e.Dir, files)
		})
		t.Logf("%d draws: %d inputs damaged, %d records called lost", draws, lost.Load(), called.Load())
	})
}

// sectionsThere returns a function that reports whether a section of an archive's bulk file is in the damaged file: where it was, or
// elsewhere with its header before it.
func sectionsThere(whole, damaged string) func(s *archive.Section) bool {
	const header = 64
	return func(s *archive.Section) bool {
		from, to := int(s.Off), int(s.Off+s.Len)
		return s.Len == 0 || to <= len(damaged) && damaged[from:to] == whole[from:to] || strings.Contains(damaged, whole[from-header:to])
	}
}

// dependsOnLost reports whether a section that the records of an input in slice i may need is lost: those of its own and what is shared; of
// earlier slices of its inputs, or of the first mates, names; and of the first slice qualities, which need its lengths.
func dependsOnLost(man *archive.Manifest, i, input int, there func(s *archive.Section) bool) bool {
	own, lost := &man.Slices[i], false
	if m := slices.IndexFunc(own.Members(), func(m *archive.Member) bool { return m.Input == input }); m < 0 {
		return true // of other inputs
	}
	for k := range man.Shared {
		lost = lost || !there(&man.Shared[k])
	}
	for k := range man.Slices[:i+1] {
		s := &man.Slices[k]
		s.EachSection(func(c archive.Column, m int, sec *archive.Section) {
			needed := k == i || c == archive.Names && k > i-32*len(man.Inputs) || (c == archive.Quals || c == archive.Lengths) && s.From == 0
			lost = lost || needed && !there(sec)
		})
	}
	return lost
}

// TestOneByte flips a byte of archives without NAME.cpar: on average it costs at most 3 % of the records, and 10 % at worst.
func TestOneByte(t *testing.T) {
	testrun.NoRace(t)
	draws := testrun.Pick(5, 5, 500)
	packedKinds(t, 0, func(t *testing.T, ins []input, dir string) {
		var mu sync.Mutex
		lost, worst := 0.0, 0.0
		eachDraw(t, draws, filesIn(t, dir), func(rng *rand.Rand, _ int, e commit.Entry) {
			path := e.Path() + []string{".cdna", ".cdna", ".cdna", ".cmeta"}[rng.Intn(4)]
			at, bit := int64(rng.Intn(int(fileSize(t, path)))), byte(1)<<rng.Intn(8)
			flip(t, path, at, bit)
			defer flip(t, path, at, bit)
			status, err := Verify(context.Background(), e, VerifyOptions{Threads: 1})
			if err != nil {
				t.Errorf("byte %d of %s: %v", at, path, err)
			}
			one, all, said := uint64(0), uint64(0), false
			for _, s := range status {
				all, said = all+s.Records, said || !s.OK
				for _, r := range s.Damaged {
					one += r.To - r.From
				}
			}
			if !said {
				t.Errorf("byte %d of %s: nothing is said", at, path)
			}
			mu.Lock()
			defer mu.Unlock()
			share := float64(one) / float64(all)
			lost, worst = lost+share, max(worst, share)
		})
		lost /= float64(draws)
		t.Logf("%d draws: %.4f of the records are lost on average, %.4f at worst", draws, lost, worst)
		if lost > 0.03 || worst > 0.1 {
			t.Error("too many records are lost")
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
