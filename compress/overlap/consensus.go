package overlap

import (
	"context"
	"math/bits"
	"slices"

	"orcomgo/bases"
)

// voteBucketBits is the log2 of the positions of a bucket; a window of votes is a number of buckets.
const voteBucketBits = 12

// vote sets each base of the pseudogenome to the most frequent base of the reads that cover it.
func (b *builder) vote(ctx context.Context) error {
	if b.accelerator.vote(b, false) {
		return ctx.Err()
	}
	return b.eachVoteWindow(0, func(lo, hi int, events uint64) error { return b.voteRange(ctx, lo, hi, events, nil) })
}

// sharedBytesPerBase is the memory of sharedMismatches for a base of the pseudogenome, rounded up, in bytes.
const sharedBytesPerBase = 1

// voteAndSelectPoor votes, and then sets b.poor to the poorly placed reads.
func (b *builder) voteAndSelectPoor(ctx context.Context) error {
	if b.accelerator.vote(b, true) {
		return ctx.Err()
	}
	b.poor = NewSubset(b.records.count)
	var shared *sharedMismatches
	return b.eachVoteWindow(sharedBytesPerBase, func(lo, hi int, events uint64) error {
		shared = newSharedMismatches(shared, lo, hi)
		if err := b.voteRange(ctx, lo, hi, events, shared); err != nil {
			return err
		}
		return b.selectPoor(ctx, lo, hi, shared)
	})
}

// eachVoteWindow divides the pseudogenome into windows of as many positions as fit in workBytes, with baseBytes more for each
// position, and calls f with each of them and its number of events, approximately. Windows begin at a multiple of
// 2^voteBucketBits.
func (b *builder) eachVoteWindow(baseBytes uint64, f func(lo, hi int, events uint64) error) error {
	events := b.voteEvents()
	for lo := 0; lo < b.seq.n; {
		hi, n := lo, uint64(0)
		for hi < b.seq.n {
			next := min(hi+1<<voteBucketBits, b.seq.n)
			more := n + events[hi>>voteBucketBits]
			if positions := uint64(next - lo); hi > lo && voteWindowBytes(positions, more, b.workBytes)+positions*baseBytes > b.workBytes {
				break
			}
			hi, n = next, more
		}
		if err := f(lo, hi, n); err != nil {
			return err
		}
		lo = hi
	}
	b.voted = true
	return nil
}

// voteEvents returns the number of events that the reads of each bucket of positions have.
func (b *builder) voteEvents() []uint64 {
	pl := b.placements
	events := make([]uint64, b.seq.n>>voteBucketBits+1)
	counted := make([][]uint64, b.config.Threads) // by goroutine
	inParallel(b.config.Threads, len(pl.pos), 1<<16, func(worker, from, to int) {
		if counted[worker] == nil {
			counted[worker] = make([]uint64, len(events))
		}
		own := counted[worker]
		for rec := from; rec < to; rec++ {
			if pos := pl.pos[rec]; pos != Unplaced {
				own[pos>>voteBucketBits] += 2 + uint64(pl.mismatches[rec])
			}
		}
	})
	for _, own := range counted {
		for i, n := range own {
			events[i] += n
		}
	}
	return events
}

// voteRange votes on positions lo..hi-1, on which there are about so many events. It adds to shared, unless that is nil, the
// mismatches that several reads share after voting.
func (b *builder) voteRange(ctx context.Context, lo, hi int, events uint64, shared *sharedMismatches) error {
	w := newVoteWindow(lo, hi, events, b.workBytes, b.config.Threads)
	w.staleMismatches, w.only = b.voted, b.changed
	err := b.eachShare(ctx, func(rd *Reads, _ int) error {
		w.collect(rd, b.placements, &b.seq)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	w.decide(&b.seq, shared)
	return nil
}

// decide sets the positions of the window to the most frequent bases. It adds to shared, unless that is nil, the mismatches that several
// reads share after that.
func (w *voteWindow) decide(seq *sequence, shared *sharedMismatches) {
	w.finish(func(position int, depth uint32, votes *[4]uint32) {
		before := bases.At(seq.packed, position)
		after := before
		if best, ok := mostFrequent(depth, votes); ok && (w.only == nil || w.only.Has(uint32(position))) {
			after = best
			bases.Set(seq.packed, position, best)
		}
		if shared != nil {
			shared.addVotes(position, depth, votes, before, after)
		}
	})
}

// mostFrequent returns the most frequent of the bases other than that of the pseudogenome, and whether more of the reads that
// cover the position have it than agree with the pseudogenome.
func mostFrequent(depth uint32, bases *[4]uint32) (best byte, ok bool) {
	for c := range byte(4) {
		if bases[c] > bases[best] {
			best = c
		}
	}
	return best, bases[best]+bases[0]+bases[1]+bases[2]+bases[3] > depth
}

// onPseudogenomeStrand returns the packed bases of read i on the strand of the pseudogenome, and their skip mask (nil if all
// bases are A, C, G or T). inputReversed says whether the read in input orientation is on the reverse strand.
func (rd *Reads) onPseudogenomeStrand(i int, inputReversed bool, buf *[]byte, mask *[]uint64) (read []byte, m []uint64) {
	reverse := inputReversed != (rd.signaturePlace[i]&1 != 0)
	n := rd.len(i)
	read = rd.bases(i)
	if reverse {
		*buf = slices.Grow((*buf)[:0], (n+3)/4+2*bases.Pad)[:(n+3)/4+2*bases.Pad]
		bases.ReverseComplementInto(*buf, read, n)
		read = *buf
	}
	if rd.hasNonACGT(i) {
		*mask = rd.skipMask(*mask, i, reverse)
		m = *mask
	}
	return read, m
}

// forEachMismatch compares the n bases of read with pg from pos on, and calls f with the offset in the read and the base of
// the read for each mismatch, in order.
func forEachMismatch(pg []byte, pos int, read []byte, n int, skip []uint64, f func(j int, b byte)) {
	for i := 0; i*bases.PerChunk < n; i++ {
		r := bases.Chunk(read, i*bases.PerChunk)
		d := bases.Differing(bases.Chunk(pg, pos+i*bases.PerChunk), r)
		if left := n - i*bases.PerChunk; left < bases.PerChunk {
			d &= bases.First(left)
		}
		if skip != nil {
			d &^= skip[i]
		}
		for ; d != 0; d &= d - 1 {
			k := bits.TrailingZeros64(d)
			f(i*bases.PerChunk+k/2, byte(r>>uint(k)&3))
		}
	}
}
