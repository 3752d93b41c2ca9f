package overlap

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// Unplaced is the position of a read that has no place on the pseudogenome.
const Unplaced = ^uint32(0)

// kmerIndex finds the positions of a k-mer in the pseudogenome: heads by hash, chains by
// position, ascending, so that the first of equals is the smallest position.
type kmerIndex struct {
	k     int
	shift uint
	head  []uint32 // position+1
	next  []uint32 // position+1
}

// newKmerIndex indexes the k-mers of the n bases of pg; k <= 28.
func newKmerIndex(pg []byte, n, k, threads int) *kmerIndex {
	b := bits.Len(uint(max(n, 1<<10)))
	b = min(b, 2*k)
	ix := &kmerIndex{k: k, shift: uint(64 - b), head: make([]uint32, 1<<b), next: make([]uint32, max(n, 1))}
	// Each worker owns a range of hashes and walks the whole sequence backwards, so chains ascend.
	var wg sync.WaitGroup
	for t := 0; t < threads; t++ {
		lo, hi := uint64(t)<<b/uint64(threads), uint64(t+1)<<b/uint64(threads)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for p := n - k; p >= 0; p-- {
				h := ix.hash(load(pg, p))
				if h >= lo && h < hi {
					ix.next[p] = ix.head[h]
					ix.head[h] = uint32(p + 1)
				}
			}
		}()
	}
	wg.Wait()
	return ix
}

func (ix *kmerIndex) hash(w uint64) uint64 { return mix64(w&firstBases(ix.k)) >> ix.shift }

// placer looks for the place of reads; one a goroutine.
type placer struct {
	rd         *Reads
	pg         []byte
	n          int
	ix         *kmerIndex
	step       int // distance of the seeds looked up
	chain      int // candidates looked at per seed
	rev        []byte
	maskF      []uint64
	maskR      []uint64
	best       int
	bestPos    int
	bestRev    bool
	tolerance  func(length int) int
	goodEnough int
}

// try compares the read with the pseudogenome at pos.
func (p *placer) try(read []byte, length, pos int, rev bool, mask []uint64) {
	if pos < 0 || pos+length > p.n {
		return
	}
	d := distance(p.pg, pos, read, 0, length, p.best, mask)
	if d < p.best || d == p.best && p.bestPos >= 0 && (pos < p.bestPos || pos == p.bestPos && !rev && p.bestRev) {
		p.best, p.bestPos, p.bestRev = d, pos, rev
	}
}

// seed tries the candidates of the k-mer at offset q of the read.
func (p *placer) seed(read []byte, length, q int, rev bool, mask []uint64) {
	w := load(read, q) & firstBases(p.ix.k)
	c := p.ix.head[p.ix.hash(w)]
	for k := 0; c != 0 && k < p.chain; k++ {
		at := int(c - 1)
		if load(p.pg, at)&firstBases(p.ix.k) == w {
			p.try(read, length, at-q, rev, mask)
			if p.best == 0 {
				return
			}
		}
		c = p.ix.next[at]
	}
}

// place returns the best place of read i in stored orientation, or pos -1.
func (p *placer) place(i int) (pos int, rev bool) {
	n := p.rd.len(i)
	if n < p.ix.k || n > maxOverlapped {
		return -1, false
	}
	read := p.rd.bases(i)
	p.rev = slices.Grow(p.rev[:0], (n+3)/4+2*pad)[:(n+3)/4+2*pad]
	reverseInto(p.rev, read, n)
	mf, mr := p.rd.skipMask(p.maskF, i, false), p.rd.skipMask(p.maskR, i, true)
	if mf != nil {
		p.maskF, p.maskR = mf, mr // keep the buffers, which may have grown
	}
	p.best, p.bestPos, p.bestRev = p.tolerance(n)+1, -1, false
	last := n - p.ix.k
	// From the outside in: two seeds at the ends settle most reads.
	for q := 0; q <= last/2; q += p.step {
		p.seed(read, n, q, false, mf)
		p.seed(p.rev, n, q, true, mr)
		if p.best > p.goodEnough && q != last-q {
			p.seed(read, n, last-q, false, mf)
			p.seed(p.rev, n, last-q, true, mr)
		}
		if p.best <= p.goodEnough && p.bestPos >= 0 {
			break
		}
	}
	if p.bestPos < 0 {
		return -1, false
	}
	return p.bestPos, p.bestRev
}

// placements are the places of reads by record, in input orientation.
type placements struct {
	pos  []uint32 // Unplaced where there is none
	rev  []uint32 // bit set, by record
	miss []uint8  // mismatches, at most 255
}

func newPlacements(n int) *placements {
	pl := &placements{pos: make([]uint32, n), rev: make([]uint32, n/32+1), miss: make([]uint8, n)}
	for i := range pl.pos {
		pl.pos[i] = Unplaced
	}
	return pl
}

func (pl *placements) reversed(record uint32) bool { return pl.rev[record>>5]>>(record&31)&1 != 0 }

// unplace takes the place from a record.
func (pl *placements) unplace(record uint32) {
	pl.pos[record] = Unplaced
	pl.rev[record>>5] &^= 1 << (record & 31)
}

// placeAll places every read that has no place yet.
func placeAll(rd *Reads, pl *placements, pg []byte, n int, ix *kmerIndex, threads int, setup func(*placer), tick func(done, total int)) {
	const batch = 4096
	var next atomic.Int64
	var wg sync.WaitGroup
	for t := 0; t < threads; t++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p := &placer{rd: rd, pg: pg, n: n, ix: ix}
			setup(p)
			for {
				from := int(next.Add(batch)) - batch
				if from >= rd.Count() {
					return
				}
				for i := from; i < min(from+batch, rd.Count()); i++ {
					rec := rd.record[i]
					if pl.pos[rec] != Unplaced {
						continue
					}
					pos, rev := p.place(i)
					if pos < 0 {
						continue
					}
					pl.pos[rec], pl.miss[rec] = uint32(pos), uint8(min(p.best, 255))
					if rev != (rd.place[i]&1 != 0) {
						atomic.OrUint32(&pl.rev[rec>>5], 1<<(rec&31))
					}
				}
				if from%(batch*16) == 0 {
					tick(from, rd.Count())
				}
			}
		}()
	}
	wg.Wait()
}
