package compress

import (
	"context"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
)

// job is a slice to be decoded, and what of it.
type job struct {
	demand
	ends bool // where each record ends is wanted as well
}

// piece is the text of a job.
type piece struct {
	job
	text [2][]byte // of each member wanted that is not damaged
	ends [2][]int  // where each of its records ends, if that was asked for
	err  [2]error  // why a member has no text
	own  [][]byte  // buffers that are used again when the piece was consumed
}

// replay gives back the text of an archive, slice by slice: what was read is decoded, rendered,
// and compared with the slice's checksum where the archive has one. verify, unpack and the
// verification of pack are made of it.
type replay struct {
	src      source
	man      *archive.Manifest
	flight   int // slices in work at once
	pool     workers
	texts    *buffers
	progress *meter
}

// newReplay prepares for jobs, which may be replayed in several passes.
func newReplay(src source, stage string, threads int, memory uint64, report Progress, passes ...[]job) *replay {
	r := &replay{src: src, man: src.manifest(), pool: newWorkers(threads)}
	var total, largest uint64
	for _, jobs := range passes {
		for _, j := range jobs {
			t := sliceBytes(r.man, j.slice)
			total, largest = total+t, max(largest, t)
		}
	}
	r.setFlight(inFlight(threads, memory, largest))
	if inMemory(memory, largest) < 2 {
		r.texts.keep = 0 // there is no room for a text of the slice before while a slice is decoded
	}
	r.progress = newMeter(report, stage, total)
	return r
}

// setFlight sets how many slices may be in work at once.
func (r *replay) setFlight(n int) {
	r.flight = n
	r.texts = &buffers{keep: 3 * n}
}

// wholeArchive returns jobs for all slices and members.
func wholeArchive(man *archive.Manifest) []job {
	jobs := make([]job, len(man.Slices))
	for i := range jobs {
		jobs[i].demand = demand{slice: i, want: [2]bool{true, true}}
	}
	return jobs
}

// run replays jobs. work, if not nil, is called on a worker when a piece has its text and its
// columns are still there, and may run for several pieces at once; consume is called for one piece
// after another, in the order of jobs. The first error of either ends it.
func (r *replay) run(ctx context.Context, jobs []job, work func(k int, p *piece, b *batch) error,
	consume func(k int, p *piece) error) error {
	return r.runUntil(ctx, jobs, work, func(k int, p *piece, done func()) error {
		if err := consume(k, p); err != nil {
			return err
		}
		done()
		return nil
	})
}

// runUntil is run for pieces that are in memory until consume, or another goroutine then, has called done.
func (r *replay) runUntil(ctx context.Context, jobs []job, work func(k int, p *piece, b *batch) error,
	consume func(k int, p *piece, done func()) error) error {
	all := make([]demand, len(jobs))
	for k, j := range jobs {
		all[k] = j.demand
	}
	decoder := r.src.pass(all)
	produce := func(ctx context.Context, k int) (*piece, error) {
		d := jobs[k].demand
		meter := r.decoding(d.slice)
		d.coded = meter.coded
		b, err := decoder.decode(ctx, d)
		if err != nil {
			return nil, err
		}
		p := &piece{job: jobs[k], err: b.err}
		meter.end()
		return p, r.pool.inTurn(d.turn).do(ctx, func() error {
			r.render(p, b)
			defer r.src.release(b)
			if work == nil {
				return nil
			}
			return work(k, p, b)
		})
	}
	return inOrderUntil(ctx, len(jobs), r.flight, produce, func(k int, p *piece, done func()) error {
		return consume(k, p, func() {
			for _, b := range p.own {
				r.texts.put(b)
			}
			n := sliceBytes(r.man, p.slice)
			r.progress.add(n - decodingPart(n))
			done()
		})
	})
}

// decodingPart returns how many of the n bytes of a slice count as done when it is decoded; the others do when it is consumed.
func decodingPart(n uint64) uint64 { return n - n/8 }

// decoding returns the meter of a slice that is being decoded. While pack writes it, its bases are not known before it is decoded.
func (r *replay) decoding(slice int) *sliceMeter {
	return &sliceMeter{m: r.progress, sizes: func() (bytes, units uint64) {
		for _, mem := range r.man.Slices[slice].Members() {
			units += unitsOf(mem.Bases, r.man.Options, r.man.Inputs[mem.Input].Kind)
		}
		return decodingPart(sliceBytes(r.man, slice)), units
	}}
}

// render gives p the text of b.
func (r *replay) render(p *piece, b *batch) {
	for m, c := range b.cols {
		if c == nil || !p.want[m] || p.err[m] != nil {
			continue
		}
		if p.job.ends {
			p.ends[m] = make([]int, c.records)
		}
		if c.inLines() {
			p.text[m], p.own = c.letters, append(p.own, c.letters)
			continue
		}
		rendering := record.RenderingOf(r.man.Options, r.man.Inputs[c.input].Kind)
		text, err := b.text(r.texts.get(textSize(rendering, c)), r.man, m, p.ends[m])
		if err != nil {
			p.err[m] = err
			continue
		}
		p.text[m] = text
		p.own = append(p.own, text)
	}
}
