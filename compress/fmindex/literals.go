package fmindex

import (
	"encoding/binary"
	"sort"

	"orcomgo/bins/parse"
)

// Literals are the stretches of reads that are not given by the pseudogenome, slice after slice.
type Literals struct {
	Bases []byte // of all stretches, one a byte, 0 to 3

	ends    []uint32 // by slice: bases up to its end, then bytes of lengths up to there
	lengths []byte
}

// Add adds a stretch to the slice that is being added to.
func (l *Literals) Add(bases []byte) {
	l.Bases = append(l.Bases, bases...)
	l.lengths = binary.AppendUvarint(l.lengths, uint64(len(bases)))
}

// EndSlice ends a slice. There is one for each slice of the archive.
func (l *Literals) EndSlice() {
	l.ends = append(l.ends, uint32(len(l.Bases)), uint32(len(l.lengths)))
}

// slice returns where the bases of slice i of the literals end, and where their lengths do.
func (x *Index) sliceEnd(i int) (bases, lengths uint32) {
	return binary.LittleEndian.Uint32(x.slices[8*i:]), binary.LittleEndian.Uint32(x.slices[8*i+4:])
}

// Slices returns how many slices the archive has.
func (x *Index) Slices() int { return len(x.slices) / 8 }

// Literal is where bases of the text lie that are not in the pseudogenome.
type Literal struct {
	Slice int // of the archive
	At    int // of the slice's literal bases, which are those of its stretches end to end
}

// Literal returns where n bases from place at on lie, which is not in the pseudogenome; false if they are not of one stretch.
func (x *Index) Literal(at, n int) (Literal, bool) {
	place := uint32(at) - x.genome
	k := sort.Search(x.Slices(), func(i int) bool { end, _ := x.sliceEnd(i); return end > place })
	if k == x.Slices() {
		return Literal{}, false
	}
	l := Literal{Slice: k, At: int(place)}
	if k > 0 {
		first, _ := x.sliceEnd(k - 1)
		l.At -= int(first)
	}
	i := sort.Search(len(x.marks), func(i int) bool { return x.marks[i].bases > place }) - 1
	from, rest := x.marks[i].bases, x.lengths[x.marks[i].at:]
	for {
		v, size := parse.Uvarint(rest)
		if place-from < uint32(v) {
			return l, uint32(n) <= uint32(v)-(place-from)
		}
		rest, from = rest[size:], from+uint32(v)
	}
}

// literalMark is a stretch of literals: how many literal bases are before it, and where its length is.
type literalMark struct{ bases, at uint32 }

// markEvery is how many stretches there are from one mark to the next.
const markEvery = 64

// Whole reports whether n bases from a place on are bases of the pseudogenome, or of one stretch of literals.
func (x *Index) Whole(at, n int) bool {
	if at < int(x.genome) {
		return at+n <= int(x.genome)
	}
	if at+n > int(x.bases) {
		return false
	}
	_, ok := x.Literal(at, n)
	return ok
}

// markLiterals makes sure that lengths and slices fit each other and the text, and sets marks.
func (x *Index) markLiterals() error {
	bases, at, stretches := uint32(0), uint32(0), 0
	for i := range x.Slices() {
		endBases, end := x.sliceEnd(i)
		if endBases < bases || endBases > x.bases-x.genome || end < at || end > uint32(len(x.lengths)) {
			return corrupt("the literals of slice %d end at base %d and byte %d", i, endBases, end)
		}
		for at < end {
			v, size := parse.Uvarint(x.lengths[at:end])
			if size <= 0 || v > uint64(endBases-bases) {
				return corrupt("a literal of slice %d is too long", i)
			}
			if stretches%markEvery == 0 {
				x.marks = append(x.marks, literalMark{bases, at})
			}
			bases, at, stretches = bases+uint32(v), at+uint32(size), stretches+1
		}
		if bases != endBases {
			return corrupt("the literals of slice %d have %d bases, not %d", i, bases, endBases)
		}
	}
	if bases != x.bases-x.genome || at != uint32(len(x.lengths)) {
		return corrupt("the slices have %d literal bases of %d", bases, x.bases-x.genome)
	}
	return nil
}
