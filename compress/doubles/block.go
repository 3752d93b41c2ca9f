package doubles

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/fse"

	"orcomgo/compress/numbers"
	rc "orcomgo/compress/rangecoder"
)

const (
	blockValues = 1 << 14
	chunkValues = 1 << 19
	// Classes of chunks of fewer values are coded by adaptive models, which are slower, and their blocks are small.
	fewValues      = 1 << 14
	fewBlockValues = 1 << 10
)

// A class of a residual is the number of its bits, and 128 if the second predictor of the block was taken.
const secondPredictor = 128

// How the classes of a block are coded.
const (
	codingConstant = iota // all are the byte that follows
	codingFSE
	codingRaw
	codingAdaptive
)

// bestPredictors are those that are tried with every other one.
const bestPredictors = 3

// block is a part of a chunk: from value first to before last.
type block struct {
	pair [2]predictor
	xor  bool
}

// residual returns what is coded for a value given its prediction.
func residual(actual, predicted uint64, xor bool) uint64 {
	if xor {
		return actual ^ predicted
	}
	d := int64(actual - predicted)
	return uint64(d<<1 ^ d>>63)
}

// restore is the inverse of residual.
func restore(z, predicted uint64, xor bool) uint64 {
	if xor {
		return predicted ^ z
	}
	return predicted + (z>>1 ^ -(z & 1))
}

// choosePair returns the predictors of a block that leave the fewest bits in a sample of it, with the choice between them counted.
func choosePair(v *values, list []predictor, first, last int) (a, b int) {
	const run = 8
	samples := 128
	if len(v.x) < fewValues {
		samples = last - first
	}
	var lengths [maxPredictors][]uint8
	for j := range lengths {
		lengths[j] = make([]uint8, samples)
	}
	n := 0
	step := max((last-first)*run/max(samples, 1), run)
	for at := first; at < last && n < samples; at += step {
		for i := at; i < min(at+run, last) && n < samples; i++ {
			actual := v.actual(i)
			for j, p := range list {
				lengths[j][n] = uint8(cost(actual, v.predict(p, i)))
			}
			n++
		}
	}
	// Pairs of one of the best predictors and any other one.
	order := make([]int, len(list))
	sums := make([]int, len(list))
	for i := range order {
		order[i] = i
		for _, x := range lengths[i][:n] {
			sums[i] += int(x)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return sums[i] - sums[j] })
	best := 1 << 62
	for _, i := range order[:min(len(order), bestPredictors)] {
		for j := range list {
			sum, second := 0, 0
			other := lengths[j][:n]
			for k, x := range lengths[i][:n] {
				y := other[k]
				if y < x {
					second++
				}
				sum += int(min(x, y))
			}
			sum *= 100
			if second > 0 && second < n {
				f := float64(second) / float64(n)
				h := -float64(f*numbers.Log2(f)) - float64((1-f)*numbers.Log2(1-f))
				sum += int(float64(h * float64(100*n)))
			}
			if sum < best {
				best, a, b = sum, i, j
			}
		}
	}
	if second := lengths[b]; a != b {
		// A pair whose second predictor is never better is a single one.
		better := false
		for k, x := range lengths[a][:n] {
			better = better || second[k] < x
		}
		if !better {
			b = a
		}
	}
	return a, b
}

// bitWriter appends numbers of bits, the lowest bit first.
type bitWriter struct {
	out []byte
	acc uint64
	n   int
}

func (w *bitWriter) put(v uint64, n int) {
	w.acc |= v << (w.n & 63)
	if w.n+n < 64 {
		w.n += n
		return
	}
	w.out = binary.LittleEndian.AppendUint64(w.out, w.acc)
	w.acc = v >> (64 - w.n)
	w.n += n - 64
}

func (w *bitWriter) finish() []byte {
	for ; w.n > 0; w.n -= 8 {
		w.out = append(w.out, byte(w.acc))
		w.acc >>= 8
	}
	return w.out
}

// bitReader is the inverse of bitWriter. Past the end there are zeros.
type bitReader struct {
	b   []byte // with padding of readerPadding bytes
	bit int
}

const readerPadding = 16

// get returns n bits, 0 to 63. It fails silently past the end; see over.
func (r *bitReader) get(n int) uint64 {
	at := min(r.bit>>3, len(r.b)-readerPadding)
	shift := r.bit & 7
	v := binary.LittleEndian.Uint64(r.b[at:]) >> shift
	v |= uint64(r.b[at+8]) << (63 - shift) << 1
	r.bit += n
	return v & (1<<(n&63) - 1)
}

// scratch is memory for blocks.
type scratch struct {
	classes [blockValues]byte
	first   [blockValues]uint64 // predictions of the first predictor
	second  [blockValues]uint64
	floats  [blockValues]float64
	ints    [blockValues]int64
	bits    []byte // that a bitWriter wrote or a bitReader reads
	fse     fse.Scratch
}

