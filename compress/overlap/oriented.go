package overlap

import (
	"encoding/binary"
	"unsafe"

	"orcomgo/bases"
	"orcomgo/internal/prefetch"
)

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
		Prefetch(rd.bases(i), 0, min(rd.len(i), 256)) // the processor goes on by itself where a read is long
		prefetch.Line(unsafe.Pointer(&rd.signaturePlace[i]))
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

// appendWords appends the n bases of p, which bases.Pad follow, as words, reversed and complemented if reversed is set.
func appendWords(dst []uint64, p []byte, n int, reversed bool) []uint64 {
	if !reversed {
		for ; n >= bases.PerWord; n, p = n-bases.PerWord, p[bases.PerWord/4:] {
			dst = append(dst, binary.LittleEndian.Uint64(p))
		}
		if n > 0 {
			dst = append(dst, binary.LittleEndian.Uint64(p)&(1<<(2*uint(n))-1))
		}
		return dst
	}
	for ; n >= bases.PerWord; n -= bases.PerWord {
		dst = append(dst, bases.ReverseComplement(bases.Word(p, n-bases.PerWord), bases.PerWord))
	}
	if n > 0 {
		dst = append(dst, bases.ReverseComplement(binary.LittleEndian.Uint64(p), n)) // the bits above its n bases are shifted out
	}
	return dst
}

// Prefetch begins to load n packed bases from base pos on into the cache, or the first and the last of them where there are many.
func Prefetch(p []byte, pos, n int) {
	if n > 0 {
		prefetch.Line(unsafe.Pointer(&p[pos>>2]))
		prefetch.Line(unsafe.Pointer(&p[(pos+n-1)>>2]))
	}
}
