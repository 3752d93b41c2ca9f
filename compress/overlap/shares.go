package overlap

import "orcomgo/bins"

// Memory of a read and of each of its bases while their share is laid out: in Reads and, if no other read overlaps it, in a
// contig of one read. That of a base is in quarters of a byte.
const (
	shareReadBytes        = 64
	shareBaseQuarterBytes = 5
)

// shares divides the records into shares of about limit bytes at most. A share is a range of signatures; if one signature
// has too many reads, it is divided by blocks, and by records of a block.
func (rs *records) shares(limit uint64) ([]*share, error) {
	type weight struct{ reads, bytes uint64 }
	all := make([]weight, bins.NBin+1)
	for _, p := range rs.ranges {
		idx, err := rs.bins.BinIndex(p.block)
		if err != nil {
			return nil, err
		}
		// If only a part of the block belongs to the records, its reads are assumed to be evenly distributed over the bins.
		part, whole := uint64(p.to-p.from), uint64(rs.bins.Meta().Blocks[p.block].Records)
		// So are the exceptions, which take a little more than in the bins.
		exceptions := rs.bins.Meta().Blocks[p.block].ExceptionBytes() * 5 / 4
		for _, g := range idx {
			w := &all[g.Signature]
			w.reads += uint64(g.Reads)
			w.bytes += (uint64(g.Reads)*shareReadBytes + g.Bases*shareBaseQuarterBytes/4 + exceptions*uint64(g.Reads)/whole) * part / whole
		}
	}
	var out []*share
	var sh share
	var sum weight
	end := func() {
		if sum.reads == 0 {
			return
		}
		for _, ranges := range divideRanges(rs.ranges, int(sum.bytes/limit)+1) {
			out = append(out, &share{minSignature: sh.minSignature, maxSignature: sh.maxSignature, ranges: ranges})
		}
		sum = weight{}
	}
	for sig, w := range all {
		if sum.bytes+w.bytes > limit {
			end()
		}
		if sum.reads == 0 {
			sh.minSignature = uint32(sig)
		}
		sh.maxSignature = uint32(sig)
		sum.reads += w.reads
		sum.bytes += w.bytes
	}
	end()
	return out, nil
}

// divideRanges divides ranges into n parts, or a few more: of whole blocks if there are so many, else each block into as many parts of
// nearly equal numbers of records.
func divideRanges(ranges []blockRange, n int) (parts [][]blockRange) {
	if n <= len(ranges) {
		for k := range n {
			parts = append(parts, ranges[len(ranges)*k/n:len(ranges)*(k+1)/n])
		}
		return parts
	}
	each := uint64(n+len(ranges)-1) / uint64(len(ranges))
	for _, r := range ranges {
		count := uint64(r.to - r.from)
		for k := range each {
			lo, hi := uint32(count*k/each), uint32(count*(k+1)/each)
			if lo < hi {
				parts = append(parts, []blockRange{{block: r.block, firstRecord: r.firstRecord + lo, from: r.from + lo, to: r.from + hi}})
			}
		}
	}
	return parts
}
