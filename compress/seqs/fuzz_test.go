package seqs

import (
	"context"
	"slices"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/basemodel"
)

// codedSlice is a small slice with everything in it.
func codedSlice(f *testing.F) (shared [][]byte, data []byte, first, mate *Column) {
	a := simulate(7, 2000, 300, 40, 60, 0.02)
	b := simulate(8, 2000, 300, 40, 60, 0.02)
	r := archiveOf(f, record.Options{}, 100, a, b)
	e, err := Build(context.Background(), r, Config{Threads: 1, lanesFrom: 1})
	if err != nil {
		f.Fatal(err)
	}
	defer e.Close()
	first, mate = sliceColumn(0, a, 0, 300, nil, true), sliceColumn(1, b, 0, 300, nil, true)
	if data, err = e.EncodeSlice(context.Background(), first, mate); err != nil {
		f.Fatal(err)
	}
	return e.Shared(), data, first, mate
}

// FuzzDecodeSlice: whatever a slice says, decoding ends with an error or letters of the right number.
func FuzzDecodeSlice(f *testing.F) {
	shared, data, first, mate := codedSlice(f)
	d := NewDecoder(shared, Config{Threads: 1})
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte{0, 6, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := d.DecodeSlice(data,
			&Column{Records: first.Records, Lengths: first.Lengths, Quals: first.Quals},
			&Column{Records: mate.Records, Lengths: mate.Lengths, Quals: mate.Quals})
		if err == nil && (uint64(len(got[0])) != first.bases() || uint64(len(got[1])) != mate.bases()) {
			t.Fatal("wrong number of letters")
		}
	})
}

// FuzzShared: a tree of positions of any content, and slices on top of it, are refused or decoded; the pseudogenome may be shorter than the
// tree says. Its own section is damaged by FuzzDecode of package basemodel: decoding it here again takes nearly all of the time.
func FuzzShared(f *testing.F) {
	shared, data, first, mate := codedSlice(f)
	whole := NewDecoder(shared, Config{Threads: 1})
	<-whole.started
	model, err := whole.genome.modelled.Model()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(shared[1], uint32(whole.genome.Len()), byte(0))
	f.Add(shared[1][:len(shared[1])/2], uint32(100), byte(1))
	f.Add([]byte{}, uint32(0), byte(2))
	f.Fuzz(func(t *testing.T, tree []byte, bases uint32, part byte) {
		d := newDecoder(2, Config{Threads: 1})
		d.genome = &genome{known: &knownGenome{whole.genome.modelled.Packed(), min(int(bases), whole.genome.Len()),
			func() (*basemodel.Model, error) { return model, nil }}}
		close(d.started)
		go d.setTrees([][]byte{shared[1], tree})
		data := slices.Clone(data)
		data[0] = part & 3 // of which there are two
		got, err := d.DecodeSlice(data,
			&Column{Records: first.Records, Lengths: first.Lengths, Quals: first.Quals},
			&Column{Records: mate.Records, Lengths: mate.Lengths, Quals: mate.Quals})
		if err == nil && uint64(len(got[0])) != first.bases() {
			t.Fatal("wrong number of letters")
		}
	})
}

func FuzzDecodeLengths(f *testing.F) {
	f.Add(EncodeLengths(record.Lengths{Fixed: 101}), 9)
	f.Add(EncodeLengths(record.Lengths{Each: []uint32{1, 2, 2, 300}}), 4)
	f.Add(EncodeLengths(record.Lengths{Each: []uint32{1 << 31, 0, 70000, 70000}}), 4)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		if n < 0 || n > 1000 {
			return
		}
		lengths, err := DecodeLengths(data, n)
		if err == nil && lengths.Each != nil && len(lengths.Each) != n {
			t.Fatal("wrong number of lengths")
		}
	})
}

func TestLengthsRoundTrip(t *testing.T) {
	for _, want := range [][]uint32{nil, {}, {0}, {5, 5, 5}, {1, 4095, 2}, {4096, 1 << 20, 0, 1<<32 - 1}} {
		data := EncodeLengths(record.Lengths{Each: want, Fixed: 77})
		got, err := DecodeLengths(data, len(want))
		if err != nil || want == nil && got.Fixed != 77 || want != nil && !slices.Equal(got.Each, want) {
			t.Fatalf("%v: got %v, %v", want, got, err)
		}
	}
}

// TestNumbersOfLengths: a length that has more bytes than it needs, or more than 32 bits, is damage.
func TestNumbersOfLengths(t *testing.T) {
	for _, c := range []struct {
		data []byte
		ok   bool
	}{{[]byte{0, 5}, true}, {[]byte{0, 0x85, 0}, false}, {[]byte{0, 0xff, 0xff, 0xff, 0xff, 0x0f}, true},
		{[]byte{0, 0x80, 0x80, 0x80, 0x80, 0x10}, false}} {
		if _, err := DecodeLengths(c.data, 1); (err == nil) != c.ok {
			t.Errorf("% x: %v", c.data, err)
		}
	}
}
