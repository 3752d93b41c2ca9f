package compress

import (
	"context"
	"sync"

	"orcomgo/compress/archive"
	"orcomgo/compress/quals"
	"orcomgo/compress/seqs"
)

// If an input has several slices, the qualities of all begin with the models as they are after the first qualities of its first slice: see
// quals.Primer.

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
