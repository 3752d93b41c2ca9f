package compress

import (
	"context"
	"fmt"

	"github.com/zeebo/xxh3"

	"orcomgo/compress/archive"
	"orcomgo/compress/seqs"
)

// verify decodes what was written and compares it with the bins: the text, where it must be
// the one that was binned, by the hashes that stage 1 took of it; else column by column,
// and the reads as a set of (read, ordinal). It enters the checksums of the text that
// unpack will deliver into the manifest.
func (p *packer) verify(ctx context.Context) (err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			left := "the bins are kept"
			if p.r.Unnamed() {
				left = "nothing was written; the inputs are as they were"
			}
			err = fmt.Errorf("verification failed, %s: %w", left, err)
		}
	}()
	r, err := p.w.Reopen(&p.man)
	if err != nil {
		return err
	}
	src := newPacked(r, p.o.Threads)
	src.checked = p.checked
	src.threads = seqs.SegmentThreads(src.threads, p.o.Memory)
	man := &p.man
	checks := make([]*textCheck, len(man.Inputs))
	for i := range checks {
		checks[i] = newTextCheck(man, man.Inputs[i].Name, man.Inputs[i].Blocks, true)
	}
	digests := make([]uint64, len(man.Inputs))
	// Of each slice and member: the hash of the text, its length, and the sum of seqs.ReadHash.
	type sums struct{ hash, len, digest uint64 }
	texts := make([][2]sums, len(man.Slices))
	work := func(k int, t *piece, b *batch) error {
		for m := range b.slice.Members() {
			if t.err[m] != nil {
				return t.err[m]
			}
			c := b.cols[m]
			s := &texts[k][m]
			s.hash, s.len = xxh3.Hash(t.text[m]), uint64(len(t.text[m]))
			if archive.Exact(man.Options, man.Inputs[c.input].Kind) {
				continue
			}
			if sumColumns(c) != p.checks[k].sums[m] {
				return fmt.Errorf("%s: names, qualities or forms differ: %w", whereRecords(man, b.slice, m), ErrCorrupt)
			}
			s.digest = digest(c, &p.checks[k])
		}
		return nil
	}
	consume := func(k int, t *piece) error {
		for m, mem := range man.Slices[k].Members() {
			digests[mem.Input] += texts[k][m].digest
			if err := checks[mem.Input].add(t.text[m]); err != nil {
				return err
			}
		}
		return nil
	}
	jobs := wholeArchive(man)
	if err := newReplay(src, "verify", p.o.Threads, p.memoryBeside(), p.o.Progress, jobs).run(ctx, jobs, work, consume); err != nil {
		return err
	}
	for i := range man.Inputs {
		in := &man.Inputs[i]
		if err := checks[i].end(nil); err != nil {
			return err
		}
		if digests[i] != p.digests[i] {
			return fmt.Errorf("%s: the reads that come back are not those that were binned: %w", in.Name, ErrCorrupt)
		}
		in.OutBytes, in.SHA256 = checks[i].bytes, checks[i].sha256()
	}
	for i := range man.Slices {
		for m, mem := range man.Slices[i].Members() {
			mem.TextLen, mem.TextHash = texts[i][m].len, texts[i][m].hash
		}
	}
	man.Verified = true
	return nil
}

// digest sums the hashes of a slice's reads with the ordinals that they had in the input.
func digest(c *columns, check *sliceCheck) uint64 {
	var sum uint64
	letters := c.letters
	for i := range c.records {
		n := c.lengths.Of(i)
		ordinal := check.from + uint64(i)
		if check.perm != nil {
			ordinal = check.from + uint64(check.perm[i])
		}
		sum += seqs.ReadHash(letters[:n], ordinal)
		letters = letters[n:]
	}
	return sum
}
