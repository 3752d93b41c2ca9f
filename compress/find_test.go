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

	"orcomgo/binning"
	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

// comparesWithScan indexes an archive and compares what is found with its promise and with what a search of all reads finds, and, if
// thorough, all of it with comparing every base. It returns how many were found, and by scans.
func comparesWithScan(t *testing.T, e commit.Entry, r *rand.Rand, queries int, thorough bool) (found, scanned int) {
	t.Helper()
	ctx := context.Background()
	s, err := Index(ctx, e, IndexOptions{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if s.There || s.Bytes == 0 {
		t.Errorf("summary %+v", s)
	}
	d := decodedOf(t, e)
	options, least := []FindOptions{{}, {Within: 3}, {Mismatches: 1, Within: 2}, {Mismatches: 2, Within: 3}}, MinQuery
	if !thorough { // short sequences are millions of times in long runs
		options, least = []FindOptions{{Within: 3}, {Mismatches: 2, Within: 3}}, 20
	}
	for _, o := range options {
		all := d.drawQueries(r, queries, least)
		o.Reads, o.Threads = true, 2
		got := find(t, e, all, o)
		o.Scan = true
		byScan := find(t, e, all, o)
		if !got.Indexed || byScan.Indexed || !got.Counted || !byScan.Counted {
			t.Fatalf("indexed %v and %v", got.Indexed, byScan.Indexed)
		}
		is, truth := setOf(got), setOf(byScan)
		if thorough {
			d.comparesRecords(t, e, all, o, byScan)
			if want := d.slow(all, o); !maps.Equal(truth, want) {
				t.Fatalf("%+v: the scan finds %d, want %d", o, len(truth), len(want))
			}
		}
		for w := range is {
			if !truth[w] {
				t.Fatalf("%+v: %+v was found, but not by a scan", o, w)
			}
			// With mismatches a stretch that is near a query may be farther from the pseudogenome.
			if thorough && o.Mismatches == 0 && !d.pieces && !d.promises(t, w, all[w.query].Variants[0], o) {
				t.Fatalf("%+v: %+v was found, but not promised", o, w)
			}
		}
		for w := range truth {
			if !is[w] && d.promises(t, w, all[w.query].Variants[0], o) {
				t.Fatalf("%+v: %+v (%v) was not found", o, w, all[w.query].Variants[0])
			}
		}
		counted := uint64(0)
		type strand struct {
			query   int
			reverse bool
		}
		hits := make(map[strand]int)
		for _, c := range got.Counts {
			counted += c.Reads
			if _, twice := hits[strand{c.Query, c.Reverse}]; twice {
				t.Errorf("%+v: query %d is there twice", o, c.Query)
			}
			hits[strand{c.Query, c.Reverse}] = c.Hits
		}
		if counted != uint64(len(is)) {
			t.Errorf("%+v: %d reads counted, %d found", o, counted, len(is))
		}
		for i, q := range all {
			if slices.Equal(q.Variants[0], otherStrand(q.Variants[0])) {
				continue
			}
			for reverse, bases := range [][]byte{q.Variants[0], otherStrand(q.Variants[0])} {
				if !thorough {
					break
				}
				if want := d.hits(bases, o.Mismatches); hits[strand{i, reverse > 0}] != want {
					t.Errorf("%+v: %v has %d hits, want %d", o, bases, hits[strand{i, reverse > 0}], want)
				}
			}
		}
		found, scanned = found+len(is), scanned+len(truth)
	}
	return found, scanned
}

// TestFindGolden searches archives of every kind.
func TestFindGolden(t *testing.T) {
	testrun.NoRace(t)
	dirs, err := os.ReadDir("../testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewSource(1))
	archives, found := 0, 0
	for _, dir := range dirs {
		if !dir.IsDir() {
			continue
		}
		t.Run(dir.Name(), func(t *testing.T) {
			for _, e := range copied(t, filepath.Join("../testdata/golden", dir.Name())) {
				if e.Has[commit.Packed] {
					n, _ := comparesWithScan(t, e, r, testrun.Pick(3, 3, 6), true)
					archives, found = archives+1, found+n
				}
			}
		})
	}
	if archives < 20 || found < 1000 {
		t.Errorf("%d archives, %d found", archives, found)
	}
}

// TestFindData searches the files of the folder ORCOMGO_DATA: the small ones, and all with ORCOMGO_LONG.
func TestFindData(t *testing.T) {
	dir := testrun.Data(t)
	long := testrun.Long()
	glob := func(patterns ...string) (files []string) {
		for _, p := range patterns {
			found, err := filepath.Glob(filepath.Join(dir, p))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range found {
				if info, err := os.Stat(path); err == nil && !info.IsDir() {
					files = append(files, path)
				}
			}
		}
		return files
	}
	r := rand.New(rand.NewSource(8))
	compare := func(paths ...string) {
		t.Run(filepath.Base(paths[0]), func(t *testing.T) {
			c := binning.Config{OutDir: filepath.Join(t.TempDir(), "out"), Threads: 2, Options: record.Options{BlockSize: 64 << 20}}
			for _, p := range paths {
				c.Inputs = append(c.Inputs, binning.InputSpec{Path: p, Mate: -1})
			}
			if len(paths) == 2 {
				c.Inputs[0].Mate, c.Inputs[0].First, c.Inputs[1].Mate = 1, true, 0
			}
			if _, err := binning.Run(context.Background(), c); err != nil {
				t.Skip(err) // it is not a file of reads
			}
			packTo(t, c.OutDir, PackOptions{Threads: 2})
			found, scanned := comparesWithScan(t, entryOf(t, c.OutDir), r, 40, false)
			t.Logf("%d found, %d by scans", found, scanned)
		})
	}
	patterns := []string{"hifi_ccs.fastq.gz", "gz/sequana*", "contigs/abe487*", "contigs/*/5*61.*"}
	if long {
		patterns = []string{"*.fastq.gz", "short/*", "tenx/*R?_*", "gz/*", "contigs/*", "contigs/*/*"}
	}
	for _, path := range glob(patterns...) {
		mate := strings.NewReplacer("_R1.", "_R2.", "_R1_", "_R2_").Replace(path)
		if _, err := os.Stat(mate); err == nil && mate != path {
			compare(path, mate)
		} else {
			compare(path)
		}
	}
	if strains := glob("strains/*"); long && len(strains) > 0 {
		compare(strains...)
	} else if len(strains) > 3 {
		compare(strains[:3]...)
	}
}

// TestFindVariants: what only some reads have, and the pseudogenome does not, is found in as many reads as by a scan, of pairs as well.
func TestFindVariants(t *testing.T) {
	testrun.NoRace(t)
	r := rand.New(rand.NewSource(2))
	genome := []byte(randomBases(r, 6000))
	r1, variant := variantReads(r, genome, 1500, 80)
	r2, _ := variantReads(r, genome, 1500, 70)
	for name, o := range map[string]record.Options{"": {}, "order any": {OrderAny: true}, "reads only": {ReadsOnly: true}} {
		t.Run(name, func(t *testing.T) {
			dir := binTo(t, pair(r1, r2), o)
			packTo(t, dir, PackOptions{Threads: 2})
			e := entryOf(t, dir)
			if _, err := Index(context.Background(), e, IndexOptions{Threads: 2}); err != nil {
				t.Fatal(err)
			}
			hits, reads := 0, 0
			var queries []FindQuery
			for at := 60; at+31 < len(genome); at += 150 {
				q, err := ParseQuery("variant", string(variant[at:at+31]))
				if err != nil {
					t.Fatal(err)
				}
				queries = append(queries, q)
			}
			got := find(t, e, queries, FindOptions{Threads: 2, Within: 3, Reads: true})
			scanned := find(t, e, queries, FindOptions{Threads: 2, Scan: true, Reads: true})
			for _, c := range got.Counts {
				hits, reads = hits+c.Hits, reads+int(c.Reads)
			}
			// A read may have more errors, which are not promised to be found.
			if n := len(scanned.Reads); reads < n-n/100 || reads > n || n < len(queries)*5 || hits > len(queries)/2 {
				t.Errorf("%d queries, %d hits: %d reads, %d by a scan", len(queries), hits, reads, n)
			}
			counted := find(t, e, queries, FindOptions{Threads: 1, Within: 3, Count: true})
			if !slices.Equal(counted.Counts, got.Counts) || len(counted.Reads) != 0 {
				t.Errorf("other counts: %v, want %v", counted.Counts, got.Counts)
			}
			fast := find(t, e, queries, FindOptions{Threads: 2})
			sum := 0
			for _, c := range fast.Counts {
				sum += c.Hits
			}
			if fast.Counted || sum != hits {
				t.Errorf("%d hits without reads, counted %v; %d with them", sum, fast.Counted, hits)
			}
		})
	}
}

// TestFindRecords: the records that are found come with their mates, as their text.
func TestFindRecords(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	genome := []byte(randomBases(r, 3000))
	r1, _ := variantReads(r, genome, 600, 80)
	r2, _ := variantReads(r, genome, 600, 80)
	lines := [2][]string{strings.SplitAfter(r1, "\n"), strings.SplitAfter(r2, "\n")}
	dir := binTo(t, pair(r1, r2), record.Options{})
	q, err := ParseQuery("q", string(genome[1000:1030]))
	if err != nil {
		t.Fatal(err)
	}
	search := func(o FindOptions) (string, *Finding) {
		var text bytes.Buffer
		o.Threads, o.Within, o.Reads = 2, 3, true
		o.Records = func(b []byte) error {
			text.Write(b)
			return nil
		}
		n := find(t, entryOf(t, dir), []FindQuery{q}, o)
		return text.String(), n
	}
	check := func(what, text string, n *Finding) {
		want, last := "", uint64(1<<63)
		for _, f := range n.Reads {
			if f.Record != last {
				for m := range lines {
					want += strings.Join(lines[m][4*f.Record:4*f.Record+4], "")
				}
			}
			last = f.Record
			read := lines[f.Input][4*f.Record+1]
			if f.Reverse {
				read = complementOf(strings.TrimSuffix(read, "\n"))
			}
			if !strings.Contains(read, string(genome[1000:1030])) {
				t.Errorf("%s: record %d of input %d does not have it", what, f.Record, f.Input)
			}
			if !f.Reverse && !strings.HasPrefix(read[f.At:], string(genome[1000:1030])) {
				t.Errorf("%s: record %d does not have it at base %d", what, f.Record, f.At)
			}
		}
		if text != want || len(n.Reads) < 5 {
			t.Errorf("%s: %d reads, %d bytes of text, want %d", what, len(n.Reads), len(text), len(want))
		}
	}
	bins, n := search(FindOptions{})
	check("bins", bins, n)
	packTo(t, dir, PackOptions{Threads: 2})
	scanned, n := search(FindOptions{Scan: true})
	check("scan", scanned, n)
	without, _ := search(FindOptions{})
	if _, err := Index(context.Background(), entryOf(t, dir), IndexOptions{Threads: 2}); err != nil {
		t.Fatal(err)
	}
	indexed, n := search(FindOptions{})
	check("index", indexed, n)
	if bins != scanned || bins != without || bins != indexed || !n.Indexed {
		t.Errorf("other text: %d bytes, %d, %d, %d", len(bins), len(scanned), len(without), len(indexed))
	}
	wanted := errors.New("full")
	f, err := NewFinder([]FindQuery{q}, FindOptions{Records: func([]byte) error { return wanted }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Find(context.Background(), entryOf(t, dir)); !errors.Is(err, wanted) {
		t.Error(err)
	}
}

// TestFindOverlap: a read that has some stretch of a query is found once.
func TestFindOverlap(t *testing.T) {
	testrun.NoRace(t)
	r := rand.New(rand.NewSource(6))
	genome := randomBases(r, 4000)
	text, _ := variantReads(r, []byte(genome), 800, 90)
	dir := binTo(t, single("a.fastq", text), record.Options{})
	packTo(t, dir, PackOptions{Threads: 2})
	e := entryOf(t, dir)
	if _, err := Index(context.Background(), e, IndexOptions{Threads: 2}); err != nil {
		t.Fatal(err)
	}
	const overlap = 25
	region, err := ParseQuery("region", genome[2000:2200])
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[where]bool)
	for i, read := range strings.Split(text, "\n") {
		if i%4 != 1 {
			continue
		}
		for at := 2000; at+overlap <= 2200; at++ {
			if strings.Contains(read, genome[at:at+overlap]) {
				want[where{0, uint64(i / 4), 0, false}] = true
			}
			if strings.Contains(read, complementOf(genome[at:at+overlap])) {
				want[where{0, uint64(i / 4), 0, true}] = true
			}
		}
	}
	o := FindOptions{Threads: 2, Overlap: overlap, Reads: true, Within: 4}
	for _, o.Scan = range []bool{false, true} {
		n := find(t, e, []FindQuery{region}, o)
		if got := setOf(n); !maps.Equal(got, want) || len(got) != len(n.Reads) || len(got) < 30 {
			t.Errorf("scan %v: %d reads, %d of them different, want %d", o.Scan, len(n.Reads), len(got), len(want))
		}
		if c := n.Counts; len(c) != 2 || c[0].Reads+c[1].Reads != uint64(len(want)) || !o.Scan && c[0].Hits+c[1].Hits != 1 {
			t.Errorf("scan %v: counts %+v", o.Scan, c)
		}
	}
}

func TestQueries(t *testing.T) {
	for text, want := range map[string]string{"ACGTACGTXACGT": "'X' at base 9",
		"NNNNNNACGTACGT": "more than 1024", "ACGURYKMACGT": "", "ACGTACGTACG": "11 bases", "": "0 bases", "acgtACGTacgt": ""} {
		_, err := ParseQuery("q", text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
	q, _ := ParseQuery("q", "ACGTACGTACGT")
	for _, c := range []struct {
		queries []FindQuery
		o       FindOptions
	}{
		{nil, FindOptions{}},
		{[]FindQuery{q}, FindOptions{Overlap: 11}},
		{[]FindQuery{q}, FindOptions{Mismatches: 5}},
		{[]FindQuery{q}, FindOptions{Mismatches: -1}},
		{[]FindQuery{q}, FindOptions{Within: 9}},
	} {
		if _, err := NewFinder(c.queries, c.o); err == nil {
			t.Errorf("%+v passes", c)
		}
	}
}
