package compress

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/scan"
	"orcomgo/compress/seqs"
)

// where is a read and a query in it.
type where struct {
	input   int
	record  uint64
	query   int
	reverse bool
}

func (f *Finding) set() map[where]bool {
	s := make(map[where]bool)
	for _, r := range f.Reads {
		s[where{r.Input, r.Record, r.Query, r.Reverse}] = true
	}
	return s
}

// find searches an archive.
func find(t testing.TB, e commit.Entry, queries []FindQuery, o FindOptions) *Finding {
	t.Helper()
	f, err := NewFinder(queries, o)
	if err != nil {
		t.Fatal(err)
	}
	n, err := f.Find(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// decodedArchive is a packed archive, decoded.
type decodedArchive struct {
	genome  []byte
	batches []*batch
	pieces  bool // there are slices with pieces
}

func decodedOf(t testing.TB, e commit.Entry) *decodedArchive {
	t.Helper()
	ctx := context.Background()
	src, err := openEntry(e, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	p := src.(*packed)
	d := new(decodedArchive)
	for i := range p.man.Slices {
		if err := p.needShared(ctx); err != nil {
			t.Fatal(err)
		}
		b, err := p.decodeReads(ctx, i)
		if err != nil {
			t.Fatal(err)
		}
		d.batches = append(d.batches, b)
		d.pieces = d.pieces || b.cols[0].layout.Literals != nil
		if d.genome == nil {
			err := p.pool.do(ctx, func() (err error) {
				d.genome, err = p.dec.Genome(nil)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return d
}

// promised returns what the index promises to find, by comparing each read with the pseudogenome and with each query.
func (d *decodedArchive) promised(queries []FindQuery, o FindOptions) map[where]bool {
	found := make(map[where]bool)
	for _, b := range d.batches {
		b.eachRead(func(m, i int, letters []byte) {
			c := b.cols[m]
			l := c.layout
			try := func(from, to int, differs func(k int) bool) {
				for q := range queries {
					for _, reverse := range []bool{false, true} {
						bases := queries[q].Bases
						if reverse {
							bases = otherStrand(bases)
						}
						for at := from; at+len(bases) <= to; at++ {
							mismatches, away := 0, 0
							for k, want := range bases {
								got, ok := scan.Code(letters[at+k])
								if !ok || got != want {
									mismatches++
								}
								if ok && differs(at+k) {
									away++
								}
							}
							if mismatches <= o.Mismatches && away <= o.Within {
								found[where{c.input, c.from + uint64(i), q, reverse}] = true
							}
						}
					}
				}
			}
			l.EachLiteral(i, len(letters), func(from, to int) { try(from, to, func(int) bool { return false }) })
			if p := l.Positions[i]; p != seqs.Unplaced {
				try(0, len(letters), func(k int) bool {
					got, _ := scan.Code(letters[k])
					if l.Reversed[i] {
						return got != 3-d.genome[int(p)+len(letters)-1-k]
					}
					return got != d.genome[int(p)+k]
				})
			}
		})
	}
	return found
}

// hits returns how often a sequence occurs in the pseudogenome and in the literals.
func (d *decodedArchive) hits(bases []byte, most int) int {
	n := 0
	count := func(text []byte) {
		for at := 0; at+len(bases) <= len(text); at++ {
			k := 0
			for i, b := range bases {
				if text[at+i] != b {
					k++
				}
			}
			if k <= most {
				n++
			}
		}
	}
	count(d.genome)
	for _, b := range d.batches {
		b.eachRead(func(m, i int, letters []byte) {
			b.cols[m].layout.EachLiteral(i, len(letters), func(from, to int) {
				var text []byte
				for _, l := range letters[from:to] {
					c, _ := scan.Code(l)
					text = append(text, c&3)
				}
				count(text)
			})
		})
	}
	return n
}

// drawQueries returns stretches of reads, some of them changed, and a sequence that is nowhere.
func (d *decodedArchive) drawQueries(r *rand.Rand, n int) (all []FindQuery) {
	for _, b := range d.batches {
		b.eachRead(func(_, i int, letters []byte) {
			size := MinQuery + r.Intn(25)
			if len(letters) < size || r.Intn(3) > 0 {
				return
			}
			at := r.Intn(len(letters) - size + 1)
			q, err := ParseQuery("read", string(letters[at:at+size]))
			if err != nil {
				return // N
			}
			if r.Intn(3) == 0 {
				q.Bases[r.Intn(size)] = byte(r.Intn(4))
			}
			if r.Intn(2) == 0 {
				q.Bases = otherStrand(q.Bases)
			}
			all = append(all, q)
		})
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(len(all), n)]
	palindrome := []byte("ACGTACGTACGTACGT")
	q, _ := ParseQuery("palindrome", string(palindrome))
	nowhere, _ := ParseQuery("nowhere", "acgtcccgatgagattttagcgcgatgcacgtaca")
	return append(all, q, nowhere)
}

// comparesWithScan indexes an archive and compares what is found with its promise and with what a search of all reads finds. It returns
// how many were found.
func comparesWithScan(t *testing.T, e commit.Entry, r *rand.Rand, queries int) (found int) {
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
	for _, o := range []FindOptions{{}, {Within: 3}, {Mismatches: 1, Within: 2}, {Mismatches: 2, Within: 3}} {
		all := d.drawQueries(r, queries)
		o.Reads, o.Threads = true, 2
		got := find(t, e, all, o)
		o.Scan = true
		scanned := find(t, e, all, o)
		if !got.Indexed || scanned.Indexed || !got.Counted || !scanned.Counted {
			t.Fatalf("indexed %v and %v", got.Indexed, scanned.Indexed)
		}
		is, truth := got.set(), scanned.set()
		if want := d.slow(all, o); !maps.Equal(truth, want) {
			t.Fatalf("%+v: the scan finds %d, want %d", o, len(truth), len(want))
		}
		for w := range is {
			if !truth[w] {
				t.Fatalf("%+v: %+v was found, but not by a scan", o, w)
			}
		}
		promised := d.promised(all, o)
		for w := range promised {
			if !is[w] {
				t.Fatalf("%+v: %+v (%v) was not found", o, w, all[w.query].Bases)
			}
		}
		// With mismatches a stretch that is near a query may be farther from the pseudogenome.
		if o.Mismatches == 0 && !d.pieces && len(is) != len(promised) {
			t.Fatalf("%+v: %d found, %d promised", o, len(is), len(promised))
		}
		counted := uint64(0)
		hits := make(map[[2]int]int)
		for _, c := range got.Counts {
			counted += c.Reads
			if _, twice := hits[[2]int{c.Query, bit(c.Reverse)}]; twice {
				t.Errorf("%+v: query %d is there twice", o, c.Query)
			}
			hits[[2]int{c.Query, bit(c.Reverse)}] = c.Hits
		}
		if counted != uint64(len(is)) {
			t.Errorf("%+v: %d reads counted, %d found", o, counted, len(is))
		}
		for i, q := range all {
			if slices.Equal(q.Bases, otherStrand(q.Bases)) {
				continue
			}
			for reverse, bases := range [][]byte{q.Bases, otherStrand(q.Bases)} {
				if want := d.hits(bases, o.Mismatches); hits[[2]int{i, reverse}] != want {
					t.Errorf("%+v: %v has %d hits, want %d", o, bases, hits[[2]int{i, reverse}], want)
				}
			}
		}
		found += len(is)
	}
	return found
}

// slow returns the reads that have queries, by comparing everywhere.
func (d *decodedArchive) slow(queries []FindQuery, o FindOptions) map[where]bool {
	found := make(map[where]bool)
	for _, b := range d.batches {
		b.eachRead(func(m, i int, letters []byte) {
			for q := range queries {
				for reverse, bases := range [][]byte{queries[q].Bases, otherStrand(queries[q].Bases)} {
					if reverse == 1 && slices.Equal(bases, queries[q].Bases) {
						continue
					}
					for at := 0; at+len(bases) <= len(letters); at++ {
						k := 0
						for j, want := range bases {
							if got, ok := scan.Code(letters[at+j]); !ok || got != want {
								k++
							}
						}
						if k <= o.Mismatches {
							found[where{b.cols[m].input, b.cols[m].from + uint64(i), q, reverse == 1}] = true
							break
						}
					}
				}
			}
		})
	}
	return found
}

// copied copies a directory and returns the archive in it.
func copied(t testing.TB, dir string) []commit.Entry {
	t.Helper()
	to := filepath.Join(t.TempDir(), "archive")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	found, err := commit.Find(to)
	if err != nil && !errors.Is(err, ErrNotArchive) {
		t.Fatal(err)
	}
	return found
}

// TestFindGolden searches archives of every kind.
func TestFindGolden(t *testing.T) {
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
					archives++
					found += comparesWithScan(t, e, r, 6)
				}
			}
		})
	}
	if archives < 20 || found < 1000 {
		t.Errorf("%d archives, %d found", archives, found)
	}
}

// variantReads are reads of a genome and, one in four, of another one that differs in a base of 150, in either direction, with errors.
func variantReads(r *rand.Rand, genome []byte, n, length int) (text string, variant []byte) {
	variant = bytes.Clone(genome)
	for at := 75; at < len(variant); at += 150 {
		variant[at] = "CGTA"[bytes.IndexByte([]byte("ACGT"), variant[at])]
	}
	var b bytes.Buffer
	for i := range n {
		from := genome
		if i%4 == 3 {
			from = variant
		}
		at := r.Intn(len(genome) - length + 1)
		read := bytes.Clone(from[at : at+length])
		for j := range read {
			switch r.Intn(400) {
			case 0:
				read[j] = "ACGT"[r.Intn(4)]
			case 1:
				read[j] = 'N'
			}
		}
		if r.Intn(2) == 0 {
			read = []byte(complementOf(string(read)))
		}
		fmt.Fprintf(&b, "@read%d/1\n%s\n+\n%s\n", i, read, bytes.Repeat([]byte{'F', ':', 'I'}[i%3:i%3+1], length))
	}
	return b.String(), variant
}

func complementOf(read string) string {
	b := make([]byte, len(read))
	for i := range len(read) {
		k := bytes.IndexByte([]byte("ACGTN"), read[i])
		b[len(b)-1-i] = "TGCAN"[k]
	}
	return string(b)
}

func entryOf(t testing.TB, path string) commit.Entry {
	t.Helper()
	e, err := commit.One(path)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestFindVariants: what only some reads have, and the pseudogenome does not, is found in as many reads as by a scan, of pairs as well.
func TestFindVariants(t *testing.T) {
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

// TestWindows: going through the text and searching the index give the same.
func TestWindows(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	text, _ := variantReads(r, []byte(randomBases(r, 90000)), 3000, 100)
	dir := binTo(t, single("a.fastq", text), record.Options{})
	packTo(t, dir, PackOptions{Threads: 2})
	e := entryOf(t, dir)
	if _, err := Index(context.Background(), e, IndexOptions{Threads: 2}); err != nil {
		t.Fatal(err)
	}
	d := decodedOf(t, e)
	src, err := openEntry(e, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	x, closeIndex, err := openIndex(e, src.manifest())
	if err != nil {
		t.Fatal(err)
	}
	defer closeIndex()
	if x.Chunks() < 2 {
		t.Errorf("%d chunks", x.Chunks())
	}
	found := 0
	for most := range 4 {
		f, err := NewFinder(d.drawQueries(r, 60), FindOptions{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		s := &search{Finder: f}
		order := func(a, b window) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.pattern, b.pattern)) }
		byRows, err := s.windowsByRows(context.Background(), x, most)
		if err != nil {
			t.Fatal(err)
		}
		byText, err := s.windowsByText(context.Background(), x, most)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(byRows, order)
		slices.SortFunc(byText, order)
		if !slices.Equal(byRows, byText) {
			t.Errorf("%d differences: %d and %d windows", most, len(byRows), len(byText))
		}
		found += len(byRows)
	}
	if found < 200 {
		t.Errorf("%d windows", found)
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
		o.Threads, o.Within = 2, 3
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
		if got := n.set(); !maps.Equal(got, want) || len(got) != len(n.Reads) || len(got) < 30 {
			t.Errorf("scan %v: %d reads, %d of them different, want %d", o.Scan, len(n.Reads), len(got), len(want))
		}
		if c := n.Counts; len(c) != 2 || c[0].Reads+c[1].Reads != uint64(len(want)) || !o.Scan && c[0].Hits+c[1].Hits != 1 {
			t.Errorf("scan %v: counts %+v", o.Scan, c)
		}
	}
}

// TestIndexFile: what is beside an archive and is not its index is an error, or is replaced if it is one.
func TestIndexFile(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewSource(5))
	text, _ := variantReads(r, []byte(randomBases(r, 2000)), 300, 60)
	other, _ := variantReads(r, []byte(randomBases(r, 2000)), 300, 60)
	dir := binTo(t, single("a.fastq", text), record.Options{})
	if _, err := Index(ctx, entryOf(t, dir), IndexOptions{}); err == nil || !strings.Contains(err.Error(), "not packed") {
		t.Errorf("index of bins: %v", err)
	}
	packTo(t, dir, PackOptions{})
	otherDir := binTo(t, single("a.fastq", other), record.Options{})
	packTo(t, otherDir, PackOptions{})
	e, path := entryOf(t, dir), filepath.Join(dir, "a.cfm")
	index := func(o IndexOptions) *IndexSummary {
		t.Helper()
		s, err := Index(ctx, e, o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := index(IndexOptions{Threads: 1})
	file, err := os.ReadFile(path)
	if err != nil || uint64(len(file)) != first.Bytes || first.There {
		t.Fatalf("%d bytes, %v, %+v", len(file), err, first)
	}
	if s := index(IndexOptions{}); !s.There || s.Bytes != first.Bytes || s.Bases != first.Bases {
		t.Errorf("a second time: %+v", s)
	}
	if s := index(IndexOptions{Force: true, Threads: 3}); s.There {
		t.Errorf("with force: %+v", s)
	}
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, file) {
		t.Errorf("another file: %v", err)
	}
	if _, err := Index(ctx, e, IndexOptions{Force: true, Memory: 100}); err == nil || !strings.Contains(err.Error(), "--memory") {
		t.Errorf("in little memory: %v", err)
	}
	q, _ := ParseQuery("q", "ACGTTGCATGCAAA")
	f, err := NewFinder([]FindQuery{q}, FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Index(ctx, entryOf(t, otherDir), IndexOptions{}); err != nil {
		t.Fatal(err)
	}
	foreign, err := os.ReadFile(filepath.Join(otherDir, "a.cfm"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(file)
	damaged[200] ^= 1
	for name, content := range map[string][]byte{"of another archive": foreign, "damaged": damaged, "cut": file[:len(file)-1]} {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Find(ctx, e); !errors.Is(err, ErrIndex) || !strings.Contains(err.Error(), "orcomgo index makes it again") {
			t.Errorf("%s: %v", name, err)
		}
		if s := index(IndexOptions{}); s.There {
			t.Errorf("%s: it was taken for the index", name)
		}
		if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, file) {
			t.Errorf("%s: not replaced: %v", name, err)
		}
	}
	if err := os.WriteFile(path, []byte("my own file"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Find(ctx, e); !errors.Is(err, ErrIndex) {
		t.Errorf("a file of somebody else: %v", err)
	}
	if _, err := Index(ctx, e, IndexOptions{}); !errors.Is(err, commit.ErrForeign) {
		t.Errorf("a file of somebody else was to be replaced: %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "my own file" {
		t.Errorf("it is %q now", got)
	}
}

func TestQueries(t *testing.T) {
	for text, want := range map[string]string{"ACGTACGTNACGT": "'N' at base 9", "ACGTACGTACG": "11 bases", "": "0 bases", "acgtACGTacgt": ""} {
		_, err := ParseQuery("q", text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
	q, _ := ParseQuery("q", "ACGTACGTACGT")
	for _, c := range []struct {
		queries []FindQuery
		o       FindOptions
	}{{nil, FindOptions{}}, {[]FindQuery{q}, FindOptions{Overlap: 11}}, {[]FindQuery{q}, FindOptions{Mismatches: 5}}, {[]FindQuery{q}, FindOptions{Mismatches: -1}}, {[]FindQuery{q}, FindOptions{Within: 9}}} {
		if _, err := NewFinder(c.queries, c.o); err == nil {
			t.Errorf("%+v passes", c)
		}
	}
}

// randomBases returns n letters.
func randomBases(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "ACGT"[r.Intn(4)]
	}
	return string(b)
}
