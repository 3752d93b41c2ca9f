package names

import (
	"math/bits"
	"sync"

	rc "orcomgo/compress/rangecoder"
)

// How a number moved since the last name of its shape.
const (
	classSame = 0
	classUp   = 1
	classDown = 2
	classJump = 3 // coded by itself
)

// numberState is the recent past of a number.
type numberState struct {
	val    uint32
	past   uint32 // classes of the last moves, 2 bits each, newest lowest
	upLen  uint32 // bit length of the last small step up
	mean   uint32 // running mean of the steps up, in 1/16
	sorted int32  // 0..4096: running share of small steps, mostly upward
}

// jitterBits is the bit length up to which a fall of a number in a rising column is
// coded as a step.
const jitterBits = 8

// update appends the value v, which was a move of the given class.
func (n *numberState) update(v uint32, class uint32, width int) {
	d := v - n.val
	up := d < 1<<31
	small := d == 0 || up && bitLen(d) <= width-3 || !up && bitLen(-d) <= min(jitterBits, width-3)
	if small {
		n.sorted += (4096 - n.sorted) >> 4
	} else {
		n.sorted -= n.sorted >> 4
	}
	if d != 0 && up && small {
		n.upLen = uint32(bitLen(d))
		n.mean += d - n.mean>>4
	}
	n.past = n.past<<2 | class
	n.val = v
}

// set gives the field the value v without coding.
func (f *fieldState) set(v uint32) {
	f.val = v
	if u := f.plan.unit; u > 1 {
		f.offset = v % u
		v /= u
	}
	f.num.update(v, classJump, f.plan.width)
	if f.match != nil {
		f.match.add(f.val)
	}
	if f.seen != nil {
		f.seen.add(f.val)
	}
}

// number codes the field's next value.
func (c *codec) number(s *shape, f *fieldState, v uint32) {
	p := f.plan
	if p.equal >= 0 {
		if c.direct(rc.BitOf(v == s.field[p.equal].val), hash(hEqual, f.id, 0), 255) == 1 {
			f.val = s.field[p.equal].val
			f.num.val = f.val
			return
		}
	}
	missed := uint32(0)
	if f.match != nil {
		w, state := c.forecast(f, v)
		if state == matchHit {
			f.set(w)
			return
		}
		missed = uint32(state)
	}
	if p.unit > 1 {
		v = c.unitNumber(f, v)
	} else {
		v = c.step(f, v, missed)
	}
	f.val = v
	if f.match != nil {
		f.match.add(v)
	}
	if f.seen != nil {
		f.seen.add(v)
	}
	if p.width > 5 {
		c.prevTop = f.num.val >> (p.width - 5)
	} else {
		c.prevTop = f.num.val
	}
}

// step codes the next value of f.num: how it moved, and how far.
func (c *codec) step(f *fieldState, v uint32, missed uint32) uint32 {
	n := &f.num
	id, width := f.id, f.plan.width
	regime := uint32(rc.BitOf(n.sorted > 2500)) // 1 if the number mostly moves by small steps
	class := uint32(classJump)
	d := v - n.val
	if !c.Decoding() {
		switch {
		case d == 0:
			class = classSame
		case regime == 0:
		case d < 1<<31 && bitLen(d) < width:
			class = classUp
		case d >= 1<<31 && bitLen(-d) <= jitterBits && bitLen(-d) < width-2:
			class = classDown
		}
	}
	high := n.val
	if width > 6 {
		high >>= width - 6
	}
	c.ctx[0] = hash(hKind, id, n.past&63<<1|regime)
	c.ctx[1] = hash(hKind+64, id, n.past&3<<8|c.class<<4|c.rareChanged<<1|regime)
	c.ctx[2] = hash(hKind+128, id, high<<8|c.rareChanged<<1|regime)
	c.n = 3
	set := hash(hKind, id, 0)
	if c.mixed(rc.BitOf(class == classSame), 1, set, 1000) == 1 {
		class = classSame
	} else if regime == 1 {
		if c.mixed(rc.BitOf(class == classUp), 2, set+1, 1000) == 1 {
			class = classUp
		} else if c.mixed(rc.BitOf(class == classDown), 3, set+2, 1000) == 1 {
			class = classDown
		} else {
			class = classJump
		}
	} else {
		class = classJump
	}
	switch class {
	case classSame:
		v = n.val
	case classUp:
		v = n.val + c.distance(f, d, class)
	case classDown:
		v = n.val - c.distance(f, -d, class)
	case classJump:
		v = c.absolute(f, v, missed)
	}
	c.class = class
	n.update(v, class, width)
	return v
}

