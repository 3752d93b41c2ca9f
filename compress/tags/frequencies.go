package tags

import "orcomgo/compress/rangecoder"

// frequencies code bytes by how often they occurred, a byte in one step.
type frequencies struct {
	counts [256]uint32
	last   [257]uint16 // of the parts of 65536 that bytes have: the last point before each
	first  [1024]byte  // by the upper ten bits of a point: the byte that has the first point of these
	left   int         // values until starts are computed again
	next   int         // and values then
}

const (
	countOnce = 32      // what a value adds to its count, which is 1 at first
	mostCount = 1 << 20 // if all counts together are more, they are halved
	// Starts are computed after firstStep values, after twice as many then, and so on up to lastStep.
	firstStep, lastStep = 16, 4096
)

// fewValues are the sums of counts below which a count is that of 1, 2, 4 and 8 bytes on either side as well.
var fewValues = [...]uint32{1 << 19, 1 << 17, 1 << 14, 1 << 11}

func newFrequencies() *frequencies {
	f := &frequencies{next: firstStep}
	for i := range f.counts {
		f.counts[i] = 1
	}
	f.compute()
	return f
}

// compute sets starts by counts: each byte has 1, and its share of what is left. While there are few values, a count is that of bytes around
// as well.
func (f *frequencies) compute() {
	var below [257]uint32 // sums of the counts of smaller bytes
	for v, n := range f.counts {
		below[v+1] = below[v] + n
	}
	wide, total := 0, below[256]
	for wide < len(fewValues) && total < fewValues[wide] {
		wide++
	}
	wide = 1 << wide >> 1
	around := func(v int) uint32 { return below[min(v+wide+1, 256)] - below[max(v-wide, 0)] }
	all := uint32(0)
	for v := range f.counts {
		all += around(v)
	}
	share := uint64(65536-256) << 16 / uint64(all)
	sum, point := uint32(0), 0
	for v := range f.counts {
		start := v + int(uint64(sum)*share>>16)
		for ; point<<6 < start; point++ {
			f.first[point] = byte(v - 1)
		}
		f.last[v] = uint16(start - 1)
		sum += around(v)
	}
	for ; point < len(f.first); point++ {
		f.first[point] = 255
	}
	f.last[256] = 65535
	if total > mostCount {
		for v, n := range f.counts {
			f.counts[v] = n - n>>1
		}
	}
	f.left, f.next = f.next, min(2*f.next, lastStep)
}

// part returns the first point of a byte, and how many it has.
func (f *frequencies) part(v byte) (start, width uint32) {
	return uint32(f.last[v] + 1), uint32(f.last[int(v)+1] - f.last[v])
}

// code codes a byte.
func (f *frequencies) code(c *rangecoder.Coder, v byte) byte {
	if c.Dec != nil {
		p := c.Dec.Point()
		for v = f.first[p>>6&1023]; uint32(f.last[int(v)+1]) < p; v++ {
		}
		c.Dec.DecodePart(f.part(v))
	} else {
		c.Enc.EncodePart(f.part(v))
	}
	f.counts[v] += countOnce
	if f.left--; f.left == 0 {
		f.compute()
	}
	return v
}
