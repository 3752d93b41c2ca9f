package seqs

import "math/bits"

// match predicts that what followed an earlier occurrence of the last bases follows again,
// on either strand, and goes on past single differences (a "tolerant" context, as in GeCo3;
// Silva et al., GigaScience 2020).
type match struct {
	k     uint
	every uint64 // only k-mers whose hash is 0 in these bits are entered and looked up
	slots []uint64
	shift uint

	at      int // place in the history of the predicted base, -1: no match
	step    int // +1, or -1 on the other strand
	length  int // bases matched since the last difference, at most 31
	misses  uint8
	counter [4 * 256][4]counter // chance that the prediction holds, by state and decision

	pending [4]candidate
}

// candidate is a slot of the table, computed ahead of its use.
type candidate struct {
	slot  uint32
	check uint64
	flip  bool
	ok    bool
}

// A slot: check 31 bits | place of the k-mer's last base 32 | other strand 1. Zero is empty.
const slotCheck = ^uint64(1<<33 - 1)

func newMatch(k uint, every uint64, expected int) match {
	b := min(max(bits.Len(uint(expected))-bits.Len64(every)+1, 10), 22)
	m := match{k: k, every: every, slots: make([]uint64, 1<<b), shift: uint(64 - b), at: -1}
	for i := range m.counter {
		m.counter[i] = [4]counter{newCounter, newCounter, newCounter}
	}
	return m
}

// state sorts the match by how well it has done.
func (m *match) state() int {
	l := 0
	switch {
	case m.length >= 24:
		l = 3
	case m.length >= 16:
		l = 2
	case m.length >= 8:
		l = 1
	}
	return l<<8 | int(m.misses)
}

// look returns the predicted base and the state of the match; ok is false if there is none.
func (m *match) look(hist []byte) (base uint8, state int, ok bool) {
	if m.at < 0 {
		return 0, 0, false
	}
	b := hist[m.at]
	if m.step < 0 {
		b = 3 - b
	}
	return b, m.state(), true
}

// enter moves past base b, which hist ends with; h holds the last bases, r their reverse complement. It
// returns the slot that will be looked at two bases from now.
func (m *match) enter(hist []byte, b uint8, h, r uint64, t uint) *uint64 {
	if m.at >= 0 {
		want := hist[m.at]
		if m.step < 0 {
			want = 3 - want
		}
		if want == b {
			m.misses <<= 1
			m.length = min(m.length+1, 31)
		} else {
			m.misses = m.misses<<1 | 1
			m.length = 0
			if bits.OnesCount8(m.misses) > 4 {
				m.at = -1
			}
		}
		if m.at >= 0 {
			m.at += m.step
			if m.at < 0 || m.at >= len(hist) {
				m.at = -1
			}
		}
	}
	// The k-mer that ended two bases ago has had the time to reach the cache.
	const lag = 2
	p := &m.pending[(t-lag)&3]
	if p.ok {
		p.ok = false
		old := m.slots[p.slot]
		end := len(hist) - 1 - lag
		flip := uint64(0)
		if p.flip {
			flip = 1
		}
		m.slots[p.slot] = p.check | uint64(end)<<1 | flip
		if old != 0 && old&slotCheck == p.check && m.length < 20 && (m.at < 0 || m.misses != 0) {
			m.try(hist, int(old&^slotCheck>>1), old&1 != flip, end, lag)
		}
	}
	c := &m.pending[t&3]
	x := h & (1<<(2*m.k) - 1)
	y := r >> (2 * (longest - m.k))
	c.flip = y < x
	x = spread(min(x, y))
	c.ok = x&m.every == 0 && len(hist) >= int(m.k)
	if !c.ok {
		return &m.slots[0]
	}
	c.slot, c.check = uint32(x>>m.shift), checkOf(x)
	return &m.slots[c.slot]
}

// try starts a match from an earlier k-mer that ended at old; the k-mer it equals ended at end,
// lag bases before the last.
func (m *match) try(hist []byte, old int, flip bool, end, lag int) {
	at, step := old+1, 1
	if flip {
		at, step = old-int(m.k), -1
	}
	// The bases since then must agree as well, and enough before, since the check bits may lie.
	n := 0
	for j := lag; j > -int(m.k); j-- {
		p := at + step*(j-1)
		if p < 0 || p >= end+1 {
			return
		}
		b := hist[p]
		if flip {
			b = 3 - b
		}
		if hist[end+j] != b {
			return
		}
		n++
	}
	m.at = at + step*lag
	if m.at < 0 || m.at >= len(hist) {
		m.at = -1
		return
	}
	m.step, m.length, m.misses = step, min(n, 31), 0
}

// prime enters the k-mers of pg, which is the history.
func (m *match) prime(pg []byte) {
	var h, r uint64
	mask := uint64(1)<<(2*m.k) - 1
	for i, b := range pg {
		h = (h<<2 | uint64(b)) & mask
		r = r>>2 | uint64(3-b)<<(2*(m.k-1))
		if i < int(m.k)-1 {
			continue
		}
		flip := uint64(0)
		if r < h {
			flip = 1
		}
		if x := spread(min(h, r)); x&m.every == 0 {
			m.slots[x>>m.shift] = checkOf(x) | uint64(i)<<1 | flip
		}
	}
}

// spread hashes a k-mer; checkOf is what of the hash a slot keeps.
func spread(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	return (x ^ x>>32) * 0xbf58476d1ce4e5b9
}

func checkOf(x uint64) uint64 { return x<<33 | 1<<33 }

func (m *match) clone() match {
	c := *m
	c.slots = append([]uint64(nil), m.slots...)
	return c
}
