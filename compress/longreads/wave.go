package longreads

import (
	"slices"

	"orcomgo/bases"
	"orcomgo/compress/edits"
)

// An alignment of two stretches with the fewest edits is found by furthest-reaching paths (Myers 1986; Ukkonen 1985): for d = 0, 1, 2,
// ... edits, and for each diagonal, how many bases of the read can be aligned. Equal bases are compared 32 at a time.

// waves finds alignments. It has memory of its own, so each goroutine needs one.
type waves struct {
	reach []int32 // d*d + d + diagonal: bases of the read that d edits reach on a diagonal, -1 if none
}

const noReach = -1 << 30

// task is two stretches to be aligned: n bases of the read from base i on, m of the sequence from base j on. If backward is set, they are
// the bases before i and j, and are aligned from there on.
type task struct {
	read, seq bases.Words
	i, j      int
	n, m      int
	backward  bool
}

// match returns how many bases are equal after x bases of the read and y of the sequence.
func (t *task) match(x, y int) int {
	if t.backward {
		return t.read.EqualBackward(t.i-x, t.seq, t.j-y, min(t.n-x, t.m-y))
	}
	return t.read.EqualForward(t.i+x, t.seq, t.j+y, min(t.n-x, t.m-y))
}

// step sets the reach of all diagonals with d edits.
func (w *waves) step(t *task, d int) {
	if need := (d + 1) * (d + 1); len(w.reach) < need {
		w.reach = append(w.reach, make([]int32, max(need-len(w.reach), len(w.reach)))...)
	}
	now := w.reach[d*d:][:2*d+1]
	if d == 0 {
		now[0] = int32(t.match(0, 0))
		return
	}
	for g := range now {
		diagonal := g - d
		x, _ := w.from(t, d, diagonal)
		if x < 0 {
			now[g] = noReach
			continue
		}
		now[g] = int32(x + t.match(x, x+diagonal))
	}
}

// get returns the reach of a diagonal with d edits.
func (w *waves) get(d, diagonal int) int {
	if diagonal < -d || diagonal > d {
		return noReach
	}
	return int(w.reach[d*d+d+diagonal])
}

// from returns how many bases of the read a diagonal reaches directly after edit d, and the edit's kind.
func (w *waves) from(t *task, d, diagonal int) (x int, kind uint8) {
	x, kind = noReach, edits.Substitution
	if v := w.get(d-1, diagonal) + 1; v >= 1 && v <= t.n && v+diagonal <= t.m {
		x = v
	}
	if v := w.get(d-1, diagonal+1) + 1; v > x && v >= 1 && v <= t.n {
		x, kind = v, edits.Insertion
	}
	if v := w.get(d-1, diagonal-1); v > x && v >= 0 && v+diagonal <= t.m {
		x, kind = v, edits.Deletion
	}
	return x, kind
}

// trace appends the edits of the path to a diagonal with d edits, from the beginning of the stretches on. Their At is a place in the
// sequence.
func (w *waves) trace(dst []edits.Edit, t *task, d, diagonal int) []edits.Edit {
	at := len(dst)
	for ; d > 0; d-- {
		x, kind := w.from(t, d, diagonal)
		y := x + diagonal // bases of the sequence after the edit
		var e edits.Edit
		e.Kind = kind
		if t.backward {
			if kind != edits.Deletion {
				e.Base = t.read.At(t.i - x)
			}
			e.At = uint32(t.j - y) // of an insertion, it is before this base
		} else {
			if kind != edits.Deletion {
				e.Base = t.read.At(t.i + x - 1)
			}
			e.At = uint32(t.j + y)
			if kind != edits.Insertion {
				e.At--
			}
		}
		dst = append(dst, e)
		switch kind {
		case edits.Insertion:
			diagonal++
		case edits.Deletion:
			diagonal--
		}
	}
	slices.Reverse(dst[at:])
	return dst
}

// global aligns the whole stretches with at most limit edits, or returns false. It also does if maxLoss edits more than pay do not
// lead on.
func (w *waves) global(dst []edits.Edit, t *task, limit int) ([]edits.Edit, bool) {
	end := t.m - t.n
	if max(end, -end) > limit {
		return dst, false
	}
	best := 0
	for d := 0; d <= limit; d++ {
		w.step(t, d)
		if w.get(d, end) == t.n {
			return w.trace(dst, t, d, end), true
		}
		score := baseBits*int(slices.Max(w.reach[d*d:][:2*d+1])) - editBits*d
		if best = max(best, score); score < best-editBits*maxLoss {
			break
		}
	}
	return dst, false
}

// maxLoss is how many edits an alignment may have, in one stretch of it, beyond those that its equal bases pay for. Two stretches that have
// nothing to do with each other take as many soon, and the work grows with the square of the edits.
const maxLoss = 64

// Costs in bits, roughly: what a base that is aligned saves, what an edit costs, and what a piece costs.
const (
	baseBits  = 2
	editBits  = 12
	pieceBits = 60
)

const (
	// dropEdits is after how many edits that do not pay an extension ends.
	dropEdits = 10
	// waveEdits is how many edits an extension has before it begins anew where it is.
	waveEdits = 48
)

// extend aligns from the beginning of the stretches as far as that pays, and returns how many bases of the read and of the sequence are
// aligned. The edits come from the beginning of the stretches on.
func (w *waves) extend(dst []edits.Edit, t task) ([]edits.Edit, int, int) {
	x, y := 0, 0
	for {
		best, bestD, bestDiagonal, bestX := 0, 0, 0, 0
		end := false
		for d := 0; d <= waveEdits && d <= bestD+dropEdits; d++ {
			w.step(&t, d)
			for diagonal := -d; diagonal <= d; diagonal++ {
				v := w.get(d, diagonal)
				if score := baseBits*v - editBits*d; v >= 0 && score > best {
					best, bestD, bestDiagonal, bestX = score, d, diagonal, v
				}
				end = end || v == t.n
			}
			if end {
				break
			}
		}
		if best <= 0 {
			return dst, x, y
		}
		bestY := bestX + bestDiagonal
		dst = w.trace(dst, &t, bestD, bestDiagonal)
		x, y = x+bestX, y+bestY
		if end || bestX == t.n {
			return dst, x, y
		}
		if t.backward {
			t.i, t.j = t.i-bestX, t.j-bestY
		} else {
			t.i, t.j = t.i+bestX, t.j+bestY
		}
		t.n, t.m = t.n-bestX, t.m-bestY
		if bestD+dropEdits < waveEdits {
			return dst, x, y
		}
	}
}
