package packing

import (
	"context"
	"fmt"
	"orcomgo/bins/parse"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

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
	Slices [][2]Sums        // by slice and member; no digests
}

// EarlyThreads is the number of threads from which on texts are hashed early. Making them takes time, and fewer threads are busy anyway.
const EarlyThreads = 8

// PieceText is how many bytes of text a textPiece has, roughly. A variable so that tests can use small ones.
var PieceText uint64 = 2 << 20

// piecesAhead is how many pieces are in memory at most.
const piecesAhead = 32

// plansEarlyTexts reports whether texts are hashed early. n is how many slices memory has room for; the pieces take less than one.
func (p *Packer) plansEarlyTexts(n uint64) bool {
	return p.O.Threads >= EarlyThreads && n >= EarlyThreads && len(p.specs) > 1 &&
		len(slicing.Phases(p.specs, p.enc.Parts, p.enc.Window)) == 1 &&
		!slices.ContainsFunc(p.specs, func(s slicing.Spec) bool { return s.Run == nil })
}

// textPiece is the text of records from..from+records-1 of a slice.
type textPiece struct {
	spec          *slicing.Spec
	slice         int
	run           *sortedRun
	from, records int
}

// textPieces cuts the text of all slices into pieces.
func (p *Packer) textPieces(e *Encoder) (pieces []textPiece) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for k := range p.specs {
		spec := &p.specs[k]
		run := e.sortedRun(*spec)
		records := max(int(workers.Share(uint64(spec.Records), PieceText, max(spec.Text, PieceText))), 1)
		for from := 0; from < spec.Records; from += records {
			pieces = append(pieces, textPiece{spec: spec, slice: k, run: run, from: from, records: min(records, spec.Records-from)})
		}
	}
	return pieces
}

// hashEarly hashes the texts of all slices, in their order. It holds places of the pool, since a task that waited for one among the others
// would delay all the following pieces.
func (p *Packer) hashEarly(ctx context.Context, e *Encoder, pieces []textPiece) error {
	man := source.ManifestOf(p.R.Meta(), p.O.Tool)
	pool := &workers.Buffers{Keep: 2 * piecesAhead}
	err := e.afterAssembly(ctx, e.pool, func() error {
		for i := range pieces {
			if err := e.sort(ctx, pieces[i].run, *pieces[i].spec); err != nil {
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
	p.Pool.Hold(ctx, 2*p.O.Threads/EarlyThreads, done)
	renderers := workers.NewPool(p.O.Threads/EarlyThreads + 1) // the hashes take one more thread
	produce := func(ctx context.Context, k int) (texts [2][]byte, err error) {
		err = renderers.Do(ctx, func() error {
			for m := range pieces[k].spec.Inputs() {
				if texts[m], err = p.textOf(ctx, &pieces[k], m, man, pool); err != nil {
					return err
				}
			}
			return nil
		})
		return texts, err
	}
	var whole [2]*xxh3.Hasher // of the slice's texts
	for m := range whole {
		whole[m] = xxh3.New()
	}
	return workers.InOrder(ctx, len(pieces), piecesAhead, produce, func(k int, texts [2][]byte) error {
		x := &pieces[k]
		var hashing sync.WaitGroup
		for m, input := range x.spec.Inputs() {
			hashing.Go(func() { p.early.sums[input].Write(texts[m]) })
		}
		defer func() {
			hashing.Wait()
			for _, text := range texts {
				pool.Put(text)
			}
		}()
		for m := range x.spec.Inputs() {
			whole[m].Write(texts[m])
			s := &p.early.Slices[x.slice][m]
			if s.Len += uint64(len(texts[m])); x.from+x.records == x.spec.Records {
				s.Hash = whole[m].Sum64()
				whole[m].Reset()
			}
		}
		return nil
	})
}

// textOf returns the text of member m of a piece, in memory of pool.
func (p *Packer) textOf(ctx context.Context, x *textPiece, m int, man *archive.Manifest, pool *workers.Buffers) ([]byte, error) {
	c, err := x.run.reads[m].columns(int(x.spec.From-x.spec.Run.From)+x.from, x.records)
	if err != nil {
		return nil, err
	}
	in := &man.Inputs[c.Input]
	rendering := record.RenderingOf(man.Options, in.Kind)
	if rendering == record.AsLines {
		c.Lines = pool.Get
	}
	c.Letters, err = p.enc.Letters(ctx, pool.Get(int(c.Bases())+c.Records+letterSlack), columns.SeqColumn(c))
	if err != nil || c.InLines() {
		return c.Letters, err
	}
	defer pool.Put(c.Letters)
	c.From = x.spec.From + uint64(x.from) // as delivered
	text, err := columns.Render(pool.Get(columns.TextSize(rendering, c)), rendering, in.Kind, c, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	return text, nil
}

// letterSlack is how many bytes more than its letters the memory of seqs.Encoder.Letters should have.
const letterSlack = 64

// NewEarlyTexts returns hashes of nothing.
func NewEarlyTexts(man *archive.Manifest) *earlyTexts {
	t := &earlyTexts{sums: make([]*digest.Digest, len(man.Inputs)), Slices: make([][2]Sums, len(man.Slices))}
	for i := range t.sums {
		t.sums[i] = digest.New(true, wantsMD5(&man.Inputs[i]))
	}
	for i := range t.Slices {
		t.Slices[i] = [2]Sums{{Hash: xxh3.Hash(nil)}, {Hash: xxh3.Hash(nil)}}
	}
	return t
}

// Compare compares the texts of slices that came back with those that were hashed. It returns the checksums of each input's text.
func (t *earlyTexts) Compare(man *archive.Manifest, texts [][2]Sums) ([]digest.Sums, error) {
	for k := range texts {
		for m := range man.Slices[k].Members() {
			if got, want := texts[k][m], t.Slices[k][m]; got.Hash != want.Hash || got.Len != want.Len {
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
