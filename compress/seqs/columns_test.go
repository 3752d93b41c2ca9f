package seqs

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins/record"
	"orcomgo/internal/codectest"

	"orcomgo/bins"
	rc "orcomgo/compress/rangecoder"
)

// column is one input of a test archive: reads as letters, and their qualities or nil.
type column struct {
	reads []string
	quals []byte
}

// archiveOf writes the columns as bins; two columns are a pair.
func archiveOf(t testing.TB, o record.Options, blockReads int, cols ...column) *bins.Reader {
	t.Helper()
	dir := t.TempDir()
	w, err := bins.Create(dir, "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	var inputs []record.Input
	o.BlockSize = 1 << 20
	for k, c := range cols {
		in := record.Input{Name: fmt.Sprintf("x%d.fastq", k), Mate: -1, Records: uint64(len(c.reads))}
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
			w.Reserve(&e)
			if err := w.WriteReserved(&e, serial); err != nil {
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
	b := &bins.Block{Records: len(reads), Lengths: record.Lengths{Each: make([]uint32, len(reads))}}
	type assigned struct {
		sig, pos uint32
		rev      bool
	}
	as := make([]assigned, len(reads))
	order := make([]int, len(reads))
	for i, s := range reads {
		order[i] = i
		b.Lengths.Each[i] = uint32(len(s))
		b.TextLen += uint64(2*len(s) + 6)
		b.Names = append(b.Names, '\n')
		as[i].sig, as[i].pos, as[i].rev = codectest.Signature([]byte(s))
		appendExceptions(&b.Exceptions, string(s), uint32(i))
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
		b.Place = append(b.Place, a.pos<<1|uint32(rc.BitOf(a.rev)))
		packed := make([]byte, bases.PackedLen(len(s)))
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

func appendExceptions(to *record.ExceptionList, s string, read uint32) {
	var list []record.Exception
	for j := 0; j < len(s); j++ {
		x := s[j]
		switch {
		case bytes.IndexByte([]byte("ACGT"), x) >= 0:
			continue
		case bytes.IndexByte([]byte("acgt"), x) >= 0:
			x = record.Lower
		}
		if k := len(list) - 1; k >= 0 && list[k].Byte == x && list[k].Start+list[k].Len == uint32(j) {
			list[k].Len++
			continue
		}
		list = append(list, record.Exception{Read: read, Start: uint32(j), Len: 1, Byte: x})
	}
	for _, e := range list {
		to.Append(e)
	}
}

// simulate draws reads of both strands from a genome with errors; qualities are low at most of them.
func simulate(seed int64, genome, n, minLen, maxLen int, errs float64) column {
	r := rand.New(rand.NewSource(seed))
	g := make([]byte, genome)
	for i := range g {
		g[i] = bases.Letters[r.Intn(4)]
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

func comp(b byte) byte { return bases.Letters[3-bytes.IndexByte([]byte(bases.Letters), b)] }

// sliceColumn is the column of records from.. of an input as the encoder takes it.
func sliceColumn(input int, c column, from, n int, perm []uint32, withQuals bool) *Column {
	col := &Column{Input: input, From: uint64(from), Perm: perm, Records: n, Lengths: record.Lengths{Each: []uint32{}}}
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
		col.Lengths.Each = append(col.Lengths.Each, uint32(len(s)))
		appendExceptions(&col.Exceptions, string(s), uint32(i))
		if withQuals {
			col.Quals = append(col.Quals, c.quals[starts[rec]:starts[rec+1]]...)
		}
	}
	if withQuals && col.Quals == nil {
		col.Quals = []byte{}
	}
	return col
}
