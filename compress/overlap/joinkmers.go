package overlap

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"orcomgo/internal/largepages"
	"orcomgo/internal/prefetch"
)

// kmerGroups are the sampled k-mers of all contigs. Those with equal hashes are a group.
type kmerGroups struct {
	// kmers are in the order of contigs and places. After those of each stretch comes one of noContig, and then there may be others, of no
	// meaning. When the k-mers are grouped, hash becomes the index in members of the group; noGroup if no other contig is in it, or if
	// the first k-mer of the group belongs to the same contig.
	kmers []kmer
	first []uint32 // for each contig, where its first k-mer is or would be in kmers
	// sorted are hash << 32 | index in kmers, by parts of the hash. In each part those of groups of several contigs come first, in order.
	sorted []uint64
	// members are the first maxPartnerGroup k-mers of the groups of several contigs. The groups are in the order of their first k-mers in
	// kmers: those of contigs that overlap are near each other in memory. Member 0 is unused.
	members []member
}

// member is where a k-mer of a group is, as in kmer.
type member struct{ contig, at uint32 }

const (
	noGroup  = 0
	noContig = 1<<32 - 1
)

// A stretch of contigs whose k-mers one goroutine samples at a time.
type stretch struct {
	from, to uint32
	kmers    []kmer
	before   int // index of the first one in kmerGroups.kmers
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

// fill samples the k-mers of the contigs of s and groups them. It uses the memory that it has from earlier calls. Groups of settled contigs
// only, which would be compared with each other only, are left out; nil says that none is settled.
func (g *kmerGroups) fill(s *contigSet, by sampler, threads int, settled []bool) {
	if s.count() == 0 {
		return
	}
	all := s.stretches()
	bits := 0
	for bits < maxPartBits && int(s.bases)/int(by.rate)>>bits > 1<<12 {
		bits++
	}
	shift := uint(32 - bits)
	g.sample(all, s, by, threads, settled, shift)
	parts := make([][]uint64, 1<<bits)
	total := uint32(0)
	for p := range parts {
		for i := range all {
			total, all[i].counts[p] = total+all[i].counts[p], total
		}
	}
	g.sorted = resized(g.sorted, int(total), int(total/8))
	inParallel(threads, len(all), 1, func(_, i, _ int) {
		x := &all[i]
		for k := range x.kmers {
			hash := &x.kmers[k].hash
			p := &x.counts[uint64(*hash)>>shift]
			g.sorted[*p] = uint64(*hash)<<32 | uint64(x.before+k)
			*hash = noGroup
			*p++
		}
	})
	buffers := make([][]uint64, threads)
	inParallel(threads, len(parts), 1, func(w, p, _ int) {
		ends := all[len(all)-1].counts // the last stretch's k-mers are the last of each part
		part := g.sorted[:ends[p]]
		if p > 0 {
			part = part[ends[p-1]:]
		}
		if len(buffers[w]) < len(part) {
			buffers[w] = make([]uint64, len(part)+len(part)/4)
		}
		part = mayRepeat(part)
		sortByHash(part, buffers[w][:len(part)], shift)
		// Each step loads what the next one needs into the cache.
		part = keepGroups(part, func(group []uint64) bool {
			if len(group) == 1 {
				return false
			}
			prefetch.Line(unsafe.Pointer(&g.kmers[uint32(group[0])]))
			prefetch.Line(unsafe.Pointer(&g.kmers[uint32(group[len(group)-1])]))
			return true
		})
		parts[p] = keepGroups(part, func(group []uint64) bool {
			first := &g.kmers[uint32(group[0])]
			if g.kmers[uint32(group[len(group)-1])].contig == first.contig {
				return false
			}
			first.hash = uint32(min(len(group), maxPartnerGroup)) // for placeMembers
			return true
		})
	})
	many := g.placeMembers(all, threads)
	g.members = resized(g.members, many, many/8)
	inParallel(threads, len(parts), 1, func(_, p, _ int) {
		for _, x := range parts[p] {
			prefetch.Line(unsafe.Pointer(&g.kmers[uint32(x)]))
		}
		eachGroup(parts[p], func(group []uint64) {
			first := &g.kmers[uint32(group[0])]
			at := first.hash
			first.hash = noGroup
			for i, x := range group {
				k := &g.kmers[uint32(x)]
				if i < maxPartnerGroup {
					g.members[int(at)+i] = member{k.contig, k.at}
				}
				if k.contig != first.contig {
					k.hash = at
				}
			}
		})
	})
}

// sample samples the k-mers of stretches, and counts them by the bits of their hash from shift on.
func (g *kmerGroups) sample(all []stretch, s *contigSet, by sampler, threads int, settled []bool, shift uint) {
	g.first = resized(g.first, s.count(), s.count()/8)
	room := 0
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
	g.kmers = resized(g.kmers, room+room/8, room/8)
	wanted := s.unsettledKmers(all, by, threads, settled)
	inParallel(threads, len(all), 1, func(_, i, _ int) {
		x := &all[i]
		x.kmers = g.kmers[x.before : x.before : x.before+x.room]
		x.counts = make([]uint32, 1<<(32-shift))
		for c := x.from; c < x.to; c++ {
			g.first[c] = uint32(len(x.kmers))
			own := by
			if settled != nil && settled[c] && !by.distinct { // which goes by k-mers that are not wanted, too
				own.wanted = wanted
			}
			x.kmers = own.kmers(x.kmers, c, s.of(c), int(s.length[c]))
		}
		for k := range x.kmers {
			x.counts[uint64(x.kmers[k].hash)>>shift]++
		}
		x.kmers = append(x.kmers, kmer{contig: noContig})
	})
	end := room
	for i := range all {
		if x := &all[i]; cap(x.kmers) > x.room { // they are in memory of their own
			x.before, end = end, end+len(x.kmers)
		}
	}
	g.kmers = append(g.kmers, make([]kmer, max(end-len(g.kmers), 0))...)
	inParallel(threads, len(all), 1, func(_, i, _ int) {
		x := &all[i]
		if x.before >= room {
			copy(g.kmers[x.before:], x.kmers)
		}
		x.kmers = g.kmers[x.before:][:len(x.kmers)-1] // without the one of noContig
		for c := x.from; c < x.to; c++ {
			g.first[c] += uint32(x.before)
		}
	})
}

// unsettledKmers returns the k-mers of the contigs that are not settled; nil if none is settled.
func (s *contigSet) unsettledKmers(all []stretch, by sampler, threads int, settled []bool) *wantedKmers {
	if settled == nil {
		return nil
	}
	hashes := make([][]uint32, len(all))
	var found atomic.Int64
	inParallel(threads, len(all), 1, func(_, i, _ int) {
		var kmers []kmer
		for c := all[i].from; c < all[i].to; c++ {
			if !settled[c] {
				kmers = by.kmers(kmers[:0], c, s.of(c), int(s.length[c]))
				for _, k := range kmers {
					hashes[i] = append(hashes[i], k.hash)
				}
			}
		}
		found.Add(int64(len(hashes[i])))
	})
	return newWantedKmers(hashes, int(found.Load()), threads)
}

// placeMembers replaces the number of members of each group, which is where its first k-mer is in kmers, by the index of the first of
// them. It returns how long members must be.
func (g *kmerGroups) placeMembers(all []stretch, threads int) int {
	sums := make([]uint32, len(all))
	inParallel(threads, len(all), 1, func(_, i, _ int) {
		for k := range all[i].kmers {
			sums[i] += all[i].kmers[k].hash
		}
	})
	total := uint32(1)
	for i, n := range sums {
		sums[i], total = total, total+n
	}
	inParallel(threads, len(all), 1, func(_, i, _ int) {
		at := sums[i]
		for k := range all[i].kmers {
			if n := &all[i].kmers[k].hash; *n > 0 {
				*n, at = at, at+*n
			}
		}
	})
	return int(total)
}

// eachGroup calls f with the k-mers of each hash.
func eachGroup(sorted []uint64, f func(group []uint64)) {
	for i := 0; i < len(sorted); {
		k := i + 1
		for k < len(sorted) && sorted[k]>>32 == sorted[i]>>32 {
			k++
		}
		f(sorted[i:k])
		i = k
	}
}

// keepGroups returns the groups for which keep returns true, in their order and in the same memory.
func keepGroups(sorted []uint64, keep func(group []uint64) bool) []uint64 {
	n := 0
	eachGroup(sorted, func(group []uint64) {
		if keep(group) {
			n += copy(sorted[n:], group)
		}
	})
	return sorted[:n]
}

// mayRepeat returns, in their order and in the same memory, the k-mers whose hash others have, too, and some more: most have a hash of
// their own, and need not be sorted.
func mayRepeat(k []uint64) []uint64 {
	const low = 15 // bits of the hash
	var seen, again [1 << low / 64]uint64
	for _, x := range k {
		word, bit := x>>38&(1<<low/64-1), uint64(1)<<(x>>32&63)
		again[word] |= seen[word] & bit
		seen[word] |= bit
	}
	n := 0
	for _, x := range k {
		k[n] = x
		n += int(again[x>>38&(1<<low/64-1)] >> (x >> 32 & 63) & 1)
	}
	return k[:n]
}

// sortByHash sorts k-mers, as in kmerGroups.sorted, by the low `bits` bits of their hashes; equal ones keep their order. buffer is as long
// as k.
func sortByHash(k, buffer []uint64, bits uint) {
	const digit = 11
	if len(k) < 2 {
		return
	}
	in, out := k, buffer
	for at := uint(32); at < 32+bits || &in[0] != &k[0]; at += digit {
		var next [1 << digit]uint32
		for _, x := range in {
			next[x>>at&(1<<digit-1)]++
		}
		sum := uint32(0)
		for d, n := range next {
			next[d], sum = sum, sum+n
		}
		for _, x := range in {
			d := x >> at & (1<<digit - 1)
			out[next[d]] = x
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
	for i := int(g.first[c]); g.kmers[i].contig == c; i++ {
		k := g.kmers[i]
		if a := i + prefetchAhead; a < len(g.kmers) && g.kmers[a].hash != noGroup {
			at := min(int(g.kmers[a].hash), len(g.members)-1) // that of no meaning may be any
			prefetch.Line(unsafe.Pointer(&g.members[at]))
			prefetch.Line(unsafe.Pointer(&g.members[min(at+8, len(g.members)-1)]))
		}
		if k.hash == noGroup {
			continue
		}
		group := g.members[k.hash:min(int(k.hash)+maxPartnerGroup, len(g.members))]
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
