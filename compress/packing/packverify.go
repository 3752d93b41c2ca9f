package packing

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"orcomgo/bins/parse"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/restoring"
	"orcomgo/compress/seqs"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
	"orcomgo/digest"
)

// verification decodes what was written and compares it with the bins: the text, where it must be
// the one that was binned, by the hashes that stage 1 took of it; else column by column,
// and the reads as a set of (read, ordinal). It enters the checksums of the text that
// unpack will deliver into the manifest.
type verification struct {
	*packer
	src    *source.Packed
	replay *restoring.Replay
	jobs   []restoring.Job
	checks []*restoring.TextCheck
	reads  []atomic.Uint64 // by input: the sum of seqs.ReadHash of the reads that come back
	texts  [][2]textSum    // by slice and member
	// follows says that slices are decoded by the shared sections in memory, before these are written.
	follows bool
}

// verificationError returns err as an error of verification unless it is that of ctx.
func (p *packer) verificationError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil {
		left := "the bins are kept"
		if p.bins.Unnamed() {
			left = "nothing was written; the inputs are as they were"
		}
		err = fmt.Errorf("verification failed, %s: %w", left, err)
	}
	return err
}

// following returns a verification that runs while slices are written. They are decoded by dec, so many at once.
func (p *packer) following(dec *seqs.Decoder, atOnce int) *verification {
	src := source.NewPacked(p.w.Reader(&p.man), p.pool, p.o.Memory)
	src.Seqs = dec
	v := p.verification(src)
	v.follows = true
	v.replay.Pool = p.pool
	v.replay.SetFlight(atOnce)
	return v
}

// afterwards returns a verification of all that was written.
func (p *packer) afterwards() (*verification, error) {
	r, err := p.w.Reopen(&p.man)
	if err != nil {
		return nil, err
	}
	src := source.NewPacked(r, workers.NewPool(p.o.Threads), p.o.Memory)
	src.Threads = seqs.SegmentThreads(src.Threads, p.o.Memory)
	return p.verification(src), nil
}

// verification returns one of what src reads.
func (p *packer) verification(src *source.Packed) *verification {
	man := &p.man
	v := &verification{packer: p, src: src, jobs: restoring.WholeArchive(man),
		reads: make([]atomic.Uint64, len(man.Inputs)), texts: make([][2]textSum, len(man.Slices))}
	for i := range man.Inputs {
		in := &man.Inputs[i]
		sum := p.files[i] == nil
		v.checks = append(v.checks, restoring.NewTextCheck(in, sum, sum && wantsMD5(in) && fileSums(man, in) == nil))
	}
	for i, c := range v.checks {
		c.CheckFile(&man.Inputs[i], p.o.Threads)
	}
	v.replay = restoring.NewReplay(&following{src, p.written, &p.early}, "verify", p.o.Threads, p.memoryBeside(), p.o.Progress, v.jobs)
	for i := range v.jobs {
		j := &v.jobs[i]
		j.Turn = p.specs[i].Turn
		// Many threads would wait for the one that renders all texts.
		j.Late = p.o.Threads < manyThreads
		j.AsText = man.Options.Exact(man.Inputs[man.Slices[i].First.Input].Kind) // else letters are compared
		j.Lines = func(n int) []byte { return v.replay.Texts.Get(n) }
	}
	return v
}

// close ends what a verification that failed has started.
func (v *verification) close() {
	for _, c := range v.checks {
		c.Close()
	}
}

// following is a packed archive that is being written, or was. However large its slices are, they are decoded.
type following struct {
	*source.Packed
	written []written // by slice
	early   *earlyQuals
}

func (f *following) Pass([]source.Demand) source.Decoder { return f }

// Decode waits until the slice is written.
func (f *following) Decode(ctx context.Context, d source.Demand) (*source.Decoded, error) {
	if err := workers.Wait(ctx, f.written[d.Slice].done); err != nil {
		return nil, err
	}
	w := &f.written[d.Slice]
	d.Known = w.quals
	b, err := f.Packed.Decode(ctx, d)
	for m := range w.quals {
		f.early.release(uint64(len(w.quals[m].Quals)))
	}
	w.quals = [2]source.KnownQuals{}
	return b, err
}

