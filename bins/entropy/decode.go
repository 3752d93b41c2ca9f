package entropy

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Decoder decodes streams and names. The zero value is ready; it must not be used by two goroutines at a time. Its memory is
// about 0.3 MiB, and for names about as much as the stored streams expand to besides.
type Decoder struct {
	lengths [256]uint8
	table0  [codeSpace]uint16
	// table1 has a table of codeSpace entries for each symbol before. The one of symbol 0, which no stream of order 1 has,
	// is all zeros: it is where bits that are no code lead, and nothing leads out of it.
	table1 [128 * codeSpace]uint16
	names  nameStreams
}

// badCode is the entry of table0 for bits that are no code.
const badCode = 1 << 15

// header is what a stream of order 0 or 1 has before its parts.
type header struct {
	alphabet alphabet
	first    [numParts]byte // symbols; order 1 only
	nibbles  []byte
	source   source
}

func (h *header) nibble(i int) uint8 { return h.nibbles[i/2] >> (i % 2 * 4) & 15 }

// Stream decodes a stored stream of len(dst) symbols into dst. The error wraps ErrCorrupt.
func (d *Decoder) Stream(dst, stored []byte) error {
	if len(dst) == 0 {
		return check(len(stored) == 0, "bytes of an empty stream")
	}
	if len(stored) == 0 {
		return fmt.Errorf("%w: a stream has no bytes", ErrCorrupt)
	}
	switch kind, rest := Kind(stored[0]), stored[1:]; {
	case kind == Raw:
		return check(copy(dst, rest) == len(dst) && len(rest) == len(dst), "a raw stream of another length")
	case kind == Same:
		if len(rest) != 1 {
			return fmt.Errorf("%w: a stream of one symbol has more bytes", ErrCorrupt)
		}
		for i := range dst {
			dst[i] = rest[0]
		}
		return nil
	case kind > Order1 || len(dst) < minCoded:
		return fmt.Errorf("%w: a stream of %d symbols is of kind %d", ErrCorrupt, len(dst), kind)
	case kind == Order0:
		return d.order0(dst, rest)
	default:
		return d.order1(dst, rest)
	}
}

func check(ok bool, reason string) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrCorrupt, reason)
}

// parse reads the header after the kind.
func (h *header) parse(stored []byte, order1 bool) error {
	if len(stored) < fixedHeader-1 {
		return check(false, "a stream ends in its header")
	}
	a := &h.alphabet
	for i, set := range stored[1 : fixedHeader-1] {
		for ; set != 0; set &= set - 1 {
			a.symbols[a.size] = uint8(8*i + bits.TrailingZeros8(set))
			a.size++
		}
	}
	k := a.size
	if k < 2 || k != int(stored[0])+1 {
		return check(false, "the number of symbols differs")
	}
	if len(stored) < headerSize(k, order1)-1 {
		return check(false, "a stream ends in its header")
	}
	stored = stored[fixedHeader-1:]
	codes := k
	if order1 {
		if k > maxOrder1 || a.symbols[0] < firstOrder1 || a.symbols[k-1] > lastOrder1 {
			return check(false, "these symbols can't have codes of order 1")
		}
		stored = stored[copy(h.first[:], stored):]
		codes = k * k
	}
	h.nibbles, stored = stored[:(codes+1)/2], stored[(codes+1)/2:]
	if codes%2 != 0 && h.nibble(codes) != 0 {
		return check(false, "the padding of the code lengths is set")
	}
	rest, at := stored[partSizes:], 0
	for i := range numParts - 1 {
		size := binary.LittleEndian.Uint32(stored[4*i:])
		if uint64(size) > uint64(len(rest)-at) {
			return check(false, "a part is longer than its stream")
		}
		end := at + int(size)
		h.source.ends[i], h.source.at[i+1] = 8*end, 8*end
		at = end
	}
	h.source.data, h.source.ends[numParts-1] = rest, 8*len(rest)
	return nil
}

// fill fills a table of codeSpace entries for a row of code lengths of the symbols. It reports whether they make a code.
func fill(table *[codeSpace]uint16, lengths, symbols []uint8, bad uint16) bool {
	for i := range table {
		table[i] = bad
	}
	return codes(lengths, func(i int, code uint16, length uint8) {
		e := uint16(symbols[i])<<lengthBits | uint16(length)
		for at := int(code); at < codeSpace; at += 1 << length {
			table[at] = e
		}
	})
}

func (d *Decoder) order0(dst, stored []byte) error {
	var h header
	if err := h.parse(stored, false); err != nil {
		return err
	}
	k := h.alphabet.size
	for i := range k {
		d.lengths[i] = h.nibble(i)
		if d.lengths[i] == 0 {
			return check(false, "a symbol has no code")
		}
	}
	if !fill(&d.table0, d.lengths[:k], h.alphabet.symbols[:k], badCode) {
		return check(false, "the code lengths make no code")
	}
	p := parts(dst)
	return check(getOrder0(&p, &h.source, &d.table0), "a part does not decode")
}

func (d *Decoder) order1(dst, stored []byte) error {
	var h header
	if err := h.parse(stored, true); err != nil {
		return err
	}
	a := &h.alphabet
	k := a.size
	known := [256]bool{}
	for i, before := range a.symbols[:k] {
		known[before] = true
		lengths, only := d.lengths[:k], -1
		codes := 0
		for j := range lengths {
			lengths[j] = h.nibble(i*k + j)
			if lengths[j] != 0 {
				codes++
			}
			if lengths[j] == onlySymbol {
				only = j
			}
		}
		table := (*[codeSpace]uint16)(d.table1[int(before)*codeSpace:])
		if only >= 0 && codes == 1 {
			for at := range table {
				table[at] = uint16(a.symbols[only]) << lengthBits
			}
			continue
		}
		if codes == 1 || !fill(table, lengths, a.symbols[:k], 0) {
			return check(false, "the code lengths make no code")
		}
	}
	p := parts(dst)
	for i, symbol := range h.first {
		if !known[symbol] {
			return check(false, "a part begins with an unknown symbol")
		}
		p[i][0] = symbol
	}
	return check(getOrder1(&p, &h.source, &d.table1), "a part does not decode")
}
