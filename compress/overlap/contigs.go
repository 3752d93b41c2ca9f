package overlap

import (
	"slices"
	"sync"
	"sync/atomic"

	"orcomgo/minimizer"
)

// maxOverlapped is the length in bases of the longest read that is used in contigs or placed. Longer reads are so likely
// to contain insertions and deletions that comparing base by base fails, and a context model codes them better.
const maxOverlapped = 700

// contig is the consensus of overlapping reads of one bin.
type contig struct {
	seq   []byte // one base a byte
	reads uint32
	order uint32 // of contigs with equally many reads, the one of the smallest order is joined first
}

// contigOverheadBytes is the memory of a contig in addition to its bases, including unused capacity of its list.
const contigOverheadBytes = 40

// contigs are the contigs of some reads. A read that overlaps no other is a contig of one read, and only its index is kept:
// unpacked bases would take four times the memory of the packed read.
type contigs struct {
	merged  []contig
	reads   *Reads
	singles []uint32 // indices in rd, ascending by bin
}

func (c *contigs) count() int { return len(c.merged) + len(c.singles) }

// bytes returns the memory of the contigs, without that of the reads.
func (c *contigs) bytes() uint64 {
	n := uint64(len(c.merged))*contigOverheadBytes + 4*uint64(len(c.singles))
	for i := range c.merged {
		n += uint64(len(c.merged[i].seq))
	}
	return n
}

// keyBases is the number of bases after the signature that must be equal for two reads to be compared. Every read has
// them: no signature ends within the last minimizer.Skip bases of a read.
const keyBases = minimizer.Skip

// binContigs aligns the reads of each bin by the position of their signature and merges those that agree. It uses the reads
// for which include returns true; all of them if include is nil. Bins are processed in parallel.
// (Step 1 of the layout. Aligning by signature follows ORCOM, Grabowski et al. 2015, section 2.2.)
func binContigs(rd *Reads, include func(i int) bool, threads int) *contigs {
	parts := make([]contigs, len(rd.groups))
	starts := make([]int, len(rd.groups))
	at := 0
	for g := range rd.groups {
		starts[g] = at
		at += int(rd.groups[g].Reads)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for t := 0; t < threads; t++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			b := binWorker{rd: rd, include: include}
			for {
				g := int(next.Add(1)) - 1
				if g >= len(rd.groups) {
					return
				}
				parts[g] = b.assembleBin(starts[g], starts[g]+int(rd.groups[g].Reads), rd.groups[g].Signature == minimizer.None)
			}
		}()
	}
	wg.Wait()
	several, singles := 0, 0
	for i := range parts {
		several, singles = several+len(parts[i].merged), singles+len(parts[i].singles)
	}
	all := &contigs{reads: rd, merged: make([]contig, 0, several), singles: make([]uint32, 0, singles)}
	for i := range parts {
		all.merged = append(all.merged, parts[i].merged...)
		all.singles = append(all.singles, parts[i].singles...)
		parts[i] = contigs{}
	}
	for i := range all.merged {
		all.merged[i].order = uint32(i)
	}
	return all
}

// binWorker assembles the contigs of one bin at a time. Each goroutine has its own.
type binWorker struct {
	rd        *Reads
	include   func(i int) bool
	keys      []uint64
	read      []byte
	pileups   []*pileup
	unmatched []uint32 // reads of a group that agree with none of its pileups
	arena     []byte
	out       contigs
}

// pileup is a contig under construction: the number of reads with each base, by column. The signature starts at column 0.
type pileup struct {
	lo, hi    int // covered columns: lo <= column < hi
	origin    int // index of column 0 in counts and consensus
	counts    [][4]uint16
	consensus []byte
	reads     int
	firstRead uint32 // index of the first read
}

func (s *pileup) reset() {
	clear(s.counts)
	s.lo, s.hi, s.reads = 0, 0, 0
}

// copySeq returns a copy of seq in the arena. One allocation serves many contigs.
func (b *binWorker) copySeq(seq []byte) []byte {
	if len(b.arena)+len(seq) > cap(b.arena) {
		b.arena = make([]byte, 0, max(1<<20, len(seq)))
	}
	at := len(b.arena)
	b.arena = append(b.arena, seq...)
	return b.arena[at:len(b.arena):len(b.arena)]
}

