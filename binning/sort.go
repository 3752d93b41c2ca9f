package binning

import (
	"unsafe"

	"orcomgo/bases"
	"orcomgo/bins"
	"orcomgo/internal/prefetch"
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
	sorted := j.sorted()
	j.run(p, func(i int) {
		c := j.counts[i]
		from, to := partRange(n, p, i)
		for k := from; k < to; k++ {
			if ahead := k + prefetchReads; ahead < to {
				prefetch.Line(unsafe.Pointer(&sorted[min(int(c[j.sigs[ahead]]), n-1)]))
			}
			to := c[j.sigs[k]]
			c[j.sigs[k]] = to + 1
			sorted[to] = sortedRead{uint32(k), j.places[k], j.packedAt[k], j.lengths[k]}
		}
	})
	return nil
}

// sortedRead is what packSorted needs of a read. All of it is together, because reads are sorted into far apart places of memory,
// and it takes as long to reach such a place as to pack a read.
type sortedRead struct{ read, place, packedAt, length uint32 }

// sorted returns memory for the sorted reads: that of the line starts, which are not needed after split.
func (j *job) sorted() []sortedRead {
	const _ = -(unsafe.Sizeof(sortedRead{}) ^ unsafe.Sizeof(lineStarts{})) // they are of one size
	return unsafe.Slice((*sortedRead)(unsafe.Pointer(unsafe.SliceData(j.lineStarts))), j.b.Records)
}

// prefetchReads is how many reads before it is used the memory of a read is loaded into the cache.
const prefetchReads = 16

// packSorted copies the packed reads in their final order and orientation.
func (j *job) packSorted() error {
	b, n := j.b, j.b.Records
	sorted := j.sorted()
	p := partCount(n)
	starts := make([]int, p+1)
	if b.Lengths.Each == nil {
		for i := range b.Bins {
			b.Bins[i].Bases = uint64(b.Bins[i].Reads) * uint64(b.Lengths.Fixed)
		}
		for i := range p {
			_, to := partRange(n, p, i)
			starts[i+1] = to * bases.PackedLen(int(b.Lengths.Fixed))
		}
	} else {
		j.run(p, func(i int) {
			from, to := partRange(n, p, i)
			size := 0
			for k := from; k < to; k++ {
				size += bases.PackedLen(int(sorted[k].length))
			}
			starts[i+1] = size
		})
		for i := range p {
			starts[i+1] += starts[i]
		}
		at := 0
		for i := range b.Bins {
			bin := &b.Bins[i]
			for k := range sorted[at : at+int(bin.Reads)] {
				bin.Bases += uint64(sorted[at+k].length)
			}
			at += int(bin.Reads)
		}
	}
	b.Order, b.Place, b.Packed = resize(b.Order, n), resize(b.Place, n), resize(b.Packed, starts[p])
	j.run(p, func(i int) {
		from, to := partRange(n, p, i)
		dst := b.Packed[starts[i]:starts[i+1]]
		for k := from; k < to; k++ {
			if ahead := k + prefetchReads; ahead < to {
				r := &sorted[ahead]
				prefetch.Line(unsafe.Pointer(&j.packed[r.packedAt]))
				prefetch.Line(unsafe.Pointer(&j.packed[r.packedAt+r.length/4]))
			}
			r := sorted[k]
			b.Order[k], b.Place[k] = r.read, r.place
			length := int(r.length)
			size := bases.PackedLen(length)
			src := j.packed[r.packedAt:]
			if r.place&1 == 0 {
				copy(dst[:size], src)
			} else {
				bases.ReverseComplementInto(dst[:size], src, length)
			}
			dst = dst[size:]
		}
	})
	return nil
}