// leftOver is what a block leaves after prediction: a class for each value, and the bits of the residuals, without the highest ones.
type leftOver struct {
	classes, bits []byte
	xor           bool // residuals are exclusive ors
}

// residuals returns what the values from first to before last leave, predicted by the better one of p and q, which may be the same. It is
// valid until the next call.
func (s *scratch) residuals(v *values, p, q predictor, first, last int) leftOver {
	classes := s.classes[:last-first]
	w := bitWriter{out: s.bits[:0]}
	n := last - first
	actual := v.o
	if v.mode != modeBits {
		actual = nil
	}
	pa, pb := s.first[:n], s.second[:n]
	v.fill(pa, s.floats[:], s.ints[:], p, first)
	if p != q {
		v.fill(pb, s.floats[:], s.ints[:], q, first)
	}
	xor := v.mode == modeBits && betterXor(actual[first:last], pa)
	for i := range classes {
		var x uint64
		if actual != nil {
			x = actual[first+i]
		} else {
			x = uint64(v.k[first+i])
		}
		z, class := residual(x, pa[i], xor), 0
		if p != q {
			if z2 := residual(x, pb[i], xor); bits.Len64(z2) < bits.Len64(z) {
				z, class = z2, secondPredictor
			}
		}
		size := bits.Len64(z)
		classes[i] = byte(class + size)
		if size > 1 {
			w.put(z&(1<<((size-1)&63)-1), size-1)
		}
	}
	s.bits = w.finish()
	return leftOver{classes, s.bits, xor}
}

// appendBlock appends a block that was predicted by the predictors of the numbers a and b; few says that its chunk has few values.
func (s *scratch) appendBlock(dst []byte, a, b int, l leftOver, few bool) []byte {
	xorFlag := byte(0)
	if l.xor {
		xorFlag = 128
	}
	code, coding := s.codeClasses(l.classes, few)
	dst = append(dst, byte(a)|xorFlag, byte(b)|byte(coding)<<5)
	if coding != codingConstant {
		dst = binary.AppendUvarint(dst, uint64(len(code)))
	}
	dst = append(dst, code...)
	return append(binary.AppendUvarint(dst, uint64(len(l.bits))), l.bits...)
}

// betterXor reports whether the XORs of numbers with predictions have fewer bits than the differences.
func betterXor(actual, predicted []uint64) bool {
	sum := 0
	for i := 0; i < len(actual); i += 16 {
		sum += bits.Len64(residual(actual[i], predicted[i], true)) - bits.Len64(residual(actual[i], predicted[i], false))
	}
	return sum < 0
}

var adaptation = rc.NewAdaptation(15, 8)

// adaptiveClasses codes classes, each by the class before.
func adaptiveClasses(c *rc.Coder, classes []byte) {
	models := map[byte]*rc.Tree{}
	before := [2]byte{}
	for i, class := range classes {
		context := before[0]
		if context == 0 && before[1] != 0 {
			context = 255
		}
		m := models[context]
		if m == nil {
			t := rc.NewTree(8)
			m = &t
			models[context] = m
		}
		class = byte(m.Code(c, uint32(class), 250))
		classes[i] = class
		before[1], before[0] = before[0], class
	}
}

// pad returns a copy of raw with padding.
func (s *scratch) pad(raw []byte) []byte {
	s.bits = append(append(s.bits[:0], raw...), make([]byte, readerPadding)...)
	return s.bits
}

func (s *scratch) codeClasses(classes []byte, few bool) ([]byte, int) {
	same := true
	for _, c := range classes {
		same = same && c == classes[0]
	}
	if same {
		return classes[:1], codingConstant
	}
	best, coding := classes, codingRaw
	if few {
		c := rc.EncodeTo(nil, adaptation)
		adaptiveClasses(c, classes)
		if b := c.Enc.Finish(); len(b) < len(best) {
			return b, codingAdaptive
		}
	}
	s.fse.Out = s.fse.Out[:0]
	if b, err := fse.Compress(classes, &s.fse); err == nil && len(b) < len(best) {
		best, coding = b, codingFSE
	}
	return best, coding
}

func (s *scratch) decodeClasses(code []byte, coding, n int) ([]byte, error) {
	classes := s.classes[:n]
	switch coding {
	case codingConstant:
		if len(code) != 1 {
			return nil, ErrCorrupt
		}
		for i := range classes {
			classes[i] = code[0]
		}
	case codingRaw:
		if len(code) != n {
			return nil, ErrCorrupt
		}
		copy(classes, code)
	case codingFSE:
		s.fse.DecompressLimit = blockValues
		b, err := fse.Decompress(code, &s.fse)
		if err != nil || len(b) != n {
			return nil, ErrCorrupt
		}
		return b, nil
	case codingAdaptive:
		c := rc.DecodeFrom(code, adaptation)
		adaptiveClasses(c, classes)
		if c.Dec.Err() != nil {
			return nil, ErrCorrupt
		}
	default:
		return nil, ErrCorrupt
	}
	return classes, nil
}
