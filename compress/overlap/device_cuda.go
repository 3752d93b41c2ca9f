//go:build cuda

package overlap

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"unsafe"

	"orcomgo/bases"
	"orcomgo/bins/record"
	"orcomgo/cudakern"
)

// openDevice opens the first GPU.
var openDevice = openCUDA

// What package cudakern has in common with this one. An index other than 0 does not compile.
var (
	_ = [1]int{}[cudakern.IndexSegmentBits-indexSegmentBits]
	_ = [1]int{}[cudakern.IndexKeyBits-indexKeyBits]
	_ = [1]int{}[int(cudakern.RetryMismatched)-int(retryMismatched)]
	_ = [1]int{}[int(cudakern.RetryPoor)-int(retryPoor)]
	_ = [1]int{}[cudakern.NoPlace-Unplaced]
	_ = [1]int{}[cudakern.SeedLen-seedLen]
	_ = [1]int{}[cudakern.PartnerGroup-maxPartnerGroup]
	_ = [1]int{}[cudakern.MostPartners-maxPartners]
	_ = [1]int{}[cudakern.MostVotes-mostVotes]
	_ = [1]int{}[cudakern.LinkZero-linkZero]
	_ = [1]int{}[cudakern.PoorMismatches-minPoorMismatches]
	_ = [1]int{}[cudakern.Overlapped-maxOverlapped]
)

// cuda is the first NVIDIA GPU.
type cuda struct {
	dev    *cudakern.Device
	placer *cudakern.Placer
	joiner *cudakern.Joiner // nil until contigs are joined
}

func openCUDA() (device, error) {
	dev, err := cudakern.Open(0)
	if err != nil {
		return nil, err
	}
	p, err := dev.NewPlacer()
	if err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	return &cuda{dev: dev, placer: p}, nil
}

func (c *cuda) memory() uint64 {
	free := c.dev.Description().FreeMemory
	if cudakern.MostMemory > 0 {
		free = min(free, uint64(cudakern.MostMemory))
	}
	return free
}

func (c *cuda) loadReads(rd *Reads) error {
	n := rd.Count()
	first := rd.offset(0) &^ 7 // packed reads are loaded in words
	r := cudakern.PlaceReads{
		Packed:         rd.packed[first : rd.offset(n)+bases.Pad],
		First:          first,
		Stride:         rd.stride,
		Lengths:        rd.lengths,
		Length:         rd.fixedLength,
		Count:          n,
		Offsets:        rd.offsets,
		Masked:         rd.nonACGT,
		Runs:           runsOf(rd),
		StoredReversed: storedReversed(rd),
		Records:        rd.records,
	}
	return deviceError(c.placer.LoadReads(r))
}

// storedReversed returns a bit for each read: it is stored reversed.
func storedReversed(rd *Reads) []uint64 {
	words := make([]uint64, (rd.Count()+63)/64)
	inParallel(runtime.GOMAXPROCS(0), len(words), 1<<12, func(_, from, to int) {
		for k := from; k < to; k++ {
			for i, place := range rd.signaturePlace[64*k : min(64*(k+1), rd.Count())] {
				words[k] |= uint64(place&1) << i
			}
		}
	})
	return words
}

func (c *cuda) buildIndex(seq *sequence, w *window) error {
	return deviceError(c.placer.BuildIndex(seq.packed, w.from, w.n, seq.n, cudaMode(w.mode)))
}

// runsOf returns the runs of letters other than A, C, G and T of reads.
func runsOf(rd *Reads) []cudakern.Run {
	const part = 1 << 10 // words of nonACGT
	parts := make([][]cudakern.Run, (len(rd.nonACGT)+part-1)/part)
	inParallel(runtime.GOMAXPROCS(0), len(rd.nonACGT), part, func(_, from, to int) {
		var runs []cudakern.Run
		for k, w := range rd.nonACGT[from:to] {
			for ; w != 0; w &= w - 1 {
				runs = rd.appendRuns(runs, 64*(from+k)+bits.TrailingZeros64(w))
			}
		}
		parts[from/part] = runs
	})
	return slices.Concat(parts...)
}

