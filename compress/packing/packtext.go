package packing

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/parse"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/slicing"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
	"orcomgo/digest"
)

// earlyTexts are hashes of the text that an archive gives back where its order is free. SHA-256 takes one thread some time, which
// verification would wait for at its end. So the text is made from the bins and hashed while slices are still being coded; verification
// compares each slice's text with that.
type earlyTexts struct {
	sums   []*digest.Digest // by input
	slices [][2]textSum     // by slice and member
}

// textSum is the hash of a text, and its length.
type textSum struct{ hash, size uint64 }

// piecesAhead is how many pieces are in memory at most.
const piecesAhead = 32

// hashesEarly reports whether texts are hashed early: by some of many threads, where all slices are of runs. The pieces take less memory
// than a slice, of which there is room for several.
func (p *packer) hashesEarly() bool {
	return p.o.Threads >= manyThreads && workers.InMemory(p.memoryBeside(), textsOf(p.specs)) >= manyThreads && len(p.specs) > 1 &&
		len(p.phases) == 1 && !slices.ContainsFunc(p.specs, func(s slicing.Spec) bool { return s.Run == nil })
}

// newEarlyTexts returns hashes of nothing.
func newEarlyTexts(man *archive.Manifest) *earlyTexts {
	t := &earlyTexts{sums: make([]*digest.Digest, len(man.Inputs)), slices: make([][2]textSum, len(man.Slices))}
	for i := range t.sums {
		t.sums[i] = digest.New(true, wantsMD5(&man.Inputs[i]))
	}
	for i := range t.slices {
		t.slices[i] = [2]textSum{{hash: xxh3.Hash(nil)}, {hash: xxh3.Hash(nil)}}
	}
	return t
}

// textPiece is the text of records from..from+records-1 of a slice.
type textPiece struct {
	*slicing.Spec
	slice         int
	from, records int
}

// textPieces cuts the text of all slices into pieces. Their runs are kept until the last piece is released.
func (g *gatherer) textPieces() (pieces []textPiece) {
	size := g.o.limits().Piece
	for k := range g.specs {
		spec := &g.specs[k]
		records := max(int(workers.Share(uint64(spec.Records), size, max(spec.Text, size))), 1)
		for from := 0; from < spec.Records; from += records {
			g.runs.Expect(spec.Run)
			pieces = append(pieces, textPiece{spec, k, from, min(records, spec.Records-from)})
		}
	}
	return pieces
}

// hash hashes the texts of all slices, in their order. It holds places of the pool, since a task that waited for one among the others
// would delay all the following pieces.
func (t *earlyTexts) hash(ctx context.Context, g *gatherer, pieces []textPiece) error {
	pool := &workers.Buffers{Keep: 2 * piecesAhead}
	err := g.afterLayout(ctx, g.pool, 0, func() error {
		for _, x := range pieces {
			if _, err := g.sorted(ctx, x.Spec); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	done := make(chan struct{})
	defer close(done)
	threads := g.o.Threads / manyThreads
	g.pool.Hold(ctx, 2*threads, done)
	renderers := workers.NewPool(threads + 1) // the hashes take one more thread
	produce := func(ctx context.Context, k int) (texts [2][]byte, err error) {
		err = renderers.Do(ctx, func() error {
			for m := range pieces[k].Inputs() {
				if texts[m], err = g.textOf(ctx, &pieces[k], m, pool); err != nil {
					return err
				}
			}
			g.runs.Release(pieces[k].Run)
			return nil
		})
		return texts, err
	}
	whole := [2]*xxh3.Hasher{xxh3.New(), xxh3.New()} // of the slice's texts
	return workers.InOrder(ctx, len(pieces), piecesAhead, produce, func(k int, texts [2][]byte) error {
		x := &pieces[k]
		var hashing sync.WaitGroup
		for m, input := range x.Inputs() {
			hashing.Go(func() { t.sums[input].Write(texts[m]) })
		}
		for m := range x.Inputs() {
			whole[m].Write(texts[m])
			s := &t.slices[x.slice][m]
			if s.size += uint64(len(texts[m])); x.from+x.records == x.Records {
				s.hash = whole[m].Sum64()
				whole[m].Reset()
			}
		}
		hashing.Wait()
		for _, text := range texts {
			pool.Put(text)
		}
		return nil
	})
}

// textOf returns the text of member m of a piece, in memory of pool.
func (g *gatherer) textOf(ctx context.Context, x *textPiece, m int, pool *workers.Buffers) ([]byte, error) {
	run, err := g.sorted(ctx, x.Spec)
	if err != nil {
		return nil, err
	}
	c, err := run[m].columns(int(x.From-x.Run.From)+x.from, x.records)
	if err != nil {
		return nil, err
	}
	in := &g.man.Inputs[c.Input]
	rendering := record.RenderingOf(g.man.Options, in.Kind)
	if rendering == record.AsLines {
		c.Lines = pool.Get
	}
	c.Letters, err = g.letters(ctx, pool.Get(int(c.Bases())+c.Records+letterSlack), c)
	if err != nil || c.InLines() {
		return c.Letters, err
	}
	defer pool.Put(c.Letters)
	c.From = x.From + uint64(x.from) // as delivered
	text, err := columns.Render(pool.Get(columns.TextSize(rendering, c)), rendering, in.Kind, c, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	return text, nil
}

// compare compares the texts of slices that came back with those that were hashed. It returns the checksums of each input's text.
func (t *earlyTexts) compare(man *archive.Manifest, texts [][2]textSum) ([]digest.Sums, error) {
	for k := range texts {
		for m := range man.Slices[k].Members() {
			if texts[k][m] != t.slices[k][m] {
				return nil, fmt.Errorf("%s: they are not what was binned: %w", source.WhereRecords(man, &man.Slices[k], m),
					parse.ErrCorrupt)
			}
		}
	}
	all := make([]digest.Sums, len(t.sums))
	for i, h := range t.sums {
		all[i] = h.Sums()
	}
	return all, nil
}
