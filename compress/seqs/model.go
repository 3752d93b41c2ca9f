package seqs

import (
	"math/bits"

	rc "orcomgo/compress/rangecoder"
)

// The base model predicts one base (0..3) as two binary decisions, mixing the predictions
// of several context lengths in the logistic domain. Low orders keep three adaptive
// probabilities a context; high orders, where a context has mostly been seen once, keep
// only which base followed and how often it did. Every base is also entered as it would be
// met on the other strand, so that inverted repeats are known (as in GeCo; Pratas, Pinho,
// Ferreira, DCC 2016).
//
// Nearly all the time goes into cache misses, so the tables are laid out for reading ahead:
// the contexts that differ in their last two bases alone share a cache line, and that line
// is touched two bases before it is needed. Updates of the other strand wait as long.

// The orders of the model, in bases. Every run order is at least 12 and at most longest.
var (
	countOrders = [nCount]uint{2, 4, 6, 8, 9, 10, 11}
	runOrders   = [nRun]uint{12, 14, 16, 18, 20, 24}
)

const (
	nCount  = 7
	nRun    = 6
	nInputs = nCount + nRun + 1 // and a constant
	longest = 24
	// strandOrder is the lowest count order that is taught the other strand: those below see enough of one.
	strandOrder = 6
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

// ahead is a line of a run table found two bases before its use.
type ahead struct {
	line  uint32
	check uint16
}

// otherStrand is an update that waits for its cache line.
type otherStrand struct {
	count [nCount]uint32
	run   [nRun]uint32
	check [nRun]uint16
	baseC [nCount]uint8
	baseR [nRun]uint8
}

type model struct {
	count [nCount][]node
	run   [nRun][]uint16 // check 10 bits | base 2 | hits 4; 0 is empty
	hits  [nRun][16][4]counter
	shift uint

	weights [][4][nInputs]int32

	h, r  uint64 // the last bases, newest lowest; and their reverse complement, newest highest
	lines [4][nRun]ahead
	wait  [4]otherStrand
	t     uint // bases entered
	sink  uint16
}

// newModel returns a fresh model for about n bases.
func newModel(n int) *model {
	m := &model{}
	for i, k := range countOrders {
		m.count[i] = make([]node, 1<<(2*k))
		for j := range m.count[i] {
			m.count[i][j] = node{newCounter, newCounter, newCounter}
		}
	}
	b := min(max(bits.Len(uint(2*n)), 12), 24)
	m.shift = uint(64 - (b - 4))
	for i := range m.run {
		m.run[i] = make([]uint16, 1<<b)
		for j := range m.hits[i] {
			for k := range m.hits[i][j] {
				m.hits[i][j][k] = newCounter
			}
		}
	}
	m.weights = make([][4][nInputs]int32, 1<<(2*nRun)*3)
	for i := range m.weights {
		for d := range m.weights[i] {
			for j := range m.weights[i][d] {
				m.weights[i][d][j] = 1 << 16 / 4
			}
		}
	}
	return m
}

// clone returns a copy that goes its own way.
func (m *model) clone() *model {
	c := *m
	for i := range m.count {
		c.count[i] = append([]node(nil), m.count[i]...)
	}
	for i := range m.run {
		c.run[i] = append([]uint16(nil), m.run[i]...)
	}
	c.weights = append([][4][nInputs]int32(nil), m.weights...)
	return &c
}

// lookup holds what the coding of one base takes from the model.
type lookup struct {
	nodes [nCount]*node
	slots [nRun]*uint16
	check [nRun]uint16
	sym   [nRun]uint8
	state [nRun]uint8
	in    [nInputs]int32
	w     *[4][nInputs]int32
}

// lineOf returns where the contexts of the given order that continue ctx (without its last
// two bases) stand, and the check bits that tell them from others there.
func (m *model) lineOf(ctx uint64, order uint) ahead {
	x := (ctx & (1<<(2*(order-2)) - 1)) * 0x9e3779b97f4a7c15
	x = (x ^ x>>32) * 0xbf58476d1ce4e5b9
	return ahead{uint32(x>>m.shift) << 4, uint16(x&1023) << 6}
}

// look finds the contexts of the next base.
func (m *model) look(c *lookup) {
	for i, k := range countOrders {
		c.nodes[i] = &m.count[i][m.h&(1<<(2*k)-1)]
	}
	last := uint32(m.h & 15)
	l := &m.lines[(m.t-2)&3]
	set := 0
	for i := range l {
		s := &m.run[i][l[i].line|last]
		v := *s
		c.slots[i], c.check[i] = s, l[i].check
		n := v & 15
		if v&^63 != l[i].check {
			n = 0
		}
		c.sym[i], c.state[i] = uint8(v>>4&3), uint8(n)
		set = set<<2 | int(confidence[n])
	}
	c.w = &m.weights[set]
}

// confidence sorts the hits of a run slot in four.
var confidence = [16]uint8{0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3}

// predict returns the probability that decision d (0: high bit; 1, 2: low bit after high
// bit 0, 1) is 1.
func (m *model) predict(c *lookup, d int) uint32 {
	for i, n := range c.nodes {
		c.in[i] = rc.Stretch(uint32(n[d&3]))
	}
	for i, s := range c.sym {
		v := rc.Stretch(uint32(m.hits[i][c.state[i]&15][d&3]))
		bit := s >> 1
		if d > 0 {
			if int(bit) != d-1 {
				v = 0
			}
			bit = s & 1
		}
		if bit == 0 {
			v = -v
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
	for i, s := range c.sym {
		b := int(s >> 1)
		if d > 0 {
			if b != d-1 {
				continue
			}
			b = int(s & 1)
		}
		h := &m.hits[i][c.state[i]&15][d&3]
		*h = moved(*h, 1&^(b^bit))
	}
}

// touched returns a run slot after base followed its context.
func touched(v, check uint16, base uint8) uint16 {
	n := v & 15
	if v&^63 == check && n > 0 && uint8(v>>4&3) == base {
		if n < 15 {
			v++
		}
		return v
	}
	// What was right before is worth more than a newcomer: it only loses ground.
	if n > 2 || n > 1 && v&^63 == check {
		return v - n + n/2
	}
	return check | uint16(base)<<4 | 1
}

// enter moves the model past base b, on both strands.
func (m *model) enter(c *lookup, b uint64) {
	for i, s := range c.slots {
		*s = touched(*s, c.check[i], uint8(b))
	}
	// Updates of the other strand whose lines have had two bases' time to arrive.
	q := &m.wait[m.t&3]
	if m.t >= 4 {
		for i, k := range countOrders {
			if k >= strandOrder {
				n, s := &m.count[i][q.count[i]], int(q.baseC[i])
				n[0] = moved(n[0], s>>1)
				n[1+s>>1] = moved(n[1+s>>1], s&1)
			}
		}
		for i := range q.run {
			s := &m.run[i][q.run[i]]
			*s = touched(*s, q.check[i], q.baseR[i])
		}
	}
	old := m.h
	m.h = old<<2 | b
	m.r = m.r>>2 | (3-b)<<(2*(longest-1))
	sink := uint16(0)
	// On the other strand, the complements of the newest bases, newest first, are followed
	// by the complement of the base before them.
	for i, k := range countOrders {
		if k >= strandOrder {
			x := uint32(m.r >> (2 * (longest - k)))
			q.count[i], q.baseC[i] = x, uint8(3-old>>(2*k-2)&3)
			sink += m.count[i][x][3]
		}
		if k > 8 {
			sink += m.count[i][m.h<<4&(1<<(2*k)-1)][3]
		}
	}
	l := &m.lines[m.t&3]
	for i, k := range runOrders {
		a := m.lineOf(m.h, k)
		l[i] = a
		sink += m.run[i][a.line]
		x := m.r >> (2 * (longest - k))
		o := m.lineOf(x>>4, k)
		q.run[i], q.check[i], q.baseR[i] = o.line|uint32(x&15), o.check, uint8(3-old>>(2*k-2)&3)
		sink += m.run[i][o.line]
	}
	m.sink += sink
	m.t++
}
