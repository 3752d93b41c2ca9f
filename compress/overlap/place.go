package overlap

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Unplaced is the position of a read that is not placed on the pseudogenome.
const Unplaced = ^uint32(0)

// kmerIndex returns the positions of a k-mer and of its reverse complement in the pseudogenome, in ascending order. It holds
// only the k-mers whose hash has no bit of sampleMask set.
type kmerIndex struct {
	k          int
	sampleMask uint64
	shift      uint
	start      []uint32 // where the positions of each hash begin in positions
	positions  []uint32
}

// indexBytesPerBase returns the memory per base of sequence, in bytes, that building an index takes at most.
func indexBytesPerBase(sampleMask uint64) int { return int(22/(sampleMask+1)) + 1 }

// newKmerIndex indexes the k-mers of bases from..n-1 of pg. k is at most 28; sampleMask is a power of two minus one.
func newKmerIndex(pg []byte, from, n, k int, sampleMask uint64, threads int) *kmerIndex {
	b := min(max(bits.Len(uint(n-from)>>bits.Len64(sampleMask)), 10), 2*k)
	ix := &kmerIndex{k: k, sampleMask: sampleMask, shift: uint(64 - b)}
	count := max(n-from-k+1, 0)
	// Entries are first distributed to buckets by the upper bits of their hashes: the part of ix.start of one bucket fits in
	// the cache.
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
				run[i] = make([]entry, 0, (hi-lo)>>bits.Len64(sampleMask)>>bucketBits*9/8+16)
			}
			for p := lo; p < hi; p++ {
				w := loadChunk(pg, p) & firstBases(k)
				h := mix64(min(w, reverseComplementWord(w, k)))
				if h&sampleMask == 0 {
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
	ix.start, ix.positions = make([]uint32, 1<<b+1), make([]uint32, first[len(first)-1])
	ix.start[1<<b] = uint32(len(ix.positions))
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
				// Positions of one hash are written from the last to the first, so that they are in ascending order.
				for t := threads - 1; t >= 0; t-- {
					for j := len(runs[t][i]) - 1; j >= 0; j-- {
						e := runs[t][i][j]
						s := &start[int(e.hash)-i*width]
						*s--
						ix.positions[*s] = e.pos
					}
					runs[t][i] = nil
				}
			}
		}()
	}
	wg.Wait()
	return ix
}

// placer searches for the place of one read at a time. Each goroutine has its own.
type placer struct {
	rd    *Reads
	pg    []byte
	pgLen int
	index *kmerIndex
	mode  placeMode
	// candidatesLeft is the number of candidates that may still be tried; see placeBatch.
	candidatesLeft  int
	candidatesTried int64 // number of candidates tried so far
	reverse         []byte
	forwardMask     []uint64
	reverseMask     []uint64
	bestMismatches  int
	bestPos         int
	bestReversed    bool
	seeds           [seedBatch]seed
}

// seed is a k-mer of a read.
type seed struct {
	offset           int    // offset in the read
	forward, reverse uint64 // the k-mer and its reverse complement
	slot             uint64 // index in kmerIndex.start
	from, to         uint32 // its range in kmerIndex.positions
}

// seedBatch is the number of seeds that are looked up together, after the first two of a read, so that their cache misses
// overlap.
const seedBatch = 8

// compare compares the read with the pseudogenome at pos and keeps the place if it is the best so far. Of places with equally
// many mismatches, it keeps the one with the smallest position; at the same position, the one on the forward strand.
func (p *placer) compare(read []byte, length, pos int, reversed bool, mask []uint64) {
	if pos < 0 || pos+length > p.pgLen {
		return
	}
	d := countMismatches(p.pg, pos, read, 0, length, p.bestMismatches, mask)
	if d < p.bestMismatches ||
		d == p.bestMismatches && p.bestPos >= 0 && (pos < p.bestPos || pos == p.bestPos && !reversed && p.bestReversed) {
		p.bestMismatches, p.bestPos, p.bestReversed = d, pos, reversed
	}
}

// seedAt returns the seed at offset q of the read, without its range of positions, and whether the index includes its hash.
func (p *placer) seedAt(read []byte, q int) (s seed, ok bool) {
	ix := p.index
	s.offset = q
	s.forward = loadChunk(read, q) & firstBases(ix.k)
	s.reverse = reverseComplementWord(s.forward, ix.k)
	x := mix64(min(s.forward, s.reverse))
	s.slot = x >> ix.shift
	return s, x&ix.sampleMask == 0
}

