package doubles

import (
	"encoding/binary"
	"math"
)

const (
	mostLags     = 1 << 12 // that are compared
	shortLag     = 48
	runLength    = 8  // values of a window or a sample that follow each other
	roughWindows = 8  // of eight values each, in which all lags are compared roughly; a multiple of 4
	topLags      = 4  // short ones, and as many long ones, that are compared by what they leave
	topSamples   = 96 // values that these are compared on, or a few more
)

// frequentLags returns the lag from 2 to shortLag, and the one from there to most, that seem to leave the fewest bits. Lags are compared by
// the differences of each value to the one before, of which only the highest bits matter: these are similar also where rows differ by a
// constant, or by a factor.
func (w *workspace) frequentLags(v *values, most int) (lags []int) {
	n := len(v.u)
	if most < 2 || n-most < 2*runLength {
		return nil
	}
	rough := take(&w.rough, n)
	v.roughly(rough)
	w.lags.compare(rough, most)
	step := max((n-most-2)/topSamples, 1) | 1
	for _, limits := range [2][2]int{{2, min(shortLag, most)}, {shortLag + 1, most}} {
		best, least := 0, 1<<62
		top, many := w.lags.top(limits[0], limits[1])
		for _, lag := range top[:many] {
			sum := 0
			for i := most + 2; i < n; i += step {
				sum += cost(v.u[i], v.u[i-lag])
			}
			if sum < least {
				best, least = lag, sum
			}
		}
		if best > 0 {
			lags = append(lags, best)
		}
	}
	return lags
}

// lagCounts are, for each lag, how many values differ from the one so far before.
type lagCounts [mostLags + 1]uint16

// compare sets c for the lags from 2 to most by windows all over the chunk.
func (c *lagCounts) compare(rough []byte, most int) {
	out := c[:most+1]
	clear(out)
	place, room := uint32(0), uint64(len(rough)-most-runLength)
	for range roughWindows / 4 {
		var words [4]uint64
		var before [4][]byte // what each is compared with, from lag most on
		for i := range words {
			at := int(uint64(place) * room >> 32)
			place += 0x9e3779b9 // a fraction of the golden ratio: at no regular distance
			before[i] = rough[at:][:most+runLength]
			words[i] = binary.LittleEndian.Uint64(before[i][most:])
		}
		x0, x1, x2, x3 := words[0], words[1], words[2], words[3]
		b0, b1, b2, b3 := before[0], before[1], before[2], before[3]
		for at := range most - 1 { // of lag most - at
			y0, y1 := binary.LittleEndian.Uint64(b0[at:at+8]), binary.LittleEndian.Uint64(b1[at:at+8])
			y2, y3 := binary.LittleEndian.Uint64(b2[at:at+8]), binary.LittleEndian.Uint64(b3[at:at+8])
			sum := differ(x0, y0) + differ(x1, y1) + differ(x2, y2) + differ(x3, y3)
			out[most-at] += uint16(sum * lowBytes >> 56)
		}
	}
}

// differ has 1 in the lanes of a byte in which x and y differ.
func differ(x, y uint64) uint64 {
	x ^= y
	return (x&^highBits + ^uint64(highBits) | x) >> 7 & lowBytes
}

// top returns the lags from first to last of the smallest counts, in their order, and how many these are.
func (c *lagCounts) top(first, last int) (list [topLags]int, n int) {
	for lag := first; lag <= last; lag++ {
		at := n
		if n == topLags {
			if at--; c[lag] >= c[list[at]] {
				continue
			}
		} else {
			n++
		}
		for ; at > 0 && c[list[at-1]] > c[lag]; at-- {
			list[at] = list[at-1]
		}
		list[at] = lag
	}
	return list, n
}

// roughly sets the elements of rough to some of the highest bits of values less those before.
func (v *values) roughly(rough []byte) {
	if v.mode != modeBits {
		last := byte(0)
		for i, k := range v.u[:len(rough)] {
			b := byte(math.Float32bits(float32(int64(k))) >> 19)
			rough[i] = b - last
			last = b
		}
		return
	}
	shift := 48 // to four bits of the exponent and four of the mantissa
	if v.width == 4 {
		shift = 19
	}
	last := uint64(0)
	for i, o := range v.u[:len(rough)] {
		rough[i] = byte((o - last) >> shift)
		last = o
	}
}
