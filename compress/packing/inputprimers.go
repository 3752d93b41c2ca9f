package packing

import (
	"orcomgo/compress/archive"
	"orcomgo/compress/quals"
	"orcomgo/compress/slicing"
)

// inputPrimer is the primer of an input, while it is packed.
type inputPrimer struct {
	from   uint64 // the first record of the slice that makes it
	size   int    // qualities
	least  int    // how many the slice must have for a primer
	ready  chan struct{}
	primer *quals.Primer // nil without one; set when ready is closed
}

// encodeLeading codes the qualities of the first slice of the input, and sets the primer.
func (p *inputPrimer) encodeLeading(in quals.Input, level quals.Level) []byte {
	if len(in.Quals) < p.least {
		close(p.ready)
		return quals.Encode(in, level)
	}
	return quals.EncodeLeading(in, level, p.size, func(primer *quals.Primer) {
		p.primer = primer
		close(p.ready)
	})
}

// newInputPrimers returns the primers, yet to be set, of inputs that have several slices.
func newInputPrimers(specs []slicing.Spec, man *archive.Manifest, o *Options) map[int]*inputPrimer {
	all, limits := make(map[int]*inputPrimer), o.limits()
	if o.Memory > 0 && o.Memory < slicing.PrimedMemory {
		return all
	}
	first := make(map[int]uint64)
	for i := range specs {
		for _, input := range specs[i].Inputs() {
			from, seen := first[input]
			if !seen {
				first[input] = specs[i].From
			} else if all[input] == nil && !man.Inputs[input].QualsByBases {
				all[input] = &inputPrimer{from: from, size: limits.PrimerSize(man.Inputs[input].Bases), least: limits.LeastLeading,
					ready: make(chan struct{})}
			}
		}
	}
	return all
}
