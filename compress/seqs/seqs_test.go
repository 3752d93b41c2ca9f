package seqs

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins/record"
	"orcomgo/internal/testrun"

	rc "orcomgo/compress/rangecoder"
)

// coded is what became of the columns of a test archive.
type coded struct {
	size  int    // of the sections
	bytes []byte // all of them
	parts int
}

// roundTrip codes the columns in slices of sliceReads records and decodes them again.
func roundTrip(t *testing.T, o record.Options, c Config, sliceReads int, withQuals bool, cols ...column) coded {
	t.Helper()
	r := archiveOf(t, o, max(700, len(cols[0].reads)/6), cols...)
	e, err := Build(context.Background(), r, c)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	n := len(cols[0].reads)
	cuts := map[int]bool{n: true}
	for _, c := range e.Parts(0) {
		cuts[int(c)] = true
	}
	var out []madeSlice
	var run []uint32
	from := 0
	for at := 0; at < n; {
		if c.Runs && (at == 0 || cuts[at]) {
			for from = at; !cuts[at+1]; at++ {
			}
			if run, err = e.Sorted(context.Background(), 0, uint64(from), uint64(at+1)); err != nil {
				t.Fatal(err)
			}
			at = from
		}
		end := at + 1
		for end < n && end-at < sliceReads && !cuts[end] {
			end++
		}
		column := func(k int) *Column {
			if c.Runs {
				col := sliceColumn(k, cols[k], from, end-at, run[at-from:end-from], withQuals)
				col.Run, col.At = run, at-from
				return col
			}
			var perm []uint32
			if o.OrderAny {
				if perm, err = e.Sorted(context.Background(), 0, uint64(at), uint64(end)); err != nil {
					t.Fatal(err)
				}
			}
			return sliceColumn(k, cols[k], at, end-at, perm, withQuals)
		}
		s := madeSlice{first: column(0)}
		if len(cols) > 1 {
			s.mate = column(1)
		}
		if s.data, err = e.EncodeSlice(context.Background(), s.first, s.mate); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
		at = end
	}
	result := coded{parts: len(e.parts)}
	shared := e.Shared()
	for _, b := range shared {
		result.bytes = append(result.bytes, b...)
	}
	d := NewDecoder(shared, Config{Threads: 2, Repeats: e.Repeats()})
	var sums [2]uint64
	for _, s := range out {
		result.bytes = append(result.bytes, s.data...)
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
		testLines(t, d, s, got)
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
	known := knownDecoder(t, d, shared, Config{Threads: 2, Repeats: e.Repeats()})
	for i := range out {
		if i%4 == 0 {
			decodesPlaced(t, d, known, &out[i])
			decodesWanted(t, d, known, &out[i])
		}
		decodesFirst(t, d, &out[i])
		decodesAlone(t, d, &out[i])
	}
	if o.OrderAny {
		got, err := e.Digests(context.Background(), func(int) bool { return true })
		if err != nil || !slices.Equal(got, sums[:len(cols)]) {
			t.Fatalf("digests %x, those of the reads are %x (%v)", got, sums, err)
		}
	}
	result.size = len(result.bytes)
	return result
}

// madeSlice is a slice that was encoded, and its columns.
type madeSlice struct {
	data        []byte
	first, mate *Column
}

// knownDecoder returns a decoder that gets the pseudogenome of d.
func knownDecoder(t *testing.T, d *Decoder, shared [][]byte, c Config) *Decoder {
	t.Helper()
	if len(shared) == 0 {
		return d
	}
	genome, err := d.Genome(nil, 0, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	packed := make([]byte, (len(genome)+3)/4+16)
	bases.Pack(packed, genome)
	known, err := NewDecoderOf(len(shared), func(i int) ([]byte, error) { return shared[i], nil }, packed, len(genome), c)
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// decodesPlaced decodes a slice with a pseudogenome that is known, and the reads that have a place alone, without decoding it.
func decodesPlaced(t *testing.T, d, known *Decoder, s *madeSlice) {
	t.Helper()
	decode := func(d *Decoder, withoutLiterals bool) (got [2][]byte, cols [2]*Column) {
		for k, c := range []*Column{s.first, s.mate} {
			if c != nil {
				cols[k] = &Column{Records: c.Records, Lengths: c.Lengths, Quals: c.Quals, Layout: &Layout{WithoutLiterals: withoutLiterals}}
			}
		}
		got, err := d.DecodeSlice(s.data, cols[0], cols[1])
		if err != nil {
			t.Fatal(err)
		}
		return got, cols
	}
	want, _ := decode(d, false)
	if got, _ := decode(known, false); !bytes.Equal(got[0], want[0]) || !bytes.Equal(got[1], want[1]) {
		t.Fatal("other reads with a pseudogenome that is known")
	}
	if NeedsAll(s.data) {
		return
	}
	got, cols := decode(known, true)
	for k, c := range cols {
		if c == nil {
			continue
		}
		at := 0
		for i := range c.Records {
			n := c.Lengths.Of(i)
			if c.Layout.Positions[i] != unplaced && !bytes.Equal(got[k][at:at+n], want[k][at:at+n]) {
				t.Fatalf("read %d of column %d differs", i, k)
			}
			at += n
		}
	}
}

// decodesWanted decodes a slice for the sake of some of its reads: of each fifth one, and of each single one of a few.
func decodesWanted(t *testing.T, d, known *Decoder, s *madeSlice) {
	t.Helper()
	want, cols, err := s.decode(d, 0, [2]bool{true, true})
	if err != nil {
		t.Fatal(err)
	}
	wanted := []func(i int) bool{func(i int) bool { return i%5 == 1 }}
	for i := 0; i < s.first.Records; i += s.first.Records/3 + 1 {
		wanted = append(wanted, func(k int) bool { return k == i })
	}
	for _, w := range wanted {
		for _, d := range []*Decoder{d, known} {
			for _, c := range cols {
				if c != nil {
					c.Wanted = w
				}
			}
			got, err := d.DecodeSlice(s.data, cols[0], cols[1])
			if err != nil {
				t.Fatal(err)
			}
			for k, c := range cols {
				for at, i := 0, 0; c != nil && i < c.Records; i++ {
					n := c.Lengths.Of(i)
					if w(i) && !bytes.Equal(got[k][at:at+n], want[k][at:at+n]) {
						t.Fatalf("read %d of column %d, which is wanted, differs", i, k)
					}
					at += n
				}
			}
		}
	}
}

// decode decodes the first reads of a slice (0: all) of the members that are wanted, with the qualities of these alone.
func (s *madeSlice) decode(d *Decoder, first int, want [2]bool) (got [2][]byte, cols [2]*Column, err error) {
	for k, c := range []*Column{s.first, s.mate} {
		if c == nil {
			continue
		}
		cols[k] = &Column{Records: c.Records, Lengths: c.Lengths, First: first, Skip: !want[k]}
		if c.Quals != nil && want[k] {
			cols[k].Quals = c.Quals[:c.Lengths.Sum(0, cols[k].decoded())]
		}
	}
	got, err = d.DecodeSlice(s.data, cols[0], cols[1])
	return got, cols, err
}

// decodesFirst compares the first reads of a slice, decoded alone, with those of the whole slice.
func decodesFirst(t *testing.T, d *Decoder, s *madeSlice) {
	t.Helper()
	both := [2]bool{true, s.mate != nil}
	first := (s.first.Records + 2) / 3
	got, cols, err := s.decode(d, first, both)
	if NeedsAll(s.data) {
		if !errors.Is(err, errTooFew) {
			t.Errorf("some reads of a slice with pieces: error %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	whole, _, err := s.decode(d, 0, both)
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range cols {
		if c != nil && !bytes.Equal(got[k], whole[k][:c.Lengths.Sum(0, first)]) {
			t.Fatalf("the first %d of %d reads are decoded to %d letters, and not to those of the whole slice", first, c.Records, len(got[k]))
		}
	}
}

// decodesAlone compares each member of a slice, decoded alone, with that of the whole slice, for all reads and for the first ones.
func decodesAlone(t *testing.T, d *Decoder, s *madeSlice) {
	t.Helper()
	if s.mate == nil {
		return
	}
	whole, _, err := s.decode(d, 0, [2]bool{true, true})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 2 {
		want := [2]bool{k == 0, k == 1}
		for _, first := range []int{0, (s.first.Records + 2) / 3} {
			if first > 0 && NeedsAll(s.data) {
				continue
			}
			got, cols, err := s.decode(d, first, want)
			if err != nil {
				t.Fatal(err)
			}
			if n := cols[k].Lengths.Sum(0, cols[k].decoded()); !bytes.Equal(got[k], whole[k][:n]) || got[1-k] != nil {
				t.Fatalf("member %d alone, first %d: %d letters, and not those of the whole slice", k, first, len(got[k]))
			}
		}
	}
}

// testLines decodes a slice as lines, in memory that is not empty: they are the reads of letters.
func testLines(t *testing.T, d *Decoder, s madeSlice, letters [2][]byte) {
	t.Helper()
	var lined [2]*Column
	for k, c := range []*Column{s.first, s.mate} {
		if c != nil {
			lined[k] = &Column{Records: c.Records, Lengths: c.Lengths, Quals: c.Quals, Lines: true,
				Memory: func(n int) []byte { return bytes.Repeat([]byte{'-'}, n+3)[:0] }}
		}
	}
	got, err := d.DecodeSlice(s.data, lined[0], lined[1])
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range lined {
		if c == nil {
			continue
		}
		var want []byte
		for i := range c.Records {
			n := c.Lengths.Of(i)
			want = append(append(want, letters[k][:n]...), '\n')
			letters[k] = letters[k][n:]
		}
		if !bytes.Equal(got[k], want) {
			t.Fatalf("member %d: lines are %.200q, want %.200q", k, got[k], want)
		}
	}
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
		{name: "pairs, shallow", genome: 100_000, n: 600, minL: 70, maxL: 100, errs: 0.01, slice: 250, pair: true, quals: true, bitsPerBase: 2.6},
		{name: "shallow", genome: 1 << 20, n: 500, minL: 30, maxL: 300, errs: 0.02, slice: 200, bitsPerBase: 2.6},
		{name: "short reads", genome: 500, n: 800, minL: 0, maxL: 30, errs: 0.05, slice: 300, quals: true, bitsPerBase: 3},
		{name: "long reads", genome: 60000, n: 40, minL: 500, maxL: 9000, errs: 0.01, slice: 20, quals: true, bitsPerBase: 2},
		{name: "parts", genome: 3000, n: 4000, minL: 100, maxL: 100, errs: 0.003, slice: 1500, memory: 600000, quals: true, bitsPerBase: 0.4},
		{name: "parts, sorted", genome: 3000, n: 4000, minL: 100, maxL: 100, errs: 0.003, slice: 1500, memory: 600000, order: true,
			bitsPerBase: 0.4},
		{name: "all wrong", genome: 3000, n: 300, minL: 50, maxL: 100, errs: 0.9, slice: 100, quals: true, bitsPerBase: 5},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cols := []column{simulate(int64(i), c.genome, c.n, c.minL, c.maxL, c.errs)}
			if c.pair {
				cols = append(cols, simulate(int64(i), c.genome, c.n, c.minL, c.maxL, c.errs))
			}
			size := roundTrip(t, record.Options{OrderAny: c.order}, Config{Threads: 2, Memory: c.memory}, c.slice, c.quals, cols...).size
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

// TestEmptyReads: reads without bases come back where no others are coded without a place.
func TestEmptyReads(t *testing.T) {
	for _, order := range []bool{false, true} {
		for _, quals := range []bool{false, true} {
			roundTrip(t, record.Options{OrderAny: order}, Config{Threads: 2}, 10, quals, simulate(1, 500, 20, 0, 0, 0))
		}
	}
}

// TestWordsOfBases: many bases at a time come out as one at a time, from any place, in both directions, and nothing else is written.
func TestWordsOfBases(t *testing.T) {
	r := rand.New(rand.NewSource(8))
	for n := range 140 {
		b := randomBases(r, n+5)
		packed := packedBases(b)
		text := bytes.Clone(b)
		toLetters(text)
		for at := range 5 {
			s := stretch{packed, at}
			for i := range n {
				if got := byte(s.word(i/32)>>(2*(i%32))) & 3; got != b[at+i] || s.base(i) != b[at+i] {
					t.Fatalf("base %d from %d on is %d and %d, want %d", i, at, got, s.base(i), b[at+i])
				}
			}
			for _, reversed := range []bool{false, true} {
				buf := bytes.Repeat([]byte{'-'}, n+2)
				s.letters(buf[1:n+1], reversed)
				for i, v := range b[at : at+n] {
					want, to := "ACGT"[v], 1+i
					if reversed {
						want, to = "TGCA"[v], n-i
					}
					if buf[to] != want || text[at+i] != "ACGT"[v] {
						t.Fatalf("base %d of %d: %d is written %q and %q, want %q", i, n, v, buf[to], text[at+i], want)
					}
				}
				if buf[0] != '-' || buf[n+1] != '-' {
					t.Fatalf("%d letters: wrote %q", n, buf)
				}
			}
		}
	}
}

// TestShares lays the same reads out with memory enough and with little: in shares, with the pseudogenome in pieces, and coded in
// parts or windows. What that costs is bounded: with 30 reads over a base, 3 %, and where the pseudogenome comes in pieces,
// 8 %; and the bytes do not depend on threads.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		name                      string
		order, runs, pair, pieces bool
		memory                    uint64
		cost                      float64
	}{
		{name: "original order", memory: 600 << 10, cost: 1.03},
		{name: "pieces", memory: 80 << 10, pieces: true, cost: 1.08},
		{name: "order free", order: true, memory: 350 << 10, cost: 1.03},
		{name: "runs", order: true, runs: true, memory: 600 << 10, cost: 1.03},
		{name: "runs in pieces", order: true, runs: true, memory: 80 << 10, pieces: true, cost: 1.08},
		{name: "runs of pairs", order: true, runs: true, pair: true, memory: 600 << 10, cost: 1.03},
		{name: "pairs", pair: true, memory: 600 << 10, cost: 1.03},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !testrun.Long() && !slices.Contains([]string{"original order", "runs in pieces", "runs of pairs"}, c.name) {
				t.Skip("make test-long runs this")
			}
			t.Parallel()
			size, reads := 1, 4500
			if c.pieces {
				size, reads = 2, testrun.Pick(4500, 4500, 9000) // fewer contigs are joined in one piece however little memory there is
			}
			cols := []column{simulate(3, size*15_000, reads, 100, 100, 0.003)}
			if c.pair { // of mixed lengths
				cols = []column{simulate(3, 20_000, 3_500, 60, 110, 0.003), simulate(3, 20_000, 3_500, 60, 110, 0.003)}
			}
			o := record.Options{OrderAny: c.order, ReadsOnly: c.runs}
			free := roundTrip(t, o, Config{Threads: 2, Runs: c.runs}, size*1000, false, cols...)
			joins, last := 0, uint64(0)
			bound := roundTrip(t, o, Config{Threads: 1, Memory: c.memory, Runs: c.runs, Progress: func(stage string, done, _ uint64) {
				if stage == "joining contigs" {
					if done < last || joins == 0 {
						joins++
					}
					last = done
				}
			}}, size*1000, false, cols...)
			again := roundTrip(t, o, Config{Threads: 3, Memory: c.memory, Runs: c.runs}, size*1000, false, cols...)
			t.Logf("%d bytes, with enough memory %d; %d parts, %d pieces", bound.size, free.size, bound.parts, joins)
			if !bytes.Equal(bound.bytes, again.bytes) {
				t.Error("other bytes with other threads")
			}
			if free.parts != 1 || !c.runs && bound.parts == 1 {
				t.Errorf("%d parts with enough memory, %d with little", free.parts, bound.parts)
			}
			if c.pieces != (joins > 1) {
				t.Errorf("%d pieces", joins)
			}
			if got := float64(bound.size) / float64(free.size); got > c.cost {
				t.Errorf("%.3f times the bytes, want at most %.2f", got, c.cost)
			}
		})
	}
}

// TestBeyondLaid codes more records than are laid out together: the others are placed on the same pseudogenome.
func TestBeyondLaid(t *testing.T) {
	reads := simulate(5, 5_000, 6_000, 60, 100, 0.003)
	free := roundTrip(t, record.Options{}, Config{Threads: 2}, 2000, false, reads)
	for _, memory := range []uint64{0, 1 << 20} {
		for _, runs := range []bool{false, true} {
			o := record.Options{OrderAny: runs, ReadsOnly: runs}
			got := roundTrip(t, o, Config{Threads: 2, Memory: memory, Runs: runs, maxLayoutRecords: 4_000}, 2000, false, reads)
			if got.parts == 1 || got.size > free.size*21/20 {
				t.Errorf("memory %d: %d bytes in %d parts, %d in one", memory, got.size, got.parts, free.size)
			}
		}
	}
}

// TestPlaceSorter compares with an ordinary sort, whatever the positions are like and however many reads have none.
func TestPlaceSorter(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	for _, n := range []int{1, 7, 1 << 10, 1 << 22, 1<<32 - 1} {
		for _, reads := range []int{0, 1, 3000, 5 * sortedRun} {
			for _, unplacedPart := range []float64{0, 0.3, 1} {
				pos, reversed := make([]uint32, reads), make([]bool, reads)
				var placed, others []uint32
				for i := range pos {
					pos[i], reversed[i] = uint32(r.Intn(min(n, 1+r.Intn(n)))), r.Intn(2) > 0
					if r.Float64() < unplacedPart {
						pos[i] = unplaced
						others = append(others, uint32(i))
					} else {
						placed = append(placed, uint32(i))
					}
				}
				key := func(i uint32) int { return int(pos[i])<<1 | rc.BitOf(reversed[i]) }
				slices.SortStableFunc(placed, func(a, b uint32) int { return key(a) - key(b) })
				want := []uint32{}
				for g, groups := 0, max(1, len(placed)/sortedRun); g < groups; g++ {
					want = append(want, placed[len(placed)*g/groups:len(placed)*(g+1)/groups]...)
					want = append(want, others[len(others)*g/groups:len(others)*(g+1)/groups]...)
				}
				for _, threads := range []int{1, 3} {
					s := placeSorter{reads: uint32(reads), positions: n, threads: threads,
						begin: func(i uint32) (uint32, bool) { return pos[i], reversed[i] }}
					if got := s.order(); !slices.Equal(got, want) {
						t.Errorf("%d reads, %d of them placed, on %d positions, %d threads: not in order", reads, len(placed), n, threads)
					}
				}
			}
		}
	}
}

func TestCounts(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	for _, n := range []int{1, 63, 64, 1000} {
		for _, reads := range []int{0, n / 8, 3 * n} {
			pos := make([]uint32, reads)
			for i := range pos {
				pos[i] = uint32(r.Intn(n))
			}
			c := countsOf(len(pos), n, 3, func(record uint32) uint32 { return pos[record] })
			for p := range n + 1 {
				want := uint32(0)
				for _, q := range pos {
					if int(q) < p {
						want++
					}
				}
				if got := c.below(p); got != want {
					t.Fatalf("%d of %d positions are below %d of %d, want %d", got, reads, p, n, want)
				}
			}
		}
	}
}
