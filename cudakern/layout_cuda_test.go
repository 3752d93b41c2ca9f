//go:build cuda

package cudakern

import (
	"bytes"
	"errors"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/internal/testrun"
)

// Sizes that shared.h has.
const (
	scanTile   = 4096
	sortTile   = 4096
	codedChunk = 1 << 20
	sumChunk   = 1 << 14
	codeName   = 16
)

// openedQueue returns a queue of a device whose context is current, or skips the test.
func openedQueue(t *testing.T) *queue {
	t.Helper()
	d, err := Open(0)
	if err != nil {
		t.Skip(err)
	}
	leave, err := d.enter()
	if err != nil {
		t.Fatal(err)
	}
	q := &queue{}
	if err := q.open(d); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		leave()
		if err := errors.Join(q.Close(), d.Close()); err != nil {
			t.Error(err)
		}
		if n := allocated.Load(); n != 0 {
			t.Errorf("%d bytes of device memory were not freed", n)
		}
	})
	return q
}

// TestCopies: what is copied to the device and back is as it was, whatever its size and wherever it begins.
func TestCopies(t *testing.T) {
	q := openedQueue(t)
	r := rand.New(rand.NewSource(81))
	var b buffer
	const most = 9*copyPiece + 77
	data, got := make([]byte, most), make([]byte, most)
	r.Read(data)
	if q.room(&b, most, "data"); q.err != nil {
		t.Fatal(q.err)
	}
	for _, n := range []int{0, 1, smallCopy - 1, smallCopy, smallCopy + 1, copyPiece, copyPiece + 1, 8 * copyPiece, most} {
		for _, at := range []int{0, 3, 4096} {
			if n+at > most {
				continue
			}
			r.Read(data[at:min(at+99, most)])
			clear(got)
			q.upload(b.at()+uint64(at), data[at:at+n], "data")
			if q.download(got[at:at+n], b.at()+uint64(at), "data"); q.err != nil {
				t.Fatal(q.err)
			}
			if !bytes.Equal(got[at:at+n], data[at:at+n]) {
				t.Fatalf("%d bytes at %d differ", n, at)
			}
		}
	}
}

// TestScans: running totals, which may exceed 32 bits.
func TestScans(t *testing.T) {
	q := openedQueue(t)
	r := rand.New(rand.NewSource(82))
	var b buffer
	for _, n := range []int{1, 3, scanTile - 1, scanTile, scanTile + 1, 40*scanTile + 5, 3_000_000} {
		values := make([]uint32, n)
		want := make([]uint32, n)
		sum := uint32(0)
		for i := range values {
			values[i] = r.Uint32() >> (r.Intn(2) * 30)
			want[i], sum = sum, sum+values[i]
		}
		q.grow(&b, 4*n+16, "values")
		q.upload(b.at(), bytesOf(values), "values")
		q.scanTotal(b.at(), n)
		if total := q.sum(); q.err != nil || total != sum {
			t.Fatalf("%d values: the sum is %d, %v, want %d", n, total, q.err, sum)
		}
		if q.download(bytesOf(values), b.at(), "values"); q.err != nil {
			t.Fatal(q.err)
		}
		if !slices.Equal(values, want) {
			t.Fatalf("%d values: other running totals", n)
		}
	}
}

