package bwt

import (
	"encoding/binary"
	"math/bits"
)

// countBuckets counts the suffixes of symbols from .. to-1, of which the first has the bit at.
func (s *sorter) countBuckets(counts *bucketCounts, text []byte, from, to int, at uint64) {
	t := s.t
	if t.codes == nil {
		for i := from; i < to; i++ {
			if s.chosen>>(i&coverMask)&1 != 0 {
				counts[t.window(at)>>(64-bucketBits)]++
			}
			at += t.width
		}
		return
	}
	size, number := t.size, &t.number
	before := int(number[text[(from+t.n-1)%t.n]])
	for i, c := range text[from:to] {
		n := int(number[c])
		at += uint64(t.codes[before*size+n].length)
		before = n
		if s.chosen>>((from+i)&coverMask)&1 != 0 {
			counts[(t.firsts[n].bits|t.window(at)>>(t.firsts[n].length&63))>>(64-bucketBits)]++
		}
	}
}

// spareEntries is the distance between the entries that threads write for nothing: two lines of the processor's cache, which threads must
// not share.
const spareEntries = 16

// scatter writes the entries of the buckets from .. to-1, bucket by bucket. After them entries has spareEntries elements for each share
// and as many more: a share writes the suffixes of other buckets to one of these, which costs less than telling them apart.
func (s *sorter) scatter(entries []uint64, text []byte, step int, shares []int, starts []uint64, counts []bucketCounts, from, to int) {
	sum := uint32(0)
	places := make([]bucketPlaces, len(counts))
	for i := range places {
		spare := uint32(len(entries) - spareEntries*(len(counts)-i))
		for b := range places[i] {
			places[i][b].next = spare
		}
	}
	for b := from; b < to; b++ {
		for i := range counts {
			places[i][b] = bucketPlace{sum, 1}
			sum += counts[i][b]
		}
	}
	parallel(len(counts), s.threads, func(i int) {
		at, begin := starts[i], shares[i]
		for begin < shares[i+1] {
			end := min(begin-begin%step+step, shares[i+1])
			last := uint64(s.t.number[text[(begin+len(text)-1)%len(text)]])
			before := last
			if begin%step == 0 {
				before = uint64(s.t.size)
			}
			switch {
			case s.chosen != ^uint64(0):
				at = s.scatterChosen(entries, text[begin:end], begin, at, before, last, &places[i])
			case s.t.codes == nil:
				at = s.scatterFixed(entries, end-begin, begin, at, before, &places[i])
			default:
				at = s.scatterCoded(entries, text[begin:end], at, before, last, &places[i])
			}
			begin = end
		}
	})
}

// bucketPlace says where the next entry of a bucket goes, and how far the one after it is from there.
type bucketPlace struct{ next, step uint32 }

type bucketPlaces [1 << bucketBits]bucketPlace

// scatterFixed is scatter for so many symbols, which have codes of the same length; the first has the number begin and the bit at.
// before is the number of the symbol before it, or size. It returns the bit after them.
func (s *sorter) scatterFixed(entries []uint64, symbols, begin int, at, before uint64, places *bucketPlaces) uint64 {
	coded, width := s.t.bytes, s.t.width
	first, next := uint64(begin)<<s.symbolBits, uint64(1)<<s.symbolBits // places of symbols, as they are in entries
	if width == 2 {
		// Four symbols are in one byte.
		head := min(-begin&3, symbols)
		at, before = s.scatterWidth(entries, head, first, at, before, places)
		fours := (symbols - head) / 4
		first += uint64(head) * next
		before = s.scatterFours(entries, coded[at>>3:], fours, first, before, places)
		at += uint64(fours) * 8
		first += uint64(fours) * 4 * next
		symbols -= head + fours*4
	}
	at, _ = s.scatterWidth(entries, symbols, first, at, before, places)
	return at
}

