package seqs

import (
	"math/bits"
	"sort"

	"orcomgo/bases"
	rc "orcomgo/compress/rangecoder"
)

// groups codes the mismatches of reads of one place and length that stand in the order of compareTied, as a set: how many of those that
// agree so far have another mismatch, the first base where some of these do, how many do there, and which bases they have. Those that
// agree there are coded in the same way from the next base on. A read that is left alone is coded by itself.
type groups struct {
	// Each by the number of reads, and:
	more    [1 + restParts][groupSizes]rc.Tree // how many have another mismatch, by whether there was one before and restOf
	differs []rc.Prob                          // that some differ, by whether there was a mismatch before, and as rows
	count   [groupSizes]*rc.Number             // how many differ where some do, less 1
	letter  [2][groupSizes]rc.Tree             // how many of these have r + 2, and of the others r + 3

	// Of the group that is coded:
	w        alignment
	ref      stretch
	few      bool               // at most fewReads
	words    int                // of a read in read and diffs
	read     []uint64           // encoding: the reads' bases on the pseudogenome's strand
	diffs    []uint64           // encoding: of each read, as appendUnlike says
	text     func(i int) []byte // decoding: where the letters of read i go; nil: it is not wanted
	unwanted []byte             // memory for the letters of a read that is not wanted
}

// groupSizes is how many classes of numbers of reads there are, and groupClasses how many coarser ones.
const (
	groupSizes   = 32
	groupClasses = 8
	shareBits    = 3
)

// fewReads is how many reads a group has at most for which there are variants. Larger ones show by themselves what reads share.
const fewReads = 4

func newGroups() *groups {
	g := &groups{differs: rc.NewProbs(2 * groupClasses * differsRows)}
	trees := func(t *[groupSizes]rc.Tree) {
		for i := range t {
			t[i] = rc.NewTree(shareBits)
		}
	}
	for i := range g.more {
		trees(&g.more[i])
	}
	for i := range g.letter {
		trees(&g.letter[i])
	}
	for i := range g.count {
		g.count[i] = rc.NewNumber()
	}
	return g
}

// restParts is how many shares of a read are told apart.
const restParts = 4

// restOf returns which share of the read base `at` and those after it are.
func (g *groups) restOf(at int) int { return (g.w.n - at) * (restParts - 1) / g.w.n }

// sizeOf returns the class of n reads, n at least 1: their number up to 7, then octaves.
func sizeOf(n int) int {
	if n < 8 {
		return n
	}
	return min(4+bits.Len32(uint32(n)), groupSizes-1)
}

// codeShare codes a number v from 0 to n: which eighth of the range it is in by t, then which of these numbers it is, as if all were
// as likely.
func codeShare(c *rc.Coder, v, n int, t *rc.Tree) int {
	all := uint64(n) + 1
	q := uint64(t.Code(c, uint32(uint64(v)<<shareBits/all), longMemory))
	low := (q*all + 1<<shareBits - 1) >> shareBits
	high := ((q+1)*all + 1<<shareBits - 1) >> shareBits
	if low >= high { // in a corrupt stream
		return int(min(low, uint64(n)))
	}
	return int(low) + int(codeBelow(c, uint32(uint64(v)-low), uint32(high-low)))
}

// codeGroup codes the mismatches of n reads with the alignment w, given the pseudogenome there. Encoding, read returns the bases of read
// i on the pseudogenome's strand; decoding, text returns where its letters go, nil if it is not wanted.
func (m *mismatches) codeGroup(c *rc.Coder, w alignment, ref stretch, n int, read func(i int) []uint64, text func(i int) []byte) {
	g := m.groups
	g.w, g.ref, g.few, g.text, g.words = w, ref, n <= fewReads, text, (w.n+bases.PerWord-1)/bases.PerWord
	g.read, g.diffs = g.read[:0], g.diffs[:0]
	for i := range n {
		if !c.Decoding() {
			b := read(i)[:g.words]
			g.read, g.diffs = append(g.read, b...), appendUnlike(g.diffs, ref, b, w.n)
		} else if t := text(i); t != nil {
			ref.letters(t, w.rev)
		}
	}
	m.codeAlike(c, 0, n, 0, 0, false)
}

// codeAlike codes the mismatches of reads lo..hi-1 of the group from base `at` on. Before, they agree, and have so many mismatches; more
// says that all have another one.
func (m *mismatches) codeAlike(c *rc.Coder, lo, hi, at, before int, more bool) {
	g, since := m.groups, differsSince
	if before > 0 {
		since = 0
	}
	for hi-lo > 1 && at < g.w.n {
		n, k := hi-lo, 0
		if !more {
			if !c.Decoding() {
				k = g.last(lo, hi, func(next int) bool { return next < g.w.n }, at)
			}
			lo, more = hi-codeShare(c, k, n, &g.more[min(before, 1)*(1+g.restOf(at))][sizeOf(n)]), true
			continue
		}
		next := 0
		if !c.Decoding() {
			next = g.next(hi-1, at)
			k = g.last(lo, hi, func(x int) bool { return x == next }, at)
		}
		rows := g.differs[(min(before, 1)*groupClasses+min(bits.Len(uint(n)), groupClasses-1))*differsRows:][:differsRows]
		from := at
		if at = codeFirst(c, rows, next, at, since, g.w.n); at == g.w.n {
			return // corrupt
		}
		k = m.codeBases(c, lo, hi, k, at, before)
		hi, at, since = hi-k, at+1, since+at+1-from
	}
	if lo < hi && at < g.w.n {
		m.codeLone(c, lo, at, before, more)
	}
}

