package inflate

const (
	maxCodeLen = 15
	numLits    = 286 // literals, end of block and lengths that a dynamic block may have
	numDists   = 30
	endOfBlock = 256

	litBits  = 11
	distBits = 9
	// A subtable of 2^k entries holds the codes that begin with the same litBits (distBits)
	// bits. A complete code of 288 (32) symbols has at most so many entries in all of them.
	litSubs  = 512
	distSubs = 128
)

// canonical is a prefix code, as the slow path reads it: bit by bit.
type canonical struct {
	count   [maxCodeLen + 1]uint16 // codes of each length
	symbols [288]uint16            // by length, then by value
	min     int                    // the least length, 0 if there is no code
	// complete is false for the two codes that deflate allows though they are not: one of
	// a single bit, and none.
	complete bool
}

// init takes the length of each symbol's code, 0 for none. It returns false unless the code
// is complete, empty, or a single code of one bit.
func (c *canonical) init(lengths []uint8) bool {
	c.count = [maxCodeLen + 1]uint16{}
	for _, n := range lengths {
		c.count[n&maxCodeLen]++
	}
	c.count[0] = 0
	var next [maxCodeLen + 1]uint16
	left, used, longest := 1, uint16(0), 0
	c.min = 0
	for n := 1; n <= maxCodeLen; n++ {
		k := c.count[n]
		left = left<<1 - int(k)
		if left < 0 {
			return false
		}
		next[n] = used
		if used += k; k > 0 {
			longest = n
			if c.min == 0 {
				c.min = n
			}
		}
	}
	for i, n := range lengths {
		if n != 0 {
			c.symbols[next[n&maxCodeLen]] = uint16(i)
			next[n&maxCodeLen]++
		}
	}
	c.complete = left == 0
	return c.complete || longest == 0 || longest == 1 && used == 1
}

// read returns the symbol whose code the bits begin with, and the code's length; 0 if no
// code of at most avail bits matches, and then whether more bits might do.
func (c *canonical) read(v uint64, avail int) (symbol, n int, more bool) {
	code, first, index := 0, 0, 0
	for n := 1; n <= maxCodeLen; n++ {
		if n > avail {
			return 0, 0, c.complete || n <= c.min // if it is not complete, no code has more than min bits
		}
		code |= int(v & 1)
		v >>= 1
		k := int(c.count[n])
		if code-first < k {
			return int(c.symbols[index+code-first]), n, false
		}
		index += k
		first = (first + k) << 1
		code <<= 1
	}
	return 0, 0, false
}

