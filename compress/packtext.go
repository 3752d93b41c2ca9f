package compress

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
)

// earlyTexts are hashes of the text that an archive gives back where its order is free. SHA-256 takes one thread some time, which
// verification would wait for at its end. So the text is made from the bins and hashed while slices are still being coded; verification
// compares each slice's text with that.
type earlyTexts struct {
	sums   []hash.Hash // SHA-256, by input
	slices [][2]sums   // by slice and member; no digests
}

// earlyThreads is the number of threads from which on texts are hashed early. Making them takes time, and fewer threads are busy anyway.
const earlyThreads = 8

// slicesAhead is how many slices have their text in memory to be hashed early.
const slicesAhead = 4

// plansEarlyTexts reports whether texts are hashed early. n is how many slices memory has room for.
func (p *packer) plansEarlyTexts(n uint64) bool {
	return p.o.Threads >= earlyThreads && n >= 4*slicesAhead && len(p.specs) > 1 &&
		len(phases(p.specs, p.enc.Parts, p.enc.Window)) == 1 &&
		!slices.ContainsFunc(p.specs, func(s sliceSpec) bool { return s.run == nil })
}

// hashEarly hashes the texts of all slices, in their order.
func (p *packer) hashEarly(ctx context.Context, e *encoder) error {
	t := p.early
	man := manifestOf(p.r.Meta(), p.o.Tool)
	pool := &buffers{keep: 4 * slicesAhead}
	produce := func(ctx context.Context, k int) (texts [2][]byte, err error) {
		cols, err := e.columns(ctx, p.specs[k])
		if err != nil {
			return texts, err
		}
		for m, c := range cols {
			if c == nil {
				continue
			}
			letters := pool.get(int(c.bases()) + letterSlack)
			if c.letters, err = p.enc.Letters(ctx, letters, seqColumn(c)); err != nil {
				return texts, err
			}
			kind := man.Inputs[c.input].Kind
			rendering := record.RenderingOf(man.Options, kind)
			if texts[m], err = render(pool.get(textSize(rendering, c)), rendering, kind, c, nil); err != nil {
				return texts, fmt.Errorf("%s: %w", man.Inputs[c.input].Name, err)
			}
			pool.put(c.letters)
			t.slices[k][m] = sums{hash: xxh3.Hash(texts[m]), len: uint64(len(texts[m]))}
		}
		return texts, nil
	}
	return inOrder(ctx, len(p.specs), slicesAhead, produce, func(k int, texts [2][]byte) error {
		for m, input := range p.specs[k].inputs() {
			t.sums[input].Write(texts[m]) // a hash.Hash does not fail
			pool.put(texts[m])
		}
		return nil
	})
}

// letterSlack is how many bytes more than its letters the memory of seqs.Encoder.Letters should have.
const letterSlack = 64

// newEarlyTexts returns hashes of nothing.
func newEarlyTexts(man *archive.Manifest) *earlyTexts {
	t := &earlyTexts{sums: make([]hash.Hash, len(man.Inputs)), slices: make([][2]sums, len(man.Slices))}
	for i := range t.sums {
		t.sums[i] = sha256.New()
	}
	return t
}

// compare compares the texts of slices that came back with those that were hashed. It returns the SHA-256 of each input's text.
func (t *earlyTexts) compare(man *archive.Manifest, texts [][2]sums) ([][32]byte, error) {
	for k := range texts {
		for m := range man.Slices[k].Members() {
			if got, want := texts[k][m], t.slices[k][m]; got.hash != want.hash || got.len != want.len {
				return nil, fmt.Errorf("%s: they are not what was binned: %w", whereRecords(man, &man.Slices[k], m), ErrCorrupt)
			}
		}
	}
	all := make([][32]byte, len(t.sums))
	for i, s := range t.sums {
		s.Sum(all[i][:0])
	}
	return all, nil
}
