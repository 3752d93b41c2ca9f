package source

import (
	"slices"
	"testing"

	"orcomgo/compress/archive"
)

// TestRuns: gaps are fetched if they are small, longer ones as long as all is within what may be fetched, the smallest first; no run is
// longer than storage keeps.
func TestRuns(t *testing.T) {
	const kB = 1 << 10
	at := func(kilobytes ...uint64) (all []archive.Section) { // of 100 KB each
		for _, from := range kilobytes {
			all = append(all, archive.Section{Off: from * kB, Len: 100 * kB})
		}
		return all
	}
	for _, c := range []struct {
		name     string
		sections []archive.Section
		most     uint64
		want     []uint64 // where runs begin and end, in KB
	}{
		{"none", nil, 0, nil},
		{"one twice", at(50, 50), 0, []uint64{50, 150}},
		{"near ones", at(350, 0), 0, []uint64{0, 450}},
		{"far ones, too much", at(0, 400, 900), 700 * kB, []uint64{0, 500, 900, 1000}},
		{"far ones", at(0, 400, 900), 1100 * kB, []uint64{0, 1000}},
		{"the nearer ones", at(0, 900, 1400), 800 * kB, []uint64{0, 100, 900, 1500}},
		{"a gap that is too far", at(0, 2000), 1 << 30, []uint64{0, 100, 2000, 2100}},
		{"a long run", at(0, 900, 1800, 2700, 3600, 4000), 1 << 30, []uint64{0, 3700, 4000, 4100}},
	} {
		var got []uint64
		for _, r := range runsOf(c.sections, c.most) {
			got = append(got, r.from/kB, r.to/kB)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestSectionsBefore: before the names of a slice those of its chain are decoded, and for further mates those of the first mates.
func TestSectionsBefore(t *testing.T) {
	man := &archive.Manifest{Inputs: make([]archive.Input, 2), Slices: make([]archive.Slice, 6)}
	for i := range man.Slices {
		m := &man.Slices[i].First
		m.Sections[archive.Names], m.NamesContinue = archive.Section{Off: uint64(i), Len: 1}, i != 0 && i != 2
	}
	l := &sliceNames{leads: make(map[*archive.Slice]*archive.Slice), before: make(map[*archive.Slice]*archive.Slice)}
	for i := range 5 {
		l.before[&man.Slices[i+1]] = &man.Slices[i]
	}
	l.before[&man.Slices[5]], l.leads[&man.Slices[5]] = nil, &man.Slices[4]
	for i, want := range [][]uint64{{}, {0}, {}, {2}, {3, 2}, {4, 3, 2}} {
		var got []uint64
		for _, s := range l.sectionsBefore(nil, &man.Slices[i], 0) {
			got = append(got, s.Off)
		}
		if !slices.Equal(got, want) {
			t.Errorf("slice %d: %v, want %v", i, got, want)
		}
	}
}
