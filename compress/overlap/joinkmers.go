package overlap

import (
	"slices"
	"unsafe"

	"orcomgo/internal/largepages"
	"orcomgo/internal/prefetch"
)

// kmerGroups are the sampled k-mers of all contigs. Those with equal hashes are a group.
type kmerGroups struct {
	sorted []rankedKmer // by hash; of equal hashes, by contig and place
	places []kmerPlace  // in the order of contigs and places
	first  []uint32     // for each contig, the index in places of its first k-mer
	// members are the first maxPartnerGroup k-mers of the groups of several contigs. The groups are in the order of their first k-mers in
	// places: those of contigs that overlap are near each other in memory. Member 0 is unused. The memory is used for the k-mers in the
	// order of contigs, until they are sorted.
	members []kmer
}

// rankedKmer is a k-mer and its index in the order of contigs and places.
type rankedKmer struct {
	kmer
	ordinal uint32
}

// kmerPlace is where a k-mer is in its contig, as kmer.at, and the index in kmerGroups.members of its group; noGroup if the first k-mer of
// the group belongs to the same contig.
type kmerPlace struct{ group, at uint32 }

const noGroup = 0

// A stretch of contigs whose k-mers one goroutine samples at a time.
type stretch struct {
	from, to uint32
	kmers    []kmer
	before   int // k-mers in the stretches before
	room     int // k-mers for which there is memory; more are possible
	counts   []uint32
}

const (
	stretchBases = 1 << 18
	// maxPartBits is how many high bits of the hash divide the k-mers into parts, which are sorted one at a time by each goroutine.
	maxPartBits = 11
)

// stretches divides the contigs of a set.
func (s *contigSet) stretches() (all []stretch) {
	for c := 0; c < s.count(); {
		x := stretch{from: uint32(c)}
		for sum := 0; c < s.count() && sum < stretchBases; c++ {
			sum += int(s.length[c])
		}
		x.to = uint32(c)
		all = append(all, x)
	}
	return all
}

// resized returns a slice of n elements, in the memory of s if it is large enough; else new memory has as many more as growing needs.
func resized[T any](s []T, n, more int) []T {
	if cap(s) < n {
		s = largepages.Make[T](n + more)
	}
	return s[:n]
}

// fill samples the k-mers of the contigs of s and groups them. It uses the memory that it has from earlier calls. A settled contig has no
// place in groups in which it would be compared with settled contigs only; nil says that none is settled.
func (g *kmerGroups) fill(s *contigSet, by sampler, threads int, settled []bool) {
	all := s.stretches()
	g.first = resized(g.first, s.count()+1, s.count()/8)
	room := 0 // k-mers for which there is memory in order
	for i := range all {
		x := &all[i]
		bases := 0
		for c := x.from; c < x.to; c++ {
			bases += int(s.length[c])
		}
		x.room = bases/int(by.rate)*9/8 + 2*by.ends*int(x.to-x.from)
		if by.parts > 1 {
			x.room = x.room * 9 / 8 / int(by.parts)
		}
		x.before, room = room, room+x.room
	}
	g.members = resized(g.members, room, room/8)
	bits := 0
	for bits < maxPartBits && int(s.bases)/int(by.rate)>>bits > 1<<12 {
		bits++
	}
	parts := 1 << bits
	shift := uint(32 - bits)
	inParallel(threads, len(all), 1, func(_, i, _ int) {
		x := &all[i]
		x.kmers = g.members[x.before : x.before : x.before+x.room]
		x.counts = make([]uint32, parts)
		for c := x.from; c < x.to; c++ {
			g.first[c] = uint32(len(x.kmers))
			x.kmers = by.kmers(x.kmers, c, s.of(c), int(s.length[c]))
		}
		for k := range x.kmers {
			x.counts[uint64(x.kmers[k].hash)>>shift]++
		}
	})
	// Where the k-mers of each stretch begin, in the order of contigs and in each part.
	total := 0
	for i := range all {
		x := &all[i]
		x.before = total
		total += len(x.kmers)
		for c := x.from; c < x.to; c++ {
			g.first[c] += uint32(x.before)
		}
	}
	g.first[s.count()] = uint32(total)
	partStart := make([]uint32, parts+1)
	at := uint32(0)
	for p := range parts {
		partStart[p] = at
		for i := range all {
			at, all[i].counts[p] = at+all[i].counts[p], at
		}
	}
	partStart[parts] = at
	g.sorted = resized(g.sorted, total, total/8)
	inParallel(threads, len(all), 1, func(_, i, _ int) {
		x := &all[i]
		for k := range x.kmers {
			p := &x.counts[uint64(x.kmers[k].hash)>>shift]
			s := &g.sorted[*p]
			s.kmer, s.ordinal = x.kmers[k], uint32(x.before+k)
			*p++
		}
		x.kmers, x.counts = nil, nil
	})
	g.places = resized(g.places, total, total/8)
	inParallel(threads, total, taskRange, func(_, from, to int) { clear(g.places[from:to]) })
	buffers := make([][]rankedKmer, threads)
	inParallel(threads, parts, 1, func(w, p, _ int) {
		part := g.sorted[partStart[p]:partStart[p+1]]
		if len(buffers[w]) < len(part) {
			buffers[w] = make([]rankedKmer, len(part)+len(part)/4)
		}
		sortByHash(part, buffers[w][:len(part)], shift)
		eachGroup(part, func(group []rankedKmer) { g.places[group[0].ordinal].group = uint32(min(len(group), maxPartnerGroup)) })
	})
	many := g.placeMembers(threads)
	g.members = resized(g.members, many, many/8)
	inParallel(threads, parts, 1, func(_, p, _ int) {
		eachGroup(g.sorted[partStart[p]:partStart[p+1]], func(group []rankedKmer) {
			first := &g.places[group[0].ordinal].group
			at := *first
			*first = noGroup
			allSettled := settled != nil
			for i, k := range group[:min(len(group), maxPartnerGroup)] {
				g.members[int(at)+i] = k.kmer
				allSettled = allSettled && settled[k.contig]
			}
			for i := range group {
				k := &group[i]
				if k.contig != group[0].contig && !(allSettled && settled[k.contig]) {
					g.places[k.ordinal] = kmerPlace{group: at, at: k.at}
				}
			}
		})
	})
}

