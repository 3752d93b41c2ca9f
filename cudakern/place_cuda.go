//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	"errors"
	"fmt"
)

// Placer finds the places of reads, and votes on the bases of the pseudogenome. It is used by one goroutine at a time.
type Placer struct {
	queue
	packed, offsets, lengths, masked, runs, reads buffer // of the reads
	storedReversed, records                       buffer
	count                                         int // of the reads
	sequence, counts, segments, slots             buffer
	length                                        int // of the sequence, in bases

	positions, reversed, mismatches, poor, places buffer // by record, and the addresses of all
	indices                                       buffer // of the reads to be placed
	shared, bases, depth                          buffer // of votes
	voters                                        int    // records whose places LoadPlaces has loaded
	votedLength                                   int    // of the sequence on which reads vote; 0 if none do
	findPoor                                      bool   // BeginVotes has prepared for SelectPoor
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
// each read of varying length, 4 for each record, a quarter of one for each read, and 12 for each run. The error wraps ErrMemory if
// there is too little.
func (p *Placer) LoadReads(r PlaceReads) error {
	if 64*len(r.Masked) < r.Count || 64*len(r.StoredReversed) < r.Count || len(r.Records) != r.Count {
		return fmt.Errorf("%d words of masked reads, %d of reversed ones, %d records for %d reads", len(r.Masked), len(r.StoredReversed),
			len(r.Records), r.Count)
	}
	leave, err := p.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	p.count, p.voters = 0, 0
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
	if err := replace(&p.queue, &p.storedReversed, r.StoredReversed, 0, "the strands of the reads"); err != nil {
		return err
	}
	if err := replace(&p.queue, &p.records, r.Records, 0, "the records of the reads"); err != nil {
		return err
	}
	if r.Offsets == nil || r.First%8 != 0 {
		r.First = 0
	}
	a := C.struct_Reads{
		packed: C.ulonglong(
			p.packed.at() - r.First,
		),
		stride:    C.ulonglong(r.Stride),
		length:    C.ulonglong(r.Length),
		count:     C.ulonglong(r.Count),
		masked:    C.ulonglong(p.masked.at()),
		runs:      C.ulonglong(p.runs.at()),
		run_count: C.ulonglong(len(r.Runs)),
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
		uint64(m.BasesPerMoreSeed)<<32 | uint64(m.GoodMismatches)<<40 | uint64(m.MaxCandidates)<<48 | uint64(m.BasesPerMismatch)<<56
}

// indicesAtOnce is for how many reads there is room in indices at most, and placedAtOnce how many are placed between reports of progress.
const (
	indicesAtOnce = 1 << 26
	placedAtOnce  = 1 << 22
)

// Place searches for the places of the reads that have none, and for better ones of those that retry selects, on the sequence and by the
// index of BuildIndex. It copies the places from in, with the set of poorly placed reads if retry is RetryPoor, to out; in is not changed.
// All slices have a length that fits the number of records. progress is called with the number of reads that are done.
// The device needs 9 bytes for each read and a quarter of one. The error wraps ErrMemory if it has less.
func (p *Placer) Place(m PlaceMode, retry Retry, in Places, poor []uint64, out Places, progress func(done int)) error {
	if err := p.check(in, out); err != nil || p.count == 0 {
		return err
	}
	if p.length == 0 {
		return errors.New("placing without an index")
	}
	if retry == RetryPoor && 64*len(poor) < len(in.Positions) {
		return fmt.Errorf("%d words of poorly placed reads for %d records", len(poor), len(in.Positions))
	}
	leave, err := p.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	if err := p.loadPlaces(in); err != nil {
		return err
	}
	if retry == RetryPoor {
		if err := replace(&p.queue, &p.poor, poor, 0, "poorly placed reads"); err != nil {
			return err
		}
	}
	if err := p.loadAddresses(); err != nil {
		return err
	}
	if err := p.room(&p.indices, 4*min(p.count, indicesAtOnce), "the reads to be placed"); err != nil {
		return err
	}
	if err := p.total.grow(4, "the reads to be placed"); err != nil {
		return err
	}
	for from := 0; from < p.count; from += indicesAtOnce {
		to := min(from+indicesAtOnce, p.count)
		if err := p.placeRange(m, retry, from, to, progress); err != nil {
			return err
		}
	}
	return p.fetchPlaces(out)
}

// check compares the lengths of slices with the number of reads.
func (p *Placer) check(all ...Places) error {
	for _, x := range all {
		n := len(x.Positions)
		if n < p.count || len(x.Mismatches) != n || 32*len(x.Reversed) < n || n != len(all[0].Positions) {
			return fmt.Errorf("places of %d reads in %d, %d and %d elements", p.count, n, len(x.Mismatches), len(x.Reversed))
		}
	}
	return nil
}

// loadPlaces copies places to the device.
func (p *Placer) loadPlaces(in Places) error {
	if err := replace(&p.queue, &p.positions, in.Positions, 0, "the places of the reads"); err != nil {
		return err
	}
	if err := replace(&p.queue, &p.reversed, in.Reversed, 0, "the places of the reads"); err != nil {
		return err
	}
	return replace(&p.queue, &p.mismatches, in.Mismatches, 0, "the places of the reads")
}

// fetchPlaces copies places from the device.
func (p *Placer) fetchPlaces(out Places) error {
	if err := p.download(bytesOf(out.Positions), p.positions.at(), "the places of the reads"); err != nil {
		return err
	}
	if err := p.download(bytesOf(out.Reversed[:(len(out.Positions)+31)/32]), p.reversed.at(), "the places of the reads"); err != nil {
		return err
	}
	return p.download(out.Mismatches, p.mismatches.at(), "the places of the reads")
}

// LoadPlaces copies places to the device, for CountVotes and SelectPoor. The error wraps ErrMemory if there is too little memory.
func (p *Placer) LoadPlaces(in Places) error {
	if err := p.check(in); err != nil {
		return err
	}
	leave, err := p.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	p.voters = 0
	if err := p.loadPlaces(in); err != nil {
		return err
	}
	p.voters = len(in.Positions)
	return p.wait()
}

// loadAddresses copies to the device where everything is.
func (p *Placer) loadAddresses() error {
	a := C.struct_Places{
		stored_reversed: C.ulonglong(
			p.storedReversed.at(),
		),
		records:    C.ulonglong(p.records.at()),
		positions:  C.ulonglong(p.positions.at()),
		reversed:   C.ulonglong(p.reversed.at()),
		mismatches: C.ulonglong(p.mismatches.at()),
		poor:       C.ulonglong(p.poor.at()),
		sequence:   C.ulonglong(p.sequence.at()),
		shared:     C.ulonglong(p.shared.at()),
	}
	return replace(&p.queue, &p.places, []C.struct_Places{a}, 0, "the places of the reads")
}

// placeRange places reads from..to-1.
func (p *Placer) placeRange(m PlaceMode, retry Retry, from, to int, progress func(done int)) error {
	if err := p.clear(p.total.at(), 4, "a sum"); err != nil {
		return err
	}
	err := p.launch(kernelPlaceSelect, threadBlocks(to-from, threads), p.reads.at(), p.places.at(), m.word(), uint64(retry), uint64(from),
		uint64(to), p.indices.at(), p.total.at())
	if err != nil {
		return err
	}
	sum, err := p.sum()
	if err != nil {
		return err
	}
	for at := 0; at < int(sum); at += placedAtOnce {
		n := min(placedAtOnce, int(sum)-at)
		err := p.launch(
			kernelPlace,
			threadBlocks(n, threads),
			p.reads.at(),
			p.places.at(),
			p.indices.at()+uint64(4*at),
			uint64(n),
			uint64(retry),
			uint64(p.length),
			p.segments.at(),
			p.slots.at(),
			m.word(),
		)
		if err != nil {
			return err
		}
		if int(sum) > placedAtOnce {
			if err := p.wait(); err != nil {
				return err
			}
			progress(from + int(uint64(to-from)*uint64(at+n)/uint64(sum)))
		}
	}
	return p.wait()
}

// Close waits for the stream and frees the memory.
func (p *Placer) Close() error {
	leave, err := p.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	return p.close(&p.packed, &p.offsets, &p.lengths, &p.masked, &p.runs, &p.reads, &p.storedReversed, &p.records, &p.sequence, &p.counts,
		&p.segments, &p.slots, &p.positions, &p.reversed, &p.mismatches, &p.poor, &p.places, &p.indices, &p.shared, &p.bases, &p.depth)
}
