package seqs

import (
	"encoding/binary"
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

	variants []uint8 // by position of the pseudogenome, modulo a power of two; see variantKnown
	mask     uint64
	shared   [16][8]rc.Prob // that a read has a variant, by which of the last four reads had it and by quality
	settled  []bool         // bases of the current read for which nothing more is coded: it has their variants, or skip was set

	// Without qualities:
	count        rc.Tree
	gap          [4][8]rc.Tree // by the number of mismatches left and the place in the read
	substitution [4][4]rc.Prob // by base of the pseudogenome and decision

	// With qualities:
	countByQual        [64]*rc.Tree       // by the expected number of errors
	differs            [128][8][2]rc.Prob // by quality, the share of mismatches among the bases left, and whether the last base differs
	substitutionByQual [128][4][4]rc.Prob // by quality, base of the pseudogenome and decision
}

func newMismatches(byQual bool, pseudogenome uint64) *mismatches {
	size := uint64(1) << min(bits.Len64(pseudogenome), variantBits)
	m := &mismatches{count: rc.NewTree(8), byQual: byQual, variants: make([]uint8, size+8), mask: size - 1}
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

// A variant is 0x80 | whether each of the last four reads over it had it, newest lowest, << 2 | the
// base on the pseudogenome's strand. 0 is none. A variant that the last four reads did not have is removed.
const (
	variantKnown = 0x80
	variantBits  = 26 // at most this many low bits of a position are the index of its variant
)

// noteVariant makes b the variant at pos unless there is one.
func (m *mismatches) noteVariant(pos uint64, b byte) {
	if pos &= m.mask; m.variants[pos] == 0 {
		m.variants[pos] = variantKnown | 1<<2 | b
	}
}

// alignment is where a placed read is on the pseudogenome.
type alignment struct {
	pos uint64
	rev bool
	n   int
}

// at returns the position of the read's base i.
func (w alignment) at(i int) uint64 {
	if w.rev {
		return w.pos + uint64(w.n-1-i)
	}
	return w.pos + uint64(i)
}

// toGenomeStrand returns base b of the read as it is on the pseudogenome's strand, and the reverse.
func (w alignment) toGenomeStrand(b byte) byte {
	if w.rev {
		return 3 - b
	}
	return b
}

// code codes the mismatches of the read whose alignment is w. ref is the pseudogenome there, in the
// read's orientation, one base a byte; read (of the same length) is compared with it or, decoding,
// made from it. skip is set for bases whose value does not matter (nil: none); quals may be nil.
func (m *mismatches) code(c *rc.Coder, w alignment, ref, read []byte, skip []bool, quals []byte) {
	if m.byQual && quals == nil {
		quals = []byte{} // an empty read
	}
	if c.Decoding() {
		copy(read, ref) // mismatches are written over it
	}
	skip = m.codeVariants(c, w, ref, read, skip, quals)
	if m.byQual {
		m.codeByQual(c, w, ref, read, skip, quals)
		return
	}
	n := 0
	if !c.Decoding() {
		for i, r := range ref {
			if read[i] != r && (skip == nil || !skip[i]) {
				n++
			}
		}
	}
	// A placed read has far fewer than 255 mismatches: see overlap.
	n = int(m.count.Code(c, uint32(n), longMemory))
	at := 0
	for k := n; k > 0; k-- {
		i, g := at, 0
		if !c.Decoding() {
			for ; read[i] == ref[i] || skip != nil && skip[i]; i++ {
			}
			g = i - at
		}
		t := &m.gap[min(k, 4)-1][min(at>>4, 7)]
		for sum := 0; ; {
			v := int(t.Code(c, uint32(min(g-sum, 255)), longMemory))
			sum += v
			if v < 255 || sum > len(ref) {
				g = sum
				break
			}
		}
		if c.Decoding() {
			if at+g >= len(ref) {
				break // corrupt
			}
			i = at + g
		}
		read[i] = m.codeSubstitution(c, &m.substitution[ref[i]&3], ref[i], read[i])
		m.noteVariant(w.at(i), w.toGenomeStrand(read[i]))
		at = i + 1
	}
}

// codeVariants codes at each variant under the read whether the read has it. It returns skip
// with the bases added that have it, for which nothing more is coded.
func (m *mismatches) codeVariants(c *rc.Coder, w alignment, ref, read []byte, skip []bool, quals []byte) []bool {
	owned := false
	for p, end := w.pos, w.pos+uint64(w.n); p < end; {
		x := p & m.mask
		if binary.LittleEndian.Uint64(m.variants[x:]) == 0 && x+8 <= m.mask {
			p += 8
			continue
		}
		v := m.variants[x]
		if v == 0 {
			p++
			continue
		}
		i := int(p - w.pos)
		if w.rev {
			i = w.n - 1 - i
		}
		if skip != nil && skip[i] {
			p++
			continue
		}
		ctx := 0
		if m.byQual {
			ctx = int(min(max(quals[i], 33)-33, 47) / 6)
		}
		b := w.toGenomeStrand(v & 3)
		hist := v >> 2 & 15
		has := c.Adapt(rc.BitOf(!c.Decoding() && read[i] == b), &m.shared[hist][ctx], longMemory)
		hist = (hist<<1 | uint8(has)) & 15
		if hist == 0 {
			m.variants[x] = 0
		} else {
			m.variants[x] = variantKnown | hist<<2 | v&3
		}
		if has != 0 {
			read[i] = b
			if !owned {
				owned = true
				if cap(m.settled) < w.n {
					m.settled = make([]bool, w.n)
				}
				m.settled = m.settled[:w.n]
				clear(m.settled)
				copy(m.settled, skip)
				skip = m.settled
			}
			skip[i] = true
		}
		p++
	}
	return skip
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
func (m *mismatches) codeByQual(c *rc.Coder, w alignment, ref, read []byte, skip []bool, quals []byte) {
	e, n := uint32(0), 0
	for i, q := range quals {
		e += errorWeight[q]
		if !c.Decoding() && read[i] != ref[i] && (skip == nil || !skip[i]) {
			n++
		}
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
	for ; n > 0 && i < len(ref); i++ {
		if skip != nil && skip[i] {
			continue
		}
		q := quals[i]
		density := min(bits.Len(uint(n<<6/(len(ref)-i))), 7)
		bad := c.Adapt(rc.BitOf(!c.Decoding() && read[i] != ref[i]), &m.differs[q&127][density][prev], longMemory)
		prev = bad
		if bad == 0 {
			continue
		}
		read[i] = m.codeSubstitution(c, &m.substitutionByQual[q&127][ref[i]&3], ref[i], read[i])
		m.noteVariant(w.at(i), w.toGenomeStrand(read[i]))
		n--
	}
}
