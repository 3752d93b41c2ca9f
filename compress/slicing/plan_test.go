package slicing

import (
	"slices"
	"testing"

	"orcomgo/bins"
	"orcomgo/bins/record"
)

// testMeta is an index of two inputs of 1000 records each in four alternating blocks, and a pair.
func testMeta(o record.Options) *bins.Meta {
	m := &bins.Meta{Options: o, Inputs: []record.Input{
		{Name: "a", Mate: -1, Records: 1000, Bytes: 200_000}, {Name: "b", Mate: -1, Records: 1000, Bytes: 200_000},
		{Name: "p1", Mate: 3, First: true, Records: 7, Bytes: 1400}, {Name: "p2", Mate: 2, Records: 7, Bytes: 1400}}}
	for i := range 4 {
		m.Blocks = append(m.Blocks, bins.BlockInfo{Input: i % 2, FirstRecord: uint64(i / 2 * 500), Records: 500, TextLen: 100_000})
	}
	m.Blocks = append(m.Blocks, bins.BlockInfo{Input: 2, Records: 7, TextLen: 1400}, bins.BlockInfo{Input: 3, Records: 3, TextLen: 600},
		bins.BlockInfo{Input: 3, FirstRecord: 3, Records: 4, TextLen: 800})
	return m
}

func noParts(int) []uint64 { return nil }

// covers checks that the slices hold every record of the units once, in order.
func covers(t *testing.T, m *bins.Meta, specs []Spec) {
	t.Helper()
	next := make(map[int]uint64)
	for _, s := range specs {
		if s.From != next[s.First] || s.Records < 1 {
			t.Fatalf("slice of input %d at %d of %d records, want it at %d", s.First, s.From, s.Records, next[s.First])
		}
		next[s.First] += uint64(s.Records)
	}
	for _, i := range []int{0, 1, 2} {
		if next[i] != m.Inputs[i].Records {
			t.Errorf("input %d: %d records in slices", i, next[i])
		}
	}
}

func TestPlanSlices(t *testing.T) {
	small := Usual
	small.Text, small.Reads = 20_000, 150
	texts := []uint64{20_000, 20_000, 20_000, 20_000}
	m := testMeta(record.Options{})
	specs, err := Plan(m, &small, texts, 0, noParts)
	if err != nil {
		t.Fatal(err)
	}
	covers(t, m, specs)
	if len(specs) != 21 { // five a block, and one of the pair
		t.Errorf("%d slices", len(specs))
	}
	for _, s := range specs[:20] {
		if s.Records != 100 || s.Run != nil {
			t.Errorf("slice %+v", s)
		}
	}
	if last := specs[20]; last.First != 2 || last.Mate != 3 {
		t.Errorf("the pair's slice is %+v", last)
	}
	if !slices.IsSortedFunc(specs, func(a, b Spec) int { return a.block - b.block }) {
		t.Error("slices are not in the order of the blocks")
	}

	// Reads alone, in any order, with a cut in the middle of both inputs.
	m = testMeta(record.Options{ReadsOnly: true, OrderAny: true})
	parts := func(i int) []uint64 {
		if i < 2 {
			return []uint64{500}
		}
		return nil
	}
	if specs, err = Plan(m, &small, texts, 0, parts); err != nil {
		t.Fatal(err)
	}
	covers(t, m, specs)
	for _, s := range specs {
		if s.Run == nil || s.From < s.Run.From || s.From+uint64(s.Records) > s.Run.From+s.Run.Records {
			t.Errorf("slice %+v of run %+v", s, s.Run)
		}
		if s.First < 2 && (s.Run.Records != 500 || s.Run.Slices != 4) {
			t.Errorf("run %+v", s.Run)
		}
	}
	count := 0
	for _, p := range Phases(specs, &small, parts, func(uint64) int { return 0 }) {
		count += len(p)
		for _, s := range p[1:] {
			if s.From == 500 && s.First == p[0].First {
				t.Errorf("a phase reaches over the cut at %d", s.From)
			}
		}
	}
	if count != len(specs) {
		t.Errorf("%d slices in phases, %d in all", count, len(specs))
	}
}

