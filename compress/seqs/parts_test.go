package seqs

import (
	"bytes"
	"context"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins/record"
	rc "orcomgo/compress/rangecoder"
	"orcomgo/internal/testrun"
)

// encoderOf returns an encoder of columns in blocks of 500 records.
func encoderOf(t *testing.T, o record.Options, c Config, cols ...column) *Encoder {
	t.Helper()
	e, err := Build(context.Background(), archiveOf(t, o, 500, cols...), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// TestPartsHoldEachRecordOnce: parts are cut where blocks end, hold each record once and mates together, and no part but of one block
// needs more memory than it may take.
func TestPartsHoldEachRecordOnce(t *testing.T) {
	reads := simulate(130, 3000, 4200, 100, 100, 0.003)
	mates := simulate(131, 3000, 4200, 60, 100, 0.003)
	for _, c := range []struct {
		name   string
		cols   []column
		order  bool
		runs   bool
		memory uint64
		laid   uint64 // 0: all
		parts  int
		window bool
	}{
		{name: "no bound", cols: []column{reads}, parts: 1},
		{name: "memory for all", cols: []column{reads}, memory: 16 << 20, parts: 1},
		{name: "little memory", cols: []column{reads}, memory: 300_000, parts: 3},
		{name: "little memory, order free", cols: []column{reads}, order: true, memory: 300_000, parts: 2},
		{name: "windows", cols: []column{reads}, order: true, runs: true, memory: 300_000, parts: 1, window: true},
		{name: "windows of pairs", cols: []column{reads, mates}, order: true, runs: true, memory: 600_000, parts: 1, window: true},
		{name: "pairs", cols: []column{reads, mates}, parts: 1},
		{name: "pairs, little memory", cols: []column{reads, mates}, memory: 300_000, parts: 5},
		{name: "hardly any memory", cols: []column{reads}, memory: 1000, parts: 9},
		{name: "many records", cols: []column{reads}, laid: 1000, parts: 5},
		{name: "many pairs", cols: []column{reads, mates}, laid: 2000, parts: 5},
	} {
		func() {
			o := record.Options{OrderAny: c.order, ReadsOnly: c.runs}
			e := encoderOf(t, o, Config{Threads: 1, Memory: c.memory, Runs: c.runs, maxLayoutRecords: c.laid}, c.cols...)
			if len(e.parts) < c.parts || c.parts == 1 && len(e.parts) > 1 || (e.window > 0) != c.window {
				t.Errorf("%s: %d parts, windows of %d records", c.name, len(e.parts), e.window)
			}
			first := uint64(0)
			n := uint64(len(c.cols[0].reads))
			at := make([]uint64, len(c.cols)) // how many records of each input the parts before hold
			for k, p := range e.parts {
				if p.first != first || len(p.sources) != len(c.cols) {
					t.Fatalf("%s: part %d begins with record %d of %d inputs, want %d", c.name, k, p.first, len(p.sources), first)
				}
				first += p.count
				next := uint32(0)
				for i, s := range p.sources {
					if s.Input != i || s.From != at[i] || s.To%500 != 0 && s.To != n || s.To-s.From != p.sources[0].To-p.sources[0].From {
						t.Fatalf("%s: part %d holds records %d to %d of input %d, want some from %d on",
							c.name, k, s.From, s.To, s.Input, at[i])
					}
					at[i] = s.To
					for _, x := range []uint64{s.From, s.To - 1} {
						if got, ok := p.record(i, x); !ok || got != next+uint32(x-s.From) {
							t.Errorf("%s: record %d of input %d is number %d of part %d, %v", c.name, x, i, got, k, ok)
						}
						if got, err := e.partOf(i, x, x+1); got != k || err != nil {
							t.Errorf("%s: record %d of input %d is in part %d, want %d: %v", c.name, x, i, got, k, err)
						}
					}
					if _, ok := p.record(i, s.To); ok {
						t.Errorf("%s: record %d of input %d is in part %d", c.name, s.To, i, k)
					}
					if _, err := e.partOf(i, s.From, s.To+1); err == nil {
						t.Errorf("%s: records over the end of part %d are in one part", c.name, k)
					}
					next += uint32(s.To - s.From)
				}
				if p.count != uint64(next) || c.laid > 0 && p.count > c.laid {
					t.Errorf("%s: part %d has %d records, counted %d", c.name, k, next, p.count)
				}
				if c.memory > 0 && len(e.parts) > 1 && p.sources[0].To-p.sources[0].From > 500 {
					if takes := p.count*(codedReadBytes+countedReadBytes) + p.count*80/4; takes > c.memory*3/8 {
						t.Errorf("%s: part %d takes %d bytes or more, of %d in all", c.name, k, takes, c.memory)
					}
				}
			}
			for i := range c.cols {
				cuts := e.Parts(i)
				if at[i] != n || len(cuts) != len(e.parts)-1 || !slices.IsSorted(cuts) {
					t.Errorf("%s: parts hold %d records of %d of input %d, which is cut at %v", c.name, at[i], n, i, cuts)
				}
				for k, cut := range cuts {
					if cut != e.parts[k+1].sources[i].From {
						t.Errorf("%s: input %d is cut at %d, want %d", c.name, i, cut, e.parts[k+1].sources[i].From)
					}
				}
			}
			if first != n*uint64(len(c.cols)) {
				t.Errorf("%s: parts hold %d records", c.name, first)
			}
		}()
	}
}

// strangers are reads that overlap no other.
func strangers(r *rand.Rand, n, length int) column {
	var c column
	for range n {
		b := make([]byte, length)
		for i := range b {
			b[i] = bases.Letters[r.Intn(4)]
		}
		c.reads = append(c.reads, string(b))
		c.quals = append(c.quals, bytes.Repeat([]byte{'I'}, length)...)
	}
	return c
}

// mixed returns reads of two columns in a random order.
func mixed(r *rand.Rand, a, b column) column {
	all := slices.Concat(a.reads, b.reads)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return column{reads: all}
}

// TestSortedOrder: records come by position, strand and ordinal, each once; those without a place come in equal shares after equal shares
// of the others, by ordinal.
func TestSortedOrder(t *testing.T) {
	r := rand.New(rand.NewSource(132))
	few := mixed(r, simulate(133, 2000, 3000, 50, 80, 0.002), strangers(r, 300, 60))
	many := mixed(r, simulate(134, 1500, 2*sortedRun+5000, 30, 30, 0), strangers(r, 1001, 40))
	for _, c := range []struct {
		name     string
		col      column
		config   Config
		from, to uint64 // 0: the end
		shares   int
	}{
		{"all in memory", few, Config{Threads: 1}, 0, 0, 1},
		{"some records", few, Config{Threads: 2}, 700, 2400, 1},
		{"windows", few, Config{Threads: 2, Memory: 250_000, Runs: true}, 0, 0, 1},
		{"some records in windows", few, Config{Threads: 2, Memory: 250_000, Runs: true}, 700, 2400, 1},
		{"shares", many, Config{Threads: 2}, 0, 0, 2},
	} {
		if testrun.Short() && c.shares > 1 {
			continue
		}
		e := encoderOf(t, record.Options{OrderAny: true, ReadsOnly: c.config.Runs}, c.config, c.col)
		if c.to == 0 {
			c.to = uint64(len(c.col.reads))
		}
		if len(e.parts) > 1 || (e.window > 0) != c.config.Runs {
			t.Fatalf("%s: %d parts, windows of %d", c.name, len(e.parts), e.window)
		}
		perm, err := e.Sorted(context.Background(), 0, c.from, c.to)
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Clone(perm)
		slices.Sort(all)
		for i, v := range all {
			if int(v) != i || len(all) != int(c.to-c.from) {
				t.Fatalf("%s: %d records of %d, and not each once", c.name, len(all), c.to-c.from)
			}
		}
		lastKey, lastOther := int64(-1), int64(-1)
		var groups []int // records in a row with a place, then without, and so on
		placed := false
		for _, v := range perm {
			pos, rev := e.genome.Place(uint32(c.from) + v)
			if has := pos != unplaced; has != placed || groups == nil {
				placed = has
				groups = append(groups, 0)
			}
			groups[len(groups)-1]++
			if !placed {
				if int64(v) <= lastOther {
					t.Fatalf("%s: record %d, without a place, comes after %d", c.name, v, lastOther)
				}
				lastOther = int64(v)
				continue
			}
			key := (int64(pos)<<1|int64(rc.BitOf(rev)))<<24 | int64(v)
			if key <= lastKey {
				t.Fatalf("%s: record %d at %d, reversed %v, is out of order", c.name, v, pos, rev)
			}
			lastKey = key
		}
		if len(groups) != 2*c.shares {
			t.Fatalf("%s: %v records with and without places in turn, want %d shares", c.name, groups, c.shares)
		}
		for g := 2; g < len(groups); g++ {
			if d := groups[g] - groups[g-2]; d < -1 || d > 1 {
				t.Errorf("%s: shares are of %v", c.name, groups)
			}
		}
		if groups[1] < 100 {
			t.Errorf("%s: only %d reads have no place", c.name, groups[1])
		}
	}
}

// TestWindowsHoldFewReads: a slice of a run has the reads of its window in memory, and few others; slices that are not of nearly
// equal size are refused where their reads are not there.
func TestWindowsHoldFewReads(t *testing.T) {
	const n, size = 4000, 250
	cols := []column{simulate(135, 6000, n, 60, 90, 0.002), simulate(136, 6000, n, 60, 90, 0.002)}
	for _, inputs := range []int{1, 2} {
		o := record.Options{OrderAny: true, ReadsOnly: true}
		e := encoderOf(t, o, Config{Threads: 1, Memory: 150_000 * uint64(inputs), Runs: true}, cols[:inputs]...)
		run, err := e.Sorted(context.Background(), 0, 0, n)
		if err != nil {
			t.Fatal(err)
		}
		if e.window < size || e.window > n/3 {
			t.Fatalf("windows of %d records", e.window)
		}
		column := func(k, at, size int) *Column {
			c := sliceColumn(k, cols[k], 0, size, run[at:at+size], false)
			c.Run, c.At = run, at
			return c
		}
		slice := func(at, size int) error {
			var mate *Column
			if inputs == 2 {
				mate = column(1, at, size)
			}
			_, err := e.EncodeSlice(context.Background(), column(0, at, size), mate)
			return err
		}
		for at := 0; at < n; at += size {
			if err := slice(at, size); err != nil {
				t.Fatal(err)
			}
			w := e.Window(uint64(at))
			if w != at/e.window || e.current.window != w {
				t.Errorf("the slice at %d is in window %d, window %d is in memory", at, w, e.current.window)
			}
			held := e.parts[0].layout.Reads
			if most := (e.window + size + 1) * inputs; held.Count() > most {
				t.Errorf("window %d: %d reads are in memory, want at most %d", w, held.Count(), most)
			}
			for i, rec := range run {
				if in := i >= w*e.window && i < (w+1)*e.window; in && !held.Has(rec) {
					t.Fatalf("window %d: the read at place %d of the run is not in memory", w, i)
				}
			}
		}
		// How far slices may reach beyond a window depends on the slice for which the window is loaded.
		if slice(e.window-10, 3*size) != nil || slice(n-size, size) != nil || slice(0, size) != nil || slice(e.window-10, size) != nil {
			t.Error("a slice is refused though its reads can be there")
		}
		if slice(e.window-1, 3*size) == nil {
			t.Error("a slice whose reads are not in memory is taken")
		}
	}
}

// TestSlicesStayInParts: a slice, or a run that is to be sorted, that reaches over the end of a part is refused, as are mates of another
// part.
func TestSlicesStayInParts(t *testing.T) {
	cols := []column{simulate(137, 3000, 3000, 100, 100, 0.003), simulate(138, 3000, 3000, 100, 100, 0.003)}
	e := encoderOf(t, record.Options{}, Config{Threads: 1, Memory: 400_000}, cols...)
	cuts := e.Parts(0)
	if len(cuts) < 2 {
		t.Fatalf("cuts at %v", cuts)
	}
	cut := int(cuts[0])
	for _, c := range []struct {
		first, mate, n int
		ok             bool
	}{{cut - 10, cut - 10, 10, true}, {cut - 10, cut - 10, 11, false}, {cut, cut, 10, true}, {cut, cut - 10, 10, false}, {cut, cut, 0, true}} {
		data, err := e.EncodeSlice(
			context.Background(),
			sliceColumn(0, cols[0], c.first, c.n, nil, false),
			sliceColumn(1, cols[1], c.mate, c.n, nil, false),
		)
		if (err == nil) != c.ok || c.n == 0 && data != nil {
			t.Errorf("%+v: %v, %d bytes", c, err, len(data))
		}
	}
	if _, err := e.Sorted(context.Background(), 0, 0, uint64(cut)); err != nil {
		t.Error(err)
	}
	if _, err := e.Sorted(context.Background(), 0, 0, uint64(cut)+1); err == nil {
		t.Error("records of two parts were sorted together")
	}
}

// TestTreesCountTheirParts: the tree of a part's positions counts its placed reads; if the order is free it counts none.
func TestTreesCountTheirParts(t *testing.T) {
	col := simulate(139, 3000, 3000, 100, 100, 0)
	for _, order := range []bool{false, true} {
		e := encoderOf(t, record.Options{OrderAny: order}, Config{Threads: 1, Memory: 300_000}, col)
		for k, p := range e.parts {
			if _, err := e.acquire(context.Background(), loaded{part: k}, nil); err != nil {
				t.Fatal(err)
			}
			var pos []uint32
			for rec := range uint32(p.count) {
				if x, _ := p.layout.Place(rec); x != unplaced && !order {
					pos = append(pos, x)
				}
			}
			c := encodeTo(nil)
			_, code := treeOf(pos, p.layout.Len)
			code.encode(c)
			e.trees.Wait()
			if want := c.Enc.Finish(); !bytes.Equal(p.shared, want) || !order && len(pos) < int(p.count)*9/10 {
				t.Errorf("order free %v: the tree of part %d, of %d reads with places, takes %d bytes, want %d",
					order, k, len(pos), len(p.shared), len(want))
			}
			e.release()
		}
	}
}
