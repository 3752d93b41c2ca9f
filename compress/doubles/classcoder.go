package doubles

import (
	"encoding/binary"
	"slices"

	rc "orcomgo/compress/rangecoder"
)

// A class is a byte: twice the bits of a residual, plus 1 if the second predictor of the block was taken. Classes are coded by how often
// each follows the class before it in the chunk, by a range asymmetric numeral system (rANS; Duda, 2009) with two states that take turns.
const (
	maxClass      = 2*64 + 1
	frequencyBits = 10 // the frequencies after a class are 1024 together
	allFrequency  = 1 << frequencyBits
	ransLow       = 1 << 16 // the least state
	tableLimit    = 30      // of the counts of probabilities that code a table
)

// classTable says how often classes follow each other.
type classTable struct {
	classes     []byte   // that occur, ascending; each has its place here as number
	frequencies []uint16 // for each two of them, by the first one and then by the second: all 0, or allFrequency together
}

// transmit codes the table. Decoding, it reports whether it is one.
func (t *classTable) transmit(c *rc.Coder) bool {
	occurs, numbers := rc.NewProbs(2), [2]*rc.Number{rc.NewNumber(), rc.NewNumber()}
	before, known := 0, t.classes
	t.classes = nil
	for class := range byte(maxClass + 1) {
		if before = c.Adapt(rc.BitOf(slices.Contains(known, class)), &occurs[before], tableLimit); before == 1 {
			t.classes = append(t.classes, class)
		}
	}
	n := len(t.classes)
	t.frequencies = slices.Grow(t.frequencies[:0], n*n)[:n*n]
	for i := range n {
		sum := uint32(0)
		for j, f := range t.frequencies[i*n : (i+1)*n] {
			f := numbers[before].Code(c, uint32(f), tableLimit)
			before = rc.BitOf(f > 0)
			if sum += min(f, allFrequency+1); sum > allFrequency {
				return false
			}
			t.frequencies[i*n+j] = uint16(f)
		}
		if sum != 0 && sum != allFrequency {
			return false
		}
	}
	return n > 0
}

// count sets the table to that of classes.
func (t *classTable) count(classes []byte) {
	var occurs [maxClass + 1]bool
	for _, class := range classes {
		occurs[class] = true
	}
	var number [maxClass + 1]uint8
	t.classes = t.classes[:0]
	for class, yes := range occurs {
		if yes {
			number[class] = uint8(len(t.classes))
			t.classes = append(t.classes, byte(class))
		}
	}
	n := len(t.classes)
	counts := make([]uint32, n*n)
	before := 0
	for _, class := range classes {
		k := int(number[class])
		counts[before*n+k]++
		before = k
	}
	t.frequencies = take(t.frequencies, n*n)
	for i := range n {
		scale(t.frequencies[i*n:(i+1)*n], counts[i*n:(i+1)*n])
	}
}

// scale sets frequencies to counts scaled so that they are allFrequency together, if these are not all 0.
func scale(frequencies []uint16, counts []uint32) {
	total := uint64(0)
	for _, k := range counts {
		total += uint64(k)
	}
	most, sum := 0, 0
	for i, k := range counts {
		f := uint16(0)
		if k > 0 {
			f = uint16(max(uint64(k)*allFrequency/total, 1))
		}
		frequencies[i] = f
		sum += int(f)
		if f > frequencies[most] {
			most = i
		}
	}
	for total > 0 && sum != allFrequency {
		step := max(allFrequency-sum, -1)
		frequencies[most] += uint16(step)
		sum += step
		for i, f := range frequencies {
			if f > frequencies[most] {
				most = i
			}
		}
	}
}

// encodeClasses appends the code of classes: the table, and what the states leave, in the order in which a decoder reads it; each after its
// length.
func (w *workspace) encodeClasses(dst, classes []byte) []byte {
	t := &w.table
	t.count(classes)
	c := rc.EncodeTo(nil)
	t.transmit(c)
	code := c.Enc.Finish()
	dst = append(binary.AppendUvarint(dst, uint64(len(code))), code...)
	n := len(t.classes)
	w.slots = take(w.slots, n*n)
	for i := range n {
		start := uint32(0)
		for j, f := range t.frequencies[i*n : (i+1)*n] {
			w.slots[i*n+j] = start<<16 | uint32(f)
			start += uint32(f)
		}
	}
	var number [maxClass + 1]uint8
	for i, class := range t.classes {
		number[class] = uint8(i)
	}
	at := 2*len(classes) + 8
	out := slices.Grow(w.bits[:0], at)[:at]
	x, other := uint32(ransLow), uint32(ransLow)
	next := int(number[classes[len(classes)-1]])
	for i := len(classes) - 1; i >= 0; i-- {
		before := 0
		if i > 0 {
			before = int(number[classes[i-1]])
		}
		s := w.slots[before*n+next]
		start, f := s>>16, s&0xffff
		// Without a branch, since that would be hard to predict.
		large := uint32((uint64(f)<<(32-frequencyBits) - 1 - uint64(x)) >> 63)
		binary.LittleEndian.PutUint16(out[at-2:], uint16(x))
		at -= int(2 * large)
		x >>= 16 * large & 31
		q := x / f
		x, other, next = other, q<<frequencyBits+x-q*f+start, before
	}
	w.bits = out
	at -= 8
	binary.LittleEndian.PutUint64(out[at:], uint64(other)|uint64(x)<<32)
	return append(binary.AppendUvarint(dst, uint64(len(out)-at)), out[at:]...)
}

// decodeClasses fills the parts with the classes that were coded.
func (w *workspace) decodeClasses(parts [][]byte, table, code []byte) error {
	t := &w.table
	c := rc.DecodeFrom(table)
	if t.classes = nil; !t.transmit(c) || c.Dec.Err() != nil || len(code) < 8 {
		return ErrCorrupt
	}
	// For each class before and each slot: the place in the interval, the size of the interval, and the number of the class.
	n := len(t.classes)
	w.slots = take(w.slots, n<<frequencyBits)
	for i := range n {
		slots := w.slots[i<<frequencyBits:][:allFrequency]
		for j, f := range t.frequencies[i*n : (i+1)*n] {
			first := uint32(j)<<24 | uint32(f)<<12
			for k := range slots[:f] {
				slots[k] = first | uint32(k)
			}
			slots = slots[f:]
		}
		clear(slots) // if no class has followed this one
	}
	x, y := uint64(binary.LittleEndian.Uint32(code)), uint64(binary.LittleEndian.Uint32(code[4:]))
	code = code[8:]
	before := uint64(0)
	for _, classes := range parts {
		for i := range classes {
			s := uint64(w.slots[before<<frequencyBits|x&(allFrequency-1)])
			before = s >> 24
			x = x>>frequencyBits*(s>>12&0xfff) + s&0xfff
			if x < ransLow {
				if len(code) < 2 {
					return ErrCorrupt
				}
				x = x<<16 | uint64(binary.LittleEndian.Uint16(code))
				code = code[2:]
			}
			x, y = y, x
			classes[i] = t.classes[before]
		}
	}
	if len(code) > 0 || x != ransLow || y != ransLow {
		return ErrCorrupt
	}
	return nil
}