// codeBases codes how many of reads lo..hi-1 differ at base `at`, k of them, which are the last ones, what they have there, and then what
// comes after it of these. It returns k.
func (m *mismatches) codeBases(c *rc.Coder, lo, hi, k, at, before int) int {
	g, n, j := m.groups, hi-lo, m.groups.w.index(at)
	r := g.w.turned(g.ref.base(j))
	k = min(1+int(g.count[sizeOf(n)].Code(c, uint32(k-1), longMemory)), n)
	var have [4]int // by base less r
	if lo = hi - k; !c.Decoding() {
		for i := lo; i < hi; i++ {
			have[(g.w.turned(bases.Words(g.read[i*g.words:]).At(j))-r)&3]++
		}
	}
	if k == 1 {
		b := byte(0)
		for d := range have {
			if have[d] > 0 {
				b = (r + byte(d)) & 3
			}
		}
		b = m.codeSubstitution(c, &m.substitution[0][r], r, b)
		have[(b-r)&3] = 1
	} else {
		have[2] = codeShare(c, have[2], k, &g.letter[0][sizeOf(k)])
		if rest := k - have[2]; rest > 0 {
			have[3] = codeShare(c, have[3], rest, &g.letter[1][sizeOf(rest)])
		}
		have[1] = k - have[2] - have[3]
	}
	for _, d := range lettersInOrder[1:] {
		if have[d] == 0 {
			continue
		}
		if c.Decoding() {
			for i := lo; i < lo+have[d]; i++ {
				if t := g.text(i); t != nil {
					t[at] = bases.Letters[(r+byte(d))&3]
				}
			}
		}
		m.codeAlike(c, lo, lo+have[d], at+1, before+1, false)
		lo += have[d]
	}
	return k
}

// codeLone codes the mismatches of read i of the group from base `at` on: see codeAlike.
func (m *mismatches) codeLone(c *rc.Coder, i, at, before int, more bool) {
	g := m.groups
	var read []uint64
	var text []byte
	if c.Decoding() {
		if text = g.text(i); text == nil {
			g.unwanted = append(g.unwanted[:0], make([]byte, g.w.n)...)
			text = g.unwanted
		}
	} else {
		read = g.read[i*g.words:][:g.words]
		m.unlike = append(m.unlike[:0], g.diffs[i*g.words:][:g.words]...)
		clearBefore(m.unlike, g.w, at)
	}
	had := 0
	if g.few {
		had = m.codeVariants(c, g.w, at, read, text, nil, nil)
	}
	which := 1 + min(before, 1)*2*restParts + g.restOf(at)*2 + rc.BitOf(more && had == 0)
	m.codePlain(c, g.w, g.ref, read, text, at, which, g.few)
}

// lettersInOrder are the bases of reads, less that of the pseudogenome, in the order in which reads with them stand; standing is the
// inverse.
var lettersInOrder, standing = [4]int{0, 2, 3, 1}, [4]int{0, 3, 1, 2}

// compareTied compares reads of one place and length by their bases, first to last: which come first is in lettersInOrder.
func compareTied(a, b []uint64, w alignment, ref stretch) int {
	for k := range a {
		i := k
		if w.rev {
			i = len(a) - 1 - k
		}
		x := a[i] ^ b[i]
		if x == 0 {
			continue
		}
		at := uint(bits.TrailingZeros64(x))
		if w.rev {
			at = 63 - uint(bits.LeadingZeros64(x))
		}
		at &^= 1
		r := ref.word(i) >> at
		da, db := (a[i]>>at-r)&3, (b[i]>>at-r)&3
		if w.rev { // the complement of r + d is that of r, less d
			da, db = -da&3, -db&3
		}
		return standing[da] - standing[db]
	}
	return 0
}

// clearBefore clears what a result of appendUnlike says of the bases of the read before base `at`.
func clearBefore(unlike []uint64, w alignment, at int) {
	for i := range unlike {
		from, to := 32*i, 32*i+32 // on the pseudogenome's strand
		if w.rev {
			keep := min(max(w.n-at-from, 0), 32)
			unlike[i] &= bases.First(keep)
		} else if at > from {
			unlike[i] &^= bases.First(min(at, to) - from)
		}
	}
}

// next returns the first base, from base `at` on, in which read i differs; the length of the read if it does in none.
func (g *groups) next(i, at int) int {
	d := g.diffs[i*g.words:][:g.words]
	if !g.w.rev {
		for k := at >> 5; k < len(d); k++ {
			x := d[k]
			if k == at>>5 {
				x &^= bases.First(at & 31)
			}
			if x != 0 {
				return k<<5 + bits.TrailingZeros64(x)>>1
			}
		}
		return g.w.n
	}
	left := g.w.n - at // bases on the pseudogenome's strand that are not before base `at`
	for k := (left - 1) >> 5; k >= 0; k-- {
		if x := d[k] & bases.First(min(left-k<<5, 32)); x != 0 {
			return g.w.n - 1 - (k<<5 + (63-bits.LeadingZeros64(x))>>1)
		}
	}
	return g.w.n
}

// last returns how many of reads lo..hi-1, the last ones, differ next, from base `at` on, where f says.
func (g *groups) last(lo, hi int, f func(next int) bool, at int) int {
	return hi - lo - sort.Search(hi-lo, func(i int) bool { return f(g.next(lo+i, at)) })
}