// placeMembers replaces the number of members of each group, which is where its first k-mer is in places, by the index of the first of
// them. It returns how long members must be.
func (g *kmerGroups) placeMembers(threads int) int {
	sums := make([]uint32, (len(g.places)+taskRange-1)/taskRange)
	inParallel(threads, len(g.places), taskRange, func(_, from, to int) {
		for i := from; i < to; i++ {
			sums[from/taskRange] += g.places[i].group
		}
	})
	total := uint32(1)
	for k, n := range sums {
		sums[k], total = total, total+n
	}
	inParallel(threads, len(g.places), taskRange, func(_, from, to int) {
		at := sums[from/taskRange]
		for i := from; i < to; i++ {
			if n := g.places[i].group; n > 0 {
				g.places[i].group = at
				at += n
			}
		}
	})
	return int(total)
}

// eachGroup calls f with the groups of several contigs.
func eachGroup(sorted []rankedKmer, f func(group []rankedKmer)) {
	for i := 0; i < len(sorted); {
		k := i + 1
		for k < len(sorted) && sorted[k].hash == sorted[i].hash {
			k++
		}
		if sorted[k-1].contig != sorted[i].contig {
			f(sorted[i:k])
		}
		i = k
	}
}

// sortByHash sorts k-mers by the low `bits` bits of their hashes; equal ones keep their order. buffer is as long as k.
func sortByHash(k, buffer []rankedKmer, bits uint) {
	const digit = 11
	if len(k) < 2 {
		return
	}
	in, out := k, buffer
	for at := uint(0); at < bits || &in[0] != &k[0]; at += digit {
		var next [1 << digit]uint32
		for i := range in {
			next[uint64(in[i].hash)>>at&(1<<digit-1)]++
		}
		sum := uint32(0)
		for d, n := range next {
			next[d], sum = sum, sum+n
		}
		for i := range in {
			d := uint64(in[i].hash) >> at & (1<<digit - 1)
			out[next[d]] = in[i]
			next[d]++
		}
		in, out = out, in
	}
}

// maxPartnerGroup is how many contigs that have a k-mer are considered as partners of the others, those of the highest rank.
const maxPartnerGroup = 12

// proposal is a link and the number of k-mers that lead to it.
type proposal struct {
	link  link
	votes uint32
}

