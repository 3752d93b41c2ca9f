package general

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"orcomgo/compress/numbers"
)

// MaxStride is the largest number of bytes of a row.
const MaxStride = 4096

const (
	minStride     = 2
	minRecords    = 16
	strideSample  = 1 << 14 // bytes that strides are compared on
	strideChoices = 4       // strides that are returned
)

// Strides returns the most likely lengths of records, the likeliest one first: those for which bytes are most often predicted by their
// place in the record. Shorter ones come before longer ones that are hardly better.
func Strides(data []byte) []int {
	sample, from := middle(data, strideSample)
	sample = sample[from:]
	type choice struct {
		stride int
		cost   float64
	}
	// Matches at the distance are quickly counted; places are looked at for the distances with the most.
	var matches []choice
	for s := minStride; s <= min(MaxStride, len(sample)/minRecords); s++ {
		matches = append(matches, choice{s, -float64(equalBytes(sample, sample[s:])) / float64(len(sample)-s)})
	}
	byCost := func(a, b choice) int { return cmp.Or(cmp.Compare(a.cost, b.cost), a.stride-b.stride) }
	slices.SortFunc(matches, byCost)
	var choices []choice
	for _, c := range matches[:min(48, len(matches))] {
		choices = append(choices, choice{c.stride, placeEntropy(sample, c.stride)})
	}
	slices.SortFunc(choices, byCost)
	var list []int
	for _, c := range choices[:min(strideChoices, len(choices))] {
		list = append(list, c.stride)
	}
	return list
}

// middle returns data up to the end of its middle n bytes, and where these begin.
func middle(data []byte, n int) (part []byte, from int) {
	from = max(len(data)-n, 0) / 2
	return data[:min(from+n, len(data))], from
}

// equalBytes returns at how many places a and b have the same byte. b is not longer than a.
func equalBytes(a, b []byte) int {
	const low7 = 0x7f7f7f7f7f7f7f7f
	n := len(b)
	for ; len(b) >= 8; a, b = a[8:], b[8:] {
		x := binary.LittleEndian.Uint64(a) ^ binary.LittleEndian.Uint64(b)
		n -= bits.OnesCount64((x&low7 + low7 | x) &^ low7) // the highest bit of each byte that is not 0
	}
	for i, c := range b {
		if a[i] != c {
			n--
		}
	}
	return n
}

// placeEntropy returns the bits of a byte if it is coded by how often it occurred at its place in records of s bytes.
func placeEntropy(sample []byte, s int) float64 {
	var counts [256]float64
	sum := 0.0
	for at := range s {
		clear(counts[:])
		n, cost := 0.0, 0.0
		for i := at; i < len(sample); i += s {
			b := sample[i]
			cost -= numbers.Log2((counts[b] + 0.05) / (n + 12.8))
			counts[b]++
			n++
		}
		sum += cost
	}
	return sum / float64(len(sample))
}

// setting says how bytes are coded.
type setting struct {
	stride int // bytes of a row, or 0
	least  int // bytes that begin a repeat: usualBytes or leastBytes
}

// choose returns the setting with which the beginning and the middle of data take the fewest bytes. Text has no rows.
func choose(data []byte) setting {
	best := setting{0, usualBytes}
	part, from := middle(data, strideSample/2)
	if isText(part[from:]) {
		return best
	}
	size := func(s setting) int {
		return len(encode(data[:min(from, strideSample/4)], 0, s)) + len(encode(part, from, s))
	}
	least := size(best)
	strides := Strides(data)
	for _, stride := range strides[:min(1, len(strides))] {
		for _, s := range []setting{{stride, usualBytes}, {stride, leastBytes}} {
			if n := size(s); n < least {
				best, least = s, n
			}
		}
	}
	return best
}

// isText reports whether at most one in sixteen bytes is a control character other than those of text, or no ASCII.
func isText(data []byte) bool {
	odd := 0
	for _, b := range data {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' || b >= 127 {
			odd++
		}
	}
	return odd*16 <= len(data)
}
