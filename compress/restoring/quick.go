package restoring

import (
	"context"

	"orcomgo/bins"
	"orcomgo/bins/commit"
	"orcomgo/compress/archive"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
	"orcomgo/internal/tasks"
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
			err = src.Archive.CheckRest()
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
	tasks.Each(len(errs), o.Threads, func(_, i int) {
		if ctx.Err() == nil {
			errs[i] = r.CheckBlock(i, progress.Add)
		}
	})
	for i, err := range errs {
		if b := &meta.Blocks[i]; err != nil {
			status[b.Input].damage(&archive.Slice{From: b.FirstRecord, Records: b.Records}, err)
		}
	}
	return ctx.Err()
}

// checkSections checks the sections of a packed archive. A damaged one is damage of the inputs that need it.
func checkSections(ctx context.Context, p *source.Packed, status []FileStatus, o VerifyOptions) error {
	type check struct {
		section *archive.Section
		what    func() string
	}
	var checks []check
	total := uint64(0)
	add := func(s *archive.Section, what func() string) {
		checks, total = append(checks, check{s, what}), total+s.Len
	}
	for i := range p.Man.Slices {
		s := &p.Man.Slices[i]
		s.EachSection(func(c archive.Column, m int, sec *archive.Section) {
			add(sec, func() string { return c.String() + " of " + source.WhereRecords(p.Man, s, m) })
		})
	}
	shared := len(checks)
	for i := range p.Man.Shared {
		add(&p.Man.Shared[i], func() string { return source.SharedName(i) })
	}
	progress := workers.NewMeter(o.Progress, "verify", total)
	errs := make([]error, len(checks))
	tasks.Each(len(checks), o.Threads, func(_, i int) {
		if ctx.Err() == nil {
			errs[i] = p.Archive.Check(*checks[i].section, checks[i].what(), progress.Add)
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	damaged := make(map[*archive.Section]error)
	for i, err := range errs {
		damaged[checks[i].section] = err
		for k := range status {
			if i >= shared {
				status[k].fail(err)
			}
		}
	}
	for i := range p.Man.Slices {
		s := &p.Man.Slices[i]
		for m, mem := range s.Members() {
			for _, d := range p.Decodings(s, source.Demand{Slice: i, Want: [2]bool{m == 0, m == 1}}) {
				err := damaged[s.Section(d.Id, d.M)]
				if lead := p.Lead(s); d.Id == archive.Names && lead != nil && err == nil {
					err = damaged[lead.Section(archive.Names, 0)]
				}
				if err != nil {
					status[mem.Input].damage(s, err)
					break
				}
			}
		}
	}
	return nil
}
