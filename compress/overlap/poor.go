package overlap

import (
	"context"
	"math/bits"
)

// A read that lies at a wrong place, because the pseudogenome lacks its sequence after a wrong join at a repeat, has the same
// mismatches as the other reads of that sequence. Sequencing errors are rarely shared. So poorly placed reads are found by the
// mismatches that they share with others: voting counts how many reads have each mismatch and keeps one bit for each shared
// one; then the reads with many mismatches look theirs up.
//
// It pays where a genome has repeats: simulated reads of one take one to two percent less, those of amplicons half a percent.

// sharedMismatches is a set of mismatches (position and base) that several reads have, in a range of the pseudogenome.
type sharedMismatches struct {
	lo    int    // the first position, even
	bases []byte // four bits a position, one for each base; those of the even position are the lower ones
}

// isShared reports whether so many reads have the same mismatch at a position of the given depth that it is hardly an equal
// error in each. One base in a hundred is wrong at most, and equally wrong in a third of the cases; and where a repeat of many
// copies was joined to one, the reads of each copy are a small part of the depth.
func isShared(reads, depth uint32) bool { return reads >= 2+depth/128 }

// newSharedMismatches returns an empty set for positions up to hi-1, with the mismatches of `before` at those positions before
// lo that reads can cover together with lo. lo is even.
func newSharedMismatches(before *sharedMismatches, lo, hi int) *sharedMismatches {
	s := &sharedMismatches{lo: max(0, lo-maxOverlapped)}
	s.bases = make([]byte, (hi-s.lo+1)/2)
	if before != nil {
		copy(s.bases, before.bases[(max(s.lo, before.lo)-before.lo)/2:])
	}
	return s
}

// addVotes adds the shared ones of the bases at a position that was voted on: before is the base of the pseudogenome that they
// were counted against, after is its base now. Goroutines may call it for positions of different bytes at the same time.
func (s *sharedMismatches) addVotes(position int, depth uint32, bases *[4]uint32, before, after byte) {
	at := position - s.lo
	for c, n := range bases {
		if byte(c) == before {
			n = depth - bases[0] - bases[1] - bases[2] - bases[3]
		}
		if byte(c) != after && isShared(n, depth) {
			s.bases[at>>1] |= 1 << (at&1*4 + c)
		}
	}
}

func (s *sharedMismatches) has(position int, base byte) bool {
	at := position - s.lo
	return s.bases[at>>1]>>(at&1*4+int(base))&1 != 0
}

// minPoorMismatches is the number of mismatches, and of shared mismatches, that a poorly placed read has at least.
const minPoorMismatches = 3

// isPoor reports whether a read of n bases with so many mismatches, of which so many are shared, is poorly placed. One with very
// many mismatches is, without sharing them: it is shifted by an insertion or deletion, or its place is arbitrary.
func isPoor(n, mismatches, shared int) bool {
	return mismatches >= minPoorMismatches && mismatches > n/50 && (shared >= minPoorMismatches || mismatches > n/8)
}

// selectPoor adds to b.poor the poorly placed reads that can be used in contigs and end at positions lo+1..hi of the
// pseudogenome. It updates the number of mismatches of the reads that it examines, as voting may have changed it.
func (b *builder) selectPoor(ctx context.Context, lo, hi int, shared *sharedMismatches) error {
	type buffers struct {
		reverse []byte
		mask    []uint64
	}
	pl := b.placements
	own := make([]buffers, max(1, b.config.Threads))
	return b.eachShare(ctx, func(rd *Reads, _ int) error {
		batches := (rd.Count() + voteBatch - 1) / voteBatch
		return eachInParallel(ctx, batches, b.config.Threads, func(t, k int) error {
			first, end := k*voteBatch, min((k+1)*voteBatch, rd.Count())
			for i := first; i < end; i++ {
				number, n := rd.number(i), rd.len(i)
				if pl.mismatches[number] < minPoorMismatches || n > maxOverlapped || pl.pos[number] == Unplaced {
					continue
				}
				pos := int(pl.pos[number])
				if pos+n <= lo || pos+n > hi {
					continue
				}
				read, skip := rd.onPseudogenomeStrand(i, pl.reversed(number), &own[t].reverse, &own[t].mask)
				all, several := 0, 0
				forEachMismatch(b.seq.packed, pos, read, n, skip, func(j int, c byte) {
					all++
					if shared.has(pos+j, c) {
						several++
					}
				})
				pl.mismatches[number] = uint8(min(all, 255))
				if a, z := rd.longestACGT(i); isPoor(n, all, several) && z-a >= seedLen {
					b.poor.Add(number)
				}
			}
			return nil
		})
	})
}

// reassemblePoor assembles the poorly placed reads among themselves (if they do not all fit in memory, those with the most
// mismatches) and appends to the pseudogenome the scaffolds that cost fewer bits than the mismatches they save.
func (b *builder) reassemblePoor(ctx context.Context) error {
	threshold := b.poorThreshold(b.workBytes / 4)
	var poor contigs
	err := b.eachShare(ctx, func(rd *Reads, _ int) error {
		chosen := selected(b.config.Threads, rd.Count(), func(i int) bool {
			k := rd.number(i)
			return b.poor.Has(k) && int(b.placements.mismatches[k]) >= threshold
		})
		first := len(poor.merged)
		poor.merged = append(poor.merged, make([]contig, len(chosen))...)
		inParallel(b.config.Threads, len(chosen), joinRange, func(_, from, to int) {
			for k := from; k < to; k++ {
				i := int(chosen[k])
				// The reads of this contig count the mismatches that it saves.
				x, y := rd.longestACGT(i)
				mismatches := uint32(b.placements.mismatches[rd.number(i)])
				poor.merged[first+k] = newContig(make([]byte, (y-x+3)/4), rd.bases(i), x, y-x, mismatches)
			}
		})
		return ctx.Err()
	})
	if err != nil || poor.count() == 0 {
		return err
	}
	const mismatchCost, baseCost = 7, 2 // bits per mismatch, per base
	bases, mismatches := 0, 0
	for i := range poor.merged {
		bases, mismatches = bases+poor.merged[i].n, mismatches+int(poor.merged[i].reads)
	}
	a := newAssembler(b.limits(b.workBytes/2), bases/mismatches, b.config.Threads)
	a.device = b.accelerator
	a.addContigs(&poor)
	a.appendScaffolds(&b.seq, func(int, int) {}, func(saved uint64, length int) bool { return saved*mismatchCost > uint64(length)*baseCost })
	return nil
}

// poorThreshold returns the smallest number of mismatches such that all poorly placed reads with at least so many take at most
// so many bytes as contigs.
func (b *builder) poorThreshold(bytes uint64) int {
	const perContig = 64
	var reads [256]uint64
	for i, w := range b.poor.words {
		for ; w != 0; w &= w - 1 {
			reads[b.placements.mismatches[64*i+bits.TrailingZeros64(w)]]++
		}
	}
	perRead := perContig + b.records.meanLength()
	threshold := len(reads)
	for sum := uint64(0); threshold > 0; threshold-- {
		if sum += reads[threshold-1] * perRead; sum > bytes {
			break
		}
	}
	return threshold
}
