// Package restoring gives back the text of an archive and compares it with its checksums: to unpack it, to verify it, or to give a program
// its records.
package restoring

import (
	"context"
	"runtime"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// Job is a slice to be decoded, and what of it.
type Job struct {
	source.Demand
	ends bool // where each record ends is wanted as well
	// Late says that texts of short records are left to who consumes the piece: see Piece.Decoded.
	Late bool
}

// lateRecord is how many bytes a record has, on average, at most in a text that is rendered late.
const lateRecord = 1 << 14

// Piece is the text of a job.
type Piece struct {
	Job
	Text [2][]byte // of each member wanted that is not damaged
	ends [2][]int  // where each of its records ends, if that was asked for
	Err  [2]error  // why a member has no text
	// skipped is how many records of a member are not restored, since they are not the mates that are wanted.
	skipped [2]int
	own     [][]byte // buffers that are used again when the piece was consumed
	// Decoded has, for each member wanted that is not rendered yet, its columns.
	Decoded [2]*source.Decoded
}

// Replay gives back the text of an archive, slice by slice: what was read is decoded, rendered,
// and compared with the slice's checksum where the archive has one. verify, unpack and the
// verification of pack are made of it.
type Replay struct {
	src      source.Source
	man      *archive.Manifest
	Flight   int // slices in work at once
	Pool     workers.Pool
	Texts    *workers.Buffers
	progress *workers.Meter
	genome   *workers.SliceMeter // of the pseudogenome, which counts as some of the text
}

// SlicesOnGPU is how many slices there are in work for each thread if a GPU codes qualities, which takes some tenths of a second: it codes
// those of the next ones while the CPU has those that it coded.
const SlicesOnGPU = 128

// Some threads decode the pseudogenome. Each other thread decodes the qualities and names of a slice while two of them decode basesAhead,
// of at most mostAhead slices, if half of the memory has room for them.
const (
	basesAhead = 3 << 17
	mostAhead  = 32
)

// NewReplay prepares for jobs, which may be replayed in several passes.
func NewReplay(src source.Source, stage string, threads int, memory uint64, report workers.Progress, passes ...[]Job) *Replay {
	r := &Replay{src: src, man: src.Manifest(), Pool: workers.NewPool(threads)}
	var total, units uint64
	var texts []uint64
	p, ok := src.(*source.Packed)
	for _, jobs := range passes {
		for _, j := range jobs {
			t := source.SliceBytes(r.man, j.Slice)
			_, work := columns.WorkOf(r.man, &r.man.Slices[j.Slice])
			total, units, texts = total+t, units+work, append(texts, t)
			if ok {
				p.ExpectQuals(j.Demand)
			}
		}
	}
	var bases, besides uint64
	if ok && p.Seqs == nil && len(r.man.Shared) > 0 {
		bases = 4 * r.man.Shared[0].Len // about
		besides = uint64(float64(total) * float64(columns.ByteWork*r.man.Shared[0].Len) / float64(max(units, 1)))
		p.Decoded = func(n int) { r.genome.Coded(n) }
	}
	room := workers.InMemory(memory, texts)
	if ok && p.Device != nil {
		threads *= SlicesOnGPU
	} else if idle := threads - 2; idle > 0 {
		threads = max(threads, min(threads+idle*int(min(bases/basesAhead, mostAhead)), room/2))
	}
	r.SetFlight(workers.AtMostThreads(room, threads))
	if room < 2 {
		r.Texts.Keep = 0 // there is no room for a text of the slice before while a slice is decoded
	}
	r.progress = workers.NewMeter(report, stage, total, besides)
	r.genome = &workers.SliceMeter{M: r.progress, Sizes: func() (_, _ uint64) { return besides, bases }}
	return r
}

// SetFlight sets how many slices may be in work at once.
func (r *Replay) SetFlight(n int) {
	r.Flight = n
	r.Texts = &workers.Buffers{Keep: 3 * n}
}

// WholeArchive returns jobs for all slices and members, in turn.
func WholeArchive(man *archive.Manifest) []Job {
	jobs := make([]Job, len(man.Slices))
	for i := range jobs {
		jobs[i].Demand = source.Demand{Slice: i, Want: [2]bool{true, true}, Turn: i + 1}
	}
	return jobs
}

// Run replays jobs. work, if not nil, is called on a worker when a piece has its text and its
// columns are still there, and may run for several pieces at once; consume is called for one piece
// after another, in the order of jobs. A piece is in memory until consume, or another goroutine then, has called done.
// The first error of either ends it.
func (r *Replay) Run(ctx context.Context, jobs []Job, work func(k int, p *Piece, b *source.Decoded) error,
	consume func(k int, p *Piece, done func()) error) error {
	all := make([]source.Demand, len(jobs))
	for k, j := range jobs {
		all[k] = j.Demand
	}
	decoder := r.src.Pass(all)
	produce := func(ctx context.Context, k int) (*Piece, error) {
		d := jobs[k].Demand
		// While pack writes a slice, its bases are not known before it is decoded.
		meter := &workers.SliceMeter{M: r.progress, Sizes: func() (bytes, units uint64) {
			_, units = columns.WorkOf(r.man, &r.man.Slices[d.Slice])
			return source.SliceBytes(r.man, d.Slice), units
		}}
		d.Coded = meter.Coded
		b, err := decoder.Decode(ctx, d)
		if err != nil {
			return nil, err
		}
		p := &Piece{Job: jobs[k], Err: b.Err}
		err = r.Pool.InTurn(d.Turn).Do(ctx, func() error {
			r.render(p, b)
			if work == nil {
				return nil
			}
			return work(k, p, b)
		})
		meter.End()
		return p, err
	}
	defer r.genome.End() // perhaps nothing needed all of it
	return workers.InOrderUntil(ctx, len(jobs), r.Flight, produce, func(k int, p *Piece, done func()) error {
		return consume(k, p, func() {
			for _, b := range p.own {
				r.Texts.Put(b)
			}
			done()
		})
	})
}

// render gives p the text of b. If nothing but text is wanted, columns are released on the way.
func (r *Replay) render(p *Piece, b *source.Decoded) {
	for m := range b.Cols {
		c := b.Cols[m]
		if c == nil || !p.Want[m] || p.Err[m] != nil {
			continue
		}
		if p.Job.ends {
			p.ends[m] = make([]int, c.Records)
		}
		if c.InLines() {
			p.Text[m], p.own = c.Letters, append(p.own, c.Letters)
			continue
		}
		rendering := record.RenderingOf(r.man.Options, r.man.Inputs[c.Input].Kind)
		size := columns.TextSize(rendering, c)
		if p.Late && size <= c.Records*lateRecord {
			p.Decoded[m] = b
			continue
		}
		text, err := b.Text(r.Texts.Get(size), r.man, m, p.ends[m])
		if err != nil {
			p.Err[m] = err
			continue
		}
		p.Text[m] = text
		p.own = append(p.own, text)
		if p.AsText {
			b.Cols[m] = nil
			if r.Texts.Keep == 0 {
				runtime.GC() // the next text would get new memory before the columns are collected
			}
		}
	}
}
