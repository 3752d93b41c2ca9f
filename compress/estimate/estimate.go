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

const (
	// novel is about how many bytes a base takes that no read had before: nearly two bits.
	novel = 0.24
	// kmerLength is how many bases k-mers are counted of.
	kmerLength = 21
	// perMistake is about how many bytes a k-mer takes that is new because of an error of sequencing, of which one makes kmerLength.
	perMistake = 0.09
	// perLongMistake is the same in long reads, which lie on each other more often, so that errors are told by the other reads.
	perLongMistake = 0.05
	// leastOnce is which share of the k-mers of long reads is taken for right at least.
	leastOnce = 0.1
	// ending is a share of the text, at its end. K-mers that are new in it are counted as errors.
	ending = 0.2
)

// leastGrowth is which share of the time for a byte of the text that was measured a byte takes at least beyond it.
const leastGrowth = 0.8

// Extrapolate returns what is expected of inputs with so many bytes of text, of which full was measured, and half of full. kmers returns
// how many different k-mers the first bytes of the text have.
//
// Sizes and times grow with the text as they did from half to full, since what is learned at the beginning costs once. But of the
// sequences, what grows is new bases, which are counted by new k-mers, and what it takes to place reads.
func (l *Limits) Extrapolate(half, full *Point, text uint64, kmers func(text uint64) float64) Expected {
	if text <= full.Text || full.Text <= half.Text {
		return l.Whole(full)
	}
	more := float64(text-full.Text) / float64(full.Text-half.Text) // times what half lacks of full
	grow := func(half, full float64) float64 { return full + max(full-half, 0)*more }
	whole := func(half, full uint64) uint64 { return uint64(grow(float64(half), float64(full))) }
	records, bases, bins := whole(half.Records, full.Records), whole(half.Bases, full.Bases), whole(half.Bins, full.Bins)

	others := grow(float64(half.Archive-half.Sequences), float64(full.Archive-full.Sequences))
	sequences := sequences(half, full, text, bases, kmers)
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

// sequences returns how many bytes are expected to hold the sequences of so much text with so many bases.
//
// K-mers that are new in the last part of the text are taken for errors, and as many for errors in each part of it. Others are new bases.
// What is left of the size of the sample is for placing reads, whether they are new or not.
func sequences(half, full *Point, text, bases uint64, kmers func(text uint64) float64) float64 {
	size := float64(full.Sequences)
	bases2, kmers2 := float64(full.Bases-half.Bases), kmers(full.Text)-kmers(half.Text)
	if bases2 <= 0 {
		return size
	}
	perBase, new := max(size-float64(half.Sequences), 0)/bases2, max(kmers2, 0)/bases2 // sizes and k-mers a base of the sample
	more, moreNew := float64(bases-full.Bases), max(kmers(text)-kmers(full.Text), 0)
	last := kmers(text) - kmers(text-uint64(ending*float64(text)))
	mistakes := min(max(last, 0)/(ending*float64(bases)), new, moreNew/more)
	// Long reads have so many errors that those in new bases matter, whose k-mers are new in any case.
	perMistake, once := perMistake, 1.0
	if full.longReads() {
		perMistake, once = perLongMistake, max(1-mistakes, leastOnce)
	}
	newBases := func(kmers, bases float64) float64 { return (kmers - mistakes*bases) / once }
	mistaken := func(newBases, bases float64) float64 { // k-mers
		if once < 1 {
			bases -= newBases
		}
		return mistakes * bases
	}
	fresh, freshMore := newBases(new, 1), newBases(moreNew, more)
	perMistake = min(perMistake, perBase/max(new, 1e-9))
	// A read has fewer k-mers than bases.
	length := max(float64(full.Bases)/float64(max(full.Records, 1)), 4*kmerLength)
	perKmer := novel * length / (length - kmerLength + 1)
	if fresh > 0 {
		perKmer = min(perKmer, (perBase-perMistake*mistaken(fresh, 1))/fresh)
	}
	perBase = max(perBase-perKmer*fresh-perMistake*mistaken(fresh, 1), 0)
	return size + perKmer*freshMore + perMistake*mistaken(freshMore, more) + perBase*more
}

// What packing takes in bytes of memory beyond what it took for a sample. Fitted to the peaks of short and long reads of 1 to 615 MB of
// text, of which 2 MB or more were the sample, with 1, 2 and 16 threads; they are within 15 percent of seven in eight of them. Differences
// between two small samples tell less: a peak differs by megabytes from one run to the next, and tables grow in steps.
const (
	// perText is for a byte of text: its bins, and the places of its reads. The text that is coded or verified at a time takes perCoded more:
	// names, bases and qualities as bytes, what they become, and what verification renders.
	// Without names and qualities that is perCodedBases for a byte of sequences: verification has its reads in memory that is used again.
	perText, perCoded, perCodedBases = 0.7, 1.6, 1.0
	// codedText and codedTextThread are how much text that is: between one and two slices, and a little for each thread.
	codedText, codedTextThread = 100e6, 4.5e6
	// perSequence is for a byte of the archive that holds sequences: contigs, k-mers and indexes of what is new, 18 bytes a base. The first
	// firstSequences bytes of them take perFirst more, for tables of models that grow up to a bound.
	perSequence, perFirst, firstSequences = 75.0, 65.0, 0.5e6
	// perAssembly and perFirstAssembly are the same for assemblies, of which hardly anything is joined.
	perAssembly, perFirstAssembly = 50.0, 35.0
	// longBases is how many bases the sequences of assemblies and long reads have at least, on average.
	longBases = 701
)

// assembly reports whether what was measured is long sequences without qualities.
func (p *Point) assembly() bool { return p.Bases >= longBases*p.Records && 2*p.Text < 3*p.Bases }

// longReads reports whether what was measured is long reads with qualities.
func (p *Point) longReads() bool { return p.Bases >= longBases*p.Records && !p.assembly() }

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
	// Packing: the slices in work, then the reads alone, and what is new.
	perNew, first, share, perCoded := perSequence, perFirst, 1.0, perCoded
	if l.BasesOnly {
		perCoded = perCodedBases
		share = float64(full.Bases) / float64(full.Text)
	}
	if full.assembly() {
		perNew, first = perAssembly, perFirstAssembly
	}
	inSlices := max(min(text, l.sliceTexts()), full.Text)
	coded := codedText + codedTextThread*float64(max(l.Threads, 1))
	takes := func(text, sequences float64) float64 {
		return share*(perText*text+perCoded*min(text, coded)) + perNew*sequences + first*min(sequences, firstSequences)
	}
	had := float64(full.Sequences)
	pack := float64(full.Peak) + takes(float64(inSlices), max(sequences, had)) - takes(float64(full.Text), had)
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
