package seqs

import (
	"encoding/binary"
	"math/bits"
)

// mismatches models in which bases a placed read differs from the pseudogenome, and how.
// With qualities at hand each base's chance of being wrong follows from its Phred value, learnt
// per value; without, the number of mismatches and the gaps between them are modelled.
//
// A mismatch that several reads share is no error: another allele, a copy of a repeat, a
// base that the pseudogenome has wrong. Each position remembers the last base that a read had
// instead, and the reads that follow are asked for it first.
type mismatches struct {
	variants []uint8 // by position of the pseudogenome, modulo a power of two; see variantKnown
	mask     uint64
	shared   [16][8]prob
	fixed    []bool // bases of the read at hand that a variant has settled

	countQ [64]*tree
	wrong  [128][8][2]prob
	count  tree
	gap    [4][8]tree
	base   [4][4]prob
	baseQ  [128][4][4]prob
	byQual bool
}

func newMismatches(byQual bool, pseudogenome uint64) *mismatches {
	size := uint64(1) << min(bits.Len64(pseudogenome), variantBits)
	m := &mismatches{count: newTree(8), byQual: byQual, variants: make([]uint8, size+8), mask: size - 1}
	for i := range m.shared {
		for j := range m.shared[i] {
			m.shared[i][j] = newProb
		}
	}
	for q := range m.wrong {
		for i := range m.wrong[q] {
			for j := range m.wrong[q][i] {
				m.wrong[q][i][j] = newProb
			}
		}
		for i := range m.baseQ[q] {
			for j := range m.baseQ[q][i] {
				m.baseQ[q][i][j] = newProb
			}
		}
	}
	for i := range m.gap {
		for j := range m.gap[i] {
			m.gap[i][j] = newTree(8)
		}
	}
	for i := range m.base {
		for j := range m.base[i] {
			m.base[i][j] = newProb
		}
	}
	return m
}

const memory = 1023 // mismatch statistics hardly drift

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

// A variant: 0x80 | whether each of the last four reads over it had it, newest lowest, << 2 | the
// base on the pseudogenome's strand. 0 is none; one that four reads in turn did not have is forgotten.
const (
	variantKnown = 0x80
	variantBits  = 26 // positions are told apart by so many bits at the most
)

func (m *mismatches) remember(pos uint64, b byte) {
	if pos &= m.mask; m.variants[pos] == 0 {
		m.variants[pos] = variantKnown | 1<<2 | b
	}
}

// stand is where a placed read lies.
type stand struct {
	pos uint64
	rev bool
	n   int
}

// at returns the position of the read's base i, and of a base there what the pseudogenome's strand has.
func (w stand) at(i int) uint64 {
	if w.rev {
		return w.pos + uint64(w.n-1-i)
	}
	return w.pos + uint64(i)
}

func (w stand) turn(b byte) byte {
	if w.rev {
		return 3 - b
	}
	return b
}

// code codes the mismatches of the read that stands at w: ref is the pseudogenome below it, in the
// read's orientation, one base a byte; read (same length) is compared with it or, decoding,
// made from it. skip tells the bases whose value does not matter (nil: none); quals may be nil.
func (m *mismatches) code(c *coder, w stand, ref, read []byte, skip []bool, quals []byte) {
	if m.byQual && quals == nil {
		quals = []byte{} // an empty read
	}
	if c.d != nil {
		copy(read, ref) // mismatches come over it
	}
	skip = m.codeVariants(c, w, ref, read, skip, quals)
	if m.byQual {
		m.codeByQual(c, w, ref, read, skip, quals)
		return
	}
	n := 0
	if c.e != nil {
		for i, r := range ref {
			if read[i] != r && (skip == nil || !skip[i]) {
				n++
			}
		}
	}
	// Places allow far fewer than 255 mismatches: see overlap.
	n = int(m.count.code(c, uint32(n), memory))
	at := 0
	for k := n; k > 0; k-- {
		i, g := at, 0
		if c.e != nil {
			for ; read[i] == ref[i] || skip != nil && skip[i]; i++ {
			}
			g = i - at
		}
		t := &m.gap[min(k, 4)-1][min(at>>4, 7)]
		for sum := 0; ; {
			v := int(t.code(c, uint32(min(g-sum, 255)), memory))
			sum += v
			if v < 255 || sum > len(ref) {
				g = sum
				break
			}
		}
		if c.d != nil {
			if at+g >= len(ref) {
				break // corrupt
			}
			i = at + g
		}
		read[i] = m.letter(c, &m.base[ref[i]&3], ref[i], read[i])
		m.remember(w.at(i), w.turn(read[i]))
		at = i + 1
	}
}

// codeVariants asks at each known variant below the read whether the read has it. It returns skip
// with the bases added that have it, which need nothing more.
func (m *mismatches) codeVariants(c *coder, w stand, ref, read []byte, skip []bool, quals []byte) []bool {
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
		b := w.turn(v & 3)
		hist := v >> 2 & 15
		has := c.adapt(toBit(c.e != nil && read[i] == b), &m.shared[hist][ctx], memory)
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
				if cap(m.fixed) < w.n {
					m.fixed = make([]bool, w.n)
				}
				m.fixed = m.fixed[:w.n]
				clear(m.fixed)
				copy(m.fixed, skip)
				skip = m.fixed
			}
			skip[i] = true
		}
		p++
	}
	return skip
}

// letter codes which of the three other bases stands where the pseudogenome has r.
func (m *mismatches) letter(c *coder, p *[4]prob, r, b byte) byte {
	d := int(b-r) & 3
	hi, lo := 0, 0
	if d == 2 {
		hi = 1
	}
	if c.adapt(hi, &p[0], memory) != 0 { // the complement's partner, a transition: A-G, C-T
		return (r + 2) & 3
	}
	if d == 3 {
		lo = 1
	}
	if c.adapt(lo, &p[1], memory) != 0 {
		return (r + 3) & 3
	}
	return (r + 1) & 3
}

func (m *mismatches) codeByQual(c *coder, w stand, ref, read []byte, skip []bool, quals []byte) {
	e, n := uint32(0), 0
	for i, q := range quals {
		e += errorWeight[q]
		if c.e != nil && read[i] != ref[i] && (skip == nil || !skip[i]) {
			n++
		}
	}
	// Half steps of the logarithm of the expected number of errors.
	l := bits.Len32(e | 2)
	ctx := min(2*l+int(e>>(l-2)&1), 63)
	if m.countQ[ctx] == nil {
		t := newTree(8)
		m.countQ[ctx] = &t
	}
	n = int(m.countQ[ctx].code(c, uint32(n), memory))
	i, prev := 0, 0
	for ; n > 0 && i < len(ref); i++ {
		if skip != nil && skip[i] {
			continue
		}
		q := quals[i]
		density := min(bits.Len(uint(n<<6/(len(ref)-i))), 7)
		bad := c.adapt(toBit(c.e != nil && read[i] != ref[i]), &m.wrong[q&127][density][prev], memory)
		prev = bad
		if bad == 0 {
			continue
		}
		read[i] = m.letter(c, &m.baseQ[q&127][ref[i]&3], ref[i], read[i])
		m.remember(w.at(i), w.turn(read[i]))
		n--
	}
}