// scatterWidth is scatterFixed; first is the place of the first symbol, as it is in an entry. It also returns the last symbol.
func (s *sorter) scatterWidth(entries []uint64, symbols int, first, at, before uint64, places *bucketPlaces) (end, last uint64) {
	coded, width, next := s.t.bytes, s.t.width, uint64(1)<<s.symbolBits
	low, keyShift := s.low&63, (64-s.keyBits)&63
	for range symbols {
		w := binary.BigEndian.Uint64(coded[at>>3:]) << (at & 7)
		p := &places[w>>(64-bucketBits)]
		o := p.next
		p.next = o + p.step
		entries[o] = w<<bucketBits>>keyShift<<low | first | before
		at += width
		first += next
		before = w >> ((64 - width) & 63)
	}
	return at, before
}

// scatterFours is scatterWidth for so many times four symbols of two bits, with which coded begins. It returns the last symbol.
func (s *sorter) scatterFours(entries []uint64, coded []byte, fours int, first, before uint64, places *bucketPlaces) uint64 {
	next := uint64(1) << s.symbolBits
	low, keyShift := s.low&63, (64-s.keyBits)&63
	for i := range fours {
		w := binary.BigEndian.Uint64(coded[i:])
		p := &places[w>>(64-bucketBits)]
		o := p.next
		p.next = o + p.step
		entries[o] = w<<bucketBits>>keyShift<<low | first | before
		first += next

		before = w >> 62
		p = &places[w<<2>>(64-bucketBits)]
		o = p.next
		p.next = o + p.step
		entries[o] = w<<(bucketBits+2)>>keyShift<<low | first | before
		first += next

		before = w >> 60 & 3
		p = &places[w<<4>>(64-bucketBits)]
		o = p.next
		p.next = o + p.step
		entries[o] = w<<(bucketBits+4)>>keyShift<<low | first | before
		first += next

		before = w >> 58 & 3
		p = &places[w<<6>>(64-bucketBits)]
		o = p.next
		p.next = o + p.step
		entries[o] = w<<(bucketBits+6)>>keyShift<<low | first | before
		first += next
		before = w >> 56 & 3
	}
	return before
}

// scatterCoded is scatterFixed for the symbols of text, which have codes of different lengths; last is the number of the symbol before
// them.
func (s *sorter) scatterCoded(entries []uint64, text []byte, at, before, last uint64, places *bucketPlaces) uint64 {
	coded, number, codes, size, firsts := s.t.bytes, &s.t.number, s.t.codes, uint64(s.t.size), &s.t.firsts
	low, keyShift, symbolBits := s.low&63, (64-s.keyBits)&63, s.symbolBits&63
	for _, c := range text {
		n := uint64(number[c])
		at += uint64(codes[last*size+n].length)
		last = n
		f := &firsts[n&(maxSize-1)]
		w := f.bits | binary.BigEndian.Uint64(coded[at>>3:])<<(at&7)>>(f.length&63)
		p := &places[w>>(64-bucketBits)]
		o := p.next
		p.next = o + p.step
		entries[o] = w<<bucketBits>>keyShift<<low | at<<symbolBits | before
		before = n
	}
	return at
}

// scatterChosen is scatterFixed or scatterCoded for the chosen symbols.
func (s *sorter) scatterChosen(entries []uint64, text []byte, begin int, at, before, last uint64, places *bucketPlaces) uint64 {
	t := s.t
	chosen := bits.RotateLeft64(s.chosen, -begin&coverMask)
	for i, c := range text {
		n := uint64(t.number[c])
		var w, place uint64
		if t.codes != nil {
			at += uint64(t.codes[last*uint64(t.size)+n].length)
			w, place = t.firsts[n].bits|t.window(at)>>(t.firsts[n].length&63), at
			last = n
		} else {
			w, place = t.window(at), uint64(begin+i)
			at += t.width
		}
		if chosen>>(i&coverMask)&1 != 0 {
			p := &places[w>>(64-bucketBits)]
			o := p.next
			p.next = o + p.step
			entries[o] = w<<bucketBits>>(64-s.keyBits)<<s.low | place<<s.symbolBits | before
		}
		before = n
	}
	return at
}
