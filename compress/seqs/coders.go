package seqs

import (
	"math"

	"orcomgo/bins"
	"orcomgo/compress/basemodel"
)

// twoCodersWithRepeats is the length from which segments of the base model have two coders where there are repeats, in bases: groups of
// genomes of up to 10^6 bases have one coder then, as each genome alone, since two take a fifth more processor time.
const twoCodersWithRepeats = 3 << 19

// twoCoders returns the length from which segments of the base model have two coders: none have if one is set.
func twoCoders(repeats, one bool) int {
	switch {
	case one:
		return math.MaxInt32
	case repeats:
		return twoCodersWithRepeats
	}
	return basemodel.TwoCoders
}

// assemblyCoverage is how many times as many bases as there are under the base model an assembly has at most. Of reads that cover a genome
// more often, the pseudogenome has two coders when they are archived alone, too.
const assemblyCoverage = 2

// wantsOneCoder reports whether each segment of a pseudogenome, of which so many bases are under the base model, is to have one coder,
// though it would have two. It is so for several assemblies that share it: alone, each is literals, which have one coder, and two coders
// take up to a third more processor time, half of that for the memory of a second model.
func wantsOneCoder(m *bins.Meta, bases int, repeats bool) bool {
	if basemodel.Coders(bases, twoCoders(repeats, false)) == basemodel.Coders(bases, twoCoders(repeats, true)) {
		return false
	}
	samples := make(map[string]uint64) // how many bases each has
	for i := range m.Blocks {
		in := &m.Inputs[m.Blocks[i].Input]
		if in.Source == nil || in.Source.Sample == "" || in.Kind.Format().Quals {
			return false
		}
		samples[in.Source.Sample] += m.Blocks[i].Bases
	}
	for _, n := range samples {
		if n > assemblyCoverage*uint64(bases) {
			return false
		}
	}
	return len(samples) > 1
}
