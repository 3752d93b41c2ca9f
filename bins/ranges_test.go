package bins

import (
	"bytes"
	"errors"
	"math/rand"
	"reflect"
	"slices"
	"testing"

	"orcomgo/bins/record"

	"orcomgo/bins/parse"
	"orcomgo/internal/testrun"
)

// TestExceptionRanges reads the exceptions of blocks between marks, in sections of several chunks as well, and damaged ones.
func TestExceptionRanges(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	few, _ := sample(rng, 0, 0, 3000, true)
	many, _ := sample(rng, 0, 3000, 100_000, false)
	many.Exceptions.Reset()
	for read := range uint32(100_000) {
		for at := uint32(0); at < 36 && read%5 > 0; at += 4 {
			many.Exceptions.Append(record.Exception{Read: read, Start: at, Len: 1 + at%3, Byte: 'N'})
		}
	}
	if n := len(many.Exceptions.Data()); n < 2*chunkSize {
		t.Fatalf("%d bytes of exceptions are not several chunks", n)
	}
	none, _ := sample(rng, 0, 103_000, 10, false)
	none.Exceptions.Reset()
	a := &archive{blocks: []*Block{few, many, none}, reads: make([][][]byte, 3)}
	dir := t.TempDir()
	a.write(t, dir, "a", false, 1)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i, b := range a.blocks {
		for _, every := range []int{1, 7, 4096, 100_000} {
			marks, err := r.ExceptionMarks(i, every, &b.Lengths)
			if err != nil {
				t.Fatal(err)
			}
			if b.Exceptions.Empty() {
				if marks != nil {
					t.Errorf("block %d: marks without exceptions", i)
				}
				continue
			}
			if want := (b.Records+every-1)/every + 1; len(marks) != want {
				t.Fatalf("block %d: %d marks, want %d", i, len(marks), want)
			}
			for range testrun.Pick(5, 5, 20) {
				lo := rng.Intn(len(marks))
				hi := lo + rng.Intn(len(marks)-lo)
				var got record.ExceptionList
				err := r.ReadExceptions(i, marks[lo], marks[hi], &b.Lengths, func(e record.Exception) error {
					got.Append(e)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				var want record.ExceptionList
				for e := range b.Exceptions.All {
					if int(e.Read) >= lo*every && int(e.Read) < hi*every {
						want.Append(e)
					}
				}
				if !bytes.Equal(got.Data(), want.Data()) {
					t.Fatalf("block %d: the exceptions of records %d to %d differ", i, lo*every, hi*every)
				}
			}
		}
		var got record.ExceptionList
		err := r.EachException(i, &b.Lengths, func(e record.Exception) error { got.Append(e); return nil })
		if err != nil || !bytes.Equal(got.Data(), b.Exceptions.Data()) {
			t.Errorf("block %d: all exceptions differ (%v)", i, err)
		}
	}
	short := record.Lengths{Fixed: 20} // exceptions end after that
	if _, err := r.ExceptionMarks(1, 4096, &short); !errors.Is(err, parse.ErrCorrupt) {
		t.Errorf("exceptions outside of their reads: %v", err)
	}
}

// TestRanges reads the bins of a block in parts, which must add up to the whole.
func TestRanges(t *testing.T) {
	a := samples()
	r := a.opened(t, 1)
	for i, want := range a.blocks {
		var all, part Block
		for _, cut := range [][2]uint32{{0, 0}, {1, 99}, {100, 900}, {901, NBin - 1}, {NBin, NBin}, {9, 3}} {
			if err := r.ReadBins(i, cut[0], cut[1], &part); err != nil {
				t.Fatal(err)
			}
			all.Bins = append(all.Bins, part.Bins...)
			all.Order = append(all.Order, part.Order...)
			all.Place = append(all.Place, part.Place...)
			all.Packed = append(all.Packed, part.Packed...)
		}
		if !reflect.DeepEqual(all.Bins, want.Bins) || !reflect.DeepEqual(all.Order, want.Order) ||
			!reflect.DeepEqual(all.Place, want.Place) || !bytes.Equal(all.Packed, want.Packed) {
			t.Errorf("block %d: the parts are not the whole", i)
		}
	}
}

// TestParts reads the bins of a block part after part, which must add up to the whole, whatever the parts.
func TestParts(t *testing.T) {
	a := samples()
	r := a.opened(t, 1)
	for _, c := range []struct {
		reads uint64
		bytes int
		least int // parts that there must be
	}{{largeParts.reads, largeParts.bytes, 1}, {1000, largeParts.bytes, 40}, {1 << 14, 5000, 100}, {7, 1, 1000}} {
		r.part = partSize{c.reads, c.bytes}
		parts := 0
		for i, want := range a.blocks {
			var all, part Block
			part.Lengths = want.Lengths
			for _, cut := range [][2]uint32{{0, 0}, {1, 99}, {100, 900}, {901, NBin - 1}, {NBin, NBin}, {9, 3}} {
				err := r.EachPart(i, cut[0], cut[1], &part, func() error {
					parts++
					if n := len(part.Order); n == 0 || n > int(c.reads) || n > 1 && len(part.Packed) > c.bytes || len(part.Place) != n {
						t.Fatalf("block %d: a part of %d reads and %d bytes", i, n, len(part.Packed))
					}
					all.Order = append(all.Order, part.Order...)
					all.Place = append(all.Place, part.Place...)
					all.Packed = append(all.Packed, part.Packed...)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				all.Bins = append(all.Bins, part.Bins...)
			}
			if !reflect.DeepEqual(all.Bins, want.Bins) || !reflect.DeepEqual(all.Order, want.Order) ||
				!reflect.DeepEqual(all.Place, want.Place) || !bytes.Equal(all.Packed, want.Packed) {
				t.Errorf("%+v: block %d: the parts are not the whole", c, i)
			}
			part.Lengths = record.Lengths{}
		}
		if parts < c.least {
			t.Errorf("%+v: only %d parts", c, parts)
		}
	}
}

// TestColumnRanges reads names and qualities from anywhere to anywhere.
func TestColumnRanges(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	a, dir := samples(), t.TempDir()
	large, reads := sample(rng, 1, 3000, 80000, false)
	a.blocks, a.reads = append(a.blocks, large), append(a.reads, reads)
	a.write(t, dir, "a", false, 1)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []byte
	whole := 0 // names and qualities that several chunks hold
	for i, want := range a.blocks {
		for _, every := range []int{1, 10, 4096} {
			marks, err := r.NameMarks(i, every)
			if err != nil {
				t.Fatal(err)
			}
			if want.Names == nil {
				if marks != nil {
					t.Errorf("block %d: marks in no names", i)
				}
				continue
			}
			var at []uint64
			begin := uint64(0)
			for k, name := range bytes.SplitAfter(want.Names, []byte{'\n'}) {
				if k < want.Records && k%every == 0 {
					at = append(at, begin)
				}
				begin += uint64(len(name))
			}
			if at = append(at, begin); !slices.Equal(marks, at) {
				t.Errorf("block %d: marks %v, want %v", i, marks, at)
			}
		}
		for _, c := range []struct {
			column []byte
			chunk  int
			read   func(block int, from, to uint64, dst []byte) ([]byte, error)
		}{{want.Names, chunkSize, r.ReadNames}, {want.Quals, chunkSize, r.ReadQuals}} {
			n := uint64(len(c.column))
			if len(c.column) > c.chunk {
				whole++
			}
			ranges := [][2]uint64{{0, n}, {0, 0}, {n, n}, {min(n, uint64(c.chunk)), n}, {0, min(n, uint64(c.chunk))}}
			for range 30 {
				from := uint64(rng.Int63n(int64(n) + 1))
				ranges = append(ranges, [2]uint64{from, from + uint64(rng.Int63n(int64(n-from)+1))})
			}
			for _, x := range ranges {
				if got, err = c.read(i, x[0], x[1], got); err != nil || !bytes.Equal(got, c.column[x[0]:x[1]]) {
					t.Fatalf("block %d: %d to %d differ (%v)", i, x[0], x[1], err)
				}
			}
			if _, err := c.read(i, 0, n+1, nil); !errors.Is(err, parse.ErrCorrupt) {
				t.Errorf("block %d: beyond the end: %v", i, err)
			}
		}
	}
	if whole < 2 {
		t.Errorf("only %d columns of several chunks", whole)
	}
}
