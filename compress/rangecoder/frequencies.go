package rangecoder

// Frequencies are the model of a byte by how often each occurred. A byte is coded in one step.
type Frequencies struct {
	counts [256]uint32
	last   [257]uint16 // of the parts of 65536 that bytes have: the last point before each
	first  [256]byte   // by the upper eight bits of a point: the byte that has the first point of these
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

// NewFrequencies returns n models that have seen no byte.
func NewFrequencies(n int) []Frequencies {
	all := make([]Frequencies, n)
	f := &all[0]
	f.next = firstStep
	for i := range f.counts {
		f.counts[i] = 1
	}
	f.compute()
	for i := range all[1:] {
		all[i+1] = *f
	}
	return all
}

// compute sets starts by counts: each byte has 1, and its share of what is left. While there are few values, a count is that of
// bytes around as well.
func (f *Frequencies) compute() {
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
		for ; point<<8 < start; point++ {
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
func (f *Frequencies) part(v byte) (start, width uint32) {
	return uint32(f.last[v] + 1), uint32(f.last[int(v)+1] - f.last[v])
}

// at returns the byte that has a point.
func (f *Frequencies) at(point uint32) byte {
	v := f.first[point>>8&255]
	for uint32(f.last[int(v)+1]) < point {
		v++
	}
	return v
}

func (f *Frequencies) add(v byte) {
	f.counts[v] += countOnce
	if f.left--; f.left == 0 {
		f.compute()
	}
}

// EncodeBytes writes values in turn to two streams, values[i] by all[by[i]]: a processor codes one while it waits for the other.
func EncodeBytes(e *[2]Encoder, all []Frequencies, by, values []byte) {
	for i, v := range values {
		f := &all[by[i]]
		e[i&1].EncodePart(f.part(v))
		f.add(v)
	}
}

// DecodeBytes reads what EncodeBytes wrote.
func DecodeBytes(d *[2]Decoder, all []Frequencies, by, values []byte) {
	for i := range values {
		f, d := &all[by[i]], &d[i&1]
		v := f.at(d.Point())
		d.DecodePart(f.part(v))
		f.add(v)
		values[i] = v
	}
}

// Frequent codes v by how often it occurred.
func (c *Coder) Frequent(v byte, f *Frequencies) byte {
	if c.Dec != nil {
		v = f.at(c.Dec.Point())
		c.Dec.DecodePart(f.part(v))
	} else {
		c.Enc.EncodePart(f.part(v))
	}
	f.add(v)
	return v
}
