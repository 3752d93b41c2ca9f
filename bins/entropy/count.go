package entropy

import "encoding/binary"

// pairMask leaves seven bits of each of two neighbouring symbols: the index of a table of pairs.
const (
	pairMask  = 0x7f7f
	pairTable = 1 << 15
)

// pairIndex returns the index of a pair: the symbol before is the low byte.
func pairIndex(before, symbol uint8) int { return int(symbol)<<8 | int(before) }

// Symbols are near if all of them are in 33..96, as nearly all qualities are. A table of their pairs is so small that there are two
// for each part, for pairs at even and at odd places: then a count need not wait for the one before of the same pair.
const (
	nearSymbols = 64
	nearTable   = nearSymbols*nearSymbols + 272 // so that counts of one pair are in different sets of the cache
	nearGroup   = 32                            // pairs of a part that countVector counts at a time
)

// nearIndex returns the index of a pair of near symbols.
func nearIndex(before, symbol uint8) int {
	return int(symbol-firstOrder1)*nearSymbols + int(before-firstOrder1)
}

func isNear(symbol uint8) bool { return symbol-firstOrder1 < nearSymbols }

// countNear adds the pairs of neighbours of each part to its table, by nearIndex. The last four tables are zeros
// before and after. It returns false if some of the symbols are not near; then the counts are wrong.
func countNear(tables *[2 * numParts][nearTable]uint32, parts *[numParts][]byte) bool {
	groups := (len(parts[numParts-1]) - 1) / nearGroup // the last part is the shortest
	if groups > 0 {
		if !countVector(tables, &[numParts]*byte{&parts[0][0], &parts[1][0], &parts[2][0], &parts[3][0]}, groups) {
			return false
		}
		for i := range parts {
			odd := &tables[numParts+i]
			for j := range tables[i] {
				tables[i][j] += odd[j]
			}
			clear(odd[:])
		}
	}
	for i, p := range parts {
		for j := groups * nearGroup; j+1 < len(p); j++ {
			if !isNear(p[j]) || !isNear(p[j+1]) {
				return false
			}
			tables[i][nearIndex(p[j], p[j+1])]++
		}
	}
	return true
}

// countPairs adds the pairs of neighbours of each part to its table, with seven bits of each symbol. It returns the bitwise
// or of all symbols.
func countPairs(tables *[numParts][pairTable]uint32, parts *[numParts][]byte) (bits uint64) {
	n, at := len(parts[numParts-1]), 0 // the last part is the shortest
	for ; at+8 <= n; at += 7 {
		for i, p := range parts {
			t, x := &tables[i], load64(p[at:])
			bits |= x
			t[x&pairMask]++
			t[x>>8&pairMask]++
			t[x>>16&pairMask]++
			t[x>>24&pairMask]++
			t[x>>32&pairMask]++
			t[x>>40&pairMask]++
			t[x>>48&pairMask]++
		}
	}
	for i, p := range parts {
		for j := at; j+1 < len(p); j++ {
			x := binary.LittleEndian.Uint16(p[j:])
			bits |= uint64(x)
			tables[i][x&pairMask]++
		}
	}
	return bits
}

// countSymbols adds the symbols of each part to its table.
func countSymbols(tables *[numParts][256]uint32, parts *[numParts][]byte) {
	p0, p1, p2, p3 := parts[0], parts[1], parts[2], parts[3]
	t0, t1, t2, t3 := &tables[0], &tables[1], &tables[2], &tables[3]
	n := len(p3)
	p0, p1, p2 = p0[:n], p1[:n], p2[:n]
	for i := range p3 {
		t0[p0[i]]++
		t1[p1[i]]++
		t2[p2[i]]++
		t3[p3[i]]++
	}
	for i, p := range parts {
		for _, s := range p[n:] {
			tables[i][s]++
		}
	}
}
