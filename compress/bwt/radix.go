package bwt

import "math/bits"

// insertionSize is up to how many words insertion sort is faster than another pass over digits.
const insertionSize = 20

// sortWords sorts words that agree from bit top on, by their bits from bit low on at least. tmp is as long as a.
func sortWords(a, tmp []uint64, top, low int) {
	switch {
	case len(a) <= insertionSize:
		insertionSort(a)
	case top > low:
		sortDigits(a, tmp, top, low, false)
	}
}

// sortDigits sorts more than insertionSize words of from by a digit of the bits below top, and then by the next ones. The result is in
// other if toOther is set, and else in from; the other slice is overwritten.
func sortDigits(from, other []uint64, top, low int, toOther bool) {
	var at [256]uint32
	var shift int
	var mask uint64
	for {
		width := min(bits.Len(uint(len(from)))-2, 8)
		shift = max(top-width, low)
		mask = uint64(1)<<(top-shift) - 1
		for _, x := range from {
			at[x>>(shift&63)&mask&0xff]++
		}
		if at[from[0]>>(shift&63)&mask&0xff] != uint32(len(from)) {
			break
		}
		// All have the same digit.
		if top = shift; top <= low {
			if toOther {
				copy(other, from)
			}
			return
		}
		at = [256]uint32{}
	}
	sum := uint32(0)
	for d := range at[:mask+1] {
		sum, at[d] = sum+at[d], sum
	}
	for _, x := range from {
		d := x >> (shift & 63) & mask & 0xff
		other[at[d]] = x
		at[d]++
	}
	start := uint32(0)
	for _, end := range at[:mask+1] {
		part := other[start:end]
		if shift > low && len(part) > insertionSize {
			sortDigits(part, from[start:end], shift, low, !toOther)
		} else {
			if shift > low {
				insertionSort(part)
			}
			if !toOther {
				copy(from[start:end], part)
			}
		}
		start = end
	}
}

func insertionSort(a []uint64) {
	for i := 1; i < len(a); i++ {
		x := a[i]
		j := i
		for j > 0 && a[j-1] > x {
			a[j] = a[j-1]
			j--
		}
		a[j] = x
	}
}
