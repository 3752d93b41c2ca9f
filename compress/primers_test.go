package compress

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/packing"
	"orcomgo/compress/quals"
	"orcomgo/compress/source"
	"orcomgo/internal/testrun"
)

// smallPrimers makes primers of so many qualities, of inputs of any size, until the test ends.
func smallPrimers(t *testing.T, size int) {
	setLimits(t, func(l *packing.Limits) { l.Primer, l.LeastLeading = size, size })
}

// TestPrimers: qualities of all slices but the first begin with its models, whatever the number of threads. All records come back, one by
// one and together, and damage of the first slice is told.
func TestPrimers(t *testing.T) {
	smallSlices(t)
	smallPrimers(t, 5000)
	r1, r2 := simulated(61, testrun.Pick(300, 500, 500), true)
	_, v := simulated(62, testrun.Pick(180, 300, 300), false)
	ins := append(pair(r1, r2), input{"v.fastq", v, -1, false})
	var cdna string
	for _, threads := range testrun.Pick([]int{4}, []int{1, 4}, []int{1, 4}) {
		dir := binTo(t, ins, record.Options{})
		packTo(t, dir, PackOptions{Threads: threads})
		sameFiles(t, unpackAll(t, dir, UnpackOptions{Threads: threads}), texts(ins))
		bytes := filesIn(t, dir)[ins[0].name[:len(ins[0].name)-len(".fastq")]+".cdna"]
		if cdna != "" && bytes != cdna {
			t.Error("the bytes depend on the number of threads")
		}
		if cdna = bytes; threads > 1 {
			primersOf(t, dir, ins)
		}
	}
}

// primersOf looks at the archive of TestPrimers, and damages it.
func primersOf(t *testing.T, dir string, ins []input) {
	p := openPacked(t, dir)
	p.PrimersAhead(context.Background(), p.WithQuals())
	first := make(map[int]archive.Section)
	for i := range p.Man.Slices {
		for m, mem := range p.Man.Slices[i].Members() {
			section := *p.Man.Slices[i].Section(archive.Quals, m)
			data, err := p.Archive.Read(section, nil, "qualities")
			if err != nil {
				t.Fatal(err)
			}
			leading, seen := first[mem.Input]
			if quals.NeedsPrimer(data) != seen {
				t.Errorf("slice %d, member %d: with a primer: %v", i, m, !seen)
			}
			if !seen {
				leading = section
			}
			first[mem.Input] = leading
		}
	}
	all := [2][]string{expected(ins[0].text, record.Options{}), expected(ins[1].text, record.Options{})}
	n := uint64(len(all[0]))
	for _, ranges := range [][]RecordRange{
		{{From: 3, To: 4}}, {{From: n - 1, To: n}}, {{From: 2, To: 3}, {From: n / 2, To: n/2 + 1}}, {{From: 45, To: 60}},
	} {
		// A Reader of its own has no primers yet.
		got := fastq(t, openReader(t, dir), Query{Inputs: []int{0, 1}, Records: ranges})
		for i := range all {
			want := ""
			for _, x := range ranges {
				want += strings.Join(all[i][x.From:x.To], "")
			}
			if got[i] != want {
				t.Errorf("input %d, records %v: %d bytes, want %d", i, ranges, len(got[i]), len(want))
			}
		}
	}
	damage(t, filepath.Join(p.Archive.Dir(), ins[0].name[:len(ins[0].name)-len(".fastq")]+".cdna"), int64(first[0].Off), 1)
	status, err := verifyPath(context.Background(), dir, VerifyOptions{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range status[:len(ins)] { // what follows is of the parity
		if damaged := i == 0; s.OK == damaged {
			t.Errorf("%s: OK is %v", ins[i].name, s.OK)
		}
	}
	last := Query{Inputs: []int{0}, Records: []RecordRange{{From: n - 1, To: n}}}
	for rec, err := range openReader(t, dir).Records(context.Background(), last) {
		if err == nil || !strings.Contains(err.Error(), "the first ones of the input are needed") {
			t.Errorf("record %q: %v", rec.Name, err)
		}
	}
}

// openPacked opens the packed archive in dir.
func openPacked(t *testing.T, dir string) *source.Packed {
	t.Helper()
	src, err := source.Open(dir, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src.(*source.Packed)
}
