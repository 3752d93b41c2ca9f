package quals

// longHistory is the state that the contexts of the eight models of Max are made from.
type longHistory struct {
	at    [manyModels]uint32 // where in the slots each model's context of the next symbol starts
	shift uint8              // contexts are the upper bits of a hash: 64 less their log2
	node  uint8              // log2 of the slots of a context
	class uint32             // of the next base

	top        uint32    // the largest symbol
	q          [6]uint32 // symbols before, the last first
	pos        uint32    // place in the read
	run        uint32    // how often the last symbol was repeated
	runBefore  uint32    // the same for the run before
	symBefore  uint32    // the symbol of the run before
	fast, slow uint32    // running means (weights 1/4 and 1/16), in 1/256
	delta      uint32    // sum of the differences between neighbours
	tops, seen uint32    // how many symbols were the largest, and how many there were; halved at 256
}

// reset starts a read, of which the class of the first base is given as for next. The running means start at the best quality, the last
// symbol is 0.
func (h *longHistory) reset(k kind, class uint32) {
	*h = longHistory{shift: h.shift, node: h.node, class: class, top: h.top, fast: h.top << 8, slow: h.top << 8}
	h.contexts(k)
}

// next appends symbol s and computes the contexts of the one after it. class is that of the base of the latter (runsOf); only the kind
// given uses it.
func (h *longHistory) next(s uint32, k kind, class uint32) {
	h.class = class
	if last := h.q[0]; s != last {
		h.symBefore, h.runBefore, h.run = last, h.run, 0
		if d := int32(s) - int32(last); h.pos > 0 {
			h.delta += uint32(max(d, -d))
		}
	} else {
		h.run++
	}
	if s == h.top {
		h.tops++
	}
	if h.seen++; h.seen == 256 {
		h.seen, h.tops = 128, h.tops/2
	}
	h.fast = uint32(int32(h.fast) + (int32(s<<8)-int32(h.fast))>>2)
	h.slow = uint32(int32(h.slow) + (int32(s<<8)-int32(h.slow))>>4)
	copy(h.q[1:], h.q[:5])
	h.q[0] = s
	h.pos++
	h.contexts(k)
}

// contexts computes the contexts, in the order of forward selection, the best first.
func (h *longHistory) contexts(k kind) {
	q2, q3 := h.q[1], h.q[2]
	best := max(q2, q3)
	spread := uint32(rootOf[min(h.delta, uint32(len(rootOf)-1))])
	run, runBefore := uint32(octave(h.run)), uint32(octave(h.runBefore))
	share := h.tops * inverseOf[h.seen+1] >> 12
	eighth, pos := min(h.pos>>3, 31), min(h.pos, 511)
	if k == given {
		in, base := h.class&(1<<runBits-1), h.class>>runBits
		h.set(0, in, share, 0, 0)
		h.set(1, in, base, 0, 0)
		h.set(2, in, h.slow>>11, 0, 0)
		h.set(3, in, base, h.slow>>11, 0)
		h.set(4, in, q2, 0, 0)
		h.set(5, in, best>>1, h.slow>>12, 0)
		h.set(6, in, run, h.symBefore, 0)
		h.set(7, pos, h.slow>>10, 0, 0)
		return
	}
	if k == stepped {
		h.set(0, run, h.symBefore, spread, 0)
		h.set(1, h.fast>>6, eighth, 0, 0)
		h.set(2, pos, spread, 0, 0)
		h.set(3, share, eighth, 0, 0)
		h.set(4, q2, q3, h.q[3], spread)
		h.set(5, h.slow>>6, spread, 0, 0)
		h.set(6, q2, q3, h.q[3], h.slow>>8)
		h.set(7, pos, h.slow>>10, 0, 0)
		return
	}
	same := uint32(0)
	if q2 == q3 {
		same = 1
	}
	h.set(0, pos, h.slow>>10, 0, 0)
	h.set(1, run, h.symBefore, runBefore, 0)
	h.set(2, share, eighth, 0, 0)
	h.set(3, best, same, min(h.delta>>3, 7), 0)
	h.set(4, best, h.slow>>9, eighth, 0)
	h.set(5, run, h.symBefore, spread, 0)
	h.set(6, q2, max(max(q3, h.q[3]), max(h.q[4], h.q[5])), 0, 0)
	h.set(7, pos, spread, 0, 0)
}

// set computes context i from the last symbol and four other parts. The last symbol is part of
// all contexts, because the tree of decisions depends on it.
func (h *longHistory) set(i int, a, b, c, d uint32) {
	x := (uint64(h.q[0])|uint64(a)<<8|uint64(b)<<24|uint64(c)<<40)*hashFactor ^ uint64(d)*0xD6E8FEB86659FD93
	x ^= x >> 29
	size := uint32(1) << (64 - h.shift + h.node)
	h.at[i] = uint32(x*hashFactor>>h.shift)<<h.node + uint32(i)*size
}
