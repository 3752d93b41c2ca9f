package overlap

import (
	"slices"
	"sync/atomic"
	"unsafe"
)

// A link says where a contig is in another one, without gaps: other contig << 32 | start + linkZero << 1 | reversed. The contig, or
// its reverse complement if reversed, begins at base start of the other one; start may be negative.
type link uint64

const (
	noLink       = link(1<<64 - 1)
	linkZero     = 1 << 30
	linkStarts   = 1<<31 - 1
	maxContigLen = 1 << 27 // bases
)

func newLink(to uint32, start int, reversed bool) link {
	if start < -linkZero || start >= linkZero-1 {
		return noLink
	}
	k := link(to)<<32 | link(start+linkZero)<<1
	if reversed {
		k |= 1
	}
	return k
}

func (k link) to() uint32     { return uint32(k >> 32) }
func (k link) start() int     { return int(k>>1&linkStarts) - linkZero }
func (k link) reversed() bool { return k&1 != 0 }

// then returns the link of a contig of n bases to where its partner, of m bases, is linked to by next.
func (k link) then(next link, n, m int) link {
	if next.reversed() {
		return newLink(next.to(), next.start()+m-k.start()-n, !k.reversed())
	}
	return newLink(next.to(), next.start()+k.start(), k.reversed())
}

// joiner joins the contigs of a set, in rounds. The order of the contigs is their rank: a partner always has a smaller index.
type joiner struct {
	set     contigSet
	threads int
	tables  [64]kmerTable
	table   kmerTable
	prev kmerTable

	compared atomic.Int64 // overlaps that were compared
}

// joinRange is how many contigs a goroutine processes at a time.
const joinRange = 256

// longContig is the length in bases from which a contig is divided over the goroutines.
const longContig = 1 << 17

// round joins contigs that share one of the k-mers selected by s, and returns how many contigs are in others now.
//
//  1. A table gets the selected k-mers of all contigs. Of equal ones, that of the contig of the highest rank remains.
//  2. Each contig is compared with those contigs whose k-mers it finds, those with which it shares most k-mers first. The first with
//     which it agrees where they overlap is its partner.
//  3. Since partners have a higher rank, the partners form trees. Contigs inside their partner are done with. The others are added to the
//     root of their tree, in the order of their rank, if they agree with what is there by then.
func (j *joiner) round(s sampling) int {
	m := envN("JM", 1)
	j.prev = nil
	for i := range m {
		if uint64(len(j.tables[i])) < s.slots {
			j.tables[i] = make(kmerTable, s.slots)
		} else {
			clear(j.tables[i])
		}
		j.table = j.tables[i]
		j.enter(s)
		j.prev = j.table
	}
	links := j.partners(s)
	return j.merge(links)
}

// enter enters the k-mers of all contigs in the table.
func (j *joiner) enter(s sampling) {
	type scratch struct{ kmers []kmer }
	w := make([]scratch, j.threads)
	var long []uint32
	for c, n := range j.set.length {
		if n >= longContig {
			long = append(long, uint32(c))
		}
	}
	for _, c := range long {
		n := int(j.set.length[c])
		inParallel(j.threads, n, longContig/4, func(k, from, to int) {
			w[k].kmers = s.kmers(w[k].kmers[:0], j.set.of(c), n, from, to)
			j.table.insert(j.prev, c, w[k].kmers)
		})
	}
	inParallel(j.threads, j.set.count(), joinRange, func(k, from, to int) {
		for c := uint32(from); c < uint32(to); c++ {
			if n := int(j.set.length[c]); n < longContig {
				w[k].kmers = s.kmers(w[k].kmers[:0], j.set.of(c), n, 0, n)
				j.table.insert(j.prev, c, w[k].kmers)
			}
		}
	})
}

// proposer finds the partner of a contig at a time.
type proposer struct {
	*joiner
	kmers    []kmer
	links    []link // found, one for each k-mer
	reversed []byte
}

// maxPartners is how many contigs a contig is compared with at most, in one round.
var maxPartners = envN("JP", 6)

