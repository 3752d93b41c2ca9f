package seqs

import "math/bits"

// mismatches models in which bases a placed read differs from the pseudogenome, and how.
// With qualities at hand each base's chance of being wrong follows from its Phred value, learnt
// per value; without, the number of mismatches and the gaps between them are modelled.
type mismatches struct {
	perfect [64]prob
	wrong   [128][4][2]prob
	count   tree
	gap     [4][8]tree
	base    [4][4]prob
	baseQ   [128][4][4]prob
	byQual  bool
}

func newMismatches(byQual bool) *mismatches {
	m := &mismatches{count: newTree(8), byQual: byQual}
	for i := range m.perfect {
		m.perfect[i] = newProb
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

// code codes the mismatches of one read: ref is the pseudogenome below it, in the read's
// orientation, one base a byte; read (same length) is compared with it or, decoding, made from it. skip tells the
// bases whose value does not matter (nil: none); quals may be nil.
func (m *mismatches) code(c *coder, ref, read []byte, skip []bool, quals []byte) {
	if m.byQual && quals != nil {
		m.codeByQual(c, ref, read, skip, quals)
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
	i := 0
	for k := n; k > 0; k-- {
		g := 0
		if c.e != nil {
			for ; read[i] == ref[i] || skip != nil && skip[i]; i++ {
				read[i] = ref[i]
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
			copy(read[at:at+g], ref[at:])
			i = at + g
		}
		read[i] = m.letter(c, &m.base[ref[i]&3], ref[i], read[i])
		i++
		at = i
	}
	copy(read[at:], ref[at:])
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

func (m *mismatches) codeByQual(c *coder, ref, read []byte, skip []bool, quals []byte) {
	e, n := uint32(0), 0
	for i, q := range quals {
		e += errorWeight[q]
		if c.e != nil && read[i] != ref[i] {
			if skip != nil && skip[i] {
				read[i] = ref[i]
			} else {
				n++
			}
		}
	}
	// Half steps of the logarithm of the expected number of errors.
	l := bits.Len32(e | 2)
	ctx := min(2*l+int(e>>(l-2)&1), 63)
	some := 0
	if n > 0 {
		some = 1
	}
	if c.adapt(some, &m.perfect[ctx], memory) == 0 {
		copy(read, ref)
		return
	}
	seen, prev := 0, 0
	for i, q := range quals {
		if skip != nil && skip[i] {
			read[i] = ref[i]
			continue
		}
		bad := 0
		if c.e != nil && read[i] != ref[i] {
			bad = 1
		}
		bad = c.adapt(bad, &m.wrong[q&127][seen][prev], memory)
		prev = bad
		if bad == 0 {
			read[i] = ref[i]
			continue
		}
		read[i] = m.letter(c, &m.baseQ[q&127][ref[i]&3], ref[i], read[i])
		if seen < 3 {
			seen++
		}
	}
}