// proposals are the links that the k-mers of a contig lead to, in the order in which they are found.
type proposals struct {
	slots []proposal // hash table; its size is a power of two, and a slot without votes is empty
	used  []uint32   // indices of the slots in use, in the order in which they were
	shift uint
	last  [maxPartnerGroup]uint32 // for each member of a group, the slot that the one before it led to; a hint
	spare []proposal              // memory for another table
	best  []proposal
}

// leastSlotBits is the binary logarithm of the smallest hash table.
const leastSlotBits = 9

// reset empties the list. It takes time in proportion to the proposals that were there, as the table may have been large once.
func (p *proposals) reset() {
	if len(p.used) > 1<<(leastSlotBits-1) || len(p.slots) == 0 {
		p.slots, p.shift = slices.Grow(p.slots[:0], 1<<leastSlotBits)[:1<<leastSlotBits], 64-leastSlotBits
		clear(p.slots)
	} else {
		for _, i := range p.used {
			p.slots[i] = proposal{}
		}
	}
	p.used = p.used[:0]
}

// slot returns the index of the slot of a link, or of the empty one where it belongs.
func (p *proposals) slot(l link) uint64 {
	i := uint64(l) * 0x9e3779b97f4a7c15 >> p.shift
	for p.slots[i].votes != 0 && p.slots[i].link != l {
		i = (i + 1) & uint64(len(p.slots)-1)
	}
	return i
}

// add counts a k-mer that leads to a link. It returns the index of its slot, which is right until a slot is added.
func (p *proposals) add(l link) uint32 {
	i := p.slot(l)
	s := &p.slots[i]
	s.votes++
	if s.votes == 1 {
		s.link = l
		p.used = append(p.used, uint32(i))
		if 2*len(p.used) > len(p.slots) {
			p.double()
		}
	}
	return uint32(i)
}

// double doubles the number of slots.
func (p *proposals) double() {
	before := p.slots
	p.slots, p.spare = resized(p.spare, 2*len(before), 0), before
	clear(p.slots)
	p.shift--
	for k, i := range p.used {
		at := p.slot(before[i].link)
		p.slots[at] = before[i]
		p.used[k] = uint32(at)
	}
}

// mostVotes is how many votes byVotes tells apart; more count as these.
const mostVotes = 63

// byVotes returns the n proposals with the most votes, those with more votes first; of as many, those that were found first.
func (p *proposals) byVotes(n int) []proposal {
	const most = mostVotes
	var count [most + 2]int
	for _, i := range p.used {
		count[most-min(p.slots[i].votes, most)+1]++
	}
	for v := range most + 1 {
		count[v+1] += count[v]
	}
	n = min(n, len(p.used))
	p.best = slices.Grow(p.best[:0], n)[:n]
	for _, i := range p.used {
		at := &count[most-min(p.slots[i].votes, most)]
		if *at < n {
			p.best[*at] = p.slots[i]
		}
		*at++
	}
	return p.best
}

// find finds the links of contig c, of n bases. Links between two settled contigs are left out.
func (g *kmerGroups) find(p *proposals, c uint32, n int, settled []bool) {
	p.reset()
	isSettled := settled != nil && settled[c]
	for i := int(g.first[c]); i < int(g.first[c+1]); i++ {
		k := g.places[i]
		if a := i + prefetchAhead; a < len(g.places) && g.places[a].group != noGroup {
			at := int(g.places[a].group)
			prefetch.Line(unsafe.Pointer(&g.members[at]))
			prefetch.Line(unsafe.Pointer(&g.members[min(at+6, len(g.members)-1)]))
		}
		if k.group == noGroup {
			continue
		}
		group := g.members[k.group:min(int(k.group)+maxPartnerGroup, len(g.members))]
		for m := range group {
			other := &group[m]
			if other.contig >= c {
				break
			}
			if isSettled && settled[other.contig] {
				continue
			}
			reversed, offset := (other.at^k.at)&1 != 0, int(k.at>>1)
			if reversed {
				offset = n - seedLen - offset
			}
			if l := newLink(other.contig, int(other.at>>1)-offset, reversed); l != noLink {
				// Of neighbouring k-mers the same members often lead to the same links.
				if s := &p.slots[p.last[m]&uint32(len(p.slots)-1)]; s.link == l && s.votes > 0 {
					s.votes++
				} else {
					p.last[m] = p.add(l)
				}
			}
		}
	}
}

// prefetchAhead is how many k-mers ahead of the current one memory is prefetched.
const prefetchAhead = 12
