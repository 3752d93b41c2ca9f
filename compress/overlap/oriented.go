package overlap

import (
	"encoding/binary"
	"unsafe"
)

// WordBases is how many bases a word of OrientedReads has.
const WordBases = 32

// OrientedReads returns reads as words of packed bases, one or several reads at a time. It has memory of its own, so each goroutine
// needs one.
type OrientedReads struct {
	layout  *Layout
	words   []uint64
	ends    []int // of each read in words
	indexes []int
}

// Oriented returns an OrientedReads of the layout.
func (l *Layout) Oriented() *OrientedReads { return &OrientedReads{layout: l} }

// Load reads the bases of records, each reversed and complemented if reversed is set for it. Reads are all over the memory, so it
// is faster to load several at once.
func (o *OrientedReads) Load(records []uint32, reversed []bool) {
	rd := o.layout.Reads
	o.indexes, o.words, o.ends = o.indexes[:0], o.words[:0], o.ends[:0]
	for _, rec := range records {
		i := rd.indexOf(rec)
		o.indexes = append(o.indexes, i)
		at := rd.offset(i)
		end := at + min(uint64(rd.len(i))/4, 64) // the processor goes on by itself where a read is long
		prefetch(unsafe.Pointer(&rd.packed[at]), unsafe.Pointer(&rd.packed[end]))
		prefetch(unsafe.Pointer(&rd.signaturePlace[i]), unsafe.Pointer(&rd.packed[end]))
	}
	for k, i := range o.indexes {
		o.words = appendWords(o.words, rd.bases(i), rd.len(i), rd.signaturePlace[i]&1 != 0 != reversed[k])
		o.ends = append(o.ends, len(o.words))
	}
}

// Read returns the bases of the k-th of the records that were loaded last: base j is at bits 2*(j%32) of word j/32, and the bits after the
// last base are 0. The value of a letter other than A, C, G and T is arbitrary.
func (o *OrientedReads) Read(k int) []uint64 {
	from := 0
	if k > 0 {
		from = o.ends[k-1]
	}
	return o.words[from:o.ends[k]]
}

// appendWords appends the n bases of p, which padBytes follow, as words, reversed and complemented if reversed is set.
func appendWords(dst []uint64, p []byte, n int, reversed bool) []uint64 {
	if !reversed {
		for ; n >= WordBases; n, p = n-WordBases, p[WordBases/4:] {
			dst = append(dst, binary.LittleEndian.Uint64(p))
		}
		if n > 0 {
			dst = append(dst, binary.LittleEndian.Uint64(p)&(1<<(2*uint(n))-1))
		}
		return dst
	}
	for ; n >= WordBases; n -= WordBases {
		dst = append(dst, reverseComplementWord(LoadWord(p, n-WordBases), WordBases))
	}
	if n > 0 {
		dst = append(dst, reverseComplementWord(binary.LittleEndian.Uint64(p), n)) // the bits above its n bases are shifted out
	}
	return dst
}

// Prefetch begins to load n packed bases from base pos on into the cache, or the first and the last of them where there are many.
func Prefetch(p []byte, pos, n int) {
	if n > 0 {
		prefetch(unsafe.Pointer(&p[pos>>2]), unsafe.Pointer(&p[(pos+n-1)>>2]))
	}
}

// LoadWord returns the 32 bases of packed bases from base pos on, the first one in the lowest bits. It reads nine bytes.
func LoadWord(p []byte, pos int) uint64 {
	p = p[pos>>2:][:9]
	shift := 2 * uint(pos&3)
	return binary.LittleEndian.Uint64(p)>>shift | uint64(p[8])<<(64-shift)
}

// ReverseComplementWord returns the reverse complement of the n bases in the low bits of x, as a word; 0 < n <= 32.
func ReverseComplementWord(x uint64, n int) uint64 { return reverseComplementWord(x, n) }
