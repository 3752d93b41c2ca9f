package restoring

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"orcomgo/bins/bam"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/source"
	"orcomgo/internal/deflate"
)

// unpacker is the state of one run of Unpack.
type unpacker struct {
	src    source.Source
	man    *archive.Manifest
	o      *UnpackOptions
	sel    *selection
	sinks  []*sink // by input; nil: it is not restored
	checks []*TextCheck
	status []FileStatus
	files  []bool    // by input: it is restored as the file that it was, and not as its text; nil of a stream
	bams   []bool    // by input: it is restored as the BAM that it was
	made   *bamMaker // of what is restored as other BAM; nil if nothing is
	cancel func()
}

// interleaved reports whether an input is restored together with its mates.
func (u *unpacker) interleaved(input int) bool {
	mate := u.man.Inputs[input].Mate
	return u.o.Interleave && mate >= 0 && u.sel.asked[input] && u.sel.asked[mate]
}

// unpackJob is a slice to be restored.
type unpackJob struct {
	Job
	before uint64 // records of the inputs that are restored from the slices before it
	last   bool   // it has the last of them
}

// whole reports whether all records of the slice are restored.
func (j *unpackJob) whole(s *archive.Slice) bool {
	return len(j.Spans) == 1 && j.Spans[0] == columns.Span{Lo: 0, Hi: s.Records}
}

// records returns how many records of the slice are restored.
func (j *unpackJob) records() (n int) {
	for _, s := range j.Spans {
		n += s.Hi - s.Lo
	}
	return n
}

// jobs lists the work in the order of the output, as passes over the archive: the mates of
// a pair that go one after the other to one stream take a pass each.
func (u *unpacker) jobs() (passes [][]unpackJob) {
	var pass, mates []unpackJob
	end := func(jobs []unpackJob) {
		if len(jobs) > 0 {
			u.markLast(jobs)
			passes = append(passes, jobs)
		}
	}
	last, before := -1, make(map[int]uint64) // before: by input
	order := make([]int, len(u.man.Slices))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return u.turn(a) - u.turn(b) })
	for _, i := range order {
		s := &u.man.Slices[i]
		if u.turn(i) != last {
			if len(mates) > 0 {
				end(pass)
				end(mates)
				pass, mates = nil, nil
			}
			last = u.turn(i)
		}
		j := unpackJob{before: before[s.First.Input]}
		j.Spans = spansOf(s, u.sel.records[s.First.Input])
		for m, mem := range s.Texts() {
			j.Want[m] = u.sel.asked[mem.Input]
		}
		if j.Want == ([2]bool{}) || len(j.Spans) == 0 {
			continue
		}
		before[s.First.Input] += uint64(j.records())
		both := j.Want[0] && j.Want[1]
		j.Slice, j.First, j.AsText = i, j.Spans[len(j.Spans)-1].Hi, u.made == nil
		j.ends = u.o.Interleave && both || !j.whole(s) || u.o.Split > 0
		if both && u.o.Stream != nil && !u.o.Interleave {
			mate := j
			mate.Turn = len(mates) + 1
			j.Want, mate.Want = [2]bool{true, false}, [2]bool{false, true}
			mates = append(mates, mate)
		}
		j.Turn = len(pass) + 1
		pass = append(pass, j)
	}
	end(pass)
	end(mates)
	return passes
}

// turn returns the number of the input whose turn it is when a slice is restored. To files, further mates are restored beside first
// mates, whose names they need.
func (u *unpacker) turn(slice int) int {
	input := u.man.Slices[slice].First.Input
	if in := &u.man.Inputs[input]; in.Further && u.o.Stream == nil {
		return in.Lead
	}
	return input
}

// markLast marks the last job of each input in a pass.
func (u *unpacker) markLast(jobs []unpackJob) {
	seen := make(map[int]bool)
	for k := len(jobs) - 1; k >= 0; k-- {
		input := u.man.Slices[jobs[k].Slice].First.Input
		jobs[k].last = !seen[input]
		seen[input] = true
	}
}

