package basemodel

import (
	"math/bits"

	"orcomgo/internal/largepages"
)

// kmers is a table of the last place of each k-mer on either strand.
type kmers struct {
	slots []uint32 // place of the last base << 1 | canonical form is the reverse complement; zero is empty
	shift uint
}

// lane is a part of the bases, which are coded one after another.
type lane struct {
	place, end int    // of the next base in the history, and where the part ends
	h, r       uint64 // the last bases, newest lowest; and their reverse complement, newest highest
	known      int    // how many of these are bases, at most registerBases
	match
	leads []int            // that follow: see block
	ended [1 + tryLag]kmer // the k-mers that ended with the last base, with the one before, and so on
}

// kmer is a k-mer that a lane has passed.
type kmer struct {
	slot    uint32 // of the table
	reverse uint32 // 1: the canonical form of the k-mer is its reverse complement
	old     uint32 // what the slot held when it was read; at first 0
	whole   bool   // it has all of its bases
}

// match predicts that the bases that followed an earlier occurrence of the last bases follow again, on either
// strand, and continues past differences (a "tolerant" context, as in GeCo3; Silva et al., GigaScience 2020).
// The confidence of its predictions depends on which of the last 32 bases it predicted rightly; bases before it began count as
// if it had predicted them.
type match struct {
	at        int    // place in the history of the predicted base
	step      int    // +1, or -1 on the other strand; 0: there is no match
	predicted uint32 // base; 4 if there is no match
	misses    uint64 // bit 2i: the base 31-i ago was not as predicted; all of them if there is no match
}

// noMatch predicts no base, so that all are missed.
var noMatch = match{predicted: 4, misses: everyBase}

const (
	matchLen    = 13 // bases that are equal where a match begins
	everyBase   = 0x5555555555555555
	maxSlotBits = 22
	// A match ends after more than maxMisses in 32 bases, and does not begin with more than startMisses.
	maxMisses   = 20
	startMisses = 13
)

const (
	matchClasses = 8  // of matches, each with weights of its own; 0 is no match
	runLengths   = 15 // groups of bases since the last miss
	matchNodes   = 4 * (1 + runLengths*16)
)

// matchNode is what a base that a match predicts has for a context.
type matchNode struct{ match, joint, set uint32 }

// matchContexts gives the nodes of a base that is predicted as 0, the joint one for last bases of 0, and the set of weights, by the number
// of bases since the last miss and the number of misses in 32 bases, which say how reliable the match is.
var matchContexts = func() (t [33 * 33]matchNode) {
	group := [33]uint32{0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8, 9, 9, 9, 9, 10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14}
	for l := range 33 {
		for n := range 33 {
			c := uint32(7)
			switch {
			case n > maxMisses:
				t[l*33+n] = matchNode{^uint32(3), ^uint32(63), 0} // 0 after what is predicted, 4
				continue
			case n == 0:
				c = 1
			case n <= 2 && l >= 16:
				c = 2
			case n <= 2:
				c = 3
			case l < 8 && n > 8:
				c = 6
			case l < 8:
				c = 5
			case n > 8:
				c = 4
			case l >= 16:
				c = 3
			}
			state := group[l]<<4 | uint32(min(n, 15))
			t[l*33+n] = matchNode{4 + 4*state, (1 + 4*(c-1)) << 4, c}
		}
	}
	return
}()

// context returns the nodes of the base that follows.
func (m *match) context(h uint64) matchNode {
	n := matchContexts[bits.LeadingZeros64(m.misses)>>1*33+bits.OnesCount64(m.misses)]
	n.match += m.predicted
	n.joint += m.predicted<<4 + uint32(h)&15
	return n
}

// makeTable makes an empty table for about n bases.
func (t *kmers) makeTable(n int) {
	b := slotBits(n)
	t.slots, t.shift = largepages.Make[uint32](1<<b), uint(64-b)
	for i := 0; i < len(t.slots); i += pageSlots {
		t.slots[i] = 0 // maps all pages at once, in order; otherwise each is mapped at its first read and again at its first write
	}
}

// pageSlots is how many slots a page of memory has, if it is a small one.
const pageSlots = 1 << 10

func slotBits(n int) int { return min(max(bits.Len(uint(n)), 10), maxSlotBits) }

