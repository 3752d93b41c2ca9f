package compress

import (
	"context"
	"slices"
	"sync"

	"orcomgo/bins"
	"orcomgo/compress/archive"
	"orcomgo/compress/quals"
	"orcomgo/compress/seqs"
)

// If an input has several slices, the qualities of all begin with the models as they are after the first qualities of its first slice: see
// quals.Primer.

// Variables so that tests can have small primers.
var (
	// primerBytes is how many qualities a primer is made of at most, but for the end of the last read.
	primerBytes = 8 << 20
	// leastLeading is how many the first slice of an input must have.
	leastLeading = 1 << 20
)

// primerShare: a primer is made of one in so many qualities of its input, if that is at least leastLeading and at most primerBytes. It has
// to be decoded for any record of the input.
const primerShare = 16

// primerSize returns how many qualities the primer of an input of so many is made of at most.
func primerSize(quals uint64) int {
	return min(max(leastLeading, int(min(quals/primerShare, 1<<30))), primerBytes)
}

// mayHavePrimers reports whether the qualities of the slices of an input begin with a primer, if it has several. Those of long reads may
// be given the bases instead.
func mayHavePrimers(m *bins.Meta, input int, o *PackOptions) bool {
	in := &m.Inputs[input]
	return (o.Memory == 0 || o.Memory >= primedMemory) && o.Level == LevelDefault &&
		keepsOf(m.Options, in.Kind)[archive.Quals] && basesOf(m, input) < minMeanLong*in.Records
}

// primedMemory is how much memory packing must be allowed for primers.
const primedMemory = 1 << 30

// inputPrimer is the primer of an input, while it is packed.
type inputPrimer struct {
	from   uint64 // the first record of the slice that makes it
	size   int    // qualities
	ready  chan struct{}
	primer *quals.Primer // nil without one; set when ready is closed
}

// encodeLeading codes the qualities of the first slice of the input, and sets the primer.
func (p *inputPrimer) encodeLeading(in quals.Input, level quals.Level) []byte {
	if len(in.Quals) < leastLeading {
		close(p.ready)
		return quals.Encode(in, level)
	}
	return quals.EncodeLeading(in, level, p.size, func(primer *quals.Primer) {
		p.primer = primer
		close(p.ready)
	})
}

// newInputPrimers returns the primers, yet to be set, of inputs that have several slices.
func newInputPrimers(specs []sliceSpec, man *archive.Manifest, memory uint64) map[int]*inputPrimer {
	all := make(map[int]*inputPrimer)
	if memory > 0 && memory < primedMemory || !man.ChunkedHashes { // which an archive of version 6 has
		return all
	}
	first := make(map[int]uint64)
	for i := range specs {
		for _, input := range specs[i].inputs() {
			from, seen := first[input]
			if !seen {
				first[input] = specs[i].from
			} else if all[input] == nil && !man.Inputs[input].QualsByBases {
				all[input] = &inputPrimer{from: from, size: primerSize(man.Inputs[input].Bases), ready: make(chan struct{})}
			}
		}
	}
	return all
}

// primed reports whether an input has a primer. All slices are coded.
func (e *encoder) primed() bool {
	for _, p := range e.primers {
		select {
		case <-p.ready:
			if p.primer != nil {
				return true
			}
		default: // its qualities are not kept
		}
	}
	return false
}

// afterPrimer runs f on a worker once there is the primer, or it is known that there is none.
func afterPrimer(ctx context.Context, pool workers, p *inputPrimer, f func() error) error {
	if err := waitFor(ctx, p.ready); err != nil {
		return err
	}
	return pool.do(ctx, f)
}

// primers keeps those of the inputs that are being decoded.
type primers struct {
	mu   sync.Mutex
	last []*primerEntry // the most recent one last
}

// keptPrimers is how many primers are kept. One takes about 11 MB.
const keptPrimers = 4

// primerEntry is the primer of an input.
type primerEntry struct {
	input  int
	done   chan struct{} // closed when the others are set
	primer *quals.Primer
	err    error
}

