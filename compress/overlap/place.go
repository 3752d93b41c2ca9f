package overlap

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Unplaced is the position of a read that has no place on the pseudogenome.
const Unplaced = ^uint32(0)

// kmerIndex finds the positions in the pseudogenome of a k-mer or its reverse complement, ascending. Of all k-mers those are entered whose
// hash is 0 under sample.
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
	rd  *Reads
	pg  []byte
	n   int
	ix  *kmerIndex
	how placing
	// credit is how many candidates may still be looked at; see placeBatch.
	credit  int
	looked  int64 // candidates looked at
	rev     []byte
	maskF   []uint64
	maskR   []uint64
	best    int
	bestPos int
	bestRev bool
	seeds   [seedBlock]seed
}

// seed is a k-mer of a read.
type seed struct {
	at       int    // offset in the read
	f, r     uint64 // the k-mer and its reverse complement
	slot     uint64 // of the index
	from, to uint32 // its positions in the index
}

// Of the seeds of a read, all but the first two are looked up seedBlock at a time, so that memory answers for all of these together.
const seedBlock = 8

// try compares the read with the pseudogenome at pos. Of places of equal mismatches that were looked at it keeps the one of the smallest
// position, and of the two strands there the forward one.
func (p *placer) try(read []byte, length, pos int, rev bool, mask []uint64) {
	if pos < 0 || pos+length > p.n {
		return
	}
	d := distance(p.pg, pos, read, 0, length, p.best, mask)
	if d < p.best || d == p.best && p.bestPos >= 0 && (pos < p.bestPos || pos == p.bestPos && !rev && p.bestRev) {
		p.best, p.bestPos, p.bestRev = d, pos, rev
	}
}

// indexed returns the seed at offset q of the read, and whether it is one that is indexed.
func (p *placer) indexed(read []byte, q int) (s seed, ok bool) {
	ix := p.ix
	s.at = q
	s.f = load(read, q) & firstBases(ix.k)
	s.r = reverseWord(s.f, ix.k)
	x := mix64(min(s.f, s.r))
	s.slot = x >> ix.shift
	return s, x&ix.sample == 0
}

// look tries the candidates of a seed, on both strands.
func (p *placer) look(s *seed, read []byte, length int, maskF, maskR []uint64) {
	k := p.ix.k
	candidates := p.ix.pos[s.from:min(s.to, s.from+uint32(p.how.chain))]
	p.credit -= len(candidates)
	p.looked += int64(len(candidates))
	if len(candidates) >= filterLeast && maskF == nil && s.f != s.r {
		p.filter(s, candidates, read, length)
		return
	}
	for _, at := range candidates {
		w := load(p.pg, int(at)) & firstBases(k)
		if w == s.f {
			p.try(read, length, int(at)-s.at, false, maskF)
		}
		if w == s.r {
			p.try(p.rev, length, int(at)-(length-k-s.at), true, maskR)
		}
		if p.best == 0 {
			break
		}
	}
}

// filterLeast is the number of candidates from which on filter is faster.
const filterLeast = 4

// stretch is some bases of a read, at most a chunk, that are compared first.
type stretch struct {
	at    int // offset in the read
	bases uint64
	mask  uint64
}

func newStretch(read []byte, at, n int) stretch {
	n = min(max(n, 0), chunk)
	return stretch{at, load(read, at), firstBases(n)}
}

// differ returns in how many bases the stretch differs from pg if the read is at pos.
func (s *stretch) differ(pg []byte, pos int) int {
	return bits.OnesCount64(mismatchBits(load(pg, pos+s.at), s.bases) & s.mask)
}

// filter is look where there are many candidates, most of which share no more than the k-mer with the read: it compares
// two stretches beside the k-mer, without a branch, before it tries one.
func (p *placer) filter(s *seed, candidates []uint32, read []byte, length int) {
	k := p.ix.k
	type oriented struct {
		read []byte
		at   int // offset of the k-mer
		x, y stretch
	}
	// One for each strand.
	var o [2]oriented
	for i := range o {
		r, q := read, s.at
		if i == 1 {
			r, q = p.rev, length-k-s.at
		}
		after := length - k - q
		o[i] = oriented{r, q, newStretch(r, max(q-chunk, 0), q), newStretch(r, q+k, after)}
		switch {
		case q < chunk && after > chunk+q:
			o[i].x = newStretch(r, q+k+chunk, after-chunk)
		case after < chunk && q > chunk+after:
			o[i].y = newStretch(r, max(q-2*chunk, 0), q-chunk)
		}
	}
	for _, at := range candidates {
		w := load(p.pg, int(at)) & firstBases(k)
		x := w ^ s.f
		i := (x | -x) >> 63 // 0 if it is the k-mer
		if i != 0 && w != s.r {
			continue
		}
		v := &o[i]
		pos := int(at) - v.at
		if pos < 0 || pos+length > p.n || v.x.differ(p.pg, pos)+v.y.differ(p.pg, pos) > p.best {
			continue
		}
		p.try(v.read, length, pos, i != 0, nil)
		if p.best == 0 {
			break
		}
	}
}

