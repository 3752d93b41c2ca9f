package bwt

import (
	"cmp"
	"encoding/binary"
	"slices"

	"orcomgo/internal/largepages"
)

// inducer orders all suffixes of a text, given the order of its stars, and writes the transform as it goes (Itoh and Tanaka, "An
// efficient method for in memory construction of suffix arrays", 1999; here with the types of Mori's divsufsort).
//
// First, the suffixes of type S are put in order, from the largest to the smallest: each one that is preceded by a symbol that is not
// larger than its own first symbol gives the place of the suffix before it. Then those of type L are put in order, from the smallest to
// the largest, by those of both types in the same way.
//
// A suffix gives the place of one that begins with another symbol, or with the same one once more. So the suffixes of one type that begin
// with a symbol are levels: those that begin with it once, twice, and so on. A level is complete before any thread needs it. If it is
// large, all threads go through it: each counts what its share will give, which says where each may write.
//
// A suffix is an entry of 64 bits: its place in the lower 32, and above it the word of the text which has the symbol before it. So the
// text is read only when the next symbol is in another word. A word has four symbols, or sixteen of two bits.
type inducer struct {
	*types
	dst     []byte
	threads int

	source []byte // where words come from: the text, or its codes of two bits
	tail   uint64 // the last word of source, which need not be whole
	ending uint64 // the last symbol of the text, as words have it
	wordForm
	inWords [256]uint8 // of the number of a symbol: what words have
	symbols [256]byte  // of what words have: the symbol

	starts   []uint32
	step     uint64
	multiple uint64 // p times it is below it if p is a multiple of step (Lemire et al., "Faster remainder by direct computation", 2019)

	s, l   []uint64 // entries of type S, descending, and L, ascending; but symbols ascend in both
	shares []share
}

// share is what one thread needs to go through a part of a level.
type share struct {
	counts [256]uint32 // of the symbols before its suffixes
	places [256]int    // by symbols: where the next suffix goes that begins with it
	first  int         // which of the part is suffix 0; -1 if it is not there
	unread [gather]int
	_      [128]byte // threads have no line of the cache in common
}

// wordForm says how a word has its symbols, from the highest bits on.
type wordForm struct {
	last uint32 // symbols of a word, less one
	log  uint8  // a symbol has 1 << log bits
	mask uint8  // these bits
}

// before returns the symbol before the suffix of an entry.
func (f wordForm) before(e uint64) uint8 {
	return uint8(e>>32>>(^(uint32(e)-1)&f.last<<f.log&31)) & f.mask
}

const (
	inducePiece = 1 << 12 // so many entries a thread goes through at a time, if one is enough
	induceSmall = 1 << 6  // fewer entries are not counted
	induceLarge = 1 << 14 // from so many entries on all threads go through a level
	induceShare = 1 << 11 // a thread goes through at least so many of them
	gather      = 1 << 9  // so many words of the text are read at a time
	spare       = 16      // entries between those that threads write for nothing, so that they have no line of the cache in common
)

func newInducer(m *memory, dst, text []byte, t *codedText, ty *types, starts []uint32, threads int) *inducer {
	v := &inducer{types: ty, dst: dst, threads: threads, source: text, ending: uint64(text[len(text)-1]), wordForm: wordForm{3, 3, 0xff},
		inWords: [256]uint8(t.symbols[:]), starts: starts, step: uint64(Step(len(text))),
		shares: make([]share, threads*4)}
	for i := range v.symbols {
		v.symbols[i] = byte(i)
	}
	if t.width == 2 {
		v.source, v.ending, v.wordForm = t.bytes, uint64(t.number[v.ending]), wordForm{15, 1, 3}
		v.inWords, v.symbols = v.symbols, v.inWords
	}
	var tail [4]byte
	copy(tail[:], v.source[(len(v.source)-1)&^3:])
	v.tail = uint64(binary.BigEndian.Uint32(tail[:]))
	v.multiple = ^uint64(0)/v.step + 1
	total := uint32(0)
	for _, n := range ty.ofS {
		total += n
	}
	v.s = largepages.Make[uint64](int(total) + spare*len(v.shares))
	// Stars are sorted where suffixes of type L will be, which are more, so that there is no smaller memory to replace then.
	v.l = reuse(&m.entries, len(text)-int(total)+spare*len(v.shares))
	return v
}

// entry returns the entry of the suffix at place p.
func (v *inducer) entry(p uint32) uint64 {
	if p == 0 {
		return v.ending << 32
	}
	at := uint64((p-1)&^v.last) << v.log >> 3
	if at+4 > uint64(len(v.source)) {
		return v.tail<<32 | uint64(p)
	}
	return uint64(binary.BigEndian.Uint32(v.source[at:]))<<32 | uint64(p)
}