func (b *binWorker) assembleBin(from, to int, none bool) contigs {
	rd := b.rd
	b.out = contigs{}
	b.keys = b.keys[:0]
	for i := from; i < to; i++ {
		n := rd.len(i)
		if n > maxOverlapped || b.include != nil && !b.include(i) {
			continue
		}
		a, z := rd.longestACGT(i)
		if z-a < seedLen {
			continue
		}
		p := int(rd.signaturePlace[i] >> 1)
		if none || p < a || p+minimizer.K+keyBases > z {
			b.out.singles = append(b.out.singles, uint32(i))
			continue
		}
		key := loadChunk(rd.bases(i), p+minimizer.K) & firstBases(keyBases)
		b.keys = append(b.keys, key<<32|uint64(i-from))
	}
	slices.Sort(b.keys)
	for i := 0; i < len(b.keys); {
		j := i + 1
		for j < len(b.keys) && b.keys[j]>>32 == b.keys[i]>>32 {
			j++
		}
		b.assembleGroup(b.keys[i:j], from)
		i = j
	}
	return b.out
}

// maxPileups is the number of contigs of one group that a read is compared with at most. A read that agrees with none of
// them is a contig of one read.
const maxPileups = 12

// assembleGroup assembles the contigs of reads that have the same signature and the same keyBases bases after it. The low
// 32 bits of a key are the index of its read minus from.
func (b *binWorker) assembleGroup(keys []uint64, from int) {
	rd := b.rd
	used := 0
	b.unmatched = b.unmatched[:0]
	for _, k := range keys {
		i := from + int(uint32(k))
		if len(keys) == 1 {
			b.out.singles = append(b.out.singles, uint32(i))
			return
		}
		a, z := rd.longestACGT(i)
		b.read = unpack(b.read[:0], rd.bases(i), a, z-a)
		start := a - int(rd.signaturePlace[i]>>1) // column of the first base
		nearest, fewest := -1, 0
		for s := range used {
			pile := b.pileups[s]
			lo, hi := max(start, pile.lo), min(start+len(b.read), pile.hi)
			limit := (hi - lo) / 12
			if nearest >= 0 {
				limit = min(limit, fewest-1)
			}
			x, y := pile.consensus[lo+pile.origin:hi+pile.origin], b.read[lo-start:hi-start]
			d := 0
			for c, v := range x {
				if y[c] != v {
					if d++; d > limit {
						break
					}
				}
			}
			if d <= limit {
				nearest, fewest = s, d
			}
		}
		if nearest < 0 && used == maxPileups {
			b.unmatched = append(b.unmatched, uint32(i))
			continue
		}
		if nearest < 0 {
			if used == len(b.pileups) {
				const w = maxOverlapped
				b.pileups = append(b.pileups, &pileup{origin: w, counts: make([][4]uint16, 2*w), consensus: make([]byte, 2*w)})
			}
			nearest = used
			used++
			pile := b.pileups[nearest]
			pile.reset()
			pile.lo, pile.hi, pile.firstRead = start, start, uint32(i)
		}
		b.pileups[nearest].addRead(b.read, start)
	}
	for s := 0; s < used; s++ {
		pile := b.pileups[s]
		if pile.reads == 1 {
			b.out.singles = append(b.out.singles, pile.firstRead)
			continue
		}
		b.out.merged = append(
			b.out.merged,
			contig{seq: b.copySeq(pile.consensus[pile.lo+pile.origin : pile.hi+pile.origin]), reads: uint32(pile.reads)},
		)
	}
	b.out.singles = append(b.out.singles, b.unmatched...)
}

// addRead counts the bases of a read whose first base is at column start.
func (s *pileup) addRead(read []byte, start int) {
	s.reads++
	if s.reads == 1 {
		s.lo, s.hi = start, start
	}
	full := s.reads >= 60000 // counts are 16 bits
	for j, c := range read {
		col := start + j + s.origin
		n := &s.counts[col]
		if !full {
			n[c]++
		}
		// The consensus keeps the first base seen until another has a higher count.
		if start+j < s.lo || start+j >= s.hi || n[c] > n[s.consensus[col]] {
			s.consensus[col] = c
		}
	}
	s.lo, s.hi = min(s.lo, start), max(s.hi, start+len(read))
}
