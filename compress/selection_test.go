package compress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/source"
	"orcomgo/internal/testrun"
)

// nameOf returns the name of a record of four lines.
func nameOf(rec string) string {
	name, _, _ := strings.Cut(rec[1:], "\n")
	return name
}

func TestNameFilter(t *testing.T) {
	f := NewNameFilter([]string{"r1", "r2/1", "r3 1:N:0", "/1"}, regexp.MustCompile(`x.*y$`))
	for name, want := range map[string]bool{
		"r1": true, "r1 1:N:0": true, "r1\tz": true, "r1/1": true, "r1/2 z": true, "r1/3": false, "r10": false, "z r1": false,
		"r2": false, "r2/1": true, "r2/2": false, "r3": false, "r3 1:N:0": true, "r3 2:N:0": false, "/1": true, "/2": false,
		"xy": true, "a x y": true, "x y ": false, "": false,
	} {
		if got := f.Matches([]byte(name)); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// TestUnpackSelection compares what is restored with what was put in.
func TestUnpackSelection(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(61, 500, true)
	_, v := simulated(62, 90, false)
	ins := append(pair(r1, r2), input{"v.fastq", v, -1, false})
	var all [3][]string
	for i, in := range ins {
		all[i] = expected(in.text, record.Options{})
	}
	// want returns the text of the inputs, in the records for which keep is true.
	want := func(inputs []int, keep func(input, i int) bool) string {
		text := ""
		for _, input := range inputs {
			for i, rec := range all[input] {
				if keep(input, i) {
					text += rec
				}
			}
		}
		return text
	}
	everything := func(int, int) bool { return true }
	words := func(input int, numbers ...int) (list []string) {
		for _, i := range numbers {
			list = append(list, strings.Fields(nameOf(all[input][i]))[0])
		}
		return list
	}
	only := func(input int, numbers ...int) func(int, int) bool {
		return func(k, i int) bool { return (k == input || ins[k].mate == input) && slices.Contains(numbers, i) }
	}
	re := regexp.MustCompile(`[37]$|:4`)
	matches := func(input, i int) bool {
		if ins[input].mate >= 0 {
			return re.MatchString(nameOf(all[0][i])) || re.MatchString(nameOf(all[1][i]))
		}
		return re.MatchString(nameOf(all[input][i]))
	}
	for state, dir := range states(t, ins, record.Options{BlockSize: 64 << 10}) {
		for name, c := range map[string]struct {
			o    UnpackOptions
			want string
		}{
			"input":   {UnpackOptions{Inputs: []string{"r_2.fastq"}}, r2},
			"inputs":  {UnpackOptions{Inputs: []string{"v*", "r_1.fastq"}}, r1 + v},
			"pattern": {UnpackOptions{Inputs: []string{"r_[12].*"}}, r1 + r2},
			"mate 1":  {UnpackOptions{Mate: 1}, r1},
			"mate 2":  {UnpackOptions{Mate: 2}, r2},
			"from":    {UnpackOptions{Records: &RecordRange{From: 80, To: 1 << 63}}, want([]int{0, 1, 2}, func(_, i int) bool { return i >= 80 })},
			"records of mate 2": {UnpackOptions{Mate: 2, Records: &RecordRange{From: 77, To: 99}},
				want([]int{1}, func(_, i int) bool { return i >= 77 && i < 99 })},
			"name":             {UnpackOptions{Names: NewNameFilter(words(0, 123), nil)}, want([]int{0, 1}, only(0, 123))},
			"name of mate 1":   {UnpackOptions{Mate: 1, Names: NewNameFilter(words(0, 499), nil)}, want([]int{0}, only(0, 499))},
			"names":            {UnpackOptions{Names: NewNameFilter(words(0, 499, 0, 7, 8), nil)}, want([]int{0, 1}, only(0, 0, 7, 8, 499))},
			"single":           {UnpackOptions{Names: NewNameFilter(words(2, 5, 80), nil), Inputs: []string{"v*"}}, want([]int{2}, only(2, 5, 80))},
			"pattern of names": {UnpackOptions{Names: NewNameFilter(nil, re)}, want([]int{0, 1, 2}, matches)},
			"all names":        {UnpackOptions{Names: NewNameFilter(nil, regexp.MustCompile(""))}, want([]int{0, 1, 2}, everything)},
			"records with names": {UnpackOptions{Names: NewNameFilter(nil, re), Records: &RecordRange{From: 40, To: 400}},
				want([]int{0, 1, 2}, func(k, i int) bool { return i >= 40 && i < 400 && matches(k, i) })},
		} {
			if got := stream(t, dir, c.o); got != c.want {
				t.Errorf("%s, %s: %d bytes, want %d", state, name, len(got), len(c.want))
			}
		}
		// To files, with names that say so, and interleaved.
		o := UnpackOptions{Names: NewNameFilter(words(0, 3, 250), nil), Threads: 2}
		sameFiles(t, unpackAll(t, dir, o), map[string]string{
			"r_1.selected.fastq": want([]int{0}, only(0, 3, 250)), "r_2.selected.fastq": want([]int{1}, only(0, 3, 250))})
		o.Interleave = true
		sameFiles(t, unpackAll(t, dir, o), map[string]string{
			"r_1.selected.interleaved.fastq": all[0][3] + all[1][3] + all[0][250] + all[1][250]})
		sameFiles(t, unpackAll(t, dir, UnpackOptions{Interleave: true, Inputs: []string{"r_2.fastq", "v.fastq"}}), map[string]string{
			"r_2.interleaved.fastq": r2, "v.fastq": v})
	}
}

func TestSelectionErrors(t *testing.T) {
	text := "@a\nA\n+\nI\n"
	alone := binTo(t, single("x.fastq", text), record.Options{})
	packTo(t, alone, PackOptions{})
	paired := binTo(t, append(pair(text, text), input{"v.fastq", text, -1, false}), record.Options{})
	none := binTo(t, single("x.fastq", text), record.Options{DropNames: true})
	for _, c := range []struct {
		dir  string
		o    UnpackOptions
		want string
	}{
		{alone, UnpackOptions{Inputs: []string{"y*"}}, "no input is called y*: there are x.fastq"},
		{alone, UnpackOptions{Mate: 1}, "its inputs have no mates"},
		{paired, UnpackOptions{Mate: 2, Inputs: []string{"v.fastq"}}, "none of the inputs that are asked for has mates number 2"},
		{alone, UnpackOptions{Names: NewNameFilter([]string{"b"}, nil)}, "no record has a name that is asked for: b"},
		{alone, UnpackOptions{Records: &RecordRange{From: 1, To: 2}}, "the archive has no record 2: its inputs have 1 at most"},
		{none, UnpackOptions{Names: NewNameFilter([]string{"1"}, nil)}, "there are no names: they were not kept"},
	} {
		c.o.OutDir = t.TempDir()
		_, err := Unpack(context.Background(), c.dir, c.o)
		if err == nil || !strings.HasSuffix(err.Error(), c.want) || len(filesIn(t, c.o.OutDir)) > 0 {
			t.Errorf("%+v: error %v", c.o, err)
		}
	}
}

// TestSelectionDecodesWhatItNeeds damages everything that is not needed.
func TestSelectionDecodesWhatItNeeds(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(63, 900, true)
	dir := binTo(t, pair(r1, r2), record.Options{})
	packTo(t, dir, PackOptions{})
	a, err := archive.OpenEntry(entryOf(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	slice := 1
	s := a.Manifest().Slices[slice]
	for i, other := range a.Manifest().Slices {
		other.EachSection(func(c archive.Column, m int, sec *archive.Section) {
			if i != slice && c != archive.Names && sec.Len > 0 {
				damage(t, a.Paths()[0], int64(sec.Off), 1)
			}
		})
	}
	a.Close()
	all := [2][]string{expected(r1, record.Options{}), expected(r2, record.Options{})}
	n := int(s.From) + 5
	got := stream(t, dir, UnpackOptions{Names: NewNameFilter([]string{strings.Fields(nameOf(all[0][n]))[0]}, nil)})
	if got != all[0][n]+all[1][n] {
		t.Errorf("%q", got)
	}
	// Without qualities and sequences, names are all there.
	r := openReader(t, dir)
	names := ""
	for rec, err := range r.Records(context.Background(), Query{Inputs: []int{0}, Want: WantNames}) {
		if err != nil {
			t.Fatal(err)
		}
		names += string(rec.Name) + "\n"
	}
	want := ""
	for _, rec := range all[0] {
		want += nameOf(rec) + "\n"
	}
	if names != want {
		t.Error("names differ")
	}
	if _, err := Unpack(context.Background(), dir, UnpackOptions{Stream: io.Discard}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("the damage is not there: %v", err)
	}
}

// TestFirstRecordsAreDecodedAlone: of a slice no more is decoded than the records up to the last one that is wanted.
func TestFirstRecordsAreDecodedAlone(t *testing.T) {
	testrun.NoRace(t)
	r1, r2 := simulated(72, 900, false) // all have a place: of reads that have none, no first ones can be decoded alone
	_, v := simulated(73, 900, false)
	for name, ins := range map[string][]input{"pair": pair(r1, r2), "single": single("v.fastq", v)} {
		dir := binTo(t, ins, record.Options{})
		packTo(t, dir, PackOptions{})
		p := openPacked(t, dir)
		b, err := p.Decode(context.Background(), source.Demand{Want: [2]bool{true, true}, First: 7})
		if err != nil || b.Err != ([2]error{}) {
			t.Fatal(name, err, b.Err)
		}
		for m := range ins {
			if c := b.Cols[m]; c.Records != 7 || cap(c.Quals) > 7*400 && m > 0 || len(c.Letters) != int(c.Bases()) {
				t.Errorf("%s: member %d: %d records, room for %d qualities, %d letters", name, m, c.Records, cap(c.Quals), len(c.Letters))
			}
		}
	}
}

// TestUnpackSplit: parts have so many records each, and end to end they are the input.
func TestUnpackSplit(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(64, 500, true)
	ins := append(pair(r1, r2), input{"e.fastq", "", -1, false})
	all := [2][]string{expected(r1, record.Options{}), expected(r2, record.Options{})}
	part := func(recs []string, k, n int) string { return strings.Join(recs[k*n:min((k+1)*n, len(recs))], "") }
	for state, dir := range states(t, ins, record.Options{BlockSize: 64 << 10}) {
		for _, n := range []int{13, 77, 250, 500, 501} {
			want := map[string]string{"e.part_001.fastq": ""}
			for k := 0; k*n < 500; k++ {
				for m := range all {
					want[fmt.Sprintf("r_%d.part_%03d.fastq", m+1, k+1)] = part(all[m], k, n)
				}
			}
			sameFiles(t, unpackAll(t, dir, UnpackOptions{Split: uint64(n), Threads: 2}), want)
		}
		mixed := interleaved(all[0], all[1])
		want := map[string]string{}
		for k := range 3 {
			want[fmt.Sprintf("r_1.interleaved.part_%03d.fastq", k+1)] = part(mixed, k, 400)
		}
		got := unpackAll(t, dir, UnpackOptions{Split: 200, Interleave: true, Inputs: []string{"r*"}, Threads: 2})
		sameFiles(t, got, want)
		got = unpackAll(t, dir, UnpackOptions{Split: 200, Gzip: true, Inputs: []string{"r_1*"}, Records: &RecordRange{From: 100, To: 450}})
		if len(got) != 2 || gunzip(t, got["r_1.101-450.part_001.fastq.gz"]) != strings.Join(all[0][100:300], "") ||
			gunzip(t, got["r_1.101-450.part_002.fastq.gz"]) != strings.Join(all[0][300:450], "") {
			t.Errorf("%s: parts of a range, compressed: %d files", state, len(got))
		}
		_, err := Unpack(context.Background(), dir, UnpackOptions{Split: 1, OutDir: t.TempDir(), Inputs: []string{"e*"}})
		if err != nil {
			t.Errorf("%s: %v", state, err)
		}
	}
	dir := binTo(t, single("many.fastq", strings.Repeat("@a\nA\n+\nI\n", 3001)), record.Options{})
	out := t.TempDir()
	_, err := Unpack(context.Background(), dir, UnpackOptions{Split: 1, OutDir: out})
	if err == nil || !strings.Contains(err.Error(), "3001 files of 1 records are more than the 3000") || len(filesIn(t, out)) > 0 {
		t.Errorf("error %v", err)
	}
}

// damageMates changes the first byte of a column of all second mates.
func damageMates(t *testing.T, dir string, column archive.Column) {
	t.Helper()
	a, err := archive.OpenEntry(entryOf(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, s := range a.Manifest().Slices {
		if s.Mate != nil {
			damage(t, a.Paths()[0], int64(s.Mate.Sections[column].Off), 1)
		}
	}
}

// TestFirstMatesAlone: first mates are restored without the names and qualities of second mates.
func TestFirstMatesAlone(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(68, 300, true)
	dir := binTo(t, pair(r1, r2), record.Options{})
	packTo(t, dir, PackOptions{})
	for _, column := range []archive.Column{archive.Names, archive.Quals} {
		damageMates(t, dir, column)
		sameFiles(t, unpackAll(t, dir, UnpackOptions{Mate: 1, Threads: 2}), map[string]string{"r_1.fastq": r1})
		some := unpackAll(t, dir, UnpackOptions{Mate: 1, Records: &RecordRange{From: 7, To: 9}})
		sameFiles(t, some, map[string]string{"r_1.8-9.fastq": strings.Join(expected(r1, record.Options{})[7:9], "")})
		var damage *DamagedError
		if _, err := Unpack(context.Background(), dir, UnpackOptions{OutDir: t.TempDir(), Mate: 2}); !errors.As(err, &damage) {
			t.Errorf("second mates without their %s: error %v", column, err)
		}
	}
}

// TestInterleavedDamage: files of pairs are restored only if both mates are whole; other files are.
func TestInterleavedDamage(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(65, 300, true)
	_, v := simulated(66, 60, false)
	dir := binTo(t, append(pair(r1, r2), input{"v.fastq", v, -1, false}), record.Options{})
	packTo(t, dir, PackOptions{})
	damageMates(t, dir, archive.Names)
	out := t.TempDir()
	s, err := Unpack(context.Background(), dir, UnpackOptions{OutDir: out, Interleave: true, Threads: 2})
	var damage *DamagedError
	if !errors.As(err, &damage) || damage.Damaged != 2 || s == nil || !strings.Contains(s.Files[0].Problem, "its mates are in the same file") {
		t.Errorf("error %v, %+v", err, s)
	}
	sameFiles(t, filesIn(t, out), map[string]string{"v.fastq": v})
}
