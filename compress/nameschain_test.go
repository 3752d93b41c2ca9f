package compress

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/names"
	"orcomgo/compress/packing"
	"orcomgo/compress/slicing"
	"orcomgo/compress/source"
)

// nameSections returns how many sections of names a packed archive has, and how many of these continue no other.
func nameSections(t *testing.T, dir string) (all, heads int) {
	t.Helper()
	a, err := archive.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, s := range a.Manifest().Slices {
		for _, m := range s.Members() {
			data, err := a.Read(m.Sections[archive.Names], nil, "")
			if err != nil {
				t.Fatal(err)
			}
			if all++; !names.Continues(data) {
				heads++
			}
		}
	}
	return all, heads
}

// TestNameChains: names of slices continue those before in chains that are as long as they may be, longer where names repeat others, and
// any records come back, mates and further mates too, by many readers at once.
func TestNameChains(t *testing.T) {
	smallSlices(t)
	slicing.SliceText = 6000
	setChains(t, 900, 2000)
	const n = 2700
	plain := func(i int) string { return fmt.Sprintf("run:%d:%d", 1+i/700, i*i*31%9973) }
	repeated := func(i int) string { return fmt.Sprintf("SRR%d.%d", i/200, i%200*(i%200)*7919%1000003) }
	for _, c := range []struct {
		name  string
		of    func(i int) string
		opts  record.Options
		heads int // chains of an input
	}{
		{"plain", plain, record.Options{BlockSize: 64 << 10}, 4},
		{"repeated", repeated, record.Options{BlockSize: 64 << 10}, 2},
		{"plain in any order", plain, record.Options{BlockSize: 64 << 10, OrderAny: true}, 4},
	} {
		text := func(mate int) string {
			return numbered(n, func(i int) string { return fmt.Sprintf("%s %d:N", c.of(i), mate) })
		}
		ins := []input{{"r_1.fastq", text(1), 1, true}, {"r_2.fastq", text(2), 0, false}, {"s.fastq", text(3), -1, false}}
		dir := binTo(t, ins, c.opts)
		packTo(t, dir, PackOptions{})
		if all, heads := nameSections(t, dir); all < 9*c.heads || heads > 3*(c.heads+1) || heads < 3*(c.heads-1) {
			t.Errorf("%s: of %d sections of names, %d continue none; want %d chains of each input", c.name, all, heads, c.heads)
		}
		if c.opts.OrderAny {
			unpackAll(t, dir, UnpackOptions{})
			continue
		}
		r := openReader(t, dir)
		var g sync.WaitGroup
		for k := range 30 {
			g.Go(func() {
				from := uint64(k * 7919 % (n - 9))
				q := Query{Records: []RecordRange{{From: from, To: from + 1}, {From: n - 9, To: n}}[:1+k%2], Want: WantNames}
				if k%3 == 0 {
					q.Inputs = []int{1}
				}
				for rec, err := range r.Records(context.Background(), q) {
					want := fmt.Sprintf("%s %d:N", c.of(int(rec.Number)+1), rec.Input+1)
					if err != nil || string(rec.Name) != want {
						t.Errorf("%s: record %d of input %d: %q, want %q, %v", c.name, rec.Number, rec.Input, rec.Name, want, err)
						return
					}
				}
			})
		}
		g.Wait()
		for _, i := range []int{1, 899, 1301, n} {
			got := unpackAll(t, dir, UnpackOptions{Names: NewNameFilter([]string{c.of(i)}, nil)})
			if !strings.Contains(got["r_2.selected.fastq"], "@"+c.of(i)+" 2:N\n") {
				t.Errorf("%s: record %d: restored %q", c.name, i, got)
			}
		}
	}
}

