// Package estimate says what the archive of large inputs will take, from archives of their first part.
package estimate

import "math"

// Point is what an archive took.
type Point struct {
	Text    uint64 `json:"text_bytes"`
	Records uint64 `json:"records"`
	Bases   uint64 `json:"bases"`
	Archive uint64 `json:"archive_bytes"`
	// Sequences are the bytes of the archive that hold sequences.
	Sequences uint64  `json:"sequence_bytes"`
	Bins      uint64  `json:"bin_bytes"`
	Program   uint64  `json:"program_memory"`  // most bytes resident before the archive was started: those of the program itself
	BinPeak   uint64  `json:"bin_peak_memory"` // and until the inputs were binned
	Peak      uint64  `json:"peak_memory"`     // and until the end
	Seconds   float64 `json:"seconds"`
	CPU       float64 `json:"cpu_seconds"` // of all threads together
	// Kmers is about how many different k-mers the text has.
	Kmers float64 `json:"kmers"`
}

// Limits are those of the run that is expected.
type Limits struct {
	Threads   int
	Memory    uint64 // bytes to stay within
	Hold      uint64 // bytes of bins that may stay in memory
	BlockText uint64 // bytes of text that are binned at a time, in all blocks together
	SliceText uint64 // bytes of text that a thread codes at a time, of both mates
	BasesOnly bool   // neither names nor qualities are kept
	// Layout returns about how many bytes of memory so many reads of so many bases take while they are laid out, if half of them are new,
	// and if none is.
	Layout func(reads, bases uint64) (new, placed uint64)
}

// Expected is what an archive is expected to take.
type Expected struct {
	Archive   uint64  `json:"archive_bytes"`
	Seconds   float64 `json:"seconds"`
	CPU       float64 `json:"cpu_seconds"`
	Memory    uint64  `json:"memory_bytes"`    // resident at most
	Temporary uint64  `json:"temporary_bytes"` // in files without a name
}

// Whole returns what was measured of a whole input.
func (l *Limits) Whole(p *Point) Expected {
	return Expected{p.Archive, p.Seconds, p.CPU, p.Peak, l.temporary(p.Bins, p.Records, p.Bases)}
}

// temporary returns how much of so many bytes of bins is in files.
func (l *Limits) temporary(bins, reads, bases uint64) uint64 {
	if layout, _ := l.Layout(reads, bases); bins <= l.Hold && bins+layout <= l.Memory/2 {
		return 0
	}
	return bins
}

// Novel is about how many bytes a base takes that no read had before: nearly two bits.
const novel = 0.24

// leastGrowth is which share of the time for a byte of the text that was measured a byte takes at least beyond it.
const leastGrowth = 0.8

// Extrapolate returns what is expected of inputs with so many bytes of text and different k-mers, of which full was measured, and half of
// full.
//
// Sizes and times grow with the text as they did from half to full, since what is learned at the beginning costs once. But of the
// sequences, what grows is new bases, which are counted by new k-mers, and what it takes to place reads.
func (l *Limits) Extrapolate(half, full *Point, text uint64, kmers float64) Expected {
	if text <= full.Text || full.Text <= half.Text {
		return l.Whole(full)
	}
	more := float64(text-full.Text) / float64(full.Text-half.Text) // times what half lacks of full
	grow := func(half, full float64) float64 { return full + max(full-half, 0)*more }
	whole := func(half, full uint64) uint64 { return uint64(grow(float64(half), float64(full))) }
	records, bases, bins := whole(half.Records, full.Records), whole(half.Bases, full.Bases), whole(half.Bins, full.Bins)

	others := grow(float64(half.Archive-half.Sequences), float64(full.Archive-full.Sequences))
	sequences := l.sequences(half, full, bases, kmers)
	e := Expected{Archive: uint64(others + sequences)}
	// On a busy machine half may have taken nearly as long as full. But beyond the start, time grows with the text.
	e.CPU = max(grow(half.CPU, full.CPU), leastGrowth*full.CPU*float64(text)/float64(full.Text))
	// Slices are coded side by side: one of them can't keep all threads busy.
	busy := func(text uint64) float64 {
		return min(float64(max(l.Threads, 1)), math.Ceil(float64(text)/float64(max(l.SliceText, 1))))
	}
	e.Seconds = max(full.Seconds*e.CPU/max(full.CPU, 1e-3)*busy(full.Text)/busy(text), e.CPU/float64(max(l.Threads, 1)))
	e.Temporary = l.temporary(bins, records, bases)
	e.Memory = l.memory(half, full, text, sequences, records, bases)
	return e
}

