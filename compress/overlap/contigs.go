package overlap

import (
	"slices"

	"orcomgo/bases"
	"orcomgo/internal/largepages"
	"orcomgo/internal/tasks"
	"orcomgo/minimizer"
)

// maxOverlapped is the length in bases of the longest read that is used in contigs or placed. Longer reads are so likely
// to contain insertions and deletions that comparing base by base fails, and a context model codes them better.
const maxOverlapped = 700

// contig is the consensus of overlapping reads of one bin.
type contig struct {
	packed []byte // bases, and nothing after them
	n      int    // of bases
	reads  uint32
}

// newContig returns bases pos..pos+n-1 of p as a contig, in memory of a byte for each four of them, which is 0.
func newContig(memory, p []byte, pos, n int, reads uint32) contig {
	bases.Copy(memory, 0, p, pos, n)
	return contig{packed: memory, n: n, reads: reads}
}

// contigOverheadBytes is the memory of a contig in addition to its bases, including unused capacity of its list.
const contigOverheadBytes = 40

// contigs are the contigs of some reads. A read that overlaps no other is a contig of one read, and only its index is kept.
type contigs struct {
	merged  []contig
	reads   *Reads
	singles []uint32 // indices in rd, ascending by bin
}

func (c *contigs) count() int { return len(c.merged) + len(c.singles) }

// bytes returns the memory of the contigs, without that of the reads.
func (c *contigs) bytes() uint64 {
	sum := uint64(len(c.merged))*contigOverheadBytes + 4*uint64(len(c.singles))
	for i := range c.merged {
		sum += uint64(len(c.merged[i].packed))
	}
	return sum
}

// keyBases is the number of bases after the signature that must be equal for two reads to be compared. Every read has
// them: no signature ends within the last minimizer.Skip bases of a read.
const keyBases = minimizer.Skip

// binContigs aligns the reads of each bin by the position of their signature and merges those that agree. It uses the reads
// for which include returns true; all of them if include is nil. It calls include from several goroutines.
// Bins are processed in parallel; those of `big` reads or more, one after another, by several goroutines each.
// (Step 1 of the layout. Aligning by signature follows ORCOM, Grabowski et al. 2015, section 2.2.)
func binContigs(rd *Reads, include func(i int) bool, big, threads int) *contigs {
	workers := make([]binWorker, max(1, threads))
	for t := range workers {
		workers[t] = binWorker{rd: rd, include: include}
	}
	parts := make([][]contigs, len(rd.groups))
	var small, large []int // groups
	starts := make([]int, len(rd.groups))
	at := 0
	for g := range rd.groups {
		starts[g] = at
		at += int(rd.groups[g].Reads)
		if int(rd.groups[g].Reads) >= big {
			large = append(large, g)
		} else {
			small = append(small, g)
		}
	}
	// The goroutines of a big bin wait for each other several times, so those of some big bins work at the same time.
	teams := max(1, min(len(large), len(workers)/bigBinThreads))
	tasks.Each(len(large), teams, func(t, k int) {
		g := large[k]
		from, to := divide(len(workers), t, teams)
		end := starts[g] + int(rd.groups[g].Reads)
		parts[g] = assembleBigBin(workers[from:to], starts[g], end, rd.groups[g].Signature == minimizer.None)
	})
	tasks.Each(len(small), threads, func(t, k int) {
		g := small[k]
		w := &workers[t]
		w.out, w.keys = contigs{}, w.keys[:0]
		w.findKeys(starts[g], starts[g]+int(rd.groups[g].Reads), rd.groups[g].Signature == minimizer.None, func(key uint64) {
			w.keys = append(w.keys, key)
		})
		w.assembleKeys(w.keys)
		parts[g] = []contigs{w.out}
	})
	return concatContigs(rd, parts, threads)
}

// concatContigs returns the contigs of all parts, in their order. It sets parts to nil.
func concatContigs(rd *Reads, parts [][]contigs, threads int) *contigs {
	type place struct{ merged, singles int }
	first := make([]place, len(parts)) // of each part's contigs
	var end place
	for g := range parts {
		first[g] = end
		for i := range parts[g] {
			end = place{end.merged + len(parts[g][i].merged), end.singles + len(parts[g][i].singles)}
		}
	}
	all := &contigs{reads: rd, merged: largepages.Make[contig](end.merged), singles: largepages.Make[uint32](end.singles)}
	inParallel(threads, len(parts), 64, func(_, from, to int) {
		for g := from; g < to; g++ {
			merged, singles := all.merged[first[g].merged:], all.singles[first[g].singles:]
			for i := range parts[g] {
				merged = merged[copy(merged, parts[g][i].merged):]
				singles = singles[copy(singles, parts[g][i].singles):]
			}
			parts[g] = nil
		}
	})
	return all
}

// bigBinReads is the usual number of reads from which on several goroutines process a bin.
const bigBinReads = 1 << 17

// bigBinThreads is how many goroutines process a big bin at least, if there are as many.
const bigBinThreads = 4

// The keys of a big bin are distributed by their upper bits to 2^keyPartBits parts, which goroutines process. They are found in
// chunks of the bin.
const (
	keyPartBits  = 8
	keyPartShift = 32 + 2*keyBases - keyPartBits
)

