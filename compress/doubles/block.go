package doubles

import (
	"encoding/binary"
	"math/bits"

	"github.com/klauspost/compress/fse"

	rc "orcomgo/compress/rangecoder"
)

const (
	blockValues = 1 << 14
	chunkValues = 1 << 19
	// Chunks of fewer values are in the compact form: the classes of all blocks are coded together. The first block is short, since
	// many predictors look further back than it is long.
	fewValues     = 1 << 14
	firstCompact  = 1 << 10
	otherCompact  = 1 << 12
	compactBlocks = 1 + (fewValues-firstCompact+otherCompact-1)/otherCompact // of a chunk at most
	sampleWords   = 128                                                      // of eight values of a block at most
)

// A class of a residual is the number of its bits, and 128 if the second predictor of the block was taken.
const secondPredictor = 128

// How the classes of a block are coded.
const (
	codingConstant = iota // all are the byte that follows
	codingFSE
	codingRaw
	codingAdaptive // only in streams of versionBlocks
)

// Flags of a block besides the numbers of its predictors.
const (
	xorFlag      = 128 // of the first one: residuals are XORs
	constantFlag = 128 // of the second one, in the compact form: all classes are the byte that follows
)

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

// scratch is memory for blocks.
type scratch struct {
	classes   [blockValues]byte
	first     [blockValues]uint64 // predictions of the first predictor
	second    [blockValues]uint64
	floats    [2][runValues]float64 // predictions before they are integers
	ints      [2][runValues]int64
	lengths   [maxPredictors][sampleWords]uint64 // bits of residuals in a sample, eight to a word
	runs      []int                              // where runs of a sample begin
	hard      int                                // runs of which a predictor leaves anything, before some of these were taken
	intLeft   remainders[int64]
	floatLeft remainders[float64]
	bits      []byte // that a bitWriter wrote or a bitReader reads
	fse       fse.Scratch
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
	w := newBitWriter(s.bits, len(classes))
	xor := s.predictBlock(&w, classes, v, p, q, first)
	s.bits = w.finish()
	return leftOver{classes, s.bits, xor}
}

// predictBlock sets classes to those of as many values from first on, and appends the bits of their residuals to w. It reports whether
// residuals are XORs.
func (s *scratch) predictBlock(w *bitWriter, classes []byte, v *values, p, q predictor, first int) (xor bool) {
	n := len(classes)
	pa, pb := s.first[:n], s.first[:n]
	v.fill(pa, s, p, first)
	if p != q {
		pb = s.second[:n]
		v.fill(pb, s, q, first)
	}
	if v.mode != modeBits {
		packResiduals(w, classes, v.k[first:first+n], pa, pb, false)
		return false
	}
	actual := v.o[first : first+n]
	xor = betterXor(actual, pa)
	packResiduals(w, classes, actual, pa, pb, xor)
	return xor
}

// packResiduals sets classes to those of values and appends the bits of residuals to bw. It does not branch on values, since these are
// hard to predict.
func packResiduals[T int64 | uint64](bw *bitWriter, classes []byte, actual []T, first, second []uint64, xor bool) {
	n := len(classes)
	w := *bw
	actual, first, second = actual[:n], first[:n], second[:n]
	for i := range classes {
		x := uint64(actual[i])
		z, z2 := residual(x, first[i], xor), residual(x, second[i], xor)
		size, size2 := bits.Len64(z), bits.Len64(z2)
		other := (size2 - size) >> 63 // -1 if the second prediction is better
		size += (size2 - size) & other
		z ^= (z ^ z2) & uint64(other)
		classes[i] = byte(size + secondPredictor&other)
		k := size - 1 + int(uint(size-1)>>63) // bits without the highest one
		w.put(z&(1<<(k&63)-1), k)
	}
	*bw = w
}

