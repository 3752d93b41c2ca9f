package minimizer

import "sort"

// longPiece is how many bases, about, FindLong scans in a call.
const longPiece = 1 << 20

// FindLong is FindPacked for a long read: run calls a function with 0..n-1, in any order and from any goroutines, and returns when all
// calls have.
func FindLong(packed []byte, n int, gaps []Gap, run func(n int, f func(i int))) (sig, pos uint32, reverse bool) {
	return findLong(packed, n, gaps, longPiece, run)
}

// findLong is FindLong by pieces of so many bases, a multiple of 4.
func findLong(packed []byte, n int, gaps []Gap, piece int, run func(n int, f func(i int))) (sig, pos uint32, reverse bool) {
	if n < K {
		return None, 0, false
	}
	list := make([]best, (n+piece-1)/piece)
	all := best{none, none}
	for _, onlyAA := range []bool{true, false} {
		run(len(list), func(i int) {
			list[i] = best{none, none}
			list[i].piece(packed, i*piece, min((i+1)*piece, n), n, gaps, onlyAA)
		})
		for _, b := range list {
			all.fwd, all.rev = min(all.fwd, b.fwd), min(all.rev, b.rev)
		}
		if all.fwd != none || all.rev != none {
			break
		}
	}
	return all.result(n)
}

// piece scans the k-mers that start at bases from..to-1 of a read of n bases. With onlyAA others than those that begin with AA may be left
// out.
func (b *best) piece(packed []byte, from, to, n int, gaps []Gap, onlyAA bool) {
	start, end := from, min(to+K-1, n)
	for _, g := range gaps[sort.Search(len(gaps), func(i int) bool { return gaps[i].End > from }):] {
		if g.Start >= end {
			break
		}
		b.stretch(packed, start, g.Start, n, onlyAA)
		start = g.End
	}
	b.stretch(packed, start, end, n, onlyAA)
}
