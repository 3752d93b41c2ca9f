package seqs

import (
	"math"
	"math/bits"

	rc "orcomgo/compress/rangecoder"
)

// qualModel codes, given its qualities, how many bases of a read differ from the pseudogenome, and which. The next one is coded in one
// step: of the bases left, each has a share by its weight, learnt for each quality, and a factor, learnt for each density.
type qualModel struct {
	numbers [64][255]rc.Prob // by the expected number of errors: that no more than so many bases differ
	differs [128][16]rc.Prob // where each base is asked for: by quality; by density, and whether the base before differs

	weight [256]uint32 // by quality
	sums   []uint64    // of the current read: of the weights before each base
	factor [leftClasses][densities]uint64

	reads, learnAt int
	// Since the beginning, by quality: bases of some reads, and bases of all reads that differ.
	seen, differed [128]uint32
	// Of some reads, since factors were set: bases that differ, and how many of them would, in 1/256.
	observed, expected [leftClasses][densities]uint32
}

const (
	densities   = 8         // how many densities there are: see densityOf
	dense       = 5         // from this density on, each base is asked for
	summedBases = 1<<12 - 1 // and in reads of more bases than that
	leftClasses = 12        // of how many mismatches are left; in the upper half one came before
	noFactor    = 256       // a factor of which nothing is known
)

// newQualModel returns a model that has seen no read.
func newQualModel() *qualModel {
	m := &qualModel{learnAt: 32}
	for i := range m.numbers {
		rc.FillProbs(m.numbers[i][:])
	}
	for i := range m.differs {
		rc.FillProbs(m.differs[i][:])
	}
	for i := range m.factor {
		for d := range m.factor[i] {
			m.factor[i][d] = noFactor
		}
	}
	m.setWeights()
	return m
}

// densityOf returns the density of so many mismatches in so many bases: a step for each octave, up to densities-1.
func densityOf(left, bases int) int {
	return min(bits.Len32(uint32(left)<<6/uint32(bases)), densities-1)
}

// codeByQual codes the mismatches that remain: their number, and which bases they are.
func (m *mismatches) codeByQual(c *rc.Coder, w alignment, ref stretch, read []uint64, text []byte, quals []byte) {
	m.learn(quals)
	left := 0
	if !c.Decoding() {
		left = countBits(m.unlike)
	}
	if left = m.codeNumber(c, quals, left); left == 0 {
		return
	}
	m.sum(quals)
	next, before, class := -1, 0, 0 // before: whether the base before differs
	for at := 0; left > 0 && at < w.n; at++ {
		if !c.Decoding() && next < at {
			next = w.index(nextUnlike(m.unlike, w.rev))
		}
		if density := densityOf(left, w.n-at); before != 0 || density >= dense || w.n > summedBases {
			p := &m.differs[quals[at]&127][density<<1|before]
			if before = c.Adapt(rc.BitOf(at == next), p, longMemory); before == 0 {
				continue
			}
		} else {
			at = m.codeNext(c, at, next, w.n, left, class+min(bits.Len(uint(left)), leftClasses/2)-1)
		}
		q, j := quals[at]&127, w.index(at)
		m.differed[q]++
		r := w.turned(ref.base(j))
		m.variants.note(w.pos+uint64(j), m.codeBase(c, w, j, &m.substitution[q][r], r, read, text))
		left, before, class = left-1, 1, leftClasses/2
	}
}

// errorWeight[q] is about 2^20 * 10^(-(q-33)/10).
var errorWeight = func() (t [256]uint32) {
	x := uint64(1) << 40
	for q := range t {
		t[q] = uint32(x >> 20)
		if q >= 33 {
			x = x * 3331652 >> 22 // 10^-0.1 * 2^22
		}
	}
	return
}()

// expectedErrors returns the sum of errorWeight of qualities.
func expectedErrors(quals []byte) (e uint32) {
	t := &errorWeight
	for ; len(quals) >= 8; quals = quals[8:] {
		q := quals[:8]
		e += t[q[0]] + t[q[1]] + t[q[2]] + t[q[3]] + t[q[4]] + t[q[5]] + t[q[6]] + t[q[7]]
	}
	for _, q := range quals {
		e += t[q]
	}
	return e
}

// codeNumber codes how many bases of a read differ.
func (m *qualModel) codeNumber(c *rc.Coder, quals []byte, n int) int {
	e := expectedErrors(quals)
	// Half steps of the logarithm of the expected number of errors.
	l := bits.Len32(e | 2)
	return c.AdaptFirst(m.numbers[min(2*l+int(e>>(l-2)&1), 63)][:], n)
}

