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

// partBits is how far the codes of a part have been stored.
type partBits struct {
	acc, n uint64 // the bits that are not stored yet, from the lowest, and how many there are
	at     int    // the bytes that are stored
}

// putBothOrder1 is putOrder1 for two parts.
func putBothOrder1(dst, symbols [2][]byte, table *[pairTable]uint16) {
	var bits [2]partBits
	if shorter := min(len(symbols[0]), len(symbols[1])); hasBMI2 && shorter > perStore {
		groups := (shorter - 1) / perStore
		putVector(&[2]*byte{&dst[0][0], &dst[1][0]}, &[2]*byte{&symbols[0][0], &symbols[1][0]}, groups, table, &bits)
		for i := range symbols {
			symbols[i] = symbols[i][groups*perStore:]
		}
	}
	for i := range symbols {
		putOrder1(dst[i], symbols[i], table, bits[i])
	}
}

// putOrder1 stores the codes of all symbols but the first, as putOrder0 does. It goes on where others have been stored.
func putOrder1(dst, symbols []byte, table *[pairTable]uint16, bits partBits) {
	acc, n, at := bits.acc, bits.n, bits.at
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
