package quals

import "orcomgo/compress/ans"

// kind is which features a model has.
type kind uint8

const (
	smooth  kind = iota // for alphabets of many values
	stepped             // for alphabets of few values
	given               // for qualities that are given the bases
)

// numLanes is how many reads are coded side by side. All predict, then all are coded, then all learn: so a processor works on many
// decisions at once.
const numLanes = ans.Lanes

// histories are what contexts are made from: by lane, the symbols before the next one in its read. Symbols are indices into the sorted
// alphabet; larger is better.
type histories struct {
	last, second, third, fourth [numLanes]uint32 // the symbols before
	place                       [numLanes]uint32 // in the read
	run                         [numLanes]uint32 // how often the last symbol was repeated
	before                      [numLanes]uint32 // the symbol before that run
	slow                        [numLanes]uint32 // running mean of the symbols (weight 1/16), in 1/256
	share                       [numLanes]uint32 // running share of the largest symbol (weight 1/32), in 1/4096
	delta                       [numLanes]uint32 // sum of the differences between neighbours
	tops                        [numLanes]uint32 // how often the symbol was the largest one
	from                        [numLanes]uint32 // the place where the piece begins
}

// reset starts a piece at a place of a read. The running mean starts at the best quality, the symbols before are 0.
func (h *histories) reset(l int, place, top uint32) {
	h.last[l], h.second[l], h.third[l], h.fourth[l] = 0, 0, 0, 0
	h.place[l], h.run[l], h.before[l] = place, 0, 0
	h.slow[l], h.share[l], h.delta[l] = top<<8, 0, 0
	h.tops[l], h.from[l] = 0, place
}

// append appends a symbol to the read of each lane; top is the largest symbol.
func (h *histories) append(symbols *[numLanes]uint8, top uint32) {
	for l, symbol := range symbols {
		s := uint32(symbol)
		if q := h.last[l]; s == q {
			h.run[l]++
		} else {
			h.run[l], h.before[l] = 0, q
			if h.place[l] > 0 {
				h.delta[l] += max(s, q) - min(s, q)
			}
		}
		h.slow[l] += uint32(int32(s<<8-h.slow[l]) >> 4)
		best := uint32(0)
		if s == top {
			best = 1 << 12
			h.tops[l]++
		}
		h.share[l] += uint32(int32(best-h.share[l]) >> 5)
		h.fourth[l], h.third[l], h.second[l], h.last[l] = h.third[l], h.second[l], h.last[l], s
		h.place[l]++
	}
}

// contexts computes where the lines of the next symbols start; classes are those of their bases (see runsOf). Contexts were chosen by
// forward selection on reads of many instruments. All include the last symbol, because ranks depend on it.
func (m *model) contexts(h *histories, classes *[numLanes]uint16, at *[numFeatures][numLanes]uint32) {
	shift := 32 - m.bits
	for l := range numLanes {
		last, place := h.last[l], min(h.place[l], 511)
		var c [numFeatures]uint32
		switch m.kind {
		case smooth:
			c[0] = h.slow[l]>>8<<8 | place<<20
			c[1] = min(h.run[l], 15)<<8 | h.slow[l]>>9<<16
			c[2] = h.share[l]>>9<<8 | place>>3<<16
			c[3] = h.second[l]<<8 | max(h.third[l], h.fourth[l])<<16
		case stepped:
			spread := min(halfOctaves(uint64(4*h.delta[l]+1)), 31)
			c[0] = h.slow[l]>>6<<8 | place<<20
			c[1] = min(h.run[l], 31)<<8 | h.before[l]<<13 | spread<<18
			c[2] = h.share[l]>>8<<8 | place>>3<<16
			c[3] = h.second[l]<<8 | h.third[l]<<12 | h.fourth[l]<<16 | spread<<20
		default:
			class := uint32(classes[l])
			in := class & (1<<runBits - 1) << 8
			c[0] = in | min(halfOctaves(uint64(h.run[l]+1)), 15)<<16 | h.share[l]>>10<<20
			c[1] = class << 8
			c[2] = in | h.slow[l]>>11<<16
			c[3] = in | 64*h.tops[l]/(h.place[l]-h.from[l]+1)<<16
		}
		for f := range c {
			x := (last | c[f]) * 0x9E3779B1
			x = (x ^ x>>15) * 0x85EBCA77
			at[f][l] = m.lineIn(0, uint32(f), x>>shift) * lineBytes
		}
		at[lastFeature][l] = m.lineIn(0, lastFeature, last<<lessBits) * lineBytes
	}
}
