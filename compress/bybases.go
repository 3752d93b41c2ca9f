package compress

import (
	"context"

	"orcomgo/bins"
	"orcomgo/compress/archive"
	"orcomgo/compress/quals"
)

// Sequences are coded given the qualities, but qualities of long reads may be coded given the sequences instead: see quals.WorthBases. It
// is the same for all slices of an input.

// triedBases is how many bases of an input, or a few more, are tried.
const triedBases = 1 << 19

// minMeanLong is the least mean length of the reads of an input whose qualities may be given the bases, in bases.
const minMeanLong = 400

// chooseByBases sets QualsByBases of the inputs.
func (p *packer) chooseByBases(ctx context.Context) error {
	for i := range p.man.Inputs {
		err := p.pool.do(ctx, func() (err error) {
			p.man.Inputs[i].QualsByBases, err = worthBases(p.r, i)
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
	all := keepsOfAll(meta)
	if in.Mate >= 0 || in.Further || !all[input][archive.Quals] || len(blocks) == 0 {
		return false, nil
	}
	b := &meta.Blocks[blocks[0]]
	if b.Records == 0 || b.Bases/uint64(b.Records) < minMeanLong {
		return false, nil
	}
	k := onlyReads()
	k[archive.Quals] = true
	l, err := loadBlock(r, blocks[0], k, true)
	if err != nil {
		return false, err
	}
	n := int(min(share(uint64(b.Records), min(triedBases, b.Bases), b.Bases)+1, uint64(b.Records)))
	c, err := gather(input, b.FirstRecord, n, []*loaded{l}, k)
	if err != nil {
		return false, err
	}
	return quals.WorthBases(quals.Input{Quals: c.quals, Lengths: c.lengths, Records: c.records, Bases: c.letters}), nil
}