func (u *unpacker) run(ctx context.Context) error {
	for i := range u.man.Inputs {
		in := &u.man.Inputs[i]
		u.status = append(u.status, FileStatus{Name: in.Name, OK: true})
		// The hashes of slices have to do: SHA-256 would take longer than decoding by many threads, and the hashes of blocks, which one
		// thread computes, longer than decoding with a GPU. That the slices together are the text was compared by pack, and is by verify.
		known := in
		if !u.sel.whole(i) || u.man.Verified {
			known = &archive.Input{}
		}
		u.checks = append(u.checks, NewTextCheck(known, false, false))
	}
	passes := u.jobs()
	plain := make([][]Job, len(passes))
	for k, jobs := range passes {
		for _, j := range jobs {
			plain[k] = append(plain[k], j.Job)
		}
	}
	if p, ok := u.src.(*source.Packed); ok {
		// To one stream mates are restored one after the other; beside each other their primers take half the time.
		var primers sync.WaitGroup
		defer primers.Wait()
		primers.Go(func() { p.PrimersAhead(ctx, afterFirst(p, plain)) })
	}
	r := NewReplay(u.src, "unpack", u.o.Threads, u.o.Memory, u.o.Progress, plain...)
	for n, jobs := range passes {
		outs := make([]output, len(jobs))
		work := func(k int, p *Piece, b *source.Decoded) (err error) {
			if outs[k], err = u.output(ctx, r, p, b, &jobs[k]); err != nil {
				u.cancel() // nothing is waited for any more
			}
			return err
		}
		consume := func(k int, p *Piece, done func()) error {
			out := outs[k]
			outs[k] = output{}
			err := u.consume(r, p, &jobs[k], out)
			done()
			return err
		}
		if err := r.Run(ctx, plain[n], work, consume); err != nil {
			return err
		}
	}
	return u.end()
}

// output is what is written of the members of a piece; interleaved, both are in the first.
type output [2][]segment

