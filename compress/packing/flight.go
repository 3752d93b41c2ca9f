package packing

import (
	"orcomgo/compress/slicing"
	"orcomgo/compress/workers"
)

import "cmp"

// How many slices are in work at once.

// busyThreads returns how many slices keep the threads busy where all have what they need.
func (p *Packer) busyThreads() int {
	if len(p.specs) > 0 && p.specs[0].Run != nil { // they wait for the pseudogenome with all that they have
		return 3 * p.O.Threads
	}
	return p.O.Threads
}

// doneText is how many bytes of text slices that are being verified have for each thread, if they are small: some are decoded and wait for
// those before.
const doneText = 8 << 20

// verifiedAtOnce returns how many slices keep the threads busy with their verification.
func (p *Packer) verifiedAtOnce() int {
	n := p.O.Threads
	if n < EarlyThreads || len(p.specs) == 0 || p.specs[0].Run != nil {
		return n
	}
	return min(max(consecutive(p.specs, doneText*uint64(n)), n), 3*n)
}

// Sequences can't be coded before there is a pseudogenome. Making it keeps few threads busy, so where there are many, the others code names
// and qualities of further slices meanwhile. A slice is begun only when no thread is needed for the slices before it.
const (
	// waitingText is how many bytes of text such slices have for each thread.
	waitingText = 64 << 20
	// waitingShare: they have at most one in so many bytes of memory.
	waitingShare = 16
	// waitingSlices is how many there are for each thread at most.
	waitingSlices = 32
)

// ahead returns how many slices may be in work so that all threads are busy while the pseudogenome is made.
func (p *Packer) ahead() int {
	if p.O.Threads < EarlyThreads || len(p.specs) == 0 || p.specs[0].Run != nil {
		return 1
	}
	text := min(waitingText*uint64(p.O.Threads), cmp.Or(p.memoryBeside(), workers.DefaultMemory)/waitingShare)
	return min(consecutive(p.specs, text), waitingSlices*p.O.Threads)
}

// consecutive returns how many slices, whichever follow each other, have so many bytes of text and of exceptions together at most.
func consecutive(specs []slicing.Spec, most uint64) int {
	n, from, sum := len(specs), 0, uint64(0)
	for i := range specs {
		sum += specs[i].Text + specs[i].Exceptions
		for ; sum > most; from++ {
			sum -= specs[from].Text + specs[from].Exceptions
			n = min(n, i-from)
		}
	}
	return n
}

// largest returns how many bytes of text and of exceptions the largest slice has.
func (p *Packer) largest() (n uint64) {
	for i := range p.specs {
		n = max(n, p.specs[i].Text+p.specs[i].Exceptions)
	}
	return n
}

// memoryBeside returns how much memory there is beside bins that are in memory; 0 for no bound.
func (p *Packer) memoryBeside() uint64 {
	if p.O.Memory == 0 {
		return 0
	}
	return max(p.O.Memory-min(p.R.Held(), p.O.Memory), 1)
}
