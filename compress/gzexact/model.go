package gzexact

import "orcomgo/compress/rangecoder"

// What comes next in a frame.
const (
	eventEnd         = iota // of the frame
	eventMember             // a member with the header of the template
	eventRaw                // bytes outside of members, or another header
	eventBlock              // a block of tokens
	eventStored             // a stored block with text
	eventEmptyStored        // a stored block without text: a flush
	eventEmptyStatic        // a static block without text: a flush, or the end of a member
)

// How the end of a segment is coded.
const (
	segmentFar   = iota // further away than matters
	segmentAgain        // as long as the last one
	segmentOther
)

// models are the adaptive models of a frame, which begin anew with each.
type models struct {
	event                                                          [10]rangecoder.Tree
	segment, length, literals, dists, itemCount, itemLength, items rangecoder.Tree
	raw                                                            rangecoder.Tree
	itemExtra                                                      [repeatZeros + 1]rangecoder.Tree
	segmentSize, storedSize, corrections, gap, dist, rawSize       *rangecoder.Number
	final                                                          [2]rangecoder.Prob
	clear, endsHere, isMatch, planned, dynamic                     rangecoder.Prob
}

func newModels() *models {
	m := &models{}
	for i := range m.event {
		m.event[i] = rangecoder.NewTree(3)
	}
	for _, t := range []struct {
		tree *rangecoder.Tree
		bits int
	}{
		{&m.segment, 2}, {&m.length, 9}, {&m.literals, 5}, {&m.dists, 5}, {&m.itemCount, 4}, {&m.itemLength, 3}, {&m.items, 5}, {&m.raw, 8},
		{&m.itemExtra[repeatLast], 2}, {&m.itemExtra[repeatZero], 3}, {&m.itemExtra[repeatZeros], 7},
	} {
		*t.tree = rangecoder.NewTree(t.bits)
	}
	for _, n := range []**rangecoder.Number{&m.segmentSize, &m.storedSize, &m.corrections, &m.gap, &m.dist, &m.rawSize} {
		*n = rangecoder.NewNumber()
	}
	for _, p := range []*rangecoder.Prob{&m.final[0], &m.final[1], &m.clear, &m.endsHere, &m.isMatch, &m.planned, &m.dynamic} {
		*p = rangecoder.NewProb
	}
	return m
}

// coding codes what a frame is made of. When decoding, values that are given are ignored.
type coding struct {
	*rangecoder.Coder
	*models
}

// countLimit bounds the counts of all models.
const countLimit = 255

func (c *coding) tree(t *rangecoder.Tree, v int) int {
	return int(t.Code(c.Coder, uint32(v), countLimit))
}

func (c *coding) number(n *rangecoder.Number, v int) int {
	return int(n.Code(c.Coder, uint32(v), countLimit))
}

func (c *coding) flag(p *rangecoder.Prob, v bool) bool {
	return c.Adapt(boolBit(v), p, countLimit) == 1
}

// rawBytes codes up to maxRaw bytes as they are.
func (c *coding) rawBytes(b []byte) ([]byte, bool) {
	n := c.number(c.rawSize, len(b))
	if c.Decoding() {
		if n > maxRaw {
			return nil, false
		}
		b = make([]byte, n)
	}
	for i := range b {
		b[i] = byte(c.tree(&c.raw, int(b[i])))
	}
	return b, true
}

// otherToken codes a token, given another one that was predicted in its place. l is the literal that is possible there.
func (c *coding) otherToken(t, predicted, l token) (token, bool) {
	if predicted.isMatch() && !c.flag(&c.isMatch, t.isMatch()) {
		return l, true
	}
	length, dist := c.tree(&c.length, t.value()), c.number(c.dist, t.dist())
	return match(length, dist), length >= minMatch && length <= maxMatch && dist >= 1 && dist <= windowSize
}

// blockCodes codes the codes of a dynamic block.
func (c *coding) blockCodes(d *codes) bool {
	d.literals = c.tree(&c.literals, d.literals-257) + 257
	d.dists = c.tree(&c.dists, d.dists-1) + 1
	d.itemCount = c.tree(&c.itemCount, d.itemCount-4) + 4
	if d.literals > literalCodes || d.dists > distCodes {
		return false
	}
	for _, s := range itemOrder[:d.itemCount] {
		d.itemLengths[s] = uint8(c.tree(&c.itemLength, int(d.itemLengths[s])))
	}
	items := d.items
	d.items = nil
	for n := 0; n < d.literals+d.dists; {
		var it item
		if !c.Decoding() {
			it = items[len(d.items)]
		}
		s := c.tree(&c.items, it.symbol())
		if s > repeatZeros {
			return false
		}
		extra := 0
		if s >= repeatLast {
			extra = c.tree(&c.itemExtra[s], int(it>>8))
		}
		if n = d.add(item(s)|item(extra)<<8, n); n < 0 {
			return false
		}
	}
	return true
}
