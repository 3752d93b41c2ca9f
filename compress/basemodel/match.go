package basemodel

import (
	"math/bits"

	"orcomgo/internal/largepages"
)

// match predicts that the bases that followed an earlier occurrence of the last bases follow again, on either
// strand, and continues past differences (a "tolerant" context, as in GeCo3; Silva et al., GigaScience 2020).
// The confidence of its predictions depends on which of the last 32 bases it predicted rightly; bases before it began count as
// if it had predicted them.
type match struct {
	slots []uint32 // place of a k-mer's last base << 1 | canonical form is the reverse complement; zero is empty
	shift uint

	at        int    // place in the history of the predicted base, -1: no match
	step      int    // +1, or -1 on the other strand
	predicted uint32 // base
	misses    uint64 // bit 2i: the base 31-i ago was not as predicted

	firstEnd int // number of bases up to the end of the first k-mer that is entered
	pending  [4]candidate
}

// candidate is a slot of the table, computed ahead of its use, and what it held when it was read.
type candidate struct {
	slot    uint32
	reverse uint32 // 1: the canonical form of the k-mer is its reverse complement
	old     uint32
}

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

// matchContexts gives the context of a base that is predicted as 0, but for its quality and the last bases, by the number of bases since
// the last miss and the number of misses in 32 bases, which say how reliable the match is.
var matchContexts = func() (t [33 * 33]uint32) {
	group := [33]uint32{0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8, 9, 9, 9, 9, 10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14}
	for l := range 33 {
		for n := range 33 {
			c := uint32(7)
			switch {
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
			t[l*33+n] = (4*state+4)<<matchShift | (4*c-3)<<4<<jointShift | c
		}
	}
	return
}()

// makeTable makes an empty table for about n bases.
func (m *match) makeTable(n int) {
	b := slotBits(n)
	m.slots, m.shift = largepages.Make[uint32](1<<b), uint(64-b)
	for i := 0; i < len(m.slots); i += pageSlots {
		m.slots[i] = 0 // maps all pages at once, in order; otherwise each is mapped at its first read and again at its first write
	}
}

// pageSlots is how many slots a page of memory has, if it is a small one.
const pageSlots = 1 << 10

func slotBits(n int) int { return min(max(bits.Len(uint(n)), 10), maxSlotBits) }

// grow gives the match, which has seen the n bases of hist, a larger table of its own with room for another `more`.
func (m *match) grow(hist *history, n, more int) {
	m.makeTable(n + more)
	m.pending = [4]candidate{} // of the smaller table
	var h, r uint64
	for i := range n {
		h, r = shiftIn(h, r, byte(hist.at(i)))
		if i >= matchLen-1 && indexed(i) {
			c := m.candidate(h, r)
			m.slots[c.slot] = uint32(i)<<1 | c.reverse
		}
	}
}

// indexed reports whether the k-mer that ends at place i is entered in the table: every second one is, which is enough as all are
// looked up.
func indexed(i int) bool { return i&1 == 0 }

// candidate returns the slot of the k-mer that the last bases h end with; r is their reverse complement.
func (m *match) candidate(h, r uint64) candidate {
	f, g := h&(1<<(2*matchLen)-1), r>>(2*(registerBases-matchLen))
	reverse := uint32(0)
	if g < f {
		reverse = 1
	}
	return candidate{slot: uint32(hashKmer(min(f, g)) >> m.shift), reverse: reverse}
}

// A k-mer's slot is read slotLag bases after its end, and the place it holds is tried another two bases later: by then
// the cache lines have been fetched.
const (
	slotLag = 2
	tryLag  = 4
)

// update moves past base b, after which hist holds t bases, or fewer; h holds the last bases, r their reverse complement.
// It returns what will be read two bases from now: the indices of a slot and of a word of the history.
func (m *match) update(hist *history, t int, b uint32, h, r uint64) (slot, word uint32) {
	m.follow(b)
	m.try(hist, t, &m.pending[(t-tryLag)&3], h, r)
	p := &m.pending[(t-slotLag)&3]
	m.look(t, p)
	c := &m.pending[t&3]
	*c = m.candidate(h, r)
	m.setPredicted(hist)
	return c.slot, p.old >> 6
}

// follow moves the match, if there is one, past base b.
func (m *match) follow(b uint32) {
	if m.at < 0 {
		return
	}
	m.misses >>= 2
	m.at += m.step
	if m.predicted != b {
		m.misses |= 1 << 62
		if bits.OnesCount64(m.misses) > maxMisses {
			m.at = -1
		}
	}
}

// look reads the slot of p, the candidate slotLag bases before base t, and enters its k-mer there.
func (m *match) look(t int, p *candidate) {
	if t-slotLag >= m.firstEnd {
		p.old = m.slots[p.slot]
		if end := t - 1 - slotLag; indexed(end) {
			m.slots[p.slot] = uint32(end)<<1 | p.reverse
		}
	}
}

// setPredicted sets the base that the match predicts, if there is one.
func (m *match) setPredicted(hist *history) {
	if m.at >= 0 {
		m.predicted = hist.at(m.at)
		if m.step < 0 {
			m.predicted = 3 - m.predicted
		}
	}
}

// try starts a match from the earlier k-mer that was found in the slot of c, on either strand, if it has fewer misses than the match there
// is. The last bases, h and r, end tryLag bases after the k-mer of c.
func (m *match) try(hist *history, t int, c *candidate, h, r uint64) {
	if c.old == 0 || m.at >= 0 && m.misses == 0 {
		return
	}
	old, at, step := int(c.old>>1), 0, 0
	var differ uint64
	if c.old&1 != c.reverse {
		q := old - matchLen + 1 - tryLag // corresponds to the last base
		at, step = q-1, -1
		if q < 1 || q+registerBases > t || m.at == at && m.step == step {
			return
		}
		differ = bits.Reverse64(hist.from(q) ^ ^h)
	} else {
		q := old + tryLag
		at, step = q+1, 1
		if q < registerBases-1 || m.at == at && m.step == step {
			return
		}
		differ = hist.from(q-registerBases+1) ^ ^r
	}
	differ = (differ | differ>>1) & everyBase
	n := bits.OnesCount64(differ)
	if n > startMisses || m.at >= 0 && n >= bits.OnesCount64(m.misses) {
		return
	}
	m.at, m.step, m.misses = at, step, differ
}

// hashKmer hashes a k-mer; the upper bits are the best ones.
func hashKmer(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	return (x ^ x>>32) * 0xbf58476d1ce4e5b9
}
