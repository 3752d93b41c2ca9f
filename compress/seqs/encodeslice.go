package seqs

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"orcomgo/bases"
	"orcomgo/bins/parse"
	"orcomgo/bins/record"
	"orcomgo/compress/basemodel"
	"orcomgo/compress/overlap"
)

// EncodeSlice codes the sequences of a slice: those of first and, if mate is not nil, those of
// the mates of first's reads in the same order. It is safe for concurrent use.
func (e *Encoder) EncodeSlice(ctx context.Context, first, mate *Column) ([]byte, error) {
	if first.Records == 0 {
		return nil, nil
	}
	lo, hi := first.span()
	k, err := e.partOf(first.Input, lo, hi)
	if err != nil {
		return nil, err
	}
	p := e.parts[k]
	cols := []*Column{first}
	if mate != nil {
		cols = append(cols, mate)
	}
	firsts := make([]uint32, len(cols)) // record numbers inside the part
	for i, c := range cols {
		lo, hi := c.span()
		if pk, err := e.partOf(c.Input, lo, hi); err != nil || pk != k {
			return nil, fmt.Errorf("seqs: mates are in different parts")
		}
		firsts[i], _ = p.record(c.Input, c.From)
	}
	want := loaded{part: k}
	var only func() *overlap.Subset
	if e.window > 0 {
		want = loaded{k, first.Input, first.From, e.Window(uint64(first.At))}
		only = func() *overlap.Subset {
			set := overlap.NewSubset(int(p.count))
			lo := want.window * e.window
			// A slice that begins in the window may end after it; slices of a run have nearly equal numbers of records.
			hi := min(lo+e.window+first.Records+1, len(first.Run))
			for _, base := range firsts {
				for _, i := range first.Run[lo:hi] {
					set.Add(base + i)
				}
			}
			return &set
		}
	}
	if _, err = e.acquire(ctx, want, only); err != nil {
		return nil, err
	}
	defer e.release()
	s := &slice{layout: p.layout, sorted: first.Perm != nil, tied: e.cfg.Runs && e.window == 0,
		byQual: first.Quals != nil, lanesFrom: cmp.Or(e.cfg.lanesFrom, lanesFrom), limit: uint64(p.layout.Len),
		releaseWhile: e.cfg.releaseWhile(), modeled: e.modeled}
	s.genome = func(pos, _ int) ([]byte, int) { return p.layout.Packed, pos }
	s.model = func() (*basemodel.Model, error) {
		<-e.modeled // not nil, since the reads are laid out
		return e.model, nil
	}
	records := make([][]uint32, len(cols))
	for i, c := range cols {
		records[i] = make([]uint32, c.Records)
		for j := range records[i] {
			switch {
			case c.Perm != nil:
				records[i][j] = firsts[i] + c.Perm[j]
			case c.Alternate:
				records[i][j] = firsts[i] + uint32(2*j)
			default:
				records[i][j] = firsts[i] + uint32(j)
			}
			if !p.layout.Reads.Has(records[i][j]) {
				return nil, fmt.Errorf("seqs: slices of a run have different sizes")
			}
		}
	}
	out := binary.AppendUvarint(nil, uint64(k))
	if e.shared != nil && slices.ContainsFunc(cols, (*Column).hasLong) {
		s.inPieces = true
		s.align = (&pieceAligner{e.shared, e.sharedFrom, p.layout, e.cfg.Threads}).align
	}
	all := s.encode(p.tree, cols, records)
	flags := parse.Flags(s.sorted, s.byQual, mate != nil, s.inPieces, all.laned)
	out = append(out, flags)
	for _, stream := range all.each(flags) {
		out = binary.AppendUvarint(out, uint64(len(*stream)))
	}
	for _, stream := range all.each(flags) {
		out = append(out, *stream...)
	}
	return out, ctx.Err()
}

// Load lays out the reads, if that has not been done, and loads those of the column's part into memory. EncodeSlice does the same, but
// returns only when it has coded the slice. It is safe for concurrent use.
func (e *Encoder) Load(ctx context.Context, c *Column) error {
	if c.Records == 0 || e.window > 0 { // windows are loaded by EncodeSlice
		return nil
	}
	_, err := e.acquirePart(ctx, c)
	if err == nil {
		e.release()
	}
	return err
}

// acquirePart is acquire for all reads of the part of a column.
func (e *Encoder) acquirePart(ctx context.Context, c *Column) (*part, error) {
	lo, hi := c.span()
	k, err := e.partOf(c.Input, lo, hi)
	if err != nil {
		return nil, err
	}
	return e.acquire(ctx, loaded{part: k}, nil)
}

// Letters appends the letters of the reads of a column, which is not Alternate, to dst, end to end, as DecodeSlice will return them. It is
// safe for concurrent use, after Follow.
func (e *Encoder) Letters(ctx context.Context, dst []byte, c *Column) ([]byte, error) {
	p, err := e.acquirePart(ctx, c)
	if err != nil {
		return nil, err
	}
	defer e.release()
	first, _ := p.record(c.Input, c.From)
	at := len(dst)
	dst = slices.Grow(dst, int(c.bases())+c.Records*c.lineEnds()+bases.PerWord)
	var records [orientedBatch]uint32
	var reversed [orientedBatch]bool // none: reads are to come back as they were
	oriented := p.layout.Oriented()
	for i := 0; i < c.Records; i += orientedBatch {
		n := min(orientedBatch, c.Records-i)
		for j := range n {
			records[j] = first + uint32(i+j)
			if c.Perm != nil {
				records[j] = first + c.Perm[i+j]
			}
		}
		oriented.Load(records[:n], reversed[:n])
		for j := range n {
			end := len(dst) + c.Lengths.Of(i+j)
			for _, w := range oriented.Read(j) {
				bases.PutLetters(dst[len(dst):len(dst)+bases.PerWord], w)
				dst = dst[:min(len(dst)+bases.PerWord, end)]
			}
			if c.Lines {
				dst = append(dst, '\n')
			}
		}
	}
	read, to := 0, at // the letters of read begin at `to`
	for x := range c.Exceptions.All {
		for ; read < int(x.Read); read++ {
			to += c.Lengths.Of(read) + c.lineEnds()
		}
		if err := record.ApplyException(dst[to:to+c.Lengths.Of(read)], x); err != nil {
			return nil, err
		}
	}
	return dst, ctx.Err()
}

// span returns the smallest range of records that holds those of the column.
func (c *Column) span() (from, to uint64) {
	switch {
	case c.Alternate:
		return c.From, c.From + uint64(2*c.Records-1)
	case c.Perm == nil:
		return c.From, c.From + uint64(c.Records)
	}
	lo, hi := c.Perm[0], c.Perm[0]
	for _, v := range c.Perm[:c.Records] {
		lo, hi = min(lo, v), max(hi, v)
	}
	return c.From + uint64(lo), c.From + uint64(hi) + 1
}

// hasLong reports whether a read of the column may be aligned in pieces.
func (c *Column) hasLong() bool {
	_, longest := c.Lengths.Range(c.Records)
	return longest >= minLongBases
}
