package compress

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/internal/testrun"
)

// TestRoundTrip brings every oddity through both stages, from bins and packed.
func TestRoundTrip(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	all := oddities()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if testrun.Short() && i%3 != 0 {
			continue
		}
		ins := all[name]
		t.Run(name, func(t *testing.T) {
			dir := binTo(t, ins, record.Options{})
			want := texts(ins)
			sameFiles(t, unpackAll(t, dir, UnpackOptions{Threads: 2}), want)
			verifyOK(t, dir, "block hashes")
			s := packTo(t, dir, PackOptions{Threads: 2, Tool: "test"})
			sameFiles(t, unpackAll(t, dir, UnpackOptions{Threads: 2}), want)
			verifyOK(t, dir, "SHA-256")
			for _, f := range []string{"*.bdna", "*.bmeta", "*.tmp", "*.new"} {
				if left, _ := filepath.Glob(filepath.Join(dir, f)); left != nil {
					t.Errorf("left over: %v", left)
				}
			}
			info, err := infoOf(dir)
			if err != nil {
				t.Fatal(err)
			}
			if info.ArchiveBytes != s.ArchiveBytes || info.Columns.Total() != info.ArchiveBytes || !info.Lossless || !info.Verified ||
				len(info.Inputs) != len(ins) {
				t.Errorf("info %+v", info)
			}
			if s.ArchiveBytes > 2000 && len(want) == 1 && s.TextBytes < 100 {
				t.Errorf("%d bytes of text take %d", s.TextBytes, s.ArchiveBytes)
			}
		})
	}
}

// TestBlocks crosses slices, blocks and mates' blocks.
func TestBlocks(t *testing.T) {
	smallSlices(t)
	n := testrun.Pick(3, 2, 1)
	r1, r2 := simulated(3, 1200/n, true)
	s1, s2 := simulated(4, 700/n, false)
	ins := append(pair(r1, r2), input{"s_1.fastq", s1, 3, true}, input{"s_2.fastq", s2, 2, false})
	for _, size := range []uint64{70_000 / uint64(n)} {
		dir := binTo(t, ins, record.Options{BlockSize: size})
		sameFiles(t, unpackAll(t, dir, UnpackOptions{Threads: 3}), texts(ins))
		s := packTo(t, dir, PackOptions{Threads: 3})
		if s.Slices < 10 {
			t.Errorf("only %d slices", s.Slices)
		}
		sameFiles(t, unpackAll(t, dir, UnpackOptions{Threads: 3}), texts(ins))
		verifyOK(t, dir, "SHA-256")
	}
}

// fields are the parts of four-line records.
type fields struct{ name, seq, qual string }

func parseText(text string) []fields {
	var fs []fields
	lines := strings.Split(text, "\n")
	for i := 0; i+3 < len(lines); i += 4 {
		fs = append(fs, fields{lines[i][1:], lines[i+1], lines[i+3]})
	}
	return fs
}

// expected returns what an input comes back as, record by record, if the order is kept.
func expected(text string, o record.Options) []string {
	var out []string
	for i, f := range parseText(text) {
		if o.ReadsOnly {
			out = append(out, f.seq+"\n")
			continue
		}
		if o.DropNames {
			f.name = fmt.Sprint(i + 1)
		}
		switch o.Quality {
		case record.QualityDrop:
			out = append(out, ">"+f.name+"\n"+f.seq+"\n")
		case record.QualityBin8:
			f.qual = strings.Map(illumina8, f.qual)
			fallthrough
		default:
			out = append(out, "@"+f.name+"\n"+f.seq+"\n+\n"+f.qual+"\n")
		}
	}
	return out
}

// illumina8 is the level to which `--quality bin8` takes a quality.
func illumina8(c rune) rune {
	levels := []struct{ from, to rune }{{40, 40}, {35, 37}, {30, 33}, {25, 27}, {20, 22}, {10, 15}, {2, 6}}
	for _, l := range levels {
		if c-33 >= l.from {
			return l.to + 33
		}
	}
	return c
}

// records cuts delivered text into records again.
func records(text string, o record.Options) []string {
	per := 4
	if o.ReadsOnly {
		per = 1
	} else if o.Quality == record.QualityDrop {
		per = 2
	}
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1]
	var out []string
	for i := 0; i < len(lines); i += per {
		out = append(out, strings.Join(lines[i:min(i+per, len(lines))], ""))
	}
	return out
}

