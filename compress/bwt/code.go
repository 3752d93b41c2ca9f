package bwt

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"orcomgo/internal/alphabetic"
	"orcomgo/internal/largepages"
)

// codedText is a text as a string of bits: the codes of its symbols, one after another. Codes are prefix-free and ascend with the
// symbols (an alphabetic code), so two suffixes compare as their bits do, and a word of bits compares many symbols at once.
//
// All codes have the same length, or the code of a symbol depends on the symbol before it, which is the last one of the text for the
// first one. Then two suffixes that begin with the same symbol compare as the bits after it do. The place of a suffix is its number
// in the first case, and in the second the bit after its first symbol.
type codedText struct {
	n       int                // symbols
	total   uint64             // bits
	bytes   []byte             // the bits, from the highest bit of a byte to the lowest, and zeros after them
	width   uint64             // length of all codes in bits; 0 if they differ
	unit    uint64             // bits from a place to the next: width, or 1
	size    int                // symbols of the alphabet
	symbols [257]byte          // of each code number, ascending; one more, so that the number that means "none" has an entry
	number  [256]uint8         // of each symbol that occurs
	codes   []code             // by the numbers of the symbol before and the symbol; nil if all codes have the same length
	firsts  [maxSize]firstCode // of the first symbol of a suffix, by its number, if codes differ in length
	marks   []mark             // where symbols begin; nil if all codes have the same length
}

// code is a code: its bits, and how many they are.
type code struct{ bits, length uint16 }

// mark says where symbols begin in 64 bits of a coded text.
type mark struct {
	starts uint64 // bit 63-i is set if a symbol begins at bit i
	before uint64 // symbols that begin before these bits
}

// firstCode is the code of the first symbol of a suffix, which does not depend on the symbol before: the bits, from the highest bit of a
// word on, and how many they are, at most bucketBits.
type firstCode struct{ bits, length uint64 }

const (
	maxCode = 16  // bits of a code
	maxSize = 128 // symbols of an alphabet that gets codes of different lengths
	padding = 64*maxCode/8 + 64
)

// newCodedText counts the symbols of text and codes it by several threads.
func newCodedText(text []byte, threads int) *codedText {
	t := &codedText{n: len(text)}
	shares := cutWords(len(text), threads)
	counts := make([][256]uint64, len(shares)-1)
	parallel(len(counts), threads, func(i int) { count(&counts[i], text[shares[i]:shares[i+1]]) })
	var sum [256]uint64
	for i := range counts {
		for s, c := range counts[i] {
			sum[s] += c
		}
	}
	for s, c := range sum {
		if c > 0 {
			t.symbols[t.size], t.number[s] = byte(s), uint8(t.size)
			t.size++
		}
	}
	t.width = uint64(max(bits.Len(uint(t.size-1)), 1))
	t.unit = t.width
	starts := make([]uint64, len(shares)) // first bit of each share
	for i := range starts {
		starts[i] = uint64(shares[i]) * t.width
	}
	if t.size > 4 && t.size <= maxSize && t.n >= 1<<12 {
		t.chooseCodes(text, shares, starts, threads)
	}
	t.total = starts[len(counts)]
	t.bytes = largepages.Make[byte](int(t.total/8) + padding)
	if t.width == 0 {
		t.marks = largepages.Make[mark](int(t.total/64) + 1)
	}
	// The words in which two shares meet are completed after that.
	words, adds := make([]uint64, len(counts)), make([]mark, len(counts))
	parallel(len(counts), threads, func(i int) {
		before := t.number[text[(shares[i]+t.n-1)%t.n]]
		words[i], adds[i] = t.encode(text[shares[i]:shares[i+1]], before, starts[i], uint64(shares[i]))
	})
	for i, w := range words {
		b := t.bytes[w*8:]
		binary.BigEndian.PutUint64(b, binary.BigEndian.Uint64(b)|adds[i].before)
		if t.marks != nil {
			t.marks[w].starts |= adds[i].starts
		}
	}
	return t
}

// count adds up how often each byte occurs. It has four tables, since equal neighbours would wait for one another's counter.
func count(sum *[256]uint64, text []byte) {
	var c [4][256]uint32
	for len(text) > 0 {
		part := text[:min(len(text), 1<<30)]
		text = text[len(part):]
		c = [4][256]uint32{}
		for len(part) >= 4 {
			c[0][part[0]]++
			c[1][part[1]]++
			c[2][part[2]]++
			c[3][part[3]]++
			part = part[4:]
		}
		for _, b := range part {
			c[0][b]++
		}
		for s := range sum {
			sum[s] += uint64(c[0][s]) + uint64(c[1][s]) + uint64(c[2][s]) + uint64(c[3][s])
		}
	}
}

