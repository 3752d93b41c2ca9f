package overlap

import "orcomgo/bases"

// assembler collects contigs and joins them.
type assembler struct {
	joiner
	singles contigSet // contigs of one read; they are joined after the others
	limits  assemblerLimits
	full    bool // a contig of two or more reads was left out because of the limits
}

// assemblerLimits are the limits of an assembler.
type assemblerLimits struct {
	bases int    // of all contigs that appendScaffolds appends
	bytes uint64 // of memory, approximately
}

// Memory in bytes of a contig and of a base (in eighths) while contigs are joined, without that of the k-mers: two sets, links, trees and
// reverse complements.
const (
	joinedContigBytes = 2*contigSetBytes + 94
	joinedBaseEighths = 5
)

// newAssembler returns an assembler of contigs whose reads have so many bases on average.
func newAssembler(limits assemblerLimits, readBases, threads int) *assembler {
	return &assembler{limits: limits, joiner: joiner{threads: max(threads, 1), readBases: uint64(max(readBases, 1))}}
}

// addContigs adds contigs. It joins those that are there if memory is short.
func (a *assembler) addContigs(c *contigs) {
	a.set.grow(len(c.merged), a.threads, func(i int) (int, uint64) { return c.merged[i].n, uint64(c.merged[i].reads) },
		func(i int, dst []byte) { copy(dst, c.merged[i].packed) })
	a.singles.grow(len(c.singles), a.threads,
		func(i int) (int, uint64) {
			x, y := c.reads.longestACGT(int(c.singles[i]))
			return y - x, 1
		},
		func(i int, dst []byte) {
			x, y := c.reads.longestACGT(int(c.singles[i]))
			bases.Copy(dst, 0, c.reads.bases(int(c.singles[i])), x, y-x)
		})
	if a.joinBytes(sparse, maxKmerParts/4) > a.limits.bytes {
		a.join(func(int, int) {})
		a.leaveOut()
	}
}

// maxKmerParts is in how many parts the k-mers are processed at most if memory is short.
const maxKmerParts = 16

// joinBytes returns the memory that a round with all contigs takes if the k-mers are processed in so many parts.
func (a *assembler) joinBytes(by sampler, parts uint64) uint64 {
	bases, count := a.set.bases+a.singles.bases, uint64(a.set.count()+a.singles.count())
	return bases*joinedBaseEighths/8 + count*joinedContigBytes + a.kmerCount(by)/parts*kmerBytes
}

// kmerCount returns how many k-mers are sampled, approximately.
func (a *assembler) kmerCount(by sampler) uint64 {
	bases, count := a.set.bases+a.singles.bases, uint64(a.set.count()+a.singles.count())
	return min(bases, bases/uint64(by.rate)+2*uint64(by.ends)*count)
}

// countEvery is how many contigs there are for each whose k-mers crowded counts.
const countEvery = 16

// crowded reports whether more k-mers are selected than memory was planned for: those of runs of one base, for example, are all
// selected or none is.
func (a *assembler) crowded(by sampler) bool {
	all := a.set.bases*(joinedBaseEighths+8*kmerBytes)/8 + uint64(a.set.count())*joinedContigBytes
	if all <= a.limits.bytes { // with all k-mers
		return false
	}
	selected, expected := by.count(&a.set, countEvery, a.threads)
	return selected > expected*5/4
}

// maxKmers is how many k-mers are processed at once at most; indices have 32 bits.
const maxKmers = 1 << 31

// leaveOut leaves out the contigs of the lowest rank, but not the first one, if all would take more than half of the memory.
func (a *assembler) leaveOut() {
	for a.joinBytes(sparse, maxKmerParts) > a.limits.bytes/2 && a.set.count() > 1 {
		n := a.set.count() - max(1, a.set.count()/16)
		a.full = a.full || a.set.reads[n] > 1
		a.set.truncate(n)
	}
}

// How k-mers are sampled: sparsely, if contigs have many bases, while most overlap others by many; then, with those of one read, all
// k-mers at the ends, for short overlaps, and others more densely.
var (
	sparse    = sampler{rate: 12}
	denseEnds = sampler{rate: 8, ends: 12}
)

// hardRate is how k-mers are sampled at least as sparsely once a joiner is hard. Such contigs, as of chimeric reads and of reads with
// homopolymers of wrong length, share k-mers with many others. Most of these are no partners, and every k-mer costs time. True partners
// share many k-mers; those with short overlaps are found by the ends.
const hardRate = 16

// maxJoinRounds is the number of rounds that join makes at most if memory is not short.
const maxJoinRounds = 1 + maxMoreRounds + 1 + maxMoreRounds

const (
	maxMoreRounds = 6
	// Rounds are repeated while they join at least one contig in so many.
	worthJoining = 10
)

// join joins contigs in rounds: first those of several reads, then all. progress is called with the number of rounds that were made, and
// how many there will be at most.
func (a *assembler) join(progress func(done, total int)) {
	done := 0
	rounds := func(by sampler, most int) {
		end := done + most
		parts := uint64(1)
		for parts < maxKmerParts && (a.joinBytes(by, parts) > a.limits.bytes || a.kmerCount(by)/parts >= maxKmers) {
			parts++
		}
		by.parts = uint32(parts)
		by.distinct = a.crowded(by)
		vain := uint64(0) // rounds, the last ones, that joined few contigs
		for ; done < end && vain < parts; done++ {
			// Each part has its turn.
			for by.part = 0; by.part < by.parts && vain < parts; by.part++ {
				n, x := a.set.count(), by
				if a.hard {
					x.rate = max(x.rate, hardRate)
				}
				if joined := a.round(x); joined > n/worthJoining {
					vain = 0
				} else {
					vain++
				}
			}
			progress(done+1, maxJoinRounds)
		}
		done = end
	}
	a.set.rank(a.threads)
	rounds(a.first(), 1+maxMoreRounds)
	a.set.append(&a.singles, a.threads)
	a.singles = contigSet{}
	rounds(a.first(), 1)
	rounds(denseEnds, maxMoreRounds)
	a.groups = kmerGroups{}
	a.spare.packed, a.spare.turned, a.spare.turns = nil, nil, nil
	a.device.endJoining()
}

// first returns how the first round with many contigs samples: sparsely unless they are few.
func (a *assembler) first() sampler {
	return sampler{rate: sampleRate(min(max(a.set.bases>>20, 2), uint64(sparse.rate)))}
}

// appendScaffolds joins the contigs and appends to seq those for which keep returns true, given their number of reads and of bases.
func (a *assembler) appendScaffolds(seq *sequence, progress func(done, total int), keep func(reads uint64, length int) bool) {
	a.join(progress)
	room := a.limits.bases
	var kept []uint32
	bases := 0
	for c, n := range a.set.length {
		if keep(a.set.reads[c], int(n)) {
			if int(n) > room {
				a.full = true
				continue
			}
			room -= int(n)
			bases += int(n)
			kept = append(kept, uint32(c))
		}
	}
	if containedBytes(bases, a.readBases) <= a.limits.bytes {
		kept = a.set.withoutContained(kept, bases, a.readBases, a.threads)
	}
	seq.grow(bases)
	for _, c := range kept {
		seq.appendPacked(a.set.of(c), int(a.set.length[c]))
	}
}
