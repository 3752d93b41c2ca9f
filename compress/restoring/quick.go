package restoring

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"orcomgo/bins"
	"orcomgo/bins/commit"
	"orcomgo/compress/archive"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// VerifyQuick is Verify without decoding: it reads all of the files of an archive and compares each section with its checksum. So it
// finds whatever changed since the archive was written, at the speed of the disk.
func VerifyQuick(ctx context.Context, e commit.Entry, o VerifyOptions) ([]FileStatus, error) {
	src, err := source.OpenEntry(e, o.Threads, o.Memory)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	man := src.Manifest()
	status := make([]FileStatus, len(man.Inputs))
	for i := range man.Inputs {
		in := &man.Inputs[i]
		status[i] = FileStatus{Name: in.Name, Records: in.Records, Bytes: in.Bytes, OK: true, Checked: checkedSections}
		if man.Verified {
			status[i].Bytes = in.OutBytes
		}
	}
	switch src := src.(type) {
	case *source.Binned:
		err = checkBins(ctx, src.Bins, status, o)
	case *source.Packed:
		err = checkSections(ctx, src, status, o)
		if err == nil {
			err = src.Archive.CheckRest(func(uint64) {})
		}
		if err == nil && e.Has[commit.Bins] {
			err = checkBinsToo(ctx, e, status, o)
		}
	}
	if err != nil {
		return nil, err
	}
	return append(status, ProblemStatus(src)...), nil
}

// checkBinsToo checks the bins beside a packed archive that was made of them.
func checkBinsToo(ctx context.Context, e commit.Entry, status []FileStatus, o VerifyOptions) error {
	r, err := bins.OpenEntry(e)
	if err != nil {
		return err
	}
	defer r.Close()
	return checkBins(ctx, r, status, o)
}

// checkBins checks bins. A damaged block is damage of its input.
func checkBins(ctx context.Context, r *bins.Reader, status []FileStatus, o VerifyOptions) error {
	meta := r.Meta()
	progress := workers.NewMeter(o.Progress, "verify", meta.StoredBytes())
	errs := make([]error, len(meta.Blocks))
	err := sideBySide(ctx, len(errs), o.Threads, func(i int) { errs[i] = r.CheckBlock(i, progress.Add) })
	for i, err := range errs {
		if b := &meta.Blocks[i]; err != nil {
			status[b.Input].damage(&archive.Slice{From: b.FirstRecord, Records: b.Records}, err)
		}
	}
	return err
}

// checkSections checks the sections of a packed archive. A damaged one is damage of the inputs that need it.
func checkSections(ctx context.Context, p *source.Packed, status []FileStatus, o VerifyOptions) error {
	type key struct {
		c archive.Column
		m int
	}
	type task struct {
		section *archive.Section
		what    func() string
		err     error
	}
	var tasks []*task
	slices := make(map[*archive.Slice]map[key]*task)
	total := uint64(0)
	add := func(s *archive.Section, what func() string) *task {
		t := &task{section: s, what: what}
		tasks, total = append(tasks, t), total+s.Len
		return t
	}
	for i := range p.Man.Slices {
		s := &p.Man.Slices[i]
		slices[s] = make(map[key]*task)
		s.EachSection(func(c archive.Column, m int, sec *archive.Section) {
			slices[s][key{c, m}] = add(sec, func() string { return c.String() + " of " + source.WhereRecords(p.Man, s, m) })
		})
	}
	var shared []*task
	for i := range p.Man.Shared {
		shared = append(shared, add(&p.Man.Shared[i], func() string { return source.SharedName(i) }))
	}
	progress := workers.NewMeter(o.Progress, "verify", total)
	err := sideBySide(ctx, len(tasks), o.Threads, func(i int) {
		t := tasks[i]
		t.err = p.Archive.Check(*t.section, t.what(), progress.Add)
	})
	if err != nil {
		return err
	}
	for _, t := range shared {
		for i := range status {
			status[i].fail(t.err)
		}
	}
	for i := range p.Man.Slices {
		s := &p.Man.Slices[i]
		for m, mem := range s.Members() {
			alone := source.Demand{Slice: i, Want: [2]bool{m == 0, m == 1}}
			for _, d := range p.Decodings(s, alone) {
				t := slices[s][key{d.Id, d.M}]
				if lead := p.Leads[s]; d.Id == archive.Names && lead != nil && t.err == nil {
					t = slices[lead][key{archive.Names, 0}]
				}
				if t.err != nil {
					status[mem.Input].damage(s, t.err)
					break
				}
			}
		}
	}
	return nil
}

// sideBySide calls f with 0..n-1 in several goroutines, in about this order. The error is that of ctx.
func sideBySide(ctx context.Context, n, threads int, f func(i int)) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(max(threads, 1), n) {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					return ctx.Err()
				}
				f(i)
			}
		})
	}
	return g.Wait()
}