// output cuts the text of p to the records wanted, interleaves it, divides it into parts, and compresses it, as
// the options say.
func (u *unpacker) output(ctx context.Context, r *Replay, p *Piece, b *source.Decoded, j *unpackJob) (out output, err error) {
	if !j.whole(&u.man.Slices[p.Slice]) {
		for m := range p.Text {
			if p.Text[m] != nil {
				r.pick(p, m, j.Spans)
			}
		}
	}
	text, ends, err := u.converted(r, p, b, j)
	if err != nil {
		return out, err
	}
	if u.o.Interleave && p.Want[0] && p.Want[1] {
		mates := &Piece{Text: text, ends: ends}
		text, ends = [2][]byte{}, [2][]int{}
		if p.Err[0] == nil && p.Err[1] == nil {
			first, second := mates.Text[0], mates.Text[1]
			text[0] = columns.Alternate(r.Texts.Get(len(first)+len(second)), len(mates.ends[0]), first, second, mates.recordSize)
			p.own = append(p.own, text[0])
			for i, e := range mates.ends[0] {
				ends[0] = append(ends[0], e+mates.ends[1][i])
			}
		}
	}
	for m, t := range text {
		if t == nil {
			continue
		}
		out[m] = []segment{{0, t}}
		if u.o.Split > 0 {
			out[m] = divide(t, ends[m], j.before, u.o.Split)
		}
		input := u.man.Slices[p.Slice].Texts()[m].Input
		if !u.o.Gzip && !u.bams[input] && u.made == nil || u.files != nil && u.files[input] {
			continue
		}
		for i := range out[m] {
			if out[m][i].text, err = bgzfMembers(ctx, r.Pool, out[m][i].text); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// converted returns the texts of p and where their records end: FASTQ of BAM, or BAM, where that is wanted.
func (u *unpacker) converted(r *Replay, p *Piece, b *source.Decoded, j *unpackJob) (text [2][]byte, ends [2][]int, err error) {
	text, ends = p.Text, p.ends
	s := &u.man.Slices[p.Slice]
	for m, mem := range s.Texts() {
		isBAM := u.man.Inputs[mem.Input].Kind == record.BAM
		if u.bams[mem.Input] || !isBAM && u.made == nil || text[m] == nil {
			continue
		}
		dst := r.Texts.Get(len(text[m]))
		if isBAM {
			header := s.From == 0 && j.Spans[0].Lo == 0
			o := bam.Choice{Mate: u.o.Mate, Records: u.made != nil, Comments: u.o.Comments}
			text[m], ends[m], err = o.Append(dst, text[m], header, nil)
			p.skipped[m] = j.records() - len(ends[m])
		} else {
			text[m], ends[m], err = u.made.append(dst, b.Cols[m], j.Spans)
		}
		if err != nil {
			return text, ends, fmt.Errorf("%s: %w", source.WhereRecords(u.man, s, m), err)
		}
		p.own = append(p.own, text[m])
	}
	return text, ends, nil
}

// recordSize returns how many bytes record i of the text of a member has.
func (p *Piece) recordSize(m, i int, _ []byte) int {
	if i == 0 {
		return p.ends[m][0]
	}
	return p.ends[m][i] - p.ends[m][i-1]
}

// pick reduces the text of a member of p to the records in spans.
func (r *Replay) pick(p *Piece, m int, spans []columns.Span) {
	text, ends := p.Text[m], p.ends[m]
	start := func(i int) int {
		if i == 0 {
			return 0
		}
		return ends[i-1]
	}
	if len(spans) == 1 {
		from := start(spans[0].Lo)
		text, ends = text[from:ends[spans[0].Hi-1]], ends[spans[0].Lo:spans[0].Hi]
		for i := range ends {
			ends[i] -= from
		}
		p.Text[m], p.ends[m] = text, ends
		return
	}
	size := 0
	for _, s := range spans {
		size += ends[s.Hi-1] - start(s.Lo)
	}
	picked, pickedEnds := r.Texts.Get(size), []int{}
	for _, s := range spans {
		shift := len(picked) - start(s.Lo)
		picked = append(picked, text[start(s.Lo):ends[s.Hi-1]]...)
		for i := s.Lo; i < s.Hi; i++ {
			pickedEnds = append(pickedEnds, ends[i]+shift)
		}
	}
	p.Text[m], p.ends[m] = picked, pickedEnds
	p.own = append(p.own, picked)
}

// divide cuts text, whose records end at ends, into parts of so many records each; before is how many there were already.
func divide(text []byte, ends []int, before, records uint64) (segments []segment) {
	from := 0
	for i := 0; i < len(ends); {
		part := (before + uint64(i)) / records
		next := len(ends)
		if left := (part+1)*records - before; left < uint64(next) {
			next = int(left)
		}
		segments = append(segments, segment{int(part), text[from:ends[next-1]]})
		i, from = next, ends[next-1]
	}
	return segments
}

// consume checks a piece's text against what is known of its input, and then writes it.
// Damage ends the restoring of that input; of all, on a stream.
func (u *unpacker) consume(r *Replay, p *Piece, j *unpackJob, out output) error {
	s := &u.man.Slices[p.Slice]
	// The buffers are used again when all is written.
	own := p.own
	p.own = nil
	var users atomic.Int32
	users.Store(1)
	done := func() {
		if users.Add(-1) == 0 {
			for _, b := range own {
				r.Texts.Put(b)
			}
		}
	}
	defer done()
	for m, mem := range s.Texts() {
		if !p.Want[m] {
			continue
		}
		status := &u.status[mem.Input]
		switch {
		case p.Err[m] != nil:
			status.damage(s, p.Err[m])
		case status.OK:
			status.fail(u.checks[mem.Input].Compare(p.Text[m]))
		}
		if !status.OK {
			if u.sinks[mem.Input].live() {
				return status.err
			}
			u.sinks[mem.Input].abort()
			continue
		}
		status.Records += uint64(j.records() - p.skipped[m])
		status.Bytes += uint64(len(p.Text[m]))
	}
	if u.interleaved(s.First.Input) {
		u.failTogether(s.First.Input, s.Mate.Input)
	}
	for m, mem := range s.Texts() {
		if !p.Want[m] || !u.status[mem.Input].OK || m == 1 && u.interleaved(mem.Input) {
			continue
		}
		users.Add(1)
		if err := u.sinks[mem.Input].write(out[m], j.last, done); err != nil {
			return err
		}
	}
	return nil
}

// failTogether makes two inputs that share a file both fail if one does.
func (u *unpacker) failTogether(a, b int) {
	for range 2 {
		if err := u.status[a].err; err != nil {
			u.status[b].fail(fmt.Errorf("its mates are in the same file: %w", err))
		}
		a, b = b, a
	}
}

// end checks what can only be checked once all of an input has passed.
func (u *unpacker) end() error {
	for i := range u.man.Inputs {
		in, status := &u.man.Inputs[i], &u.status[i]
		if u.sel.whole(i) && status.OK {
			status.end(u.man, i, u.checks[i])
		}
		if u.interleaved(i) {
			u.failTogether(i, in.Mate)
		}
	}
	for i, s := range u.sinks {
		if s == nil || u.status[i].OK {
			continue
		}
		if s.live() {
			return u.status[i].err
		}
		s.abort()
	}
	if u.o.Gzip && u.o.Stream != nil {
		_, err := u.o.Stream.Write([]byte(deflate.BGZFEnd))
		return err
	}
	return nil
}

// afterFirst returns the inputs whose qualities some jobs restore from slices after their first one, which may begin with primers.
func afterFirst(p *source.Packed, passes [][]Job) (inputs []int) {
	for _, j := range slices.Concat(passes...) {
		s := &p.Man.Slices[j.Slice]
		for m, mem := range s.Texts() {
			if s.From > 0 && j.Want[m] && p.Kept[mem.Input][archive.Quals] && !slices.Contains(inputs, mem.Input) {
				inputs = append(inputs, mem.Input)
			}
		}
	}
	return inputs
}
