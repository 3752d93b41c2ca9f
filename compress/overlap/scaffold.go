package overlap

import (
	"slices"
	"unsafe"
)

// scaffold is a sequence that grows at both ends. Coordinate 0 is the first base of the contig that it
// was started with. After it was merged into
// another scaffold, its parent, it only maps its coordinates to those of the parent.
type scaffold struct {
	buf      []byte
	origin   int // index in buf of coordinate 0
	lo, hi   int // coordinates lo <= c < hi are covered
	reads    int
	reversed bool // coordinate b is shift-b of the parent; if not reversed, shift+b
	shift    int
}

// scaffoldsPerList is the number of scaffolds in a list, a power of two.
const scaffoldsPerList = 1 << 12

// scaffoldOverheadBytes is the memory of a scaffold in addition to its buffer.
const scaffoldOverheadBytes = uint64(unsafe.Sizeof(scaffold{})) + 5

func (a *assembler) scaffold(i int32) *scaffold {
	return &a.scaffolds[i/scaffoldsPerList][i%scaffoldsPerList]
}

// root returns the scaffold into which s was merged, directly or through others (s itself if it was not), and how coordinates
// map: b of s is shift-b of the root if reversed, else shift+b. It shortens the path for the next call.
func (a *assembler) root(s int32) (root int32, reversed bool, shift int) {
	root = s
	for a.parents[root] >= 0 {
		p := a.scaffold(root)
		// b -> b' = reversed ? shift-b : shift+b -> p.reversed ? p.shift-b' : p.shift+b'
		if p.reversed {
			shift = p.shift - shift
		} else {
			shift = p.shift + shift
		}
		reversed = reversed != p.reversed
		root = a.parents[root]
	}
	if root != s && a.parents[s] != root {
		q := a.scaffold(s)
		a.parents[s], q.reversed, q.shift = root, reversed, shift
	}
	return root, reversed, shift
}

// startScaffold makes the contig a new scaffold, if it fits within limits.
func (a *assembler) startScaffold(reads int) {
	n := len(a.forward)
	need := uint64(n) + scaffoldOverheadBytes
	if len(a.parents) >= maxScaffolds || a.totalBases+n > a.limits.bases || a.scaffoldMem+need > a.limits.startBytes {
		a.full = a.full || reads > 1
		return
	}
	id := int32(len(a.parents))
	if id%scaffoldsPerList == 0 {
		a.scaffolds = append(a.scaffolds, make([]scaffold, scaffoldsPerList))
	}
	*a.scaffold(id) = scaffold{buf: slices.Clone(a.forward), hi: n, reads: reads}
	a.parents = append(a.parents, -1)
	a.totalBases += n
	a.scaffoldMem += need
	for _, k := range a.kmers {
		a.insertKmer(k, id, int(k.at))
	}
}

// reserve makes room for coordinates lo..hi-1 in the buffer of s.
func (a *assembler) reserve(s *scaffold, lo, hi int) {
	if s.origin+lo >= 0 && s.origin+hi <= len(s.buf) {
		return
	}
	slack := (s.hi - s.lo) / 2
	nlo, nhi := s.lo, s.hi
	if lo < nlo {
		nlo = lo - slack
	}
	if hi > nhi {
		nhi = hi + slack
	}
	buf := make([]byte, nhi-nlo)
	copy(buf[s.lo-nlo:], s.buf[s.origin+s.lo:s.origin+s.hi])
	a.scaffoldMem += uint64(cap(buf) - cap(s.buf))
	s.buf, s.origin = buf, -nlo
}

// extend appends to the scaffold the bases of the contig beyond its ends. It returns false if they do not fit within limits.
func (a *assembler) extend(h alignment, reads int) bool {
	s := a.scaffold(h.scaffold)
	seq := a.forward
	if h.reversed {
		seq = a.reverse
	}
	s.reads += reads
	end := h.start + len(seq)
	lo, hi := min(s.lo, h.start), max(s.hi, end)
	if hi-lo > maxScaffoldBases || hi > maxScaffoldBases || lo < -maxScaffoldBases {
		return false
	}
	if more := hi - lo - (s.hi - s.lo); a.totalBases+more > a.limits.bases || a.scaffoldMem+uint64(more) > a.limits.extendBytes {
		a.full = a.full || reads > 1
		return false
	}
	a.reserve(s, lo, hi)
	a.totalBases += hi - lo - (s.hi - s.lo)
	oldLo, oldHi := s.lo, s.hi
	if h.start < oldLo {
		copy(s.buf[s.origin+h.start:s.origin+oldLo], seq)
	}
	if end > oldHi {
		copy(s.buf[s.origin+oldHi:s.origin+end], seq[oldHi-h.start:])
	}
	s.lo, s.hi = lo, hi
	for _, k := range a.kmers {
		c := h.start + int(k.at)
		if h.reversed {
			c = end - seedLen - int(k.at)
			k.strand ^= 1
		}
		if c < oldLo || c+seedLen > oldHi {
			a.insertKmer(k, h.scaffold, c)
		}
	}
	return true
}

// merge merges the smaller of two scaffolds, both of which a contig of n bases overlaps, into the larger one, unless they
// differ too much where they overlap.
func (a *assembler) merge(x, y alignment, n int) {
	if s, t := a.scaffold(x.scaffold), a.scaffold(y.scaffold); s.hi-s.lo < t.hi-t.lo {
		x, y = y, x
	}
	s, t := a.scaffold(x.scaffold), a.scaffold(y.scaffold)
	reversed := x.reversed != y.reversed
	shift := x.start - y.start
	lo, hi := t.lo+shift, t.hi+shift
	if reversed {
		shift = x.start + y.start + n - 1
		lo, hi = shift-(t.hi-1), shift-t.lo+1
	}
	// Where the scaffolds overlap, the bases of only one are kept, so they must agree. Repeats can suggest overlaps that
	// are wrong.
	from, to := max(lo, s.lo), min(hi, s.hi)
	for c, left := from, (to-from)/16+1; c < to; c++ {
		v := byte(0)
		if reversed {
			v = 3 - t.buf[t.origin+shift-c]
		} else {
			v = t.buf[t.origin+c-shift]
		}
		if v != s.buf[s.origin+c] {
			if left--; left < 0 {
				return
			}
		}
	}
	lo, hi = min(lo, s.lo), max(hi, s.hi)
	if hi-lo > maxScaffoldBases || hi > maxScaffoldBases || lo < -maxScaffoldBases {
		return
	}
	a.reserve(s, lo, hi)
	for b := t.lo; b < t.hi; b++ {
		c, v := b+shift, t.buf[t.origin+b]
		if reversed {
			c, v = shift-b, 3-v
		}
		if c < s.lo || c >= s.hi {
			s.buf[s.origin+c] = v
		}
	}
	a.totalBases += hi - lo - (s.hi - s.lo) - (t.hi - t.lo)
	s.lo, s.hi = lo, hi
	s.reads += t.reads
	a.scaffoldMem -= uint64(cap(t.buf))
	t.buf = nil
	a.parents[y.scaffold], t.reversed, t.shift = x.scaffold, reversed, shift
}