// TestSortsKmers: the sort is stable, for keys that are all different, few, or equal.
func TestSortsKmers(t *testing.T) {
	d, err := Open(0)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	j, err := d.NewJoiner()
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	r := rand.New(rand.NewSource(83))
	for _, n := range []int{1, 2, sortTile - 1, sortTile, sortTile + 1, 100_003, 2_000_000} {
		if testrun.Short() && n > 1_000_000 {
			continue
		}
		for _, different := range []uint32{1<<32 - 1, 7, 1} {
			keys := make([]uint32, n)
			order := make([]uint32, n)
			for i := range keys {
				keys[i], order[i] = r.Uint32()%different*((1<<32-1)/different), uint32(i)
			}
			gotKeys, gotOrder := make([]uint32, n), make([]uint32, n)
			err := j.do(func() {
				j.grow(&j.keys, 4*n+16, "k-mers")
				j.grow(&j.order, 4*n+16, "k-mers")
				j.grow(&j.other, 8*n+16, "k-mers")
				j.upload(j.keys.at(), bytesOf(keys), "k-mers")
				j.sortKmers(n)
				j.download(bytesOf(gotKeys), j.keys.at(), "k-mers")
				j.download(bytesOf(gotOrder), j.order.at(), "k-mers")
			})
			if err != nil {
				t.Fatal(err)
			}
			slices.SortStableFunc(order, func(a, b uint32) int { return int(int64(keys[a]) - int64(keys[b])) })
			slices.Sort(keys)
			if !slices.Equal(gotKeys, keys) || !slices.Equal(gotOrder, order) {
				t.Fatalf("%d keys, %d different: another order", n, different)
			}
		}
	}
}

// TestLayoutArguments: slices whose lengths don't fit are refused, and so is what exceeds the memory, after which all of it is free.
func TestLayoutArguments(t *testing.T) {
	d, err := Open(0)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	j, err := d.NewJoiner()
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.NewPlacer()
	if err != nil {
		t.Fatal(err)
	}
	c := JoinContigs{
		Packed:    make([]byte, 40+16),
		Start:     []uint64{0, 20},
		Length:    []uint32{80, 80},
		Reads:     []uint64{1, 1},
		Left:      []uint32{9, 9},
		ReadBases: 80,
	}
	sampler := JoinSampler{Rate: 1}
	if _, err := j.Partners(c, sampler, make([]uint64, 1), make([]uint32, 2)); err == nil {
		t.Error("links of one contig for two were accepted")
	}
	if _, err := j.Partners(JoinContigs{}, sampler, nil, nil); err == nil {
		t.Error("no contigs were accepted")
	}
	reads := PlaceReads{
		Packed:         make([]byte, 50+16),
		Stride:         25,
		Length:         100,
		Count:          2,
		Masked:         make([]uint64, 1),
		StoredReversed: make([]uint64, 1),
		Records:        make([]uint32, 2),
	}
	if err := p.LoadReads(reads); err != nil {
		t.Fatal(err)
	}
	places := Places{Positions: make([]uint32, 2), Reversed: make([]uint32, 1), Mismatches: make([]uint8, 2)}
	few := Places{Positions: make([]uint32, 1), Reversed: make([]uint32, 1), Mismatches: make([]uint8, 1)}
	if p.Place(PlaceMode{}, RetryNone, places, nil, few, nil) == nil || p.LoadPlaces(few) == nil {
		t.Error("places of one read for two were accepted")
	}
	if p.Place(PlaceMode{}, RetryNone, places, nil, places, nil) == nil {
		t.Error("reads were placed without an index")
	}
	if p.CountVotes(0, 4) == nil || p.SelectPoor(make([]uint64, 1), make([]uint8, 2)) == nil {
		t.Error("reads voted before BeginVotes")
	}
	MostMemory = allocated.Load() + 1000
	defer func() { MostMemory = 0 }()
	if _, err := j.Partners(c, sampler, make([]uint64, 2), make([]uint32, 2)); !errors.Is(err, ErrMemory) {
		t.Errorf("joining without memory: %v", err)
	}
	if err := p.BuildIndex(make([]byte, 5000), 0, 19_000, 19_000, PlaceMode{K: 13}); !errors.Is(err, ErrMemory) {
		t.Errorf("an index without memory: %v", err)
	}
	MostMemory = 0
	links, left := make([]uint64, 2), make([]uint32, 2)
	n, err := j.Partners(c, sampler, links, left)
	if err != nil || n != 1 || links[1]>>32 != 0 || links[0] != 1<<64-1 || left[1] != 8 {
		t.Errorf("two equal contigs: %d comparisons, links %x, left %d, %v", n, links, left, err)
	}
	if err := errors.Join(j.Close(), p.Close()); err != nil {
		t.Error(err)
	}
	if n := allocated.Load(); n != 0 {
		t.Errorf("%d bytes of device memory were not freed", n)
	}
}
