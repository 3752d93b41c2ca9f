package doubles

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	mostLags   = 1 << 12 // that are compared, in chunks of up to four times as many values
	commonLag  = 512     // the longest one in larger chunks
	shortLag   = 48
	lagWindows = 8 // of runLength values each, in which all lags are compared
)

// longestLag returns the longest lag that is looked for in a chunk of n values.
func longestLag(n int) int {
	if n > 4*mostLags {
		return commonLag
	}
	return n / 4
}

// frequentLags returns the lag from 2 to shortLag, and the one from there on, by which values seem to repeat most. Lags are compared by the
// differences of each value to the one before, of which only the highest bits matter: these are similar also where rows differ by a
// constant, or by a factor.
func (v *values) frequentLags() (lags []int) {
	n := len(v.own())
	most := longestLag(n)
	if most < 2 || n-most < 2*runLength {
		return nil
	}
	rough := make([]byte, n)
	v.roughly(rough)
	var alike [mostLags + 1]uint8 // bytes that are alike in all windows
	place, room := uint32(0), uint64(n-most-runLength)
	for range lagWindows {
		at := most + int(uint64(place)*room>>32)
		place += 0x9e3779b9 // a fraction of the golden ratio: at no regular distance
		word := binary.LittleEndian.Uint64(rough[at:])
		before := rough[at-most:]
		for lag := 2; lag <= most; lag++ {
			x := word ^ binary.LittleEndian.Uint64(before[most-lag:])
			alike[lag] += uint8(bits.OnesCount64(^(x&lowBits + lowBits | x | lowBits)))
		}
	}
	for _, limits := range [2][2]int{{2, min(shortLag, most)}, {shortLag + 1, most}} {
		best := 0
		for lag := limits[0]; lag <= limits[1]; lag++ {
			if best == 0 || alike[lag] > alike[best] {
				best = lag
			}
		}
		if best > 0 {
			lags = append(lags, best)
		}
	}
	return lags
}

const lowBits = 0x7f7f7f7f7f7f7f7f // of the bytes of a word

// roughly sets the elements of rough to some of the highest bits of values less those before.
func (v *values) roughly(rough []byte) {
	if v.mode != modeBits {
		last := byte(0)
		for i, k := range v.own() {
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
	for i, o := range v.own() {
		rough[i] = byte((o - last) >> shift)
		last = o
	}
}
