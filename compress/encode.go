package compress

import (
	"context"
	"math"

	"golang.org/x/sync/errgroup"

	"orcomgo/bins"
	"orcomgo/compress/archive"
	"orcomgo/compress/quals"
	"orcomgo/compress/seqs"
)

// encoder turns slices of the bins into sections.
type encoder struct {
	meta  *bins.Meta
	enc   *seqs.Encoder
	level quals.Level
	specs []sliceSpec
	keeps []keeps
	cache *blockCache
	pool  workers
	whole map[int]*wholeInput // by input; those whose slices are whole
}

// encoded is a slice ready to be written.
type encoded struct {
	slice    archive.Slice // sections still without place and checksum
	sections [][]byte      // in the order of the file
	check    sliceCheck
	min, max [2]uint32 // read lengths by member
}

// sliceCheck is what verification compares a slice with where its text need not be the
// one that was binned.
type sliceCheck struct {
	perm    []uint32 // see columns
	from    uint64
	columns [2]columnSums
}

// columnSums are XXH3-64 of columns before they were coded.
type columnSums struct{ names, quals, layout uint64 }

func sumColumns(c *columns) columnSums {
	return columnSums{archive.Hash64(c.names), archive.Hash64(c.quals), archive.Hash64(bins.MarshalLayout(nil, &c.layout))}
}

// encode returns slice i; safe for concurrent use.
func (e *encoder) encode(ctx context.Context, i int) (*encoded, error) {
	spec := e.specs[i]
	inputs := spec.inputs()
	var cols [2]*columns
	out := &encoded{slice: archive.Slice{From: spec.from, Records: spec.records, First: archive.Member{Input: spec.first}}}
	if spec.mate >= 0 {
		out.slice.Mate = &archive.Member{Input: spec.mate}
	}
	members := out.slice.Members()
	err := e.pool.do(ctx, func() error {
		for m, input := range inputs {
			c, err := e.columns(input, spec)
			if err != nil {
				return err
			}
			cols[m] = c
		}
		if e.meta.Options.OrderAny && !spec.whole {
			perm := e.enc.Sorted(spec.first, spec.from, spec.from+uint64(spec.records))
			for m := range inputs {
				cols[m].permute(perm)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.check.perm, out.check.from = cols[0].perm, cols[0].from
	for m, mem := range members {
		mem.Bases, mem.NamesLen = cols[m].bases(), uint64(len(cols[m].names))
		out.min[m], out.max[m] = lengthRange(cols[m])
	}

	// Four sections a member and one for both, each a task.
	out.sections = make([][]byte, 4*len(members)+1)
	g, ctx := errgroup.WithContext(ctx)
	task := func(section int, f func() []byte) {
		g.Go(func() error {
			return e.pool.do(ctx, func() error {
				out.sections[section] = f()
				return nil
			})
		})
	}
	for m := range members {
		c := cols[m]
		if c.quals != nil {
			task(4*m+3, func() []byte {
				return quals.Encode(quals.Input{Quals: c.quals, Lengths: c.lengths, FixedLen: c.fixed, Records: c.records}, e.level)
			})
		}
	}
	g.Go(func() error {
		return e.pool.do(ctx, func() (err error) {
			var mate *seqs.Column
			if cols[1] != nil {
				mate = seqColumn(cols[1])
			}
			out.sections[len(out.sections)-1], err = e.enc.EncodeSlice(seqColumn(cols[0]), mate)
			return err
		})
	})
	for m := range members {
		c := cols[m]
		if c.names != nil {
			task(4*m+2, func() []byte {
				if m == 1 && cols[0].names != nil {
					return encodeMateNames(c.names, cols[0].names, c.records)
				}
				return encodeNames(c.names, c.records)
			})
		}
		task(4*m+1, func() []byte { return encodeLayout(&c.layout) })
		task(4*m, func() []byte { return seqs.EncodeLengths(c.lengths, c.fixed, c.records) })
		g.Go(func() error {
			return e.pool.do(ctx, func() error {
				out.check.columns[m] = sumColumns(c)
				return nil
			})
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if !spec.whole {
		for _, input := range inputs {
			e.cache.release(input, spec.from, spec.records)
		}
	}
	return out, nil
}

// columns returns an input's part of a slice, in input order unless the slice is whole.
func (e *encoder) columns(input int, spec sliceSpec) (*columns, error) {
	if spec.whole {
		return e.whole[input].columns(spec), nil
	}
	c, _, err := e.cache.acquire(input, spec.from, spec.records)
	return c, err
}

func lengthRange(c *columns) (lo, hi uint32) {
	if c.lengths == nil {
		return c.fixed, c.fixed
	}
	lo = math.MaxUint32
	for _, n := range c.lengths {
		lo, hi = min(lo, n), max(hi, n)
	}
	return lo, hi
}

// wholeInput is an input whose records are delivered in the order of the layout, through
// all of its slices.
type wholeInput struct {
	input      int
	perm       []uint32 // the i-th record delivered
	lengths    []uint32 // in input order; nil: all are fixed
	fixed      uint32
	exceptions []bins.Exception // Read is the place in the order of delivery; ascending
}

// newWholeInput reads the lengths and exceptions of an input.
func newWholeInput(r *bins.Reader, input int, perm []uint32) (*wholeInput, error) {
	w := &wholeInput{input: input, perm: perm}
	meta := r.Meta()
	blocks := meta.BlocksOf(input)
	varied := false
	for i, b := range blocks {
		info := &meta.Blocks[b]
		varied = varied || info.Varied || info.FixedLen != meta.Blocks[blocks[0]].FixedLen
		if i == 0 {
			w.fixed = info.FixedLen
		}
	}
	if varied {
		w.lengths, w.fixed = make([]uint32, 0, len(perm)), 0
	}
	var l bins.Block
	for _, b := range blocks {
		if err := r.ReadColumns(b, bins.WantLengths|bins.WantExceptions, &l); err != nil {
			return nil, err
		}
		if varied {
			for i := range l.Records {
				w.lengths = append(w.lengths, uint32(l.Len(i)))
			}
		}
		for _, e := range l.Exceptions {
			e.Read += uint32(l.FirstRecord)
			w.exceptions = append(w.exceptions, e)
		}
	}
	if len(w.exceptions) > 0 {
		inverse := make([]uint32, len(perm))
		for i, p := range perm {
			inverse[p] = uint32(i)
		}
		for i := range w.exceptions {
			w.exceptions[i].Read = inverse[w.exceptions[i].Read]
		}
		sortExceptions(w.exceptions)
	}
	return w, nil
}

func (w *wholeInput) columns(spec sliceSpec) *columns {
	c := &columns{input: w.input, records: spec.records, fixed: w.fixed}
	lo, hi := uint32(spec.from), uint32(spec.from)+uint32(spec.records)
	c.perm = w.perm[lo:hi]
	if w.lengths != nil {
		c.lengths = make([]uint32, spec.records)
		for i, p := range c.perm {
			c.lengths[i] = w.lengths[p]
		}
	}
	c.exceptions = bins.SliceExceptions(w.exceptions, lo, hi)
	return c
}
