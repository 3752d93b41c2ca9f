package gzexact

import (
	"slices"

	"orcomgo/compress/rangecoder"
)

// What comes next in a frame.
const (
	eventEnd         = iota // of the frame
	eventMember             // a member whose header is the first one of the file, but for its size if it has one
	eventHeader             // a member with another header, or one that does not end in the frame
	eventBlock              // a block of tokens
	eventStored             // a stored block with text
	eventEmptyStored        // a stored block without text: a flush
	eventEmptyStatic        // a static block without text: a flush, or the end of a member
	eventJunk               // bytes behind the last member
)

// How the end of a segment is coded.
const (
	segmentFar   = iota // further away than matters
	segmentAgain        // as long as the last one
	segmentOther
)

// How a token differs from that which was predicted: a match where a literal was, or one of these where a match was.
const (
	differsLiteral = iota
	differsLength
	differsDist
	differsBoth
)

// Choices of builders.
const (
	builtByZlib = iota
	builtByLibdeflate
	builtOtherwise
)

// models are the adaptive models of a frame, which begin anew with each.
type models struct {
	event                 [10]rangecoder.Tree // by where the last part ended, see session.context
	final                 [2]rangecoder.Prob  // by whether the segment ends
	segment               rangecoder.Tree
	segmentSize           *rangecoder.Number
	clear                 rangecoder.Prob
	padded                rangecoder.Prob // whether the bits before a stored block's length are not 0
	padding               rangecoder.Tree
	storedSize            *rangecoder.Number
	corrections, gap      *rangecoder.Number
	endsHere              rangecoder.Prob
	differs               rangecoder.Tree
	length                rangecoder.Tree
	dist                  *rangecoder.Number
	planned, dynamic      rangecoder.Prob
	literals, dists       rangecoder.Tree
	lengths               [maxCodeBits + 1]rangecoder.Tree // by what was predicted
	runs, itemsBy         rangecoder.Tree
	item                  [2]rangecoder.Tree // by whether the length is 0
	itemExtra             [repeatZeros + 1]rangecoder.Tree
	itemCount, itemLength rangecoder.Tree
	rawSize               *rangecoder.Number
	raw                   rangecoder.Tree
}

func newModels() *models {
	m := &models{
		segment: rangecoder.NewTree(2), padding: rangecoder.NewTree(7),
		differs: rangecoder.NewTree(2), length: rangecoder.NewTree(9), literals: rangecoder.NewTree(5), dists: rangecoder.NewTree(5),
		runs: rangecoder.NewTree(2), itemsBy: rangecoder.NewTree(2), itemCount: rangecoder.NewTree(4), itemLength: rangecoder.NewTree(3),
		raw: rangecoder.NewTree(8),
	}
	for i := range m.event {
		m.event[i] = rangecoder.NewTree(3)
	}
	for i := range m.lengths {
		m.lengths[i] = rangecoder.NewTree(4)
	}
	for i := range m.item {
		m.item[i] = rangecoder.NewTree(2)
	}
	for s := repeatLast; s <= repeatZeros; s++ {
		m.itemExtra[s] = rangecoder.NewTree(itemExtra(s))
	}
	for _, n := range []**rangecoder.Number{&m.segmentSize, &m.storedSize, &m.corrections, &m.gap, &m.dist, &m.rawSize} {
		*n = rangecoder.NewNumber()
	}
	for _, p := range []*rangecoder.Prob{&m.final[0], &m.final[1], &m.clear, &m.padded, &m.endsHere, &m.planned, &m.dynamic} {
		*p = rangecoder.NewProb
	}
	return m
}

// coding codes what a frame is made of, or decodes it into the same variables.
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

// maxRaw is the greatest number of bytes in one piece.
const maxRaw = 64 << 10

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

