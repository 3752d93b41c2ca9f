//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	"errors"
	"fmt"
)

// Joiner finds the partners of contigs. It is used by one goroutine at a time.
type Joiner struct {
	queue
	packed, start, length, reads, left, settled buffer
	counts, first                               buffer
	keys, order, groups, where                  buffer
	other                                       buffer // keys and order of every other pass of the sort, and then the sorted k-mers
	links, round, compared                      buffer
	large, larger, largeCount, tables           buffer
}

// NewJoiner makes a Joiner. The error wraps ErrMemory if there is too little memory.
func (d *Device) NewJoiner() (*Joiner, error) {
	j := &Joiner{}
	return j, j.open(d)
}

// Free frees the device memory that Partners took.
func (j *Joiner) Free() error {
	return j.do(func() {
		j.wait()
		j.err = errors.Join(j.err, j.free())
	})
}

// Partners does, for one round, what package overlap does in kmerGroups.fill and joiner.partners: links gets the link of each contig to its
// partner, left the comparisons that it may still make. It returns how many were made. links and left have an element for each contig.
// The device needs 28 bytes for each sampled k-mer, besides the contigs; the error wraps ErrMemory if it has less.
func (j *Joiner) Partners(c JoinContigs, s JoinSampler, links []uint64, left []uint32) (compared int, err error) {
	count := len(c.Length)
	if len(c.Start) != count || len(c.Reads) != count || len(c.Left) != count || len(links) != count || len(left) != count ||
		c.Settled != nil && len(c.Settled) != count || count == 0 {
		return 0, fmt.Errorf("partners of %d contigs in %d elements", count, len(links))
	}
	var sum [1]uint64
	err = j.do(func() {
		j.load(c)
		kmers := j.sample(count, int(c.Start[count-1])+int(c.Length[count-1]+3)/4, s)
		if kmers == 0 {
			for i := range links {
				links[i] = 1<<64 - 1
			}
			copy(left, c.Left)
			return
		}
		j.group(count, kmers)
		j.compare(c, kmers)
		j.download(bytesOf(sum[:]), j.compared.at(), "the number of comparisons")
		j.download(bytesOf(links), j.links.at(), "the links")
		j.download(bytesOf(left), j.left.at(), "the contigs")
	})
	return int(sum[0]), err
}

// load copies contigs to the device.
func (j *Joiner) load(c JoinContigs) {
	for _, x := range []struct {
		to   *buffer
		data []byte
	}{{&j.packed, c.Packed}, {&j.start, bytesOf(c.Start)}, {&j.length, bytesOf(c.Length)}, {&j.reads, bytesOf(c.Reads)},
		{&j.left, bytesOf(c.Left)}, {&j.settled, bytesOf(c.Settled)}} {
		j.grow(x.to, len(x.data)+overrun, "the contigs")
		j.upload(x.to.at(), x.data, "the contigs")
	}
}

// sample writes the hashes and places of the sampled k-mers, in the order of contigs and places, and returns their number.
func (j *Joiner) sample(contigs, bytes int, s JoinSampler) int {
	tiles := threadBlocks(bytes, C.KMER_TILE/4)
	j.grow(&j.counts, 4*tiles+16, "counts of k-mers")
	args := []uint64{j.packed.at(), j.start.at(), j.length.at(), uint64(contigs), uint64(bytes),
		uint64(uint32((1<<32-1)/uint64(s.Rate))) | uint64(s.Ends)<<32, uint64(s.Part) | uint64(s.Parts)<<32, j.counts.at()}
	j.launch(C.STEP_KMER_COUNT, tiles, args...)
	j.scanTotal(j.counts.at(), tiles)
	n := int(j.sum())
	if n > 0 {
		for _, b := range []*buffer{&j.keys, &j.order, &j.groups} {
			j.grow(b, 4*n+16, "k-mers")
		}
		j.grow(&j.where, 8*n+16, "k-mers")
		j.grow(&j.other, 8*n+16, "k-mers")
		j.launch(C.STEP_KMER_WRITE, tiles, append(args, j.keys.at(), j.where.at())...)
	}
	return n
}

