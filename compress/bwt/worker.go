package bwt

// worker is what a thread needs: memory that it uses again.
type worker struct {
	s      *sorter
	tmp    []uint64
	ties   []tie
	small  []group // a stack of groups of equal entries
	left   []group
	first  []uint64
	second []uint64
	order  [smallGroup]uint64
	swap   [smallGroup]uint64
	read   uint32 // the sum of values that are read early

	mayRead int       // what the worker has of readAhead
	_       [128]byte // workers have no line of the processor's cache in common
}

// group is a group of entries that agree so far: the first of them, and how many.
type group struct{ start, size uint32 }

const (
	groupBits  = 11             // of the number of an entry in a small group
	smallGroup = 1 << groupBits // up to so many entries are sorted by words of wordBits and their number in the group
	groupMask  = smallGroup - 1
	wordBits   = 64 - groupBits
	batch      = 2048 // entries whose bits are read together, so that the reads wait for memory together
)

// sort sorts entries that agree in depth bits and have the keys of the bits after them; rank is that of the first.
func (w *worker) sort(a []uint64, rank, depth uint64) {
	s := w.s
	if len(w.tmp) < len(a) {
		w.tmp = make([]uint64, max(len(a), 1<<14))
	}
	sortWords(a, w.tmp[:len(a)], s.low+s.keyBits, s.low)
	w.refine(a, rank, depth+uint64(s.keyBits))
}

// refine sorts entries that are sorted by their keys, which end depth bits after the suffixes begin; rank is that of the first.
func (w *worker) refine(a []uint64, rank, depth uint64) {
	s := w.s
	low, base := s.low, len(w.small)
	for start := 0; start < len(a); {
		next := start + 1
		for next < len(a) && (a[start]^a[next])>>low == 0 {
			next++
		}
		switch size := next - start; {
		case size > smallGroup && s.deep(a[start], depth) && !w.readOn(a[start:next], depth):
			w.sortDeep(a, []group{{uint32(start), uint32(size)}}, rank)
		case size > smallGroup:
			s.nextKeys(a[start:next], depth)
			w.sort(a[start:next], rank+uint64(start), depth)
		case size > 1:
			w.small = append(w.small, group{uint32(start), uint32(size)})
		}
		start = next
	}
	w.refineSmall(a, base, rank, depth)
	w.small = w.small[:base]
}

// refineSmall sorts the small groups from number base on, whose entries agree in depth bits.
func (w *worker) refineSmall(a []uint64, base int, rank, depth uint64) {
	s := w.s
	for base < len(w.small) {
		// Groups that agree in enough symbols are moved to the end.
		shallow := base
		for i := base; i < len(w.small); i++ {
			if g := w.small[i]; !s.deep(a[g.start], depth) || w.readOn(a[g.start:g.start+g.size], depth) {
				w.small[i], w.small[shallow] = w.small[shallow], g
				shallow++
			}
		}
		w.sortDeep(a, w.small[shallow:], rank)
		w.left = w.left[:0]
		for groups := w.small[base:shallow]; len(groups) > 0; {
			n, members := nextBatch(groups)
			w.refineBatch(a, groups[:n], members, depth)
			groups = groups[n:]
		}
		w.small = append(w.small[:base], w.left...)
		depth += 2 * wordBits
	}
}

// readOn reports whether suffixes that agree in coverSize symbols are to be compared by the bits from depth on all the same.
func (w *worker) readOn(group []uint64, depth uint64) bool {
	for _, e := range group {
		if w.s.at(e)+depth >= w.s.t.total {
			return false // it has no more bits
		}
	}
	if len(group) > w.mayRead {
		take := max(len(group), 1<<16)
		// Once it is used up, it is only read, so that threads don't take its line of the cache from one another.
		if w.s.readAhead.Load() < int64(take) {
			return false
		}
		w.s.readAhead.Add(-int64(take))
		w.mayRead += take
	}
	w.mayRead -= len(group)
	return true
}

// nextBatch returns how many groups, at least one, have as many members as fit into a batch, and how many members these have.
func nextBatch(groups []group) (n, members int) {
	for n < len(groups) && (n == 0 || members+int(groups[n].size) <= batch) {
		members += int(groups[n].size)
		n++
	}
	return n, members
}

// scratch returns memory for two words of each member of a batch.
func (w *worker) scratch(members int) (first, second []uint64) {
	if len(w.first) < members {
		w.first, w.second = make([]uint64, max(members, batch)), make([]uint64, max(members, batch))
	}
	return w.first[:members], w.second[:members]
}

// refineBatch sorts the entries of groups by the 2*wordBits bits after depth bits, and adds groups that agree in these to w.left.
func (w *worker) refineBatch(a []uint64, groups []group, members int, depth uint64) {
	s := w.s
	first, second := w.scratch(members)
	n := 0
	for _, g := range groups {
		for i, e := range a[g.start : g.start+g.size] {
			at := s.at(e) + depth
			first[n], second[n] = s.t.window(at)&^groupMask|uint64(i), s.t.window(at+wordBits)&^groupMask
			n++
		}
	}
	for _, g := range groups {
		entries, keys, next := a[g.start:g.start+g.size], first[:g.size], second[:g.size]
		first, second = first[g.size:], second[g.size:]
		w.sortKeys(keys)
		// Groups of equal first words are sorted by the second words.
		for i := 0; i < len(keys); {
			j := i + 1
			for j < len(keys) && (keys[i]^keys[j])>>groupBits == 0 {
				j++
			}
			if j-i > 1 {
				for k := i; k < j; k++ {
					keys[k] = next[keys[k]&groupMask] | keys[k]&groupMask
				}
				part := keys[i:j]
				w.sortKeys(part)
				for k := 0; k < len(part); {
					l := k + 1
					for l < len(part) && (part[k]^part[l])>>groupBits == 0 {
						l++
					}
					if l-k > 1 {
						w.left = append(w.left, group{g.start + uint32(i+k), uint32(l - k)})
					}
					k = l
				}
			}
			i = j
		}
		order := w.order[:len(entries)]
		for i, k := range keys {
			order[i] = entries[k&groupMask]
		}
		copy(entries, order)
	}
}

// sortKeys sorts words by their bits from groupBits on. Equal ones stay in their order.
func (w *worker) sortKeys(keys []uint64) { sortWords(keys, w.swap[:len(keys)], 64, groupBits) }

// sortDeep sorts the entries of groups that agree in coverSize symbols, or without ranks notes the groups; rank is that of a[0].
func (w *worker) sortDeep(a []uint64, groups []group, rank uint64) {
	s := w.s
	if s.rankSample == nil {
		for _, g := range groups {
			w.ties = append(w.ties, tie{uint32(rank) + g.start, g.size})
		}
		return
	}
	if len(groups) == 0 {
		return
	}
	r := s.rankSample()
	for len(groups) > 0 {
		n, members := nextBatch(groups)
		words, entries := w.scratch(members)
		i := 0
		for _, g := range groups[:n] {
			for _, e := range a[g.start : g.start+g.size] {
				words[i], entries[i] = s.symbol(e)<<32|uint64(i), e
				i++
			}
		}
		// The ranks of all are read before they are needed, so that the reads wait for memory together.
		sum := uint32(0)
		for _, x := range words {
			sum += r.of[sampleNumber(x>>32)]
		}
		w.read += sum
		i = 0
		for _, g := range groups[:n] {
			part := words[i : i+int(g.size)]
			r.sort(part)
			for j, x := range part {
				a[int(g.start)+j] = entries[uint32(x)]
			}
			i += int(g.size)
		}
		groups = groups[n:]
	}
}