// TestNameChainDamage: a slice whose names cannot be decoded takes those with it that continue them, and no others, and errors say where
// the damage is.
func TestNameChainDamage(t *testing.T) {
	smallSlices(t)
	slicing.SliceText = 6000
	setChains(t, 1000, 1000)
	const n = 2000
	dir := binTo(t, single("x.fastq", numbered(n, func(i int) string { return fmt.Sprintf("r%d", i) })), record.Options{BlockSize: 64 << 10})
	packTo(t, dir, PackOptions{})
	damagedNames(t, dir)
	r := openReader(t, dir)
	read := func(from uint64) (err error) {
		for _, err = range r.Records(context.Background(), Query{Records: []RecordRange{{From: from, To: from + 1}}, Want: WantNames}) {
			if err != nil {
				break
			}
		}
		return err
	}
	if err := read(n - 1); err != nil {
		t.Errorf("a record of a chain that is sound: %v", err)
	}
	first, next := read(0), read(700)
	if !errors.Is(first, ErrCorrupt) || !strings.Contains(first.Error(), "names of records 1 to ") {
		t.Errorf("the damaged slice: error %v", first)
	}
	if !errors.Is(next, ErrCorrupt) || !strings.Contains(next.Error(), "those of the records before are needed: ") ||
		!strings.Contains(next.Error(), "names of records 1 to ") {
		t.Errorf("a slice that continues it: error %v", next)
	}
}

// TestNameCodersAreFreed: coders are not kept once their chain has ended. Each takes some MB.
func TestNameCodersAreFreed(t *testing.T) {
	setChains(t, 900, 2000)
	plain := func(i int) string { return fmt.Sprintf("run:%d:%d\n", 1+i/700, i*i*31%9973) }
	repeated := func(i int) string { return fmt.Sprintf("SRR%d.%d\n", i/200, i%200*(i%200)*7919%1000003) }
	for what, name := range map[string]func(i int) string{"plain": plain, "repeated": repeated} {
		var specs []slicing.Spec
		for i := range 20 {
			specs = append(specs, slicing.Spec{Unit: slicing.Unit{First: 0, Mate: -1, Lead: -1}, From: uint64(300 * i), Records: 300})
		}
		e := &packing.Encoder{NameLinks: packing.NewNameLinks(specs, &archive.Manifest{NameRanges: true, Inputs: make([]archive.Input, 1)})}
		for _, s := range specs {
			c := &columns.Columns{From: s.From, Records: s.Records, Perm: []uint32{}} // in another order, so that no bins are needed
			for i := range s.Records {
				c.Names = append(c.Names, name(int(s.From)+i)...)
			}
			if _, err := e.EncodeNames(c, nil); err != nil {
				t.Fatal(err)
			}
		}
		for key, l := range e.NameLinks {
			if l.Coder != nil {
				t.Errorf("%s: the coder of the slice from %d is kept", what, key.From)
			}
		}
	}
}

// TestNamesAheadOfEndedSlices: the names that a chain reads ahead are still there if all other slices have ended before.
func TestNamesAheadOfEndedSlices(t *testing.T) {
	smallSlices(t)
	slicing.SliceText = 6000
	setChains(t, 900, 2000)
	const n = 2700
	name := func(i int) string { return fmt.Sprintf("r%d", i*i) }
	dir := binTo(t, single("x.fastq", numbered(n, name)), record.Options{BlockSize: 16 << 10})
	r, err := bins.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	specs, err := slicing.Plan(r.Meta(), nil, 0, func(int) []uint64 { return nil })
	if err != nil {
		t.Fatal(err)
	}
	links := packing.NewNameLinks(specs, &archive.Manifest{NameRanges: true, Inputs: make([]archive.Input, 1)})
	chains := 0
	for i := range specs {
		l := links[packing.NameKey{Input: 0, From: specs[i].From}]
		if !l.Begins {
			continue
		}
		chains++
		c := slicing.NewCache(r, source.KeptOfAll(r.Meta()), nil, specs, links.Ahead)
		for k := range specs {
			if k != i {
				c.Release(&specs[k])
			}
		}
		got, err := c.AcquireNames(0, l.From, l.Ahead())
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for k := range l.Ahead() {
			want.WriteString(name(int(l.From)+k+1) + "\n")
		}
		if string(got.Names) != want.String() {
			t.Errorf("chain from %d: read ahead %d bytes of names, want %d of %d records", l.From, len(got.Names), want.Len(), l.Ahead())
		}
		if c.Release(&specs[i]); len(c.Entries) != 0 {
			t.Errorf("chain from %d: %d blocks are kept after all slices", l.From, len(c.Entries))
		}
	}
	if chains < 3 {
		t.Errorf("%d chains, want 3 or more", chains)
	}
}
