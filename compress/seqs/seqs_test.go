package seqs

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bins"
	"orcomgo/minimizer"
)

// column is one input of a test archive: reads as letters, and their qualities or nil.
type column struct {
	reads []string
	quals []byte
}

// archiveOf writes the columns as bins; two columns are a pair.
func archiveOf(t testing.TB, o bins.Options, blockReads int, cols ...column) *bins.Reader {
	t.Helper()
	dir := t.TempDir()
	w, err := bins.Create(dir, "x", false)
	if err != nil {
		t.Fatal(err)
	}
	var inputs []bins.Input
	o.BlockSize = 1 << 20
	for k, c := range cols {
		in := bins.Input{Name: fmt.Sprintf("x%d.fastq", k), Mate: -1, Records: uint64(len(c.reads))}
		if len(cols) == 2 {
			in.Mate, in.First = 1-k, k == 0
		}
		for at := 0; at < len(c.reads); at += blockReads {
			b := blockOf(c.reads[at:min(at+blockReads, len(c.reads))])
			b.Input, b.FirstRecord = k, uint64(at)
			in.Bytes += b.TextLen
			var e bins.Encoded
			if err := bins.EncodeBlock(&e, b, serial); err != nil {
				t.Fatal(err)
			}
			if err := w.WriteBlock(&e); err != nil {
				t.Fatal(err)
			}
		}
		inputs = append(inputs, in)
	}
	if err := w.Commit(o, inputs); err != nil {
		t.Fatal(err)
	}
	r, err := bins.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func serial(n int, task func(i int)) {
	for i := range n {
		task(i)
	}
}

func blockOf(reads []string) *bins.Block {
	b := &bins.Block{Records: len(reads), Lengths: make([]uint32, len(reads))}
	type assigned struct {
		sig, pos uint32
		rev      bool
	}
	as := make([]assigned, len(reads))
	order := make([]int, len(reads))
	for i, s := range reads {
		order[i] = i
		b.Lengths[i] = uint32(len(s))
		b.TextLen += uint64(2*len(s) + 6)
		b.Names = append(b.Names, '\n')
		as[i].sig, as[i].pos, as[i].rev = minimizer.Find([]byte(s))
		b.Exceptions = append(b.Exceptions, exceptionsOf(s, uint32(i))...)
	}
	slices.SortStableFunc(order, func(x, y int) int { return int(as[x].sig) - int(as[y].sig) })
	for _, i := range order {
		a, s := as[i], []byte(reads[i])
		if k := len(b.Bins); k == 0 || b.Bins[k-1].Signature != a.sig {
			b.Bins = append(b.Bins, bins.Bin{Signature: a.sig})
		}
		g := &b.Bins[len(b.Bins)-1]
		g.Reads++
		g.Bases += uint64(len(s))
		b.Order = append(b.Order, uint32(i))
		b.Place = append(b.Place, a.pos<<1|uint32(toBit(a.rev)))
		packed := make([]byte, bins.PackedLen(len(s)))
		for j, c := range s {
			v := bytes.IndexByte([]byte("ACGT"), c&^32)
			if v < 0 {
				continue
			}
			if a.rev {
				v, j = 3-v, len(s)-1-j
			}
			packed[j/4] |= byte(v) << (2 * (j % 4))
		}
		b.Packed = append(b.Packed, packed...)
	}
	return b
}

func exceptionsOf(s string, read uint32) (list []bins.Exception) {
	for j := 0; j < len(s); j++ {
		x := s[j]
		switch {
		case bytes.IndexByte([]byte("ACGT"), x) >= 0:
			continue
		case bytes.IndexByte([]byte("acgt"), x) >= 0:
			x = bins.Lower
		}
		if k := len(list) - 1; k >= 0 && list[k].Byte == x && list[k].Start+list[k].Len == uint32(j) {
			list[k].Len++
			continue
		}
		list = append(list, bins.Exception{Read: read, Start: uint32(j), Len: 1, Byte: x})
	}
	return list
}

// simulate draws reads of both strands from a genome with errors; qualities tell where.
func simulate(seed int64, genome, n, minLen, maxLen int, errs float64) column {
	r := rand.New(rand.NewSource(seed))
	g := make([]byte, genome)
	for i := range g {
		g[i] = letters[r.Intn(4)]
	}
	var c column
	for range n {
		l := minLen + r.Intn(maxLen-minLen+1)
		l = min(l, genome)
		at := r.Intn(genome - l + 1)
		s := slices.Clone(g[at : at+l])
		if r.Intn(2) == 1 {
			for i, j := 0, l-1; i <= j; i, j = i+1, j-1 {
				s[i], s[j] = comp(s[j]), comp(s[i])
			}
		}
		for i := range s {
			q := byte('I')
			if r.Float64() < errs {
				q = '#'
				s[i] = "ACGTN"[r.Intn(5)]
			}
			if r.Float64() < errs/20 {
				s[i] = "acgtRY.-"[r.Intn(8)]
			}
			c.quals = append(c.quals, q)
		}
		c.reads = append(c.reads, string(s))
	}
	return c
}

func comp(b byte) byte { return letters[3-bytes.IndexByte([]byte(letters), b)] }

// sliceColumn is the column of records from.. of an input as the encoder takes it.
func sliceColumn(input int, c column, from, n int, perm []uint32, withQuals bool) *Column {
	col := &Column{Input: input, From: uint64(from), Perm: perm, Records: n, Lengths: []uint32{}}
	starts := make([]int, len(c.reads)+1)
	for i, s := range c.reads {
		starts[i+1] = starts[i] + len(s)
	}
	for i := range n {
		rec := from + i
		if perm != nil {
			rec = from + int(perm[i])
		}
		s := c.reads[rec]
		col.Lengths = append(col.Lengths, uint32(len(s)))
		col.Exceptions = append(col.Exceptions, exceptionsOf(s, uint32(i))...)
		if withQuals {
			col.Quals = append(col.Quals, c.quals[starts[rec]:starts[rec+1]]...)
		}
	}
	if withQuals && col.Quals == nil {
		col.Quals = []byte{}
	}
	return col
}

func roundTrip(t *testing.T, o bins.Options, memory uint64, sliceReads int, withQuals bool, cols ...column) int {
	t.Helper()
	r := archiveOf(t, o, 700, cols...)
	e, err := Build(context.Background(), r, Config{Threads: 2, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	n := len(cols[0].reads)
	cuts := map[int]bool{n: true}
	for _, c := range e.Parts(0) {
		cuts[int(c)] = true
	}
	type coded struct {
		data  []byte
		first *Column
		mate  *Column
	}
	var out []coded
	for at := 0; at < n; {
		end := at + 1
		for end < n && end-at < sliceReads && !cuts[end] {
			end++
		}
		var perm []uint32
		if o.OrderAny {
			if perm, err = e.Sorted(0, uint64(at), uint64(end)); err != nil {
				t.Fatal(err)
			}
		}
		s := coded{first: sliceColumn(0, cols[0], at, end-at, perm, withQuals)}
		if len(cols) > 1 {
			s.mate = sliceColumn(1, cols[1], at, end-at, perm, withQuals)
		}
		if s.data, err = e.EncodeSlice(s.first, s.mate); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
		at = end
	}
	shared := e.Shared()
	size := 0
	for _, b := range shared {
		size += len(b)
	}
	d, err := NewDecoder(shared, Config{Threads: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var sums [2]uint64
	for _, s := range out {
		size += len(s.data)
		in := [2]*Column{s.first, s.mate}
		var blank [2]*Column
		for k, c := range in {
			if c != nil {
				blank[k] = &Column{Records: c.Records, Lengths: c.Lengths, Quals: c.Quals}
			}
		}
		got, err := d.DecodeSlice(s.data, blank[0], blank[1])
		if err != nil {
			t.Fatal(err)
		}
		for k, c := range in {
			if c == nil {
				continue
			}
			at := 0
			for i := range c.Records {
				rec := int(c.From) + i
				if c.Perm != nil {
					rec = int(c.From) + int(c.Perm[i])
				}
				want := cols[k].reads[rec]
				if g := string(got[k][at : at+len(want)]); g != want {
					t.Fatalf("input %d record %d:\n got %s\nwant %s", k, rec, g, want)
				}
				sums[k] += ReadHash(got[k][at:at+len(want)], uint64(rec))
				at += len(want)
			}
			if at != len(got[k]) {
				t.Fatalf("%d letters, want %d", len(got[k]), at)
			}
		}
	}
	if o.OrderAny {
		for k := range cols {
			if e.Digest(k) != sums[k] {
				t.Fatalf("digest of input %d is not that of its reads", k)
			}
		}
	}
	return size
}

func TestRoundTrips(t *testing.T) {
	cases := []struct {
		name                  string
		genome, n, minL, maxL int
		errs                  float64
		order, quals, pair    bool
		memory                uint64
		slice                 int
		bitsPerBase           float64
	}{
		{name: "deep", genome: 3000, n: 4000, minL: 100, maxL: 100, errs: 0.003, slice: 1500, quals: true, bitsPerBase: 0.3},
		{name: "deep, sorted", genome: 3000, n: 4000, minL: 100, maxL: 100, errs: 0.003, slice: 1500, order: true, bitsPerBase: 0.3},
		{name: "pairs", genome: 5000, n: 2000, minL: 70, maxL: 100, errs: 0.01, slice: 900, pair: true, quals: true, bitsPerBase: 0.6},
		{name: "pairs, sorted", genome: 5000, n: 2000, minL: 70, maxL: 100, errs: 0.01, slice: 900, pair: true, order: true, bitsPerBase: 0.6},
		{name: "shallow", genome: 1 << 20, n: 500, minL: 30, maxL: 300, errs: 0.02, slice: 200, bitsPerBase: 2.6},
		{name: "short reads", genome: 500, n: 800, minL: 0, maxL: 30, errs: 0.05, slice: 300, quals: true, bitsPerBase: 3},
		{name: "long reads", genome: 60000, n: 40, minL: 500, maxL: 9000, errs: 0.01, slice: 20, quals: true, bitsPerBase: 2},
		{name: "parts", genome: 3000, n: 4000, minL: 100, maxL: 100, errs: 0.003, slice: 1500, memory: 600000, quals: true, bitsPerBase: 0.4},
		{name: "parts, sorted", genome: 3000, n: 4000, minL: 100, maxL: 100, errs: 0.003, slice: 1500, memory: 600000, order: true, bitsPerBase: 0.4},
		{name: "all wrong", genome: 3000, n: 300, minL: 50, maxL: 100, errs: 0.9, slice: 100, quals: true, bitsPerBase: 5},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cols := []column{simulate(int64(i), c.genome, c.n, c.minL, c.maxL, c.errs)}
			if c.pair {
				cols = append(cols, simulate(int64(i), c.genome, c.n, c.minL, c.maxL, c.errs))
			}
			size := roundTrip(t, bins.Options{OrderAny: c.order}, c.memory, c.slice, c.quals, cols...)
			bases := 0
			for _, col := range cols {
				bases += len(col.quals)
			}
			if got := float64(size) * 8 / float64(bases); got > c.bitsPerBase {
				t.Errorf("%.3f bits a base, want at most %.3f", got, c.bitsPerBase)
			}
		})
	}
}

// TestWordsOfBases: eight bases at a time come out as one at a time.
func TestWordsOfBases(t *testing.T) {
	r := rand.New(rand.NewSource(8))
	for n := range 70 {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Intn(4))
		}
		turned, text := bytes.Clone(b), bytes.Clone(b)
		reverse(turned)
		toLetters(text)
		for i, v := range b {
			if turned[n-1-i] != 3-v || text[i] != "ACGT"[v] {
				t.Fatalf("base %d of %d: %d is complemented to %d and written %q", i, n, v, turned[n-1-i], text[i])
			}
		}
	}
}
