package compress

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/compress/archive"
)

// UnpackOptions control Unpack. Either OutDir or Stream is set.
type UnpackOptions struct {
	Threads int
	Memory  uint64 // bytes aimed for; 0 for the package's default

	OutDir string    // directory to restore the inputs in, made if it is missing
	Stream io.Writer // all text goes here, input after input
	// Interleave puts the mates of a pair in turn on Stream, instead of one input after the other.
	Interleave bool
	// Gzip compresses the output, a gzip member a slice; file names get .gz.
	Gzip bool
	// Force overwrites files.
	Force bool
	// Touch gives the files the present time, and not that which the files of the inputs had.
	Touch bool
	// Records restores only some records of each input, under a name that says so.
	Records *RecordRange

	Progress Progress // may be nil
}

// Unpack gives back the text of the archive that path leads to, from the packed archive or,
// before it is packed, from the bins. A file gets its name only after all of it was checked;
// on a stream a slice is written once it was.
//
// Where some inputs are damaged, the others are restored: the error is then a DamagedError,
// and the Summary says in Files which are damaged. A stream ends at the first damage.
func Unpack(ctx context.Context, path string, o UnpackOptions) (_ *Summary, failed error) {
	switch {
	case (o.OutDir == "") == (o.Stream == nil):
		return nil, fmt.Errorf("unpack: expected a directory or a stream to write to")
	case o.Interleave && o.Stream == nil:
		return nil, fmt.Errorf("unpack: mates are interleaved on a stream only")
	case o.Records != nil && o.Records.From >= o.Records.To:
		return nil, fmt.Errorf("unpack: there are no records from %d to %d", o.Records.From+1, o.Records.To)
	}
	src, err := openSource(path, o.Threads, o.Memory)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	man := src.manifest()
	u := &unpacker{src: src, man: man, o: &o, out: files{stream: o.Stream}}
	if o.Stream == nil {
		made, err := u.makeFiles()
		defer func() {
			u.out.abort()
			if failed != nil {
				made.Undo() // what files were restored in stays
			}
		}()
		if err != nil {
			return nil, err
		}
	}
	if err := u.run(ctx); err != nil {
		return nil, err
	}
	if err := u.name(); err != nil {
		return nil, err
	}
	s, err := summaryOf(man, src.paths(), false)
	if err != nil {
		return nil, err
	}
	s.Files, s.SlicesInFlight = u.status, u.flight
	for _, p := range src.problems() {
		s.Notes = append(s.Notes, p.Error())
	}
	for _, f := range u.out.outs {
		if f != nil && f.note != nil {
			s.Notes = append(s.Notes, fmt.Sprintf("the time of the original could not be set: %v", f.note))
		}
	}
	damaged := 0
	for i := range s.Files {
		if !s.Files[i].OK {
			damaged++
		}
	}
	if damaged > 0 {
		return s, &DamagedError{path, damaged, len(s.Files)}
	}
	return s, nil
}

// makeFiles makes the directory for the files, and decides on their names; it returns the
// directories that were missing.
func (u *unpacker) makeFiles() (commit.Made, error) {
	names, err := outputNames(u.man, u.o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.src.paths()[0], err)
	}
	made, err := commit.MakeDir(u.o.OutDir)
	if err != nil {
		return nil, err
	}
	for i, n := range names {
		var f *outFile
		if u.o.Records == nil || u.man.Inputs[i].Records > u.o.Records.From {
			if f, err = newOutFile(u.o.OutDir, n, u.src, u.o.Force); err != nil {
				return made, err
			}
			if s := u.man.Inputs[i].Source; s != nil && u.o.Records == nil && !u.o.Touch {
				f.time = s.Time
			}
		}
		u.out.outs = append(u.out.outs, f)
	}
	return made, nil
}

// DamagedError says that some inputs of an archive could not be restored.
type DamagedError struct {
	Archive        string
	Damaged, Files int
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s: %d of %d files are damaged and were not restored", e.Archive, e.Damaged, e.Files)
}

// Unwrap makes it an ErrCorrupt.
func (e *DamagedError) Unwrap() error { return ErrCorrupt }

