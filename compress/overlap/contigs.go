package overlap

import (
	"slices"
	"sync"
	"sync/atomic"

	"orcomgo/minimizer"
)

// maxOverlapped is the longest read that takes part in contigs, in bases: beyond it insertions and
// deletions are so likely that comparing base by base fails, and a context model does better.
const maxOverlapped = 700

// contig is the consensus of reads of one bin that overlap, or a read by itself.
type contig struct {
	seq   []byte // one base a byte
	reads int
	order uint64 // ties are broken by this: smaller first
}

// key12 is how many bases right of the signature must agree before reads are compared. They
// are always there: no signature starts in the last Skip bases before its own end.
const key12 = minimizer.Skip

// binContigs aligns the reads of each bin by signature position and merges those that
// agree, a bin at a time, in parallel; only reads that wanted, unless it is nil, tells. Reads that found no partner come back
// as contigs of one read. (Stage 1 of the layout; aligning by signature is ORCOM's, Grabowski et al. 2015, section 2.2.)
func binContigs(rd *Reads, wanted func(i int) bool, threads int) []contig {
	parts := make([][]contig, len(rd.groups))
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
			b := binWorker{rd: rd, wanted: wanted}
			for {
				g := int(next.Add(1)) - 1
				if g >= len(rd.groups) {
					return
				}
				parts[g] = b.bin(starts[g], starts[g]+int(rd.groups[g].Reads), rd.groups[g].Signature == minimizer.None)
			}
		}()
	}
	wg.Wait()
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	all := make([]contig, 0, n)
	for _, p := range parts {
		all = append(all, p...)
	}
	for i := range all {
		all[i].order = uint64(i)
	}
	return all
}

// binWorker holds one goroutine's buffers.
type binWorker struct {
	rd     *Reads
	wanted func(i int) bool
	keys   []uint64
	read   []byte
	stack  []*stack
	arena  []byte
	out    []contig
}

// stack is a contig under construction: base counts by column, column 0 at the signature.
type stack struct {
	lo, hi int // columns covered: lo <= column < hi
	org    int // index of column 0
	count  [][4]uint16
	cons   []byte
	reads  int
}

func (s *stack) reset() {
	clear(s.count)
	s.lo, s.hi, s.reads = 0, 0, 0
}

// keep copies b to the arena, so that a million contigs are not a million allocations.
func (b *binWorker) keep(seq []byte) []byte {
	if len(b.arena)+len(seq) > cap(b.arena) {
		b.arena = make([]byte, 0, max(1<<20, len(seq)))
	}
	at := len(b.arena)
	b.arena = append(b.arena, seq...)
	return b.arena[at:len(b.arena):len(b.arena)]
}

func (b *binWorker) bin(from, to int, none bool) []contig {
	rd := b.rd
	b.out = nil
	b.keys = b.keys[:0]
	for i := from; i < to; i++ {
		n := rd.len(i)
		if n > maxOverlapped || b.wanted != nil && !b.wanted(i) {
			continue
		}
		a, z := rd.clean(i)
		if z-a < seedLen {
			continue
		}
		p := int(rd.place[i] >> 1)
		if none || p < a || p+minimizer.K+key12 > z {
			b.read = unpack(b.read[:0], rd.bases(i), a, z-a)
			b.out = append(b.out, contig{seq: b.keep(b.read), reads: 1})
			continue
		}
		key := load(rd.bases(i), p+minimizer.K) & firstBases(key12)
		b.keys = append(b.keys, key<<32|uint64(i-from))
	}
	slices.Sort(b.keys)
	for i := 0; i < len(b.keys); {
		j := i + 1
		for j < len(b.keys) && b.keys[j]>>32 == b.keys[i]>>32 {
			j++
		}
		b.group(b.keys[i:j], from)
		i = j
	}
	return b.out
}

// maxStacks bounds how many contigs of one key a read is compared with. A read that agrees with none of them is a contig
// by itself.
const maxStacks = 12

// group builds contigs of reads with the same signature and the same bases after it.
func (b *binWorker) group(keys []uint64, from int) {
	rd := b.rd
	used := 0
	first := len(b.out) // of the contigs of stacks, which are set at the end
	for _, k := range keys {
		i := from + int(uint32(k))
		a, z := rd.clean(i)
		b.read = unpack(b.read[:0], rd.bases(i), a, z-a)
		if len(keys) == 1 {
			b.out = append(b.out, contig{seq: b.keep(b.read), reads: 1})
			return
		}
		start := a - int(rd.place[i]>>1) // column of the first base
		best, bestCost := -1, 0
		for s := range used {
			st := b.stack[s]
			lo, hi := max(start, st.lo), min(start+len(b.read), st.hi)
			limit := (hi - lo) / 12
			if best >= 0 {
				limit = min(limit, bestCost-1)
			}
			x, y := st.cons[lo+st.org:hi+st.org], b.read[lo-start:hi-start]
			d := 0
			for c, v := range x {
				if y[c] != v {
					if d++; d > limit {
						break
					}
				}
			}
			if d <= limit {
				best, bestCost = s, d
			}
		}
		if best < 0 && used == maxStacks {
			b.out = append(b.out, contig{seq: b.keep(b.read), reads: 1})
			continue
		}
		if best < 0 {
			b.out = append(b.out, contig{})
			if used == len(b.stack) {
				const w = maxOverlapped
				b.stack = append(b.stack, &stack{org: w, count: make([][4]uint16, 2*w), cons: make([]byte, 2*w)})
			}
			best = used
			used++
			st := b.stack[best]
			st.reset()
			st.lo, st.hi = start, start
		}
		b.stack[best].add(b.read, start)
	}
	for s := 0; s < used; s++ {
		st := b.stack[s]
		b.out[first+s] = contig{seq: b.keep(st.cons[st.lo+st.org : st.hi+st.org]), reads: st.reads}
	}
}

// add votes for the bases of read, whose first base is at column start.
func (s *stack) add(read []byte, start int) {
	s.reads++
	if s.reads == 1 {
		s.lo, s.hi = start, start
	}
	full := s.reads >= 60000 // counts are 16 bits
	for j, c := range read {
		col := start + j + s.org
		n := &s.count[col]
		if !full {
			n[c]++
		}
		// The first base seen stays until another has more votes.
		if start+j < s.lo || start+j >= s.hi || n[c] > n[s.cons[col]] {
			s.cons[col] = c
		}
	}
	s.lo, s.hi = min(s.lo, start), max(s.hi, start+len(read))
}
