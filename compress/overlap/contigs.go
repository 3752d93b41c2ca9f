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

// contig is the consensus of reads of one bin that overlap.
type contig struct {
	seq   []byte // one base a byte
	reads uint32
	order uint32 // ties are broken by this: smaller first
}

// contigBytes is what a contig takes beside its bases, with the slack of the list that it is in.
const contigBytes = 40

// contigs are those of some reads. Reads that found no partner are contigs of one read each, of which only the number is kept: where
// most reads overlap no other, their bases would take four times what the reads do.
type contigs struct {
	several []contig
	rd      *Reads
	singles []uint32 // indices in rd, ascending by bin
}

func (c *contigs) count() int { return len(c.several) + len(c.singles) }

// bytes returns how much memory the contigs take, beside the reads.
func (c *contigs) bytes() uint64 {
	n := uint64(len(c.several))*contigBytes + 4*uint64(len(c.singles))
	for i := range c.several {
		n += uint64(len(c.several[i].seq))
	}
	return n
}

// key12 is how many bases right of the signature must agree before reads are compared. They
// are always there: no signature starts in the last Skip bases before its own end.
const key12 = minimizer.Skip

// binContigs aligns the reads of each bin by signature position and merges those that
// agree, a bin at a time, in parallel; only reads that wanted, unless it is nil, tells.
// (Stage 1 of the layout; aligning by signature is ORCOM's, Grabowski et al. 2015, section 2.2.)
func binContigs(rd *Reads, wanted func(i int) bool, threads int) *contigs {
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
	several, singles := 0, 0
	for i := range parts {
		several, singles = several+len(parts[i].several), singles+len(parts[i].singles)
	}
	all := &contigs{rd: rd, several: make([]contig, 0, several), singles: make([]uint32, 0, singles)}
	for i := range parts {
		all.several = append(all.several, parts[i].several...)
		all.singles = append(all.singles, parts[i].singles...)
		parts[i] = contigs{}
	}
	for i := range all.several {
		all.several[i].order = uint32(i)
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
	lone   []uint32 // reads of a group that agree with no stack
	arena  []byte
	out    contigs
}

// stack is a contig under construction: base counts by column, column 0 at the signature.
type stack struct {
	lo, hi int // columns covered: lo <= column < hi
	org    int // index of column 0
	count  [][4]uint16
	cons   []byte
	reads  int
	first  uint32 // the first read
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

func (b *binWorker) bin(from, to int, none bool) contigs {
	rd := b.rd
	b.out = contigs{}
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
			b.out.singles = append(b.out.singles, uint32(i))
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
	b.lone = b.lone[:0]
	for _, k := range keys {
		i := from + int(uint32(k))
		if len(keys) == 1 {
			b.out.singles = append(b.out.singles, uint32(i))
			return
		}
		a, z := rd.clean(i)
		b.read = unpack(b.read[:0], rd.bases(i), a, z-a)
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
			b.lone = append(b.lone, uint32(i))
			continue
		}
		if best < 0 {
			if used == len(b.stack) {
				const w = maxOverlapped
				b.stack = append(b.stack, &stack{org: w, count: make([][4]uint16, 2*w), cons: make([]byte, 2*w)})
			}
			best = used
			used++
			st := b.stack[best]
			st.reset()
			st.lo, st.hi, st.first = start, start, uint32(i)
		}
		b.stack[best].add(b.read, start)
	}
	for s := 0; s < used; s++ {
		st := b.stack[s]
		if st.reads == 1 {
			b.out.singles = append(b.out.singles, st.first)
			continue
		}
		b.out.several = append(b.out.several, contig{seq: b.keep(st.cons[st.lo+st.org : st.hi+st.org]), reads: uint32(st.reads)})
	}
	b.out.singles = append(b.out.singles, b.lone...)
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