// name gives the files that were restored their names, and makes these durable.
func (u *unpacker) name() error {
	named := false
	for i, f := range u.out.outs {
		if f == nil || !u.status[i].OK {
			continue
		}
		if err := f.finish(); err != nil {
			return err
		}
	}
	for i, f := range u.out.outs {
		if f == nil || !u.status[i].OK {
			continue
		}
		if err := f.name(u.o.Force); err != nil {
			if named {
				err = fmt.Errorf("%w (the files before it are restored)", err)
			}
			return err
		}
		u.status[i].Name, named = f.path, true
	}
	if !named {
		return nil
	}
	if err := vfs.SyncDir(u.o.OutDir); err != nil {
		return fmt.Errorf("%w (the files are restored, but a power cut now may lose them)", err)
	}
	return nil
}

// unpacker is the state of one run of Unpack.
type unpacker struct {
	src    source
	man    *archive.Manifest
	o      *UnpackOptions
	out    files
	checks []*textCheck
	status []FileStatus
	flight int
}

// jobs lists the work in the order of the output, as passes over the archive: the mates of
// a pair that go one after the other to one stream take a pass each.
func (u *unpacker) jobs() [][]job {
	var passes [][]job
	var pass []job
	end := func() {
		if len(pass) > 0 {
			passes = append(passes, pass)
		}
		pass = nil
	}
	var mates []job
	one := func(i int, first, mate bool) job {
		s := &u.man.Slices[i]
		lo, hi := u.records(s)
		return job{demand{slice: i, want: [2]bool{first, mate}, first: hi}, u.o.Interleave && s.Mate != nil || hi-lo < s.Records}
	}
	last := -1
	order := make([]int, len(u.man.Slices))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return u.man.Slices[a].First.Input - u.man.Slices[b].First.Input })
	for _, i := range order {
		s := &u.man.Slices[i]
		if s.First.Input != last && len(mates) > 0 {
			end()
			pass, mates = mates, nil
			end()
		}
		last = s.First.Input
		if r := u.o.Records; r != nil && (s.From >= r.To || s.From+uint64(s.Records) <= r.From) {
			continue
		}
		switch {
		case s.Mate == nil:
			pass = append(pass, one(i, true, false))
		case u.out.stream != nil && !u.o.Interleave:
			pass = append(pass, one(i, true, false))
			mates = append(mates, one(i, false, true))
		default:
			pass = append(pass, one(i, true, true))
		}
	}
	end()
	pass = mates
	end()
	return passes
}

// records returns which records of a slice are restored: lo..hi-1, counted inside it.
func (u *unpacker) records(s *archive.Slice) (lo, hi int) {
	lo, hi = 0, s.Records
	if r := u.o.Records; r != nil {
		lo = int(max(r.From, s.From) - s.From)
		hi = int(min(r.To-s.From, uint64(hi)))
	}
	return lo, hi
}

func (u *unpacker) run(ctx context.Context) error {
	for i := range u.man.Inputs {
		in := &u.man.Inputs[i]
		u.status = append(u.status, FileStatus{Name: in.Name, OK: true})
		c := newTextCheck(u.man, in.Name, in.Blocks, u.man.Verified && u.o.Records == nil, false)
		if u.o.Records != nil {
			c = newTextCheck(u.man, in.Name, nil, false, false)
		}
		u.checks = append(u.checks, c)
	}
	passes := u.jobs()
	if len(passes) == 0 && u.o.Records != nil {
		return fmt.Errorf("the archive has no record %d", u.o.Records.From+1)
	}
	r := newReplay(u.src, "unpack", u.o.Threads, u.o.Memory, u.o.Progress, passes...)
	u.flight = r.flight
	for _, jobs := range passes {
		outs := make([]output, len(jobs))
		work := func(k int, p *piece, _ *batch) (err error) {
			outs[k], err = u.output(r, p)
			return err
		}
		consume := func(k int, p *piece) error {
			out := outs[k]
			outs[k] = output{}
			return u.consume(p, out)
		}
		if err := r.run(ctx, jobs, work, consume); err != nil {
			return err
		}
	}
	return u.end()
}

