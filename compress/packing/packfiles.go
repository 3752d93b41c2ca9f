package packing

import (
	"context"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"orcomgo/compress/archive"
	"orcomgo/compress/restoring"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
	"orcomgo/digest"
)

// fileTexts are the checksums of inputs whose text is in a file, which is read once more from when packing begins. One thread computes MD5
// at 0.5 to 0.8 GB a second, SHA-256 at 1 to 2. If that began with the first slice that is decoded, an archive with little to code would
// wait for it. Each block of the text is compared with the hash that stage 1 took of it, as verification does with the decoded text.
type fileTexts struct {
	Sums []*digest.Sums // by input; nil if they are not known
	Stop func()         // ends the reading and waits for it
	Done chan struct{}  // closed when all are set
}

// Asks reports whether the checksums of an input are computed from its file. An input without a name was no file: it can't be read again,
// and verification computes its checksums sooner than another pass over the bins would.
func (p *Packer) Asks(in *archive.Input) bool {
	return p.O.Text != nil && !p.O.NoVerify && p.O.Threads >= EarlyThreads &&
		in.Source != nil && in.Source.Plain && in.Source.Name != "" && in.Blocks != nil
}

// ReadFiles begins to compute checksums from files; stop must be called. Files that are larger than the memory, which the system may have
// to read from the disk again, are left out.
func (p *Packer) ReadFiles(ctx context.Context) *fileTexts {
	man := source.ManifestOf(p.R.Meta(), p.O.Tool)
	ctx, cancel := context.WithCancel(ctx)
	f := &fileTexts{Sums: make([]*digest.Sums, len(man.Inputs)), Done: make(chan struct{})}
	f.Stop = func() {
		cancel()
		<-f.Done
	}
	var inputs []int
	size := uint64(0)
	for i := range man.Inputs {
		if p.Asks(&man.Inputs[i]) {
			inputs = append(inputs, i)
			size += man.Inputs[i].Bytes
		}
	}
	if p.O.Memory > 0 && size > p.O.Memory {
		inputs = nil
	}
	p.fromFile = make([]bool, len(man.Inputs))
	for _, i := range inputs {
		p.fromFile[i] = true
	}
	atOnce := max(p.O.Threads/EarlyThreads, 1)
	p.Pool.Hold(ctx, min(atOnce, len(inputs)), f.Done) // so that MD5 has a thread
	go func() {
		defer close(f.Done)
		var g errgroup.Group
		g.SetLimit(atOnce)
		for _, i := range inputs {
			g.Go(func() error {
				f.Sums[i] = p.sumsOfFile(ctx, man, i)
				return nil
			})
		}
		g.Wait()
	}()
	return f
}

// sumsOfFile returns the checksums of an input's file, or nil if it can't be read or is not what was binned.
func (p *Packer) sumsOfFile(ctx context.Context, man *archive.Manifest, input int) *digest.Sums {
	file, err := p.O.Text(input)
	if err != nil || file == nil {
		return nil
	}
	defer file.Close()
	in := &man.Inputs[input]
	check := restoring.NewTextCheck(in.Name, in.Blocks, true, wantsMD5(in))
	if err := check.Read(ctx, io.LimitReader(file, int64(in.Bytes))); err != nil {
		return nil
	}
	sums := check.Sums.Sums()
	return &sums
}

// sumsOfInputs returns the checksums of those inputs whose text was not to be summed by verification, nil for the others. What the files
// did not give is computed from the bins.
func (p *Packer) sumsOfInputs(ctx context.Context) ([]*digest.Sums, error) {
	if err := workers.Wait(ctx, p.files.Done); err != nil {
		return nil, err
	}
	missing := make([]bool, len(p.fromFile))
	some := false
	for i, from := range p.fromFile {
		missing[i] = from && p.files.Sums[i] == nil
		some = some || missing[i]
	}
	if some {
		if err := p.sumBins(ctx, missing); err != nil {
			return nil, err
		}
	}
	return p.files.Sums, nil
}

// sumBins sets the checksums of inputs from their bins.
func (p *Packer) sumBins(ctx context.Context, inputs []bool) error {
	src, err := source.NewBinned(p.R, p.O.Threads, p.O.Memory)
	if err != nil {
		return err
	}
	man := src.Manifest()
	checks := make([]*restoring.TextCheck, len(inputs))
	for i := range checks {
		in := &man.Inputs[i]
		checks[i] = restoring.NewTextCheck(in.Name, in.Blocks, true, wantsMD5(in))
	}
	var jobs []restoring.Job
	for k := range man.Slices {
		j := restoring.Job{Demand: source.Demand{Slice: k}}
		for m, mem := range man.Slices[k].Members() {
			j.Want[m] = inputs[mem.Input]
		}
		if j.Want[0] || j.Want[1] {
			jobs = append(jobs, j)
		}
	}
	consume := func(_ int, t *restoring.Piece) error {
		for m, mem := range man.Slices[t.Slice].Members() {
			if !t.Want[m] {
				continue
			}
			if t.Err[m] != nil {
				return t.Err[m]
			}
			if err := checks[mem.Input].Add(t.Text[m]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := restoring.NewReplay(src, "verify", p.O.Threads, p.memoryBeside(), nil, jobs).Run(ctx, jobs, nil, consume); err != nil {
		return err
	}
	for i, c := range checks {
		if !inputs[i] {
			continue
		}
		if err := c.End(nil); err != nil {
			return fmt.Errorf("%s: its bins: %w", c.Name, err)
		}
		sums := c.Sums.Sums()
		p.files.Sums[i] = &sums
	}
	return nil
}
