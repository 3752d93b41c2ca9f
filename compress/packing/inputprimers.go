package packing

import (
	"orcomgo/bins"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/quals"
	"orcomgo/compress/slicing"
)

// mayHavePrimers reports whether the qualities of the slices of an input begin with a primer, if it has several. Those of long reads may
// be given the bases instead.
func mayHavePrimers(m *bins.Meta, input int, o *Options) bool {
	in := &m.Inputs[input]
	return (o.Memory == 0 || o.Memory >= slicing.PrimedMemory) &&
		columns.KeptOf(m.Options, in.Kind)[archive.Quals] && slicing.BasesOf(m, input) < minMeanLong*in.Records
}

// inputPrimer is the primer of an input, while it is packed.
type inputPrimer struct {
	from   uint64 // the first record of the slice that makes it
	size   int    // qualities
	ready  chan struct{}
	primer *quals.Primer // nil without one; set when ready is closed
}

// encodeLeading codes the qualities of the first slice of the input, and sets the primer.
func (p *inputPrimer) encodeLeading(in quals.Input) []byte {
	if len(in.Quals) < slicing.LeastLeading {
		close(p.ready)
		return quals.Encode(in)
	}
	return quals.EncodeLeading(in, p.size, func(primer *quals.Primer) {
		p.primer = primer
		close(p.ready)
	})
}

// newInputPrimers returns the primers, yet to be set, of inputs that have several slices.
func newInputPrimers(specs []slicing.Spec, man *archive.Manifest, memory uint64) map[int]*inputPrimer {
	all := make(map[int]*inputPrimer)
	if memory > 0 && memory < slicing.PrimedMemory {
		return all
	}
	first := make(map[int]uint64)
	for i := range specs {
		for _, input := range specs[i].Inputs() {
			from, seen := first[input]
			if !seen {
				first[input] = specs[i].From
			} else if all[input] == nil && !man.Inputs[input].QualsByBases {
				all[input] = &inputPrimer{from: from, size: slicing.PrimerSize(man.Inputs[input].Bases), ready: make(chan struct{})}
			}
		}
	}
	return all
}

// sliceTexts returns how much text the slices of each input aim for, if it is packed by these options. twoBit is that of chooseTwoBit.
func sliceTexts(m *bins.Meta, twoBit []bool, o *Options) []uint64 {
	all := make([]uint64, len(m.Inputs))
	for i := range all {
		all[i] = o.SliceText
		if all[i] == 0 && mayHavePrimers(m, i, o) && slicing.BasesOf(m, i) >= slicing.SmallFrom {
			all[i] = slicing.SmallSliceText
		} else if all[i] == 0 {
			all[i] = slicing.SliceText
		}
		if twoBit[i] {
			all[i] = twoBitText(all[i])
		}
	}
	return all
}