// sum sets sums.
func (m *qualModel) sum(quals []byte) {
	if len(m.sums) <= len(quals) {
		m.sums = make([]uint64, len(quals)+1)
	}
	sum, sums := uint64(0), m.sums[1:][:len(quals)]
	for i, q := range quals {
		sum += uint64(m.weight[q])
		sums[i] = sum
	}
}

// noneYet returns the probability, in 1/65536, that none of the mismatches that are left is in some of the bases, given the share of the
// others, in 1/65536. If mismatches were independent, it would be a power of that by their number; it is one by 1, 2 or 4.
func noneYet(share uint64, left int) uint64 {
	for n := min(left, 4); n > 1; n /= 2 {
		share = share * share >> 16
	}
	return share
}

// leastShare returns the least share for which noneYet is p or more. Square roots below 2^17 are exact enough to be rounded up.
func leastShare(p uint64, left int) uint64 {
	for n := min(left, 4); n > 1; n /= 2 {
		p = uint64(math.Ceil(math.Sqrt(float64(p << 16))))
	}
	return p
}

// codeNext codes which base of a read of n, from base `at` on, differs next, if so many mismatches are left, which are of a class.
func (m *qualModel) codeNext(c *rc.Coder, at, next, n, left, class int) int {
	// Stretches of bases have a density each, if the next one is there.
	var starts [densities + 1]int
	var below [densities + 1]uint64 // of weights times factors, before each stretch
	f, d := &m.factor[class], densityOf(left, n-at)
	starts[d] = at
	for k := d; k < densities; k++ {
		starts[k+1] = n
		if k+1 < densities {
			starts[k+1] -= left << 6 >> k
		}
		below[k+1] = below[k] + f[k]*(m.sums[starts[k+1]]-m.sums[starts[k]])
	}
	all, bases := below[densities], n-at
	// Each base has a point, and its share of the others. start returns the first point of base i, which is in stretch d or its end.
	points := uint64(1<<16 - bases)
	start := func(i int) int {
		x := below[d] + f[d]*(m.sums[i]-m.sums[starts[d]])
		return int((1<<16-noneYet(1<<16-x<<16/all, left))*points>>16) + i - at
	}
	if c.Decoding() {
		// The last base that would be reached if all bases before it, and those after it, had their point: it is not after the right one.
		point, top := int(c.Dec.Point()), uint64(0)
		if point >= bases {
			some := (uint64(point-bases+1)<<16 - 1) / points
			top = ((1<<16-leastShare(1<<16-some, left)+1)*all - 1) >> 16
		}
		for d < densities-1 && below[d+1] <= top {
			d++
		}
		next = starts[d]
		limit := m.sums[next] + (top-below[d])/f[d]
		for in := starts[d+1] - next; in > 1; in -= in / 2 {
			if m.sums[next+in/2] <= limit { // a conditional move
				next += in / 2
			}
		}
		for next+1 < n && start(next+1) <= point {
			for next++; next == starts[d+1]; {
				d++
			}
		}
	} else {
		d = densityOf(left, n-next)
	}
	from, to := uint32(start(next)), uint32(start(next+1))
	if c.Decoding() {
		c.Dec.DecodePart(from, to-from)
	} else {
		c.Enc.EncodePart(from, to-from)
	}
	if m.reads%4 == 0 {
		m.observed[class][d]++
		last := uint64(1 << 16)
		for k, x := range below[1:] {
			p := noneYet(1<<16-x<<16/all, left)
			m.expected[class][k] += uint32(last-p) >> 8
			last = p
		}
	}
	return next
}

// learn begins a read with these qualities. Now and then it sets weights and factors.
func (m *qualModel) learn(quals []byte) {
	if m.reads++; m.reads%16 == 0 {
		for _, q := range quals {
			m.seen[q&127]++
		}
	}
	if m.reads == m.learnAt {
		m.learnAt += min(m.reads, 512)
		m.setWeights()
		m.setFactors()
	}
}

// setWeights sets the weights to the shares of bases that differ; of few bases, towards what the quality says.
func (m *qualModel) setWeights() {
	for q := range m.weight {
		w := (uint64(m.differed[q&127]) + 1) << 20 / (16*uint64(m.seen[q&127]) + uint64(1<<20/max(errorWeight[q], 1)))
		m.weight[q] = uint32(min(max(w, 1), 1<<20))
	}
}

// setFactors corrects the factors by what came.
func (m *qualModel) setFactors() {
	for k := range m.factor {
		for d, f := range m.factor[k] {
			came, would := uint64(m.observed[k][d]+4)<<8, uint64(m.expected[k][d]+4<<8)
			m.factor[k][d] = min(max(f*came/would, 4), 1<<14)
		}
	}
	clear(m.observed[:])
	clear(m.expected[:])
}
