package compress

import (
	"bytes"
	"context"
	"fmt"

	"orcomgo/bins/record"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"orcomgo/compress/archive"
	"orcomgo/compress/seqs"
)

// verification decodes what was written and compares it with the bins: the text, where it must be
// the one that was binned, by the hashes that stage 1 took of it; else column by column,
// and the reads as a set of (read, ordinal). It enters the checksums of the text that
// unpack will deliver into the manifest.
type verification struct {
	p       *packer
	src     source
	replay  *replay
	jobs    []job
	checks  []*textCheck
	digests []uint64  // of the reads that come back, by input
	texts   [][2]sums // by slice and member
	// follows says that slices are decoded by the shared sections in memory, before these are written.
	follows bool
}

// sums are the hash of a text, its length, and the sum of seqs.ReadHash.
type sums struct{ hash, len, digest uint64 }

// verificationError returns err as an error of verification unless it is that of ctx.
func (p *packer) verificationError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil {
		left := "the bins are kept"
		if p.r.Unnamed() {
			left = "nothing was written; the inputs are as they were"
		}
		err = fmt.Errorf("verification failed, %s: %w", left, err)
	}
	return err
}

// following returns a verification that runs while slices are written. They are decoded by dec, as many at once as flight says.
func (p *packer) following(dec *seqs.Decoder, flight int) *verification {
	src := newPacked(p.w.Reader(&p.man), p.o.Threads, p.o.Memory)
	src.dec, src.pool = dec, p.pool
	v := p.verification(&following{src, p.written})
	v.follows = true
	v.replay.pool = p.pool
	v.replay.setFlight(flight)
	return v
}

// afterwards returns a verification of all that was written.
func (p *packer) afterwards() (*verification, error) {
	r, err := p.w.Reopen(&p.man)
	if err != nil {
		return nil, err
	}
	src := newPacked(r, p.o.Threads, p.o.Memory)
	src.threads = seqs.SegmentThreads(src.threads, p.o.Memory)
	return p.verification(src), nil
}

func (p *packer) verification(src source) *verification {
	man := &p.man
	jobs := wholeArchive(man)
	for i := range jobs {
		jobs[i].asText = man.Options.Exact(man.Inputs[man.Slices[i].First.Input].Kind) // else letters are compared
	}
	v := &verification{p: p, src: src, jobs: jobs, checks: make([]*textCheck, len(man.Inputs)),
		digests: make([]uint64, len(man.Inputs)), texts: make([][2]sums, len(man.Slices))}
	for i := range v.checks {
		in := &man.Inputs[i]
		v.checks[i] = newTextCheck(man, in.Name, in.Blocks, p.early == nil, p.early == nil && wantsMD5(in))
	}
	v.replay = newReplay(src, "verify", p.o.Threads, p.memoryBeside(), p.o.Progress, v.jobs)
	return v
}

// following is a packed archive that is being written.
type following struct {
	*packed
	written []chan struct{} // by slice
}

func (f *following) pass([]demand) sliceDecoder { return f }

// decode waits until the slice is written.
func (f *following) decode(ctx context.Context, d demand) (*batch, error) {
	if err := waitFor(ctx, f.written[d.slice]); err != nil {
		return nil, err
	}
	return f.packed.decode(ctx, d)
}

// slices decodes the slices and compares what each can be compared with by itself.
func (v *verification) slices(ctx context.Context) error {
	man := &v.p.man
	work := func(k int, t *piece, b *batch) error {
		for m := range b.slice.Members() {
			if t.err[m] != nil {
				return t.err[m]
			}
			c := b.cols[m]
			s := &v.texts[k][m]
			s.hash, s.len = xxh3.Hash(t.text[m]), uint64(len(t.text[m]))
			if man.Options.Exact(man.Inputs[c.input].Kind) {
				continue
			}
			if sumColumns(c) != v.p.checks[k].sums[m] {
				return fmt.Errorf("%s: names, qualities or forms differ: %w", whereRecords(man, b.slice, m), ErrCorrupt)
			}
			s.digest = digest(c, &v.p.checks[k])
		}
		return nil
	}
	consume := func(k int, t *piece) error {
		// Texts are summed in their order, and this has to keep up with the decoding of slices by many threads.
		var g errgroup.Group
		for m, mem := range man.Slices[k].Members() {
			v.digests[mem.Input] += v.texts[k][m].digest
			g.Go(func() error {
				v.checks[mem.Input].digest(t.text[m])
				return nil
			})
			g.Go(func() error { return v.checks[mem.Input].compare(t.text[m]) })
		}
		return g.Wait()
	}
	return v.replay.run(ctx, v.jobs, work, consume)
}

// end compares the rest, after all was written and decoded.
func (v *verification) end() error {
	man := &v.p.man
	if v.follows {
		if err := v.compareShared(); err != nil {
			return err
		}
	}
	var hashed []record.Checksums
	if v.p.early != nil {
		var err error
		if hashed, err = v.p.early.compare(man, v.texts); err != nil {
			return err
		}
	}
	for i := range man.Inputs {
		in := &man.Inputs[i]
		if err := v.checks[i].end(nil); err != nil {
			return err
		}
		if v.digests[i] != v.p.digests[i] {
			return fmt.Errorf("%s: the reads that come back are not those that were binned: %w", in.Name, ErrCorrupt)
		}
		in.OutBytes = v.checks[i].bytes
		if hashed != nil {
			in.SHA256, in.MD5 = hashed[i].SHA256, hashed[i].MD5
		} else {
			in.SHA256, in.MD5 = v.checks[i].sha256(), v.checks[i].md5Sum()
		}
		if s := in.Source; s != nil && s.Plain && s.Sums != nil && man.Options.Exact(in.Kind) &&
			(in.SHA256 != s.Sums.SHA256 || in.MD5 != s.Sums.MD5) {
			return fmt.Errorf("%s: the checksums of its text are not those of the file that was binned: %w", in.Name, ErrCorrupt)
		}
	}
	for i := range man.Slices {
		for m, mem := range man.Slices[i].Members() {
			mem.TextLen, mem.TextHash = v.texts[i][m].len, v.texts[i][m].hash
		}
	}
	man.Verified = true
	return nil
}

// compareShared compares the shared sections that were written with those that slices were decoded by.
func (v *verification) compareShared() error {
	if err := v.src.(*following).dec.Check(); err != nil {
		return err
	}
	r, err := v.p.w.Reopen(&v.p.man) // which compares the header
	if err != nil {
		return err
	}
	for i, s := range v.p.man.Shared {
		got, err := r.Read(s, nil, sharedName(i))
		if err != nil {
			return err
		}
		if !bytes.Equal(got, v.p.shared[i]) {
			return fmt.Errorf("%s: it is not what was written: %w", sharedName(i), ErrCorrupt)
		}
	}
	return nil
}

// wantsMD5 reports whether the MD5 of an input's text is to be recorded.
func wantsMD5(in *archive.Input) bool { return in.Source != nil && in.Source.TextMD5 }

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
