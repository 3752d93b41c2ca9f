package packing

import (
	"cmp"
	"context"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/quals"
	"orcomgo/compress/slicing"
	"orcomgo/compress/workers"
)

// What is chosen for each input before slices are coded.

// With Options.TwoBit, the sequences of assemblies are in two bits a base (package twobit), so that unpacking is as fast as copying.
// Else they are on the pseudogenome, as reads are, and the bases are predicted, which takes less room and more time.

// leastAssembled is how many bases the longest sequence of an assembly has at least. Reads of Illumina's instruments are shorter, also
// mates that were merged.
const leastAssembled = 701

// CanBeTwoBit reports whether sequences of an input can be in two bits a base, the longest of which has so many bases.
func CanBeTwoBit(o record.Options, in *record.Input, longest uint32) bool {
	return !o.OrderAny && in.Kind == record.FASTA && in.Mate < 0 && !in.Further && !in.Interleaved && longest >= leastAssembled
}

// chooseTwoBit returns, by input, whether sequences are coded in two bits a base: of FASTA without mates and in its order, if a sequence is
// long.
func chooseTwoBit(ctx context.Context, r *bins.Reader, wanted bool) ([]bool, error) {
	meta := r.Meta()
	chosen := slicing.OfAll(meta, false)
	if !wanted {
		return chosen, nil
	}
	for i := range meta.Blocks {
		b := &meta.Blocks[i]
		in := &meta.Inputs[b.Input]
		if chosen[b.Input] || !CanBeTwoBit(meta.Options, in, uint32(min(b.Bases, leastAssembled))) {
			continue
		}
		var block bins.Block
		if err := r.ReadColumns(i, bins.WantLengths, &block); err != nil {
			return nil, err
		}
		_, longest := block.Lengths.Range(b.Records)
		chosen[b.Input] = CanBeTwoBit(meta.Options, in, longest)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// Sequences are coded given the qualities, but qualities of long reads may be coded given the sequences instead: see quals.WorthBases. It
// is the same for all slices of an input.

// triedBases is how many bases of an input, or a few more, are tried.
const triedBases = 1 << 19

// worthBases reports whether the qualities of an input should be given the bases.
func worthBases(r *bins.Reader, input int, kept columns.Kept) (bool, error) {
	meta := r.Meta()
	in, blocks := &meta.Inputs[input], meta.BlocksOf(input)
	if in.Mate >= 0 || in.Further || in.Interleaved || !kept[archive.Quals] || len(blocks) == 0 {
		return false, nil
	}
	b := &meta.Blocks[blocks[0]]
	if b.Records == 0 || b.Bases/uint64(b.Records) < columns.MinMeanLong {
		return false, nil
	}
	k := columns.Only(archive.Lengths, archive.Seqs, archive.Quals)
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

// mayHavePrimers reports whether the qualities of the slices of an input begin with a primer, if it has several. Those of long reads may
// be given the bases instead.
func mayHavePrimers(man *archive.Manifest, input int, o *Options) bool {
	in := &man.Inputs[input]
	return (o.Memory == 0 || o.Memory >= slicing.PrimedMemory) &&
		columns.KeptOf(man.Options, in.Kind)[archive.Quals] && in.Bases < columns.MinMeanLong*in.Records
}

// sliceTexts returns how much text the slices of each input aim for, if it is packed by these options.
func sliceTexts(man *archive.Manifest, o *Options) []uint64 {
	all, limits := make([]uint64, len(man.Inputs)), o.limits()
	for i := range all {
		mates := slicing.Unit{Interleaved: man.Inputs[i].Interleaved}.Together() // which have models of their own
		all[i] = cmp.Or(o.SliceText, limits.Text)
		if o.SliceText == 0 && man.Inputs[i].Bases/mates >= limits.SmallFrom && mayHavePrimers(man, i, o) {
			all[i] = limits.SmallText
		}
		if in := &man.Inputs[i]; o.SliceText == 0 && in.Records > 0 && in.Bases >= columns.MinMeanLong*in.Records {
			all[i] = min(all[i], limits.LongText)
		}
		if man.Inputs[i].TwoBit { // it is decoded in little time, and many slices can be decoded side by side
			all[i] = max(all[i]/4, 1)
		}
		all[i] *= mates
	}
	return all
}
