package doubles

import (
	"encoding/binary"
	"math/bits"
)

// Classes are coded each by those that followed a similar class before: a context has up to contextSymbols
// symbols with their counts, and an escape for others, which are then coded in two parts. Intervals are coded by a range asymmetric
// numeral system (rANS; Duda, 2009) with probabilities in 1/256, which are exact after each symbol: the counts of a context are lanes of
// a byte in two words, so that a symbol is found, counted and scaled with a few operations on words.
const (
	contextSymbols = 15 // of a context, besides the escape
	classContexts  = 128
	countStep      = 4   // added to the count of a symbol that occurs
	mostCounts     = 248 // counts of a context are halved when they are more together
	matureCounts   = 128 // from so many on, only one symbol of rareCounting is counted, which is faster
	rareCounting   = 5   // not a length of rows that is to be expected
	ransLow        = 1 << 16
)

// classModel has the symbols of a context in lanes of a byte.
type classModel struct {
	scaled  [contextSymbols + 1]byte // starts of intervals for counts that are 256 together
	starts  [2]uint64                // the counts before each symbol; lanes without a symbol have the start of the escape
	symbols [2]uint64                // 255 where there is none
	total   uint8                    // of the counts
	used    uint8                    // symbols; contextSymbols + 1 if there is no escape
}

// scaling of counts: they are shifted, so that they are at least 128 together, and are then multiplied with 1 + factor / 256.
type scaling struct {
	shift  uint8
	factor uint16
}

// scalings are those for the sums of counts.
var scalings = func() (list [256]scaling) {
	for total := 1; total < 256; total++ {
		shift := 8 - bits.Len(uint(total))
		list[total] = scaling{uint8(shift), uint16(65536/(total<<shift) - 256)}
	}
	return list
}()

// stepsAfter has countStep in the lanes after each symbol.
var stepsAfter = func() (list [contextSymbols + 1][2]uint64) {
	for s := range list {
		for lane := s + 1; lane <= contextSymbols; lane++ {
			list[s][lane>>3] |= countStep << (lane & 7 * 8)
		}
	}
	return list
}()

// ranks has the number of each lane, or the largest one of those in use.
var ranks = func() (list [contextSymbols + 2][2]uint64) {
	for used := range list {
		for lane := 0; lane <= contextSymbols; lane++ {
			list[used][lane>>3] |= uint64(min(lane, used)) << (lane & 7 * 8)
		}
	}
	return list
}()

// reciprocals of numbers from 1 to 256 in 1/2^40, rounded up.
var reciprocals = func() (list [257]uint64) {
	for f := 1; f <= 256; f++ {
		list[f] = 1<<40/uint64(f) + 1
	}
	return list
}()

// newContext has no symbols yet, newPart has 16 that are equally likely.
var newContext, newPart = func() (c, p classModel) {
	c = classModel{symbols: [2]uint64{^uint64(0), ^uint64(0)}, total: countStep}
	p = classModel{starts: ranks[contextSymbols], symbols: ranks[contextSymbols], total: contextSymbols + 1, used: contextSymbols + 1}
	p.scale()
	return c, p
}()

// classModels are the models of the classes of a chunk.
type classModels struct {
	contexts [classContexts]classModel      // by half of the class before
	high     classModel                     // of escapes: the size of the residual over 8
	low      [contextSymbols + 1]classModel // by that, the rest of the class
}

func (c *classModels) reset() {
	for i := range c.contexts {
		c.contexts[i] = newContext
	}
	c.high = newPart
	for i := range c.low {
		c.low[i] = newPart
	}
}

// highPart and lowPart are the parts of a class after an escape, and fromParts is the class.
func highPart(class byte) byte      { return class & (secondPredictor - 1) >> 3 }
func lowPart(class byte) byte       { return class>>7<<3 | class&7 }
func fromParts(high, low byte) byte { return low>>3<<7 | high<<3 | low&7 }

// scaleWord returns the lanes of x scaled.
func scaleWord(x uint64, f scaling) uint64 {
	k := uint64(f.factor)
	x <<= f.shift & 7
	return x + (x&evenBytes*k>>8&evenBytes | x>>8&evenBytes*k&^evenBytes)
}