// differingToken codes a token, given another one that was predicted in its place. l is the token if it is a literal.
func (c *coding) differingToken(t, predicted, l token) (token, bool) {
	kind, length, dist := differsBoth, t.value(), t.dist()
	if predicted.isMatch() {
		switch {
		case !t.isMatch():
			kind = differsLiteral
		case dist == predicted.dist():
			kind = differsLength
		case length == predicted.value():
			kind = differsDist
		}
		kind = c.tree(&c.differs, kind)
	}
	if kind == differsLiteral {
		return l, true
	}
	if kind == differsDist {
		length = predicted.value()
	} else {
		length = c.tree(&c.length, length)
	}
	if kind == differsLength {
		dist = predicted.dist()
	} else {
		dist = c.number(c.dist, dist)
	}
	return match(length, dist), length >= minMatch && length <= oddLength && dist >= 1 && dist <= windowSize
}

// blockCodes codes the codes of a dynamic block, given others that were predicted.
func (c *coding) blockCodes(d, predicted *codes, trees codeBuilder) bool {
	d.literals = c.tree(&c.literals, d.literals-257) + 257
	d.dists = c.tree(&c.dists, d.dists-1) + 1
	if d.literals > literalCodes || d.dists > distCodes {
		return false
	}
	lit, dist := predicted.literalLengths(), predicted.distLengths()
	for i := range d.lengths[:d.literals+d.dists] {
		expected := 0
		if i < min(d.literals, len(lit)) {
			expected = int(lit[i])
		} else if k := i - d.literals; k >= 0 && k < len(dist) {
			expected = int(dist[k])
		}
		d.lengths[i] = uint8(c.tree(&c.lengths[expected], int(d.lengths[i])))
	}
	builders := [...]func(items []item) []item{d.zlibItems, d.libdeflateItems}
	by, items := builtOtherwise, d.items
	for i, build := range builders {
		if !c.Decoding() && by == builtOtherwise && slices.Equal(d.items, build(nil)) {
			by = i
		}
	}
	if by = c.tree(&c.runs, by); by < builtOtherwise {
		d.items = builders[by](d.items[:0])
	} else if d.items = c.otherItems(d, items); d.items == nil {
		return false
	}
	return c.codeOfItems(d, trees)
}

// otherItems codes items one by one. They are nil if they don't agree with the lengths.
func (c *coding) otherItems(d *codes, items []item) (out []item) {
	all := d.literals + d.dists
	for n, i := 0, 0; n < all; i++ {
		zero := boolBit(d.lengths[n] == 0)
		kind, extra := 0, 0 // the symbol of the item less 15, or 0
		if !c.Decoding() {
			kind, extra = max(items[i].symbol()-(repeatLast-1), 0), int(items[i]>>8)
		}
		it := item(d.lengths[n])
		if kind = c.tree(&c.item[zero], kind); kind > 0 {
			s := kind + repeatLast - 1
			it = item(s) | item(c.tree(&c.itemExtra[s], extra))<<8
		}
		if n += it.runs(); n > all {
			return nil
		}
		out = append(out, it)
	}
	var check codes
	check.literals, check.dists, check.items = d.literals, d.dists, out
	if !check.expand() || check.lengths != d.lengths {
		return nil
	}
	return out
}

// codeOfItems codes the code of the items.
func (c *coding) codeOfItems(d *codes, zlibTrees codeBuilder) bool {
	builders := [...]codeBuilder{zlibTrees, &libdeflateTree{}}
	by := builtOtherwise
	var built codes
	var n [itemCodes]uint32
	for i, b := range builders {
		built.items = d.items
		built.setItemLengths(b, &n)
		if !c.Decoding() && by == builtOtherwise && built.itemCount == d.itemCount && built.itemLengths == d.itemLengths {
			by = i
		}
	}
	by = c.tree(&c.itemsBy, by)
	if by < builtOtherwise {
		d.setItemLengths(builders[by], &n)
		return true
	}
	d.itemCount = c.tree(&c.itemCount, d.itemCount-4) + 4
	if d.itemCount > itemCodes {
		return false
	}
	for _, s := range itemOrder[:d.itemCount] {
		d.itemLengths[s] = uint8(c.tree(&c.itemLength, int(d.itemLengths[s])))
	}
	return true
}
