package packing

import (
	"context"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/slicing"
)

// With Options.TwoBit, the sequences of assemblies are in two bits a base (package twobit), so that unpacking is as fast as copying.
// Else they are on the pseudogenome, as reads are, and the bases are predicted, which takes less room and more time.

// leastAssembled is how many bases the longest sequence of an assembly has at least. Reads of Illumina's instruments are shorter, also
// mates that were merged.
const leastAssembled = 701

// ManyNames is how many names a slice of such an input has at least if they are to be decoded fast. Fewer take little time anyway.
const ManyNames = 1024

// chooseTwoBit returns, by input, whether sequences are coded in two bits a base: of FASTA without mates and in its order, if a sequence is
// long.
func chooseTwoBit(ctx context.Context, r *bins.Reader, wanted bool) ([]bool, error) {
	meta := r.Meta()
	chosen := slicing.OfAll(meta, false)
	if !wanted || meta.Options.OrderAny {
		return chosen, nil
	}
	for i := range meta.Blocks {
		b := &meta.Blocks[i]
		in := &meta.Inputs[b.Input]
		if in.Kind != record.FASTA || in.Mate >= 0 || in.Further || chosen[b.Input] || b.Bases < leastAssembled {
			continue
		}
		var block bins.Block
		if err := r.ReadColumns(i, bins.WantLengths, &block); err != nil {
			return nil, err
		}
		_, longest := block.Lengths.Range(b.Records)
		chosen[b.Input] = longest >= leastAssembled
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// twoBitText returns how much text a slice in two bits a base has where others have so much. It is decoded in little time,
// and many slices can be decoded side by side.
func twoBitText(text uint64) uint64 { return max(text/4, 1) }