// slices decodes the slices and compares what each can be compared with by itself.
func (v *verification) slices(ctx context.Context) error {
	man := &v.man
	work := func(k int, t *restoring.Piece, b *source.Decoded) error {
		for m := range b.Slice.Texts() {
			if t.Err[m] != nil {
				return t.Err[m]
			}
			if t.Decoded[m] == nil {
				v.texts[k][m] = textSum{xxh3.Hash(t.Text[m]), uint64(len(t.Text[m]))}
			}
			if v.jobs[k].AsText {
				continue
			}
			c := b.Cols[m]
			if columns.SumsOf(c) != v.written[k].sums[m] {
				return fmt.Errorf("%s: names, qualities or forms differ: %w", source.WhereRecords(man, b.Slice, m), parse.ErrCorrupt)
			}
			v.reads[c.Input].Add(readDigest(c, &v.written[k].sliceCheck))
		}
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	sums := v.startSums(ctx, g)
	consume := func(k int, t *restoring.Piece, done func()) error {
		whole := newSummedText(done)
		defer whole.end()
		for m, mem := range man.Slices[k].Texts() {
			if t.Decoded[m] == nil {
				sums.add(whole, m, mem.Input, t.Text[m])
				continue
			}
			var err error
			if v.texts[k][m], err = sums.addPieces(m, mem.Input, t.Decoded[m], man); err != nil {
				return err
			}
		}
		return nil
	}
	g.Go(func() error {
		defer sums.close()
		return v.replay.Run(ctx, v.jobs, work, consume)
	})
	return g.Wait()
}

// end compares the rest, after all was written and decoded.
func (v *verification) end() error {
	man := &v.man
	if v.follows {
		if err := v.compareShared(); err != nil {
			return err
		}
	}
	for i := range man.Inputs {
		in := &man.Inputs[i]
		if err := v.checks[i].End(); err != nil {
			return err
		}
		if v.reads[i].Load() != v.digests[i] {
			return fmt.Errorf("%s: the reads that come back are not those that were binned: %w", in.Name, parse.ErrCorrupt)
		}
		sums := v.checks[i].Sums.Sums()
		if f := v.files[i]; f != nil {
			var err error
			if sums, err = f.sums(); err != nil {
				return err
			}
		}
		if s := fileSums(man, in); s != nil {
			if sums.SHA256 != s.SHA256 {
				return fmt.Errorf("%s: the SHA-256 of its text is not that of the file that was binned: %w", in.Name, parse.ErrCorrupt)
			}
			sums = *s
		}
		in.OutBytes, in.SHA256, in.MD5 = v.checks[i].Bytes, sums.SHA256, sums.MD5
	}
	for i := range man.Slices {
		for m, mem := range man.Slices[i].Members() {
			mem.TextLen, mem.TextHash = v.texts[i][m].size, v.texts[i][m].hash
		}
	}
	man.Verified = true
	return nil
}

// fileSums returns the checksums of the file that was binned if its text is all of it, as it comes back; else nil.
func fileSums(man *archive.Manifest, in *archive.Input) *digest.Sums {
	if s := in.Source; s != nil && s.Plain && man.Options.Exact(in.Kind) {
		return s.Sums
	}
	return nil
}

// compareShared compares the shared sections that were written with those that slices were decoded by.
func (v *verification) compareShared() error {
	if err := v.src.Seqs.Check(); err != nil {
		return err
	}
	r, err := v.w.Reopen(&v.man) // which compares the header
	if err != nil {
		return err
	}
	for i, s := range v.man.Shared {
		got, err := r.Read(s, nil, source.SharedName(i))
		if err != nil {
			return err
		}
		if !bytes.Equal(got, v.shared[i]) {
			return fmt.Errorf("%s: it is not what was written: %w", source.SharedName(i), parse.ErrCorrupt)
		}
	}
	return nil
}

// readDigest sums the hashes of a slice's reads with the ordinals that they had in the input.
func readDigest(c *columns.Columns, check *sliceCheck) uint64 {
	var sum uint64
	letters := c.Letters
	for i := range c.Records {
		n := c.Lengths.Of(i)
		ordinal := check.from + uint64(i)
		if check.perm != nil {
			ordinal = check.from + uint64(check.perm[i])
		}
		sum += seqs.ReadHash(letters[:n], ordinal)
		if letters = letters[n:]; c.InLines() {
			letters = letters[1:]
		}
	}
	return sum
}