// output is what is written of the members of a piece; interleaved, both are in the first.
type output [2][]byte

// output cuts the text of p to the records wanted, interleaves it, and compresses it, as
// the options say.
func (u *unpacker) output(r *replay, p *piece) (out output, err error) {
	s := &u.man.Slices[p.slice]
	if lo, hi := u.records(s); hi-lo < s.Records {
		for m, ends := range p.ends {
			if p.text[m] == nil {
				continue
			}
			from := 0
			if lo > 0 {
				from = ends[lo-1]
			}
			p.text[m], p.ends[m] = p.text[m][from:ends[hi-1]], ends[lo:hi]
			for i := range p.ends[m] {
				p.ends[m][i] -= from
			}
		}
	}
	both := p.want[0] && p.want[1]
	switch {
	case !u.o.Interleave || !both:
		out = p.text
	case p.err[0] == nil && p.err[1] == nil:
		out[0] = interleave(r.texts.get(len(p.text[0])+len(p.text[1])), p.text[0], p.text[1], p.ends[0], p.ends[1])
		p.own = append(p.own, out[0])
	}
	if u.o.Gzip {
		for m, t := range out {
			if t == nil {
				continue
			}
			if out[m], err = gzipped(t); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// gzipped returns text as one gzip member; equal text gives equal bytes.
func gzipped(text []byte) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, len(text)/3+64))
	w, err := gzip.NewWriterLevel(b, gzip.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// consume checks a piece's text against what is known of its input, and then writes it.
// Damage ends the restoring of that input; of all, on a stream.
func (u *unpacker) consume(p *piece, out output) error {
	s := &u.man.Slices[p.slice]
	lo, hi := u.records(s)
	var digests sync.WaitGroup
	defer digests.Wait()
	for m, mem := range s.Members() {
		if !p.want[m] {
			continue
		}
		status := &u.status[mem.Input]
		switch {
		case p.err[m] != nil:
			status.damage(s, p.err[m])
		case status.OK:
			status.fail(u.checks[mem.Input].compare(p.text[m]))
		}
		if !status.OK {
			if u.out.stream != nil {
				return status.err
			}
			u.out.outs[mem.Input].abort()
			continue
		}
		// Beside the writing.
		digests.Add(1)
		go func() {
			defer digests.Done()
			u.checks[mem.Input].digest(p.text[m])
		}()
		status.Records += uint64(hi - lo)
		status.Bytes += uint64(len(p.text[m]))
	}
	for m, mem := range s.Members() {
		if !p.want[m] || !u.status[mem.Input].OK {
			continue
		}
		if err := u.out.write(mem.Input, out[m]); err != nil {
			return err
		}
		if s.From+uint64(s.Records) == u.man.Inputs[s.First.Input].Records {
			if err := u.out.finish(mem.Input); err != nil {
				return err
			}
		}
	}
	return nil
}

// end checks what can only be checked once all of an input has passed.
func (u *unpacker) end() error {
	written := uint64(0)
	for i := range u.man.Inputs {
		in, status := &u.man.Inputs[i], &u.status[i]
		written += status.Bytes
		if u.o.Records == nil && status.OK {
			var want *[32]byte
			if u.man.Verified {
				want = &in.SHA256
				status.SHA256 = fmt.Sprintf("%x", in.SHA256)
			}
			status.fail(u.checks[i].end(want))
		}
		switch {
		case !status.OK && u.out.stream != nil:
			return status.err
		case !status.OK:
			u.out.outs[i].abort()
		case u.o.Gzip && status.Bytes == 0 && u.out.stream == nil && u.out.outs[i] != nil:
			if err := u.emptyMember(i); err != nil {
				return err
			}
		}
	}
	if u.o.Gzip && written == 0 && u.out.stream != nil {
		return u.emptyMember(0)
	}
	return nil
}

// emptyMember writes a gzip member of nothing: no bytes at all are not a gzip file.
func (u *unpacker) emptyMember(input int) error {
	z, err := gzipped(nil)
	if err != nil {
		return err
	}
	return u.out.write(input, z)
}