// appendRuns appends the runs of read i, in stored orientation.
func (rd *Reads) appendRuns(runs []cudakern.Run, i int) []cudakern.Run {
	rd.eachException(i, func(e record.Exception) {
		start := e.Start
		if rd.signaturePlace[i]&1 != 0 {
			start = uint32(rd.len(i)) - e.Start - e.Len
		}
		runs = append(runs, cudakern.Run{Read: uint32(i), Start: start, Length: e.Len})
	})
	return runs
}

func (c *cuda) place(w *window, retry retryRule, in *placements, poor []uint64, out *placements, progress func(done int)) error {
	return deviceError(c.placer.Place(cudaMode(w.mode), cudakern.Retry(retry), cudaPlaces(in), poor, cudaPlaces(out), progress))
}

func cudaPlaces(pl *placements) cudakern.Places {
	return cudakern.Places{Positions: pl.pos, Reversed: pl.reversedBits, Mismatches: pl.mismatches}
}

func cudaMode(m placeMode) cudakern.PlaceMode {
	return cudakern.PlaceMode{
		K: m.k, SampleMask: int(m.sampleMask), SeedStep: m.seedStep, BasesPerCandidate: m.basesPerCandidate,
		BasesPerMoreSeed: m.basesPerMoreSeed, GoodMismatches: m.goodMismatches, MaxCandidates: m.maxCandidates,
		BasesPerMismatch: m.basesPerMismatch,
	}
}

// deviceError returns an error of cudakern, which wraps errDeviceMemory as well if it is for want of memory.
func deviceError(err error) error {
	if errors.Is(err, cudakern.ErrMemory) {
		return fmt.Errorf("%w: %w", errDeviceMemory, err)
	}
	return err
}

func (c *cuda) partners(j *joiner, by sampler) ([]link, []uint32, int, error) {
	if c.joiner == nil {
		var err error
		if c.joiner, err = c.dev.NewJoiner(); err != nil {
			return nil, nil, 0, deviceError(err)
		}
	}
	s := &j.set
	links, left := make([]link, s.count()), make([]uint32, s.count())
	compared, err := c.joiner.Partners(cudakern.JoinContigs{
		Packed: s.packed, Start: s.start, Length: s.length, Reads: s.reads, Left: s.left, Settled: j.settled, ReadBases: j.readBases,
	}, cudakern.JoinSampler{Rate: int(by.rate), Ends: by.ends, Part: by.part, Parts: by.parts},
		unsafe.Slice((*uint64)(unsafe.SliceData(links)), len(links)), left)
	return links, left, compared, deviceError(err)
}

func (c *cuda) endJoining() error {
	if c.joiner == nil {
		return nil
	}
	return c.joiner.Free()
}

func (c *cuda) vote(seq *sequence, pl *placements, voted []byte, poor []uint64, mismatches []uint8) error {
	err := c.voteAll(seq, pl, poor, mismatches)
	if err != nil {
		voted = nil
	}
	return deviceError(errors.Join(err, c.placer.EndVotes(voted)))
}

// voteAll has the reads vote on one window of the sequence after another.
func (c *cuda) voteAll(seq *sequence, pl *placements, poor []uint64, mismatches []uint8) error {
	window, err := c.placer.BeginVotes(seq.packed, seq.n, poor != nil)
	if err != nil {
		return err
	}
	if err := c.placer.LoadPlaces(cudaPlaces(pl)); err != nil {
		return err
	}
	for lo := 0; lo < seq.n; lo += window {
		hi := min(lo+window, seq.n)
		if err := c.placer.CountVotes(lo, hi); err != nil {
			return err
		}
		if err := c.placer.DecideVotes(lo, hi); err != nil {
			return err
		}
	}
	if poor == nil {
		return nil
	}
	return c.placer.SelectPoor(poor, mismatches)
}

func (c *cuda) close() error {
	var err error
	if c.joiner != nil {
		err = c.joiner.Close()
	}
	err = errors.Join(err, c.placer.Close())
	go c.dev.Close() // takes a tenth of a second, and the layout is done
	return err
}