// distance codes a step of d >= 1.
func (c *codec) distance(f *fieldState, d uint32, class uint32) uint32 {
	n := &f.num
	c.ctx[0] = hash(hLen, f.id, class<<6|n.upLen)
	c.ctx[1] = hash(hLen+64, f.id, class<<6|uint32(bitLen(n.mean*3)))
	c.ctx[2] = hash(hLen+128, f.id, class<<6|c.class<<2|c.rareChanged)
	c.n = 3
	k := int(c.mixedTree(uint32(bitLen(d)-1), 5, hash(hLen, f.id, 0), 1000))
	base := uint32(1) << k
	if f.seen != nil && class == classUp {
		return c.bySeen(f, n.val+base, n.val+d, k, hash(hLow, f.id, uint32(k))) - n.val
	}
	h := hash(hLow+64, f.id, class<<6|uint32(k))
	t := min(k, 3)
	hi := c.tree(d>>(k-t), t, h, 1000)
	return base | hi<<(k-t) | c.Uniform(d, k-t)
}

// absolute codes v by itself: its upper bits in context, the others as equally likely.
func (c *codec) absolute(f *fieldState, v uint32, missed uint32) uint32 {
	p := f.plan
	if c.direct(rc.BitOf(v>>p.width == 0), hash(hFits, f.id, 0), 1000) == 0 {
		return c.Uniform(v, 32)
	}
	t := min(topBits, p.width)
	c.ctx[0] = hash(hTop, f.id, missed)
	c.ctx[1] = hash(hTop+64, f.id, c.prevTop<<4|missed)
	c.ctx[2] = hash(hTop+128, f.id, f.num.val>>max(p.width-5, 0)<<4|c.class<<1|c.rareChanged)
	c.n = 3
	low := p.width - t
	hi := c.mixedTree(v>>low, t, hash(hTop, f.id, missed), 1000)
	if f.seen != nil {
		return c.bySeen(f, hi<<low, v, low, hash(hLow+128, f.id, 0))
	}
	return hi<<low | c.Uniform(v, low)
}

// bySeen codes v, which is base .. base+2^k-1, by the values seen before in that range: the wells of a patterned flow cell are at a few
// thousand coordinates only. It saves a third of the names of such runs.
func (c *codec) bySeen(f *fieldState, base, v uint32, k int, h uint32) uint32 {
	node := uint32(1)
	for i := k - 1; i >= 0; i-- {
		half := uint32(1) << i
		var n0, n1 uint32
		if half <= 128 {
			n0, n1 = f.seen.count(base, half), f.seen.count(base+half, half)
		}
		c.ctx[0] = hash(hLow+192, f.id, uint32(i)<<8|min(n0, 15)<<4|min(n1, 15))
		c.ctx[1] = hash(hLow+256, h, 0) ^ node*0x9E3779B1
		c.n = 2
		b := uint32(c.mixed(rc.BitOf(v-base >= half), 1, hash(hLow, f.id, uint32(i)), 1000))
		base += half * b
		node = node<<1 | b
	}
	return base
}

// unitNumber codes a number that moves in windows of plan.unit: the window, and the offset in it.
func (c *codec) unitNumber(f *fieldState, v uint32) uint32 {
	u := f.plan.unit
	outer := c.class // how the number before moved
	lastQ := f.num.val
	q := c.step(f, v/u, 0)
	r := v % u
	w := bitLen(u - 1)
	z := c.class<<2 | outer
	inside := uint32(rc.BitOf(q == lastQ && outer == classSame))
	c.ctx[0] = hash(hOffset, f.id, z)
	c.ctx[1] = hash(hOffset+64, f.id, f.offset*32/u<<8|z)
	c.ctx[2] = hash(hOffset+128, f.id, f.offset<<8|inside<<2)
	c.n = 3
	r = c.mixedTree(r, w, hash(hOffset, f.id, inside), 1000)
	f.offset = r
	return q*u + r
}

// seenSet is the set of the values seen that are below 2^seenBits.
type seenSet struct{ set []uint64 }

const seenBits = 20

func newSeenSet() *seenSet { return &seenSet{set: make([]uint64, 1<<(seenBits-6)+1)} }

// seenSets are empty; see matchers.
var seenSets = sync.Pool{New: func() any { return newSeenSet() }}

func (s *seenSet) add(v uint32) {
	if v < 1<<seenBits {
		s.set[v>>6] |= 1 << (v & 63)
	}
}

// count returns how many of from .. from+n-1 were seen; n is a power of two up to 128.
func (s *seenSet) count(from, n uint32) uint32 {
	if from >= 1<<seenBits-128 {
		return 0
	}
	if n <= 64 {
		w := s.set[from>>6]>>(from&63) | s.set[from>>6+1]<<(63-from&63)<<1
		return uint32(bits.OnesCount64(w << (64 - n)))
	}
	return s.count(from, 64) + s.count(from+64, 64)
}
