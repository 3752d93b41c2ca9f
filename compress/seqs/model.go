package seqs

import (
	rc "orcomgo/compress/rangecoder"
)

// The base model predicts one base (0..3) as two binary decisions, mixing in the logistic
// domain what several context lengths say. Orders up to 11 keep three adaptive probabilities
// a context; longer repeats are the matches'. The contexts that see few bases are
// taught the other strand too, so that inverted repeats are known (as in GeCo; Pratas, Pinho,
// Ferreira, DCC 2016).
//
// Nearly all the time goes into cache misses, so lines are fetched before they are needed:
// contexts that differ in their last base alone share a line, and updates of the other strand wait.

// countOrders are the orders of the contexts with probabilities, in bases.
var countOrders = [nCount]uint{2, 4, 6, 8, 10}

const (
	nCount  = 5
	nMatch  = 2
	nInputs = nCount + nMatch + 1 // and a constant
	longest = 24
	// strandOrder is the index of the lowest order that is taught the other strand: those below see enough of one.
	strandOrder = 3
)

// counter is 12 bits of probability of a 1 and 4 bits of how often it was updated.
type counter = uint16

const newCounter counter = 2048 << 4

// rates[n] is the share, in 1/65536, by which a counter updated n times moves.
var rates = [16]int32{30000, 22000, 16500, 13000, 10500, 8600, 7300, 6300, 5500, 4900, 4400, 4000, 3600, 3200, 2800, 2500}

func moved(c counter, bit int) counter {
	p, n := int32(c>>4), c&15
	target := int32(-bit) & 4095
	p += (target - p) * rates[n] >> 16
	if n < 15 {
		n++
	}
	return counter(p)<<4 | n
}

// node holds the three decisions of a context: the base's high bit, and its low bit given
// the high bit. The fourth counter is never used; it keeps nodes from straddling cache lines.
type node [4]counter

// otherStrand is an update that waits for its cache lines.
type otherStrand struct {
	node [nCount - strandOrder]uint32
	base [nCount - strandOrder]uint8
	done bool
}

type model struct {
	count   [nCount][]node
	matches [nMatch]match
	hist    []byte // all bases entered

	weights [][4][nInputs]int32

	h, r uint64         // the last bases, newest lowest; and their reverse complement, newest highest
	wait [4]otherStrand // done at first
	t    uint           // bases entered
}

// newModel returns a fresh model for about n bases.
func newModel(n int) *model {
	m := &model{}
	for i := range m.wait {
		m.wait[i].done = true
	}
	for i, k := range countOrders {
		m.count[i] = make([]node, 1<<(2*k))
		for j := range m.count[i] {
			m.count[i][j] = node{newCounter, newCounter, newCounter}
		}
	}
	m.matches = [nMatch]match{newMatch(14, 0, n), newMatch(22, 3, n)}
	m.weights = make([][4][nInputs]int32, 64)
	for i := range m.weights {
		for d := range m.weights[i] {
			for j := range m.weights[i][d] {
				m.weights[i][d][j] = 1 << 16 / 5
			}
		}
	}
	m.hist = make([]byte, 0, n)
	return m
}

// primed returns a model that knows the bases of pg as if it had coded them, except for the
// weights, which it still has to learn. The tables are independent of one another, so this
// takes a fraction of the time of coding.
func primed(pg []byte, threads int) *model {
	m := newModel(len(pg))
	m.hist = append(m.hist, pg...)
	for _, b := range pg[max(0, len(pg)-2*longest):] {
		m.h = m.h<<2 | uint64(b)
		m.r = m.r>>2 | uint64(3-b)<<(2*(longest-1))
	}
	m.t = uint(len(pg))
	side(nCount+nMatch, threads, func(i int) {
		if i < nMatch {
			m.matches[i].prime(pg)
			return
		}
		i -= nMatch
		k := countOrders[i]
		mask := uint64(1)<<(2*k) - 1
		var h, r uint64
		for _, b := range pg {
			n := &m.count[i][h&mask]
			hi, lo := int(b>>1), int(b&1)
			n[0] = moved(n[0], hi)
			n[1+hi] = moved(n[1+hi], lo)
			old := h
			h = h<<2 | uint64(b)
			r = r>>2 | uint64(3-b)<<(2*(k-1))
			if i >= strandOrder {
				n, s := &m.count[i][r], int(3-old>>(2*k-2)&3)
				n[0] = moved(n[0], s>>1)
				n[1+s>>1] = moved(n[1+s>>1], s&1)
			}
		}
	})
	return m
}

