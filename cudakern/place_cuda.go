//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	"errors"
	"fmt"
)

// Placer finds the places of reads, and votes on the bases of the pseudogenome. It is used by one goroutine at a time, but for Place.
type Placer struct {
	queue
	packed, offsets, lengths, masked, runs, reads buffer // of the reads
	sequence, counts, segments, slots             buffer
	count                                         int // of the reads
	length                                        int // of the sequence, in bases
	voting                                        voting
	lanes                                         chan *placeLane // those that are not in use
}

// placeLane is what a call of Place needs.
type placeLane struct {
	queue
	indices, limits, positions, outcomes buffer
	in, out                              []byte // pinned: indices and limits, positions and outcomes
}

// placeLanes is how many calls of Place run at the same time.
const placeLanes = 4

// NewPlacer makes a Placer. The error wraps ErrMemory if there is too little memory.
func (d *Device) NewPlacer() (*Placer, error) {
	leave, err := d.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	p := &Placer{lanes: make(chan *placeLane, placeLanes)}
	if err := p.open(d); err != nil {
		return nil, err
	}
	for range placeLanes {
		l := &placeLane{}
		if err := l.open(d); err != nil {
			return nil, errors.Join(err, p.release())
		}
		p.lanes <- l
	}
	return p, nil
}

// LoadReads copies reads to the device, in place of those that are there. They take len(Packed) bytes of device memory, 12 for
// each read of varying length, an eighth of one for each read, and 12 for each run. The error wraps ErrMemory if there is too little.
func (p *Placer) LoadReads(r PlaceReads) error {
	if 64*len(r.Masked) < r.Count {
		return fmt.Errorf("%d words of masked reads for %d reads", len(r.Masked), r.Count)
	}
	leave, err := p.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	p.count, p.voting.loaded = 0, false
	if err := replace(&p.queue, &p.packed, r.Packed, overrun, "the reads"); err != nil {
		return err
	}
	if r.Offsets != nil {
		if err := replace(&p.queue, &p.offsets, r.Offsets[:r.Count], 0, "the offsets of the reads"); err != nil {
			return err
		}
	}
	if r.Lengths != nil {
		if err := replace(&p.queue, &p.lengths, r.Lengths[:r.Count], 0, "the lengths of the reads"); err != nil {
			return err
		}
	}
	if err := replace(&p.queue, &p.masked, r.Masked, 0, "the unusual letters of the reads"); err != nil {
		return err
	}
	if err := replace(&p.queue, &p.runs, r.Runs, 1, "the unusual letters of the reads"); err != nil {
		return err
	}
	a := C.struct_Reads{
		packed: C.ulonglong(p.packed.at()), stride: C.ulonglong(r.Stride), length: C.ulonglong(r.Length), count: C.ulonglong(r.Count),
		masked: C.ulonglong(p.masked.at()), runs: C.ulonglong(p.runs.at()), run_count: C.ulonglong(len(r.Runs)),
	}
	if r.Offsets != nil {
		a.offsets = C.ulonglong(p.offsets.at())
	}
	if r.Lengths != nil {
		a.lengths = C.ulonglong(p.lengths.at())
	}
	if err := replace(&p.queue, &p.reads, []C.struct_Reads{a}, 0, "the reads"); err != nil {
		return err
	}
	if err := p.wait(); err != nil {
		return err
	}
	p.count = r.Count
	return nil
}

// BuildIndex copies a sequence of length bases to the device and indexes its k-mers at bases from..to-k. The index takes 16 bytes of device
// memory for each sampled k-mer, the sequence as many as it has. The error wraps ErrMemory if there is too little.
func (p *Placer) BuildIndex(packed []byte, from, to, length int, m PlaceMode) error {
	leave, err := p.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	p.length = 0
	count := max(to-from-m.K+1, 0)
	if err := replace(&p.queue, &p.sequence, packed, overrun, "the pseudogenome"); err != nil {
		return err
	}
	counts, segments := make([]uint32, 1<<IndexSegmentBits), make([]uint64, 1<<IndexSegmentBits+1)
	if err := replace(&p.queue, &p.counts, counts, 0, "the index"); err != nil {
		return err
	}
	args := []uint64{p.sequence.at(), uint64(from), uint64(count), m.word(), p.counts.at()}
	if err := p.launch(kernelIndexCount, threadBlocks(count, threads*C.INDEX_ITEMS), args...); err != nil {
		return err
	}
	if err := p.download(bytesOf(counts), p.counts.at(), "the index"); err != nil {
		return err
	}
	for i, n := range counts {
		segments[i+1] = segments[i] + 2*uint64(n) + 1 // at least one slot is empty, where searches end
	}
	if err := replace(&p.queue, &p.segments, segments, 0, "the index"); err != nil {
		return err
	}
	slots := int(8 * segments[1<<IndexSegmentBits])
	if err := replace(&p.queue, &p.slots, []byte(nil), slots, "the index"); err != nil {
		return err
	}
	if err := p.clear(p.slots.at(), slots, "the index"); err != nil {
		return err
	}
	args = []uint64{p.sequence.at(), uint64(from), uint64(count), m.word(), p.segments.at(), p.slots.at()}
	if err := p.launch(kernelIndexInsert, threadBlocks(count, threads), args...); err != nil {
		return err
	}
	if err := p.wait(); err != nil {
		return err
	}
	p.length = length
	return nil
}