// get returns the primer of an input, of which it decodes the first qualities. The caller holds a worker, which another may have while it
// waits.
func (l *primers) get(p *packed, input int) (*quals.Primer, error) {
	e, mine := l.entry(input)
	if mine {
		if e.primer, e.err = p.decodePrimer(input); e.err != nil {
			e.err = &leadError{"the first ones of the input", e.err}
		}
		close(e.done)
	}
	select {
	case <-e.done:
	default:
		p.pool.releaseWhile(func() { <-e.done })
	}
	return e.primer, e.err
}

// ahead decodes the primers of inputs side by side, as far as there are any, before slices are decoded that need them. Each takes a worker.
// Errors are told where a primer is needed.
func (l *primers) ahead(ctx context.Context, p *packed, inputs []int) {
	var all sync.WaitGroup
	for _, input := range inputs[:min(len(inputs), keptPrimers)] {
		all.Go(func() {
			p.pool.do(ctx, func() error {
				_, err := l.get(p, input)
				return err
			})
		})
	}
	all.Wait()
}

// withQuals returns the inputs whose qualities are kept.
func (p *packed) withQuals() (inputs []int) {
	for input, keeps := range p.keeps {
		if keeps[archive.Quals] {
			inputs = append(inputs, input)
		}
	}
	return inputs
}

// afterFirst returns the inputs whose qualities some jobs restore from slices after their first one, which may begin with primers.
func (p *packed) afterFirst(passes [][]job) (inputs []int) {
	first := make(map[int]int)
	for i := range p.man.Slices {
		for _, mem := range p.man.Slices[i].Members() {
			if _, seen := first[mem.Input]; !seen {
				first[mem.Input] = i
			}
		}
	}
	for _, jobs := range passes {
		for _, j := range jobs {
			for m, mem := range p.man.Slices[j.slice].Members() {
				if wanted := j.columnsOf(p.keeps[mem.Input]); !j.want[m] || !wanted[archive.Quals] || j.slice == first[mem.Input] {
					continue
				}
				if !slices.Contains(inputs, mem.Input) {
					inputs = append(inputs, mem.Input)
				}
			}
		}
	}
	return inputs
}

// entry returns that of an input, and whether the caller has to set it.
func (l *primers) entry(input int) (e *primerEntry, mine bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, e := range l.last {
		if e.input == input {
			l.last = append(append(l.last[:i:i], l.last[i+1:]...), e)
			return e, false
		}
	}
	if len(l.last) >= keptPrimers {
		l.last = append(l.last[:0], l.last[1:]...)
	}
	e = &primerEntry{input: input, done: make(chan struct{})}
	l.last = append(l.last, e)
	return e, true
}

// decodePrimer decodes the primer of an input from its first slice.
func (p *packed) decodePrimer(input int) (*quals.Primer, error) {
	for i := range p.man.Slices {
		s := &p.man.Slices[i]
		for m, mem := range s.Members() {
			if mem.Input != input {
				continue
			}
			read := func(c archive.Column) (data []byte, what string, err error) {
				what = c.String() + " of " + whereRecords(p.man, s, m)
				data, err = p.r.Read(*s.Section(c, m), nil, what)
				return data, what, err
			}
			data, what, err := read(archive.Lengths)
			if err != nil {
				return nil, err
			}
			in := quals.Input{Records: s.Records}
			if in.Lengths, err = seqs.DecodeLengths(data, s.Records); err != nil {
				return nil, p.r.Corrupt(what, err)
			}
			if in.Lengths.Sum(0, s.Records) != mem.Bases { // which bounds what is decoded
				return nil, p.r.Corrupt(what, seqs.ErrCorrupt)
			}
			if data, what, err = read(archive.Quals); err != nil {
				return nil, err
			}
			primer, err := quals.DecodePrimer(data, in)
			if err != nil {
				return nil, p.r.Corrupt(what, err)
			}
			return primer, nil
		}
	}
	return nil, p.r.Corrupt(archive.Quals.String(), quals.ErrCorrupt) // no slice has the input, then none needs its primer
}