// assembleBigBin assembles the contigs of reads from..to-1, which are a bin, by several goroutines.
func assembleBigBin(workers []binWorker, from, to int, none bool) []contigs {
	chunks := min(len(workers)*4, (to-from)/1024+1)
	found := make([][1 << keyPartBits][]uint64, chunks)
	parts := make([]contigs, chunks+1<<keyPartBits) // what findKeys finds in each chunk, then the contigs of each part of the keys
	tasks.Each(chunks, len(workers), func(t, k int) {
		lo, hi := divide(to-from, k, chunks)
		w := &workers[t]
		w.out = contigs{}
		w.findKeys(from+lo, from+hi, none, func(key uint64) {
			part := &found[k][key>>keyPartShift]
			*part = append(*part, key)
		})
		parts[k] = w.out
	})
	tasks.Each(1<<keyPartBits, len(workers), func(t, p int) {
		w := &workers[t]
		w.out, w.keys = contigs{}, w.keys[:0]
		for k := range found {
			w.keys = append(w.keys, found[k][p]...)
			found[k][p] = nil
		}
		w.assembleKeys(w.keys)
		parts[chunks+p] = w.out
	})
	return parts
}

// binWorker assembles the contigs of one bin, or of a part of its keys, at a time. Each goroutine has its own.
type binWorker struct {
	rd        *Reads
	include   func(i int) bool
	keys      []uint64
	spare     []uint64 // memory for sorting keys
	pileups   []*pileup
	unmatched []uint32 // reads of a group that agree with none of its pileups
	arena     []byte   // 0
	out       contigs
}

// contigOf returns bases pos..pos+n-1 of p as a contig, in the arena. One allocation serves many contigs.
func (b *binWorker) contigOf(p []byte, pos, n, reads int) contig {
	size := (n + 3) / 4
	if len(b.arena) < size {
		b.arena = make([]byte, max(1<<18, size))
	}
	memory := b.arena[:size:size]
	b.arena = b.arena[size:]
	return newContig(memory, p, pos, n, uint32(reads))
}

// findKeys calls f with the keys of reads from..to-1: the keyBases bases after the signature << 32 | index of the read. It
// appends to b.out.singles the reads that have none. none says that the reads are the bin of those without a signature.
func (b *binWorker) findKeys(from, to int, none bool, f func(key uint64)) {
	rd := b.rd
	for i := from; i < to; i++ {
		n := rd.len(i)
		if n > maxOverlapped || b.include != nil && !b.include(i) {
			continue
		}
		a, z := rd.longestACGT(i)
		if z-a < seedLen {
			continue
		}
		p := int(rd.signaturePlace[i] >> 1)
		if none || p < a || p+minimizer.K+keyBases > z {
			b.out.singles = append(b.out.singles, uint32(i))
			continue
		}
		f(bases.Chunk(rd.bases(i), p+minimizer.K)&bases.First(keyBases)<<32 | uint64(i))
	}
}

// sorted returns keys by their bases, in their memory or in b.spare. Those of equal bases keep their order.
func (b *binWorker) sorted(keys []uint64) []uint64 {
	const digit = 8
	if len(keys) < 2 {
		return keys
	}
	b.spare = slices.Grow(b.spare[:0], len(keys))[:len(keys)]
	in, out := keys, b.spare
	for at := 32; at < 32+2*keyBases; at += digit {
		var next [1 << digit]int
		for _, k := range in {
			next[k>>at&(1<<digit-1)]++
		}
		sum := 0
		for d, n := range next {
			next[d], sum = sum, sum+n
		}
		for _, k := range in {
			d := k >> at & (1<<digit - 1)
			out[next[d]] = k
			next[d]++
		}
		in, out = out, in
	}
	return in
}

// assembleKeys assembles the contigs of the reads of these keys, which are by ascending read.
func (b *binWorker) assembleKeys(keys []uint64) {
	keys = b.sorted(keys)
	for i := 0; i < len(keys); {
		j := i + 1
		for j < len(keys) && keys[j]>>32 == keys[i]>>32 {
			j++
		}
		b.assembleGroup(keys[i:j])
		i = j
	}
}

// maxPileups is the number of contigs of one group that a read is compared with at most. A read that agrees with none of
// them is a contig of one read.
const maxPileups = 12

// assembleGroup assembles the contigs of reads that have the same signature and the same keyBases bases after it. The low
// 32 bits of a key are the index of its read.
func (b *binWorker) assembleGroup(keys []uint64) {
	rd := b.rd
	if len(keys) == 1 {
		b.out.singles = append(b.out.singles, uint32(keys[0]))
		return
	}
	var read alignedRead
	used := 0
	b.unmatched = b.unmatched[:0]
	for _, k := range keys {
		i := int(uint32(k))
		a, z := rd.longestACGT(i)
		read.bases, read.first, read.start, read.n = rd.bases(i), a, a-int(rd.signaturePlace[i]>>1), z-a
		nearest, fewest := -1, 0
		for s := 0; s < used && (nearest < 0 || fewest > 0); s++ {
			limit := maxOverlapped
			if nearest >= 0 {
				limit = fewest - 1
			}
			if d, ok := b.pileups[s].compare(&read, limit); ok {
				nearest, fewest = s, d
			}
		}
		if nearest < 0 && used == maxPileups {
			b.unmatched = append(b.unmatched, uint32(i))
			continue
		}
		if nearest < 0 {
			if used == len(b.pileups) {
				b.pileups = append(b.pileups, newPileup())
			}
			nearest = used
			used++
			b.pileups[nearest].reset()
			b.pileups[nearest].firstRead = uint32(i)
		}
		b.pileups[nearest].addRead(&read)
	}
	for s := 0; s < used; s++ {
		pile := b.pileups[s]
		if pile.reads == 1 {
			b.out.singles = append(b.out.singles, pile.firstRead)
			continue
		}
		lo, hi := pile.supported()
		b.out.merged = append(b.out.merged, b.contigOf(pile.consensus, lo+pileupOrigin, hi-lo, pile.reads))
	}
	b.out.singles = append(b.out.singles, b.unmatched...)
}
