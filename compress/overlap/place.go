package overlap

import (
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"orcomgo/bases"
	"orcomgo/internal/largepages"
	"orcomgo/internal/prefetch"
	"orcomgo/internal/tasks"
)

// Unplaced is the position of a read that is not placed on the pseudogenome.
const Unplaced = ^uint32(0)

// seed is a k-mer of a read that the index may hold.
type seed struct {
	offset     int    // offset in the read
	key        uint64 // see kmerIndex
	slot       uint64 // the first slot of the index that may hold it
	segment    int    // the segment of the slot
	reversed   bool   // the k-mer's reverse complement is the smaller word
	palindrome bool   // the k-mer is its own reverse complement
}

// candidate is a place with which a read is compared.
type candidate struct {
	pos      int
	reversed bool
}

// search is the search for the place of one read:
//
//   - Its seeds are those of its k-mers that are of the index's sample. They are looked up one after another, alternately from
//     the left end and the right end, inwards. A seed is mode.seedStep bases or more from the one before it on the same side.
//   - The candidates of a seed are the positions of its k-mer that the index holds, in ascending order, each on the strand on
//     which the k-mers agree (on both, the forward strand first, if the k-mer is its own reverse complement). A candidate that
//     extends beyond the pseudogenome is passed over, and so is the best place so far.
//   - A candidate becomes the best place if it has fewer mismatches than the best one before (at first: fewer than limit), or
//     as many at a smaller position, or at the same position and on the forward strand instead of the reverse.
//   - The search ends at a place without mismatches; after the seed with which the best place has at most mode.goodMismatches
//     mismatches; one seed for each mode.basesPerMoreSeed bases of the read after the last one that lowered the number of
//     mismatches; after one candidate for each mode.basesPerCandidate bases; or when there are no seeds left.
//
// So a place depends only on the read and on the index.
type search struct {
	read         []byte // packed bases, in stored orientation
	index        int    // the read's number in Reads
	n            int    // length of the read in bases
	left, right  int    // the next seed on each side is at or after left, at or before right
	fromRight    bool   // the next seed is taken from the right
	leftSampled  sampled
	rightSampled sampled
	seed         seed
	candidates   []candidate // of the current seed
	mostTried    int         // the number of candidates that may still be tried
	seedsLeft    int         // the number of seeds that may still be looked up
	best         int         // mismatches of the best place, or the limit
	pos          int         // of the best place; -1 if there is none
	reversed     bool        // the best place is on the reverse strand
	reverseReady bool        // reverse holds the reverse complement of read
	reverse      [(maxOverlapped+3)/4 + 2*bases.Pad]byte
	masked       bool // the masks are used; see Reads.skipMask
	forwardMask  []uint64
	reverseMask  []uint64
}

// searchesAtOnce is the number of searches that a goroutine runs in turns, so that their cache misses overlap.
const searchesAtOnce = 24

// placer searches for the places of reads. Each goroutine has its own.
type placer struct {
	rd       *Reads
	pg       []byte
	pgLen    int
	index    *kmerIndex
	mode     placeMode
	tried    int64 // number of candidates tried so far
	searches [searchesAtOnce]search
	running  [searchesAtOnce]*search
}

// begin starts the search for a place of read i with fewer than limit mismatches.
func (p *placer) begin(s *search, i, limit int) {
	n := p.rd.len(i)
	s.read, s.index, s.n = p.rd.bases(i), i, n
	s.left, s.right, s.fromRight = 0, n-p.index.k, false
	s.leftSampled, s.rightSampled = sampled{first: -bases.PerChunk}, sampled{first: n}
	s.mostTried, s.seedsLeft = n/p.mode.basesPerCandidate, math.MaxInt
	if p.mode.candidatesPerBase > 0 {
		s.mostTried = n * p.mode.candidatesPerBase
	}
	s.best, s.pos, s.reversed = limit, -1, false
	s.reverseReady, s.masked = false, p.rd.hasNonACGT(i)
	if s.masked {
		s.forwardMask, s.reverseMask = p.rd.skipMask(s.forwardMask, i, false), p.rd.skipMask(s.reverseMask, i, true)
	}
}

// sampled is which of the k-mers at offsets first..first+width-1 of a read are of the index's sample: bit i is that of first+i.
// width is the number of k-mers in a chunk.
type sampled struct {
	first int
	bits  uint32
}