// grow makes a larger table of the n bases of hist with room for another `more`.
func (t *kmers) grow(hist *history, n, more int) {
	t.makeTable(n + more)
	var h, r uint64
	for i := range n {
		h, r = shiftIn(h, r, byte(hist.at(i)))
		if i >= matchLen-1 && indexed(i) {
			k := t.kmer(h, r)
			t.slots[k.slot] = uint32(i)<<1 | k.reverse
		}
	}
}

// indexed reports whether the k-mer that ends at place i is entered in the table: every second one is, which is enough as all are
// looked up.
func indexed(i int) bool { return i&1 == 0 }

// kmer returns the k-mer that the last bases h end with; r is their reverse complement.
func (t *kmers) kmer(h, r uint64) kmer {
	f, g := h&(1<<(2*matchLen)-1), r>>(2*(registerBases-matchLen))
	reverse := uint32(0)
	if g < f {
		reverse = 1
	}
	return kmer{slot: uint32(hashKmer(min(f, g)) >> t.shift), reverse: reverse}
}

// A k-mer's slot is read slotLag bases after its end, and the place it holds is tried another base later: by then
// the cache lines have been fetched.
const (
	slotLag = 1
	tryLag  = 2
)

// pass moves a lane past base b.
func (m *Model) pass(l *lane, b uint32) {
	l.h, l.r = shiftIn(l.h, l.r, byte(b))
	l.known = min(l.known+1, registerBases)
	m.hist.set(l.place, b)
	l.place++
	l.follow(b, m.size)
	l.ended[2], l.ended[1] = l.ended[1], l.ended[0]
	if k := &l.ended[tryLag]; k.old != 0 && l.misses != 0 {
		m.try(l, k)
	}
	if k := &l.ended[slotLag]; k.whole {
		k.old = m.slots[k.slot]
		if end := l.place - 1 - slotLag; indexed(end) {
			m.slots[k.slot] = uint32(end)<<1 | k.reverse
			if m.logging {
				m.written = append(m.written, k.slot)
			}
		}
	}
	m.endKmer(l)
	predicted := m.hist.at(l.at) ^ uint32(l.step>>1)&3 // the complement on the other strand
	if l.step == 0 {
		predicted = 4
	}
	l.predicted = predicted
}

// endKmer finds the k-mer that ends with the last base.
func (m *Model) endKmer(l *lane) {
	l.ended[0] = kmer{}
	if l.known >= matchLen {
		l.ended[0] = m.kmer(l.h, l.r)
		l.ended[0].whole = true
	}
}

// follow moves the match, if there is one, past base b. There are `size` places.
func (m *match) follow(b uint32, size int) {
	misses := m.misses >> 2
	if m.predicted != b {
		misses |= 1 << 62
	}
	goesOn := int64(bits.OnesCount64(misses)-maxMisses-1) >> 63 // all bits, or none: branches would often be guessed wrong
	m.at = (m.at + m.step) & int(goesOn)
	m.step &= int(goesOn)
	m.misses = misses | everyBase&^uint64(goesOn)
	if uint(m.at) >= uint(size) {
		*m = noMatch
	}
}

// try starts a match from the earlier k-mer that was found in the slot of k, on either strand, if it has fewer misses than the match there
// is. The last bases end tryLag bases after k.
func (m *Model) try(l *lane, k *kmer) {
	other := -int(k.old&1 ^ k.reverse)                        // strand: all bits, or none
	q := int(k.old>>1) + tryLag - (matchLen-1+2*tryLag)&other // corresponds to the last base
	from := q - (registerBases-1)&^other                      // the place of those that correspond to the last bases
	step := 1 | other
	if from < 0 || from+registerBases > m.size || uint(q+step) >= uint(m.size) {
		return
	}
	differ := m.hist.from(from) ^ ^(l.h&uint64(other) | l.r&^uint64(other))
	differ = (differ | differ>>1) & everyBase
	n := bits.OnesCount64(differ)
	if n > startMisses || n >= bits.OnesCount64(l.misses) {
		return
	}
	if other != 0 {
		differ = bits.Reverse64(differ) >> 1
	}
	l.at, l.step, l.misses = q+step, step, differ
}

// hashKmer hashes a k-mer; the upper bits are the best ones.
func hashKmer(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	return (x ^ x>>32) * 0xbf58476d1ce4e5b9
}