// starGroup is the stars that begin with the same two symbols: the rank of the first among all stars, where that one is in s, and how
// many they are. The next ones are before it.
type starGroup struct{ rank, at, size uint64 }

// layOut says where in s suffixes are. Of those that begin with one symbol, the larger second symbol is first, and stars come after the
// others that begin with the same two symbols, since they precede a suffix of type L, which is smaller. It returns the groups of stars
// by rank; and by two symbols, as in types.pairS, where the first suffix is that begins with them.
func (v *inducer) layOut() (stars []starGroup, place []uint32) {
	place = make([]uint32, len(v.pairS))
	ends := make([]uint32, len(v.pairS))
	at := uint32(0)
	for x := range v.size {
		end := at + v.ofS[x]
		for y := v.size - 1; y > x; y-- {
			pair := x<<v.shift | y
			place[pair] = at
			at += v.pairS[pair]
			ends[pair] = at
		}
		place[x<<v.shift|x] = at // those that begin with x twice
		at = end
	}
	rank := uint64(0)
	for pair, size := range v.pairStars {
		if size > 0 {
			stars = append(stars, starGroup{rank, uint64(ends[pair]) - 1, uint64(size)})
			rank += uint64(size)
		}
	}
	return stars, place
}

// setStars puts sorted stars where they go in s. The first one has the given rank among all stars; symbol returns the place of the
// suffix of one of them. Goroutines may set different ones at a time.
func (v *inducer) setStars(groups []starGroup, rank uint64, sorted []uint64, symbol func(star uint64) uint64) {
	k, found := slices.BinarySearchFunc(groups, rank, func(g starGroup, rank uint64) int { return cmp.Compare(g.rank, rank) })
	if !found {
		k--
	}
	var at [gather]uint32
	for ; len(sorted) > 0; k++ {
		g := groups[k]
		from := rank - g.rank
		n := min(g.size-from, uint64(len(sorted)), gather)
		// In loops of their own, so that as many reads as possible wait for memory together.
		for i, e := range sorted[:n] {
			at[i] = uint32(symbol(e))
		}
		to := v.s[g.at-from+1-n:][:n]
		for i, p := range at[:n] {
			to[len(to)-1-i] = v.entry(p)
		}
		rank += n
		sorted = sorted[n:]
		if from+n < g.size {
			k--
		}
	}
}

// run orders all suffixes, once the stars are set; place is that of layOut.
func (v *inducer) run(place []uint32) {
	n := uint32(len(v.dst))
	firstS, firstL, rank := make([]uint32, v.size+1), make([]uint32, v.size+1), uint32(0)
	for x := range v.size {
		firstS[x+1], firstL[x+1] = firstS[x]+v.ofS[x], firstL[x]+v.ofL[x]
	}
	for x := v.size - 1; x >= 0; x-- {
		var next [256]int // by symbols: where the next suffix goes that begins with it
		for b := range x + 1 {
			next[v.inWords[b]] = int(place[b<<v.shift|x])
		}
		c := v.inWords[x]
		v.induce(&induction{from: v.s, to: v.s, next: &next, rank: firstS[x+1] + firstL[x+1] - 1, down: true, most: c}, int(firstS[x]), c)
	}
	var next [256]int
	for x := range v.size {
		next[v.inWords[x]] = int(firstL[x])
	}
	v.l[next[v.ending]] = v.entry(n - 1)
	next[v.ending]++
	for x := range v.size {
		c := v.inWords[x]
		v.induce(&induction{from: v.l, to: v.l, next: &next, rank: rank, least: c, most: 255}, int(firstL[x]), c)
		if c < 255 {
			v.pass(&induction{to: v.l, next: &next, backwards: true, least: c + 1, most: 255}, v.s[firstS[x]:firstS[x+1]])
		}
		rank += v.ofS[x] + v.ofL[x]
	}
}

// induction is a pass through suffixes of one type that begin with one symbol.
type induction struct {
	from, to []uint64
	next     *[256]int // by symbols: where in to the next suffix goes that begins with it
	rank     uint32    // of the first suffix
	down     bool      // ranks fall
	// Nothing is written to the transform, and the last suffix is first.
	backwards   bool
	least, most uint8 // symbols that give the place of the suffix before
}

// induce goes through the suffixes of p.from from place at on, up to those that it adds to them, which begin with c.
func (v *inducer) induce(p *induction, at int, c uint8) {
	for at < p.next[c] {
		level := p.from[at:p.next[c]]
		if len(level) < induceLarge || v.threads == 1 {
			level = level[:min(len(level), inducePiece)]
		}
		v.pass(p, level)
		at += len(level)
		if p.down {
			p.rank -= uint32(len(level))
		} else {
			p.rank += uint32(len(level))
		}
	}
}

