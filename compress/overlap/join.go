package overlap

import (
	"cmp"
	"encoding/binary"
	"slices"
)

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
	joinedContigBytes = 2*contigSetBytes + 90
	joinedBaseEighths = 5
)

// newAssembler returns an assembler of contigs whose reads have so many bases on average.
func newAssembler(limits assemblerLimits, readBases, threads int) *assembler {
	return &assembler{limits: limits, joiner: joiner{threads: max(threads, 1), readBases: uint64(max(readBases, 1))}}
}

// addContigs adds contigs. It joins those that are there if memory is short. progress is called with the number of rounds that
// were made, and how many there will be at most.
func (a *assembler) addContigs(c *contigs, progress func(done, total int)) {
	slices.SortFunc(c.merged, func(a, b contig) int {
		return cmp.Or(cmp.Compare(b.reads, a.reads), cmp.Compare(a.order, b.order))
	})
	a.set.grow(len(c.merged), a.threads, func(i int) (int, uint64) { return len(c.merged[i].seq), uint64(c.merged[i].reads) },
		func(i int, dst []byte) { packBases(dst, c.merged[i].seq) })
	a.singles.grow(len(c.singles), a.threads,
		func(i int) (int, uint64) {
			x, y := c.reads.longestACGT(int(c.singles[i]))
			return y - x, 1
		},
		func(i int, dst []byte) {
			x, y := c.reads.longestACGT(int(c.singles[i]))
			copyBases(dst, 0, c.reads.bases(int(c.singles[i])), x, y-x)
		})
	if a.joinBytes(sampler{rate: sparseRate}) > a.limits.bytes {
		a.join(progress)
		a.leaveOut()
	}
}

// kmers returns how many k-mers are selected, approximately.
func (a *assembler) kmers(by sampler) uint64 {
	bases, count := a.set.bases+a.singles.bases, uint64(a.set.count()+a.singles.count())
	return min(bases, bases/uint64(by.rate)+2*uint64(by.ends)*count)
}

// joinBytes returns the memory that a round with all contigs takes.
func (a *assembler) joinBytes(by sampler) uint64 {
	bases, count := a.set.bases+a.singles.bases, uint64(a.set.count()+a.singles.count())
	return bases*joinedBaseEighths/8 + count*joinedContigBytes + a.kmers(by)*kmerBytes
}

// leaveOut leaves out the contigs of the lowest rank if all would take more than half of the memory.
func (a *assembler) leaveOut() {
	for a.joinBytes(sampler{rate: sparseRate}) > a.limits.bytes/2 && a.set.count() > 0 {
		n := a.set.count() - max(1, a.set.count()/16)
		a.full = a.full || a.set.reads[n] > 1
		a.set.truncate(n)
	}
}

// The rates of rounds: sparse while most contigs overlap others by many bases; dense, and all k-mers at the ends of contigs, for the rest.
const (
	sparseRate = sampleRate(8)
	denseRate  = sampleRate(3)
	// leastRate is how few k-mers are sampled if memory is short.
	leastRate = sampleRate(32)
)

// maxJoinRounds is the number of rounds that join makes at most.
const maxJoinRounds = 1 + 12 + 1 + 12

// join joins contigs in rounds: first those of several reads, then all.
func (a *assembler) join(progress func(done, total int)) {
	done := 0
	rounds := func(rate sampleRate, ends bool, most, worth int) {
		for end := done + most; done < end; {
			n := a.set.count()
			by := sampler{rate: rate}
			if ends {
				by.ends = sampledEnds
			}
			joined := a.round(a.affordable(by))
			done++
			progress(done, maxJoinRounds)
			if joined <= n/worth {
				done = end
			}
		}
	}
	a.settled = nil // contigs may have been added or left out
	a.set.rank(a.threads)
	rounds(a.firstRate(), false, 1, 1)
	rounds(denseRate, false, 12, 50)
	a.set.append(&a.singles)
	a.singles = contigSet{}
	rounds(a.firstRate(), false, 1, 1)
	rounds(denseRate, true, 12, 50)
}

// firstRate returns the rate of the first round with many contigs: sparse unless they are few.
func (a *assembler) firstRate() sampleRate {
	return sampleRate(min(max(a.set.bases>>20, 2), uint64(sparseRate)))
}

// maxKmers is the maximum of k-mers in a round, approximately. Their numbers have 32 bits.
const maxKmers = 1 << 31

// affordable returns the sampler, or one that selects fewer k-mers if memory is short or there are too many: first fewer of those at
// ends, down to four, and fewer others, down to one in sparseRate; then none at ends, and others down to one in leastRate.
func (a *assembler) affordable(by sampler) sampler {
	short := func() bool { return a.joinBytes(by) > a.limits.bytes || a.kmers(by) > maxKmers }
	for by.ends > 4 && short() {
		by.ends /= 2
	}
	for by.rate < sparseRate && short() {
		by.rate++
	}
	for by.ends > 0 && short() {
		by.ends /= 2
	}
	for by.rate < leastRate && short() {
		by.rate++
	}
	for a.kmers(by) > maxKmers {
		by.rate++
	}
	return by
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
	seq.grow(bases)
	for _, c := range kept {
		seq.appendPacked(a.set.of(c), int(a.set.length[c]))
	}
}

// packBases packs bases, one a byte, into dst, which has a byte for each four of them.
func packBases(dst, bases []byte) {
	for ; len(bases) >= 8; bases, dst = bases[8:], dst[2:] {
		x := binary.LittleEndian.Uint64(bases)
		x = (x | x>>6) & 0x000f000f000f000f
		x = (x | x>>12) & 0x000000ff000000ff
		binary.LittleEndian.PutUint16(dst, uint16(x|x>>24))
	}
	for i, c := range bases {
		if i&3 == 0 {
			dst[i/4] = 0
		}
		dst[i/4] |= c << (2 * uint(i&3))
	}
}
