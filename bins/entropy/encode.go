package entropy

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Encoder codes streams and names. The zero value is ready; it must not be used by two goroutines at a time. Its memory is
// about 0.7 MiB, and for names up to three times the longest chunk besides.
type Encoder struct {
	counts  [numParts][256]uint32
	total   [256]uint32                     // of all parts, by rank: the index in the alphabet
	lengths [256]uint8                      // of the code of order 0, by rank
	pairs   [numParts][pairTable]uint32     // by pairIndex; zeros between calls
	near    [2 * numParts][nearTable]uint32 // instead, by nearIndex, if all symbols are near; zeros between calls
	row     [maxOrder1]uint32               // pairs of all parts with one symbol before, by rank
	rows    [maxOrder1 * maxOrder1]uint8    // code lengths of order 1, row by row, k in each
	builder codeBuilder
	codes0  [256]uint16       // by symbol
	codes1  [pairTable]uint16 // by pairIndex
	names   nameStreams
}

// plan is how a stream will be coded.
type plan struct {
	parts    [numParts][]byte
	alphabet alphabet
	near     bool // pairs are counted by nearIndex
	order1   bool
	sizes    [numParts]int // stored bytes of the parts
}

// size returns the bytes of the whole stream.
func (p *plan) size() int {
	n := headerSize(p.alphabet.size, p.order1)
	for _, size := range p.sizes {
		n += size
	}
	return n
}

// AppendStream appends symbols as a coded stream to dst. order1 allows a code for each symbol before, which pays for
// qualities. The stream is not longer than symbols, unless its first byte is 0: then all symbols follow that. Of no symbols
// it is empty. There must be less than 2^30 symbols. Up to eight bytes after the stream may change, if dst has the capacity.
func (s *Encoder) AppendStream(dst, symbols []byte, order1 bool) []byte {
	n := len(symbols)
	switch {
	case n == 0:
		return dst
	case bytes.Equal(symbols[1:], symbols[:n-1]):
		return append(dst, byte(Same), symbols[0])
	case n < minCoded:
		return append(append(dst, byte(Raw)), symbols...)
	}
	p := plan{parts: parts(symbols)}
	if order1 {
		order1 = s.countWithPairs(&p)
	} else {
		s.count(&p)
	}
	s.planOrder0(&p)
	if order1 {
		s.planOrder1(&p)
	}
	if p.size() >= 1+n {
		return append(append(dst, byte(Raw)), symbols...)
	}
	return s.appendCoded(dst, &p)
}

// count counts the symbols of each part and finds the alphabet.
func (s *Encoder) count(p *plan) {
	clear(s.counts[:])
	countSymbols(&s.counts, &p.parts)
	s.findAlphabet(&p.alphabet)
}

// countWithPairs is count, and it counts the pairs. It reports whether a code of order 1 is possible; if so, planOrder1 must
// follow, which needs the pairs and clears them.
func (s *Encoder) countWithPairs(p *plan) bool {
	if p.near = hasAVX2 && countNear(&s.near, &p.parts); p.near {
		clear(s.counts[:])
		for i := range s.counts {
			for symbol := range nearSymbols {
				first := symbol * nearSymbols
				s.counts[i][firstOrder1+symbol] = sumOf(s.near[i][first : first+nearSymbols])
			}
		}
	} else {
		clear(s.near[:])
		if countPairs(&s.pairs, &p.parts)&0x8080808080808080 != 0 {
			clear(s.pairs[:])
			s.count(p)
			return false
		}
		clear(s.counts[:])
		for i := range s.counts {
			for symbol := range 128 {
				first := pairIndex(0, uint8(symbol))
				s.counts[i][symbol] = sumOf(s.pairs[i][first : first+128])
			}
		}
	}
	for i := range s.counts {
		s.counts[i][p.parts[i][0]]++
	}
	a := &p.alphabet
	s.findAlphabet(a)
	if a.size > maxOrder1 || a.symbols[0] < firstOrder1 || a.symbols[a.size-1] > lastOrder1 {
		clear(s.pairs[:])
		return false
	}
	return true
}

func sumOf(counts []uint32) (sum uint32) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

func (s *Encoder) findAlphabet(a *alphabet) {
	for c := range 256 {
		if n := s.counts[0][c] + s.counts[1][c] + s.counts[2][c] + s.counts[3][c]; n > 0 {
			a.symbols[a.size], s.total[a.size] = uint8(c), n
			a.size++
		}
	}
}

