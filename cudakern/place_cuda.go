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
	p.count, p.voters = 0, 0
	err := p.do(func() {
		replace(&p.queue, &p.packed, r.Packed, overrun, "the reads")
		if r.Offsets != nil {
			replace(&p.queue, &p.offsets, r.Offsets[:r.Count], 0, "the offsets of the reads")
		}
		if r.Lengths != nil {
			replace(&p.queue, &p.lengths, r.Lengths[:r.Count], 0, "the lengths of the reads")
		}
		replace(&p.queue, &p.masked, r.Masked, 0, "the unusual letters of the reads")
		replace(&p.queue, &p.runs, r.Runs, 1, "the unusual letters of the reads")
		replace(&p.queue, &p.storedReversed, r.StoredReversed, 0, "the strands of the reads")
		replace(&p.queue, &p.records, r.Records, 0, "the records of the reads")
		if r.Offsets == nil || r.First%8 != 0 {
			r.First = 0
		}
		a := C.struct_Reads{
			packed:    C.ulonglong(p.packed.at() - r.First),
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
		replace(&p.queue, &p.reads, []C.struct_Reads{a}, 0, "the reads")
		p.wait()
	})
	if err == nil {
		p.count = r.Count
	}
	return err
}

// BuildIndex copies a sequence of length bases to the device and indexes its k-mers at bases from..to-k. The index takes 16 bytes of device
// memory for each sampled k-mer, the sequence as many as it has. The error wraps ErrMemory if there is too little.
func (p *Placer) BuildIndex(packed []byte, from, to, length int, m PlaceMode) error {
	p.length = 0
	count := max(to-from-m.K+1, 0)
	err := p.do(func() {
		replace(&p.queue, &p.sequence, packed, overrun, "the pseudogenome")
		counts, segments := make([]uint32, 1<<IndexSegmentBits), make([]uint64, 1<<IndexSegmentBits+1)
		replace(&p.queue, &p.counts, counts, 0, "the index")
		p.launch(C.STEP_INDEX_COUNT, threadBlocks(count, threads*C.INDEX_ITEMS), p.sequence.at(), uint64(from), uint64(count), m.word(),
			p.counts.at())
		p.download(bytesOf(counts), p.counts.at(), "the index")
		for i, n := range counts {
			segments[i+1] = segments[i] + 2*uint64(n) + 1 // at least one slot is empty, where searches end
		}
		replace(&p.queue, &p.segments, segments, 0, "the index")
		slots := int(8 * segments[1<<IndexSegmentBits])
		p.room(&p.slots, slots, "the index")
		p.set(p.slots.at(), 0, slots, "the index")
		p.launch(C.STEP_INDEX_INSERT, threadBlocks(count, threads), p.sequence.at(), uint64(from), uint64(count), m.word(), p.segments.at(),
			p.slots.at())
		p.wait()
	})
	if err == nil {
		p.length = length
	}
	return err
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
	if err := p.checkPlaces(in, out); err != nil || p.count == 0 {
		return err
	}
	if p.length == 0 {
		return errors.New("placing without an index")
	}
	if retry == RetryPoor && 64*len(poor) < len(in.Positions) {
		return fmt.Errorf("%d words of poorly placed reads for %d records", len(poor), len(in.Positions))
	}
	return p.do(func() {
		p.loadPlaces(in)
		if retry == RetryPoor {
			replace(&p.queue, &p.poor, poor, 0, "poorly placed reads")
		}
		p.loadAddresses()
		p.room(&p.indices, 4*min(p.count, indicesAtOnce), "the reads to be placed")
		p.room(&p.total, 4, "the reads to be placed")
		for from := 0; from < p.count; from += indicesAtOnce {
			p.placeRange(m, retry, from, min(from+indicesAtOnce, p.count), progress)
		}
		p.download(bytesOf(out.Positions), p.positions.at(), "the places of the reads")
		p.download(bytesOf(out.Reversed[:(len(out.Positions)+31)/32]), p.reversed.at(), "the places of the reads")
		p.download(out.Mismatches, p.mismatches.at(), "the places of the reads")
	})
}

// checkPlaces compares the lengths of slices with the number of reads.
func (p *Placer) checkPlaces(all ...Places) error {
	for _, x := range all {
		n := len(x.Positions)
		if n < p.count || len(x.Mismatches) != n || 32*len(x.Reversed) < n || n != len(all[0].Positions) {
			return fmt.Errorf("places of %d reads in %d, %d and %d elements", p.count, n, len(x.Mismatches), len(x.Reversed))
		}
	}
	return nil
}

// loadPlaces copies places to the device.
func (p *Placer) loadPlaces(in Places) {
	replace(&p.queue, &p.positions, in.Positions, 0, "the places of the reads")
	replace(&p.queue, &p.reversed, in.Reversed, 0, "the places of the reads")
	replace(&p.queue, &p.mismatches, in.Mismatches, 0, "the places of the reads")
}

// LoadPlaces copies places to the device, for CountVotes and SelectPoor. The error wraps ErrMemory if there is too little memory.
func (p *Placer) LoadPlaces(in Places) error {
	if err := p.checkPlaces(in); err != nil {
		return err
	}
	p.voters = 0
	err := p.do(func() {
		p.loadPlaces(in)
		p.wait()
	})
	if err == nil {
		p.voters = len(in.Positions)
	}
	return err
}

// loadAddresses copies to the device where everything is.
func (p *Placer) loadAddresses() {
	a := C.struct_Places{
		stored_reversed: C.ulonglong(p.storedReversed.at()),
		records:         C.ulonglong(p.records.at()),
		positions:       C.ulonglong(p.positions.at()),
		reversed:        C.ulonglong(p.reversed.at()),
		mismatches:      C.ulonglong(p.mismatches.at()),
		poor:            C.ulonglong(p.poor.at()),
		sequence:        C.ulonglong(p.sequence.at()),
		shared:          C.ulonglong(p.shared.at()),
	}
	replace(&p.queue, &p.places, []C.struct_Places{a}, 0, "the places of the reads")
}

// placeRange places reads from..to-1.
func (p *Placer) placeRange(m PlaceMode, retry Retry, from, to int, progress func(done int)) {
	p.set(p.total.at(), 0, 4, "a sum")
	p.launch(C.STEP_PLACE_SELECT, threadBlocks(to-from, threads), p.reads.at(), p.places.at(), m.word(), uint64(retry), uint64(from),
		uint64(to), p.indices.at(), p.total.at())
	sum := int(p.sum())
	for at := 0; at < sum && p.err == nil; at += placedAtOnce {
		n := min(placedAtOnce, sum-at)
		p.launch(C.STEP_PLACE, threadBlocks(n, threads), p.reads.at(), p.places.at(), p.indices.at()+uint64(4*at), uint64(n),
			uint64(retry), uint64(p.length), p.segments.at(), p.slots.at(), m.word())
		if sum > placedAtOnce {
			if p.wait(); p.err == nil {
				progress(from + int(uint64(to-from)*uint64(at+n)/uint64(sum)))
			}
		}
	}
	p.wait()
}