// Entries of the table of literals and lengths.
//
//	bits 0-3   how many bits the entry is for
//	bits 4-5   number of literals, 0 to 3
//	bit 6      a length follows them
//	bit 7      special
//	bits 8-31  the literals; the length less 3 in the last byte
//
// A special entry has its kind in bits 4 and 5:
const (
	entryLength  = 1 << 6
	entrySpecial = 1 << 7

	kindMask    = entrySpecial | 3<<4
	kindEnd     = entrySpecial | 0<<4 // end of block
	kindExtra   = entrySpecial | 1<<4 // a length (less 3, bits 8-15) with extra bits (their number in bits 16-23)
	kindSub     = entrySpecial | 2<<4 // a subtable (its start in bits 8-23) for so many further bits as bits 0-3 say
	kindInvalid = entrySpecial | 3<<4
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

var (
	lengthBase  [29]uint16 // less 3
	lengthExtra [29]uint8
	distBase    [numDists]uint16
	distExtra   [numDists]uint8

	fixedLits, fixedDists [288]uint8 // lengths of codes; 32 of distances
	fixed                 tables
)

func init() {
	base := 0
	for i := range 28 {
		lengthBase[i] = uint16(base)
		if i >= 8 {
			lengthExtra[i] = uint8(i/4 - 1)
		}
		base += 1 << lengthExtra[i]
	}
	lengthBase[28] = 255
	base = 1
	for i := range distBase {
		distBase[i], distExtra[i] = uint16(base), uint8(max(0, i/2-1))
		base += 1 << distExtra[i]
	}
	for i := range fixedLits {
		switch {
		case i < 144:
			fixedLits[i] = 8
		case i < 256:
			fixedLits[i] = 9
		case i < 280:
			fixedLits[i] = 7
		default:
			fixedLits[i] = 8
		}
	}
	for i := range 32 {
		fixedDists[i] = 5
	}
	if !fixed.init(fixedLits[:], fixedDists[:32]) {
		panic("inflate: the fixed codes are not complete")
	}
}

// tables are the two codes of a block.
type tables struct {
	lit     [1 << litBits]uint32
	dist    [1 << distBits]uint32
	litSub  [litSubs]uint32
	distSub [distSubs]uint32

	lits, dists canonical
	endLen      int // of the code for the end of the block, 0 if there is none

	// What lit is made from: entries of one symbol, and of up to two.
	ones, twos [1 << litBits]uint32
}

// init builds the tables for codes of the given lengths. It returns false if one of them is
// not a code that deflate allows.
func (t *tables) init(lits, dists []uint8) bool {
	if !t.lits.init(lits) || !t.dists.init(dists) {
		return false
	}
	t.endLen = int(lits[endOfBlock])
	t.fillLits()
	t.fillDists()
	return true
}

// literal is a literal, or a length, whose code has at most litBits bits.
type literal struct {
	code   uint16 // with its first bit lowest
	n      uint8  // bits
	symbol uint8  // of a literal
}

// fillLits fills the table of literals and lengths.
func (t *tables) fillLits() {
	c := &t.lits
	t.ones[0] = kindInvalid // also what no code is for, if the code is not complete
	var literals [256]literal
	k := 0
	var whole [len(lengthExtra)]literal // lengths whose extra bits fit in the entry
	wholes := 0
	code, index := 0, 0 // of the next symbol; the code has its first bit lowest
	for n := 1; n <= litBits; n++ {
		// What is known after n-1 bits is the same for both values of the next bit.
		copy(t.ones[1<<(n-1):1<<n], t.ones[:1<<(n-1)])
		for range c.count[n] {
			symbol := int(c.symbols[index])
			index++
			e := singleEntry(symbol, n)
			t.ones[code&(1<<litBits-1)] = e
			if l := (literal{uint16(code), uint8(n), uint8(symbol)}); symbol < 256 {
				literals[k&255] = l
				k++
			} else if e&kindMask == kindExtra && n+int(e>>16) <= litBits {
				whole[wholes] = l
				wholes++
			}
			code = nextReversed(code, n)
		}
	}
	for _, l := range whole[:wholes] {
		n, e := int(l.n), t.ones[l.code]
		extra := int(e >> 16)
		e = e>>8&255<<24 | entryLength | uint32(n+extra)
		for i := int(l.code); i < len(t.ones); i += 1 << n {
			t.ones[i] = e + uint32(i>>n&(1<<extra-1))<<24
		}
	}
	t.fillLitSubs(code, index)
	t.lit = t.ones
	if k == 0 {
		return
	}
	// A literal goes with another symbol only if it leaves c.min bits; with a literal and another symbol, only if it
	// leaves the bits of the shortest literal as well.
	shortest := int(literals[0].n)
	prepend(&t.lit, &t.ones, literals[:k], litBits-c.min)
	if most := litBits - c.min - shortest; shortest <= most {
		t.twos = t.lit
		prepend(&t.lit, &t.twos, literals[:k], most)
	}
}

// prepend makes entries of dst of a literal and the entry of src that follows it, where the two fit in one.
// Literals of more bits than most are left out. What fits differs too often to be predicted, so there are no
// branches.
func prepend(dst, src *[1 << litBits]uint32, literals []literal, most int) {
	for _, l := range literals {
		n := uint32(l.n)
		if int(n) > most {
			return // they are in the order of their lengths
		}
		one := n | 1<<4 | uint32(l.symbol)<<8
		i := uint32(l.code)
		// The bits behind those of the literal and the next entry are zeros in src's index, so an entry of more bits
		// does not fit.
		for _, e := range src[:1<<(litBits&15-n&15)] {
			bits := litBits - int32(n+e&15)    // that are left
			places := 2 - int32(e>>4&3+e>>6&1) // for a further literal
			no := uint32((bits | places | -int32(e>>7&1)) >> 31)
			both := e &^ 255 << 8
			both ^= (both ^ e) & (255 << 24) & -(e >> 6 & 1) // a length stays where it is
			both += e&127 + one
			p := &dst[i&(1<<litBits-1)]
			*p ^= (*p ^ both) &^ no
			i += 1 << n
		}
	}
}

// nextReversed returns the code that follows another of the same length, n bits. The first
// bit of a code is the lowest here. A longer code that follows has zeros in its further bits.
func nextReversed(code, n int) int {
	bit := 1 << (n - 1)
	for code&bit != 0 {
		code ^= bit
		bit >>= 1
	}
	return code | bit
}

// subWidth returns how many bits a subtable is for that begins with the k-th code of n
// bits, where the table itself is for root bits.
func (c *canonical) subWidth(n, k, root int) int {
	width := n - root
	for room := 1<<width - (int(c.count[n]) - k); room > 0 && root+width < maxCodeLen; {
		width++
		room = room<<1 - int(c.count[root+width])
	}
	return width
}

// fillLitSubs fills the subtables. The symbol at index is the first that has a code of more
// than litBits bits, this one.
func (t *tables) fillLitSubs(code, index int) {
	c := &t.lits
	start, end, prefix, width := 0, 0, -1, 0
	for n := litBits + 1; n <= maxCodeLen; n++ {
		for k := range int(c.count[n]) {
			if p := code & (1<<litBits - 1); p != prefix {
				prefix, start, width = p, end, c.subWidth(n, k, litBits)
				end += 1 << width
				t.ones[p] = kindSub | uint32(width) | uint32(start)<<8
			}
			e := singleEntry(int(c.symbols[index]), n-litBits)
			index++
			for i := code >> litBits; i < 1<<width; i += 1 << (n - litBits) {
				t.litSub[start+i] = e
			}
			code = nextReversed(code, n)
		}
	}
}

// singleEntry returns the entry of one symbol with a code of n bits.
func singleEntry(symbol, n int) uint32 {
	switch {
	case symbol < 256:
		return 1<<4 | uint32(symbol)<<8 | uint32(n)
	case symbol == endOfBlock:
		return kindEnd | uint32(n)
	case symbol < numLits:
		return kindExtra | uint32(lengthBase[symbol-257])<<8 | uint32(lengthExtra[symbol-257])<<16 | uint32(n)
	}
	return kindInvalid
}

// fillDists fills the table of distances.
func (t *tables) fillDists() {
	c := &t.dists
	if !c.complete {
		for i := range t.dist {
			t.dist[i] = distInvalid
		}
	}
	entry := func(index, n int) uint32 {
		if s := c.symbols[index]; s < numDists {
			return uint32(distBase[s])<<16 | uint32(n)<<8 | (uint32(n) + uint32(distExtra[s]))
		}
		return distInvalid
	}
	code, index := 0, 0
	for n := 1; n <= distBits; n++ {
		for range c.count[n] {
			e := entry(index, n)
			index++
			for i := code; i < len(t.dist); i += 1 << n {
				t.dist[i] = e
			}
			code = nextReversed(code, n)
		}
	}
	start, end, prefix, width := 0, 0, -1, 0
	for n := distBits + 1; n <= maxCodeLen; n++ {
		for k := range int(c.count[n]) {
			if p := code & (1<<distBits - 1); p != prefix {
				prefix, start, width = p, end, c.subWidth(n, k, distBits)
				end += 1 << width
				t.dist[p] = distSub | uint32(width)<<8 | uint32(start)<<16
			}
			e := entry(index, n-distBits)
			index++
			for i := code >> distBits; i < 1<<width; i += 1 << (n - distBits) {
				t.distSub[start+i] = e
			}
			code = nextReversed(code, n)
		}
	}
}