// place returns the best place of read i in stored orientation, or pos -1 if there is none of fewer than `below` mismatches. The search ends
// after the seed that led to a place that is good enough; further seeds might lead to one that is as good and stands before it.
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
	p.best, p.bestPos, p.bestRev = min(n/p.how.tolerance+1, below), -1, false
	// From the outside in: two seeds at the ends settle most reads.
	a, z, left := 0, n-p.ix.k, true
	for done := 0; a <= z; done++ {
		block := p.seeds[:1]
		if done >= 2 {
			block = p.seeds[:]
		}
		count := 0
		for count < len(block) && a <= z {
			at := z
			if left {
				if a == z {
					left = false
					continue
				}
				at = a
			}
			var ok bool
			block[count], ok = p.indexed(read, at)
			switch {
			case ok && left:
				left = false
			case ok:
				left = true
				a, z = a+p.how.step, z-p.how.step
			case left:
				a++
			default:
				z--
			}
			if ok {
				count++
			}
		}
		block = block[:count]
		if count > 1 {
			for j := range block {
				prefetch(unsafe.Pointer(&p.ix.start[block[j].slot]), unsafe.Pointer(&p.ix.start[block[j].slot+1]))
			}
		}
		for j := range block {
			s := &block[j]
			s.from, s.to = p.ix.start[s.slot], p.ix.start[s.slot+1]
			if count > 1 && s.from < s.to {
				prefetch(unsafe.Pointer(&p.ix.pos[s.from]), unsafe.Pointer(&p.ix.pos[s.to-1]))
			}
		}
		for j := range block {
			p.look(&block[j], read, n, mf, mr)
			if p.best <= p.how.goodEnough && p.bestPos >= 0 {
				return p.bestPos, p.bestRev
			}
			if p.credit <= 0 {
				a = z + 1
				break
			}
		}
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

// placeBatch is how many reads are placed one after another, by one goroutine. They share what candidates they may look at:
// so many for each of their bases. Half of these are there from the first read on, the others come read by read. A read
// that is hard to place may so look at all of its candidates, unless most are: reads of low complexity, or made of pieces of the
// same repeats, have thousands, none of which is a place.
const placeBatch = 4096

// placeAll places the reads that have no place yet, and those that again tells of if it finds a place with fewer mismatches. It returns
// how many candidates were looked at.
func placeAll(rd *Reads, pl *placements, seq *sequence, ix *kmerIndex, threads int, how placing, again func(p *placer, i int) bool, tick func(done int)) int64 {
	var next, looked atomic.Int64
	var wg sync.WaitGroup
	for t := 0; t < threads; t++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p := &placer{rd: rd, pg: seq.packed, n: seq.n, ix: ix, how: how}
			for {
				from := int(next.Add(placeBatch)) - placeBatch
				if from >= rd.Count() {
					looked.Add(p.looked)
					return
				}
				to := min(from+placeBatch, rd.Count())
				bases := 0
				for i := from; i < to; i++ {
					bases += rd.len(i)
				}
				p.credit = bases * how.perBase2 / 4
				for i := from; i < to; i++ {
					p.credit += rd.len(i) * how.perBase2 / 4
					rec := rd.record[i]
					below := math.MaxInt
					if pl.pos[rec] != Unplaced {
						if !again(p, i) {
							continue
						}
						below = int(pl.miss[rec])
					}
					if pos, rev := p.place(i, below); pos >= 0 {
						pl.set(rec, uint32(pos), rev != (rd.place[i]&1 != 0), p.best)
					}
				}
				if from%(placeBatch*16) == 0 {
					tick(from)
				}
			}
		}()
	}
	wg.Wait()
	return looked.Load()
}
