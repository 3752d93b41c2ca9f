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
	return verify(ctx, e, o, checkSource)
}

// checkSource compares all sections or blocks of a source with their checksums.
func checkSource(ctx context.Context, src source.Source, o VerifyOptions) ([]FileStatus, error) {
	man := src.Manifest()
	status := make([]FileStatus, len(man.Inputs))
	for i := range man.Inputs {
		in := &man.Inputs[i]
		status[i] = FileStatus{Name: in.Name, Records: in.Records, Bytes: in.Bytes, OK: true, Checked: checkedSections}
		if man.Verified {
			status[i].Bytes = in.OutBytes
		}
	}
	if b, ok := src.(*source.Binned); ok {
		return status, checkBins(ctx, b.Bins, status, o)
	}
	return status, checkSections(ctx, src.(*source.Packed), status, o)
}

// checkBins checks bins. A damaged block is damage of its input.
func checkBins(ctx context.Context, r *bins.Reader, status []FileStatus, o VerifyOptions) error {
	meta := r.Meta()
	progress := workers.NewMeter(o.Progress, "verify", meta.StoredBytes()+r.FileBytes(), 0)
	errs := make([]error, len(meta.Blocks))
	tasks.Each(len(errs), o.Threads, func(_, i int) {
		if ctx.Err() == nil {
			errs[i] = r.CheckBlock(i, progress.Add)
		}
	})
	for i := range status {
		if err := r.CheckFile(i, progress.Add); err != nil {
			status[i].fail(err)
		}
	}
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
	progress := workers.NewMeter(o.Progress, "verify", total, 0)
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
		for m, mem := range s.Texts() {
			for _, d := range p.Decodings(s, source.Demand{Slice: i, Want: [2]bool{m == 0, m == 1 || s.Halves()}}) {
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
