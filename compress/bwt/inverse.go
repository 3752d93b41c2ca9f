package bwt

import (
	"errors"
	"fmt"
	"math/bits"
)

// ErrStarts reports starting points that cannot be those of a transform: too few, too many, or out of range.
var ErrStarts = errors.New("bwt: the starting points do not belong to the transform")

// lanes is how many chains a thread follows at a time. Each step of a chain waits for memory, and the chains wait together.
const lanes = 16

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
	threads = max(threads, 1)
	shares := cut(n, threads*2)
	counts := make([][256]uint64, len(shares)-1)
	parallel(len(counts), threads, func(i int) { count(&counts[i], transformed[shares[i]:shares[i+1]]) })
	var symbols []byte // those that occur
	for s := range 256 {
		for i := range counts {
			if counts[i][s] > 0 {
				symbols = append(symbols, byte(s))
				break
			}
		}
	}
	if len(symbols) <= 4 {
		m.inverseFew(dst, transformed, starts, symbols, threads)
		return nil
	}
	m.inverseBytes(dst, transformed, starts, shares, counts, threads)
	return nil
}

// inverseBytes is Inverse for all alphabets. It makes a table of the rank of the suffix that begins one symbol later, by rank: the
// suffixes that begin with a symbol have the order of the suffixes after that symbol, which is the order of the places in transformed
// that have the symbol.
func (m *Transformer) inverseBytes(dst, transformed []byte, starts []uint32, shares []int, counts [][256]uint64, threads int) {
	n := len(transformed)
	whole := int(starts[0])
	last := transformed[whole] // of the text; its suffix is followed by no other and is the first of its symbol
	// firstOf[s] is the first rank of the suffixes that begin with s or a larger symbol.
	var firstOf [257]uint32
	for s := range 256 {
		sum := firstOf[s]
		for i := range counts {
			c := uint32(counts[i][s])
			counts[i][s] = uint64(sum)
			sum += c
		}
		firstOf[s+1] = sum
	}
	for i := range counts {
		if shares[i] <= whole {
			counts[i][last]++
		}
	}
	next := reuse(&m.next, n)
	next[firstOf[last]] = 0 // follows no chain
	parallel(len(counts), threads, func(share int) {
		at := &counts[share]
		for i := shares[share]; i < shares[share+1]; i++ {
			s := transformed[i]
			if i == whole {
				continue
			}
			next[at[s]] = uint32(i)
			at[s]++
		}
	})
	// symbolOf[rank>>shift] is the symbol that the suffix of rank begins with, or a smaller one.
	shift := max(bits.Len(uint(n-1))-13, 0)
	symbolOf := make([]byte, (n-1)>>shift+1)
	s := 0
	for i := range symbolOf {
		for uint64(firstOf[s+1]) <= uint64(i)<<shift {
			s++
		}
		symbolOf[i] = byte(s)
	}
	step := Step(n)
	followChains(len(starts), threads, func(from, to int) {
		var rank [lanes]uint32
		copy(rank[:], starts[from:to])
		chains := to - from
		run := func(chains, begin, end int) {
			for j := begin; j < end; j++ {
				for k, r := range rank[:chains] {
					s := symbolOf[r>>(shift&31)]
					for firstOf[int(s)+1] <= r {
						s++
					}
					dst[(from+k)*step+j] = s
					rank[k] = next[r]
				}
			}
		}
		length := min(n-(to-1)*step, step) // of the last chain
		run(chains, 0, length)
		run(chains-1, length, step)
	})
}

// followChains calls f by several threads for ranges of chains, at most lanes at a time.
func followChains(chains, threads int, f func(from, to int)) {
	size := max(min(chains/threads, lanes), 1)
	groups := (chains + size - 1) / size
	parallel(groups, threads, func(i int) { f(i*size, min((i+1)*size, chains)) })
}

// fewBlock holds 192 symbols of an alphabet of four in one line of the processor's cache, with the numbers of symbols before them.
type fewBlock struct {
	before [4]uint32 // for each symbol, its occurrences before the block and all occurrences of smaller ones
	low    [3]uint64 // the low bit of each symbol
	high   [3]uint64
}