// partners returns the link of each contig to its partner.
func (j *joiner) partners(s sampling) []link {
	links := make([]link, j.set.count())
	w := make([]proposer, j.threads)
	for k := range w {
		w[k].joiner = j
	}
	var long []uint32
	inParallel(j.threads, len(links), joinRange, func(k, from, to int) {
		p := &w[k]
		for c := uint32(from); c < uint32(to); c++ {
			n := int(j.set.length[c])
			if n >= longContig {
				continue
			}
			p.kmers = s.kmers(p.kmers[:0], j.set.of(c), n, 0, n)
			p.links = p.find(p.links[:0], c, n, s.k, p.kmers)
			links[c] = p.choose(c, n)
		}
	})
	for c, n := range j.set.length {
		if n >= longContig {
			long = append(long, uint32(c))
		}
	}
	inParallel(j.threads, len(long), 1, func(k, i, _ int) {
		p, c := &w[k], long[i]
		n := int(j.set.length[c])
		p.kmers = s.kmers(p.kmers[:0], j.set.of(c), n, 0, n)
		p.links = p.find(p.links[:0], c, n, s.k, p.kmers)
		links[c] = p.choose(c, n)
	})
	return links
}

// find appends the links of contig c that its k-mers lead to.
func (p *proposer) find(dst []link, c uint32, n, k0 int, kmers []kmer) []link {
	for i, k := range kmers {
		if i+prefetchAhead < len(kmers) {
			q := unsafe.Pointer(&p.table[kmers[i+prefetchAhead].slot])
			prefetch(q, q)
		}
		for m := range envM {
		to, at := p.tables[m].lookup(k.slot)
		if to >= c {
			break
		}
		reversed := (at^k.at)&1 != 0
		offset := int(k.at >> 1)
		if reversed {
			offset = n - k0 - offset
		}
		if l := newLink(to, int(at>>1)-offset, reversed); l != noLink {
			dst = append(dst, l)
		}
		}
	}
	return dst
}

// choose returns the link, of those in p.links, to the partner of contig c.
func (p *proposer) choose(c uint32, n int) link {
	if len(p.links) == 0 {
		return noLink
	}
	slices.Sort(p.links)
	type candidate struct {
		link  link
		votes int
	}
	var best [512]candidate // most votes first; of as many, the smallest link first
	found := 0
	for i := 0; i < len(p.links); {
		k := i + 1
		for k < len(p.links) && p.links[k] == p.links[i] {
			k++
		}
		x := candidate{p.links[i], k - i}
		i = k
		at := found
		for at > 0 && best[at-1].votes < x.votes {
			at--
		}
		if at == maxPartners {
			continue
		}
		found = min(found+1, maxPartners)
		copy(best[at+1:found], best[at:found-1])
		best[at] = x
	}
	isReversed := false
	skip := p.set.skip[c]
	for _, x := range best[:found] {
		b := p.set.of(c)
		if x.link.reversed() {
			if !isReversed {
				isReversed = true
				size := (n+3)/4 + 2*padBytes
				p.reversed = slices.Grow(p.reversed[:0], size)[:size]
				reverseComplementInto(p.reversed, b, n)
			}
			b = p.reversed
		}
		if p.agree(c, x.link, b, n) {
			if skip == 0 {
				return x.link
			}
			skip--
		}
	}
	return noLink
}

// agree reports whether a contig, n bases of b, which are those of its reverse complement if the link says so, agrees with the contig that the
// link leads to.
func (p *proposer) agree(c uint32, k link, b []byte, n int) bool {
	p.compared.Add(1)
	m := int(p.set.length[k.to()])
	lo, hi := max(k.start(), 0), min(k.start()+n, m)
	limit := p.limitOf(c, hi-lo)
	return hi-lo >= seedLen &&  countMismatches(p.set.of(k.to()), lo, b, lo-k.start(), hi-lo, limit, nil) <= limit
}

// mismatchLimit is in how many bases contigs that overlap by n may differ.
func mismatchLimit(n int) int { return n/16 + 1 }

var jd = envN("JD", 3)

func (j *joiner) limitOf(c uint32, overlap int) int {
	l := mismatchLimit(overlap)
	if cov := float64(j.set.reads[c]) * 100 / float64(j.set.length[c]); cov > 1 && jd > 0 {
		l = min(l, int(float64(overlap)*float64(jd)/10/cov))
	}
	return l
}

var envM = envN("JM", 1)
