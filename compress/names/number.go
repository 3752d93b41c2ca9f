package names

import (
	"math/bits"

	rc "orcomgo/compress/rangecoder"
)

// How a number moved since the last name of its shape.
const (
	classSame = 0
	classUp   = 1
	classDown = 2
	classJump = 3 // coded by itself
	classRise = 4 // in codec.class only: as classJump, and larger than before
	classNone = 5 // in codec.class only: there is no number before
)

// numberState is the recent past of a number.
type numberState struct {
	val    uint32
	move   uint32 // class of the last move
	lastUp uint32 // the last small step up
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
	small := d == 0 || up && bits.Len32(d) <= width-3 || !up && bits.Len32(-d) <= min(jitterBits, width-3)
	if small {
		n.sorted += (4096 - n.sorted) >> 4
	} else {
		n.sorted -= n.sorted >> 4
	}
	if d != 0 && up && small {
		n.lastUp = d
		n.mean += d - n.mean>>4
	}
	n.move = class
	n.val = v
}

// set gives the field the value v without coding.
func (f *fieldState) set(v uint32) {
	f.val = v
	if p := f.plan; p.pitch > 0 {
		v = p.cell(v)
		f.offset = min(f.val-p.at(v, 0), p.pitch/cellOne-1)
	}
	f.num.update(v, classJump, f.plan.width)
	if f.match != nil {
		f.match.add(f.val)
	}
}

// place returns in which sixteenth of the possible values the last one of f.num is.
func (f *fieldState) place() uint32 { return f.num.val >> max(f.plan.width-4, 0) }

// number codes the field's next value.
func (c *codec) number(s *shape, i int, v uint32) {
	f := &s.field[i]
	p := f.plan
	if p.equal >= 0 {
		if c.Adapt(rc.BitOf(v == s.field[p.equal].val), f.equal, 255) == 1 {
			f.val = s.field[p.equal].val
			f.num.val = f.val
			return
		}
	}
	missed := uint32(0)
	if f.match != nil {
		w, hit, tried := c.forecast(f, v)
		if hit {
			f.set(w)
			return
		}
		missed = uint32(min(tried, 1))
	}
	if p.pitch > 0 {
		v = c.inCells(s, i, v)
	} else {
		v = c.step(f, v, missed, f.place())
	}
	f.val = v
	if f.match != nil {
		f.match.add(v)
	}
}

// step codes the next value of f.num: how it moved, by the place where it was, and how far.
func (c *codec) step(f *fieldState, v uint32, missed, place uint32) uint32 {
	n := &f.num
	width := f.plan.width
	regime := uint32(rc.BitOf(n.sorted > 2500)) // 1 if the number mostly moves by small steps
	class := uint32(classJump)
	d := v - n.val
	if !c.Decoding() {
		switch {
		case d == 0:
			class = classSame
		case regime == 0:
		case d < 1<<31 && bits.Len32(d) < width:
			class = classUp
		case d >= 1<<31 && bits.Len32(-d) <= jitterBits && bits.Len32(-d) < width-2:
			class = classDown
		}
	}
	h := hash(hKind, f.id, place<<16|n.move<<8|c.class<<4|c.rareChanged<<1|regime)
	switch {
	case c.direct(rc.BitOf(class == classSame), h, 1000) == 1:
		class, v = classSame, n.val
	case regime == 1 && c.direct(rc.BitOf(class == classUp), h+1, 1000) == 1:
		class, v = classUp, n.val+c.distance(f, d, classUp)
	case regime == 1 && c.direct(rc.BitOf(class == classDown), h+2, 1000) == 1:
		class, v = classDown, n.val-c.distance(f, -d, classDown)
	default:
		class, v = classJump, c.absolute(f, v, missed)
	}
	c.class, c.upBits = class, 0
	switch {
	case class == classUp:
		c.upBits = min(uint32(bits.Len32(v-n.val)), uint32(len(f.up))-1)
	case class == classJump && v > n.val:
		c.class = classRise
	}
	n.update(v, class, width)
	return v
}

// distance codes a step of d >= 1.
func (c *codec) distance(f *fieldState, d uint32, class uint32) uint32 {
	t := &f.down
	switch {
	case class == classUp && f.plan.hasWindows():
		t = &f.up[c.upBits]
	case class == classUp:
		// By how the last step compares with the mean.
		t = &f.up[min(f.num.lastUp<<5/(f.num.mean+1), 3)]
	}
	if !f.plan.hasWells() {
		return c.spread(d, t)
	}
	half := c.spread(d>>1+1, t) - 1 // many flow cells have every other well in a row
	return half<<1 | uint32(c.direct(int(d&1), hash(hLow, f.id, class), 1000))
}

// absolute codes v by itself: its upper bits by their frequencies, the others as equally likely.
func (c *codec) absolute(f *fieldState, v uint32, missed uint32) uint32 {
	p := f.plan
	if c.Adapt(rc.BitOf(v>>p.width == 0), f.fits, 1000) == 0 {
		return c.Uniform(v, 32)
	}
	low := max(p.width-symbolBits, 0)
	v &= 1<<p.width - 1
	return c.symbol(v>>low, &f.top[missed])<<low | c.Uniform(v, low)
}

// inCells codes a number that moves in cells: the cell, and the place in it. In a window, that is an offset, which mostly rises as long as
// this number and the one before stay in theirs. A cell of a patterned flow cell has a well in the middle, or next to it: as before.
func (c *codec) inCells(s *shape, i int, v uint32) uint32 {
	f := &s.field[i]
	p, outer, last := f.plan, c.class, f.num.val // outer: how the number before moved
	if p.hasWells() {
		cell := c.step(f, p.cell(v), 0, f.place())
		at := p.at(cell, p.pitch/2)
		shift := &f.shift[cell&(maxRows-1)]
		s := int8(v - at)
		if c.Adapt(rc.BitOf(s == *shift), f.well, 1000) == 0 {
			*shift = int8(c.symbol(uint32(s+symbolCount/2)&(symbolCount-1), &f.top[0])) - symbolCount/2
		}
		return at + uint32(int32(*shift))
	}
	ahead := uint32(0) // how far the next number is in its window
	if i++; i < len(s.field) && s.field[i].plan.hasWindows() {
		ahead = s.field[i].offset << 3 / (s.field[i].plan.pitch / cellOne)
	}
	cell := c.step(f, p.cell(v), 0, c.upBits<<3|ahead)
	at, size := p.at(cell, 0), p.pitch/cellOne
	low := max(bits.Len32(size-1)-symbolBits, 0)
	d, top := v-at, (size-1)>>low
	if cell == last && outer == classSame {
		rise := uint32(0) // 0: it does not rise; else one more
		if d >= f.offset {
			rise = (d-f.offset)>>low + 1
		}
		rise = c.symbolTo(rise, min((size-1-f.offset)>>low+1, symbolCount-1), c.table(&f.parts[1], top+2))
		if rise > 0 {
			f.offset = (f.offset + ((rise-1)<<low | c.Uniform(d-f.offset, low))) % size
			return at + f.offset
		}
	}
	c.table(&f.parts[0], top+1)
	f.offset = (c.symbol(d>>low&(symbolCount-1), &f.parts[0])<<low | c.Uniform(d, low)) % size
	return at + f.offset
}
