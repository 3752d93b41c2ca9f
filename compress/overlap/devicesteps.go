package overlap

import (
	"context"
	"errors"
	"math/bits"
	"sync/atomic"

	"orcomgo/bases"
	"orcomgo/internal/largepages"
)

// The steps that a device does, if it can and it is worth it.

// partners does what kmerGroups.fill and joiner.partners do. If it does not, ok is false.
func (a *accelerator) partners(j *joiner, by sampler) (links []link, ok bool) {
	if a == nil || j.set.count() == 0 || j.set.bases < leastJoined || !a.can(stepJoin) {
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

// partsOf returns in how many parts reads are loaded, so that each takes half of the memory at most.
func (a *accelerator) partsOf(rd *Reads) int {
	bytes := uint64(len(rd.packed)) + deviceReadBytes*uint64(rd.Count()) + runBytes*uint64(rd.exceptions.Len()+len(rd.lengths))
	return int(min(bytes/(a.dev.memory()/2+1)+1, maxDeviceParts))
}

// part returns reads from..to-1. from is a multiple of 64, and exceptions are by record.
func (rd *Reads) part(from, to int) *Reads {
	p := *rd
	p.records, p.signaturePlace, p.nonACGT = rd.records[from:to], rd.signaturePlace[from:to], rd.nonACGT[from/64:(to+63)/64]
	p.indexByRecord, p.groups = nil, nil
	if rd.offsets == nil {
		p.packed = rd.packed[rd.offset(from) : rd.offset(to)+bases.Pad]
	} else {
		p.offsets, p.lengths = rd.offsets[from:to+1], rd.lengths[from:to]
	}
	return &p
}

// devicePart is a part of the reads that is on the device, and the places of these reads: by record if all reads are, else by their
// numbers.
type devicePart struct {
	rd       *Reads
	byRecord bool
	places   *placements
	poor     []uint64 // of places; nil unless retryPoor was asked for
}

// eachPart loads reads that are in memory, all of them if stay is set, part after part, and calls f with each. It returns how many reads
// were in parts for which f returned true; if it does not, or the device fails, there are no more.
func (a *accelerator) eachPart(b *builder, rd *Reads, retry retryRule, f func(p *devicePart) bool) (done int) {
	a.wait()
	if !a.can(stepPlace) {
		return 0
	}
	n := a.partsOf(rd)
	for k := range n {
		from, to := rd.Count()/64*k/n*64, rd.Count()/64*(k+1)/n*64
		p := &devicePart{rd: rd, byRecord: n == 1 && rd == b.allReads}
		if k == n-1 {
			to = rd.Count()
		}
		if n > 1 {
			p.rd = rd.part(from, to)
		}
		if !a.loadReads(p.rd, p.byRecord) {
			return from
		}
		if p.byRecord {
			p.places = b.placements
			if retry == retryPoor {
				p.poor = b.poor.words
			}
		} else {
			p.places, p.poor = b.placesOf(p.rd, retry)
		}
		if !f(p) {
			return from
		}
	}
	return rd.Count()
}

// place does what builder.placeAll does, and returns for how many reads, the first ones.
func (a *accelerator) place(b *builder, rd *Reads, w *window, retry retryRule, progress func(done int)) (done int) {
	if a == nil || rd.Count() < max(leastPlaced, 1) || rd == b.allReads && spareEighthBytes*uint64(rd.Count())/8 > b.workBytes {
		return 0
	}
	before := 0
	return a.eachPart(b, rd, retry, func(p *devicePart) bool {
		if a.indexed != w {
			if err := a.dev.buildIndex(&b.seq, w); err != nil {
				a.failed(stepPlace, err)
				return false
			}
			a.indexed = w
		}
		out := &a.spare
		if !p.byRecord {
			out = &placements{}
		}
		if n := len(p.places.pos); len(out.pos) != n || len(out.mismatches) != n || len(out.reversedBits) != len(p.places.reversedBits) {
			*out = *makePlacements(n)
		}
		if err := a.dev.place(w, retry, p.places, p.poor, out, func(done int) { progress(before + done) }); err != nil {
			a.failed(stepPlace, err)
			return false
		}
		if p.byRecord {
			*b.placements, a.spare = a.spare, *b.placements
		} else {
			b.setPlacesOf(p.rd, out)
		}
		before += p.rd.Count()
		return true
	})
}

// placesOf returns the places of reads by their numbers, and, for retryPoor, which are in b.poor.
func (b *builder) placesOf(rd *Reads, retry retryRule) (pl *placements, poor []uint64) {
	pl = makePlacements(rd.Count())
	if retry == retryPoor {
		poor = make([]uint64, rd.Count()/64+1)
	}
	inParallel(b.config.Threads, rd.Count(), placeBatch, func(_, from, to int) { // a multiple of 64, so that no word is in two ranges
		for i := from; i < to; i++ {
			rec := rd.records[i]
			pl.pos[i], pl.mismatches[i] = b.placements.pos[rec], b.placements.mismatches[rec]
			if b.placements.reversed(rec) {
				pl.reversedBits[i>>5] |= 1 << (i & 31)
			}
			if poor != nil && b.poor.has(rec) {
				poor[i>>6] |= 1 << (i & 63)
			}
		}
	})
	return pl, poor
}

// setPlacesOf stores the places of reads, which are given by their numbers.
func (b *builder) setPlacesOf(rd *Reads, pl *placements) {
	inParallel(b.config.Threads, rd.Count(), placeBatch, func(_, from, to int) {
		for i := from; i < to; i++ {
			b.placements.set(rd.records[i], pl.pos[i], pl.reversed(uint32(i)), int(pl.mismatches[i]))
		}
	})
}

// errDeviceGone means that a device can't go on with a step, which has been noted.
var errDeviceGone = errors.New("the device can't go on")

// vote does what builder.vote does or, with selectPoor, builder.voteAndSelectPoor. If it does not, ok is false, and the CPU can do it
// from the beginning. Errors are those of reading the bins, or ctx.Err().
func (a *accelerator) vote(ctx context.Context, b *builder, selectPoor bool) (ok bool, err error) {
	if a == nil || b.records.count < leastVoters || !a.can(stepVote) {
		return false, nil
	}
	a.wait()
	a.indexed = nil
	err = a.voteAndSelect(ctx, b, selectPoor)
	b.voted = true // mismatches may be those after voting, even if the device has not finished
	if err == nil {
		return true, nil
	}
	a.endVotes(nil) // an error is noted
	if errors.Is(err, errDeviceGone) {
		return false, nil
	}
	return false, err
}

func (a *accelerator) endVotes(voted []byte) error {
	if !a.usable() {
		return errDeviceGone
	}
	return a.voteError(a.dev.endVotes(voted))
}

// voteError notes an error of the device.
func (a *accelerator) voteError(err error) error {
	if err == nil {
		return nil
	}
	a.failed(stepVote, err)
	return errDeviceGone
}

// eachVoter calls f with parts of all reads.
func (a *accelerator) eachVoter(ctx context.Context, b *builder, f func(p *devicePart) error) error {
	return b.eachShare(ctx, func(rd *Reads, _ int) error {
		var err error
		done := a.eachPart(b, rd, retryNone, func(p *devicePart) bool {
			if err = ctx.Err(); err == nil {
				err = f(p)
			}
			return err == nil
		})
		if err == nil && done < rd.Count() {
			err = errDeviceGone
		}
		return err
	})
}

func (a *accelerator) voteAndSelect(ctx context.Context, b *builder, selectPoor bool) error {
	window, err := a.dev.beginVotes(&b.seq, selectPoor)
	if err := a.voteError(err); err != nil {
		return err
	}
	loaded := false // the places of all reads are on the device
	placesOf := func(p *devicePart) *placements {
		if loaded {
			return nil
		}
		loaded = p.byRecord
		return p.places
	}
	for lo := 0; lo < b.seq.n; lo += window {
		hi, first := min(lo+window, b.seq.n), true
		err := a.eachVoter(ctx, b, func(p *devicePart) error {
			err := a.voteError(a.dev.countVotes(placesOf(p), lo, hi, first))
			first = false
			return err
		})
		if err != nil {
			return err
		}
		if first { // there are no reads
			return errDeviceGone
		}
		if err := a.voteError(a.dev.decideVotes(lo, hi)); err != nil {
			return err
		}
	}
	if selectPoor {
		b.poor = newBitset(b.records.count)
		err := a.eachVoter(ctx, b, func(p *devicePart) error { return a.selectPoor(b, p, placesOf(p)) })
		if err != nil {
			return err
		}
	}
	voted := make([]byte, len(b.seq.packed))
	if err := a.endVotes(voted); err != nil {
		return err
	}
	copy(b.seq.packed, voted)
	return nil
}

// selectPoor does what builder.selectPoor does with the reads of a part. The device has their places if pl is nil.
func (a *accelerator) selectPoor(b *builder, p *devicePart, pl *placements) error {
	rd, mismatches, poor := p.rd, p.places.mismatches, b.poor.words
	if p.byRecord {
		if len(a.spare.mismatches) != len(mismatches) {
			a.spare.mismatches = largepages.Make[uint8](len(mismatches))
		}
		mismatches = a.spare.mismatches
	} else {
		poor = make([]uint64, rd.Count()/64+1)
	}
	if err := a.voteError(a.dev.selectPoor(pl, poor, mismatches)); err != nil {
		return err
	}
	if p.byRecord {
		b.placements.mismatches, a.spare.mismatches = mismatches, b.placements.mismatches
		rd.keepLongACGT(&b.poor, b.config.Threads)
		return nil
	}
	inParallel(b.config.Threads, rd.Count(), placeBatch, func(_, from, to int) {
		for i := from; i < to; i++ {
			rec := rd.records[i]
			b.placements.mismatches[rec] = mismatches[i]
			if poor[i>>6]>>(i&63)&1 != 0 {
				if x, y := rd.longestACGT(i); y-x >= seedLen {
					b.poor.add(rec)
				}
			}
		}
	})
	return nil
}

// keepLongACGT removes from a set of records those whose reads have letters other than A, C, G and T, and fewer than seedLen bases without
// one.
func (rd *Reads) keepLongACGT(set *bitset, threads int) {
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

// cover finds which bases of the pseudogenome reads cover, if all reads are on the device. If there are others, it moves the
// placements to where they are without these, and returns the set; else that is nil.
func (a *accelerator) cover(b *builder) (covered *bitset, ok bool) {
	rd := b.allReads
	if a == nil || rd == nil || rd.Count() < leastVoters || spareEighthBytes*uint64(rd.Count())/8 > b.workBytes {
		return nil, false
	}
	a.wait()
	if a.loaded != rd || !a.can(stepVote) {
		return nil, false
	}
	set := newBitset(b.seq.n)
	if n := len(b.placements.pos); len(a.spare.pos) != n {
		a.spare.pos = largepages.Make[uint32](n)
	}
	uncovered, err := a.dev.cover(b.seq.n, b.placements, &set, a.spare.pos)
	if err != nil {
		a.failed(stepVote, err)
		return nil, false
	}
	if !uncovered {
		return nil, true
	}
	b.placements.pos, a.spare.pos = a.spare.pos, b.placements.pos
	return &set, true
}
