package compress

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"

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
	// Records restores only some records of each input, under a name that says so.
	Records *RecordRange

	Progress Progress // may be nil
}

// RecordRange are the records From..To-1 of an input, counted from 0. What lies beyond the
// input's end is left out.
type RecordRange struct{ From, To uint64 }

// Unpack gives back the text of the archive in dir, from the packed archive or, before it is
// packed, from the bins. A file stands under its name only after all of it was checked; on
// a stream a slice is written once it was.
func Unpack(ctx context.Context, dir string, o UnpackOptions) (_ *Summary, err error) {
	switch {
	case (o.OutDir == "") == (o.Stream == nil):
		return nil, fmt.Errorf("unpack: expected a directory or a stream to write to")
	case o.Interleave && o.Stream == nil:
		return nil, fmt.Errorf("unpack: mates are interleaved on a stream only")
	case o.Records != nil && o.Records.From >= o.Records.To:
		return nil, fmt.Errorf("unpack: there are no records from %d to %d", o.Records.From+1, o.Records.To)
	}
	src, err := openSource(dir, o.Threads)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	man := src.manifest()
	u := &unpacker{src: src, man: man, o: &o, out: files{stream: o.Stream}}
	if o.Stream == nil {
		names, err := outputNames(man, &o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", src.paths()[1], err)
		}
		if err := os.MkdirAll(o.OutDir, 0o777); err != nil {
			return nil, err
		}
		for i, n := range names {
			f := newOutFile(o.OutDir, n)
			if o.Records != nil && man.Inputs[i].Records <= o.Records.From {
				f = nil // nothing of it is asked for
			}
			u.out.outs = append(u.out.outs, f)
		}
		for _, f := range u.out.outs {
			if err := f.free(o.Force); err != nil {
				return nil, err
			}
			if err := f.spare(src.paths()); err != nil {
				return nil, err
			}
		}
	}
	defer func() {
		for _, f := range u.out.outs {
			f.abort()
		}
	}()
	if err := u.run(ctx); err != nil {
		return nil, err
	}
	for i, f := range u.out.outs {
		if err := f.finish(); err != nil {
			return nil, err
		}
		if f != nil {
			u.status[i].Name = f.path
		}
	}
	for _, f := range u.out.outs {
		if err := f.commit(o.Force); err != nil {
			return nil, err
		}
	}
	s, err := summaryOf(man, src.paths(), false)
	if err != nil {
		return nil, err
	}
	s.Files, s.SlicesInFlight = u.status, u.flight
	return s, nil
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

// job is a slice to be unpacked, and what of it.
type job struct {
	slice      int
	want       [2]bool
	interleave bool
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
			pass = append(pass, job{i, [2]bool{true, false}, false})
		case u.out.stream != nil && !u.o.Interleave:
			pass = append(pass, job{i, [2]bool{true, false}, false})
			mates = append(mates, job{i, [2]bool{false, true}, false})
		default:
			pass = append(pass, job{i, [2]bool{true, true}, u.o.Interleave})
		}
	}
	end()
	pass = mates
	end()
	return passes
}

// piece is the text of a job, checked as far as a slice can be by itself.
type piece struct {
	text    [2][]byte // of each member wanted
	records [2]int
	out     [][]byte // what is written, by member, or one for both when interleaved
	own     [][]byte // buffers that go back to the pool
}

func (u *unpacker) run(ctx context.Context) error {
	var total, largest uint64
	for i := range u.man.Inputs {
		in := &u.man.Inputs[i]
		u.status = append(u.status, FileStatus{Name: in.Name})
		c := newTextCheck(in.Name, in.Blocks, u.man.Verified && u.o.Records == nil)
		if u.o.Records != nil {
			c = newTextCheck(in.Name, nil, false)
		}
		u.checks = append(u.checks, c)
	}
	passes := u.jobs()
	for _, pass := range passes {
		for _, j := range pass {
			t := sliceBytes(u.man, j.slice)
			total, largest = total+t, max(largest, t)
		}
	}
	if len(passes) == 0 && u.o.Records != nil {
		return fmt.Errorf("the archive has no record %d", u.o.Records.From+1)
	}
	u.flight = inFlight(u.o.Threads, u.o.Memory, largest)
	progress := newMeter(u.o.Progress, "unpack", total)
	texts := &buffers{keep: 3 * u.flight}
	pool := newWorkers(u.o.Threads)
	for _, pass := range passes {
		all := make([]int, len(pass))
		for k, j := range pass {
			all[k] = j.slice
		}
		u.src.prepare(all)
		produce := func(ctx context.Context, k int) (*piece, error) {
			b, err := u.src.decode(ctx, pass[k].slice, pass[k].want)
			if err != nil {
				return nil, err
			}
			var p *piece
			err = pool.do(ctx, func() (err error) {
				p, err = u.render(b, pass[k], texts)
				return err
			})
			return p, err
		}
		consume := func(k int, p *piece) error {
			if err := u.write(pass[k], p); err != nil {
				return err
			}
			for _, b := range p.own {
				texts.put(b)
			}
			progress.add(sliceBytes(u.man, pass[k].slice))
			return nil
		}
		if err := inOrder(ctx, len(pass), u.flight, produce, consume); err != nil {
			return err
		}
	}
	return u.end()
}

