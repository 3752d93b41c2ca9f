package record

import "sort"

// Lengths are the lengths in bases of reads that are numbered from 0.
type Lengths struct {
	Each  []uint32 // nil when all reads are Fixed bases long
	Fixed uint32
}

// Of returns the length of read i.
func (l *Lengths) Of(i int) int {
	if l.Each == nil {
		return int(l.Fixed)
	}
	return int(l.Each[i])
}

// Sum returns the number of bases of reads from..to-1.
func (l *Lengths) Sum(from, to int) uint64 {
	if l.Each == nil {
		return uint64(to-from) * uint64(l.Fixed)
	}
	var n uint64
	for _, x := range l.Each[from:to] {
		n += uint64(x)
	}
	return n
}

// Slice returns the lengths of reads from..to-1, which share memory with l.
func (l *Lengths) Slice(from, to int) Lengths {
	if l.Each == nil {
		return *l
	}
	return Lengths{Each: l.Each[from:to]}
}

// Range returns the least and the greatest of the lengths of reads 0..n-1; n is at least 1.
func (l *Lengths) Range(n int) (least, greatest uint32) {
	if l.Each == nil {
		return l.Fixed, l.Fixed
	}
	least = l.Each[0]
	for _, x := range l.Each[:n] {
		least, greatest = min(least, x), max(greatest, x)
	}
	return least, greatest
}

// Permute returns the lengths of reads perm[0], perm[1] and so on.
func (l *Lengths) Permute(perm []uint32) Lengths {
	if l.Each == nil {
		return *l
	}
	each := make([]uint32, len(perm))
	for i, p := range perm {
		each[i] = l.Each[p]
	}
	return Lengths{Each: each}
}

// Starts are where reads begin in their bases, which are end to end.
type Starts struct {
	each  []uint64 // nil when all reads are fixed bases long
	fixed int
}

// Starts returns where each read begins.
func (l *Lengths) Starts() Starts {
	s := Starts{fixed: int(l.Fixed)}
	if l.Each == nil {
		return s
	}
	s.each = make([]uint64, len(l.Each))
	at := uint64(0)
	for i, n := range l.Each {
		s.each[i] = at
		at += uint64(n)
	}
	return s
}

// Of returns where read i begins.
func (s *Starts) Of(i int) int {
	if s.each == nil {
		return i * s.fixed
	}
	return int(s.each[i])
}

// Read returns the read of a base, and which of its bases that is.
func (s *Starts) Read(at int) (i, offset int) {
	if s.each == nil {
		return at / s.fixed, at % s.fixed
	}
	// Reads of no bases begin where the next one does.
	i = sort.Search(len(s.each), func(i int) bool { return s.each[i] > uint64(at) }) - 1
	return i, at - int(s.each[i])
}
