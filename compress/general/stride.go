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
	leastSample   = 1 << 12 // bytes that strides are compared on
	mostSample    = 1 << 14
	strideChoices = 24 // strides of which places are looked at
)

// stride returns the most likely length of records, that for which bytes are most often predicted by their place in the record, or 0 if
// there are none. A shorter one comes before longer ones that are no better.
func stride(data []byte) int {
	sample, from := middle(data, sampleOf(data))
	sample = sample[from:]
	type choice struct {
		stride int
		cost   float64
	}
	// Matches at the distance are quickly counted; places are looked at for the distances with the most.
	var choices []choice
	for s := minStride; s <= min(MaxStride, len(sample)/minRecords); s++ {
		choices = append(choices, choice{s, -float64(equalBytes(sample, sample[s:])) / float64(len(sample)-s)})
	}
	byCost := func(a, b choice) int { return cmp.Or(cmp.Compare(a.cost, b.cost), a.stride-b.stride) }
	slices.SortFunc(choices, byCost)
	choices = choices[:min(strideChoices, len(choices))]
	for i, c := range choices {
		choices[i].cost = placeEntropy(sample, c.stride)
	}
	if len(choices) == 0 {
		return 0
	}
	return slices.MinFunc(choices, byCost).stride
}

// sampleOf returns how many bytes of data strides are compared on.
func sampleOf(data []byte) int { return min(mostSample, max(len(data)/8, leastSample)) }

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

// Settings say how bytes are coded.
type Settings struct {
	// Stride is the most likely length of records, or 0 of text and of what has none.
	Stride int

	stride int // bytes of a row, or 0
	least  int // bytes that begin a repeat: usualBytes or leastBytes
}

// Choose returns the settings with which the beginning and the middle of data take the fewest bytes. Text has no rows.
func Choose(data []byte) Settings {
	best := Settings{least: usualBytes}
	n := sampleOf(data) / 2
	part, from := middle(data, n)
	if isText(part[from:]) {
		return best
	}
	size := func(s Settings) int {
		return len(s.encode(data[:min(from, n/2)], 0)) + len(s.encode(part, from))
	}
	least := size(best)
	if best.Stride = stride(data); best.Stride > 0 {
		for _, bytes := range []int{usualBytes, leastBytes} {
			s := Settings{best.Stride, best.Stride, bytes}
			if n := size(s); n < least {
				best, least = s, n
			}
		}
	}
	return best
}

// Share returns about how many bytes Encode takes for a byte of text, by a sample of its middle, which may repeat what is before it.
func (s Settings) Share(text []byte) float64 {
	part, from := middle(text, sampleOf(text))
	return float64(len(s.encode(part, from))) / float64(max(len(part)-from, 1))
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