// chooseCodes gives symbols codes of different lengths if that shortens the text by more than a twelfth, and then sets the first bit of
// each share.
func (t *codedText) chooseCodes(text []byte, shares []int, starts []uint64, threads int) {
	size := t.size
	pairs := make([][]uint32, len(shares)-1)
	parallel(len(pairs), threads, func(i int) {
		c := make([]uint32, size*size)
		before := int(t.number[text[(shares[i]+t.n-1)%t.n]])
		for _, s := range text[shares[i]:shares[i+1]] {
			number := int(t.number[s])
			c[before*size+number]++
			before = number
		}
		pairs[i] = c
	})
	codes := make([]code, size*size)
	total := uint64(0)
	for before := range size {
		row := codes[before*size:][:size]
		var weight []uint64
		var follow []int // symbols that occur after before
		sum := uint64(0)
		for number := range size {
			c := uint64(0)
			for i := range pairs {
				c += uint64(pairs[i][before*size+number])
			}
			if c > 0 {
				weight, follow = append(weight, c), append(follow, number)
				sum += c
			}
		}
		if len(follow) == 1 {
			row[follow[0]].length = 1
			total += sum
			continue
		}
		// Weights of at least 2^-9 of all bound the length of codes.
		flat := make([]uint64, len(weight))
		for i, c := range weight {
			flat[i] = c + sum>>9 + 1
		}
		lengths := make([]int, len(weight))
		alphabetic.Lengths(flat, lengths)
		for i, bits := range alphabetic.Codes(lengths) {
			l := lengths[i]
			if l > maxCode {
				return
			}
			row[follow[i]] = code{uint16(bits), uint16(l)}
			total += weight[i] * uint64(l)
		}
	}
	if total*12 >= uint64(t.n)*t.width*11 {
		return
	}
	t.codes, t.width, t.unit = codes, 0, 1
	t.chooseFirsts(pairs)
	for i := range pairs {
		starts[i+1] = starts[i]
		for p, c := range pairs[i] {
			starts[i+1] += uint64(c) * uint64(codes[p].length)
		}
	}
}

// chooseFirsts sets the codes of first symbols, so that the buckets that they make are of much the same size.
func (t *codedText) chooseFirsts(pairs [][]uint32) {
	counts, total := make([]uint64, t.size), uint64(t.n)
	for i := range pairs {
		for p, c := range pairs[i] {
			counts[p%t.size] += uint64(c)
		}
	}
	weight, lengths := make([]uint64, t.size), make([]int, t.size)
	for shift := 10; ; shift-- {
		for i, c := range counts {
			weight[i] = c + total>>shift + 1
		}
		if alphabetic.Lengths(weight, lengths); slices.Max(lengths) <= bucketBits {
			break
		}
	}
	for i, code := range alphabetic.Codes(lengths) {
		t.firsts[i] = firstCode{uint64(code) << (64 - lengths[i]), uint64(lengths[i])}
	}
}

// bucketDepth returns how many bits after their places the suffixes of a bucket have in common.
func (t *codedText) bucketDepth(bucket uint64) uint64 {
	if t.codes == nil {
		return bucketBits
	}
	n := t.size - 1 // the last first symbol whose code is not above the bucket
	for t.firsts[n].bits > bucket<<(64-bucketBits) {
		n--
	}
	return bucketBits - t.firsts[n].length
}

// encode writes the codes of a share of the text from bit at on; it comes after the symbol of number last, and before is the number of
// symbols before it. The share before it ends
// in the first word, unless that begins with this share: then encode returns what is to be added to it.
func (t *codedText) encode(text []byte, last uint8, at, before uint64) (word uint64, add mark) {
	filled := at & 63 // bits of the current word
	word = at >> 6
	shared := filled > 0
	w := word
	acc, starts := uint64(0), uint64(0)
	var first uint64
	flush := func() {
		if shared {
			shared, first, add = false, acc, mark{starts: starts}
		} else {
			binary.BigEndian.PutUint64(t.bytes[w*8:], acc)
			if t.marks != nil {
				t.marks[w] = mark{starts, before}
			}
		}
		before += uint64(bits.OnesCount64(starts))
		w++
		acc, starts = 0, 0
	}
	if t.codes == nil && t.width == 2 && !shared {
		for ; len(text) >= 32; text = text[32:] {
			eights := t.eight(text)<<48 | t.eight(text[8:])<<32 | t.eight(text[16:])<<16 | t.eight(text[24:])
			binary.BigEndian.PutUint64(t.bytes[w*8:], eights)
			w++
		}
	}
	for _, s := range text {
		number := t.number[s]
		l, code := t.width, uint64(number)
		if t.codes != nil {
			c := t.codes[int(last)*t.size+int(number)]
			l, code = uint64(c.length), uint64(c.bits)
			last = number
		}
		starts |= 1 << (63 - filled)
		filled += l
		if filled < 64 {
			acc |= code << (64 - filled)
			continue
		}
		filled -= 64
		acc |= code >> filled
		flush()
		acc = code << 1 << (63 - filled)
	}
	if filled > 0 {
		flush()
	}
	add.before = first
	return word, add
}

// eight returns the codes of the first eight symbols of text, of two bits each.
func (t *codedText) eight(text []byte) uint64 {
	_ = text[7]
	n := &t.number
	return (uint64(n[text[0]])<<6|uint64(n[text[1]])<<4|uint64(n[text[2]])<<2|uint64(n[text[3]]))<<8 |
		uint64(n[text[4]])<<6 | uint64(n[text[5]])<<4 | uint64(n[text[6]])<<2 | uint64(n[text[7]])
}

// window returns the bits from bit at on: the highest 57 of the result, and zeros.
func (t *codedText) window(at uint64) uint64 {
	return binary.BigEndian.Uint64(t.bytes[at>>3:]) << (at & 7)
}

// symbolAt returns how many symbols begin before bit at, at most n.
func (t *codedText) symbolAt(at uint64) uint64 {
	if t.width > 0 {
		return min(at/t.width, uint64(t.n))
	}
	if at >= t.total {
		return uint64(t.n)
	}
	m := &t.marks[at>>6]
	return m.before + uint64(bits.OnesCount64(m.starts>>1>>(63-at&63)))
}
