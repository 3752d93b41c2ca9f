package packing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"orcomgo/bins/parse"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/quals"
	"orcomgo/compress/slicing"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// earlyQuals are qualities that are decoded, and compared with those that were coded, before their slice is written. That waits for its
// sequences, and these for the pseudogenome; while it is made, a GPU, or some of many threads, would have little else to do.
type earlyQuals struct {
	most uint64        // bytes that may be held until the slices are verified; 0: none are decoded early
	held atomic.Uint64 // of these
}

// earlyShare is one in so many bytes of memory that qualities decoded early may take.
const earlyShare = 16

// hold reports whether so many bytes more may be held, and notes that they are.
func (q *earlyQuals) hold(n uint64) bool {
	held := q.held.Add(n) <= q.most
	if !held {
		q.release(n)
	}
	return held
}

// release notes that so many bytes less are held.
func (q *earlyQuals) release(n uint64) { q.held.Add(-n) }

// decodeEarly returns the qualities of member m of a slice, decoded from their section; nothing if they are to be decoded later.
func (e *encoder) decodeEarly(ctx context.Context, spec *slicing.Spec, c *columns.Columns, m int,
	section []byte) (known source.KnownQuals, err error) {
	if e.early.most == 0 {
		return known, nil
	}
	in := quals.Input{Lengths: c.Lengths, Records: c.Records, Device: e.device}
	p, pool, n := e.primers[c.Reads()], e.pool.InTurn(spec.Turn), uint64(len(c.Quals))
	if e.device != nil {
		pool = e.pool.InTurn(0)
	}
	leads := p != nil && p.from == c.From
	if leads {
		err = pool.Do(ctx, func() error { return p.decode(section, in) })
	}
	// The first two of an input are decoded from the file, by the primer as it is found there.
	if err == nil && !leads && (p == nil || p.second != c.From) && n > 0 && !c.ByBases && e.early.hold(n) {
		if p != nil {
			if err := workers.Wait(ctx, p.decoded); err != nil {
				return known, err
			}
			in.Primer = p.asDecoded
		}
		err = pool.Do(ctx, func() (err error) {
			known = source.KnownQuals{Len: uint64(len(section)), Hash: archive.Hash64(section)}
			known.Quals, err = quals.Decode(section, in)
			if err == nil && !bytes.Equal(known.Quals, c.Quals) {
				err = errors.New("others than were coded")
			}
			return err
		})
	}
	if err != nil && ctx.Err() == nil {
		s := spec.Slice()
		err = e.verificationError(ctx, fmt.Errorf("%s: qualities: %w: %w", source.WhereRecords(&e.man, &s, m), parse.ErrCorrupt, err))
	}
	return known, err
}