const fewSize = 192

// fewWords says, by the word of a fewBlock in which a place is, which bits of each word are before the place: all of word 0 and of word
// 1, or only those that are before it in words 1 and 2.
var fewWords = [4][4]uint64{{}, {^uint64(0), 0, ^uint64(0), 0}, {^uint64(0), ^uint64(0), 0, ^uint64(0)}}

// inverseFew is Inverse for up to four symbols. It goes from a suffix to the one that begins a symbol earlier, which the occurrences of
// that symbol before the rank give (Ferragina and Manzini, "Opportunistic data structures with applications", 2000).
func (m *Transformer) inverseFew(dst, transformed []byte, starts []uint32, symbols []byte, threads int) {
	n := len(transformed)
	var number [256]uint8
	for i, s := range symbols {
		number[s] = uint8(i)
	}
	var letters [4]byte
	copy(letters[:], symbols)
	blocks := reuse(&m.few, (n+fewSize-1)/fewSize)
	shares := cut(len(blocks), threads*2)
	totals := make([][4]uint32, len(shares)-1)
	parallel(len(totals), threads, func(i int) {
		var c [4]uint32
		for b := shares[i]; b < shares[i+1]; b++ {
			block := &blocks[b]
			*block = fewBlock{before: c}
			for j, s := range transformed[b*fewSize : min((b+1)*fewSize, n)] {
				x := number[s]
				c[x&3]++
				block.low[j>>6] |= uint64(x&1) << (j & 63)
				block.high[j>>6] |= uint64(x>>1) << (j & 63)
			}
		}
		totals[i] = c
	})
	var first [4]uint32 // rank of the first suffix that begins with a symbol
	sum := uint32(0)
	for x := range 4 {
		first[x] = sum
		for i := range totals {
			c := totals[i][x]
			totals[i][x] = sum
			sum += c
		}
	}
	parallel(len(totals), threads, func(i int) {
		for b := shares[i]; b < shares[i+1]; b++ {
			for x, c := range totals[i] {
				blocks[b].before[x] += c
			}
		}
	})
	whole := starts[0]
	last := uint32(number[transformed[whole]])
	step := Step(n)
	followChains(len(starts), threads, func(from, to int) {
		// A chain begins at the suffix after its stretch of the text.
		var rank [lanes]uint32
		var end [lanes]int
		chains := to - from
		for k := range chains {
			if chain := from + k; chain+1 < len(starts) {
				rank[k], end[k] = starts[chain+1], (chain+1)*step
			} else {
				// The suffix of the last symbol is the first that begins with it.
				dst[n-1] = letters[last]
				rank[k], end[k] = first[last], n-1
			}
		}
		run := func(chains, steps int) {
			for j := range steps {
				for k, r := range rank[:chains] {
					b := &blocks[r/fewSize]
					i := r % fewSize
					w, bit := i>>6, i&63
					low, high := b.low[w]>>bit&1, b.high[w]>>bit&1
					x := uint32(high<<1 | low)
					// The places that have symbol x, of 64 each.
					l, h := low-1, high-1
					m0, m1, m2 := (b.low[0]^l)&(b.high[0]^h), (b.low[1]^l)&(b.high[1]^h), (b.low[2]^l)&(b.high[2]^h)
					part := uint64(1)<<bit - 1
					in := &fewWords[w&3]
					next := b.before[x] + uint32(bits.OnesCount64(m0&(part|in[0]))+bits.OnesCount64(m1&(part&in[2]|in[1]))+bits.OnesCount64(m2&part&in[3]))
					// The last symbol of the text is the first of its kind, though it is at the rank of the whole text.
					next += uint32((uint64(x^last)-1)>>63) & uint32((uint64(r)-uint64(whole)-1)>>63)
					dst[end[k]-1-j] = letters[x&3]
					rank[k] = min(next, uint32(n-1)) // more only if the starting points are wrong
				}
			}
		}
		if to < len(starts) {
			run(chains, step)
			return
		}
		length := end[chains-1] - (to-1)*step
		run(chains, length)
		for k := range chains - 1 {
			end[k] -= length
		}
		run(chains-1, step-length)
	})
}