// pass goes through a level, or a part of one.
func (v *inducer) pass(p *induction, level []uint64) {
	if len(level) < induceSmall {
		v.passFew(p, level)
		return
	}
	if len(level) < induceLarge || v.threads == 1 {
		x := &v.shares[0]
		v.count(p, level, 0, x)
		x.places = *p.next
		v.place(p, level, 0, x)
		*p.next = x.places
		return
	}
	n := min(len(level)/induceShare, len(v.shares))
	bounds := cutInto(len(level), n)
	part := func(i int) []uint64 {
		if p.backwards {
			i = n - 1 - i
		}
		return level[bounds[i]:bounds[i+1]]
	}
	parallel(n, v.threads, func(i int) { v.count(p, part(i), uint32(bounds[i]), &v.shares[i]) })
	for _, b := range v.inWords[:v.size] {
		next := p.next[b]
		for i := range n {
			v.shares[i].places[b] = next
			next += int(v.shares[i].counts[b])
		}
		if p.least <= b && b <= p.most {
			p.next[b] = next
		}
	}
	parallel(n, v.threads, func(i int) { v.place(p, part(i), i, &v.shares[i]) })
}

// passFew is pass for so few suffixes that counting would take longer.
func (v *inducer) passFew(p *induction, level []uint64) {
	i, direction := 0, 1
	if p.backwards {
		i, direction = len(level)-1, -1
	}
	rank, step := p.rank, uint32(1)
	if p.down {
		step = ^uint32(0)
	}
	for range level {
		e := level[i]
		i += direction
		b := v.before(e)
		if !p.backwards {
			v.dst[rank] = v.symbols[b]
			if v.starting(e) {
				v.starts[uint64(uint32(e))/v.step] = rank
			}
			rank += step
		}
		if uint32(e) != 0 && p.least <= b && b <= p.most {
			if e--; uint32(e)&v.last == 0 {
				e = v.entry(uint32(e))
			}
			p.to[p.next[b]] = e
			p.next[b]++
		}
	}
}

// starting reports whether the suffix of an entry is one of those whose ranks are wanted.
func (v *inducer) starting(e uint64) bool { return uint64(uint32(e))*v.multiple < v.multiple }

// count counts the symbols before suffixes, and writes them to the transform; before is how many suffixes of the level are before them.
// The last symbol of the text, which is before suffix 0, is not counted.
func (v *inducer) count(p *induction, suffixes []uint64, before uint32, x *share) {
	form := v.wordForm
	x.counts, x.first = [256]uint32{}, -1
	rank, step := p.rank+before, uint32(1)
	if p.down {
		rank, step = p.rank-before, ^uint32(0)
	}
	for i, e := range suffixes {
		b := form.before(e)
		x.counts[b]++
		if !p.backwards {
			v.dst[rank] = v.symbols[b]
			rank += step
		}
		if v.starting(e) {
			if uint32(e) == 0 {
				x.counts[b]--
				x.first = i
			}
			if !p.backwards {
				v.starts[uint64(uint32(e))/v.step] = rank - step
			}
		}
	}
}

// place writes the suffixes before those of a part of a level to where they go; number is that of the share x, which counted the part.
func (v *inducer) place(p *induction, suffixes []uint64, number int, x *share) {
	if i := x.first; i >= 0 {
		// Nothing is before suffix 0.
		x.first = -1
		parts := [][]uint64{suffixes[:i], suffixes[i+1:]}
		if p.backwards {
			parts[0], parts[1] = parts[1], parts[0]
		}
		v.place(p, parts[0], number, x)
		v.place(p, parts[1], number, x)
		return
	}
	// Suffixes that the pass does not place are written, too, for nothing: that costs less than telling them apart.
	var steps [256]int
	nothing := len(p.to) - spare*(number+1)
	for b := range steps {
		if steps[b] = 1; uint8(b) < p.least || uint8(b) > p.most {
			steps[b], x.places[b] = 0, nothing
		}
	}
	form, to := v.wordForm, p.to
	i, direction := 0, 1
	if p.backwards {
		i, direction = len(suffixes)-1, -1
	}
	for left := len(suffixes); left > 0; left -= gather {
		n := 0
		for range min(left, gather) {
			e := suffixes[i]
			i += direction
			b := form.before(e)
			at, step := x.places[b], steps[b]
			x.places[b] = at + step
			e--
			to[at] = e
			x.unread[n&(gather-1)] = at
			n += step & int((uint32(e)&form.last-1)>>31) // if the next symbol is in another word
		}
		// In a loop of its own, so that as many reads as possible wait for memory together.
		for _, at := range x.unread[:n] {
			to[at] = v.entry(uint32(to[at]))
		}
	}
}
