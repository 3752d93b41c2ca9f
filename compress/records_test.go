package compress

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/seqs"
	"orcomgo/internal/testrun"
)

// openReader opens an archive for the time of a test.
func openReader(t testing.TB, dir string) *Reader {
	t.Helper()
	r, err := Open(dir, ReaderOptions{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// fastq returns records as four lines each, by input.
func fastq(t testing.TB, r *Reader, q Query) []string {
	t.Helper()
	texts := make([]string, len(r.Inputs()))
	for rec, err := range r.Records(context.Background(), q) {
		if err != nil {
			t.Fatal(err)
		}
		texts[rec.Input] += fmt.Sprintf("@%s\n%s\n+\n%s\n", rec.Name, rec.Bases, rec.Quals)
	}
	return texts
}

func TestReaderRecords(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(51, 500, true)
	_, v := simulated(52, 90, false)
	ins := append(pair(r1, r2), input{"v.fastq", v, -1, false})
	var all [3][]string
	for i, in := range ins {
		all[i] = expected(in.text, record.Options{})
	}
	cut := func(i int, ranges []RecordRange) (text string) {
		n := uint64(len(all[i]))
		for _, r := range ranges {
			text += strings.Join(all[i][min(r.From, n):min(r.To, n)], "")
		}
		return text
	}
	everything := []RecordRange{{From: 0, To: 1 << 60}}
	for state, dir := range states(t, ins, record.Options{BlockSize: 64 << 10}) {
		r := openReader(t, dir)
		if got := r.Inputs(); len(got) != 3 || got[1].Mate != 0 || !got[1].Second || got[0].Second || got[2].Mate != -1 ||
			got[2].Name != "v.fastq" || got[0].Records != 500 {
			t.Errorf("%s: inputs %+v", state, got)
		}
		for _, q := range []Query{
			{Records: everything}, {}, {Inputs: []int{1}}, {Inputs: []int{2, 0}}, {Records: []RecordRange{{From: 0, To: 1}}},
			{Records: []RecordRange{{From: 3, To: 4}, {From: 4, To: 7}, {From: 80, To: 95}, {From: 300, To: 301}, {From: 499, To: 510}}},
			{Inputs: []int{1}, Records: []RecordRange{{From: 321, To: 322}}},
			{Records: []RecordRange{}},
		} {
			ranges := q.Records
			if ranges == nil {
				ranges = everything
			}
			for i, got := range fastq(t, r, q) {
				want := ""
				if q.Inputs == nil || slices.Contains(q.Inputs, i) {
					want = cut(i, ranges)
				}
				if got != want {
					t.Errorf("%s, %+v: input %d: %d bytes, want %d", state, q, i, len(got), len(want))
				}
			}
		}
	}
}

// TestReaderPairs: mates come in turn, with their numbers, and only what is asked for is there.
func TestReaderPairs(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(53, 300, true)
	for state, dir := range states(t, pair(r1, r2), record.Options{}) {
		r := openReader(t, dir)
		for want := Want(1); want <= WantAll; want++ {
			k := 0
			query := Query{Want: want, Records: []RecordRange{{From: 10, To: 20}, {From: 30, To: 40}}}
			for rec, err := range r.Records(context.Background(), query) {
				if err != nil {
					t.Fatal(err)
				}
				number := uint64(10 + k/2)
				if k >= 20 {
					number += 10
				}
				if rec.Input != k%2 || rec.Number != number {
					t.Fatalf("%s: record %d is number %d of input %d", state, k, rec.Number, rec.Input)
				}
				if (rec.Name != nil) != (want&WantNames != 0) || (rec.Bases != nil) != (want&WantBases != 0) ||
					(rec.Quals != nil) != (want&WantQuals != 0) {
					t.Fatalf("%s, want %b: %+v", state, want, rec)
				}
				k++
			}
			if k != 40 {
				t.Errorf("%s: %d records", state, k)
			}
		}
	}
}

// TestReaderOfLessThanAll: names that are numbers, no names, no qualities.
func TestReaderOfLessThanAll(t *testing.T) {
	testrun.NoRace(t)
	text := "@a b\nACGT\n+\nIIII\n@c\nGG\n+\n##\n"
	for _, c := range []struct {
		o    record.Options
		want string
	}{
		{record.Options{DropNames: true}, `["1" "ACGT" "IIII"] ["2" "GG" "##"] `},
		{record.Options{ReadsOnly: true}, `["" "ACGT" ""] ["" "GG" ""] `},
		{record.Options{Quality: record.QualityDrop}, `["a b" "ACGT" ""] ["c" "GG" ""] `},
	} {
		for state, dir := range states(t, single("x.fastq", text), c.o) {
			r := openReader(t, dir)
			got := ""
			for rec, err := range r.Records(context.Background(), Query{}) {
				got += fmt.Sprintf("%q ", []string{string(rec.Name), string(rec.Bases), string(rec.Quals)})
				if err != nil {
					t.Fatal(err)
				}
			}
			if got != c.want {
				t.Errorf("%s, %+v: %s", state, c.o, got)
			}
			_, err := r.MatchNames(context.Background(), Query{}, func([]byte) bool { return true })
			if noNames := c.o.DropNames || c.o.ReadsOnly; (err != nil) != noNames {
				t.Errorf("%s, %+v: names are matched: %v", state, c.o, err)
			}
		}
	}
}

// TestReaderConcurrent: several goroutines iterate, one stops early.
func TestReaderConcurrent(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(54, 400, true)
	for state, dir := range states(t, pair(r1, r2), record.Options{}) {
		r := openReader(t, dir)
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				n := 0
				for rec, err := range r.Records(context.Background(), Query{Inputs: []int{i % 2}}) {
					if n++; err != nil || rec.Input != i%2 {
						t.Errorf("%s: input %d: %v", state, rec.Input, err)
					}
					if i == 3 && n == 7 {
						break
					}
				}
				if i < 3 && n != 400 {
					t.Errorf("%s: %d records", state, n)
				}
			})
		}
		wg.Wait()
	}
}

