//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	"errors"
	"fmt"
)

// voting is what a Placer needs to vote.
type voting struct {
	loaded                                    bool // the buffers of the next line, of the reads that the Placer has
	records, storedReversed                   buffer
	places, reversed, mismatches, poor        buffer // by record
	sequence, shared, bases, depth, arguments buffer
}

func (v *voting) buffers() []*buffer {
	return append([]*buffer{&v.records, &v.storedReversed}, v.ofVote()...)
}

// ofVote returns the buffers that only Vote needs.
func (v *voting) ofVote() []*buffer {
	return []*buffer{&v.places, &v.reversed, &v.mismatches, &v.poor, &v.sequence, &v.shared, &v.bases, &v.depth, &v.arguments}
}

// VoteReadsLoaded reports whether LoadVoteReads was called since LoadReads.
func (p *Placer) VoteReadsLoaded() bool { return p.voting.loaded }

// LoadVoteReads copies to the device what Vote needs of the reads of the Placer. The error wraps ErrMemory if there is too little memory.
func (p *Placer) LoadVoteReads(r VoteReads) error {
	n := p.count
	if len(r.Records) != n || 64*len(r.StoredReversed) < n {
		return fmt.Errorf("%d records of %d reads", len(r.Records), n)
	}
	leave, err := p.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	v := &p.voting
	v.loaded = false
	for _, x := range []struct {
		to   *buffer
		data []byte
	}{{&v.records, bytesOf(r.Records)}, {&v.storedReversed, bytesOf(r.StoredReversed)}} {
		if err := replace(&p.queue, x.to, x.data, 0, "the records of the reads"); err != nil {
			return err
		}
	}
	v.loaded = true
	return p.wait()
}

// Bytes of device memory for each position of a window of votes, and the fewest positions of a window unless it is all of the sequence.
// Windows begin at multiples of that.
const (
	votedBytes = 4*4 + 4
	leastVoted = 1 << 12
)

// Vote has the reads vote on the bases of a sequence of length bases, and returns the bases that it has then in voted, which is as long as
// packed. If poor is not nil, which has a bit for each record, the mismatches of the reads that have at least PoorMismatches are
// counted anew, the result goes to mismatches, and bits are set for the reads that are poorly placed; package overlap defines which are
// (selectPoor).
// The error wraps ErrMemory if there is too little memory.
func (p *Placer) Vote(packed []byte, length int, places VotePlaces, voted []byte, poor []uint64, mismatches []uint8) (err error) {
	v := &p.voting
	records := len(places.Positions)
	if !v.loaded || len(voted) != len(packed) || len(places.Mismatches) != records || 32*len(places.Reversed) < records ||
		poor != nil && (64*len(poor) < records || len(mismatches) != records) {
		return errors.New("voting: the reads are not loaded, or slices have different lengths")
	}
	leave, err := p.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	defer func() { // the memory is needed by what follows
		for _, b := range v.ofVote() {
			if e := b.free(); err == nil {
				err = e
			}
		}
	}()
	for _, x := range []struct {
		to   *buffer
		data []byte
		more int
	}{{&v.sequence, packed, overrun}, {&v.places, bytesOf(places.Positions), 0}, {&v.reversed, bytesOf(places.Reversed), 0},
		{&v.mismatches, places.Mismatches, 0}} {
		if err := replace(&p.queue, x.to, x.data, x.more, "the places of the reads"); err != nil {
			return err
		}
	}
	if poor != nil {
		if err := p.room(&v.poor, 8*len(poor), "poorly placed reads"); err != nil {
			return err
		}
		if err := p.clear(v.poor.at(), 8*len(poor), "poorly placed reads"); err != nil {
			return err
		}
		if err := p.room(&v.shared, length/2+4, "shared mismatches"); err != nil {
			return err
		}
	}
	if err := p.voteArguments(); err != nil {
		return err
	}
	if err := p.voteWindows(length); err != nil {
		return err
	}
	if poor != nil {
		if err := p.launch(kernelVotePoor, threadBlocks(p.count, threads), p.reads.at(), v.arguments.at()); err != nil {
			return err
		}
		if err := p.download(bytesOf(poor), v.poor.at(), "poorly placed reads"); err != nil {
			return err
		}
		if err := p.download(mismatches, v.mismatches.at(), "mismatches of the reads"); err != nil {
			return err
		}
	}
	return p.download(voted, v.sequence.at(), "the pseudogenome")
}

// voteArguments copies to the device where everything is.
func (p *Placer) voteArguments() error {
	v := &p.voting
	a := C.struct_Votes{
		records: C.ulonglong(v.records.at()), stored_reversed: C.ulonglong(v.storedReversed.at()),
		positions: C.ulonglong(v.places.at()), reversed: C.ulonglong(v.reversed.at()), mismatches: C.ulonglong(v.mismatches.at()),
		sequence: C.ulonglong(v.sequence.at()), shared: C.ulonglong(v.shared.at()), poor: C.ulonglong(v.poor.at()),
	}
	return replace(&p.queue, &v.arguments, []C.struct_Votes{a}, 0, "the places of the reads")
}

// voteWindows votes on as many positions at a time as there is memory for.
func (p *Placer) voteWindows(length int) error {
	v := &p.voting
	free, err := freeMemory()
	if err != nil {
		return err
	}
	size := min(length, max(leastVoted, free/8*7/votedBytes&^(leastVoted-1)))
	if err := p.room(&v.bases, 16*size, "votes"); err != nil {
		return err
	}
	if err := p.room(&v.depth, 4*size+32, "votes"); err != nil {
		return err
	}
	for lo := 0; lo < length; lo += size {
		n := min(size, length-lo)
		if err := p.clear(v.bases.at(), 16*n, "votes"); err != nil {
			return err
		}
		if err := p.clear(v.depth.at(), 4*(n+1), "votes"); err != nil {
			return err
		}
		args := []uint64{p.reads.at(), v.arguments.at(), uint64(lo), uint64(lo + n), v.bases.at(), v.depth.at()}
		if err := p.launch(kernelVoteCount, threadBlocks(p.count, threads), args...); err != nil {
			return err
		}
		if err := p.scan(v.depth.at(), n+1); err != nil {
			return err
		}
		if err := p.launch(kernelVote, threadBlocks(n, 4*threads), args[1:]...); err != nil {
			return err
		}
	}
	return nil
}
