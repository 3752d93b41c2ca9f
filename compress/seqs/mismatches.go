package seqs

import (
	"math/bits"

	rc "orcomgo/compress/rangecoder"
)

// mismatches models in which bases a placed read differs from the pseudogenome, and how.
// If there are qualities, the probability that a base differs is learnt for each quality value;
// else the number of mismatches and the gaps between them are modelled.
//
// A mismatch that several reads share is not a sequencing error but another allele, a copy of a repeat, or
// an error of the pseudogenome. Each position keeps the base that a read had there
// instead (a variant). For each of the following reads it is coded first whether it has the variant.
type mismatches struct {
	byQual bool

	variants *variants
	shared   [16][8]rc.Prob // that a read has a variant, by which of the last four reads had it and by quality

	// Of the current read, a bit for each base, as in baseBit:
	unlike  []uint64 // encoding: bases that differ from the pseudogenome and are to be coded
	settled []uint64 // with qualities: bases for which nothing more is coded: the read has their variants, or skip was set

	// Without qualities:
	count        rc.Tree
	gap          [4][8]rc.Tree // by the number of mismatches left and the place in the read
	substitution [4][4]rc.Prob // by base of the pseudogenome and decision

	// With qualities:
	countByQual        [64]*rc.Tree       // by the expected number of errors
	differs            [128][8][2]rc.Prob // by quality, the share of mismatches among the bases left, and whether the last base differs
	substitutionByQual [128][4][4]rc.Prob // by quality, base of the pseudogenome and decision
}