// TestPlanRuns: a slice of a run has a bounded number of reads, of bases, and in little memory of bytes.
func TestPlanRuns(t *testing.T) {
	for _, c := range []struct {
		reads, bases, memory uint64
		slices               int
	}{{1000, 1 << 40, 0, 1}, {999, 1 << 40, 0, 2}, {1000, 40 << 20, 0, 1}, {1000, 40<<20 - 1, 0, 2}, {1000, 1 << 40, 1, 5},
		{1000, 1 << 40, 1 << 30, 1}} {
		m := &bins.Meta{Options: record.Options{ReadsOnly: true, OrderAny: true},
			Inputs: []record.Input{{Mate: -1, Records: 1000, Bytes: 41 << 20}},
			Blocks: []bins.BlockInfo{{Records: 1000, TextLen: 41 << 20, Bases: 40 << 20}}}
		sizes := Usual
		sizes.Reads, sizes.Bases = c.reads, c.bases
		specs, err := Plan(m, &sizes, []uint64{1}, c.memory, noParts)
		if err != nil || len(specs) != c.slices {
			t.Errorf("%+v: %d slices, %v", c, len(specs), err)
		}
	}
}

// TestPlanLeads: where slices are small, the first one of a large input is longer if there are qualities, and memory for primers.
func TestPlanLeads(t *testing.T) {
	for _, c := range []struct {
		quality record.QualityMode
		memory  uint64
		first   int // records
	}{{record.QualityKeep, 0, 105}, {record.QualityKeep, PrimedMemory, 105}, {record.QualityKeep, PrimedMemory - 1, 40},
		{record.QualityDrop, 0, 40}} {
		m := &bins.Meta{Options: record.Options{Quality: c.quality}}
		m.Inputs = []record.Input{{Records: 1500, Bytes: 150 << 20, Mate: -1}}
		m.Blocks = []bins.BlockInfo{{Records: 1000, TextLen: 100 << 20, Bases: 50 << 20},
			{FirstRecord: 1000, Records: 500, TextLen: 50 << 20, Bases: 25 << 20}}
		specs, err := Plan(m, &Usual, []uint64{4 << 20}, c.memory, noParts)
		if err != nil {
			t.Fatal(err)
		}
		next := uint64(0)
		for i, s := range specs {
			want := 40
			if i == 0 {
				want = c.first
			}
			if s.From != next || s.Records > want+1 || s.Records < want-2 {
				t.Errorf("%+v: slice %d is of %d records from %d on, want about %d from %d on", c, i, s.Records, s.From, want, next)
			}
			next += uint64(s.Records)
		}
		if next != 1500 {
			t.Errorf("%+v: %d records in slices", c, next)
		}
	}
}

func TestPlanRefusesBrokenPairs(t *testing.T) {
	for name, change := range map[string]func(*bins.Meta){
		"counts differ": func(m *bins.Meta) { m.Inputs[3].Records = 8 },
		"two first":     func(m *bins.Meta) { m.Inputs[3].First = true },
		"beyond":        func(m *bins.Meta) { m.Inputs[2].Mate = 4 },
		"one way":       func(m *bins.Meta) { m.Inputs[3].Mate = 0 },
	} {
		m := testMeta(record.Options{})
		change(m)
		if _, err := Plan(m, &Usual, nil, 0, noParts); err == nil {
			t.Errorf("%s: passed", name)
		}
	}
}

// TestPlanInterleaved: slices of an interleaved input have whole pairs, also the first one, which is as large as a primer needs.
func TestPlanInterleaved(t *testing.T) {
	for _, text := range []uint64{1, 333_333, 4 << 20} {
		m := &bins.Meta{Inputs: []record.Input{{Records: 1506, Bytes: 150 << 20, Mate: -1, Interleaved: true}}}
		m.Blocks = []bins.BlockInfo{{Records: 1002, TextLen: 100 << 20, Bases: 50 << 20},
			{FirstRecord: 1002, Records: 504, TextLen: 50 << 20, Bases: 25 << 20}}
		specs, err := Plan(m, &Usual, []uint64{text}, 0, noParts)
		if err != nil {
			t.Fatal(err)
		}
		next := uint64(0)
		for _, s := range specs {
			if sl := s.Slice(); s.From != next || s.Records < 2 || s.Records%2 != 0 || !sl.Halves() || sl.MemberRecords() != s.Records/2 {
				t.Fatalf("slice %+v, want it at %d", s, next)
			}
			next += uint64(s.Records)
		}
		if next != 1506 || text == 1 && len(specs) < 600 {
			t.Errorf("%d records in %d slices", next, len(specs))
		}
	}
}
