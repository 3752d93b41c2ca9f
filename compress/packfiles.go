package compress

import (
	"context"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"orcomgo/compress/archive"
	"orcomgo/digest"
)

// fileTexts are the checksums of inputs whose text is in a file, which is read once more from when packing begins. One thread computes MD5
// at 0.5 to 0.8 GB a second, SHA-256 at 1 to 2. If that began with the first slice that is decoded, an archive with little to code would
// wait for it. Each block of the text is compared with the hash that stage 1 took of it, as verification does with the decoded text.
type fileTexts struct {
	sums []*digest.Sums // by input; nil if they are not known
	stop func()         // ends the reading and waits for it
	done chan struct{}  // closed when all are set
}

// asks reports whether the checksums of an input are computed from its file. An input without a name was no file: it can't be read again,
// and verification computes its checksums sooner than another pass over the bins would.
func (p *packer) asks(in *archive.Input) bool {
	return p.o.Text != nil && !p.o.NoVerify && p.o.Threads >= earlyThreads &&
		in.Source != nil && in.Source.Plain && in.Source.Name != "" && in.Blocks != nil
}

// readFiles begins to compute checksums from files; stop must be called. Files that are larger than the memory, which the system may have
// to read from the disk again, are left out.
func (p *packer) readFiles(ctx context.Context) *fileTexts {
	man := manifestOf(p.r.Meta(), p.o.Tool)
	ctx, cancel := context.WithCancel(ctx)
	f := &fileTexts{sums: make([]*digest.Sums, len(man.Inputs)), done: make(chan struct{})}
	f.stop = func() {
		cancel()
		<-f.done
	}
	var inputs []int
	size := uint64(0)
	for i := range man.Inputs {
		if p.asks(&man.Inputs[i]) {
			inputs = append(inputs, i)
			size += man.Inputs[i].Bytes
		}
	}
	if p.o.Memory > 0 && size > p.o.Memory {
		inputs = nil
	}
	p.fromFile = make([]bool, len(man.Inputs))
	for _, i := range inputs {
		p.fromFile[i] = true
	}
	atOnce := max(p.o.Threads/earlyThreads, 1)
	p.pool.hold(ctx, min(atOnce, len(inputs)), f.done) // so that MD5 has a thread
	go func() {
		defer close(f.done)
		var g errgroup.Group
		g.SetLimit(atOnce)
		for _, i := range inputs {
			g.Go(func() error {
				f.sums[i] = p.sumsOfFile(ctx, man, i)
				return nil
			})
		}
		g.Wait()
	}()
	return f
}

// sumsOfFile returns the checksums of an input's file, or nil if it can't be read or is not what was binned.
func (p *packer) sumsOfFile(ctx context.Context, man *archive.Manifest, input int) *digest.Sums {
	file, err := p.o.Text(input)
	if err != nil || file == nil {
		return nil
	}
	defer file.Close()
	in := &man.Inputs[input]
	check := newTextCheck(in.Name, in.Blocks, true, wantsMD5(in))
	if err := check.read(ctx, io.LimitReader(file, int64(in.Bytes))); err != nil {
		return nil
	}
	sums := check.sums.Sums()
	return &sums
}

// sumsOfInputs returns the checksums of those inputs whose text was not to be summed by verification, nil for the others. What the files
// did not give is computed from the bins.
func (p *packer) sumsOfInputs(ctx context.Context) ([]*digest.Sums, error) {
	if err := waitFor(ctx, p.files.done); err != nil {
		return nil, err
	}
	missing := make([]bool, len(p.fromFile))
	some := false
	for i, from := range p.fromFile {
		missing[i] = from && p.files.sums[i] == nil
		some = some || missing[i]
	}
	if some {
		if err := p.sumBins(ctx, missing); err != nil {
			return nil, err
		}
	}
	return p.files.sums, nil
}

// sumBins sets the checksums of inputs from their bins.
func (p *packer) sumBins(ctx context.Context, inputs []bool) error {
	src, err := newBinned(p.r, p.o.Threads, p.o.Memory)
	if err != nil {
		return err
	}
	man := src.manifest()
	checks := make([]*textCheck, len(inputs))
	for i := range checks {
		in := &man.Inputs[i]
		checks[i] = newTextCheck(in.Name, in.Blocks, true, wantsMD5(in))
	}
	var jobs []job
	for k := range man.Slices {
		j := job{demand: demand{slice: k}}
		for m, mem := range man.Slices[k].Members() {
			j.want[m] = inputs[mem.Input]
		}
		if j.want[0] || j.want[1] {
			jobs = append(jobs, j)
		}
	}
	consume := func(_ int, t *piece) error {
		for m, mem := range man.Slices[t.slice].Members() {
			if !t.want[m] {
				continue
			}
			if t.err[m] != nil {
				return t.err[m]
			}
			if err := checks[mem.Input].add(t.text[m]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := newReplay(src, "verify", p.o.Threads, p.memoryBeside(), nil, jobs).run(ctx, jobs, nil, consume); err != nil {
		return err
	}
	for i, c := range checks {
		if !inputs[i] {
			continue
		}
		if err := c.end(nil); err != nil {
			return fmt.Errorf("%s: its bins: %w", c.name, err)
		}
		sums := c.sums.Sums()
		p.files.sums[i] = &sums
	}
	return nil
}
