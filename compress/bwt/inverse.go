package bwt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// ErrStarts reports starting points that cannot be those of a transform: too few, too many, or out of range.
var ErrStarts = errors.New("bwt: the starting points do not belong to the transform")

// lanes is how many chains a thread follows at a time. Each step of a chain waits for memory, and the chains wait together.
const lanes = 32

// Inverse is the function Inverse.
func (m *Transformer) Inverse(dst, transformed []byte, starts []uint32, threads int) error {
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
	inv := &inverter{l: transformed, whole: int(starts[0]), threads: max(threads, 1)}
	if !inv.countSymbols() {
		return ErrStarts
	}
	inv.countPairs()
	inv.next = reuse(&m.next, n)
	inv.link()
	inv.lookUp()
	dst[n-1] = inv.symbols[inv.last] // the last suffix begins with no pair
	step := Step(n)
	followChains(len(starts), inv.threads, func(from, to int) {
		var rank [lanes]uint32
		copy(rank[:], starts[from:to])
		if to < len(starts) {
			inv.follow(dst[from*step:to*step], rank[:to-from], step, step)
			return
		}
		// The last chain is shorter, and ends before the last symbol. Chains are followed by two symbols at a time.
		length := n - 1 - (to-1)*step
		even, last := length&^1, to-1-from
		inv.follow(dst[from*step:n-1], rank[:to-from], step, even)
		inv.follow(dst[(to-1)*step+even:n-1], rank[last:to-from], step, length-even)
		for k := range last {
			inv.follow(dst[(from+k)*step+even:(from+k+1)*step], rank[k:k+1], step, step-even)
		}
	})
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
	l       []byte
	whole   int // rank of the whole text
	threads int
	next    []uint32

	size    int        // symbols that occur
	symbols [256]byte  // of each number, ascending
	number  [256]uint8 // of each symbol that occurs
	last    int        // number of the last symbol of the text
	final   int        // rank of the last suffix

	shares []int      // bounds of the shares of the ranks
	lf     [][]uint32 // by share and number of a symbol: the rank of the suffix that begins with the symbol before the share's first such one
	pairs  [][]uint32 // by share and pair, size*x+y: how often it occurs, then where the first of the share goes in next

	// The pairs that occur, ascending.
	firsts  []uint32 // rank of the first suffix that begins with each, or with a larger one; the number of all ranks at the end
	letters []uint16 // of each: the first symbol in the lower byte
	// Of the ranks from i<<shift on, below the next i: the letters of their pair; or mixed and the number in firsts of the first pair, if
	// there are several.
	pairOf []uint32
	shift  int
}

// countSymbols finds what each share needs to know about single symbols. It reports whether whole may be the rank of the text.
func (v *inverter) countSymbols() bool {
	n := len(v.l)
	v.shares = cut(n, v.threads*4)
	counts := make([][256]uint64, len(v.shares)-1)
	parallel(len(counts), v.threads, func(i int) { count(&counts[i], v.l[v.shares[i]:v.shares[i+1]]) })
	v.lf = make([][]uint32, len(counts))
	sum := uint32(0)
	for s := range 256 {
		all := uint64(0)
		for i := range counts {
			all += counts[i][s]
		}
		if all == 0 {
			continue
		}
		first := sum
		if v.l[v.whole] == byte(s) {
			// The last suffix comes first, though the text is somewhere else among those that it precedes.
			v.last, v.final = v.size, int(first)
			sum++
		}
		for i := range counts {
			v.lf[i] = append(v.lf[i], sum)
			sum += uint32(counts[i][s])
			if v.l[v.whole] == byte(s) && v.shares[i] <= v.whole && v.whole < v.shares[i+1] {
				sum--
			}
		}
		v.symbols[v.size], v.number[s] = byte(s), uint8(v.size)
		v.size++
	}
	return v.final != v.whole
}

// lfOf returns the ranks in lf of a share, by number.
func (v *inverter) lfOf(share int) *[256]uint32 {
	var lf [256]uint32
	copy(lf[:], v.lf[share])
	return &lf
}

// countPairs sets pairs and firsts.
func (v *inverter) countPairs() {
	n := len(v.l)
	v.pairs = make([][]uint32, len(v.shares)-1)
	parallel(len(v.pairs), v.threads, func(i int) {
		counts := make([]uint32, v.size*v.size)
		lf, l, whole, number, size := v.lfOf(i), v.l, uint32(v.whole), &v.number, v.size
		for r, s := range l[v.shares[i]:v.shares[i+1]] {
			if r == v.whole-v.shares[i] {
				continue
			}
			y := number[s]
			before := lf[y]
			lf[y] = before + 1
			if before != whole { // else the suffix begins with the second symbol of the text
				counts[int(number[l[before]])*size+int(y)]++
			}
		}
		v.pairs[i] = counts
	})
	lastPair := v.lastPair()
	sum := uint32(0)
	for pair := range v.size * v.size {
		first := sum
		if pair == v.last*v.size {
			sum++ // the last suffix is before those that go on
		}
		begin := sum
		if pair == lastPair {
			sum++ // the one before it
		}
		for i := range v.pairs {
			c := v.pairs[i][pair]
			v.pairs[i][pair] = sum
			sum += c
		}
		if sum > first {
			v.firsts = append(v.firsts, begin)
			v.letters = append(v.letters, uint16(v.symbols[pair/v.size])|uint16(v.symbols[pair%v.size])<<8)
		}
	}
	v.firsts[0] = 0
	v.firsts = append(v.firsts, uint32(n))
}

// lastPair returns the last two symbols of the text.
func (v *inverter) lastPair() int { return int(v.number[v.l[v.final]])*v.size + v.last }

// link sets next.
func (v *inverter) link() {
	v.next[v.final] = 0 // follows nothing
	v.next[v.pairs[0][v.lastPair()]-1] = 0
	parallel(len(v.pairs), v.threads, func(i int) {
		to, next := v.pairs[i], v.next
		lf, l, whole, number, size := v.lfOf(i), v.l, uint32(v.whole), &v.number, v.size
		for r, s := range l[v.shares[i]:v.shares[i+1]] {
			if r == v.whole-v.shares[i] {
				continue
			}
			y := number[s]
			before := lf[y]
			lf[y] = before + 1
			if before != whole {
				pair := int(number[l[before]])*size + int(y)
				at := to[pair]
				to[pair] = at + 1
				next[at] = uint32(v.shares[i] + r)
			}
		}
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

// followChains calls f by several threads for ranges of chains, at most lanes at a time.
func followChains(chains, threads int, f func(from, to int)) {
	size := max(min(chains/threads, lanes), 1)
	groups := (chains + size - 1) / size
	parallel(groups, threads, func(i int) { f(i*size, min((i+1)*size, chains)) })
}
