package overlap

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// Unplaced is the position of a read that has no place on the pseudogenome.
const Unplaced = ^uint32(0)

// kmerIndex finds the positions in the pseudogenome of a k-mer or its reverse complement, ascending, so that the first of
// equals is the smallest position. Of all k-mers those are entered whose hash is 0 under sample.
type kmerIndex struct {
	k      int
	sample uint64
	shift  uint
	start  []uint32 // where the positions of each hash begin
	pos    []uint32
}

// indexBytes returns how much a base of sequence takes at most while an index is made.
func indexBytes(sample uint64) int { return int(22/(sample+1)) + 1 }

// newKmerIndex indexes the k-mers of bases from..n-1 of pg; k <= 28; sample is a power of two less one.
func newKmerIndex(pg []byte, from, n, k int, sample uint64, threads int) *kmerIndex {
	b := min(max(bits.Len(uint(n-from)>>bits.Len64(sample)), 10), 2*k)
	ix := &kmerIndex{k: k, sample: sample, shift: uint(64 - b)}
	count := max(n-from-k+1, 0)
	// Entries are dealt to buckets by the upper bits of their hashes first: a bucket's share of start fits in the cache.
	const bucketBits = 6
	type entry struct{ hash, pos uint32 }
	runs := make([][1 << bucketBits][]entry, threads)
	var wg sync.WaitGroup
	for t := range threads {
		wg.Add(1)
		go func() {
			defer wg.Done()
			run := &runs[t]
			lo, hi := from+int(uint64(count)*uint64(t)/uint64(threads)), from+int(uint64(count)*uint64(t+1)/uint64(threads))
			for i := range run {
				run[i] = make([]entry, 0, (hi-lo)>>bits.Len64(sample)>>bucketBits*9/8+16)
			}
			for p := lo; p < hi; p++ {
				w := load(pg, p) & firstBases(k)
				h := mix64(min(w, reverseWord(w, k)))
				if h&sample == 0 {
					at := &run[h>>(64-bucketBits)]
					*at = append(*at, entry{uint32(h >> ix.shift), uint32(p)})
				}
			}
		}()
	}
	wg.Wait()
	var first [1<<bucketBits + 1]int
	for i := range len(first) - 1 {
		first[i+1] = first[i]
		for t := range runs {
			first[i+1] += len(runs[t][i])
		}
	}
	ix.start, ix.pos = make([]uint32, 1<<b+1), make([]uint32, first[len(first)-1])
	ix.start[1<<b] = uint32(len(ix.pos))
	var next atomic.Int64
	for range threads {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				i := int(next.Add(1)) - 1
				if i >= 1<<bucketBits {
					return
				}
				width := 1 << (b - bucketBits)
				start := ix.start[i*width : (i+1)*width]
				for t := range runs {
					for _, e := range runs[t][i] {
						start[int(e.hash)-i*width]++
					}
				}
				at := uint32(first[i])
				for h, c := range start {
					at += c
					start[h] = at
				}
				// From the last to the first, each before the one entered before it.
				for t := threads - 1; t >= 0; t-- {
					for j := len(runs[t][i]) - 1; j >= 0; j-- {
						e := runs[t][i][j]
						s := &start[int(e.hash)-i*width]
						*s--
						ix.pos[*s] = e.pos
					}
					runs[t][i] = nil
				}
			}
		}()
	}
	wg.Wait()
	return ix
}

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

// seed tries the candidates of the k-mer at offset q of the read, on both strands; it returns false if it is none that is indexed.
func (p *placer) seed(read []byte, length, q int, maskF, maskR []uint64) bool {
	ix := p.ix
	f := load(read, q) & firstBases(ix.k)
	r := reverseWord(f, ix.k)
	x := mix64(min(f, r))
	if x&ix.sample != 0 {
		return false
	}
	x >>= ix.shift
	from, to := ix.start[x], ix.start[x+1]
	for _, at := range ix.pos[from:min(to, from+uint32(p.chain))] {
		w := load(p.pg, int(at)) & firstBases(ix.k)
		if w == f {
			p.try(read, length, int(at)-q, false, maskF)
		}
		if w == r {
			p.try(p.rev, length, int(at)-(length-ix.k-q), true, maskR)
		}
		if p.best == 0 {
			break
		}
	}
	return true
}

// place returns the best place of read i in stored orientation, or pos -1 if there is none of fewer than `below` mismatches.
func (p *placer) place(i, below int) (pos int, rev bool) {
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
	p.best, p.bestPos, p.bestRev = min(p.tolerance(n)+1, below), -1, false
	// From the outside in: two seeds at the ends settle most reads.
	for a, z := 0, n-p.ix.k; a <= z; a, z = a+p.step, z-p.step {
		for a < z && !p.seed(read, n, a, mf, mr) {
			a++
		}
		if p.best > p.goodEnough {
			for z >= a && !p.seed(read, n, z, mf, mr) {
				z--
			}
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

// set enters the place of a record; other goroutines may set those of others.
func (pl *placements) set(record, pos uint32, rev bool, miss int) {
	pl.pos[record], pl.miss[record] = pos, uint8(min(miss, 255))
	if rev {
		atomic.OrUint32(&pl.rev[record>>5], 1<<(record&31))
	} else {
		atomic.AndUint32(&pl.rev[record>>5], ^uint32(1<<(record&31)))
	}
}

// placeAll places the reads that have no place yet, and those that again tells of (nil: none) if it finds a place with fewer mismatches.
func placeAll(rd *Reads, pl *placements, seq *sequence, ix *kmerIndex, threads int, setup func(*placer), again func(p *placer, i int) bool, tick func(done int)) {
	const batch = 4096
	var next atomic.Int64
	var wg sync.WaitGroup
	for t := 0; t < threads; t++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p := &placer{rd: rd, pg: seq.packed, n: seq.n, ix: ix}
			setup(p)
			for {
				from := int(next.Add(batch)) - batch
				if from >= rd.Count() {
					return
				}
				for i := from; i < min(from+batch, rd.Count()); i++ {
					rec := rd.record[i]
					below := math.MaxInt
					if pl.pos[rec] != Unplaced {
						if again == nil || !again(p, i) {
							continue
						}
						below = int(pl.miss[rec])
					}
					if pos, rev := p.place(i, below); pos >= 0 {
						pl.set(rec, uint32(pos), rev != (rd.place[i]&1 != 0), p.best)
					}
				}
				if from%(batch*16) == 0 {
					tick(from)
				}
			}
		}()
	}
	wg.Wait()
}
