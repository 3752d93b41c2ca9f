package packing

import (
	"cmp"

	"orcomgo/compress/restoring"
	"orcomgo/compress/slicing"
	"orcomgo/compress/workers"
)

// flight is how many slices are in work at once: while they are coded, and while they are verified. Memory bounds both. With few threads
// there are as many as threads.
type flight struct{ coded, verified int }

// manyThreads is the number of threads from which on some of them wait for others: for the pseudogenome, which is made by few, or for
// checksums, which are computed by one. So slices are coded ahead.
const manyThreads = 8

// Sequences can't be coded before there is a pseudogenome. Making it keeps few threads busy, so the others code names and qualities of
// further slices meanwhile, of so much text together:
const (
	// aheadText is for each thread, which codes it in two to three seconds: as long as it takes to lay out the reads of as many slices.
	aheadText = 256 << 20
	// aheadShare is one in so many bytes of memory: little beside what all slices may take, see workers.InMemory.
	aheadShare = 16
	// aheadSlices is how many slices for each thread have that text at most, since even small ones have some MB of models.
	aheadSlices = 128
)

// waiting is how many slices there are for each thread where they wait for others: those of a run for the pseudogenome with all that they
// have, and small ones that are decoded for those before, whose text is compared first.
const waiting = 3

// newFlight returns how many slices are in work at once, in so much memory. follow says that they are verified once they are written, gpu
// that a GPU decodes their qualities.
func newFlight(specs []slicing.Spec, threads int, memory uint64, follow, gpu bool) (f flight) {
	room, busy, ofRuns := workers.InMemory(memory, textsOf(specs)), threads, len(specs) > 0 && specs[0].Run != nil
	switch {
	case gpu:
		busy = restoring.SlicesOnGPU * threads
	case ofRuns:
		busy = waiting * threads
	}
	if !follow {
		return flight{coded: workers.AtMostThreads(room, busy)}
	}
	f.coded, f.verified = workers.AtMostThreads(room-room/2, busy), workers.AtMostThreads(room/2, threads)
	if gpu {
		f.verified = f.coded
	} else if threads >= manyThreads && !ofRuns {
		ahead := min(aheadText*uint64(threads), cmp.Or(memory, workers.DefaultMemory)/aheadShare)
		n := min(workers.Consecutive(textsOf(specs), ahead), len(specs))
		f.coded = max(f.coded, min(n, aheadSlices*threads))
		f.verified = workers.AtMostThreads(room/2, max(threads, min(n, waiting*threads)))
	}
	return f
}

// textsOf returns how many bytes of text and of exceptions slices have.
func textsOf(specs []slicing.Spec) (all []uint64) {
	for i := range specs {
		all = append(all, specs[i].Text+specs[i].Exceptions)
	}
	return all
}
