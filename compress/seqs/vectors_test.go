package seqs

import (
	"context"
	"slices"
	"strings"
	"testing"

	"orcomgo/bins/record"

	"orcomgo/internal/testvector"
)

const vectorDir = "../../testdata/vectors/"

// TestPositionVectors codes the trees of testdata/vectors/positions.txt, and positions by them.
func TestPositionVectors(t *testing.T) {
	testvector.Run(t, vectorDir+"positions.txt", func(t *testing.T, v *testvector.Vector) {
		pos, bases := v.Ints(t, "positions"), v.Int(t, "bases")
		c := encodeTo(nil)
		_, code := treeOf(pos, bases)
		code.encode(c)
		data := v.Bytes(t, "bytes", c.Enc.Finish())
		tree := decodePositions(bases, decodeFrom(data))
		c = encodeTo(nil)
		for _, p := range pos {
			tree.paged().codeOne(c, p)
		}
		d := decodeFrom(v.Bytes(t, "coded", c.Enc.Finish()))
		for i, p := range pos {
			if got := tree.paged().codeOne(d, 0); got != p {
				t.Fatalf("position %d is %d, want %d", i, got, p)
			}
		}
	})
}

// TestLengthVectors codes the lengths of testdata/vectors/lengths.txt and decodes them.
func TestLengthVectors(t *testing.T) {
	testvector.Run(t, vectorDir+"lengths.txt", func(t *testing.T, v *testvector.Vector) {
		var want record.Lengths
		n := 0
		if v.Has("fixed") {
			want.Fixed, n = uint32(v.Int(t, "fixed")), v.Int(t, "count")
		} else {
			want.Each = v.Ints(t, "lengths")
			n = len(want.Each)
		}
		data := v.Bytes(t, "bytes", EncodeLengths(want))
		got, err := DecodeLengths(data, n)
		if err != nil || got.Fixed != want.Fixed || !slices.Equal(got.Each, want.Each) {
			t.Fatalf("decoded %v, %v; want %v", got, err, want)
		}
	})
}

// TestSliceVectors decodes the slices of testdata/vectors/slices.txt, and codes their reads again.
func TestSliceVectors(t *testing.T) {
	flags := byte(0)
	testvector.Run(t, vectorDir+"slices.txt", func(t *testing.T, v *testvector.Vector) {
		var cols []column
		for _, k := range []string{"1", "2"} {
			if !v.Has("reads-" + k) {
				continue
			}
			c := column{reads: v.Strings(t, "reads-"+k)}
			if v.Has("qualities-" + k) {
				c.quals = []byte(strings.Join(v.Strings(t, "qualities-"+k), ""))
			}
			cols = append(cols, c)
		}
		any, withQuals, n := v.Text(t, "order") == "any", cols[0].quals != nil, len(cols[0].reads)
		r := archiveOf(t, record.Options{OrderAny: any}, n, cols...)
		cfg := Config{Threads: 1, Runs: any && !withQuals}
		if v.Has("lanes-from") {
			cfg.lanesFrom = v.Int(t, "lanes-from")
		}
		e, err := Build(context.Background(), r, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		var perm []uint32
		if any {
			if perm, err = e.Sorted(context.Background(), 0, 0, uint64(n)); err != nil {
				t.Fatal(err)
			}
		}
		in := [2]*Column{sliceColumn(0, cols[0], 0, n, perm, withQuals)}
		if len(cols) > 1 {
			in[1] = sliceColumn(1, cols[1], 0, n, nil, withQuals)
		}
		coded, err := e.EncodeSlice(context.Background(), in[0], in[1])
		if err != nil {
			t.Fatal(err)
		}
		shared := e.Shared()
		shared = [][]byte{v.Bytes(t, "pseudogenome", shared[0]), v.Bytes(t, "positions", shared[1])}
		data := v.Bytes(t, "bytes", coded)
		flags |= data[1]

		d := NewDecoder(shared, Config{Threads: 1})
		var blank [2]*Column
		var want [2]string
		for k, c := range cols {
			blank[k] = &Column{Records: n, Lengths: in[k].Lengths, Quals: in[k].Quals}
			want[k] = strings.Join(c.reads, "")
		}
		if any {
			want[0] = v.Letters(t, "decoded", inOrder(cols[0].reads, perm))
		}
		got, err := d.DecodeSlice(data, blank[0], blank[1])
		if err != nil || string(got[0]) != want[0] || string(got[1]) != want[1] {
			t.Fatalf("decoded %q and %q, %v; want %q and %q", got[0], got[1], err, want[0], want[1])
		}
		decodesAlone(t, d, &madeSlice{data, in[0], in[1]})
	})
	if flags != flagsKnown {
		t.Errorf("the slices have flags %b, want %b", flags, flagsKnown)
	}
}

// inOrder joins reads in the order of perm.
func inOrder(reads []string, perm []uint32) string {
	var b strings.Builder
	for _, i := range perm {
		b.WriteString(reads[i])
	}
	return b.String()
}
