package seqs

import (
	"math/bits"

	"orcomgo/bases"
	rc "orcomgo/compress/rangecoder"
)

// mismatches models in which bases a placed read differs from the pseudogenome, and how.
// It is learnt how many there are, and where: by the qualities, if there are some (qualModel), else by place (noQualModel).
//
// A mismatch that several reads share is not a sequencing error but another allele, a copy of a repeat, or
// an error of the pseudogenome. Each position keeps the base that a read had there
// instead (a variant). For each of the following reads it is coded first whether it has the variant.
type mismatches struct {
	byQual bool

	variants *variants
	shared   [3][16][8]rc.Prob // that a read has a variant, by whether it has the one before, which of the last four reads had it, and quality

	// Of the current read:
	unlike []uint64 // encoding: a bit, as in bases.Differing, for each base that differs from the pseudogenome and is to be coded

	// By quality (0 without), base of the pseudogenome and decision.
	substitution [128][4][4]rc.Prob

	*noQualModel // without qualities; else nil

	*qualModel // with qualities; else nil
}

// newMismatches returns a model for reads that lie in a range of so many bases of the pseudogenome.
func newMismatches(byQual bool, bases uint64) *mismatches {
	size := uint64(1) << min(bits.Len64(bases), variantBits)
	m := &mismatches{byQual: byQual, variants: newVariants(size)}
	for i := range m.shared {
		for j := range m.shared[i] {
			rc.FillProbs(m.shared[i][j][:])
		}
	}
	for q := range m.substitution {
		for i := range m.substitution[q] {
			rc.FillProbs(m.substitution[q][i][:])
		}
	}
	if byQual {
		m.qualModel = newQualModel()
	} else {
		m.noQualModel = newNoQualModel()
	}
	return m
}

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
		m.unlike = appendUnlike(m.unlike[:0], ref, read, w.n)
	}
	for i := range skip {
		if skip[i] {
			m.settle(c, w, i)
		}
	}
	m.codeVariants(c, w, 0, read, text, skip, quals)
	if m.byQual {
		m.codeByQual(c, w, ref, read, text, quals)
		return
	}
	m.codePlain(c, w, ref, read, text, 0, 0, true)
}

// codePlain codes the mismatches that remain, of a read without qualities, from base `at` on: their number by count[which], and where
// they are. noted says that they become variants.
func (m *mismatches) codePlain(c *rc.Coder, w alignment, ref stretch, read []uint64, text []byte, at, which int, noted bool) {
	n := 0
	if !c.Decoding() {
		n = countBits(m.unlike)
	}
	// A placed read has far fewer than 255 mismatches: see overlap.
	n = int(m.count[which].Code(c, uint32(n), longMemory))
	for since := differsSince; n > 0; n-- {
		next := 0
		if !c.Decoding() {
			next = w.index(nextUnlike(m.unlike, w.rev))
		}
		if at = codeFirst(c, m.where[(min(n, differsLeft)-1)*differsRows:], next, at, since, w.n); at >= w.n {
			break // corrupt
		}
		j := w.index(at)
		r := w.turned(ref.base(j))
		if b := m.codeBase(c, w, j, &m.substitution[0][r], r, read, text); noted {
			m.variants.note(w.pos+uint64(j), b)
		}
		at, since = at+1, 0
	}
}

// appendUnlike appends to dst a bit, as in bases.Differing, for each base in which a read of n bases differs from the pseudogenome.
func appendUnlike(dst []uint64, ref stretch, read []uint64, n int) []uint64 {
	for j, b := range read {
		dst = append(dst, bases.Differing(b, ref.word(j)))
	}
	if n&31 != 0 {
		dst[len(dst)-1] &= 1<<(2*uint(n&31)) - 1
	}
	return dst
}

// countBits returns how many bits are set.
func countBits(words []uint64) (n int) {
	for _, x := range words {
		n += bits.OnesCount64(x)
	}
	return n
}

// nextUnlike removes a base from the result of appendUnlike and returns it: the first one or, if last is set, the last one. There is one.
func nextUnlike(unlike []uint64, last bool) int {
	if last {
		k := len(unlike) - 1
		for unlike[k] == 0 {
			k--
		}
		at := 63 - bits.LeadingZeros64(unlike[k])
		unlike[k] &^= 1 << at
		return k<<5 | at>>1
	}
	k := 0
	for unlike[k] == 0 {
		k++
	}
	at := bits.TrailingZeros64(unlike[k])
	unlike[k] &= unlike[k] - 1
	return k<<5 | at>>1
}

// settle notes, encoding, that nothing more is coded for base i of the read but that it does not differ.
func (m *mismatches) settle(c *rc.Coder, w alignment, i int) {
	if !c.Decoding() {
		j := w.index(i)
		m.unlike[j>>5] &^= 1 << (2 * uint(j&31)) // 32 bases a word, with bits 0, 2, 4 and so on
	}
}

// codeVariants codes at each variant under the read, from base `at` of the read on, whether the read has it, and returns how many it has.
// Bases that have it are settled.
func (m *mismatches) codeVariants(c *rc.Coder, w alignment, at int, read []uint64, text []byte, skip []bool, quals []byte) (had int) {
	from, end, last := w.pos, w.pos+uint64(w.n), 0
	if w.rev {
		end -= uint64(at)
	} else {
		from += uint64(at)
	}
	for p := m.variants.next(from, end); p < end; p = m.variants.next(p+1, end) {
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
		b := v & 3
		has := c.Adapt(rc.BitOf(!c.Decoding() && bases.Words(read).At(j) == b), &m.shared[last][v>>2&15][ctx], longMemory)
		m.variants.met(p, has)
		last = 1 + has
		if has != 0 {
			if c.Decoding() {
				text[i] = bases.Letters[w.turned(b)]
			}
			m.settle(c, w, i)
			had++
		}
	}
	return had
}

// codeBase codes which base the read has at place j of the alignment, where the pseudogenome has another one: r, on the read's strand. It
// returns the base on the pseudogenome's.
func (m *mismatches) codeBase(c *rc.Coder, w alignment, j int, p *[4]rc.Prob, r byte, read []uint64, text []byte) byte {
	b := byte(0)
	if !c.Decoding() {
		b = w.turned(bases.Words(read).At(j))
	}
	b = m.codeSubstitution(c, p, r, b)
	if c.Decoding() {
		text[w.index(j)] = bases.Letters[b]
	}
	return w.turned(b)
}

// codeSubstitution codes which of the three other bases the read has where the pseudogenome has r.
func (m *mismatches) codeSubstitution(c *rc.Coder, p *[4]rc.Prob, r, b byte) byte {
	d := int(b-r) & 3
	hi, lo := 0, 0
	if d == 2 {
		hi = 1
	}
	if c.AdaptAny(hi, &p[0], longMemory) != 0 { // a transition: A-G, C-T
		return (r + 2) & 3
	}
	if d == 3 {
		lo = 1
	}
	if c.AdaptAny(lo, &p[1], longMemory) != 0 {
		return (r + 3) & 3
	}
	return (r + 1) & 3
}
