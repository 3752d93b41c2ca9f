//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	"fmt"
	"unsafe"
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
	leave, err := d.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	j := &Joiner{}
	return j, j.open(d)
}

func (j *Joiner) buffers() []*buffer {
	return []*buffer{&j.packed, &j.start, &j.length, &j.reads, &j.left, &j.settled, &j.counts, &j.first, &j.keys, &j.order, &j.groups,
		&j.where, &j.other, &j.links, &j.round, &j.compared, &j.large, &j.larger, &j.largeCount, &j.tables}
}

// Close waits for the stream and frees the memory.
func (j *Joiner) Close() error {
	leave, err := j.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	return j.close(j.buffers()...)
}

// Free frees the device memory that Partners took.
func (j *Joiner) Free() error {
	leave, err := j.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	err = j.wait()
	for _, b := range j.buffers() {
		if e := b.free(); err == nil {
			err = e
		}
	}
	return err
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
	leave, err := j.dev.enter()
	if err != nil {
		return 0, err
	}
	defer leave()
	if err := j.upload(c); err != nil {
		return 0, err
	}
	bytes := int(c.Start[count-1]) + int(c.Length[count-1]+3)/4
	kmers, err := j.sample(count, bytes, s)
	if err != nil {
		return 0, err
	}
	if kmers == 0 {
		for i := range links {
			links[i] = 1<<64 - 1
		}
		copy(left, c.Left)
		return 0, nil
	}
	if err := j.sort(kmers); err != nil {
		return 0, err
	}
	if err := j.group(count, kmers); err != nil {
		return 0, err
	}
	if err := j.compare(c, kmers); err != nil {
		return 0, err
	}
	var n [1]uint64
	if err := j.download(bytesOf(n[:]), j.compared.at(), "the number of comparisons"); err != nil {
		return 0, err
	}
	if err := j.download(bytesOf(links), j.links.at(), "the links"); err != nil {
		return 0, err
	}
	return int(n[0]), j.download(bytesOf(left), j.left.at(), "the contigs")
}

// upload copies contigs to the device.
func (j *Joiner) upload(c JoinContigs) error {
	for _, x := range []struct {
		to   *buffer
		data []byte
	}{{&j.packed, c.Packed}, {&j.start, bytesOf(c.Start)}, {&j.length, bytesOf(c.Length)}, {&j.reads, bytesOf(c.Reads)},
		{&j.left, bytesOf(c.Left)}, {&j.settled, bytesOf(c.Settled)}} {
		if err := x.to.grow(len(x.data)+overrun, "the contigs"); err != nil {
			return err
		}
		if err := j.queue.upload(x.to.at(), x.data, "the contigs"); err != nil {
			return err
		}
	}
	return nil
}

// sample writes the hashes and places of the sampled k-mers, in the order of contigs and places, and returns their number.
func (j *Joiner) sample(contigs, bytes int, s JoinSampler) (int, error) {
	tiles := threadBlocks(bytes, kmerTile/4)
	if err := j.counts.grow(4*tiles+16, "counts of k-mers"); err != nil {
		return 0, err
	}
	args := []uint64{j.packed.at(), j.start.at(), j.length.at(), uint64(contigs), uint64(bytes),
		uint64(uint32((1<<32-1)/uint64(s.Rate))) | uint64(s.Ends)<<32, uint64(s.Part) | uint64(s.Parts)<<32, j.counts.at()}
	if err := j.launch(kernelKmerCount, tiles, args...); err != nil {
		return 0, err
	}
	if err := j.scan(j.counts.at(), tiles); err != nil {
		return 0, err
	}
	sum, err := j.sum()
	n := int(sum)
	if err != nil || n == 0 {
		return 0, err
	}
	for _, x := range []struct {
		*buffer
		each int
	}{{&j.keys, 4}, {&j.order, 4}, {&j.groups, 4}, {&j.where, 8}, {&j.other, 8}} {
		if err := x.grow(x.each*n+16, "k-mers"); err != nil {
			return 0, err
		}
	}
	return n, j.launch(kernelKmerWrite, tiles, append(args, j.keys.at(), j.where.at())...)
}