// word returns the parameters in the form of the kernels.
func (m PlaceMode) word() uint64 {
	return uint64(m.K) | uint64(m.SampleMask)<<8 | uint64(m.SeedStep)<<16 | uint64(m.BasesPerCandidate)<<24 |
		uint64(m.BasesPerMoreSeed)<<32 | uint64(m.GoodMismatches)<<40 | uint64(m.MaxCandidates)<<48
}

// Place searches for the places of reads, those with the numbers in indices: for each a place with fewer mismatches than its limit, or none
// if the limit is 0. The slices have as many elements. An element of positions becomes NoPlace if there is no place; else that of outcomes
// becomes the number of mismatches, and PlaceReversed. Several goroutines may call it at the same time.
func (p *Placer) Place(m PlaceMode, indices []uint32, limits []uint8, positions []uint32, outcomes []uint16) error {
	n := len(indices)
	if len(limits) != n || len(positions) != n || len(outcomes) != n {
		return fmt.Errorf("places of %d reads in %d elements", n, len(positions))
	}
	if n == 0 {
		return nil
	}
	leave, err := p.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	l := <-p.lanes
	defer func() { p.lanes <- l }()
	if err := l.room(n); err != nil {
		return err
	}
	copy(l.in, bytesOf(indices))
	copy(l.in[4*n:], limits)
	if err := l.send(l.indices.at(), l.in[:4*n], "the numbers of reads"); err != nil {
		return err
	}
	if err := l.send(l.limits.at(), l.in[4*n:5*n], "the limits of reads"); err != nil {
		return err
	}
	err = l.launch(kernelPlace, threadBlocks(n, threads), p.reads.at(), l.indices.at(), l.limits.at(), uint64(n), p.sequence.at(),
		uint64(p.length), p.segments.at(), p.slots.at(), m.word(), l.positions.at(), l.outcomes.at())
	if err != nil {
		return err
	}
	if err := l.fetch(l.out[:4*n], l.positions.at(), "places"); err != nil {
		return err
	}
	if err := l.fetch(l.out[4*n:6*n], l.outcomes.at(), "places"); err != nil {
		return err
	}
	if err := l.wait(); err != nil {
		return err
	}
	copy(bytesOf(positions), l.out)
	copy(bytesOf(outcomes), l.out[4*n:])
	return nil
}

// room makes room for n reads.
func (l *placeLane) room(n int) error {
	for _, x := range []struct {
		*buffer
		each int
	}{{&l.indices, 4}, {&l.limits, 1}, {&l.positions, 4}, {&l.outcomes, 2}} {
		if err := x.grow(x.each*n, "the places of the reads"); err != nil {
			return err
		}
	}
	if len(l.out) >= 6*n {
		return nil
	}
	err := errors.Join(freePinned(l.in), freePinned(l.out))
	l.in, l.out = nil, nil
	if err != nil {
		return err
	}
	if l.in, err = allocPinned(5 * n); err != nil {
		return err
	}
	l.out, err = allocPinned(6 * n)
	return err
}

// Close waits for the streams and frees the memory.
func (p *Placer) Close() error {
	leave, err := p.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	return p.release()
}

func (p *Placer) release() error {
	err := p.close(append(p.voting.buffers(), &p.packed, &p.offsets, &p.lengths, &p.masked, &p.runs, &p.reads, &p.sequence, &p.counts,
		&p.segments, &p.slots)...)
	for range len(p.lanes) {
		l := <-p.lanes
		err = errors.Join(err, l.close(&l.indices, &l.limits, &l.positions, &l.outcomes), freePinned(l.in), freePinned(l.out))
	}
	return err
}
