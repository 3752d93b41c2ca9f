package packing

import (
	"context"
	"fmt"
	"io"

	"orcomgo/compress/archive"
	"orcomgo/compress/restoring"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
	"orcomgo/digest"
	"orcomgo/internal/tasks"
)

// fileTexts are the checksums of inputs whose text is in a file, which is read once more from when packing begins. One thread computes MD5
// at 0.5 to 0.8 GB a second, SHA-256 at 1 to 2. If that began with the first slice that is decoded, an archive with little to code would
// wait for it. Each block of the text is compared with the hash that stage 1 took of it, as verification does with the decoded text.
type fileTexts struct {
	*packer
	asked []bool         // by input: verification leaves the checksums of its text to this
	sums  []*digest.Sums // by input; nil if they are not known
	stop  func()         // ends the reading and waits for it
	done  chan struct{}  // closed when all are set
}

// readsFile reports whether the checksums of an input are computed from its file. An input without a name was no file: it can't be read
// again, and verification computes its checksums sooner than another pass over the bins would.
func (o *Options) readsFile(in *archive.Input) bool {
	return o.Text != nil && !o.NoVerify && o.Threads >= manyThreads &&
		in.Source != nil && in.Source.Plain && in.Source.Name != "" && in.Blocks != nil
}

// readFiles begins to compute checksums from files; stop must be called. Files that are larger than the memory, which the system may have
// to read from the disk again, are left out.
func (p *packer) readFiles(ctx context.Context) *fileTexts {
	inputs := p.man.Inputs
	ctx, cancel := context.WithCancel(ctx)
	f := &fileTexts{packer: p, asked: make([]bool, len(inputs)), sums: make([]*digest.Sums, len(inputs)), done: make(chan struct{})}
	f.stop = func() {
		cancel()
		<-f.done
	}
	size, files := uint64(0), 0
	for i := range inputs {
		if f.asked[i] = p.o.readsFile(&inputs[i]); f.asked[i] {
			size, files = size+inputs[i].Bytes, files+1
		}
	}
	if p.o.Memory > 0 && size > p.o.Memory {
		clear(f.asked)
		files = 0
	}
	atOnce := max(p.o.Threads/manyThreads, 1)
	p.pool.Hold(ctx, min(atOnce, files), f.done) // so that MD5 has a thread
	go func() {
		defer close(f.done)
		tasks.Each(len(inputs), atOnce, func(_, i int) {
			if f.asked[i] {
				f.sums[i] = f.ofFile(ctx, i)
			}
		})
	}()
	return f
}

// ofFile returns the checksums of an input's file, or nil if it can't be read or is not what was binned.
func (f *fileTexts) ofFile(ctx context.Context, input int) *digest.Sums {
	file, err := f.o.Text(input)
	if err != nil || file == nil {
		return nil
	}
	defer file.Close()
	in := &f.man.Inputs[input]
	check := restoring.NewTextCheck(in, true, wantsMD5(in))
	if err := check.Read(ctx, io.LimitReader(file, int64(in.Bytes))); err != nil {
		return nil
	}
	sums := check.Sums.Sums()
	return &sums
}

// end waits until the checksums of the inputs that are asked for are set. What the files did not give is computed from the bins.
func (f *fileTexts) end(ctx context.Context) error {
	if err := workers.Wait(ctx, f.done); err != nil {
		return err
	}
	missing, some := make([]bool, len(f.asked)), false
	for i, asked := range f.asked {
		missing[i] = asked && f.sums[i] == nil
		some = some || missing[i]
	}
	if !some {
		return nil
	}
	src, err := source.NewBinned(f.bins, f.o.Threads, f.o.Memory)
	if err != nil {
		return err
	}
	var checks []*restoring.TextCheck
	for i := range missing {
		in := &f.man.Inputs[i]
		checks = append(checks, restoring.NewTextCheck(in, true, wantsMD5(in)))
	}
	man := src.Manifest()
	var jobs []restoring.Job
	for _, j := range restoring.WholeArchive(man) {
		for m, mem := range man.Slices[j.Slice].Members() {
			j.Want[m] = missing[mem.Input]
		}
		if j.Want != [2]bool{} {
			jobs = append(jobs, j)
		}
	}
	status, err := restoring.VerifyJobs(ctx, src, "verify", restoring.VerifyOptions{Threads: f.o.Threads, Memory: f.memoryBeside()}, jobs,
		checks, nil)
	if err != nil {
		return err
	}
	for i := range status {
		if !missing[i] {
			continue
		}
		if err := status[i].Err(); err != nil {
			return fmt.Errorf("%s: its bins: %w", status[i].Name, err)
		}
		sums := checks[i].Sums.Sums()
		f.sums[i] = &sums
	}
	return nil
}