// sort sorts the n keys, and writes the index that each had before to order. Equal keys keep their order.
func (j *Joiner) sort(n int) error {
	tiles := threadBlocks(n, sortTile)
	if err := j.counts.grow(4*digits*tiles+16, "sort counts"); err != nil {
		return err
	}
	keys, order := [2]uint64{j.keys.at(), j.other.at()}, [2]uint64{j.order.at(), j.other.at() + uint64(4*n+15)&^15}
	const passes = (32 + digitBits - 1) / digitBits
	_ = [1]int{}[passes%2] // an even number of passes, so that the last one writes to keys and order
	for p := range passes {
		in, out := p&1, p&1^1
		from := order[in]
		if p == 0 {
			from = 0 // 0, 1, 2, ...
		}
		shift := uint64(p * digitBits)
		if err := j.launch(kernelSortCount, tiles, keys[in], uint64(n), shift, j.counts.at()); err != nil {
			return err
		}
		if err := j.scan(j.counts.at(), digits*tiles); err != nil {
			return err
		}
		err := j.launch(kernelSortScatter, tiles, keys[in], from, uint64(n), shift, j.counts.at(), keys[out], order[out])
		if err != nil {
			return err
		}
	}
	return nil
}

// group finds the groups of k-mers, and where those of each contig begin.
func (j *Joiner) group(contigs, n int) error {
	if err := j.first.grow(4*(contigs+1), "the contigs"); err != nil {
		return err
	}
	err := j.launch(
		kernelKmerGroups,
		threadBlocks(n, threads),
		j.keys.at(),
		j.order.at(),
		j.where.at(),
		uint64(n),
		j.other.at(),
		j.groups.at(),
	)
	if err != nil {
		return err
	}
	return j.launch(kernelKmerFirst, threadBlocks(contigs+1, threads), j.where.at(), uint64(n), uint64(contigs), j.first.at())
}

// How many slots the tables of partners_large have. A contig that needs more is left to the next number.
var partnerSlots = []int{1 << 14, 1 << 18, 1 << 22, 1 << 26, 1 << 30, 1 << 31}

// compare finds the partners.
func (j *Joiner) compare(c JoinContigs, kmers int) error {
	count := len(c.Length)
	for _, x := range []struct {
		*buffer
		size int
	}{{&j.links, 8 * count}, {&j.large, 4 * count}, {&j.largeCount, 4}, {&j.compared, 8},
		{&j.round, int(unsafe.Sizeof(C.struct_JoinRound{}))}} {
		if err := x.grow(x.size, "the partners"); err != nil {
			return err
		}
	}
	r := C.struct_JoinRound{
		packed:     C.ulonglong(j.packed.at()),
		start:      C.ulonglong(j.start.at()),
		length:     C.ulonglong(j.length.at()),
		reads:      C.ulonglong(j.reads.at()),
		read_bases: C.ulonglong(c.ReadBases),
		contigs:    C.ulonglong(count),
		kmers:      C.ulonglong(kmers),
		first: C.ulonglong(
			j.first.at(),
		),
		groups:   C.ulonglong(j.groups.at()),
		where:    C.ulonglong(j.where.at()),
		sorted:   C.ulonglong(j.other.at()),
		left:     C.ulonglong(j.left.at()),
		links:    C.ulonglong(j.links.at()),
		compared: C.ulonglong(j.compared.at()),
	}
	if c.Settled != nil {
		r.settled = C.ulonglong(j.settled.at())
	}
	if err := j.queue.upload(j.round.at(), bytesOf([]C.struct_JoinRound{r}), "the partners"); err != nil {
		return err
	}
	if err := j.clear(j.compared.at(), 8, "a sum"); err != nil {
		return err
	}
	if err := j.clear(j.largeCount.at(), 4, "a sum"); err != nil {
		return err
	}
	if err := j.launch(kernelPartners, threadBlocks(count, warps), j.round.at(), j.large.at(), j.largeCount.at()); err != nil {
		return err
	}
	for _, slots := range partnerSlots {
		var large [1]uint32
		if err := j.download(bytesOf(large[:]), j.largeCount.at(), "the number of large contigs"); err != nil {
			return err
		}
		if large[0] == 0 {
			return nil
		}
		if err := j.compareLarge(int(large[0]), slots); err != nil {
			return err
		}
	}
	return nil
}

// compareLarge finds the partners of the contigs in large, in tables of so many slots each. What needs more is in large afterwards.
func (j *Joiner) compareLarge(count, slots int) error {
	if err := j.larger.grow(4*count, "the partners"); err != nil {
		return err
	}
	free, err := freeMemory()
	if err != nil {
		return err
	}
	table := slots * C.PROPOSAL_BYTES
	blocks := min(count, 8*j.dev.desc.Multiprocessors, max(1, (free+j.tables.size)/4/table), max(1, 1<<30/table))
	if err := j.room(&j.tables, blocks*table, "proposals of partners"); err != nil {
		return err
	}
	if err := j.clear(j.largeCount.at(), 4, "a sum"); err != nil {
		return err
	}
	err = j.launch(kernelPartnersLarge, blocks, j.round.at(), j.large.at(), uint64(count), j.tables.at(), uint64(slots), j.larger.at(),
		j.largeCount.at())
	j.large, j.larger = j.larger, j.large
	return err
}