// scale computes m.scaled.
func (m *classModel) scale() {
	f := scalings[m.total]
	binary.LittleEndian.PutUint64(m.scaled[:], scaleWord(m.starts[0], f))
	binary.LittleEndian.PutUint64(m.scaled[8:], scaleWord(m.starts[1], f))
}

// laneOf returns the lane whose interval has a slot. That of the escape may be any one from m.used on.
func (m *classModel) laneOf(slot uint64) int {
	return laneIn(binary.LittleEndian.Uint64(m.scaled[:]), binary.LittleEndian.Uint64(m.scaled[8:]), slot*lowBytes)
}

// laneIn is laneOf for the starts a and b, and a word whose lanes have the slot.
func laneIn(a, b, s uint64) int {
	// Bit 7 of a lane is 1 if it is above the slot. Lanes are in order, so that those above are the last ones.
	a = (a&^s | (a|^s)&((a|highBits)-s&^highBits-lowBytes)) & highBits
	b = (b&^s | (b|^s)&((b|highBits)-s&^highBits-lowBytes)) & highBits
	return bits.TrailingZeros64(a)>>3 + bits.TrailingZeros64(b)>>3 - 1
}

// interval returns the start and the size of the interval of a symbol in a context with an escape.
func (m *classModel) interval(lane int) (start, size uint64) {
	start = uint64(m.scaled[lane&contextSymbols])
	return start, uint64(m.scaled[(lane+1)&contextSymbols]) - start
}

// lastInterval returns those of the last lane: the escape, or the last symbol of a context without an escape.
func (m *classModel) lastInterval() (start, size uint64) {
	start = uint64(m.scaled[min(m.used, contextSymbols)])
	return start, 256 - start
}

// partInterval is interval for a context without an escape.
func (m *classModel) partInterval(lane int) (start, size uint64) {
	if lane == contextSymbols {
		return m.lastInterval()
	}
	return m.interval(lane)
}

// find returns the lane of a symbol, or one from m.used on if the context does not have it.
func (m *classModel) find(symbol byte) int {
	w := lowBytes * uint64(symbol)
	a, b := m.symbols[0]^w, m.symbols[1]^w
	a, b = (a-lowBytes)&^a&highBits, (b-lowBytes)&^b&highBits
	here := uint64(int64(a|-a) >> 63) // 0 if none of the first lanes has it; without a branch
	return (bits.TrailingZeros64(a) + bits.TrailingZeros64(b)&^int(here)) >> 3
}

// count counts the symbol of a lane.
func (m *classModel) count(lane int) {
	s := &stepsAfter[lane&contextSymbols]
	m.starts[0] += s[0]
	m.starts[1] += s[1]
	if m.total += countStep; m.total > mostCounts {
		m.halve()
	}
	f := scalings[m.total]
	binary.LittleEndian.PutUint64(m.scaled[:], scaleWord(m.starts[0], f))
	binary.LittleEndian.PutUint64(m.scaled[8:], scaleWord(m.starts[1], f))
}

// insert counts a symbol that the context does not have, and gives it a lane, or makes the escape more likely if there is none.
func (m *classModel) insert(symbol byte) {
	lane := int(m.used)
	if lane < contextSymbols {
		m.symbols[lane>>3&1] ^= uint64(symbol^255) << (lane & 7 * 8)
		m.used++
	}
	m.count(lane)
}

// halve halves the counts, rounding up or down but not to 0.
func (m *classModel) halve() {
	for i, x := range m.starts {
		r := ranks[m.used][i]
		m.starts[i] = x&r + (x^r)>>1&^highBits
	}
	m.total = uint8((int(m.total) + min(int(m.used), contextSymbols) + 1) / 2)
}

// classEncoder codes classes of a chunk.
type classEncoder struct {
	models classModels
	steps  []uint16 // start << 8 | size - 1 of the intervals
	out    []byte
}