// TestOptions tries every combination of what can be left out, on a pair and a single
// input in one archive, and compares with a plain model of what must come back.
func TestOptions(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(21, testrun.Pick(300, 300, 500), false)
	v1, _ := simulated(22, testrun.Pick(200, 200, 300), true)
	ins := append(pair(r1, r2), input{"v.fq", v1, -1, false})
	var cases []record.Options
	for _, readsOnly := range []bool{false, true} {
		for _, any := range []bool{false, true} {
			if readsOnly {
				cases = append(cases, record.Options{ReadsOnly: true, OrderAny: any})
				continue
			}
			for _, drop := range []bool{false, true} {
				for q := record.QualityKeep; q <= record.QualityDrop; q++ {
					cases = append(cases, record.Options{OrderAny: any, DropNames: drop, Quality: q})
				}
			}
		}
	}
	for i, o := range cases {
		if testrun.Short() && i%4 != 0 {
			continue // those left have each value of each option
		}
		t.Run(fmt.Sprintf("reads%v any%v drop%v quality%d", o.ReadsOnly, o.OrderAny, o.DropNames, o.Quality), func(t *testing.T) {
			o.BlockSize = 64 << 10
			dir := binTo(t, ins, o)
			check := func(stage string, ordered bool) {
				got := unpackAll(t, dir, UnpackOptions{Threads: 2})
				if len(got) != 3 {
					t.Fatalf("%s: %d files", stage, len(got))
				}
				text := func(stem string) string {
					for name, s := range got {
						if strings.HasPrefix(name, stem) {
							return s
						}
					}
					t.Fatalf("%s: no %s among the files", stage, stem)
					return ""
				}
				a, b, v := records(text("r_1"), o), records(text("r_2"), o), records(text("v"), o)
				wa, wb, wv := expected(r1, o), expected(r2, o), expected(v1, o)
				if len(a) != len(b) {
					t.Fatalf("%s: %d first mates, %d second", stage, len(a), len(b))
				}
				if !ordered {
					if o.DropNames && !o.ReadsOnly {
						a, b, v = unnumbered(t, a), unnumbered(t, b), unnumbered(t, v)
						wa, wb, wv = unnumbered(t, wa), unnumbered(t, wb), unnumbered(t, wv)
					}
					a, wa = joinMates(a, b), joinMates(wa, wb)
					b, wb = nil, nil
					for _, s := range [][]string{a, wa, v, wv} {
						slices.Sort(s)
					}
				}
				if !slices.Equal(a, wa) || !slices.Equal(b, wb) || !slices.Equal(v, wv) {
					t.Errorf("%s: other records come back", stage)
				}
			}
			check("bins", true)
			s := packTo(t, dir, PackOptions{Threads: 2})
			if s.Slices < 4 {
				t.Errorf("only %d slices", s.Slices)
			}
			check("packed", !o.OrderAny)
			verifyOK(t, dir, "SHA-256")
		})
	}
}

// unnumbered checks that records are numbered from 1 and takes the numbers off.
func unnumbered(t *testing.T, rs []string) []string {
	out := make([]string, len(rs))
	for i, r := range rs {
		name, rest, _ := strings.Cut(r[1:], "\n")
		if name != fmt.Sprint(i+1) {
			t.Fatalf("record %d is called %q", i+1, name)
		}
		out[i] = rest
	}
	return out
}

func joinMates(a, b []string) []string {
	out := make([]string, len(a))
	for i := range a {
		out[i] = a[i] + b[i]
	}
	return out
}

// TestDeterminism: the same bytes whatever the threads, and a second time.
func TestDeterminism(t *testing.T) {
	smallSlices(t)
	r1, r2 := simulated(31, testrun.Pick(160, 400, 500), true)
	for _, o := range []record.Options{{}, {ReadsOnly: true, OrderAny: true}, {OrderAny: true}} {
		o.BlockSize = 100 << 10
		dir := binTo(t, pair(r1, r2), o)
		var first map[string]string
		for _, threads := range testrun.Pick([]int{1, manyThreads}, []int{1, 2, manyThreads}, []int{1, 2, manyThreads}) {
			// With GPU, work waits for a device that may not be there.
			packTo(t, dir, PackOptions{Threads: threads, GPU: threads > 1, KeepBins: true, Force: true})
			files := filesIn(t, dir)
			if first == nil {
				first = files
				if len(files) != 4 {
					t.Fatalf("%d files", len(files))
				}
				continue
			}
			sameFiles(t, files, first)
		}
	}
}

// TestMemoryBound lays reads out in shares and codes them in parts, or in windows of a run.
func TestMemoryBound(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(82, 2500, false)
	for i, o := range []record.Options{{}, {ReadsOnly: true, OrderAny: true}} {
		if testrun.Short() && i > 0 {
			break
		}
		o.BlockSize = 64 << 10
		dir := binTo(t, pair(r1, r2), o)
		free := packTo(t, dir, PackOptions{Threads: 2, KeepBins: true})
		bound := packTo(t, dir, PackOptions{Threads: 2, KeepBins: true, Force: true, Memory: 300 << 10})
		// Shares give another pseudogenome, which can be a little smaller.
		bytes, least := bound.Columns.ByColumn[archive.Seqs], free.Columns.ByColumn[archive.Seqs]
		if bytes == least {
			t.Errorf("in bounded memory sequences take %d bytes, else %d: it made no parts", bytes, least)
		}
		if bound.Columns.ByColumn[archive.Seqs] > free.Columns.ByColumn[archive.Seqs]*12/10 {
			t.Errorf("in bounded memory sequences take %d bytes, else %d",
				bound.Columns.ByColumn[archive.Seqs], free.Columns.ByColumn[archive.Seqs])
		}
		got := unpackAll(t, dir, UnpackOptions{Threads: 2, Memory: 1 << 20})
		if !o.ReadsOnly {
			sameFiles(t, got, texts(pair(r1, r2)))
			continue
		}
		a, wa := joinMates(records(got["r_1.reads"], o), records(got["r_2.reads"], o)), joinMates(expected(r1, o), expected(r2, o))
		slices.Sort(a)
		slices.Sort(wa)
		if !slices.Equal(a, wa) {
			t.Error("other reads come back")
		}
	}
}
