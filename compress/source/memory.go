package source

import (
	"context"
	"fmt"
	"sync/atomic"

	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/workers"
)

// MemoryLimit is how many bytes a slice may take when it is decoded, in the whole process; 0: any.
var MemoryLimit atomic.Uint64

// refused decodes nothing, since that would take too much memory.
type refused struct{ err error }

func (r refused) Decode(context.Context, Demand) (*Decoded, error) { return nil, r.err }

// checkMemory returns an error if one of demands takes more memory than MemoryLimit.
func (p *Packed) checkMemory(demands []Demand) error {
	limit := MemoryLimit.Load()
	if limit == 0 {
		return nil
	}
	beside, need := workers.Beside+2*p.Man.SharedLen(), uint64(0) // coded, and two bits a base
	most := limit + limit/16
	for _, d := range demands {
		n, s := p.memoryOf(d), &p.Man.Slices[d.Slice]
		if beside+n > most && 0 < d.First && d.First < s.Records && !p.needsAll(s, d) {
			n = workers.Share(n, uint64(d.First), uint64(s.Records))
		}
		need = max(need, beside+n)
	}
	if need > most {
		return fmt.Errorf("%s: to decode a slice of it takes --memory %dMB or more, not %dMB", p.Archive.Paths()[0],
			need/1e6+1, limit/1e6)
	}
	return nil
}

// memoryOf returns about how many bytes all records of a demand take by the manifest: their columns, and their text.
func (p *Packed) memoryOf(d Demand) (n uint64) {
	s := &p.Man.Slices[d.Slice]
	for m, mem := range s.Members() {
		if !d.Want[m] && !s.Halves() {
			continue
		}
		in := &p.Man.Inputs[mem.Input]
		sizes := [archive.Columns]uint64{archive.Names: mem.NamesLen, archive.Quals: mem.Bases, archive.Seqs: mem.Bases}
		if in.MinLen < in.MaxLen {
			sizes[archive.Lengths] = 4 * uint64(s.Records)
		}
		if in.TwoBit && d.AsText {
			sizes[archive.Seqs] /= 4
		}
		of, kept := uint64(0), p.Kept[mem.Input].Wanted(d.Columns)
		for c, size := range sizes {
			if kept[c] {
				of += size
			}
		}
		n += 2 * of
		if d.Columns == (columns.Kept{}) {
			n += max(of, mem.TextLen) - of
		}
	}
	return n
}
