package compress

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/names"
	"orcomgo/compress/packing"
	"orcomgo/internal/testrun"
)

// nameSections returns how many sections of names a packed archive has, and how many of these continue no other.
func nameSections(t *testing.T, dir string) (all, heads int) {
	t.Helper()
	a, err := archive.OpenEntry(entryOf(t, dir))
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
	n := testrun.Pick(1350, 2700, 2700)
	setLimits(t, func(l *packing.Limits) { l.Text = uint64(n) * 20 / 9 })
	setChains(t, uint64(n)/3, uint64(n)*20/27)
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
		if testrun.Race && c.name == "plain" { // the other names share more between goroutines
			continue
		}
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
				from, n := uint64(k*7919%(n-9)), uint64(n)
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
		for _, i := range []int{1, n/3 - 1, 1301, n} {
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
	setLimits(t, func(l *packing.Limits) { l.Text = 6000 })
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
