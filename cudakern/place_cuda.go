//go:build cuda

package cudakern

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// Placer finds the places of reads, and votes on the bases of the pseudogenome. It is used by one goroutine at a time.
type Placer struct {
	queue
	packed, offsets, lengths, limits buffer // of the reads
	positions, outcomes              buffer
	sequence, counts, segments       buffer
	slots                            buffer
	reads                            PlaceReads // without slices
	haveOffsets, haveLengths         bool
	length                           int // of the sequence, in bases
	voting                           voting
}

// NewPlacer makes a Placer. The error wraps ErrMemory if there is too little memory.
func (d *Device) NewPlacer() (*Placer, error) {
	leave, err := d.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	p := &Placer{}
	return p, p.open(d)
}

// LoadReads copies reads to the device, in place of those that are there. They take len(Packed) bytes of device memory, 12 for
// each read of varying length, and 7 for each read. The error wraps ErrMemory if there is too little.
func (p *Placer) LoadReads(r PlaceReads) error {
	leave, err := p.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	p.reads = PlaceReads{}
	p.voting.loaded = false
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
	for _, b := range []struct {
		*buffer
		each int
	}{{&p.limits, 1}, {&p.positions, 4}, {&p.outcomes, 2}} {
		if b.size >= r.Count*b.each {
			continue
		}
		if err := b.free(); err != nil {
			return err
		}
		if err := b.grow(r.Count*b.each, "the places of the reads"); err != nil {
			return err
		}
	}
	p.reads = r
	p.reads.Packed, p.reads.Offsets, p.reads.Lengths = nil, nil, nil
	if err := p.wait(); err != nil {
		return err
	}
	p.haveOffsets, p.haveLengths = r.Offsets != nil, r.Lengths != nil
	return nil
}

// BuildIndex copies a sequence of length bases to the device and indexes its k-mers at bases from..to-k. The index
// takes 16 bytes of device memory
// for each sampled k-mer, the sequence as many as it has. The error wraps ErrMemory if there is too little.
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
	if err := p.launch(kernelIndexCount, threadBlocks(count, threads), args...); err != nil {
		return err
	}
	if err := cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(counts)), p.counts.ptr, int64(4*len(counts)), p.stream); err != nil {
		return p.fault(err)
	}
	if err := p.stream.Synchronize(); err != nil {
		return p.fault(err)
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
	if err := cu.MemsetD8Async(p.slots.ptr, 0, int64(slots), p.stream); err != nil {
		return cudaError("clearing the index", err)
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

// Place searches for the places of reads from..from+len(limits)-1: for each a place with fewer mismatches than its limit, or none if
// the limit is 0. positions and outcomes have as many elements. An element of positions becomes NoPlace if there is no place; else
// that of outcomes becomes the number of mismatches, and PlaceReversed.
func (p *Placer) Place(m PlaceMode, from int, limits []uint8, positions []uint32, outcomes []uint16) error {
	n := len(limits)
	if len(positions) != n || len(outcomes) != n || from < 0 || from+n > p.reads.Count {
		return fmt.Errorf("places of reads %d..%d of %d in %d elements", from, from+n, p.reads.Count, len(positions))
	}
	if n == 0 {
		return nil
	}
	leave, err := p.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	at := uint64(from)
	limitsAt, positionsAt, outcomesAt := p.limits.at()+at, p.positions.at()+4*at, p.outcomes.at()+2*at
	if err := cu.MemcpyHtoDAsync(cu.DevicePtr(limitsAt), unsafe.Pointer(unsafe.SliceData(limits)), int64(n), p.stream); err != nil {
		return cudaError("copying the limits to the device", err)
	}
	packed := p.packed.at()
	var offsets, lengths uint64
	if p.haveOffsets {
		offsets = p.offsets.at() + 8*at
	}
	if p.haveLengths {
		lengths = p.lengths.at() + 4*at
	}
	err = p.launch(kernelPlace, threadBlocks(n, threads),
		packed, offsets, at*p.reads.Stride, p.reads.Stride, lengths, uint64(p.reads.Length), limitsAt, uint64(n), p.sequence.at(),
		uint64(p.length), p.segments.at(), p.slots.at(), m.word(), positionsAt, outcomesAt,
	)
	if err != nil {
		return err
	}
	// Copies to pageable memory are complete when the calls return.
	if err := cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(positions)), cu.DevicePtr(positionsAt), int64(4*n), p.stream); err != nil {
		return p.fault(err)
	}
	if err := cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(outcomes)), cu.DevicePtr(outcomesAt), int64(2*n), p.stream); err != nil {
		return p.fault(err)
	}
	return p.wait()
}

// Memory returns the bytes of device memory that the Placer has allocated.
func (p *Placer) Memory() (bytes int) {
	for _, b := range p.buffers() {
		bytes += b.size
	}
	return bytes
}

func (p *Placer) buffers() []*buffer {
	return append(p.voting.buffers(), &p.packed, &p.offsets, &p.lengths, &p.limits, &p.positions, &p.outcomes, &p.sequence, &p.counts,
		&p.segments, &p.slots)
}

// Close waits for the stream and frees the memory.
func (p *Placer) Close() error {
	leave, err := p.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	return p.close(p.buffers()...)
}