// appendCompact appends the blocks of a chunk in the compact form: how each is predicted, then the classes of all and the bits of all.
func (w *workspace) appendCompact(dst []byte, v *values, list []predictor, pairs [][2]int, exact int) []byte {
	n := len(v.x)
	bw := newBitWriter(w.bits, n)
	mixed := take(&w.mixed, n)[:0]
	for i, pair := range pairs {
		first, last := compactBlock(i, n)
		classes := w.classes[:last-first]
		a, b := byte(pair[0]), byte(pair[1])
		if exact>>i&1 != 0 {
			dst = append(dst, a, b|constantFlag, 0)
			continue
		}
		if w.predictBlock(&bw, classes, v, list[a], list[b], first) {
			a |= xorFlag
		}
		if allEqual(classes) {
			dst = append(dst, a, b|constantFlag, classes[0])
			continue
		}
		dst = append(dst, a, b)
		mixed = append(mixed, classes...)
	}
	if len(mixed) > 0 {
		code := w.coder.encode(mixed)
		dst = append(binary.AppendUvarint(dst, uint64(len(code))), code...)
	}
	w.bits = bw.finish()
	return append(dst, w.bits...)
}

// compactBlock returns where block i of a chunk of n values in the compact form begins and ends.
func compactBlock(i, n int) (first, last int) {
	if i == 0 {
		return 0, min(firstCompact, n)
	}
	first = firstCompact + (i-1)*otherCompact
	return first, min(first+otherCompact, n)
}

// allEqual reports whether all bytes of b are the same.
func allEqual(b []byte) bool {
	word := lowBytes * uint64(b[0])
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b) != word {
			return false
		}
	}
	for _, x := range b {
		if x != byte(word) {
			return false
		}
	}
	return true
}

// appendBlock appends a block that was predicted by the predictors of the numbers a and b.
func (s *scratch) appendBlock(dst []byte, a, b int, l leftOver) []byte {
	if l.xor {
		a |= xorFlag
	}
	code, coding := s.codeClasses(l.classes)
	dst = append(dst, byte(a), byte(b)|byte(coding)<<5)
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

// adaptiveClasses codes classes, each by the class before.
func adaptiveClasses(c *rc.Coder, classes []byte) {
	var models [256]*rc.Tree // by context
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

// pad returns the first n bytes of b with padding: the bytes after them, or zeros after a copy if these are too few.
func (s *scratch) pad(b []byte, n int) []byte {
	if len(b) >= n+readerPadding {
		return b[:n+readerPadding]
	}
	s.bits = append(append(s.bits[:0], b[:n]...), make([]byte, readerPadding)...)
	return s.bits
}

// codeClasses returns the code of the classes of a block and which one that is.
func (s *scratch) codeClasses(classes []byte) ([]byte, int) {
	most := s.count(classes)
	if most == len(classes) {
		return classes[:1], codingConstant
	}
	best, coding := classes, codingRaw
	s.fse.Out = s.fse.Out[:0]
	if b, err := fse.Compress(classes, &s.fse); err == nil && len(b) < len(best) {
		best, coding = b, codingFSE
	}
	return best, coding
}

// count sets the histogram of s.fse to that of classes and returns how often the most frequent one occurs. It counts in two tables, since
// equal classes one after another would wait for each other.
func (s *scratch) count(classes []byte) int {
	var odd [256]uint32
	counts := (*[256]uint32)(s.fse.Histogram())
	clear(counts[:])
	i := 0
	for ; i+1 < len(classes); i += 2 {
		counts[classes[i]]++
		odd[classes[i+1]]++
	}
	if i < len(classes) {
		counts[classes[i]]++
	}
	most, last := uint32(0), 0
	for c := range counts {
		if counts[c] += odd[c]; counts[c] > 0 {
			most, last = max(most, counts[c]), c
		}
	}
	s.fse.HistogramFinished(byte(last), int(most))
	return int(most)
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
		c := rc.DecodeFrom(code)
		adaptiveClasses(c, classes)
		if c.Dec.Err() != nil {
			return nil, ErrCorrupt
		}
	default:
		return nil, ErrCorrupt
	}
	return classes, nil
}
