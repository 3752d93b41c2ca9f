package records

import (
	"math"
	"slices"

	"orcomgo/compress/numbers"
)

const (
	minStride     = 2
	maxStride     = 4096 // bytes of a record
	minRecords    = 16
	strideSample  = 1 << 16 // bytes that strides are compared on
	strideChoices = 4       // strides whose fields are found
)

// Estimate returns about how many bits Encode takes for a byte of data, and false if data does not seem to have records. It is much
// faster than Encode, and too high where fields follow from other fields.
func Estimate(data []byte) (bits float64, ok bool) {
	stride, _, _, bits := findStride(data)
	return bits, stride > 0
}

// findStride returns the length of the records that data seems to consist of, how many bytes are before the first record, the fields
// of a record, and about how many bits a byte costs. It returns the stride 0 if there are no records.
func findStride(data []byte) (stride, header int, fields []field, bits float64) {
	best := math.Inf(1)
	for _, s := range strides(data) {
		h := len(data) % s
		f, cost := split(data[h:], s)
		if cost /= float64(s); cost < best {
			best, stride, header, fields = cost, s, h, f
		}
	}
	return stride, header, fields, best
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
		n := 0
		for i, b := range sample[s:] {
			if b == sample[i] {
				n++
			}
		}
		matches = append(matches, choice{s, -float64(n) / float64(len(sample)-s)})
	}
	byCost := func(a, b choice) int {
		switch {
		case a.cost < b.cost:
			return -1
		case a.cost > b.cost:
			return 1
		}
		return a.stride - b.stride
	}
	slices.SortFunc(matches, byCost)
	var choices []choice
	for _, c := range matches[:min(48, len(matches))] {
		choices = append(choices, choice{c.stride, placeEntropy(sample, c.stride)})
	}
	slices.SortFunc(choices, byCost)
	var list []int
	for _, c := range choices {
		if len(list) < strideChoices {
			list = append(list, c.stride)
		}
	}
	return list
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
