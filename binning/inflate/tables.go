package inflate

import "orcomgo/internal/deflate"

const (
	litBits  = 11
	distBits = 9
	// A subtable of 2^k entries holds the codes that begin with the same litBits (distBits)
	// bits. A complete code of 288 (32) symbols has at most so many entries in all of them.
	litSubs  = 512
	distSubs = 128
)

// Entries of the table of literals and lengths.
//
//	bits 0-3   how many bits the entry is for
//	bit 4      0
//	bit 5      special
//	bits 6-7   number of literals, 0 to 3
//	bits 8-31  the literals, a third one only if it is below 128
//	bit 31     a length follows the literals, at most two; bits 24-30 have the length less 3
//
// So a shift by the entry is one by its bits, since shifts of words use the lowest six bits of their count.
//
// A special entry has its kind in bits 6 and 7:
const (
	entrySpecial  = 1 << 5
	entryLiterals = 6 // bit from which on there is their number
	entryLength   = 1 << 31
	maxEntry      = 1 << 7 // lengths less 3 of this or more are not in entries

	kindMask    = entrySpecial | 3<<6
	kindEnd     = entrySpecial | 0<<6 // end of block
	kindExtra   = entrySpecial | 1<<6 // a length (less 3, bits 8-15) with extra bits (their number in bits 16-23)
	kindSub     = entrySpecial | 2<<6 // a subtable (its start in bits 8-23) for so many further bits as bits 0-3 say
	kindInvalid = entrySpecial | 3<<6
)

// Entries of the table of distances.
//
//	bits 0-5    how many bits the entry is for: those of the code and the extra bits
//	bits 6-7    distSub: a subtable; distInvalid
//	bits 8-11   length of the code; for how many bits the subtable is
//	bits 16-31  the distance without its extra bits, or the subtable's start
const (
	distSub     = 1 << 6
	distInvalid = 1 << 7
)

var fixed tables

func init() {
	if !fixed.init(deflate.StaticLiterals, deflate.StaticDists) {
		panic("inflate: the fixed codes are not complete")
	}
}

// tables are the two codes of a block.
type tables struct {
	lit     [1 << litBits]uint32
	dist    [1 << distBits]uint32
	litSub  [litSubs]uint32
	distSub [distSubs]uint32

	lits, dists deflate.Code

	// What lit is made from, by the bits of the code: entries of one symbol and of two, as extend returns them.
	ones, twos [1 << litBits]sequence
}

// init builds the tables for codes of the given lengths. It returns false if one of them is
// not a code that deflate allows.
func (t *tables) init(lits, dists []uint8) bool {
	if !t.lits.InitBlock(lits) || !t.dists.InitBlock(dists) {
		return false
	}
	t.fillLits()
	t.fillDists()
	return true
}

// sequence is symbols that an entry of the table of literals and lengths may be for.
type sequence struct {
	entry uint32
	code  uint16 // of the symbols, one after the other, with its first bit lowest
	extra uint8  // of a length: how many of the entry's bits are extra bits
	next  uint8  // of a length: the next one in a list, 0 for none
}

// extend makes room in an entry for a literal before its symbols. The entry of that, without its number of literals, is added then.
func extend(e uint32) uint32 {
	if e&entryLength != 0 {
		return e&(255<<24|255) + e&(255<<8)<<8 + 1<<entryLiterals
	}
	return e&(1<<24-1<<8)<<8 + e&255 + 1<<entryLiterals
}

