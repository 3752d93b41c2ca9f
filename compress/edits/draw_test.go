package edits

import (
	"slices"
	"testing"

	"orcomgo/cmd/simreads/sim"
)

// drawn is reads with what is true of them.
type drawn struct {
	shared []byte // the genome
	reads  []read
	bases  uint64
}

type read struct {
	bases, quals []byte // bases 0 to 3; N is A
	pieces       []Piece
}

// draw draws long reads and aligns them as they were drawn.
func draw(t testing.TB, size int, coverage float64, c sim.Config) *drawn {
	t.Helper()
	c.Genome = sim.Invent(sim.GenomeConfig{Size: size, Repeats: 0.1, Seed: 1})
	c.Long, c.Seed = true, 1
	c.Reads = c.ReadsFor(coverage)
	s, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	d := &drawn{shared: codes(c.Genome.Letters())}
	s.Each(func(r *sim.Truth) {
		x := read{bases: codes(r.Bases), quals: append([]byte(nil), r.Qualities...)}
		p := Piece{End: uint32(len(r.Bases)), Place: uint64(r.Place), Length: uint32(r.Length), Reverse: r.Reverse}
		for _, e := range r.Errors {
			p.Edits = append(p.Edits, Edit{At: uint32(e.At), Kind: uint8(e.Kind), Base: codes([]byte{e.Base})[0]})
		}
		x.pieces = append(x.pieces, p)
		// An N is not said to be an error, and its base does not matter: it is that of the shared sequence.
		for i, b := range apply(d.shared, x.pieces, len(x.bases)) {
			if r.Bases[i] == 'N' {
				x.bases[i] = b
			}
		}
		d.bases += uint64(len(x.bases))
		d.reads = append(d.reads, x)
	})
	return d
}

// glue makes chimeras: it joins every two reads.
func (d *drawn) glue() {
	var glued []read
	for i := 0; i+1 < len(d.reads); i += 2 {
		a, b := d.reads[i], d.reads[i+1]
		n := uint32(len(a.bases))
		x := read{slices.Concat(a.bases, b.bases), slices.Concat(a.quals, b.quals), a.pieces}
		for _, p := range b.pieces {
			p.Start, p.End = p.Start+n, p.End+n
			x.pieces = append(x.pieces, p)
		}
		glued = append(glued, x)
	}
	d.reads = glued
}

// source returns the shared sequence.
func (d *drawn) source(dst []byte, pos, n int) []byte { return append(dst, d.shared[pos:pos+n]...) }

func (d *drawn) options(qualities bool) Options {
	return Options{Bases: uint64(len(d.shared)), Source: d.source, Qualities: qualities}
}

// encode returns the section of the reads.
func (d *drawn) encode(o Options) []byte {
	e := NewEncoder(o)
	for _, r := range d.reads {
		e.Add(uint32(len(r.bases)), r.pieces, r.quals)
	}
	return e.Finish()
}

// apply returns the bases of a read; those of no piece are 0.
func apply(shared []byte, pieces []Piece, length int) []byte {
	b := make([]byte, length)
	for _, p := range pieces {
		t := append([]byte(nil), shared[p.Place:p.Place+uint64(p.Length)]...)
		if p.Reverse {
			for i, j := 0, len(t)-1; i <= j; i, j = i+1, j-1 {
				t[i], t[j] = 3-t[j], 3-t[i]
			}
		}
		out := b[p.Start:p.Start]
		at := 0
		for _, e := range p.Edits {
			out = append(out, t[at:e.At]...)
			at = int(e.At)
			if e.Kind != Insertion {
				at++
			}
			if e.Kind != Deletion {
				out = append(out, e.Base)
			}
		}
		out = append(out, t[at:]...)
		if len(out) != int(p.End-p.Start) {
			panic("a piece makes another number of bases")
		}
	}
	return b
}

// codes returns bases 0 to 3 of letters; N is 0.
func codes(letters []byte) []byte {
	b := make([]byte, len(letters))
	for i, x := range letters {
		switch x {
		case 'C':
			b[i] = 1
		case 'G':
			b[i] = 2
		case 'T':
			b[i] = 3
		}
	}
	return b
}
