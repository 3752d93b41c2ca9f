package overlap

import (
	"context"
	"encoding/binary"
	"sync/atomic"

	"orcomgo/bases"
)

// longBatch is how many bases EachLong returns at a time, roughly.
const longBatch = 1 << 26

// HasLong reports whether any of the reads that Build laid out has least bases or more. It reads no more than lengths from the bins. Errors
// are those of reading them, or ctx.Err().
func (p *Pseudogenome) HasLong(ctx context.Context, least int) (bool, error) {
	rs := p.builder.records
	if !rs.variedLengths {
		return rs.count > 0 && int(rs.fixedLength) >= least, nil
	}
	var found atomic.Bool
	err := rs.lengths(ctx, func(_ uint32, length int) {
		if length >= least {
			found.Store(true)
		}
	})
	return found.Load(), err
}

// EachLong calls f with the reads of least bases or more among those that Build laid out, some at a time; they are valid during the call.
// The order is always the same. It returns the first error of f, one of reading the bins, or ctx.Err().
func (p *Pseudogenome) EachLong(ctx context.Context, least int, f func(reads []bases.Read) error) error {
	b := &p.builder
	limit := longBatch
	if b.config.Memory > 0 {
		limit = int(min(longBatch, max(b.config.Memory/4, 1<<20)))
	}
	var words []uint64
	var reads []bases.Read
	var ends []int
	flush := func() error {
		if len(reads) == 0 {
			return nil
		}
		from := 0
		for i := range reads {
			reads[i].Bases = words[from:ends[i]]
			from = ends[i]
		}
		err := f(reads)
		words, reads, ends = words[:0], reads[:0], ends[:0]
		return err
	}
	return b.eachShare(ctx, func(rd *Reads, _ int) error {
		for i := range rd.Count() {
			n := rd.len(i)
			if n < least {
				continue
			}
			if len(reads) > 0 && len(words)+n/bases.PerWord > limit/bases.PerWord {
				if err := flush(); err != nil {
					return err
				}
			}
			words = append(appendWords(words, rd.bases(i), n, false), 0, 0)
			reads, ends = append(reads, bases.Read{N: n}), append(ends, len(words))
		}
		if err := flush(); err != nil {
			return err
		}
		return ctx.Err()
	})
}

// Append appends n bases to the pseudogenome. No read is placed there.
func (p *Pseudogenome) Append(b bases.Words, n int) {
	packed := make([]byte, 0, 8*len(b)) // two words follow the bases
	for _, w := range b {
		packed = binary.LittleEndian.AppendUint64(packed, w)
	}
	s := &p.builder.seq
	s.appendPacked(packed, n)
	p.Packed, p.Len = s.packed, s.n
}
