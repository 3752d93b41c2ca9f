package compress

import (
	"context"
	"fmt"
	"orcomgo/bins/parse"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/digest"
)

// earlyTexts are hashes of the text that an archive gives back where its order is free. SHA-256 takes one thread some time, which
// verification would wait for at its end. So the text is made from the bins and hashed while slices are still being coded; verification
// compares each slice's text with that.
type earlyTexts struct {
	sums   []*digest.Digest // by input
	slices [][2]sums        // by slice and member; no digests
}

// earlyThreads is the number of threads from which on texts are hashed early. Making them takes time, and fewer threads are busy anyway.
const earlyThreads = 8

// pieceText is how many bytes of text a textPiece has, roughly. A variable so that tests can use small ones.
var pieceText uint64 = 2 << 20

// piecesAhead is how many pieces are in memory at most.
const piecesAhead = 32

// plansEarlyTexts reports whether texts are hashed early. n is how many slices memory has room for; the pieces take less than one.
func (p *packer) plansEarlyTexts(n uint64) bool {
	return p.o.Threads >= earlyThreads && n >= earlyThreads && len(p.specs) > 1 &&
		len(phases(p.specs, p.enc.Parts, p.enc.Window)) == 1 &&
		!slices.ContainsFunc(p.specs, func(s sliceSpec) bool { return s.run == nil })
}

// textPiece is the text of records from..from+records-1 of a slice.
type textPiece struct {
	spec          *sliceSpec
	slice         int
	run           *sortedRun
	from, records int
}

// textPieces cuts the text of all slices into pieces.
func (p *packer) textPieces(e *encoder) (pieces []textPiece) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for k := range p.specs {
		spec := &p.specs[k]
		run := e.sortedRun(*spec)
		records := max(int(share(uint64(spec.records), pieceText, max(spec.text, pieceText))), 1)
		for from := 0; from < spec.records; from += records {
			pieces = append(pieces, textPiece{spec: spec, slice: k, run: run, from: from, records: min(records, spec.records-from)})
		}
	}
	return pieces
}

// hashEarly hashes the texts of all slices, in their order. It holds places of the pool, since a task that waited for one among the others
// would delay all the following pieces.
func (p *packer) hashEarly(ctx context.Context, e *encoder, pieces []textPiece) error {
	man := manifestOf(p.r.Meta(), p.o.Tool)
	pool := &buffers{keep: 2 * piecesAhead}
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
	p.pool.hold(ctx, 2*p.o.Threads/earlyThreads, done)
	renderers := newWorkers(p.o.Threads/earlyThreads + 1) // the hashes take one more thread
	produce := func(ctx context.Context, k int) (texts [2][]byte, err error) {
		err = renderers.do(ctx, func() error {
			for m := range pieces[k].spec.inputs() {
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
	return inOrder(ctx, len(pieces), piecesAhead, produce, func(k int, texts [2][]byte) error {
		x := &pieces[k]
		var hashing sync.WaitGroup
		for m, input := range x.spec.inputs() {
			hashing.Go(func() { p.early.sums[input].Write(texts[m]) })
		}
		defer func() {
			hashing.Wait()
			for _, text := range texts {
				pool.put(text)
			}
		}()
		for m := range x.spec.inputs() {
			whole[m].Write(texts[m])
			s := &p.early.slices[x.slice][m]
			if s.len += uint64(len(texts[m])); x.from+x.records == x.spec.records {
				s.hash = whole[m].Sum64()
				whole[m].Reset()
			}
		}
		return nil
	})
}

// textOf returns the text of member m of a piece, in memory of pool.
func (p *packer) textOf(ctx context.Context, x *textPiece, m int, man *archive.Manifest, pool *buffers) ([]byte, error) {
	c, err := x.run.reads[m].columns(int(x.spec.from-x.spec.run.from)+x.from, x.records)
	if err != nil {
		return nil, err
	}
	in := &man.Inputs[c.input]
	rendering := record.RenderingOf(man.Options, in.Kind)
	if rendering == record.AsLines {
		c.lines = pool.get
	}
	c.letters, err = p.enc.Letters(ctx, pool.get(int(c.bases())+c.records+letterSlack), seqColumn(c))
	if err != nil || c.inLines() {
		return c.letters, err
	}
	defer pool.put(c.letters)
	c.from = x.spec.from + uint64(x.from) // as delivered
	text, err := render(pool.get(textSize(rendering, c)), rendering, in.Kind, c, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	return text, nil
}

// letterSlack is how many bytes more than its letters the memory of seqs.Encoder.Letters should have.
const letterSlack = 64

// newEarlyTexts returns hashes of nothing.
func newEarlyTexts(man *archive.Manifest) *earlyTexts {
	t := &earlyTexts{sums: make([]*digest.Digest, len(man.Inputs)), slices: make([][2]sums, len(man.Slices))}
	for i := range t.sums {
		t.sums[i] = digest.New(true, wantsMD5(&man.Inputs[i]))
	}
	for i := range t.slices {
		t.slices[i] = [2]sums{{hash: xxh3.Hash(nil)}, {hash: xxh3.Hash(nil)}}
	}
	return t
}

// compare compares the texts of slices that came back with those that were hashed. It returns the checksums of each input's text.
func (t *earlyTexts) compare(man *archive.Manifest, texts [][2]sums) ([]digest.Sums, error) {
	for k := range texts {
		for m := range man.Slices[k].Members() {
			if got, want := texts[k][m], t.slices[k][m]; got.hash != want.hash || got.len != want.len {
				return nil, fmt.Errorf("%s: they are not what was binned: %w", whereRecords(man, &man.Slices[k], m), parse.ErrCorrupt)
			}
		}
	}
	all := make([]digest.Sums, len(t.sums))
	for i, h := range t.sums {
		all[i] = h.Sums()
	}
	return all, nil
}