// clone returns a copy that goes its own way.
func (m *model) clone() *model {
	c := *m
	for i := range m.count {
		c.count[i] = append([]node(nil), m.count[i]...)
	}
	for i := range m.matches {
		c.matches[i] = m.matches[i].clone()
	}
	c.weights = append([][4][nInputs]int32(nil), m.weights...)
	c.hist = append([]byte(nil), m.hist...)
	return &c
}

// lookup holds what the coding of one base takes from the model.
type lookup struct {
	nodes [nCount]*node
	sym   [nMatch]uint8
	state [nMatch]*[4]counter // nil: no match
	in    [nInputs]int32
	w     *[4][nInputs]int32
}

// look finds the contexts of the next base.
func (m *model) look(c *lookup) {
	for i, k := range countOrders {
		c.nodes[i] = &m.count[i][m.h&(1<<(2*k)-1)]
	}
	set := 0
	for i := range m.matches {
		x := &m.matches[i]
		b, s, ok := x.look(m.hist)
		c.state[i] = nil
		v := 0
		if ok {
			c.sym[i], c.state[i] = b, &x.counter[s]
			v = 1 + s>>8
			if s&0xff != 0 {
				v = 5
			}
		}
		set = set<<3 | v
	}
	c.w = &m.weights[set]
}

// predict returns the probability that decision d (0: high bit; 1, 2: low bit after high
// bit 0, 1) is 1.
func (m *model) predict(c *lookup, d int) uint32 {
	for i, n := range c.nodes {
		c.in[i] = rc.Stretch(uint32(n[d&3]))
	}
	for i, s := range c.state {
		v := int32(0)
		if s != nil {
			v = rc.Stretch(uint32(s[d&3]))
			bit := c.sym[i] >> 1
			if d > 0 {
				if int(bit) != d-1 {
					v = 0
				}
				bit = c.sym[i] & 1
			}
			if bit == 0 {
				v = -v
			}
		}
		c.in[nCount+i] = v
	}
	c.in[nInputs-1] = 256
	w := &c.w[d&3]
	dot := int64(0)
	for i, x := range c.in {
		dot += int64(w[i]) * int64(x)
	}
	p := rc.Squash(int32(dot >> 16))
	return min(max(p, 32), 65536-32)
}

// learn tells the outcome of decision d, predicted as p.
func (m *model) learn(c *lookup, d, bit int, p uint32) {
	e := (int32(bit<<16) - int32(p)) >> 2
	w := &c.w[d&3]
	for i, x := range c.in {
		w[i] += (x*e + 1<<14) >> 15
	}
	for _, n := range c.nodes {
		n[d&3] = moved(n[d&3], bit)
	}
	for i, s := range c.state {
		if s == nil {
			continue
		}
		b := int(c.sym[i] >> 1)
		if d > 0 {
			if b != d-1 {
				continue
			}
			b = int(c.sym[i] & 1)
		}
		s[d&3] = moved(s[d&3], 1&^(b^bit))
	}
}

// enter moves the model past base b, on both strands.
func (m *model) enter(b uint64) {
	// Updates of the other strand whose lines have had time to arrive.
	q := &m.wait[m.t&3]
	if !q.done {
		for i, x := range q.node {
			n, s := &m.count[strandOrder+i][x], int(q.base[i])
			n[0] = moved(n[0], s>>1)
			n[1+s>>1] = moved(n[1+s>>1], s&1)
		}
	}
	q.done = false
	old := m.h
	m.h = old<<2 | b
	m.r = m.r>>2 | (3-b)<<(2*(longest-1))
	m.hist = append(m.hist, byte(b))
	// On the other strand, the complements of the newest bases, newest first, are followed
	// by the complement of the base before them.
	for i := range q.node {
		k := countOrders[strandOrder+i]
		q.node[i], q.base[i] = uint32(m.r>>(2*(longest-k))), uint8(3-old>>(2*k-2)&3)
	}
	const top = nCount - 1
	prefetch(&m.count[top][q.node[top-strandOrder]], &m.count[top][m.h<<2&(1<<(2*countOrders[top])-1)],
		m.matches[0].enter(m.hist, byte(b), m.h, m.r, m.t), m.matches[1].enter(m.hist, byte(b), m.h, m.r, m.t))
	m.t++
}
