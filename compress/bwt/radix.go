package bwt

import "math/bits"

// insertionSize is up to how many words insertion sort is faster than another pass over digits.
const insertionSize = 24

// sortWords sorts words that agree from bit top on, by their bits from bit low on at least. tmp is as long as a.
func sortWords(a, tmp []uint64, top, low int) {
	for len(a) > insertionSize {
		width := min(bits.Len(uint(len(a)))-2, 8)
		shift := max(top-width, low)
		if top <= low {
			return
		}
		var end [256]uint32
		mask := uint64(1)<<(top-shift) - 1
		for _, x := range a {
			end[x>>shift&mask]++
		}
		top = shift
		if end[a[0]>>shift&mask] == uint32(len(a)) {
			continue // all have the same digit
		}
		var at [256]uint32
		sum := uint32(0)
		for d := range mask + 1 {
			at[d] = sum
			sum += end[d]
			end[d] = sum
		}
		for _, x := range a {
			d := x >> shift & mask
			tmp[at[d]] = x
			at[d]++
		}
		copy(a, tmp[:len(a)])
		start := uint32(0)
		for d := range mask + 1 {
			if e := end[d]; e-start > 1 {
				sortWords(a[start:e], tmp, top, low)
			}
			start = end[d]
		}
		return
	}
	insertionSort(a)
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
