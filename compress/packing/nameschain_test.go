package packing

import (
	"fmt"
	"strings"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/slicing"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// TestNameCodersAreFreed: coders are not kept once their chain has ended. Each takes some MB.
func TestNameCodersAreFreed(t *testing.T) {
	limits := UsualLimits
	limits.Chain, limits.LongChain = 900, 2000
	plain := func(i int) string { return fmt.Sprintf("run:%d:%d\n", 1+i/700, i*i*31%9973) }
	repeated := func(i int) string { return fmt.Sprintf("SRR%d.%d\n", i/200, i%200*(i%200)*7919%1000003) }
	for what, name := range map[string]func(i int) string{"plain": plain, "repeated": repeated} {
		var specs []slicing.Spec
		for i := range 20 {
			specs = append(specs, slicing.Spec{Unit: slicing.Unit{First: 0, Mate: -1, Lead: -1}, From: uint64(300 * i), Records: 300})
		}
		links := newNameLinks(specs, &archive.Manifest{NameRanges: true, Inputs: make([]archive.Input, 1)}, &Options{Limits: &limits})
		for _, s := range specs {
			c := &columns.Columns{From: s.From, Records: s.Records, Perm: []uint32{}} // in another order, so that no bins are needed
			for i := range s.Records {
				c.Names = append(c.Names, name(int(s.From)+i)...)
			}
			if _, err := links[nameKey{columns.Reads{}, s.From}].encode(c, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		for key, l := range links {
			if l.coder != nil {
				t.Errorf("%s: the coder of the slice from %d is kept", what, key.from)
			}
		}
	}
}

// TestNamesAheadOfEndedSlices: the names that a chain reads ahead are still there if all other slices have ended before.
func TestNamesAheadOfEndedSlices(t *testing.T) {
	limits := UsualLimits
	limits.Chain, limits.LongChain = 900, 2000
	const n = 2700
	name := func(i int) string { return fmt.Sprintf("r%d", i*i) }
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "@%s\nACGTACGTACGTACGTACGT\n+\nIIIIIIIIIIIIIIIIIIII\n", name(i+1))
	}
	r := binned(t, record.Options{BlockSize: 16 << 10}, text.String())
	specs, err := slicing.Plan(r.Meta(), &limits.Sizes, []uint64{6000}, 0, func(int) []uint64 { return nil })
	if err != nil {
		t.Fatal(err)
	}
	links := newNameLinks(specs, &archive.Manifest{NameRanges: true, Inputs: make([]archive.Input, 1)}, &Options{Limits: &limits})
	chains := 0
	for i := range specs {
		l := links[nameKey{columns.Reads{}, specs[i].From}]
		if l.head != l {
			continue
		}
		chains++
		ahead := func(input int, from uint64) int { return links[nameKey{columns.Reads{Input: input}, from}].ahead() }
		c := slicing.NewCache(r, workers.NewPool(1), source.KeptOfAll(r.Meta().Options, r.Meta().Inputs), nil, specs, ahead)
		for k := range specs {
			if k != i {
				c.Release(&specs[k])
			}
		}
		got, err := c.Acquire(0, l.from, l.ahead(), columns.Only(archive.Names))
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for k := range l.ahead() {
			want.WriteString(name(int(l.from)+k+1) + "\n")
		}
		if string(got.Names) != want.String() {
			t.Errorf("chain from %d: read ahead %d bytes of names, want %d of %d records", l.from, len(got.Names), want.Len(), l.ahead())
		}
		c.Release(&specs[i])
	}
	if chains < 2 {
		t.Errorf("%d chains, want 2 or more", chains)
	}
}

// TestChainsOfFewSlices: slices of few records are not all one chain.
func TestChainsOfFewSlices(t *testing.T) {
	var specs []slicing.Spec
	for i := range 30 {
		specs = append(specs, slicing.Spec{Unit: slicing.Unit{First: 0, Mate: -1, Lead: -1}, From: uint64(10 * i), Records: 10})
	}
	var begin []uint64
	links := newNameLinks(specs, &archive.Manifest{NameRanges: true, Inputs: make([]archive.Input, 1)}, new(Options))
	for _, s := range specs {
		if links[nameKey{columns.Reads{}, s.From}].begins {
			begin = append(begin, s.From)
		}
	}
	if fmt.Sprint(begin) != "[0 80 160 240]" {
		t.Errorf("chains begin at %d", begin)
	}
}
