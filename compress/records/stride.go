package records

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"orcomgo/compress/numbers"
	"orcomgo/internal/tasks"
)

const (
	minStride     = 2
	maxStride     = 4096 // bytes of a record
	minRecords    = 16
	strideSample  = 1 << 15 // bytes that strides are compared on
	strideChoices = 4       // strides whose fields are found
)

// Layout is what records data consists of.
type Layout struct {
	// Bits is about how many bits Encode takes for a byte of the data: too many where fields follow from other fields.
	Bits float64

	stride, header int // bytes of a record, and before the first one
	fields         []field
}

// Find finds the records of data, and reports false if it does not seem to have any. It is much faster than Encode. The pool is as there.
func Find(data []byte, pool *tasks.Pool) (*Layout, bool) {
	list := strides(data)
	tried, costs := make([][]field, len(list)), make([]float64, len(list))
	pool.Each(len(list), func(i int) { tried[i], costs[i] = split(data[len(data)%list[i]:], list[i]) })
	l := &Layout{Bits: math.Inf(1)}
	for i, s := range list {
		if cost := costs[i] / float64(s); cost < l.Bits {
			*l = Layout{cost, s, len(data) % s, tried[i]}
		}
	}
	return l, l.stride > 0
}

// strides returns the most likely lengths of records: those for which bytes are most often predicted by their place in the record.
// Shorter ones come before longer ones that are hardly better.
func strides(data []byte) []int {
	sample := data
	if len(data) > strideSample {
		from := (len(data) - strideSample) / 2
		sample = data[from : from+strideSample]
	}
	type choice struct {
		stride int
		cost   float64
	}
	// Matches at the distance are quickly counted; places are looked at for the distances with the most.
	var matches []choice
	for s := minStride; s <= min(maxStride, len(sample)/minRecords); s++ {
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
