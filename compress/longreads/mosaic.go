package longreads

import "slices"

// A read of a genome of which the sequence has several versions may follow one of them here and another one there. So the chains that
// compete for its bases share them: the bases are divided among the chains so that the k-mers cover most, less what changes cost.

// changeCost is how many covered bases a change from one chain to another must gain.
const changeCost = 64

// mosaic divides a read among chains.
type mosaic struct {
	value []int32 // by hit: bases that the best way to it covers, less the cost of its changes
	prev  []int32 // by hit: the hit before it on that way, -1 for none
	last  []int32 // by chain: its last hit so far, -1 for none
	at    []int32 // by hit: the number of its anchor in its chain
}

// compete reports whether two of the chains that are listed in c.order overlap in a read of n bases.
func (c *chainer) compete(n int) bool {
	if len(c.order) < 2 {
		return false
	}
	spans := make([]interval, len(c.order))
	for i, x := range c.order {
		spans[i].from, spans[i].to = c.chains[x].span(n)
	}
	slices.SortFunc(spans, func(a, b interval) int { return a.from - b.from })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			return true
		}
	}
	return false
}

// divide divides a read of n bases among the chains that are listed in c.order. It appends their parts of at least minAnchors k-mers to
// c.picked, in the order of the read.
func (c *chainer) divide(n, minAnchors int) {
	m := &c.mosaic
	m.value = slices.Grow(m.value[:0], len(c.hits))[:len(c.hits)]
	m.prev = slices.Grow(m.prev[:0], len(c.hits))[:len(c.hits)]
	m.at = slices.Grow(m.at[:0], len(c.hits))[:len(c.hits)]
	m.last = slices.Grow(m.last[:0], len(c.chains))[:len(c.chains)]
	for i := range m.last {
		m.last[i] = -1
	}
	ended, best := 0, int32(-1) // hits before `ended` end before the one that is looked at; the best of them
	end := int32(-1)            // the best of all
	for i, h := range c.hits {
		x := c.of[i]
		if c.chains[x].size < minAnchors {
			continue
		}
		for ; c.hits[ended].read+k <= h.read; ended++ {
			if c.chains[c.of[ended]].size >= minAnchors && (best < 0 || m.value[ended] > m.value[best]) {
				best = int32(ended)
			}
		}
		m.value[i], m.prev[i] = k, -1
		if best >= 0 && m.value[best]-changeCost > 0 {
			m.value[i], m.prev[i] = m.value[best]-changeCost+k, best
		}
		number := 0
		if l := m.last[x]; l >= 0 {
			d := int32(h.place - c.hits[l].place)
			if v := m.value[l] + min(k, int32(h.read-c.hits[l].read), max(d, -d)); v >= m.value[i] {
				m.value[i], m.prev[i] = v, l
			}
			number = int(m.at[l]) + 1
		}
		m.last[x], m.at[i] = int32(i), int32(number)
		if end < 0 || m.value[i] > m.value[end] {
			end = int32(i)
		}
	}
	for i := end; i >= 0; {
		first := i // of the hits of this chain in a row
		for m.prev[first] >= 0 && c.of[m.prev[first]] == c.of[i] {
			first = m.prev[first]
		}
		h := c.chains[c.of[i]]
		from, to := int(m.at[first]), int(m.at[i])+1
		if h.reversed { // its anchors are in the other order
			from, to = h.size-to, h.size-from
		}
		if to-from >= minAnchors {
			h.anchors, h.size = h.anchors[from:to], to-from
			c.picked = append(c.picked, h)
		}
		i = m.prev[first]
	}
	slices.Reverse(c.picked)
	for i := range c.picked {
		from, to := c.picked[i].span(n)
		c.claimed = append(c.claimed, interval{from, to})
	}
}