// sampledFrom returns which k-mers from offset `first` of the read on are of the sample.
func (ix *kmerIndex) sampledFrom(read []byte, first int) sampled {
	if ix.sampleMask == 0 {
		return sampled{first, math.MaxUint32}
	}
	w := bases.Chunk(read, first)
	r := ^bases.Reverse(w) // the reverse complement of a k-mer is in its upper bits
	mask, below, m := bases.First(ix.k), uint(64-2*ix.k)&63, uint32(0)
	for bit := uint32(1); bit < 2<<(bases.PerChunk-ix.k); bit <<= 1 {
		h := mix64(min(w&mask, r>>below))
		m |= bit & uint32(int64(h&ix.sampleMask-1)>>63) // if no bit of sampleMask is set
		w, r = w>>2, r<<2
	}
	return sampled{first, m}
}

// nextOffset returns the offset of the next seed, or -1 if there is none.
func (p *placer) nextOffset(s *search) int {
	width := bases.PerChunk - p.index.k + 1
	if s.fromRight {
		for s.left <= s.right {
			if s.right < s.rightSampled.first {
				s.rightSampled = p.index.sampledFrom(s.read, max(s.right-width+1, 0))
			}
			first := s.rightSampled.first
			m := s.rightSampled.bits << (31 - uint(s.right-first))
			at := s.right - bits.LeadingZeros32(m)
			if m == 0 {
				s.right = first - 1
				continue
			}
			if at < s.left {
				break
			}
			s.right = at - p.mode.seedStep
			return at
		}
		return -1
	}
	for s.left <= s.right {
		if s.left >= s.leftSampled.first+width {
			s.leftSampled = p.index.sampledFrom(s.read, s.left)
		}
		first := s.leftSampled.first
		m := s.leftSampled.bits >> uint(s.left-first)
		if m == 0 {
			s.left = first + width
			continue
		}
		at := s.left + bits.TrailingZeros32(m)
		if at > s.right {
			break
		}
		s.left = at + p.mode.seedStep
		return at
	}
	return -1
}

// nextKmer returns the offset of the next seed, its k-mer and the reverse complement. The offset is -1 if there is none.
func (p *placer) nextKmer(s *search) (at int, w, r uint64) {
	if at = p.nextOffset(s); at < 0 {
		return at, 0, 0
	}
	s.fromRight = !s.fromRight
	w = bases.Chunk(s.read, at) & bases.First(p.index.k)
	return at, w, bases.ReverseComplement(w, p.index.k)
}

// nextSeed sets s.seed to the next seed and loads its slot into the cache. It returns false if there is none.
func (p *placer) nextSeed(s *search) bool {
	at, w, r := p.nextKmer(s)
	if at < 0 {
		return false
	}
	ix := p.index
	segment, key, slot := ix.find(mix64(min(w, r)))
	s.seed.offset, s.seed.key, s.seed.slot, s.seed.segment = at, key, slot, segment
	s.seed.reversed, s.seed.palindrome = r < w, r == w
	prefetch.Line(unsafe.Pointer(&ix.segments[segment][slot]))
	return true
}

// findCandidates looks up the seed. It sets s.candidates and loads the first one's bases into the cache.
func (p *placer) findCandidates(s *search) {
	ix := p.index
	s.candidates = s.candidates[:0]
	slots := ix.segments[s.seed.segment]
	toRight := s.n - ix.k - s.seed.offset // bases after the seed
	for at := s.seed.slot; ; {
		e := slots[at]
		if e == 0 {
			break
		}
		if e>>33 == s.seed.key {
			reversed := e>>32&1 != 0 != s.seed.reversed
			p.addCandidate(s, int(uint32(e)), toRight, reversed)
			if s.seed.palindrome {
				p.addCandidate(s, int(uint32(e)), toRight, true)
			}
		}
		if at++; at == uint64(len(slots)) {
			at = 0
		}
	}
	if len(s.candidates) > 0 {
		Prefetch(p.pg, s.candidates[0].pos, s.n)
	}
}

