//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	"errors"
	"fmt"
)

// Bytes of device memory for each position of a window of votes, and the fewest positions of a window unless it is all of the sequence.
// Windows begin at multiples of that.
const (
	votedBytes = 4*4 + 4
	leastVoted = 1 << 12
)

// BeginVotes copies a sequence of length bases to the device, for the reads to vote on its bases: first LoadPlaces, then CountVotes and
// DecideVotes for one window after another. It returns the number of positions of a window. If poor is
// set, SelectPoor finds the poorly placed reads after that. The index is lost.
// The error wraps ErrMemory if there is too little memory.
func (p *Placer) BeginVotes(packed []byte, length int, poor bool) (window int, err error) {
	p.length, p.voters, p.votedLength, p.findPoor = 0, 0, 0, poor
	err = p.do(func() {
		replace(&p.queue, &p.sequence, packed, overrun, "the pseudogenome")
		if poor {
			p.room(&p.shared, length/2+4, "shared mismatches")
		}
		// Places, which are loaded later, need memory as well.
		window = max(1, min(length, max(leastVoted, p.freeMemory()/2/votedBytes&^(leastVoted-1))))
		p.room(&p.bases, 16*window, "votes")
		p.room(&p.depth, 4*window+32, "votes")
		p.wait()
	})
	if err == nil {
		p.votedLength = length
	}
	return window, err
}

// CountVotes counts the votes of the reads on positions lo..hi-1. LoadPlaces has loaded their places. The error wraps ErrMemory if there is
// too little memory.
func (p *Placer) CountVotes(lo, hi int) error {
	if n := hi - lo; p.voters < p.count || lo < 0 || hi > p.votedLength || 16*n > p.bases.size || 4*n+32 > p.depth.size {
		return fmt.Errorf("counting votes on positions %d..%d of %d: there are no places, or there is no room", lo, hi, p.votedLength)
	}
	return p.do(func() {
		p.set(p.bases.at(), 0, 16*(hi-lo), "votes")
		p.set(p.depth.at(), 0, 4*(hi-lo+1), "votes")
		p.loadAddresses()
		p.launch(C.STEP_VOTE_COUNT, threadBlocks(p.count, threads), p.reads.at(), p.places.at(), uint64(lo), uint64(hi), p.bases.at(),
			p.depth.at())
		p.wait()
	})
}

// DecideVotes sets the bases at positions lo..hi-1 to the most frequent ones, and finds the mismatches that several reads share.
func (p *Placer) DecideVotes(lo, hi int) error {
	return p.do(func() {
		p.scanTotal(p.depth.at(), hi-lo+1)
		p.launch(C.STEP_VOTE, threadBlocks(hi-lo, 4*threads), p.places.at(), uint64(lo), uint64(hi), p.bases.at(), p.depth.at())
		p.wait()
	})
}

// SelectPoor counts anew the mismatches of those of the reads that have at least PoorMismatches, and sets the bits of those that are poorly
// placed; package overlap defines which are (selectPoor). The other bits of poor become 0. LoadPlaces has loaded the places of the reads.
// poor has a bit, mismatches an element for each record of these places.
func (p *Placer) SelectPoor(poor []uint64, mismatches []uint8) error {
	if p.voters < p.count || !p.findPoor || 64*len(poor) < p.voters || len(mismatches) != p.voters {
		return fmt.Errorf("selecting poorly placed reads: %d bits and %d mismatches for places of %d", 64*len(poor), len(mismatches), p.voters)
	}
	return p.do(func() {
		p.room(&p.poor, 8*len(poor), "poorly placed reads")
		p.set(p.poor.at(), 0, 8*len(poor), "poorly placed reads")
		p.loadAddresses()
		p.launch(C.STEP_VOTE_POOR, threadBlocks(p.count, threads), p.reads.at(), p.places.at())
		p.download(bytesOf(poor), p.poor.at(), "poorly placed reads")
		p.download(mismatches, p.mismatches.at(), "mismatches of the reads")
	})
}

// EndVotes copies the bases to voted, which is as long as the packed bases of BeginVotes, unless it is nil. It frees memory.
func (p *Placer) EndVotes(voted []byte) error {
	p.votedLength = 0
	return p.do(func() {
		p.download(voted, p.sequence.at(), "the pseudogenome")
		p.wait()
		p.freeVotes()
	})
}

// freeVotes frees the memory of votes, which what follows needs, also after an error.
func (p *Placer) freeVotes() {
	for _, b := range []*buffer{&p.shared, &p.bases, &p.depth} {
		p.err = errors.Join(p.err, b.free())
	}
}