func TestReaderErrors(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, _ := simulated(55, 300, false)
	dir := binTo(t, single("x.fastq", r1), record.Options{})
	packTo(t, dir, PackOptions{})
	damagedNames(t, dir)
	r := openReader(t, dir)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		q    Query
		want error
		text string
	}{
		{cancelled, Query{}, context.Canceled, ""},
		{context.Background(), Query{Inputs: []int{1}}, nil, "no input 1"},
		{context.Background(), Query{Records: []RecordRange{{From: 3, To: 3}}}, nil, "no records from 4 to 3"},
		{context.Background(), Query{Records: []RecordRange{{From: 3, To: 5}, {From: 4, To: 6}}}, nil, "not after record 5"},
		{context.Background(), Query{}, ErrCorrupt, "names of records 1 to"},
	} {
		var got error
		n := 0
		for _, err := range r.Records(c.ctx, c.q) {
			if err == nil {
				n++
			}
			got = err
		}
		if got == nil || c.want != nil && !errors.Is(got, c.want) || !strings.Contains(got.Error(), c.text) || n > 0 {
			t.Errorf("%+v: %d records, error %v", c.q, n, got)
		}
	}
	// What does not depend on the damage can be read.
	bases := 0
	for rec, err := range r.Records(context.Background(), Query{Want: WantBases}) {
		if bases += len(rec.Bases); err != nil {
			t.Fatal(err)
		}
	}
	if want := r.Inputs()[0].Bases; uint64(bases) != want {
		t.Errorf("%d bases, want %d", bases, want)
	}
}

// damagedNames changes a byte of the names of the first slice of x.
func damagedNames(t *testing.T, dir string) {
	t.Helper()
	a, err := archive.OpenEntry(entryOf(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	damage(t, a.Paths()[0], int64(a.Manifest().Slices[0].First.Sections[archive.Names].Off)+3, 1)
}

func TestMatchNames(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(56, 500, true)
	_, v := simulated(57, 90, false)
	ins := append(pair(r1, r2), input{"v.fastq", v, -1, false})
	name := func(text string, i int) string {
		return strings.TrimPrefix(strings.SplitAfter(expected(text, record.Options{})[i], "\n")[0], "@")
	}
	wanted := []string{name(r1, 7), name(r2, 8), name(r1, 499), name(v, 33)}
	match := func(b []byte) bool { return slices.Contains(wanted, string(b)+"\n") }
	for state, dir := range states(t, ins, record.Options{BlockSize: 64 << 10}) {
		r := openReader(t, dir)
		for _, c := range []struct {
			inputs []int
			want   string
		}{
			{nil, "[[{7 9} {499 500}] [{7 9} {499 500}] [{33 34}]]"},
			{[]int{0}, "[[{7 8} {499 500}] [{7 8} {499 500}] []]"},
			{[]int{1}, "[[{8 9}] [{8 9}] []]"},
			{[]int{2}, "[[] [] [{33 34}]]"},
		} {
			got, err := r.MatchNames(context.Background(), Query{Inputs: c.inputs}, match)
			if err != nil || fmt.Sprint(got) != c.want {
				t.Errorf("%s, inputs %v: %v, %v; want %s", state, c.inputs, got, err, c.want)
			}
		}
		got, err := r.MatchNames(context.Background(), Query{Records: []RecordRange{{From: 8, To: 40}}}, match)
		if err != nil || fmt.Sprint(got) != "[[{8 9}] [{8 9}] [{33 34}]]" {
			t.Errorf("%s: of some records: %v, %v", state, got, err)
		}
	}
}

// TestReaderOfLongReads: reads of 701 bases or more are aligned in pieces, and such slices are decoded whole.
func TestReaderOfLongReads(t *testing.T) {
	testrun.NoRace(t)
	text, _ := longReads(t, 20)
	want := expected(text, record.Options{})
	for state, dir := range states(t, single("x.fastq", text), record.Options{}) {
		r := openReader(t, dir)
		if state == "packed" {
			p := openPacked(t, dir)
			if data, err := p.Archive.Read(p.Man.Slices[0].Seqs, nil, "sequences"); err != nil || !seqs.NeedsAll(data) {
				t.Errorf("no pieces: error %v", err)
			}
		}
		if got := fastq(t, r, Query{Records: []RecordRange{{From: 2, To: 4}}})[0]; got != strings.Join(want[2:4], "") {
			t.Errorf("%s: %d bytes", state, len(got))
		}
	}
}