// planOrder0 plans to code the stream with one code.
func (s *Encoder) planOrder0(p *plan) {
	a := &p.alphabet
	s.builder.lengths(s.lengths[:a.size], s.total[:a.size])
	for i := range p.sizes {
		bits := uint64(0)
		for rank, c := range a.symbols[:a.size] {
			bits += uint64(s.counts[i][c]) * uint64(s.lengths[rank])
		}
		p.sizes[i] = int((bits + 7) / 8)
	}
}

// planOrder1 plans to code the stream with a code for each symbol before, if that is shorter.
func (s *Encoder) planOrder1(p *plan) {
	k := p.alphabet.size
	symbols := p.alphabet.symbols[:k]
	var bits [numParts]uint64
	var tables [numParts][]uint32
	index := pairIndex
	for i := range tables {
		if tables[i] = s.pairs[i][:]; p.near {
			tables[i], index = s.near[i][:], nearIndex
		}
	}
	for i, before := range symbols {
		row, lengths := s.row[:k], s.rows[i*k:(i+1)*k]
		for j, c := range symbols {
			at := index(before, c)
			row[j] = tables[0][at] + tables[1][at] + tables[2][at] + tables[3][at]
		}
		s.builder.lengths(lengths, row)
		for j, l := range lengths {
			if l == 0 || l == onlySymbol {
				continue
			}
			at := index(before, symbols[j])
			for part := range bits {
				bits[part] += uint64(tables[part][at]) * uint64(l)
			}
		}
	}
	if p.near {
		clear(s.near[:numParts])
	} else {
		for i := range s.pairs {
			for _, c := range symbols {
				first := pairIndex(0, c)
				clear(s.pairs[i][first : first+128])
			}
		}
	}
	other := plan{alphabet: p.alphabet, order1: true}
	for i := range bits {
		other.sizes[i] = int((bits[i] + 7) / 8)
	}
	if other.size() < p.size() {
		p.order1, p.sizes = true, other.sizes
	}
}

// appendCoded appends the stream as it was planned.
func (s *Encoder) appendCoded(dst []byte, p *plan) []byte {
	k := p.alphabet.size
	symbols := p.alphabet.symbols[:k]
	dst = slices.Grow(dst, p.size()+8) // putBits stores eight bytes at a time
	var set [32]byte                   // a bit for each symbol
	for _, c := range symbols {
		set[c/8] |= 1 << (c % 8)
	}
	if p.order1 {
		dst = append(append(dst, byte(Order1), uint8(k-1)), set[:]...)
		for _, part := range p.parts {
			dst = append(dst, part[0])
		}
		dst = appendNibbles(dst, s.rows[:k*k])
		for i, before := range symbols {
			row := s.rows[i*k : (i+1)*k]
			if only := slices.Index(row, onlySymbol); only >= 0 {
				s.codes1[pairIndex(before, symbols[only])] = entry(0, 0)
				continue
			}
			codes(row, func(rank int, code uint16, length uint8) {
				s.codes1[pairIndex(before, symbols[rank])] = entry(code, length)
			})
		}
	} else {
		dst = append(append(dst, byte(Order0), uint8(k-1)), set[:]...)
		dst = appendNibbles(dst, s.lengths[:k])
		codes(s.lengths[:k], func(rank int, code uint16, length uint8) { s.codes0[symbols[rank]] = entry(code, length) })
	}
	for _, size := range p.sizes[:numParts-1] {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
	}
	var out [numParts][]byte
	for i, size := range p.sizes {
		at := len(dst)
		dst = dst[:at+size]
		out[i] = dst[at : at+size+8]
	}
	if !p.order1 {
		for i, part := range p.parts {
			putOrder0(out[i], part, &s.codes0)
		}
		return dst
	}
	if slices.Min(p.sizes[:]) < 8 {
		for i, part := range p.parts {
			putOrder1(out[i], part, &s.codes1, partBits{})
		}
		return dst
	}
	// Eight bytes after a part change, so each part but one is stored after that before it.
	putBothOrder1([2][]byte{out[0], out[2]}, [2][]byte{p.parts[0], p.parts[2]}, &s.codes1)
	start := load64(out[2])
	putBothOrder1([2][]byte{out[1], out[3]}, [2][]byte{p.parts[1], p.parts[3]}, &s.codes1)
	binary.LittleEndian.PutUint64(out[2], start)
	return dst
}

// appendNibbles appends code lengths, two in a byte, the first one in the low half.
func appendNibbles(dst, lengths []uint8) []byte {
	for ; len(lengths) >= 2; lengths = lengths[2:] {
		dst = append(dst, lengths[0]|lengths[1]<<4)
	}
	return append(dst, lengths...)
}