// addCandidate adds the place of the read at which the seed's k-mer is at base `at` of the pseudogenome.
func (p *placer) addCandidate(s *search, at, toRight int, reversed bool) {
	pos := at - s.seed.offset
	if reversed {
		pos = at - toRight
	}
	if pos >= 0 && pos+s.n <= p.pgLen && (pos != s.pos || reversed != s.reversed) {
		s.candidates = append(s.candidates, candidate{pos, reversed})
	}
}

// compareCandidates compares the read with the candidates. It returns whether the search ends.
func (p *placer) compareCandidates(s *search) bool {
	if len(s.candidates) > s.mostTried {
		s.candidates = s.candidates[:s.mostTried]
	}
	s.mostTried -= len(s.candidates)
	p.tried += int64(len(s.candidates))
	s.seedsLeft--
	for _, c := range s.candidates {
		read, mask := s.read, s.forwardMask
		if c.reversed {
			if !s.reverseReady {
				bases.ReverseComplementInto(s.reverse[:], s.read, s.n)
				s.reverseReady = true
			}
			read, mask = s.reverse[:], s.reverseMask
		}
		if !s.masked {
			mask = nil
		}
		d := bases.CountDiffering(p.pg, c.pos, read, 0, s.n, s.best, mask)
		switch {
		case d < s.best:
			s.best, s.pos, s.reversed, s.seedsLeft = d, c.pos, c.reversed, s.n/p.mode.basesPerMoreSeed
		case d == s.best && s.pos >= 0 && (c.pos < s.pos || c.pos == s.pos && s.reversed):
			s.pos, s.reversed = c.pos, c.reversed
		}
		if s.best == 0 {
			break
		}
	}
	return s.pos >= 0 && s.best <= p.mode.goodMismatches || s.mostTried == 0 || s.seedsLeft == 0
}

// place searches for the places of reads from..from+len(limits)-1, those with fewer mismatches than the limit of the read, and
// calls found for each place. A limit of 0 excludes a read.
func (p *placer) place(from int, limits []uint8, found func(s *search)) {
	next := 0
	refill := func(s *search) bool {
		for next < len(limits) && limits[next] == 0 {
			next++
		}
		if next == len(limits) {
			return false
		}
		p.begin(s, from+next, int(limits[next]))
		next++
		return true
	}
	running := p.running[:0]
	for i := range p.searches {
		if !refill(&p.searches[i]) {
			break
		}
		running = append(running, &p.searches[i])
	}
	for len(running) > 0 {
		// Each search proceeds by one seed. A search that ends is replaced by that of the next read.
		for k := 0; k < len(running); {
			s := running[k]
			for !p.nextSeed(s) {
				if s.pos >= 0 {
					found(s)
				}
				if !refill(s) {
					running[k] = running[len(running)-1]
					running = running[:len(running)-1]
					s = nil
					break
				}
			}
			if s != nil {
				k++
			}
		}
		for _, s := range running {
			p.findCandidates(s)
		}
		for _, s := range running {
			if p.compareCandidates(s) {
				s.left, s.right = 1, 0 // no seeds are left
			}
		}
	}
}

// placements holds the place of each read by record, or by index; see Reads.number. Strands are those of the read in input orientation.
type placements struct {
	pos          []uint32 // position on the pseudogenome, or Unplaced
	reversedBits []uint32 // one bit per read: it is on the reverse strand
	mismatches   []uint8  // number of mismatches; 255 if there are more
}

// makePlacements returns places of n reads, all at position 0.
func makePlacements(n int) *placements {
	return &placements{pos: largepages.Make[uint32](n), reversedBits: largepages.Make[uint32](n/32 + 1), mismatches: largepages.Make[uint8](n)}
}

// newPlacements returns places of n reads, of which none has one.
func newPlacements(n, threads int) *placements {
	pl := makePlacements(n)
	inParallel(threads, n, 1<<18, func(_, from, to int) {
		for i := from; i < to; i++ {
			pl.pos[i] = Unplaced
		}
	})
	return pl
}

// of returns the place of a record, which is Unplaced if pl is nil.
func (pl *placements) of(record uint32) (pos uint32, reversed bool) {
	if pl == nil {
		return Unplaced, false
	}
	return pl.pos[record], pl.reversed(record)
}

func (pl *placements) reversed(record uint32) bool {
	return pl.reversedBits[record>>5]>>(record&31)&1 != 0
}

