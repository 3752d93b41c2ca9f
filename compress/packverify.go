package compress

import (
	"bytes"
	"context"
	"fmt"
	"orcomgo/bins/parse"
	"sync/atomic"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"orcomgo/compress/archive"
	"orcomgo/compress/seqs"
	"orcomgo/digest"
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
		jobs[i].turn = p.specs[i].turn
		jobs[i].asText = man.Options.Exact(man.Inputs[man.Slices[i].First.Input].Kind) // else letters are compared
	}
	v := &verification{p: p, src: src, jobs: jobs, checks: make([]*textCheck, len(man.Inputs)),
		digests: make([]uint64, len(man.Inputs)), texts: make([][2]sums, len(man.Slices))}
	for i := range v.checks {
		in := &man.Inputs[i]
		sums := p.early == nil && !p.fromFile[i]
		v.checks[i] = newTextCheck(in.Name, in.Blocks, sums, sums && wantsMD5(in))
	}
	v.replay = newReplay(src, "verify", p.o.Threads, p.memoryBeside(), p.o.Progress, v.jobs)
	for i := range jobs {
		jobs[i].lines = func(n int) []byte { return v.replay.texts.get(n) }
	}
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
				return fmt.Errorf("%s: names, qualities or forms differ: %w", whereRecords(man, b.slice, m), parse.ErrCorrupt)
			}
			s.digest = readDigest(c, &v.p.checks[k])
		}
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	queues := v.startSums(ctx, g)
	consume := func(k int, t *piece, done func()) error {
		members := man.Slices[k].Members()
		text := &summedText{done: done}
		text.left.Store(int32(len(members) * len(queues[0])))
		for m, mem := range members {
			v.digests[mem.Input] += v.texts[k][m].digest
			for _, q := range queues[m] {
				q <- textOfInput{text, mem.Input, t.text[m]} // there is room for all pieces in flight
			}
		}
		return nil
	}
	g.Go(func() error {
		defer func() {
			for _, of := range queues {
				for _, q := range of {
					close(q)
				}
			}
		}()
		return v.replay.runUntil(ctx, v.jobs, work, consume)
	})
	return g.Wait()
}

// summedText is the text of a slice that is being summed.
type summedText struct {
	left atomic.Int32 // sums that are still to be computed
	done func()
}

// textOfInput is the text of a member of a slice.
type textOfInput struct {
	of    *summedText
	input int
	text  []byte
}

// startSums starts the goroutines that sum and compare texts, by member and kind of sum, and returns their queues. Each goes through the
// texts in their order and waits for no other, since all this has to keep up with the decoding of slices by many threads.
func (v *verification) startSums(ctx context.Context, g *errgroup.Group) (queues [2][3]chan textOfInput) {
	sums := [...]func(c *textCheck, text []byte) error{
		func(c *textCheck, text []byte) error { c.sums.AddSHA256(text); return nil },
		func(c *textCheck, text []byte) error { c.sums.AddMD5(text); return nil },
		(*textCheck).compare,
	}
	for m := range queues {
		for i, sum := range sums {
			q := make(chan textOfInput, v.replay.flight)
			queues[m][i] = q
			g.Go(func() error {
				for t := range q {
					if err := ctx.Err(); err != nil {
						return err
					}
					if err := sum(v.checks[t.input], t.text); err != nil {
						return err
					}
					if t.of.left.Add(-1) == 0 {
						t.of.done()
					}
				}
				return nil
			})
		}
	}
	return queues
}

// end compares the rest, after all was written and decoded.
func (v *verification) end(ctx context.Context) error {
	man := &v.p.man
	if v.follows {
		if err := v.compareShared(); err != nil {
			return err
		}
	}
	var hashed []digest.Sums
	if v.p.early != nil {
		var err error
		if hashed, err = v.p.early.compare(man, v.texts); err != nil {
			return err
		}
	}
	ofFiles, err := v.p.sumsOfInputs(ctx)
	if err != nil {
		return err
	}
	for i := range man.Inputs {
		in := &man.Inputs[i]
		if err := v.checks[i].end(nil); err != nil {
			return err
		}
		if v.digests[i] != v.p.digests[i] {
			return fmt.Errorf("%s: the reads that come back are not those that were binned: %w", in.Name, parse.ErrCorrupt)
		}
		in.OutBytes = v.checks[i].bytes
		switch {
		case hashed != nil:
			in.SHA256, in.MD5 = hashed[i].SHA256, hashed[i].MD5
		case ofFiles[i] != nil:
			in.SHA256, in.MD5 = ofFiles[i].SHA256, ofFiles[i].MD5
		default:
			sums := v.checks[i].sums.Sums()
			in.SHA256, in.MD5 = sums.SHA256, sums.MD5
		}
		if s := in.Source; s != nil && s.Plain && s.Sums != nil && man.Options.Exact(in.Kind) &&
			(in.SHA256 != s.Sums.SHA256 || in.MD5 != s.Sums.MD5) {
			return fmt.Errorf("%s: the checksums of its text are not those of the file that was binned: %w", in.Name, parse.ErrCorrupt)
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
			return fmt.Errorf("%s: it is not what was written: %w", sharedName(i), parse.ErrCorrupt)
		}
	}
	return nil
}

// wantsMD5 reports whether the MD5 of an input's text is to be recorded.
func wantsMD5(in *archive.Input) bool { return in.Source != nil && in.Source.TextMD5 }

// readDigest sums the hashes of a slice's reads with the ordinals that they had in the input.
func readDigest(c *columns, check *sliceCheck) uint64 {
	var sum uint64
	letters := c.letters
	for i := range c.records {
		n := c.lengths.Of(i)
		ordinal := check.from + uint64(i)
		if check.perm != nil {
			ordinal = check.from + uint64(check.perm[i])
		}
		sum += seqs.ReadHash(letters[:n], ordinal)
		if letters = letters[n:]; c.inLines() {
			letters = letters[1:]
		}
	}
	return sum
}
