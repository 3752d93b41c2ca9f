package tree

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/compress/parity"
	"orcomgo/internal/codectest"
	"orcomgo/internal/tasks"
	"orcomgo/internal/testrun"
)

// manyFiles returns the listing and the contents of a directory of text, tables and binary files.
func manyFiles() (*Listing, contents) {
	l, files := &Listing{Tool: "t", Mode: 0o755, Entries: []Entry{{Path: "sub", Kind: Directory, Mode: 0o755}}}, contents{}
	rng := rand.New(rand.NewSource(1))
	for i := range 40 {
		var b bytes.Buffer
		path := fmt.Sprintf("sub/%02d%s", i, []string{".txt", ".tsv", ".bin"}[i%3])
		for line := range 100 + rng.Intn(400) {
			switch i % 3 {
			case 0:
				fmt.Fprintln(&b, "a line of text", rng.Intn(1000), "and words")
			case 1:
				fmt.Fprintf(&b, "%d\t%d\t%.3f\n", line, rng.Intn(100), rng.Float64())
			default:
				fmt.Fprintf(&b, "%c%c", rng.Intn(256), rng.Intn(1<<15))
			}
		}
		files[path] = b.String()
		l.Entries = append(l.Entries, Entry{Path: path, Mode: 0o644, Size: int64(b.Len())})
	}
	return l, files
}

// TestRepair damages side archives up to their parity's share, which repair mends to the identical bytes, and beyond it: then no wrong
// file comes back, and all come back that are not called lost.
func TestRepair(t *testing.T) {
	testrun.NoRace(t)
	l, files := manyFiles()
	whole := write(t, l, files)
	kinds := slices.Sorted(maps.Keys(codectest.FileDamages))
	draws := testrun.Pick(1, 2, 300) * len(kinds)
	tasks.EachWorker(2*draws, runtime.GOMAXPROCS(0), func(int) func(int) {
		at := commit.Tree{Dir: t.TempDir(), Name: "run"}
		out := filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(at.Path(), whole, 0o666); err != nil {
			t.Error(err)
		}
		if err := parity.Protect(at.Path(), parity.Options{Share: 0.05, Threads: 1}); err != nil {
			t.Error(err)
		}
		return func(draw int) {
			rng, kind, beyond := rand.New(rand.NewSource(int64(draw))), kinds[draw%len(kinds)], draw >= draws
			set, err := parity.Open(parity.Path(at.Path()))
			if err != nil {
				t.Error(err)
				return
			}
			n := int(set.Share()*float64(set.Sectors()) + 0.5)
			set.Close()
			if beyond {
				n *= 2 + rng.Intn(4)
			}
			sector := (len(whole)/int(set.Sectors()) + 63) / 64 * 64
			damaged := codectest.FileDamages[kind](rng, bytes.Clone(whole), n, sector)
			if err := os.WriteFile(at.Path(), damaged, 0o666); err != nil {
				t.Error(err)
			}
			list, err := Repair(context.Background(), at, parity.RepairOptions{Threads: 1})
			got, readErr := os.ReadFile(at.Path())
			if err != nil || readErr != nil {
				t.Error(kind, err, readErr)
				return
			}
			if ok := list[0].OK; ok != bytes.Equal(got, whole) || !ok && (!beyond || !bytes.Equal(got, damaged)) {
				t.Errorf("%s, draw %d: called whole: %v, and has other bytes", kind, draw, ok)
			}
			if !list[0].OK {
				restoresTheRest(t, at, out, files)
			}
		}
	})
}

// TestOneByte flips a byte of side archives without parity: it is noticed, no wrong file comes back, and what is lost is in one block of
// side files, unless the byte is of the listing.
func TestOneByte(t *testing.T) {
	testrun.NoRace(t)
	l, files := manyFiles()
	var b bytes.Buffer
	if err := Write(t.Context(), &b, l, files.open, Options{Threads: 2, Memory: 1}); err != nil { // so blocks have 64 KiB
		t.Fatal(err)
	}
	at, rng := commit.Tree{Dir: t.TempDir(), Name: "run"}, rand.New(rand.NewSource(1))
	total, largest := 0, 0
	for _, text := range files {
		total, largest = total+len(text), max(largest, len(text))
	}
	draws, lost := testrun.Pick(5, 20, 500), 0
	for range draws {
		damaged := bytes.Clone(b.Bytes())
		damaged[rng.Intn(len(damaged))] ^= 1 << rng.Intn(8)
		if err := os.WriteFile(at.Path(), damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := Open(at, Options{Threads: 1})
		if err != nil { // the byte is of the listing
			continue
		}
		missing := 0
		out := filepath.Join(t.TempDir(), "out")
		r.Restore(t.Context(), RestoreOptions{Dir: out, Threads: 1})
		for path, text := range files {
			got, err := os.ReadFile(filepath.Join(out, path))
			if err != nil {
				missing += len(text)
			} else if string(got) != text {
				t.Errorf("%s has other text", path)
			}
		}
		if missing == 0 && r.Damage() == nil {
			t.Error("nothing is said")
		}
		if missing > 64<<10+2*largest {
			t.Errorf("%d bytes of %d are lost", missing, total)
		}
		lost += missing
		r.Close()
	}
	t.Logf("%d draws: %.4f of the bytes are lost on average, with blocks of %.4f", draws, float64(lost)/float64(draws*total),
		float64(64<<10)/float64(total))
}

// restoresTheRest restores a damaged side archive: files that come back are right, and those come back that are not called lost.
func restoresTheRest(t *testing.T, at commit.Tree, out string, files contents) {
	r, err := Open(at, Options{Threads: 1})
	if err != nil {
		return // the listing is lost
	}
	defer r.Close()
	defer os.RemoveAll(out)
	sum, _ := r.Restore(context.Background(), RestoreOptions{Dir: out, Threads: 1})
	if sum == nil {
		t.Error("nothing was restored")
		return
	}
	lost := 0
	for _, s := range sum.Files {
		if !s.OK {
			lost++
		}
	}
	there := 0
	for path, text := range files {
		b, err := os.ReadFile(filepath.Join(out, path))
		if err == nil && string(b) != text {
			t.Errorf("%s has other text", path)
		}
		if err == nil {
			there++
		}
	}
	if there+lost != len(files) {
		t.Errorf("of %d files %d are there and %d called lost", len(files), there, lost)
	}
}
