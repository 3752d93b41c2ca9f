package binning

import (
	"orcomgo/bins"
	"orcomgo/bins/record"
)

const signatures = bins.NBin + 1

// partCount returns into how many ranges n reads are divided for sorting and packing.
func partCount(n int) int { return max(1, min(16, n>>15)) }

// partRange returns the range of part i.
func partRange(n, parts, i int) (from, to int) { return n * i / parts, n * (i + 1) / parts }

// sort sorts the reads by signature, those of one signature in input order. It is a counting sort
// in which each part of the reads has its own counts, so that parts run concurrently.
func (j *job) sort() error {
	b, n := j.b, j.b.Records
	p := partCount(n)
	for len(j.counts) < p {
		j.counts = append(j.counts, make([]uint32, signatures))
	}
	j.run(p, func(i int) {
		c := j.counts[i]
		clear(c)
		from, to := partRange(n, p, i)
		for _, sig := range j.sigs[from:to] {
			c[sig]++
		}
	})
	// Counts become positions.
	b.Bins = b.Bins[:0]
	at := uint32(0)
	for sig := range signatures {
		first := at
		for i := range p {
			c := j.counts[i]
			c[sig], at = at, at+c[sig]
		}
		if at > first {
			b.Bins = append(b.Bins, bins.Bin{Signature: uint32(sig), Reads: at - first})
		}
	}
	b.Order, b.Place = resize(b.Order, n), resize(b.Place, n)
	j.run(p, func(i int) {
		c := j.counts[i]
		from, to := partRange(n, p, i)
		for k := from; k < to; k++ {
			to := c[j.sigs[k]]
			c[j.sigs[k]] = to + 1
			b.Order[to], b.Place[to] = uint32(k), j.places[k]
		}
	})
	return nil
}

// packSorted copies the packed reads in their final order and orientation.
func (j *job) packSorted() error {
	b, n := j.b, j.b.Records
	p := partCount(n)
	starts := make([]int, p+1)
	if b.Lengths.Each == nil {
		for i := range b.Bins {
			b.Bins[i].Bases = uint64(b.Bins[i].Reads) * uint64(b.Lengths.Fixed)
		}
		for i := range p {
			_, to := partRange(n, p, i)
			starts[i+1] = to * record.PackedLen(int(b.Lengths.Fixed))
		}
	} else {
		j.run(p, func(i int) {
			from, to := partRange(n, p, i)
			size := 0
			for _, read := range b.Order[from:to] {
				size += record.PackedLen(int(b.Lengths.Each[read]))
			}
			starts[i+1] = size
		})
		for i := range p {
			starts[i+1] += starts[i]
		}
		at := 0
		for i := range b.Bins {
			bin := &b.Bins[i]
			for _, read := range b.Order[at : at+int(bin.Reads)] {
				bin.Bases += uint64(b.Lengths.Each[read])
			}
			at += int(bin.Reads)
		}
	}
	b.Packed = resize(b.Packed, starts[p])
	j.run(p, func(i int) {
		from, to := partRange(n, p, i)
		dst := b.Packed[starts[i]:starts[i+1]]
		for k := from; k < to; k++ {
			read := b.Order[k]
			length := int(j.lengths[read])
			size := record.PackedLen(length)
			src := j.packed[j.packedAt[read]:]
			if b.Place[k]&1 == 0 {
				copy(dst[:size], src)
			} else {
				reverseComplement(dst[:size], src, length)
			}
			dst = dst[size:]
		}
	})
	return nil
}
