package packing

import (
	"context"

	"orcomgo/bins"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/quals"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// Sequences are coded given the qualities, but qualities of long reads may be coded given the sequences instead: see quals.WorthBases. It
// is the same for all slices of an input.

// triedBases is how many bases of an input, or a few more, are tried.
const triedBases = 1 << 19

// minMeanLong is the least mean length of the reads of an input whose qualities may be given the bases, in bases.
const minMeanLong = 400

// chooseByBases sets QualsByBases of the inputs.
func (p *Packer) chooseByBases(ctx context.Context) error {
	for i := range p.man.Inputs {
		err := p.Pool.Do(ctx, func() (err error) {
			p.man.Inputs[i].QualsByBases, err = worthBases(p.R, i)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// worthBases reports whether the qualities of an input should be given the bases.
func worthBases(r *bins.Reader, input int) (bool, error) {
	meta := r.Meta()
	in, blocks := &meta.Inputs[input], meta.BlocksOf(input)
	all := source.KeptOfAll(meta)
	if in.Mate >= 0 || in.Further || !all[input][archive.Quals] || len(blocks) == 0 {
		return false, nil
	}
	b := &meta.Blocks[blocks[0]]
	if b.Records == 0 || b.Bases/uint64(b.Records) < minMeanLong {
		return false, nil
	}
	k := columns.OnlyReads()
	k[archive.Quals] = true
	l, err := columns.LoadBlock(r, blocks[0], k, true)
	if err != nil {
		return false, err
	}
	n := int(min(workers.Share(uint64(b.Records), min(triedBases, b.Bases), b.Bases)+1, uint64(b.Records)))
	c, err := columns.Gather(input, b.FirstRecord, n, []*columns.Block{l}, k)
	if err != nil {
		return false, err
	}
	return quals.WorthBases(quals.Input{Quals: c.Quals, Lengths: c.Lengths, Records: c.Records, Bases: c.Letters}), nil
}
