package packing

import (
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/quals"
	"orcomgo/compress/slicing"
)

// inputPrimer is the primer of an input, or of a mate of an interleaved one, while it is packed.
type inputPrimer struct {
	from   uint64 // the first record of the slice that makes it
	second uint64 // that of the next slice
	size   int    // qualities
	least  int    // how many the slice must have for a primer
	ready  chan struct{}
	primer *quals.Primer // nil without one; set when ready is closed

	decoded   chan struct{}
	asDecoded *quals.Primer // from the section, see decodeEarly; set when decoded is closed
}

// decode sets the primer as it is decoded from the section of the first slice; in has the lengths.
func (p *inputPrimer) decode(section []byte, in quals.Input) (err error) {
	defer close(p.decoded)
	if p.primer != nil {
		p.asDecoded, err = quals.DecodePrimer(section, in)
	}
	return err
}

// encodeLeading codes the qualities of the first slice of the input, and sets the primer.
func (p *inputPrimer) encodeLeading(in quals.Input) []byte {
	if len(in.Quals) < p.least {
		close(p.ready)
		return quals.Encode(in)
	}
	return quals.EncodeLeading(in, p.size, func(primer *quals.Primer) {
		p.primer = primer
		close(p.ready)
	})
}

// newInputPrimers returns the primers, yet to be set, of inputs that have several slices.
func newInputPrimers(specs []slicing.Spec, man *archive.Manifest, o *Options) map[columns.Reads]*inputPrimer {
	all, limits := make(map[columns.Reads]*inputPrimer), o.limits()
	if o.Memory > 0 && o.Memory < slicing.PrimedMemory {
		return all
	}
	first := make(map[columns.Reads]uint64)
	for i := range specs {
		for _, r := range specs[i].Reads() {
			from, seen := first[r]
			if !seen {
				first[r] = specs[i].From
			} else if in := &man.Inputs[r.Input]; all[r] == nil && !in.QualsByBases {
				size := limits.PrimerSize(in.Bases / specs[i].Together())
				all[r] = &inputPrimer{from: from, second: specs[i].From, size: size, least: limits.LeastLeading, ready: make(chan struct{}),
					decoded: make(chan struct{})}
			}
		}
	}
	return all
}
