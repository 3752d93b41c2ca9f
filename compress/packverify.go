package compress

import (
	"context"
	"fmt"

	"orcomgo/bins/record"

	"github.com/zeebo/xxh3"

	"orcomgo/compress/archive"
	"orcomgo/compress/seqs"
)

// verified is a slice that came back right.
type verified struct {
	text   [2][]byte
	hash   [2]uint64
	digest [2]uint64 // sum of seqs.ReadHash
}

// verify decodes what was written and compares it with the bins: the text, where it must be
// the one that was binned, by the hashes that stage 1 took of it; else column by column,
// and the reads as a set of (read, ordinal). It enters the checksums of the text that
// unpack will deliver into the manifest.
func (p *packer) verify(ctx context.Context) (err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("verification failed, the bins are kept: %w", err)
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
		checks[i] = newTextCheck(man.Inputs[i].Name, man.Inputs[i].Blocks, true)
	}
	digests := make([]uint64, len(man.Inputs))
	var total, largest uint64
	for _, s := range p.specs {
		total, largest = total+s.text, max(largest, s.text)
	}
	progress := newMeter(p.o.Progress, "verify", total)
	flight := inFlight(p.o.Threads, p.o.Memory, largest)
	texts := &buffers{keep: 2 * flight}

	produce := func(ctx context.Context, i int) (*verified, error) {
		b, err := src.decode(ctx, i, [2]bool{true, true})
		if err == nil {
			err = b.firstErr()
		}
		if err != nil {
			return nil, err
		}
		v := new(verified)
		err = src.pool.do(ctx, func() error {
			for m := range b.slice.Members() {
				c := b.cols[m]
				in := &man.Inputs[c.input]
				if !archive.Exact(man.Options, in.Kind) {
					if sumColumns(c) != p.checks[i].columns[m] {
						return fmt.Errorf("%s: names, qualities or forms differ: %w", whereRecords(man, b.slice, m), ErrCorrupt)
					}
					v.digest[m] = digest(c, b.seqs[m], &p.checks[i])
				}
				var err error
				if v.text[m], err = b.text(texts.get(textSize(record.RenderingOf(man.Options, in.Kind), c)), man, m, nil); err != nil {
					return err
				}
				v.hash[m] = xxh3.Hash(v.text[m])
			}
			b.release()
			return nil
		})
		return v, err
	}
	type sums struct {
		len  uint64
		hash uint64
	}
	texted := make([][2]sums, len(man.Slices))
	consume := func(i int, v *verified) error {
		for m, mem := range man.Slices[i].Members() {
			digests[mem.Input] += v.digest[m]
			if err := checks[mem.Input].add(v.text[m]); err != nil {
				return err
			}
			texted[i][m] = sums{uint64(len(v.text[m])), v.hash[m]}
			texts.put(v.text[m])
		}
		progress.add(p.specs[i].text)
		return nil
	}
	if err := inOrder(ctx, len(man.Slices), flight, produce, consume); err != nil {
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
			mem.TextLen, mem.TextHash = texted[i][m].len, texted[i][m].hash
		}
	}
	man.Verified = true
	return nil
}

// digest sums the hashes of a slice's reads with the ordinals that they had in the input.
func digest(c *columns, letters []byte, check *sliceCheck) uint64 {
	var sum uint64
	for i := range c.records {
		n := int(c.fixed)
		if c.lengths != nil {
			n = int(c.lengths[i])
		}
		ordinal := check.from + uint64(i)
		if check.perm != nil {
			ordinal = check.from + uint64(check.perm[i])
		}
		sum += seqs.ReadHash(letters[:n], ordinal)
		letters = letters[n:]
	}
	return sum
}
