package doubles

import "math"

const (
	findSample  = 16 << 10 // bytes that layouts are compared on
	firstHeader = 64       // bytes of the smallest header that is looked for; larger ones have twice as many, and so on
	mostHeader  = 4 << 10
	afterHeader = 4 << 10 // bytes by which headers are compared
)

// Find returns the layout with which data takes the fewest bytes, by a sample of it, and how many bytes that is for a byte of the sample.
// The header is less than an element. An element has as many bytes as divide stride, the likely length of records, or 0.
func Find(data []byte, stride int) (best Layout, share float64) {
	n := min(len(data), findSample)
	from := (len(data) - n) / 2
	least := math.Inf(1)
	for _, l := range []Layout{{Width: 8, Floats: true}, {Width: 4, Floats: true}, {Width: 1}, {Width: 2}, {Width: 4}, {Width: 8}} {
		if stride%l.Width != 0 {
			continue
		}
		for phase := range l.Width { // of the first element of the sample
			for _, l.BigEndian = range []bool{false, true}[:min(l.Width, 2)] {
				l.Header = phase
				part := data[from+phase : from+n]
				if bits := newPlan(part[:len(part)/l.Width*l.Width], l).bits; bits < least {
					best, least = l, bits
				}
			}
		}
	}
	part := data[from+best.Header : from+n]
	share = float64(len(Encode(part, Layout{Width: best.Width, Floats: best.Floats, BigEndian: best.BigEndian}))) / float64(max(n, 1))
	best.Header = (from + best.Header) % best.Width
	return best, share
}

// WithHeader returns a layout that Find returned for data with the size of the header, or a little more.
func (l Layout) WithHeader(data []byte) (best Layout) {
	phase, size := l.Header, len(data)+1<<20
	for header := 0; header <= mostHeader && header+phase <= len(data); header = max(2*header, firstHeader) {
		l.Header = header + phase
		if n := len(Encode(data[:min(len(data), mostHeader+afterHeader)], l)); n < size {
			best, size = l, n
		}
	}
	return best
}
