package overlap

import "orcomgo/bins"

// What a read and its bases take while their share is laid out, in bytes: in Reads, and, if no other read overlaps
// them, in a contig of their own. Bases are in quarters of a byte.
const (
	shareRead   = 64
	shareBases4 = 5
)

// shares cuts the records into shares that take about limit bytes or less: ranges of signatures; where one signature
// has too many reads, runs of blocks.
func (rs *records) shares(limit uint64) ([]*share, error) {
	type weight struct{ reads, bytes uint64 }
	all := make([]weight, bins.NBin+1)
	for _, p := range rs.pieces {
		idx, err := rs.bins.BinIndex(p.block)
		if err != nil {
			return nil, err
		}
		// Of a block that is here in part the share is guessed.
		part, whole := uint64(p.to-p.from), uint64(rs.bins.Meta().Blocks[p.block].Records)
		for _, g := range idx {
			w := &all[g.Signature]
			w.reads += uint64(g.Reads)
			w.bytes += (uint64(g.Reads)*shareRead + g.Bases*shareBases4/4) * part / whole
		}
	}
	var out []*share
	var sh share
	var sum weight
	end := func() {
		if sum.reads == 0 {
			return
		}
		n := min(len(rs.pieces), int(sum.bytes/limit)+1)
		for k := range n {
			out = append(out, &share{lo: sh.lo, hi: sh.hi, from: len(rs.pieces) * k / n, to: len(rs.pieces) * (k + 1) / n})
		}
		sum = weight{}
	}
	for sig, w := range all {
		if sum.bytes+w.bytes > limit {
			end()
		}
		if sum.reads == 0 {
			sh.lo = uint32(sig)
		}
		sh.hi = uint32(sig)
		sum.reads += w.reads
		sum.bytes += w.bytes
	}
	end()
	return out, nil
}
