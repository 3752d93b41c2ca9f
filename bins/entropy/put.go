package entropy

import "encoding/binary"

// entry returns a table entry: the code above lengthBits bits of its length. So the lengths of five codes can be added, as
// whole entries, to the number of bits: what is above its lowest six bits is not used.
func entry(code uint16, length uint8) uint16 { return code<<lengthBits | uint16(length) }

const lengthBits = 6

// perStore is how many codes are put together before they are stored: with seven bits that are left from before, they fit
// in 64 bits.
const perStore = 5

// putOrder0 stores the codes of symbols. dst has room for eight bytes more than they take.
func putOrder0(dst, symbols []byte, table *[256]uint16) {
	var acc, n uint64
	at := 0
	for ; len(symbols) >= perStore; symbols = symbols[perStore:] {
		e := uint64(table[symbols[0]])
		acc |= e >> lengthBits << (n & 63)
		n += e
		e = uint64(table[symbols[1]])
		acc |= e >> lengthBits << (n & 63)
		n += e
		e = uint64(table[symbols[2]])
		acc |= e >> lengthBits << (n & 63)
		n += e
		e = uint64(table[symbols[3]])
		acc |= e >> lengthBits << (n & 63)
		n += e
		e = uint64(table[symbols[4]])
		acc |= e >> lengthBits << (n & 63)
		n += e
		binary.LittleEndian.PutUint64(dst[at:], acc)
		at += int(n & 63 >> 3)
		acc >>= n & 56
		n &= 7
	}
	for _, c := range symbols {
		e := uint64(table[c])
		acc |= e >> lengthBits << (n & 63)
		n += e
	}
	binary.LittleEndian.PutUint64(dst[at:], acc)
}

// putOrder1 stores the codes of all symbols but the first, as putOrder0 does.
func putOrder1(dst, symbols []byte, table *[pairTable]uint16) {
	var acc, n uint64
	at := 0
	for ; len(symbols) >= 8; symbols = symbols[perStore:] {
		x := load64(symbols)
		e := uint64(table[x&pairMask])
		acc |= e >> lengthBits << (n & 63)
		n += e
		e = uint64(table[x>>8&pairMask])
		acc |= e >> lengthBits << (n & 63)
		n += e
		e = uint64(table[x>>16&pairMask])
		acc |= e >> lengthBits << (n & 63)
		n += e
		e = uint64(table[x>>24&pairMask])
		acc |= e >> lengthBits << (n & 63)
		n += e
		e = uint64(table[x>>32&pairMask])
		acc |= e >> lengthBits << (n & 63)
		n += e
		binary.LittleEndian.PutUint64(dst[at:], acc)
		at += int(n & 63 >> 3)
		acc >>= n & 56
		n &= 7
	}
	for ; len(symbols) > 1; symbols = symbols[1:] {
		e := uint64(table[pairIndex(symbols[0], symbols[1])&pairMask])
		acc |= e >> lengthBits << (n & 63)
		n += e
		binary.LittleEndian.PutUint64(dst[at:], acc)
		at += int(n & 63 >> 3)
		acc >>= n & 56
		n &= 7
	}
	binary.LittleEndian.PutUint64(dst[at:], acc)
}