// sortKmers sorts the n keys, and writes the index that each had before to order.
func (j *Joiner) sortKmers(n int) {
	const passes = (32 + C.DIGIT_BITS - 1) / C.DIGIT_BITS
	_ = [1]int{}[passes%2]
	j.sort(n, passes, [2]uint64{j.keys.at(), j.other.at()}, [2]uint64{j.order.at(), j.other.at() + uint64(4*n+15)&^15}, &j.counts)
}

// group finds the groups of k-mers, and where those of each contig begin.
func (j *Joiner) group(contigs, n int) {
	j.sortKmers(n)
	j.grow(&j.first, 4*(contigs+1), "the contigs")
	j.launch(C.STEP_KMER_GROUPS, threadBlocks(n, threads), j.keys.at(), j.order.at(), j.where.at(), uint64(n), j.other.at(), j.groups.at())
	j.launch(C.STEP_KMER_FIRST, threadBlocks(contigs+1, threads), j.where.at(), uint64(n), uint64(contigs), j.first.at())
}

// How many slots the tables of partners_large have. A contig that needs more is left to the next number.
var partnerSlots = []int{1 << 14, 1 << 18, 1 << 22, 1 << 26, 1 << 30, 1 << 31}

// compare finds the partners.
func (j *Joiner) compare(c JoinContigs, kmers int) {
	count := len(c.Length)
	j.grow(&j.links, 8*count, "the partners")
	j.grow(&j.large, 4*count, "the partners")
	j.grow(&j.largeCount, 4, "the partners")
	j.grow(&j.compared, 8, "the partners")
	r := C.struct_JoinRound{
		packed:     C.ulonglong(j.packed.at()),
		start:      C.ulonglong(j.start.at()),
		length:     C.ulonglong(j.length.at()),
		reads:      C.ulonglong(j.reads.at()),
		read_bases: C.ulonglong(c.ReadBases),
		contigs:    C.ulonglong(count),
		kmers:      C.ulonglong(kmers),
		first:      C.ulonglong(j.first.at()),
		groups:     C.ulonglong(j.groups.at()),
		where:      C.ulonglong(j.where.at()),
		sorted:     C.ulonglong(j.other.at()),
		left:       C.ulonglong(j.left.at()),
		links:      C.ulonglong(j.links.at()),
		compared:   C.ulonglong(j.compared.at()),
	}
	if c.Settled != nil {
		r.settled = C.ulonglong(j.settled.at())
	}
	replace(&j.queue, &j.round, []C.struct_JoinRound{r}, 0, "the partners")
	j.set(j.compared.at(), 0, 8, "a sum")
	j.set(j.largeCount.at(), 0, 4, "a sum")
	j.launch(C.STEP_PARTNERS, threadBlocks(count, warps), j.round.at(), j.large.at(), j.largeCount.at())
	for _, slots := range partnerSlots {
		var large [1]uint32
		if j.download(bytesOf(large[:]), j.largeCount.at(), "the number of large contigs"); large[0] == 0 {
			return
		}
		j.compareLarge(int(large[0]), slots)
	}
}

// compareLarge finds the partners of the contigs in large, in tables of so many slots each. What needs more is in large afterwards.
func (j *Joiner) compareLarge(count, slots int) {
	j.grow(&j.larger, 4*count, "the partners")
	table := slots * C.PROPOSAL_BYTES
	blocks := min(count, 8*j.dev.desc.Multiprocessors, max(1, (j.freeMemory()+j.tables.size)/4/table), max(1, 1<<30/table))
	j.room(&j.tables, blocks*table, "proposals of partners")
	j.set(j.largeCount.at(), 0, 4, "a sum")
	j.launch(C.STEP_PARTNERS_LARGE, blocks, j.round.at(), j.large.at(), uint64(count), j.tables.at(), uint64(slots), j.larger.at(),
		j.largeCount.at())
	j.large, j.larger = j.larger, j.large
}
