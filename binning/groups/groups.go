// Package groups finds out which samples belong together: those that share so much sequence that one archive of all is smaller than
// one of each.
//
// Of each sample there is a sketch, some of its k-mers (Sketcher). Samples whose sketches have a large share of the k-mers in
// common are joined by an edge, and the graph is divided into groups by label propagation.
package groups

import (
	"cmp"
	"slices"

	"orcomgo/internal/tasks"
)

// LeastContained is which share of the k-mers of a sample must be in another one for an edge between them: that of genomes in which
// about 94 of 100 bases are equal (0.94^21 = 0.27), as strains of a species have.
const LeastContained = 0.25

// nearest is with how many samples after it, in the order of samples that have a k-mer, a sample is compared because of that
// k-mer. It bounds the work where very many samples are alike; they are all joined through others.
const nearest = 256

// edgesOf compares all sketches on so many threads and returns an edge for each two that have at least LeastContained of the k-mers of one
// of them in common. The weight is that share in thousandths. The edges are sorted.
func edgesOf(sketches []*Sketch, threads int) []edge {
	type kmer struct {
		hash   uint64
		sample uint32
	}
	var all []kmer
	for i, s := range sketches {
		for _, hash := range s.Solid {
			all = append(all, kmer{hash, uint32(i)})
		}
	}
	slices.SortFunc(all, func(a, b kmer) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.sample, b.sample)) })
	places := make([][]int, len(sketches)) // of the k-mers of each sample in all
	for at, k := range all {
		places[k.sample] = append(places[k.sample], at)
	}
	found := make([][]edge, len(sketches))
	tasks.Each(len(sketches), threads, func(_, i int) {
		others := map[uint32]bool{}
		for _, at := range places[i] {
			for k := at + 1; k < min(at+1+nearest, len(all)) && all[k].hash == all[at].hash; k++ {
				others[all[k].sample] = true
			}
		}
		for o := range others {
			share := max(sketches[i].Contained(sketches[o]), sketches[o].Contained(sketches[i]))
			if share >= LeastContained {
				found[i] = append(found[i], edge{uint32(i), o, uint32(1000 * share)})
			}
		}
		slices.SortFunc(found[i], func(a, b edge) int { return int(a.b) - int(b.b) })
	})
	return slices.Concat(found...)
}

// Find divides samples into groups: it returns the numbers of the samples of each, both in ascending order.
func Find(sketches []*Sketch, threads int) [][]int {
	var list [][]int
	at := make(map[uint32]int) // by label
	for v, label := range propagate(len(sketches), edgesOf(sketches, threads)) {
		if _, known := at[label]; !known {
			at[label] = len(list)
			list = append(list, nil)
		}
		list[at[label]] = append(list[at[label]], v)
	}
	return list
}
