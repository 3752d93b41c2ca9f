package seqs

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bases"
)

// overlay is a read over a pseudogenome.
type overlay struct {
	w     alignment
	read  []byte // a base each
	skip  []bool
	quals []byte
}

// reverseComplement replaces bases by their reverse complement.
func reverseComplement(b []byte) {
	slices.Reverse(b)
	for i := range b {
		b[i] = 3 - b[i]
	}
}

// packedBases packs bases as a pseudogenome has them.
func packedBases(b []byte) []byte {
	packed := make([]byte, len(b)/4+17)
	for i, v := range b {
		packed[i/4] |= v << (2 * (i % 4))
	}
	return packed
}

// words returns the read as it is encoded: on the pseudogenome's strand, 32 bases a word.
func (o *overlay) words() []uint64 {
	b := bytes.Clone(o.read)
	if o.w.rev {
		reverseComplement(b)
	}
	w := make([]uint64, (len(b)+31)/32)
	for i, v := range b {
		w[i/32] |= uint64(v) << (2 * (i % 32))
	}
	return w
}

// over returns a read over pg that differs from it at the given positions of pg, where the pseudogenome's strand would have base b.
func over(pg []byte, pos, n int, rev bool, b byte, at ...int) *overlay {
	o := &overlay{w: alignment{uint64(pos), rev, n}}
	o.read = bytes.Clone(pg[pos : pos+n])
	for _, p := range at {
		o.read[p-pos] = b
	}
	if rev {
		reverseComplement(o.read)
	}
	return o
}

// codedOver codes the mismatches of reads, decodes them, and returns the model of the decoder and how many bits the reads from number
// `from` on take.
func codedOver(t *testing.T, byQual bool, pg []byte, reads []*overlay, from int) (*mismatches, float64) {
	t.Helper()
	packed := packedBases(pg)
	below := func(o *overlay) stretch { return stretch{packed, int(o.w.pos)} }
	code := func(reads []*overlay) []byte {
		c, m := encodeTo(nil), newMismatches(byQual, uint64(len(pg)))
		for _, o := range reads {
			m.code(c, o.w, below(o), o.words(), nil, o.skip, o.quals)
		}
		return c.Enc.Finish()
	}
	data := code(reads)
	d, m := decodeFrom(data), newMismatches(byQual, uint64(len(pg)))
	for i, o := range reads {
		got := make([]byte, o.w.n)
		m.code(d, o.w, below(o), nil, got, o.skip, o.quals)
		for j := range got {
			if got[j] != bases.Letters[o.read[j]] && (o.skip == nil || !o.skip[j]) {
				t.Fatalf("base %d of read %d is decoded as %q, want %q", j, i, got[j], bases.Letters[o.read[j]])
			}
		}
	}
	return m, 8 * float64(len(data)-len(code(reads[:from])))
}

// TestMismatchesRoundTrip: reads of all lengths, strands and numbers of mismatches come back, with qualities and without, whatever bases
// have no value of their own.
func TestMismatchesRoundTrip(t *testing.T) {
	r := rand.New(rand.NewSource(120))
	pg := randomBases(r, 3000)
	for _, byQual := range []bool{false, true} {
		var reads []*overlay
		for range 1500 {
			n := r.Intn(300)
			o := over(pg, r.Intn(len(pg)-n), n, r.Intn(2) == 1, 0)
			worst := []int{0, 50, 5}[r.Intn(3)]
			if r.Intn(4) == 0 {
				o.skip = make([]bool, n)
			}
			for j := range o.read {
				if worst > 0 && r.Intn(worst) == 0 {
					o.read[j] = byte(r.Intn(4))
				}
				if o.skip != nil && r.Intn(6) == 0 {
					o.skip[j] = true
				}
				if byQual {
					o.quals = append(o.quals, byte('!'+r.Intn(94)))
				}
			}
			reads = append(reads, o)
		}
		codedOver(t, byQual, pg, reads, 0)
	}
	// Long gaps go in several numbers.
	long := randomBases(r, 2000)
	var reads []*overlay
	for _, gap := range []int{0, 1, 254, 255, 256, 509, 510, 511, 1300} {
		b := (long[gap] + 1) & 3
		reads = append(reads, over(long, 0, 1400, false, b, gap), over(long, 0, 1400, true, b, gap), over(long, 0, gap+1, false, b, gap))
	}
	for _, o := range reads { // each by itself, so that none is known
		codedOver(t, false, long, []*overlay{o}, 0)
	}
}

func randomBases(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Intn(4))
	}
	return b
}

// TestVariantsAreAskedForFirst: a difference that reads share costs little from the second read on, on either strand; differences that no
// two share cost what telling their places takes.
func TestVariantsAreAskedForFirst(t *testing.T) {
	r := rand.New(rand.NewSource(121))
	pg := randomBases(r, 4000)
	b := (pg[2000] + 2) & 3
	const count, first = 400, 40
	for _, byQual := range []bool{false, true} {
		var shared, apart []*overlay
		for i := range count {
			shared = append(shared, over(pg, 1901+r.Intn(100), 100, i%2 == 1, b, 2000))
			if i < 90 {
				at := 40*i + r.Intn(40) // another place each time
				apart = append(apart, over(pg, 40*i, 100, i%2 == 1, (pg[at]+2)&3, at))
			}
		}
		if byQual {
			for _, o := range append(shared, apart...) {
				o.quals = bytes.Repeat([]byte{'I'}, 100)
			}
		}
		_, bits := codedOver(t, byQual, pg, shared, first)
		if bits /= count - first; bits > 0.5 {
			t.Errorf("by quality %v: a shared difference costs %.2f bits", byQual, bits)
		}
		_, bits = codedOver(t, byQual, pg, apart, first)
		if bits /= float64(len(apart) - first); bits < 5 {
			t.Errorf("by quality %v: a difference of one read costs %.2f bits", byQual, bits)
		}
	}
}

