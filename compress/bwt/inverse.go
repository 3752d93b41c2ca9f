package bwt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"orcomgo/internal/largepages"
)

// ErrStarts reports starting points that cannot be those of a transform: too few, too many, or out of range.
var ErrStarts = errors.New("bwt: the starting points do not belong to the transform")

// lanes is how many chains are followed at a time. Each step of a chain waits for memory, and the chains wait together.
const lanes = 32

// Inverse writes the text to dst of which transformed and starts are the transform. dst is as long and does not overlap transformed.
// For what Transform did not make, the result is an error or some text.
func Inverse(dst, transformed []byte, starts []uint32) error {
	n := len(transformed)
	if uint64(n) > MaxLen {
		return ErrTooLong
	}
	if len(dst) != n {
		return fmt.Errorf("bwt: %d bytes for the text of %d", len(dst), n)
	}
	if len(starts) != Starts(n) {
		return ErrStarts
	}
	for _, s := range starts {
		if uint64(s) >= uint64(n) {
			return ErrStarts
		}
	}
	if n == 0 {
		return nil
	}
	if n == 1 {
		dst[0] = transformed[0]
		return nil
	}
	inv := &inverter{l: transformed, whole: int(starts[0])}
	if !inv.countSymbols() {
		return ErrStarts
	}
	inv.countPairs()
	inv.next = largepages.Make[uint32](n)
	inv.link()
	inv.lookUp()
	dst[n-1] = inv.symbols[inv.last] // the last suffix begins with no pair
	step := Step(n)
	for from := 0; from < len(starts); from += lanes {
		to := min(from+lanes, len(starts))
		var rank [lanes]uint32
		copy(rank[:], starts[from:to])
		if to < len(starts) {
			inv.follow(dst[from*step:to*step], rank[:to-from], step, step)
			continue
		}
		// The last chain is shorter, and ends before the last symbol. Chains are followed by two symbols at a time.
		length := n - 1 - (to-1)*step
		even, last := length&^1, to-1-from
		inv.follow(dst[from*step:n-1], rank[:to-from], step, even)
		inv.follow(dst[(to-1)*step+even:n-1], rank[last:to-from], step, length-even)
		for k := range last {
			inv.follow(dst[(from+k)*step+even:(from+k+1)*step], rank[k:k+1], step, step-even)
		}
	}
	return nil
}

// inverter is an inverse transform of two symbols or more. It follows the text by two symbols at a time: next[r] is the rank of the
// suffix that begins two symbols after the one of rank r. The suffixes that begin with a pair of symbols, xy, have the order of the
// suffixes after that pair, which is the order of the ranks before which there is y, and before that x. (Grebnov, libsais, "unbwt", does
// the same.)
//
// Two suffixes are followed by no other so: the last one, of one symbol, which is the first that begins with that, and the one before it,
// which is the first that begins with its pair.
type inverter struct {
	l     []byte
	whole int // rank of the whole text
	next  []uint32

	size    int        // symbols that occur
	symbols [256]byte  // of each number, ascending
	number  [256]uint8 // of each symbol that occurs
	last    int        // number of the last symbol of the text
	final   int        // rank of the last suffix

	lf    [256]uint32 // by number of a symbol: the rank of the first suffix that begins with it and that another one precedes
	pairs []uint32    // by pair, size*x+y: how often it occurs, then where the next one goes in next

	// The pairs that occur, ascending.
	firsts  []uint32 // rank of the first suffix that begins with each, or with a larger one; the number of all ranks at the end
	letters []uint16 // of each: the first symbol in the lower byte
	// Of the ranks from i<<shift on, below the next i: the letters of their pair; or mixed and the number in firsts of the first pair, if
	// there are several.
	pairOf []uint32
	shift  int
}

// countSymbols numbers the symbols. It reports whether whole may be the rank of the text.
func (v *inverter) countSymbols() bool {
	var counts [256]uint32
	for _, c := range v.l {
		counts[c]++
	}
	sum := uint32(0)
	for s, all := range counts {
		if all == 0 {
			continue
		}
		first := sum
		if v.l[v.whole] == byte(s) {
			// The last suffix comes first, though the text is somewhere else among those that it precedes.
			v.last, v.final = v.size, int(first)
			sum++
		}
		v.lf[v.size] = sum
		sum = first + all
		v.symbols[v.size], v.number[s] = byte(s), uint8(v.size)
		v.size++
	}
	return v.final != v.whole
}