// encode returns the code of classes. It is valid until the next call.
func (e *classEncoder) encode(classes []byte) []byte {
	e.models.reset()
	list := take(&e.steps, 3*len(classes))
	n := 0
	before, turn := byte(0), 0
	for _, class := range classes {
		if turn++; turn == rareCounting {
			turn = 0
		}
		m := &e.models.contexts[before>>1]
		before = class
		lane := m.find(class)
		if lane < int(m.used) {
			start, size := m.interval(lane)
			list[n] = uint16(start<<8 | size - 1)
			n++
			if m.total < matureCounts || turn == 0 {
				m.count(lane)
			}
			continue
		}
		start, size := m.lastInterval()
		list[n] = uint16(start<<8 | size - 1)
		high, low := int(highPart(class)), int(lowPart(class))
		start, size = e.models.high.partInterval(high)
		list[n+1] = uint16(start<<8 | size - 1)
		e.models.high.count(high)
		m2 := &e.models.low[high]
		start, size = m2.partInterval(low)
		list[n+2] = uint16(start<<8 | size - 1)
		m2.count(low)
		n += 3
		m.insert(class)
	}
	return e.code(list[:n])
}

// code codes intervals from the last one to the first one, since a decoder has them in the other order. Two states take turns, so that
// a processor works on both.
func (e *classEncoder) code(list []uint16) []byte {
	size := 2*len(list) + 8
	out := take(&e.out, size)
	at, x, other := size, uint64(ransLow), uint64(ransLow)
	for i := len(list) - 1; i >= 0; i-- {
		start, f := uint64(list[i]>>8), uint64(list[i]&255)+1
		// Without a branch, since that would be hard to predict.
		large := (f<<24 - 1 - x) >> 63
		binary.LittleEndian.PutUint16(out[at-2:], uint16(x))
		at -= int(2 * large)
		x >>= 16 * large & 31
		x, other = other, x+start+x*reciprocals[f]>>40*(256-f)
	}
	at -= 8
	binary.LittleEndian.PutUint64(out[at:], other|x<<32)
	return out[at:]
}

// classDecoder decodes what a classEncoder coded.
type classDecoder struct {
	models classModels
	x, y   uint64 // the state that is next, and the other one
	code   []byte // that was not read yet
	failed bool
}

// decode sets classes to those that code was made of.
func (d *classDecoder) decode(classes, code []byte) error {
	if len(code) < 8 {
		return ErrCorrupt
	}
	d.models.reset()
	d.failed = false
	x, y, before, turn := uint64(binary.LittleEndian.Uint32(code)), uint64(binary.LittleEndian.Uint32(code[4:])), byte(0), 0
	code = code[8:]
	for i := range classes {
		if turn++; turn == rareCounting {
			turn = 0
		}
		m := &d.models.contexts[before>>1]
		slot := x & 255
		lane := m.laneOf(slot)
		if lane >= int(m.used) {
			d.x, d.y, d.code = x, y, code
			before = d.escape(m)
			x, y, code = d.x, d.y, d.code
			classes[i] = before
			continue
		}
		start, size := m.interval(lane)
		x = x>>8*size + slot - start
		if x < ransLow {
			if len(code) < 2 {
				return ErrCorrupt
			}
			x = x<<16 | uint64(binary.LittleEndian.Uint16(code))
			code = code[2:]
		}
		x, y = y, x
		before = byte(m.symbols[lane>>3&1] >> (lane & 7 * 8))
		classes[i] = before
		if m.total < matureCounts || turn == 0 {
			m.count(lane)
		}
	}
	if d.failed || len(code) > 0 || x != ransLow || y != ransLow {
		return ErrCorrupt
	}
	return nil
}

// escape decodes a class that the context m does not have.
func (d *classDecoder) escape(m *classModel) byte {
	d.advance(m.lastInterval())
	high := d.part(&d.models.high)
	class := fromParts(high, d.part(&d.models.low[high]))
	m.insert(class)
	return class
}

// part decodes a part of a class after an escape.
func (d *classDecoder) part(m *classModel) byte {
	lane := m.laneOf(d.x & 255)
	d.advance(m.partInterval(lane))
	m.count(lane)
	return byte(lane)
}

// advance goes on after an interval that was decoded.
func (d *classDecoder) advance(start, size uint64) {
	x := d.x>>8*size + d.x&255 - start
	if x < ransLow {
		if len(d.code) < 2 {
			d.failed = true
			d.code = []byte{0, 0}
		}
		x = x<<16 | uint64(binary.LittleEndian.Uint16(d.code))
		d.code = d.code[2:]
	}
	d.x, d.y = d.y, x
}
