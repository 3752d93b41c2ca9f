//go:build cuda

package cudakern

import "fmt"

// Bytes of device memory for each position of a window of votes, and the fewest positions of a window unless it is all of the sequence.
// Windows begin at multiples of that.
const (
	votedBytes = 4*4 + 4
	leastVoted = 1 << 12
)

// Vote has the reads vote on the bases of a sequence of length bases, and returns the bases that it has then in voted, which is as long as
// packed. If poor is not nil, which has a bit for each record, the mismatches of the reads that have at least PoorMismatches are
// counted anew, the result goes to mismatches, and bits are set for the reads that are poorly placed; package overlap defines which are
// (selectPoor). The index is lost.
// The error wraps ErrMemory if there is too little memory.
func (p *Placer) Vote(packed []byte, length int, places Places, voted []byte, poor []uint64, mismatches []uint8) (err error) {
	records := len(places.Positions)
	if err := p.check(places); err != nil {
		return err
	}
	if len(voted) != len(packed) || poor != nil && (64*len(poor) < records || len(mismatches) != records) {
		return fmt.Errorf("voting of %d reads: slices of other lengths", records)
	}
	leave, err := p.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	defer func() { // the memory is needed by what follows
		for _, b := range []*buffer{&p.shared, &p.bases, &p.depth} {
			if e := b.free(); err == nil {
				err = e
			}
		}
	}()
	p.length = 0
	if err := replace(&p.queue, &p.sequence, packed, overrun, "the pseudogenome"); err != nil {
		return err
	}
	if err := p.loadPlaces(places); err != nil {
		return err
	}
	if poor != nil {
		if err := p.room(&p.poor, 8*len(poor), "poorly placed reads"); err != nil {
			return err
		}
		if err := p.clear(p.poor.at(), 8*len(poor), "poorly placed reads"); err != nil {
			return err
		}
		if err := p.room(&p.shared, length/2+4, "shared mismatches"); err != nil {
			return err
		}
	}
	if err := p.loadAddresses(); err != nil {
		return err
	}
	if err := p.voteWindows(length); err != nil {
		return err
	}
	if poor != nil {
		if err := p.launch(kernelVotePoor, threadBlocks(p.count, threads), p.reads.at(), p.places.at()); err != nil {
			return err
		}
		if err := p.download(bytesOf(poor), p.poor.at(), "poorly placed reads"); err != nil {
			return err
		}
		if err := p.download(mismatches, p.mismatches.at(), "mismatches of the reads"); err != nil {
			return err
		}
	}
	return p.download(voted, p.sequence.at(), "the pseudogenome")
}

// voteWindows votes on as many positions at a time as there is memory for.
func (p *Placer) voteWindows(length int) error {
	free, err := freeMemory()
	if err != nil {
		return err
	}
	size := min(length, max(leastVoted, free/8*7/votedBytes&^(leastVoted-1)))
	if err := p.room(&p.bases, 16*size, "votes"); err != nil {
		return err
	}
	if err := p.room(&p.depth, 4*size+32, "votes"); err != nil {
		return err
	}
	for lo := 0; lo < length; lo += size {
		n := min(size, length-lo)
		if err := p.clear(p.bases.at(), 16*n, "votes"); err != nil {
			return err
		}
		if err := p.clear(p.depth.at(), 4*(n+1), "votes"); err != nil {
			return err
		}
		args := []uint64{p.reads.at(), p.places.at(), uint64(lo), uint64(lo + n), p.bases.at(), p.depth.at()}
		if err := p.launch(kernelVoteCount, threadBlocks(p.count, threads), args...); err != nil {
			return err
		}
		if err := p.scan(p.depth.at(), n+1); err != nil {
			return err
		}
		if err := p.launch(kernelVote, threadBlocks(n, 4*threads), args[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// Cover finds which of the first length bases of the pseudogenome the reads cover: it sets their bits in covered. Then it replaces
// positions, which are those of in, by the number of covered bases before each. It returns whether there are uncovered bases; if not,
// positions has not changed.
// The error wraps ErrMemory if there is too little memory: 8 bytes for each base.
func (p *Placer) Cover(length int, in Places, covered []uint64, positions []uint32) (uncovered bool, err error) {
	if err := p.check(in); err != nil {
		return false, err
	}
	if 64*len(covered) < length || len(positions) != len(in.Positions) {
		return false, fmt.Errorf("%d positions in %d words, %d records of %d", length, len(covered), len(positions), len(in.Positions))
	}
	leave, err := p.dev.enter()
	if err != nil {
		return false, err
	}
	defer leave()
	defer func() {
		for _, b := range []*buffer{&p.shared, &p.bases, &p.depth} {
			if e := b.free(); err == nil {
				err = e
			}
		}
	}()
	if err := p.loadPlaces(in); err != nil {
		return false, err
	}
	if err := p.loadAddresses(); err != nil {
		return false, err
	}
	depth, kept, bits := &p.depth, &p.bases, &p.shared
	for _, x := range []struct {
		*buffer
		size int
	}{{depth, 4*length + 32}, {kept, 4*length + 32}, {bits, 8 * len(covered)}} {
		if err := p.room(x.buffer, x.size, "covered bases"); err != nil {
			return false, err
		}
	}
	if err := p.clear(depth.at(), 4*(length+1), "covered bases"); err != nil {
		return false, err
	}
	if err := p.clear(bits.at(), 8*len(covered), "covered bases"); err != nil {
		return false, err
	}
	if err := p.launch(kernelCover, threadBlocks(p.count, threads), p.reads.at(), p.places.at(), uint64(length), depth.at()); err != nil {
		return false, err
	}
	if err := p.scan(depth.at(), length+1); err != nil {
		return false, err
	}
	if err := p.launch(kernelCovered, threadBlocks(length+1, threads), depth.at(), uint64(length), bits.at(), kept.at()); err != nil {
		return false, err
	}
	if err := p.scan(kept.at(), length+1); err != nil {
		return false, err
	}
	sum, err := p.sum()
	if err != nil || int(sum) == length {
		return false, err
	}
	err = p.launch(kernelMove, threadBlocks(len(positions), threads), p.positions.at(), uint64(len(positions)), kept.at())
	if err != nil {
		return false, err
	}
	if err := p.download(bytesOf(covered), bits.at(), "covered bases"); err != nil {
		return false, err
	}
	return true, p.download(bytesOf(positions), p.positions.at(), "the places of the reads")
}
