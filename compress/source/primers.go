package source

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
	Last []*primerEntry // the most recent one last
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
func (l *primers) get(p *Packed, input int) (*quals.Primer, error) {
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
		p.Pool.ReleaseWhile(func() { <-e.done })
	}
	return e.primer, e.err
}

// Ahead decodes the primers of inputs side by side, as far as there are any, before slices are decoded that need them. Each takes a worker.
// Errors are told where a primer is needed.
func (l *primers) Ahead(ctx context.Context, p *Packed, inputs []int) {
	var all sync.WaitGroup
	for _, input := range inputs[:min(len(inputs), keptPrimers)] {
		all.Go(func() {
			p.Pool.Do(ctx, func() error {
				_, err := l.get(p, input)
				return err
			})
		})
	}
	all.Wait()
}

// WithQuals returns the inputs whose qualities are kept.
func (p *Packed) WithQuals() (inputs []int) {
	for input, keeps := range p.Kept {
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
	for i, e := range l.Last {
		if e.input == input {
			l.Last = append(append(l.Last[:i:i], l.Last[i+1:]...), e)
			return e, false
		}
	}
	if len(l.Last) >= keptPrimers {
		l.Last = append(l.Last[:0], l.Last[1:]...)
	}
	e = &primerEntry{input: input, done: make(chan struct{})}
	l.Last = append(l.Last, e)
	return e, true
}

// decodePrimer decodes the primer of an input from its first slice.
func (p *Packed) decodePrimer(input int) (*quals.Primer, error) {
	for i := range p.Man.Slices {
		s := &p.Man.Slices[i]
		for m, mem := range s.Members() {
			if mem.Input != input {
				continue
			}
			read := func(c archive.Column) (data []byte, what string, err error) {
				what = c.String() + " of " + WhereRecords(p.Man, s, m)
				data, err = p.Archive.Read(*s.Section(c, m), nil, what)
				return data, what, err
			}
			data, what, err := read(archive.Lengths)
			if err != nil {
				return nil, err
			}
			in := quals.Input{Records: s.Records}
			if in.Lengths, err = seqs.DecodeLengths(data, s.Records); err != nil {
				return nil, p.Archive.Corrupt(what, err)
			}
			if in.Lengths.Sum(0, s.Records) != mem.Bases { // which bounds what is decoded
				return nil, p.Archive.Corrupt(what, seqs.ErrCorrupt)
			}
			if data, what, err = read(archive.Quals); err != nil {
				return nil, err
			}
			primer, err := quals.DecodePrimer(data, in)
			if err != nil {
				return nil, p.Archive.Corrupt(what, err)
			}
			return primer, nil
		}
	}
	return nil, p.Archive.Corrupt(archive.Quals.String(), quals.ErrCorrupt) // no slice has the input, then none needs its primer
}