// newMismatches returns a model for reads that lie in a range of so many bases of the pseudogenome. Its variants are to be released.
func newMismatches(byQual bool, bases uint64) *mismatches {
	size := uint64(1) << min(bits.Len64(bases), variantBits)
	m := &mismatches{count: rc.NewTree(8), byQual: byQual, variants: newVariants(size)}
	for i := range m.shared {
		rc.FillProbs(m.shared[i][:])
	}
	for q := range m.differs {
		for i := range m.differs[q] {
			rc.FillProbs(m.differs[q][i][:])
		}
		for i := range m.substitutionByQual[q] {
			rc.FillProbs(m.substitutionByQual[q][i][:])
		}
	}
	for i := range m.gap {
		for j := range m.gap[i] {
			m.gap[i][j] = rc.NewTree(8)
		}
	}
	for i := range m.substitution {
		rc.FillProbs(m.substitution[i][:])
	}
	return m
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

// alignment is where a placed read is on the pseudogenome.
type alignment struct {
	pos uint64 // in the range of newMismatches
	rev bool
	n   int
}

// index returns the place in the read of the base that is at place j of the alignment on the pseudogenome's strand, and the reverse.
func (w alignment) index(j int) int {
	if w.rev {
		return w.n - 1 - j
	}
	return j
}

// turned returns a base of the pseudogenome's strand as it is on the read's, and the reverse.
func (w alignment) turned(b byte) byte {
	if w.rev {
		return 3 - b
	}
	return b
}

// baseBit returns the word in which base j of a read has its bit, and the bit: 32 bases a word, with bits 0, 2, 4 and so on.
func baseBit(j int) (word int, bit uint64) { return j >> 5, 1 << (2 * uint(j&31)) }

// wordBase returns base j of packed bases, 32 a word.
func wordBase(words []uint64, j int) byte { return byte(words[j>>5]>>(2*uint(j&31))) & 3 }

// clearedWords returns n words that are 0, in the memory of dst if that has room.
func clearedWords(dst []uint64, n int) []uint64 {
	if cap(dst) < n {
		return make([]uint64, n)
	}
	dst = dst[:n]
	clear(dst)
	return dst
}

// code codes the mismatches of the read whose alignment is w. ref is the pseudogenome there. Encoding, read is the read's bases on
// the pseudogenome's strand, 32 a word; decoding, its letters are written to text, in its own orientation. skip is set for bases
// of the read whose value does not matter (nil: none); quals may be nil.
func (m *mismatches) code(c *rc.Coder, w alignment, ref stretch, read []uint64, text []byte, skip []bool, quals []byte) {
	if m.byQual && quals == nil {
		quals = []byte{} // an empty read
	}
	if c.Decoding() {
		ref.letters(text, w.rev) // mismatches are written over it
	} else {
		m.compare(w.n, ref, read)
	}
	if m.byQual {
		m.settled = clearedWords(m.settled, (w.n+31)/32)
	}
	for i := range skip {
		if skip[i] {
			m.settle(c, w.index(i))
		}
	}
	m.codeVariants(c, w, read, text, skip, quals)
	if m.byQual {
		m.codeByQual(c, w, ref, read, text, quals)
		return
	}
	n := 0
	if !c.Decoding() {
		n = countBits(m.unlike)
	}
	// A placed read has far fewer than 255 mismatches: see overlap.
	n = int(m.count.Code(c, uint32(n), longMemory))
	at := 0
	for k := n; k > 0; k-- {
		g := 0
		if !c.Decoding() {
			g = w.index(m.nextUnlike(w.rev)) - at
		}
		t := &m.gap[min(k, 4)-1][min(at>>4, 7)]
		for sum := 0; ; {
			v := int(t.Code(c, uint32(min(g-sum, 255)), longMemory))
			sum += v
			if v < 255 || sum > w.n {
				g = sum
				break
			}
		}
		if c.Decoding() && at+g >= w.n {
			break // corrupt
		}
		j := w.index(at + g)
		r := w.turned(ref.base(j))
		m.codeBase(c, w, j, &m.substitution[r], r, read, text)
		at += g + 1
	}
}

// compare sets unlike to the bases of a read that differ from the pseudogenome.
func (m *mismatches) compare(n int, ref stretch, read []uint64) {
	if cap(m.unlike) < len(read) {
		m.unlike = make([]uint64, len(read))
	}
	m.unlike = m.unlike[:len(read)]
	for j, b := range read {
		d := b ^ ref.word(j)
		m.unlike[j] = (d | d>>1) & 0x5555555555555555
	}
	if n&31 != 0 {
		m.unlike[len(read)-1] &= 1<<(2*uint(n&31)) - 1
	}
}

// countBits returns how many bits are set.
func countBits(words []uint64) (n int) {
	for _, x := range words {
		n += bits.OnesCount64(x)
	}
	return n
}

// nextUnlike removes a base from unlike and returns it: the first one or, if last is set, the last one. There is one.
func (m *mismatches) nextUnlike(last bool) int {
	if last {
		k := len(m.unlike) - 1
		for m.unlike[k] == 0 {
			k--
		}
		at := 63 - bits.LeadingZeros64(m.unlike[k])
		m.unlike[k] &^= 1 << at
		return k<<5 | at>>1
	}
	k := 0
	for m.unlike[k] == 0 {
		k++
	}
	at := bits.TrailingZeros64(m.unlike[k])
	m.unlike[k] &= m.unlike[k] - 1
	return k<<5 | at>>1
}

// settle notes that nothing more is coded for base j of the alignment.
func (m *mismatches) settle(c *rc.Coder, j int) {
	word, bit := baseBit(j)
	if m.byQual {
		m.settled[word] |= bit
	}
	if !c.Decoding() {
		m.unlike[word] &^= bit
	}
}

// codeVariants codes at each variant under the read whether the read has it. Bases that have it are settled.
func (m *mismatches) codeVariants(c *rc.Coder, w alignment, read []uint64, text []byte, skip []bool, quals []byte) {
	end := w.pos + uint64(w.n)
	for p := m.variants.next(w.pos, end); p < end; p = m.variants.next(p+1, end) {
		j := int(p - w.pos)
		i := w.index(j)
		if skip != nil && skip[i] {
			continue
		}
		ctx := 0
		if m.byQual {
			ctx = int(min(max(quals[i], 33)-33, 47) / 6)
		}
		v := m.variants.of(p)
		b := *v & 3
		hist := *v >> 2 & 15
		has := c.Adapt(rc.BitOf(!c.Decoding() && wordBase(read, j) == b), &m.shared[hist][ctx], longMemory)
		hist = (hist<<1 | uint8(has)) & 15
		if hist == 0 {
			*v = 0
		} else {
			*v = variantKnown | hist<<2 | b
		}
		if has != 0 {
			if c.Decoding() {
				text[i] = letters[w.turned(b)]
			}
			m.settle(c, j)
		}
	}
}

// codeBase codes which base the read has at place j of the alignment, where the pseudogenome has another one: r, on the read's strand.
func (m *mismatches) codeBase(c *rc.Coder, w alignment, j int, p *[4]rc.Prob, r byte, read []uint64, text []byte) {
	b := byte(0)
	if !c.Decoding() {
		b = w.turned(wordBase(read, j))
	}
	b = m.codeSubstitution(c, p, r, b)
	if c.Decoding() {
		text[w.index(j)] = letters[b]
	}
	m.variants.note(w.pos+uint64(j), w.turned(b))
}

// codeSubstitution codes which of the three other bases the read has where the pseudogenome has r.
func (m *mismatches) codeSubstitution(c *rc.Coder, p *[4]rc.Prob, r, b byte) byte {
	d := int(b-r) & 3
	hi, lo := 0, 0
	if d == 2 {
		hi = 1
	}
	if c.Adapt(hi, &p[0], longMemory) != 0 { // a transition: A-G, C-T
		return (r + 2) & 3
	}
	if d == 3 {
		lo = 1
	}
	if c.Adapt(lo, &p[1], longMemory) != 0 {
		return (r + 3) & 3
	}
	return (r + 1) & 3
}

// codeByQual codes the mismatches that remain: their number, and for each base, until they are used up, whether it differs.
func (m *mismatches) codeByQual(c *rc.Coder, w alignment, ref stretch, read []uint64, text []byte, quals []byte) {
	e, n := uint32(0), 0
	for _, q := range quals {
		e += errorWeight[q]
	}
	if !c.Decoding() {
		n = countBits(m.unlike)
	}
	// Half steps of the logarithm of the expected number of errors.
	l := bits.Len32(e | 2)
	ctx := min(2*l+int(e>>(l-2)&1), 63)
	if m.countByQual[ctx] == nil {
		t := rc.NewTree(8)
		m.countByQual[ctx] = &t
	}
	n = int(m.countByQual[ctx].Code(c, uint32(n), longMemory))
	i, prev := 0, 0
	for ; n > 0 && i < w.n; i++ {
		j := w.index(i)
		word, bit := baseBit(j)
		if m.settled[word]&bit != 0 {
			continue
		}
		q := quals[i]
		bad := 0
		if !c.Decoding() && m.unlike[word]&bit != 0 {
			bad = 1
		}
		density := min(lenOfQuotient(uint(n)<<6, uint(w.n-i)), 7)
		bad = c.Adapt(bad, &m.differs[q&127][density][prev], longMemory)
		prev = bad
		if bad == 0 {
			continue
		}
		r := w.turned(ref.base(j))
		m.codeBase(c, w, j, &m.substitutionByQual[q&127][r], r, read, text)
		n--
	}
}

// lenOfQuotient returns bits.Len(a / b) without dividing; b is at least 1.
func lenOfQuotient(a, b uint) int {
	n := bits.Len(a) - bits.Len(b)
	switch {
	case n < 0:
		return 0
	case a>>n >= b:
		return n + 1
	}
	return n
}