// eachPair calls f, by rank, for each suffix that two symbols of the text precede, with the number of their pair.
func (v *inverter) eachPair(f func(rank, pair int)) {
	lf, l, whole, number, size := v.lf, v.l, uint32(v.whole), &v.number, v.size
	for r, s := range l {
		if r == v.whole {
			continue
		}
		y := number[s]
		before := lf[y]
		lf[y] = before + 1
		if before != whole { // else the suffix begins with the second symbol of the text
			f(r, int(number[l[before]])*size+int(y))
		}
	}
}

// countPairs sets pairs and firsts.
func (v *inverter) countPairs() {
	v.pairs = make([]uint32, v.size*v.size)
	v.eachPair(func(_, pair int) { v.pairs[pair]++ })
	lastPair := v.lastPair()
	sum := uint32(0)
	for pair, c := range v.pairs {
		first := sum
		if pair == v.last*v.size {
			sum++ // the last suffix is before those that go on
		}
		begin := sum
		if pair == lastPair {
			sum++ // the one before it
		}
		v.pairs[pair] = sum
		if sum += c; sum > first {
			v.firsts = append(v.firsts, begin)
			v.letters = append(v.letters, uint16(v.symbols[pair/v.size])|uint16(v.symbols[pair%v.size])<<8)
		}
	}
	v.firsts[0] = 0
	v.firsts = append(v.firsts, uint32(len(v.l)))
}

// lastPair returns the last two symbols of the text.
func (v *inverter) lastPair() int { return int(v.number[v.l[v.final]])*v.size + v.last }

// link sets next.
func (v *inverter) link() {
	v.next[v.final] = 0 // follows nothing
	v.next[v.pairs[v.lastPair()]-1] = 0
	v.eachPair(func(rank, pair int) {
		at := v.pairs[pair]
		v.pairs[pair] = at + 1
		v.next[at] = uint32(rank)
	})
}

const mixed = 1 << 31 // in inverter.pairOf

// lookUp makes the table pairOf.
func (v *inverter) lookUp() {
	n := len(v.l)
	v.shift = max(bits.Len(uint(n-1))-15, 0)
	v.pairOf = make([]uint32, (n-1)>>v.shift+1)
	k := 0
	for i := range v.pairOf {
		for uint64(v.firsts[k+1]) <= uint64(i)<<v.shift {
			k++
		}
		if v.pairOf[i] = uint32(v.letters[k]); uint64(v.firsts[k+1]) < uint64(i+1)<<v.shift {
			v.pairOf[i] = mixed | uint32(k)
		}
	}
}

// pair returns the letters of the pair with which the suffix of rank r begins, if pairOf has x for it.
func (v *inverter) pair(x, r uint32) uint32 {
	p := x &^ mixed
	for v.firsts[p+1] <= r {
		p++
	}
	return uint32(v.letters[p])
}

// follow writes length symbols of each chain to dst, in which the chains are step apart; ranks are those of the suffixes with which the
// chains begin, and afterwards of those with which they go on, if length is even.
func (v *inverter) follow(dst []byte, ranks []uint32, step, length int) {
	pairOf, next, shift := v.pairOf, v.next, v.shift&31
	var words [lanes]uint64
	j := 0
	for ; j+8 <= length; j += 8 {
		// Eight symbols of each chain are written at a time.
		for range 4 {
			for k, r := range ranks {
				x := pairOf[r>>shift]
				if x&mixed != 0 {
					x = v.pair(x, r)
				}
				words[k&(lanes-1)] = words[k&(lanes-1)]>>16 | uint64(x)<<48
				ranks[k] = next[r]
			}
		}
		for k := range ranks {
			binary.LittleEndian.PutUint64(dst[k*step+j:], words[k&(lanes-1)])
		}
	}
	for ; j < length; j += 2 {
		for k, r := range ranks {
			x := pairOf[r>>shift]
			if x&mixed != 0 {
				x = v.pair(x, r)
			}
			dst[k*step+j] = byte(x)
			if j+1 < length {
				dst[k*step+j+1] = byte(x >> 8)
			}
			ranks[k] = next[r]
		}
	}
}
