package seqs

import "math/bits"

// match predicts that what followed an earlier occurrence of the last bases follows again, on either
// strand, and goes on past differences (a "tolerant" context, as in GeCo3; Silva et al., GigaScience 2020).
// How far it is believed depends on which of the last 32 bases agreed, those before it began included.
type match struct {
	slots []uint32 // place of a k-mer's last base << 1 | other strand; zero is empty
	shift uint

	at     int    // place in the history of the predicted base, -1: no match
	step   int    // +1, or -1 on the other strand
	want   uint32 // the predicted base
	misses uint64 // bit 2i: the base 31-i ago was not as predicted

	first   int // the number of bases of the history that ends with the first k-mer to be entered
	pending [4]candidate
}

// candidate is a slot of the table, computed ahead of its use, and then what it held.
type candidate struct {
	slot uint32
	flip uint32
	old  uint32
}

const (
	matchLen  = 13 // bases that agree where a match begins
	everyMiss = 0x5555555555555555
	// A match is given up after more than maxMisses in 32 bases, and not begun with more than startMisses.
	maxMisses   = 20
	startMisses = 13
	maxSlotBits = 22
)

// matchState is what is believed of a match.
type matchState struct {
	node  uint8 // which node predicts, less one
	class uint8 // 1..classes-1: which weights are used
}

const (
	classes    = 8
	runLengths = 15 // groups of bases since the last difference
	matchNodes = 4 * (1 + runLengths*16)
)

// matchStates gives the state by the bases since the last difference and the differences in 32 bases.
var matchStates = func() (t [33 * 33]matchState) {
	group := [33]uint8{0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8, 9, 9, 9, 9, 10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14}
	for l := range 33 {
		for n := range 33 {
			c := 7
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
			t[l*33+n] = matchState{group[l]<<4 | uint8(min(n, 15)), uint8(c)}
		}
	}
	return
}()

func newMatch(expected int) match {
	m := match{at: -1}
	m.size(expected)
	return m
}

// size makes an empty table for about n bases.
func (m *match) size(n int) {
	b := slotBits(n)
	m.slots, m.shift = make([]uint32, 1<<b), uint(64-b)
	clear(m.slots) // page after page, not each when it is first read and again when it is first written
}

func slotBits(n int) int { return min(max(bits.Len(uint(n)), 10), maxSlotBits) }

// begin forgets the match there is. The next base is at place `at`; those from `known` on before it are known.
func (m *match) begin(at, known int) {
	m.at, m.misses, m.first = -1, 0, max(at+1, known+matchLen)
	m.pending = [4]candidate{}
}

// widen gives the match, which knows n bases of hist, a table of its own for another `more`.
func (m *match) widen(hist *history, n, more int) {
	if slotBits(n+more) <= int(64-m.shift) {
		m.slots = append([]uint32(nil), m.slots...)
		return
	}
	m.size(n + more)
	m.pending = [4]candidate{} // of the smaller table
	var h, r uint64
	for i := range n {
		b := uint64(hist.at(i))
		h = h<<2 | b
		r = r>>2 | (3-b)<<(2*(longest-1))
		if i >= matchLen-1 && noted(i) {
			m.note(i, h, r)
		}
	}
}

// noted reports whether the k-mer that ends at place i is entered: every other is, as all are looked up.
func noted(i int) bool { return i&1 == 0 }

// note enters the k-mer that ends at place i; h holds the last bases, r their reverse complement.
func (m *match) note(i int, h, r uint64) {
	c := m.candidate(h, r)
	m.slots[c.slot] = uint32(i)<<1 | c.flip
}

// candidate returns the slot of the k-mer that the last bases h end with; r is their reverse complement.
func (m *match) candidate(h, r uint64) candidate {
	f, g := h&(1<<(2*matchLen)-1), r>>(2*(longest-matchLen))
	flip := uint32(0)
	if g < f {
		flip = 1
	}
	return candidate{slot: uint32(spread(min(f, g)) >> m.shift), flip: flip}
}

// state tells how well the match has done.
func (m *match) state() matchState {
	return matchStates[bits.LeadingZeros64(m.misses)>>1*33+bits.OnesCount64(m.misses)]
}

// A k-mer's slot is read slotLag bases after its end, and what it points at another two later: by then
// they have reached the cache.
const (
	slotLag = 2
	tryLag  = 4
)

// enter moves past base b, after which hist holds t bases, or some less; h holds the last bases, r their reverse complement.
// It returns what will be read two bases from now: the indices of a slot and of a word of the history.
func (m *match) enter(hist *history, t int, b uint32, h, r uint64) (slot, word uint32) {
	if m.at >= 0 {
		m.misses >>= 2
		m.at += m.step
		if m.want != b {
			m.misses |= 1 << 62
			if bits.OnesCount64(m.misses) > maxMisses {
				m.at = -1
			}
		}
	}
	if c := &m.pending[(t-tryLag)&3]; c.old != 0 && (m.at < 0 || m.misses != 0) {
		m.try(hist, t, int(c.old>>1), c.old&1 != c.flip, h, r)
	}
	p := &m.pending[(t-slotLag)&3]
	if t-slotLag >= m.first {
		p.old = m.slots[p.slot]
		if end := t - 1 - slotLag; noted(end) {
			m.slots[p.slot] = uint32(end)<<1 | p.flip
		}
	}
	c := &m.pending[t&3]
	*c = m.candidate(h, r)
	if m.at >= 0 {
		m.want = hist.at(m.at)
		if m.step < 0 {
			m.want = 3 - m.want
		}
	}
	return c.slot, p.old >> 6
}

// try starts a match from an earlier k-mer that ended at old, on the other strand if flip is set, if it
// does better than the match there is. The last bases, given both ways, end tryLag bases after their k-mer.
func (m *match) try(hist *history, t, old int, flip bool, h, r uint64) {
	var at, step int
	var differ uint64
	if flip {
		q := old - matchLen + 1 - tryLag // stands against the last base
		at, step = q-1, -1
		if q < 1 || q+longest > t || m.at == at && m.step == step {
			return
		}
		differ = bits.Reverse64(hist.from(q) ^ ^h)
	} else {
		q := old + tryLag
		at, step = q+1, 1
		if q < longest-1 || m.at == at && m.step == step {
			return
		}
		differ = hist.from(q-longest+1) ^ ^r
	}
	differ = (differ | differ>>1) & everyMiss
	n := bits.OnesCount64(differ)
	if n > startMisses || m.at >= 0 && n >= bits.OnesCount64(m.misses) {
		return
	}
	m.at, m.step, m.misses = at, step, differ
}

// spread hashes a k-mer.
func spread(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	return (x ^ x>>32) * 0xbf58476d1ce4e5b9
}