// render makes the text of a decoded slice.
func (u *unpacker) render(b *batch, j job, texts *buffers) (*piece, error) {
	p := new(piece)
	var ends [2][]int
	lo, hi := 0, b.slice.Records
	if r := u.o.Records; r != nil {
		lo = int(max(r.From, b.slice.From) - b.slice.From)
		hi = int(min(r.To-b.slice.From, uint64(hi)))
	}
	part := lo > 0 || hi < b.slice.Records
	for m := range b.cols {
		if !j.want[m] {
			continue
		}
		c := b.cols[m]
		if part || j.interleave {
			ends[m] = make([]int, c.records)
		}
		f := formOf(u.man.Options, u.man.Inputs[c.input].Kind)
		text, err := b.text(texts.get(textSize(f, c)), u.man, m, ends[m])
		if err != nil {
			return nil, err
		}
		p.own = append(p.own, text)
		if part {
			from := 0
			if lo > 0 {
				from = ends[m][lo-1]
			}
			text = text[from:ends[m][hi-1]]
			ends[m] = ends[m][lo:hi]
			for i := range ends[m] {
				ends[m][i] -= from
			}
		}
		p.text[m], p.records[m] = text, hi-lo
	}
	b.drop()
	if j.interleave {
		both := texts.get(len(p.text[0]) + len(p.text[1]))
		both = interleave(both, p.text[0], p.text[1], ends[0], ends[1])
		p.own = append(p.own, both)
		p.out = [][]byte{both}
	} else {
		for m := range p.text {
			if j.want[m] {
				p.out = append(p.out, p.text[m])
			}
		}
	}
	if u.o.Gzip {
		for i, t := range p.out {
			z, err := gzipped(t)
			if err != nil {
				return nil, err
			}
			p.out[i] = z
		}
	}
	return p, nil
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

// write checks a piece's text against what is known of its input, and then writes it.
func (u *unpacker) write(j job, p *piece) error {
	s := &u.man.Slices[j.slice]
	var inputs []int
	var digests sync.WaitGroup
	defer digests.Wait()
	for m, mem := range s.Members() {
		if !j.want[m] {
			continue
		}
		if err := u.checks[mem.Input].compare(p.text[m]); err != nil {
			return err
		}
		// Beside the writing.
		digests.Add(1)
		go func() {
			defer digests.Done()
			u.checks[mem.Input].digest(p.text[m])
		}()
		u.status[mem.Input].Records += uint64(p.records[m])
		u.status[mem.Input].Bytes += uint64(len(p.text[m]))
		inputs = append(inputs, mem.Input)
	}
	for i, b := range p.out {
		if err := u.out.write(inputs[i], b); err != nil {
			return err
		}
	}
	if s.From+uint64(s.Records) == u.man.Inputs[s.First.Input].Records {
		for _, i := range inputs {
			if err := u.out.finish(i); err != nil {
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
		in := &u.man.Inputs[i]
		written += u.status[i].Bytes
		if u.o.Records == nil {
			var want *[32]byte
			if u.man.Verified {
				want = &in.SHA256
				u.status[i].SHA256 = fmt.Sprintf("%x", in.SHA256)
			}
			if err := u.checks[i].end(want); err != nil {
				return err
			}
		}
		u.status[i].OK = true
		if u.o.Gzip && u.status[i].Bytes == 0 && u.out.stream == nil && u.out.outs[i] != nil {
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