// set stores the place of a record. Goroutines may set different records at the same time.
func (pl *placements) set(record, pos uint32, reversed bool, miss int) {
	pl.pos[record], pl.mismatches[record] = pos, uint8(min(miss, 255))
	if reversed != (atomic.LoadUint32(&pl.reversedBits[record>>5])>>(record&31)&1 != 0) {
		pl.reverse(record)
	}
}

// reverse moves the read of a record to the other strand. Goroutines may do that with different records at the same time.
func (pl *placements) reverse(record uint32) {
	bits, bit := &pl.reversedBits[record>>5], uint32(1)<<(record&31)
	if atomic.LoadUint32(bits)&bit == 0 {
		atomic.OrUint32(bits, bit)
	} else {
		atomic.AndUint32(bits, ^bit)
	}
}

// toRecords puts the places of reads, which are by index, in the order of their records, without numbers of mismatches.
func (pl *placements) toRecords(rd *Reads, threads int) {
	by := &placements{pos: largepages.Make[uint32](len(pl.pos)), reversedBits: largepages.Make[uint32](len(pl.reversedBits))}
	inParallel(threads, len(by.pos), 1<<16, func(_, from, to int) {
		for rec := from; rec < to; rec++ {
			i := rd.indexByRecord[rec]
			by.pos[rec] = pl.pos[i]
			by.reversedBits[rec>>5] |= pl.reversedBits[i>>5] >> (i & 31) & 1 << (rec & 31)
		}
	})
	*pl = *by
}

// placeBatch is how many reads a goroutine places before it takes the next ones.
const placeBatch = 1 << 12

// mismatchBits is about how many bits a mismatch takes.
const mismatchBits = 6

// setLimits sets the limit of each of the reads from, from+1, ...: a place must have fewer mismatches. It is 0 for a read that is
// not to be placed: one that is too short or too long, or has a place and is not selected by retry.
func (b *builder) setLimits(limits []uint8, rd *Reads, from int, mode placeMode, retry retryRule) {
	for j := range limits {
		i := from + j
		n := rd.len(i)
		limits[j] = 0
		if n < mode.k || n > maxOverlapped || mode.most > 0 && n > mode.most {
			continue
		}
		limit := n/mode.basesPerMismatch + 1
		if mode.spare > 0 {
			limit = min(limit, max(2*n-mode.spare, 0)/mismatchBits+1)
		}
		if k := rd.number(i); b.placements.pos[k] != Unplaced {
			if !retry.selects(b, k, mode) {
				continue
			}
			limit = min(limit, int(b.placements.mismatches[k]))
		}
		limits[j] = uint8(limit)
	}
}

// placeAll places the reads that have no place yet. Reads with a place that retry selects are moved if a place with fewer
// mismatches is found.
func (b *builder) placeAll(rd *Reads, w *window, retry retryRule, progress func(done int)) {
	// Few reads are left for short seeds: these are not looked up on a device.
	if w.mode.most == 0 && b.accelerator.place(b, w, retry, progress) {
		b.changed = nil
		return
	}
	index := w.index()
	var tried atomic.Int64
	tasks.EachWorker((rd.Count()+placeBatch-1)/placeBatch, b.config.Threads, func(int) func(k int) {
		p := &placer{rd: rd, pg: b.seq.packed, pgLen: b.seq.n, mode: w.mode, index: index}
		memory := make([]uint8, placeBatch)
		return func(k int) {
			from := k * placeBatch
			limits := memory[:min(placeBatch, rd.Count()-from)]
			b.setLimits(limits, rd, from, w.mode, retry)
			before := p.tried
			p.place(from, limits, func(s *search) {
				k := rd.number(s.index)
				if b.changed != nil {
					before := int(b.placements.pos[k]) // if it is Unplaced, no range begins there
					b.changed.addRange(before, min(before+s.n, b.seq.n))
					b.changed.addRange(s.pos, s.pos+s.n)
				}
				// s.reversed is about the stored read.
				b.placements.set(k, uint32(s.pos), s.reversed != (rd.signaturePlace[s.index]&1 != 0), s.best)
			})
			tried.Add(p.tried - before)
			if from%(1<<16) == 0 {
				progress(from)
			}
		}
	})
	b.candidatesTried += tried.Load()
}
