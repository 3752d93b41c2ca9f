package seqs

import (
	"encoding/binary"
	"math/bits"
	"sort"

	"orcomgo/compress/edits"
	"orcomgo/compress/longreads"
	"orcomgo/compress/overlap"
)

// repeatCoder codes what repeats in the sequence that long reads share, and says which bases are left for the base model.
type repeatCoder struct {
	genome  *overlap.Pseudogenome
	section []byte    // see docs/FORMAT.md
	spans   []literal // in order; the last one has no bases
	bases   int       // under the base model
}

// literal is bases of the pseudogenome that are under the base model, up to those of the next literal: base `at` of these, and so on.
type literal struct{ place, at int }

// newRepeatCoder codes what repeats in the shared sequence at the end of a pseudogenome. It returns nil if nothing does.
func newRepeatCoder(g *overlap.Pseudogenome, shared *longreads.Sequence, threads int) *repeatCoder {
	c := &repeatCoder{genome: g}
	n := shared.Len()
	begin := g.Len - n
	// Blocks are smaller in a short sequence, since they repeat nothing of their own.
	blockBits := min(max(bits.Len(uint(n))-5, minBlockBits), 16)
	block := 1 << blockBits
	pieces := shared.Repeats(block, threads)
	known := begin // bases of the pseudogenome that the decoder knows when it decodes a block
	e := edits.NewEncoder(edits.Options{Bases: uint64(g.Len), Source: func(dst []byte, pos, n int) []byte {
		at := len(dst)
		dst = g.Stretch(dst, pos, n)
		clear(dst[max(at, min(len(dst), at+known-pos)):])
		return dst
	}})
	literals := func(from, to int) {
		if from == to {
			return
		}
		if i := len(c.spans) - 1; i < 0 || c.spans[i].place+c.bases-c.spans[i].at < from { // else it goes on
			c.spans = append(c.spans, literal{from, c.bases})
		}
		c.bases += to - from
	}
	literals(0, begin)
	for i, list := range pieces {
		for k := range list {
			list[k].Place += uint64(begin)
		}
		end := min((i+1)*block, n) + begin
		e.Add(uint32(end-known), list, nil)
		at := known
		for _, p := range list {
			literals(at, known+int(p.Start))
			at = known + int(p.End)
		}
		literals(at, end)
		known = end
	}
	if c.bases == g.Len {
		return nil
	}
	c.spans = append(c.spans, literal{g.Len, c.bases})
	c.section = binary.AppendUvarint(nil, uint64(begin))
	c.section = binary.AppendUvarint(c.section, uint64(n))
	c.section = append(append(c.section, byte(blockBits)), e.Finish()...)
	return c
}

// bytes returns the section; nil if there is none.
func (c *repeatCoder) bytes() []byte {
	if c == nil {
		return nil
	}
	return c.section
}

// source appends n of the bases under the base model, one a byte, from base pos on to dst.
func (c *repeatCoder) source(dst []byte, pos, n int) []byte {
	for i := sort.Search(len(c.spans), func(i int) bool { return c.spans[i].at > pos }) - 1; n > 0; i++ {
		k := min(n, c.spans[i+1].at-pos)
		dst = c.genome.Stretch(dst, c.spans[i].place+pos-c.spans[i].at, k)
		pos, n = pos+k, n-k
	}
	return dst
}