// TestVariantsAreForgotten: a position remembers whether each of the last four reads had its variant, and forgets it when none had. Bases
// without a value of their own say nothing.
func TestVariantsAreForgotten(t *testing.T) {
	r := rand.New(rand.NewSource(122))
	pg := randomBases(r, 200)
	const at = 77
	b, other := (pg[at]+1)&3, (pg[at]+3)&3
	for _, c := range []struct {
		reads   string // had it +, had not -, another base o, N there n
		history int    // newest lowest; 0: removed, or there was none
		base    byte
	}{
		{"", 0, 0}, {"-", 0, 0}, {"n", 0, 0}, {"+", 1, b}, {"+-", 2, b}, {"++", 3, b}, {"+--", 4, b}, {"+---", 8, b}, {"+----", 0, 0},
		{"+---+", 1, b}, {"+----+", 1, b}, {"+++++", 15, b}, {"+nnnnn", 1, b}, {"+-n-", 4, b}, {"o", 1, other},
		// The base is not the variant: it is coded as another difference, and the variant stays until it is removed.
		{"+o", 2, b}, {"+oooo", 1, other}, {"+ooo", 8, b},
	} {
		var reads []*overlay
		for i, x := range c.reads {
			o := over(pg, 30+5*i, 60, i%3 == 1, b, at)
			switch x {
			case '-':
				o = over(pg, 30+5*i, 60, i%3 == 1, 0)
			case 'o':
				o = over(pg, 30+5*i, 60, i%3 == 1, other, at)
			case 'n':
				o.skip = make([]bool, 60)
				for j := range o.skip {
					o.skip[j] = int(o.w.pos)+o.w.index(j) == at
				}
			}
			reads = append(reads, o)
		}
		m, _ := codedOver(t, false, pg, reads, 0)
		want := uint8(0)
		if c.history != 0 {
			want = variantKnown | uint8(c.history)<<2 | c.base
		}
		for p := range len(pg) {
			v := uint8(0)
			if m.variants.has(m.variants.block(uint64(p))) {
				v = m.variants.of(uint64(p))
			}
			if p == at && v != want || p != at && v != 0 {
				t.Errorf("reads %q: position %d has variant %b, want %b at %d", c.reads, p, v, want, at)
			}
		}
	}
}

// TestAlignment: bases of a read on the pseudogenome's strand are counted from the start, on the other strand from the end.
func TestAlignment(t *testing.T) {
	w := alignment{100, false, 10}
	if w.index(0) != 0 || w.index(9) != 9 || w.turned(1) != 1 {
		t.Errorf("forward: %d to %d, C is %d", w.index(0), w.index(9), w.turned(1))
	}
	w.rev = true
	if w.index(0) != 9 || w.index(9) != 0 || w.turned(1) != 2 {
		t.Errorf("reversed: %d to %d, C is %d", w.index(0), w.index(9), w.turned(1))
	}
}

// TestMismatchesFollowQualities: where mismatches are at bases of low quality they cost little; the same ones, with qualities that tell
// nothing, much.
func TestMismatchesFollowQualities(t *testing.T) {
	r := rand.New(rand.NewSource(123))
	pg := randomBases(r, 60_000)
	var telling, silent []*overlay
	const count, first = 500, 100
	for i := range count {
		pos := 110 * i
		q := bytes.Repeat([]byte{'I'}, 100)
		o := over(pg, pos, 100, false, 0)
		for k := 3; k < 100; k += 10 + r.Intn(30) {
			o.read[k] = (o.read[k] + 2) & 3
			q[k] = '#'
		}
		plain := *o
		o.quals = q
		plain.quals = bytes.Repeat([]byte{'I'}, 100)
		telling, silent = append(telling, o), append(silent, &plain)
	}
	_, bits := codedOver(t, true, pg, telling, first)
	_, flat := codedOver(t, true, pg, silent, first)
	if bits /= count - first; bits > 3.5 {
		t.Errorf("%.2f bits a read where qualities predict which bases are wrong", bits)
	}
	if flat /= count - first; flat < 4*bits || flat < 15 {
		t.Errorf("%.2f bits a read where qualities predict nothing, %.2f where they do", flat, bits)
	}
}

// TestSubstitutionsAreLearnt: which of three bases replaces another is learnt, for each of the four.
func TestSubstitutionsAreLearnt(t *testing.T) {
	r := rand.New(rand.NewSource(124))
	pg := randomBases(r, 100_000)
	const count, first = 800, 400
	for _, step := range []byte{1, 2, 3, 0} { // 0: any of the three
		var reads []*overlay
		for i := range count {
			pos := 110 * i
			by := step
			if by == 0 {
				by = byte(1 + r.Intn(3))
			}
			reads = append(reads, over(pg, pos, 100, false, (pg[pos+50]+by)&3, pos+50))
		}
		_, bits := codedOver(t, false, pg, reads, first)
		bits /= count - first
		if most := 0.3; step != 0 && bits > most {
			t.Errorf("a base that is always %d on costs %.2f bits", step, bits)
		}
		if step == 0 && (bits < 1.4 || bits > 1.85) {
			t.Errorf("one of three bases costs %.2f bits, want about 1.6", bits)
		}
	}
}
