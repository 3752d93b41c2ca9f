package overlap

import (
	"math/bits"
	"sync/atomic"
)

// The steps that a device does, if it can and it is worth it.

// partners does what kmerGroups.fill and joiner.partners do. If it does not, ok is false.
func (a *accelerator) partners(j *joiner, by sampler) (links []link, ok bool) {
	if a == nil || !a.worth(int(j.set.bases), leastJoined) || !a.can(stepJoin) {
		return nil, false
	}
	links, left, compared, err := a.dev.partners(j, by)
	if err != nil {
		a.failed(stepJoin, err)
		a.endJoining()
		return nil, false
	}
	j.set.left = left
	j.compared += compared
	return links, true
}

// endJoining frees the device's memory for joining.
func (a *accelerator) endJoining() {
	if a.usable() {
		if err := a.dev.endJoining(); err != nil {
			a.giveUp(err)
		}
	}
}

// makeSpare gives the spare places the size of those of a builder.
func (a *accelerator) makeSpare(b *builder) {
	if n := len(b.placements.pos); len(a.spare.pos) != n {
		a.spare = *makePlacements(n)
	}
}

// place does what builder.placeAll does with the reads of a builder, if they are all in memory. If it does not, ok is false.
func (a *accelerator) place(b *builder, w *window, retry retryRule, progress func(done int)) (ok bool) {
	if !a.ready(b, stepPlace, leastPlaced) {
		return false
	}
	if a.indexed != w {
		if err := a.dev.buildIndex(&b.seq, w); err != nil {
			a.failed(stepPlace, err)
			return false
		}
		a.indexed = w
	}
	a.makeSpare(b)
	var poor []uint64
	if retry == retryPoor {
		poor = b.poor.words
	}
	if err := a.dev.place(w, retry, b.placements, poor, &a.spare, progress); err != nil {
		a.failed(stepPlace, err)
		return false
	}
	*b.placements, a.spare = a.spare, *b.placements
	return true
}

// vote does what builder.vote does or, with selectPoor, builder.voteAndSelectPoor, if all reads are in memory. If it does not, ok is false.
func (a *accelerator) vote(b *builder, selectPoor bool) (ok bool) {
	if !a.ready(b, stepVote, leastVoters) {
		return false
	}
	a.indexed = nil
	voted := make([]byte, len(b.seq.packed))
	var poor Subset
	var mismatches []uint8
	if selectPoor {
		a.makeSpare(b)
		poor, mismatches = NewSubset(b.records.count), a.spare.mismatches
	}
	if err := a.dev.vote(&b.seq, b.placements, voted, poor.words, mismatches); err != nil {
		a.failed(stepVote, err)
		return false
	}
	copy(b.seq.packed, voted)
	if selectPoor {
		b.poor = poor
		b.placements.mismatches, a.spare.mismatches = mismatches, b.placements.mismatches
		b.allReads.keepLongACGT(&b.poor, b.config.Threads)
	}
	b.voted = true
	return true
}

// keepLongACGT removes from a set of records those whose reads have letters other than A, C, G and T, and fewer than seedLen bases without
// one.
func (rd *Reads) keepLongACGT(set *Subset, threads int) {
	inParallel(threads, len(rd.nonACGT), taskRange, func(_, from, to int) {
		for k := from; k < to; k++ {
			for w := rd.nonACGT[k]; w != 0; w &= w - 1 {
				i := 64*k + bits.TrailingZeros64(w)
				rec := rd.records[i]
				if word, bit := &set.words[rec>>6], uint64(1)<<(rec&63); atomic.LoadUint64(word)&bit != 0 {
					if a, z := rd.longestACGT(i); z-a < seedLen {
						atomic.AndUint64(word, ^bit)
					}
				}
			}
		}
	})
}