// tryCandidates compares the read with the candidate positions of a seed, on both strands.
func (p *placer) tryCandidates(s *seed, read []byte, length int, maskF, maskR []uint64) {
	k := p.index.k
	candidates := p.index.positions[s.from:min(s.to, s.from+uint32(p.mode.maxCandidates))]
	p.candidatesLeft -= len(candidates)
	p.candidatesTried += int64(len(candidates))
	if len(candidates) >= manyCandidates && maskF == nil && s.forward != s.reverse {
		p.tryManyCandidates(s, candidates, read, length)
		return
	}
	for _, at := range candidates {
		w := loadChunk(p.pg, int(at)) & firstBases(k)
		if w == s.forward {
			p.compare(read, length, int(at)-s.offset, false, maskF)
		}
		if w == s.reverse {
			p.compare(p.reverse, length, int(at)-(length-k-s.offset), true, maskR)
		}
		if p.bestMismatches == 0 {
			break
		}
	}
}

// manyCandidates is the number of candidates from which on tryManyCandidates is faster than tryCandidates.
const manyCandidates = 4

// readChunk is at most one chunk of a read, which is compared before the whole read is.
type readChunk struct {
	offset int // offset in the read
	bases  uint64
	mask   uint64
}

func newReadChunk(read []byte, at, n int) readChunk {
	n = min(max(n, 0), chunkBases)
	return readChunk{at, loadChunk(read, at), firstBases(n)}
}

// mismatches returns in how many bases the chunk differs from pg if the read is at pos.
func (s *readChunk) mismatches(pg []byte, pos int) int {
	return bits.OnesCount64(mismatchBits(loadChunk(pg, pos+s.offset), s.bases) & s.mask)
}

// tryManyCandidates is tryCandidates for seeds with many candidates, most of which share only the k-mer with the read. It
// compares two chunks next to the k-mer, without branches, before it compares the whole read.
func (p *placer) tryManyCandidates(s *seed, candidates []uint32, read []byte, length int) {
	k := p.index.k
	type oriented struct {
		read []byte
		at   int // offset of the k-mer
		x, y readChunk
	}
	// The read and its reverse complement.
	var o [2]oriented
	for i := range o {
		r, q := read, s.offset
		if i == 1 {
			r, q = p.reverse, length-k-s.offset
		}
		after := length - k - q
		o[i] = oriented{r, q, newReadChunk(r, max(q-chunkBases, 0), q), newReadChunk(r, q+k, after)}
		switch {
		case q < chunkBases && after > chunkBases+q:
			o[i].x = newReadChunk(r, q+k+chunkBases, after-chunkBases)
		case after < chunkBases && q > chunkBases+after:
			o[i].y = newReadChunk(r, max(q-2*chunkBases, 0), q-chunkBases)
		}
	}
	for _, at := range candidates {
		w := loadChunk(p.pg, int(at)) & firstBases(k)
		x := w ^ s.forward
		i := (x | -x) >> 63 // 0 if the candidate is the k-mer, 1 if it is not
		if i != 0 && w != s.reverse {
			continue
		}
		v := &o[i]
		pos := int(at) - v.at
		if pos < 0 || pos+length > p.pgLen || v.x.mismatches(p.pg, pos)+v.y.mismatches(p.pg, pos) > p.bestMismatches {
			continue
		}
		p.compare(v.read, length, pos, i != 0, nil)
		if p.bestMismatches == 0 {
			break
		}
	}
}