// fillLits fills the table of literals and lengths, for one bit more in each step. What is known after n-1 bits is the same for both
// values of the next bit, unless a sequence ends with that.
func (t *tables) fillLits() {
	c := &t.lits
	t.lit[0] = kindInvalid        // also what no code is for, if the code is not complete
	var literals [256]sequence    // entries of them to be added to others, thus without the number of literals
	var lengths [1 + 29]sequence  // with extra bits that fit in the entry; the first is not used
	var ending [litBits + 1]uint8 // of those with so many bits the first one, 0 for none
	// Where those of each number of bits begin.
	var literalsFrom, onesFrom, twosFrom [litBits + 1]int
	numLiterals, numLengths, numOnes, numTwos := 0, uint8(0), 0, 0
	code, index := 0, 0 // of the next symbol; the code has its first bit lowest
	for n := 1; n <= litBits; n++ {
		copy(t.lit[1<<(n-1):1<<n], t.lit[:1<<(n-1)])
		literalsFrom[n], onesFrom[n], twosFrom[n] = numLiterals, numOnes, numTwos
		for range c.Count[n] {
			symbol := int(c.Symbols[index])
			index++
			e := singleEntry(symbol, n)
			if symbol < 256 {
				literals[numLiterals&255] = sequence{entry: e - 1<<entryLiterals, code: uint16(code)}
				numLiterals++
				t.ones[numOnes&(len(t.ones)-1)] = sequence{entry: extend(e), code: uint16(code)}
				numOnes++
			} else if extra := int(e >> 16); e&kindMask == kindExtra && n+extra <= litBits && e>>8&255+1<<extra <= maxEntry {
				numLengths++
				lengths[numLengths] = sequence{entryLength | e>>8&255<<24 | uint32(n+extra), uint16(code), uint8(extra), ending[n+extra]}
				ending[n+extra] = numLengths
			}
			t.lit[code&(1<<litBits-1)] = e
			code = deflate.Next(code, n)
		}
		for i := ending[n]; i != 0; {
			l := &lengths[i]
			for v := range 1 << l.extra {
				e, code := l.entry+uint32(v)<<24, l.code|uint16(v<<(n-int(l.extra)))
				t.lit[code&(1<<litBits-1)] = e
				t.ones[numOnes&(len(t.ones)-1)] = sequence{entry: extend(e), code: code}
				numOnes++
			}
			i = l.next
		}
		if numLiterals == 0 {
			continue
		}
		// Sequences of a literal of k bits and one or two symbols of n-k bits.
		for k := int(literals[0].entry & 15); k < n; k++ {
			ones := t.ones[onesFrom[n-k]:onesFrom[n-k+1]]
			twos := t.twos[twosFrom[n-k]:twosFrom[n-k+1]]
			for _, l := range literals[literalsFrom[k]:literalsFrom[k+1]] {
				for _, s := range ones {
					e, code := l.entry+s.entry, l.code|s.code<<k
					t.lit[code&(1<<litBits-1)] = e
					t.twos[numTwos&(len(t.twos)-1)] = sequence{entry: extend(e), code: code}
					numTwos += int(1 - e>>23&1) // a third literal is below 128
				}
				for _, s := range twos {
					t.lit[(l.code|s.code<<k)&(1<<litBits-1)] = l.entry + s.entry
				}
			}
		}
	}
	fillSubs(c, t.litSub[:], litBits, code, index,
		func(p, width, start int) { t.lit[p] = kindSub | uint32(width) | uint32(start)<<8 },
		func(index, n int) uint32 { return singleEntry(int(c.Symbols[index]), n) })
}

// fillSubs fills the subtables of a code for the codes of more than root bits; the first is that of the symbol at index. link sets the
// entry of the table itself for a subtable, and entry returns that of a symbol, by index, with so many further bits.
func fillSubs(c *deflate.Code, sub []uint32, root, code, index int, link func(prefix, width, start int), entry func(index, n int) uint32) {
	start, end, prefix, width := 0, 0, -1, 0
	for n := root + 1; n <= deflate.MaxBits; n++ {
		for k := range int(c.Count[n]) {
			if p := code & (1<<root - 1); p != prefix {
				prefix, start, width = p, end, subWidth(c, n, k, root)
				end += 1 << width
				link(p, width, start)
			}
			e := entry(index, n-root)
			index++
			for i := code >> root; i < 1<<width; i += 1 << (n - root) {
				sub[start+i] = e
			}
			code = deflate.Next(code, n)
		}
	}
}

// subWidth returns how many bits a subtable is for that begins with the k-th code of n
// bits, where the table itself is for root bits.
func subWidth(c *deflate.Code, n, k, root int) int {
	width := n - root
	for room := 1<<width - (int(c.Count[n]) - k); room > 0 && root+width < deflate.MaxBits; {
		width++
		room = room<<1 - int(c.Count[root+width])
	}
	return width
}

// singleEntry returns the entry of one symbol with a code of n bits.
func singleEntry(symbol, n int) uint32 {
	switch {
	case symbol < 256:
		return 1<<entryLiterals | uint32(symbol)<<8 | uint32(n)
	case symbol == deflate.EndOfBlock:
		return kindEnd | uint32(n)
	case symbol < deflate.Literals:
		return kindExtra | uint32(deflate.LengthBase[symbol-257]-3)<<8 | uint32(deflate.LengthExtra[symbol-257])<<16 | uint32(n)
	}
	return kindInvalid
}

// fillDists fills the table of distances.
func (t *tables) fillDists() {
	c := &t.dists
	t.dist[0] = distInvalid // also what no code is for, if the code is not complete
	entry := func(index, n int) uint32 {
		if s := c.Symbols[index]; s < deflate.Dists {
			return uint32(deflate.DistBase[s])<<16 | uint32(n)<<8 | (uint32(n) + uint32(deflate.DistExtra[s]))
		}
		return distInvalid
	}
	code, index := 0, 0
	for n := 1; n <= distBits; n++ {
		copy(t.dist[1<<(n-1):1<<n], t.dist[:1<<(n-1)])
		for range c.Count[n] {
			t.dist[code&(1<<distBits-1)] = entry(index, n)
			index++
			code = deflate.Next(code, n)
		}
	}
	fillSubs(c, t.distSub[:], distBits, code, index,
		func(p, width, start int) { t.dist[p] = distSub | uint32(width)<<8 | uint32(start)<<16 }, entry)
}