// sequences returns how many bytes are expected to hold the sequences of so many bases with so many different k-mers.
func (l *Limits) sequences(half, full *Point, bases uint64, kmers float64) float64 {
	size := float64(full.Sequences)
	size2, bases2, kmers2 := size-float64(half.Sequences), float64(full.Bases-half.Bases), full.Kmers-half.Kmers
	if bases2 <= 0 {
		return size
	}
	perKmer := 0.0
	if kmers2 > 0 {
		perKmer = min(novel, max(size2, 0)/kmers2)
	}
	perBase := max(size2-perKmer*kmers2, 0) / bases2
	return size + perKmer*max(kmers-full.Kmers, 0) + perBase*float64(bases-full.Bases)
}

// What packing takes in bytes of memory, measured on short and long reads from 4 MB of text to 285 MB, with two threads.
const (
	// perText is for a byte of text of the slices in work: names, bases and qualities, and what they become.
	perText = 1.8
	// mostPerSequence is the most for a byte of the archive that holds sequences: contigs, indexes and models of what is new, 14 bytes a
	// base. From half to full it may seem to be more, since tables double. Of long reads, most of these bytes are errors.
	mostPerSequence, mostPerLong = 60.0, 20.0
	// firstText is how much text takes more memory than that, up to mostPerFirst bytes a byte: tables double until there are 2 million
	// bases, and the first reads are all new.
	firstText, mostPerFirst = 16e6, 8.0
	// longBases is how many bases long reads have at least, on average.
	longBases = 701
)

// memory returns how much memory is expected to be resident at most, by inputs whose sequences take so many bytes of the archive.
//
// In the first part of the inputs, most reads are new. So memory does not grow with the text as from half to full, but with the text in
// work and with what is new.
func (l *Limits) memory(half, full *Point, text uint64, sequences float64, records, bases uint64) uint64 {
	rate := func(half2, full2 uint64) float64 { // a byte of text
		return max(float64(full2)-float64(half2), 0) / float64(full.Text-half.Text)
	}
	// Binning: what is in work at a time.
	inBlocks := min(text, l.BlockText)
	bin := float64(full.BinPeak) + rate(half.BinPeak, full.BinPeak)*float64(inBlocks-min(full.Text, inBlocks))
	// Packing: slices, as many as there are threads and one, then the reads alone, and what is new.
	most := perText
	if l.BasesOnly {
		most *= float64(full.Bases) / float64(full.Text)
	}
	grows := rate(half.Peak, full.Peak)
	each := min(grows, most)
	// A small sample is followed by text that takes as much as it did.
	first := max(min(text, firstText), full.Text)
	pack := float64(full.Peak) + min(grows, mostPerFirst)*float64(first-full.Text)
	var perSequence float64
	if full.Sequences > half.Sequences {
		grown := float64(full.Peak) - float64(half.Peak) - each*float64(full.Text-half.Text)
		most = mostPerSequence
		if full.Bases >= longBases*full.Records {
			most = mostPerLong
		}
		perSequence = min(max(grown, 0)/float64(full.Sequences-half.Sequences), most)
	}
	inSlices := max(min(text, l.sliceTexts()), first)
	pack += each*float64(inSlices-first) + perSequence*max(sequences-float64(full.Sequences), 0)*float64(text-first)/float64(text-full.Text)
	if inSlices < text {
		_, all := l.Layout(records, bases)
		_, part := l.Layout(full.Records, full.Bases)
		pack += float64(all-min(part, all)) * float64(text-inSlices) / float64(text-full.Text)
	}
	return uint64(min(max(bin, pack), float64(max(l.Memory, full.Peak))))
}

// sliceTexts returns how many bytes of text the slices in work have together: one slice for each thread and one more, if half of a
// quarter of the memory is enough for them. The other half is for slices that are verified.
func (l *Limits) sliceTexts() uint64 {
	n := l.Memory / 4 / max(l.SliceText, 1)
	return l.SliceText * max(min(n-n/2, uint64(max(l.Threads, 1))+1), 1)
}