// placeRead returns the best place of read i, in stored orientation, or position -1 if it finds none with fewer than `below`
// mismatches. The search ends after the first seed that leads to a place with at most mode.goodMismatches mismatches. Later
// seeds could lead to an equally good place at a smaller position.
func (p *placer) placeRead(i, below int) (pos int, reversed bool) {
	n := p.rd.len(i)
	if n < p.index.k || n > maxOverlapped {
		return -1, false
	}
	read := p.rd.bases(i)
	p.reverse = slices.Grow(p.reverse[:0], (n+3)/4+2*padBytes)[:(n+3)/4+2*padBytes]
	reverseComplementInto(p.reverse, read, n)
	forwardMask, reverseMask := p.rd.skipMask(p.forwardMask, i, false), p.rd.skipMask(p.reverseMask, i, true)
	if forwardMask != nil {
		p.forwardMask, p.reverseMask = forwardMask, reverseMask // keep the buffers, which may have grown
	}
	p.bestMismatches, p.bestPos, p.bestReversed = min(n/p.mode.basesPerMismatch+1, below), -1, false
	// Seeds are taken alternately from both ends, inwards. Most reads are placed by the first two.
	a, z, left := 0, n-p.index.k, true
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
			block[count], ok = p.seedAt(read, at)
			switch {
			case ok && left:
				left = false
			case ok:
				left = true
				a, z = a+p.mode.seedStep, z-p.mode.seedStep
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
				prefetch(unsafe.Pointer(&p.index.start[block[j].slot]), unsafe.Pointer(&p.index.start[block[j].slot+1]))
			}
		}
		for j := range block {
			s := &block[j]
			s.from, s.to = p.index.start[s.slot], p.index.start[s.slot+1]
			if count > 1 && s.from < s.to {
				prefetch(unsafe.Pointer(&p.index.positions[s.from]), unsafe.Pointer(&p.index.positions[s.to-1]))
			}
		}
		for j := range block {
			p.tryCandidates(&block[j], read, n, forwardMask, reverseMask)
			if p.bestMismatches <= p.mode.goodMismatches && p.bestPos >= 0 {
				return p.bestPos, p.bestReversed
			}
			if p.candidatesLeft <= 0 {
				a = z + 1
				break
			}
		}
	}
	return p.bestPos, p.bestReversed
}

// placements holds the place of each read by record. Strands are those of the read in input orientation.
type placements struct {
	pos          []uint32 // position on the pseudogenome, or Unplaced
	reversedBits []uint32 // one bit per record: the read is on the reverse strand
	mismatches   []uint8  // number of mismatches; 255 if there are more
}

func newPlacements(n int) *placements {
	pl := &placements{pos: make([]uint32, n), reversedBits: make([]uint32, n/32+1), mismatches: make([]uint8, n)}
	for i := range pl.pos {
		pl.pos[i] = Unplaced
	}
	return pl
}

func (pl *placements) reversed(record uint32) bool {
	return pl.reversedBits[record>>5]>>(record&31)&1 != 0
}

// set stores the place of a record. Goroutines may set different records at the same time.
func (pl *placements) set(record, pos uint32, reversed bool, miss int) {
	pl.pos[record], pl.mismatches[record] = pos, uint8(min(miss, 255))
	if reversed {
		atomic.OrUint32(&pl.reversedBits[record>>5], 1<<(record&31))
	} else {
		atomic.AndUint32(&pl.reversedBits[record>>5], ^uint32(1<<(record&31)))
	}
}

// placeBatch is the number of reads that one goroutine places before it takes the next batch. The reads of a batch share a
// limit on the number of candidates, in proportion to their bases. Half of it is available from the first read on; each read
// adds its part of the other half. So a read with many candidates can try all of them, unless most reads of the batch have
// many: reads of low complexity or of the same repeats have thousands of candidates, none of which is a place.
const placeBatch = 4096

// placeAll places the reads that have no place yet. Reads with a place for which retry returns true are moved if a place with
// fewer mismatches is found. It returns the number of candidates that were tried.
func placeAll(
	rd *Reads, pl *placements, seq *sequence, ix *kmerIndex, threads int, mode placeMode,
	retry func(p *placer, i int) bool, progress func(done int),
) int64 {
	var next, candidatesTried atomic.Int64
	var wg sync.WaitGroup
	for t := 0; t < threads; t++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p := &placer{rd: rd, pg: seq.packed, pgLen: seq.n, index: ix, mode: mode}
			for {
				from := int(next.Add(placeBatch)) - placeBatch
				if from >= rd.Count() {
					candidatesTried.Add(p.candidatesTried)
					return
				}
				to := min(from+placeBatch, rd.Count())
				bases := 0
				for i := from; i < to; i++ {
					bases += rd.len(i)
				}
				p.candidatesLeft = bases * mode.candidatesPer2Bases / 4
				for i := from; i < to; i++ {
					p.candidatesLeft += rd.len(i) * mode.candidatesPer2Bases / 4
					rec := rd.records[i]
					below := math.MaxInt
					if pl.pos[rec] != Unplaced {
						if !retry(p, i) {
							continue
						}
						below = int(pl.mismatches[rec])
					}
					if pos, reversed := p.placeRead(i, below); pos >= 0 {
						pl.set(rec, uint32(pos), reversed != (rd.signaturePlace[i]&1 != 0), p.bestMismatches)
					}
				}
				if from%(placeBatch*16) == 0 {
					progress(from)
				}
			}
		}()
	}
	wg.Wait()
	return candidatesTried.Load()
}
