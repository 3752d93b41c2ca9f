package source

import (
	"context"
	"sync"

	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/quals"
	"orcomgo/compress/seqs"
	"orcomgo/compress/workers"
	"orcomgo/internal/tasks"
)

// If an input has several slices, the qualities of all begin with the models as they are after the first qualities of its first slice: see
// quals.Primer.

// primers decodes primers, and keeps those of the inputs that are being decoded.
type primers struct {
	archive *archive.Reader
	pool    workers.Pool
	decoded tasks.Cache[columns.Reads, *quals.Primer]
}

// keptPrimers is how many primers are kept. One takes about 11 MB.
const keptPrimers = 4

// get returns the primer of an input, or of a mate of an interleaved one, of which it decodes the first qualities. coded, if not nil, is
// told how many more are. The caller has a place of the pool, which another may have while it waits.
func (l *primers) get(r columns.Reads, coded func(n int)) (*quals.Primer, error) {
	primer, err := l.decoded.Get(r, l.pool.WaitOutside, func() (*quals.Primer, error) {
		primer, err := l.decode(r, coded)
		if err != nil {
			err = &neededError{"the first ones of the input", err}
		}
		return primer, err
	})
	l.decoded.Shrink(func(age int, _ *quals.Primer) bool { return age >= keptPrimers })
	return primer, err
}

// ahead decodes the primers of inputs side by side, as far as there are any, before slices are decoded that need them. Each takes a place
// of the pool. Errors are told where a primer is needed.
func (l *primers) ahead(ctx context.Context, inputs []int) {
	var all sync.WaitGroup
	for _, input := range inputs[:min(len(inputs), keptPrimers)] {
		all.Go(func() {
			l.pool.Do(ctx, func() error {
				_, err := l.get(columns.Reads{Input: input}, nil)
				return err
			})
		})
	}
	all.Wait()
}

// decode decodes the primer of an input, or of a mate, from its first slice.
func (l *primers) decode(r columns.Reads, coded func(n int)) (*quals.Primer, error) {
	man := l.archive.Manifest()
	for i := range man.Slices {
		s := &man.Slices[i]
		for m, mem := range s.Members() {
			if mem.Input != r.Input || s.Halves() && r.Second != (m == 1) {
				continue
			}
			read := func(c archive.Column) (data []byte, what string, err error) {
				what = columnOf(man, c, s, m)
				data, err = l.archive.Read(*s.Section(c, m), nil, what)
				return data, what, err
			}
			data, what, err := read(archive.Lengths)
			if err != nil {
				return nil, err
			}
			in := quals.Input{Records: s.MemberRecords(), Progress: coded}
			if in.Lengths, err = seqs.DecodeLengths(data, in.Records); err != nil {
				return nil, l.archive.Corrupt(what, err)
			}
			if in.Lengths.Sum(0, in.Records) != mem.Bases { // which bounds what is decoded
				return nil, l.archive.Corrupt(what, seqs.ErrCorrupt)
			}
			if data, what, err = read(archive.Quals); err != nil {
				return nil, err
			}
			primer, err := quals.DecodePrimer(data, in)
			if err != nil {
				return nil, l.archive.Corrupt(what, err)
			}
			return primer, nil
		}
	}
	return nil, l.archive.Corrupt(archive.Quals.String(), quals.ErrCorrupt) // no slice has the input, then none needs its primer
}
