package compress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/columns"
	"orcomgo/compress/scan"
	"orcomgo/compress/seqs"
	"orcomgo/compress/source"
)

// where is a read and a query in it.
type where struct {
	input   int
	record  uint64
	query   int
	reverse bool
}

func setOf(f *Finding) map[where]bool {
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
	batches []*source.Decoded
	pieces  bool // there are slices with pieces
	starts  map[*columns.Columns]*record.Starts
}

// decodeReads decodes the reads of slice i, and where they are.
func decodeReads(ctx context.Context, p *source.Packed, i int) (*source.Decoded, error) {
	b, err := p.Decode(ctx, source.Demand{Slice: i, Want: [2]bool{true, true}, Columns: columns.OnlyReads(), Layouts: true})
	if err == nil {
		err = errors.Join(b.Err[0], b.Err[1])
	}
	return b, err
}

func decodedOf(t testing.TB, e commit.Entry) *decodedArchive {
	t.Helper()
	ctx := context.Background()
	src, err := source.OpenEntry(e, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	p := src.(*source.Packed)
	d := &decodedArchive{starts: make(map[*columns.Columns]*record.Starts)}
	for i := range p.Man.Slices {
		if err := p.NeedShared(ctx); err != nil {
			t.Fatal(err)
		}
		b, err := decodeReads(ctx, p, i)
		if err != nil {
			t.Fatal(err)
		}
		d.batches = append(d.batches, b)
		d.pieces = d.pieces || b.Cols[0].Layout.Literals != nil
		if d.genome == nil {
			err := p.Pool.Do(ctx, func() (err error) {
				d.genome, err = p.Seqs.Genome(nil, 0, math.MaxInt)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return d
}

// read returns a read of an archive: its batch, its member there, its number and its letters.
func (d *decodedArchive) read(t testing.TB, input int, record uint64) (b *source.Decoded, m, i int, letters []byte) {
	t.Helper()
	for _, b := range d.batches {
		for m, c := range b.Cols {
			if c == nil || c.Input != input || record < c.From || record >= c.From+uint64(c.Records) {
				continue
			}
			i := int(record - c.From)
			if d.starts[c] == nil {
				starts := c.Lengths.Starts()
				d.starts[c] = &starts
			}
			from := d.starts[c].Of(i)
			return b, m, i, c.Letters[from : from+c.Lengths.Of(i)]
		}
	}
	t.Fatalf("no record %d of input %d", record, input)
	return nil, 0, 0, nil
}

// promises reports whether the index promises to find a query in a read, by comparing the read with the pseudogenome and with the query.
func (d *decodedArchive) promises(t testing.TB, w where, bases []byte, o FindOptions) (promised bool) {
	t.Helper()
	b, m, i, letters := d.read(t, w.input, w.record)
	if w.reverse {
		bases = otherStrand(bases)
	}
	l := b.Cols[m].Layout
	try := func(from, to int, differs func(k int) bool) {
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
			promised = promised || mismatches <= o.Mismatches && away <= o.Within
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
	return promised
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
		b.EachRead(func(m, i int, letters []byte) {
			b.Cols[m].Layout.EachLiteral(i, len(letters), func(from, to int) {
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

// drawQueries returns stretches of reads of at least so many bases, some of them changed, and a sequence that is nowhere.
func (d *decodedArchive) drawQueries(r *rand.Rand, n, least int) (all []FindQuery) {
	for _, b := range d.batches {
		b.EachRead(func(_, i int, letters []byte) {
			size := least + r.Intn(25)
			if len(letters) < size || r.Intn(3) > 0 {
				return
			}
			at := r.Intn(len(letters) - size + 1)
			q, err := ParseQuery("read", string(letters[at:at+size]))
			if err != nil || len(q.Variants) > 1 {
				return // N
			}
			if r.Intn(3) == 0 {
				q.Variants[0][r.Intn(size)] = byte(r.Intn(4))
			}
			if r.Intn(2) == 0 {
				q.Variants[0] = otherStrand(q.Variants[0])
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

// comparesRecords compares the text of the records that a scan finds, with the letters of the reads.
func (d *decodedArchive) comparesRecords(t *testing.T, e commit.Entry, queries []FindQuery, o FindOptions, scanned *Finding) {
	t.Helper()
	var text bytes.Buffer
	o.Records = func(b []byte) error {
		text.Write(b)
		return nil
	}
	if got := setOf(find(t, e, queries, o)); !maps.Equal(got, setOf(scanned)) {
		t.Errorf("%+v: %d reads with their records, %d without", o, len(got), len(scanned.Reads))
	}
	all := strings.NewReplacer("\n", "", "\r", "").Replace(text.String())
	for _, r := range scanned.Reads {
		if _, _, _, letters := d.read(t, r.Input, r.Record); !strings.Contains(all, string(letters)) {
			t.Errorf("%+v: the text does not have record %d of input %d", o, r.Record, r.Input)
		}
	}
}

// slow returns the reads that have queries, by comparing everywhere.
func (d *decodedArchive) slow(queries []FindQuery, o FindOptions) map[where]bool {
	found := make(map[where]bool)
	for _, b := range d.batches {
		b.EachRead(func(m, i int, letters []byte) {
			for q := range queries {
				for reverse, bases := range [][]byte{queries[q].Variants[0], otherStrand(queries[q].Variants[0])} {
					if reverse == 1 && slices.Equal(bases, queries[q].Variants[0]) {
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
							found[where{b.Cols[m].Input, b.Cols[m].From + uint64(i), q, reverse == 1}] = true
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

// randomBases returns n letters.
func randomBases(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "ACGT"[r.Intn(4)]
	}
	return string(b)
}

// otherStrand returns the reverse complement of bases, 0 to 3.
func otherStrand(bases []byte) []byte {
	r := make([]byte, len(bases))
	for i, b := range bases {
		r[len(r)-1-i] = 3 - b
	}
	return r
}
