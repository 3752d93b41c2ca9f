package overlap

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// joinedScaffolds joins contigs in the order given and returns the scaffolds, each as letters and number of reads, in
// the order in which they were started.
func joinedScaffolds(several ...contig) []string {
	a := newAssembler(1000, noLimits)
	a.addContigs(&contigs{merged: several}, func(int, int) {})
	var out []string
	for i := range a.parents {
		if s := a.scaffold(int32(i)); a.parents[i] < 0 {
			out = append(out, fmt.Sprintf("%s %d", spell(s.buf[s.origin+s.lo:s.origin+s.hi]), s.reads))
		}
	}
	return out
}

// of returns a contig of so many reads; if reverse, it has the reverse complement of letters.
func of(reads uint32, letters string, reverse bool) contig {
	if reverse {
		letters = reverseComplement(letters)
	}
	return contig{seq: codes(letters), reads: reads}
}

// spells reports whether a scaffold, in the form of joinedScaffolds, is letters or its reverse complement, with so many
// reads.
func spells(scaffold, letters string, reads int) bool {
	return scaffold == fmt.Sprintf("%s %d", letters, reads) || scaffold == fmt.Sprintf("%s %d", reverseComplement(letters), reads)
}

// TestJoinOfTwoSpellsTheirUnion: two contigs that overlap by k bases are joined if and only if one of the k-mers in the
// overlap is sampled. The scaffold is then their union, on whichever strands they are.
func TestJoinOfTwoSpellsTheirUnion(t *testing.T) {
	r := rand.New(rand.NewSource(40))
	joins, apart := 0, 0
	for k := 10; k < 50; k++ {
		genome := randomLetters(r, 300)
		want := len(sampleKmers(nil, codes(genome[150-k:150]))) > 0
		for strands := range 4 {
			scaffolds := joinedScaffolds(of(3, genome[:150], strands&1 != 0), of(2, genome[150-k:], strands&2 != 0))
			switch {
			case want && (len(scaffolds) != 1 || !spells(scaffolds[0], genome, 5)):
				t.Fatalf("an overlap of %d bases, strands %b: %v, want %s", k, strands, scaffolds, genome)
			case !want && (len(scaffolds) != 2 || !spells(scaffolds[0], genome[:150], 3) || !spells(scaffolds[1], genome[150-k:], 2)):
				t.Fatalf("an overlap of %d bases, strands %b: %v, want two scaffolds", k, strands, scaffolds)
			}
		}
		switch {
		case want && k < seedLen:
			t.Errorf("a k-mer in %d bases", k)
		case want:
			joins++
		case k >= seedLen+20:
			t.Errorf("no k-mer in %d bases", k)
		default:
			apart++
		}
	}
	if joins < 25 || apart < seedLen-10 {
		t.Errorf("%d overlaps join and %d do not", joins, apart)
	}
}

// TestMergeOfTwoScaffolds: a contig that overlaps two scaffolds merges them, on whichever strands the three are. Later
// contigs are placed correctly on the result.
func TestMergeOfTwoScaffolds(t *testing.T) {
	r := rand.New(rand.NewSource(41))
	for strands := range 8 {
		for _, cut := range []int{120, 180} { // the larger scaffold is the first or the second
			g := randomLetters(r, 300)
			first, second := of(5, g[:cut], strands&1 != 0), of(4, g[cut+10:], strands&2 != 0)
			middle := of(3, g[cut-45:cut+55], strands&4 != 0)
			last := of(2, g[30:270], false)
			scaffolds := joinedScaffolds(first, second, middle, last)
			if len(scaffolds) != 1 || !spells(scaffolds[0], g, 14) {
				t.Fatalf("strands %b, cut at %d: %v, want %s of 14 reads", strands, cut, scaffolds, g)
			}
		}
	}
}

// TestChainOfJoins: scaffolds that are merged many times, on either strand, map their coordinates correctly.
func TestChainOfJoins(t *testing.T) {
	r := rand.New(rand.NewSource(42))
	for range 10 {
		g := randomLetters(r, 4000)
		var all []contig
		for at := 0; at+100 <= len(g); at += 100 {
			all = append(all, of(uint32(1000+r.Intn(1000)), g[at:at+100], r.Intn(2) == 1))
		}
		scaffolds := len(all)
		var bridges []contig
		for at := 50; at+100 <= len(g); at += 100 {
			bridges = append(bridges, of(uint32(1+r.Intn(900)), g[at:at+100], r.Intn(2) == 1))
		}
		all = append(all, bridges...)
		reads := 0
		for i := range all {
			all[i].order = uint32(i)
			reads += int(all[i].reads)
		}
		got := joinedScaffolds(all...)
		if len(got) != 1 || !spells(got[0], g, reads) {
			t.Fatalf("%d scaffolds and %d bridges gave %d scaffolds", scaffolds, len(bridges), len(got))
		}
	}
}

// TestContigsOfMostReadsComeFirst: where contigs differ, the bases of the one with more reads are kept; with equally
// many reads, of the one with the smaller order. A contig inside a scaffold only adds its reads.
func TestContigsOfMostReadsComeFirst(t *testing.T) {
	r := rand.New(rand.NewSource(43))
	g := randomLetters(r, 200)
	other := changed(g, 40, 100, 160)
	ordered := func(c contig, order uint32) contig {
		c.order = order
		return c
	}
	for _, c := range []struct {
		name    string
		contigs []contig
		want    string
		reads   int
	}{
		{"more reads", []contig{of(2, other, false), of(3, g, false)}, g, 5},
		{"as many reads", []contig{ordered(of(2, other, true), 7), ordered(of(2, g, false), 6)}, g, 4},
		{"inside", []contig{of(9, g, false), of(4, other[30:170], true)}, g, 13},
		{"longer, of fewer reads", []contig{of(9, g[50:150], false), of(4, other, true)}, other[:50] + g[50:150] + other[150:], 13},
	} {
		scaffolds := joinedScaffolds(c.contigs...)
		if len(scaffolds) != 1 || !spells(scaffolds[0], c.want, c.reads) {
			t.Errorf("%s: %v, want %s of %d reads", c.name, scaffolds, c.want, c.reads)
		}
	}
}

// TestContigBetweenTwoThatDiffer: a contig that extends beyond one scaffold and lies inside another, which differs from
// the first, is added to the one that contains it.
func TestContigBetweenTwoThatDiffer(t *testing.T) {
	r := rand.New(rand.NewSource(51))
	g := randomLetters(r, 400)
	first := changed(g[:200], 122, 127, 132, 137, 142, 155, 160) // of the 80 bases that overlap 6 may differ
	second := g[120:]
	scaffolds := joinedScaffolds(of(9, first, false), of(8, second, true), of(7, changed(g, 155, 160)[150:260], false))
	if len(scaffolds) != 2 || !spells(scaffolds[0], first, 9) || !spells(scaffolds[1], second, 15) {
		t.Errorf("%v, want %s of 9 reads and %s of 15", scaffolds, first, second)
	}
}

// TestContigsThatDifferStayApart: contigs are joined if at most one base in sixteen, plus one, differs over the whole
// overlap.
func TestContigsThatDifferStayApart(t *testing.T) {
	r := rand.New(rand.NewSource(44))
	g := randomLetters(r, 260)
	spread := func(n int) (at []int) { // over the 96 bases that overlap, but for the first 50
		for i := range n {
			at = append(at, 164+50+6*i)
		}
		return at
	}
	for _, c := range []struct {
		wrong int
		joins bool
	}{{0, true}, {3, true}, {7, true}, {8, false}} {
		// 96 bases may differ in 96/16 + 1 = 7.
		second := changed(g, spread(c.wrong)...)[164:] + randomLetters(r, 50)
		scaffolds := joinedScaffolds(of(3, g, false), of(2, second, false))
		if joins := len(scaffolds) == 1; joins != c.joins {
			t.Errorf("%d bases of 96 differ: joined: %v, want %v", c.wrong, joins, c.joins)
		}
		if c.joins && !spells(scaffolds[0], g+second[96:], 5) || !c.joins && !spells(scaffolds[1], second, 2) {
			t.Errorf("%d bases of 96 differ: %v", c.wrong, scaffolds)
		}
	}
}

// TestJoinThatWouldOverwrite: if two scaffolds that a contig overlaps would overlap each other and differ there,
// neither loses a base.
func TestJoinThatWouldOverwrite(t *testing.T) {
	r := rand.New(rand.NewSource(45))
	g := randomLetters(r, 400)
	// The contig g[150:250] overlaps the first scaffold by 50 bases, of which 4 may differ, and the second by 70, of which 5
	// may differ. After it has extended the first scaffold, the two scaffolds overlap by 70 bases, too.
	first := changed(g[:200], 182, 187, 192, 197)
	for _, wrong := range []int{1, 2} {
		second := changed(g, []int{240, 245}[:wrong]...)[180:]
		scaffolds := joinedScaffolds(of(9, first, false), of(8, second, true), of(7, g[150:250], false))
		switch {
		case wrong == 1 && (len(scaffolds) != 1 || len(scaffolds[0]) != len(g)+len(" 24")):
			t.Errorf("%d bases differ: %v, want one scaffold of %d bases", 4+wrong, scaffolds, len(g))
		case wrong == 2 && (len(scaffolds) != 2 || !spells(scaffolds[0], first+g[200:250], 16) || !spells(scaffolds[1], second, 8)):
			t.Errorf("%d bases differ: %v, want the first scaffold, extended, and the second", 4+wrong, scaffolds)
		}
	}
}

// TestSingleReadsAreJoined: single reads are joined to others that they overlap. Scaffolds of one read are left out.
func TestSingleReadsAreJoined(t *testing.T) {
	r := rand.New(rand.NewSource(46))
	g, h := randomLetters(r, 250), randomLetters(r, 250)
	reads := []string{g[:100], reverseComplement(g[60:160]), g[110:250], h[:120], reverseComplement(h[:70] + "N" + h[71:150]),
		randomLetters(r, 200)}
	rd := loaded(t, archiveOf(t, oneBlock, reads))
	c := &contigs{reads: rd}
	for i := range rd.Count() {
		c.singles = append(c.singles, uint32(i))
	}
	// When a contig of the bins is joined, all of its reads are counted.
	c.merged = []contig{of(5, h[40:], true)}
	a := newAssembler(expectedKmers(c), noLimits)
	a.addContigs(c, func(int, int) {})
	var seq sequence
	a.appendScaffolds(&seq, func(reads, _ int) bool { return reads > 1 })
	got := spell(unpack(nil, seq.packed, 0, seq.n))
	if seq.n != len(g)+len(h) {
		t.Errorf("%d bases, want %d", seq.n, len(g)+len(h))
	}
	for _, s := range []string{g, h} {
		if !strings.Contains(got, s) && !strings.Contains(got, reverseComplement(s)) {
			t.Errorf("%s is not in %s", s, got)
		}
	}
}

// TestFewPlacesAreCompared: for each k-mer, a contig is compared with at most maxProbes places, also for sequences that
// share many k-mers. The index holds at most one more place of a k-mer.
func TestFewPlacesAreCompared(t *testing.T) {
	r := rand.New(rand.NewSource(47))
	for name, middle := range map[string]func() string{
		"24 bases shared":  func() func() string { s := randomLetters(r, 24); return func() string { return s } }(),
		"stutter":          func() string { return strings.Repeat("A", 20+r.Intn(20)) },
		"stutter of three": func() string { return strings.Repeat("ACG", 10+r.Intn(9)) },
	} {
		a := newAssembler(1000, noLimits)
		var all []contig
		for range 300 {
			all = append(all, of(2, randomLetters(r, 60)+middle()+randomLetters(r, 60), r.Intn(2) == 1))
		}
		a.addContigs(&contigs{merged: slices.Clone(all)}, func(int, int) {})
		places, apart := map[uint32]int{}, 0
		for i, s := range a.slots {
			if s != 0 {
				places[a.hashes[i]]++
			}
		}
		for hash, n := range places {
			if n > maxProbes+1 {
				t.Errorf("%s: the index holds %d places of k-mer %x, want at most %d", name, n, hash, maxProbes+1)
			}
		}
		most := 0
		for _, c := range all {
			a.forward, a.reverse = c.seq, reversed(c.seq)
			a.failed.reset()
			for _, k := range sampleKmers(nil, c.seq) {
				a.findAlignment(k, alignment{})
				most = max(most, len(a.candidates))
			}
		}
		if most > maxProbes || most < 2 {
			t.Errorf("%s: %d places are compared for a k-mer, want some and at most %d", name, most, maxProbes)
		}
		for i := range a.parents {
			if a.parents[i] < 0 {
				apart++
			}
		}
		if apart < len(all)*9/10 {
			t.Errorf("%s: %d contigs that share nothing else became %d scaffolds", name, len(all), apart)
		}
	}
}

// TestFailedPlacesAreComparedOnce: a contig is compared once with a place where it has too many mismatches, even if
// several of its k-mers lead there.
func TestFailedPlacesAreComparedOnce(t *testing.T) {
	r := rand.New(rand.NewSource(48))
	g := randomLetters(r, 100)
	a := newAssembler(1000, noLimits)
	a.addContigs(&contigs{merged: []contig{of(2, g+randomLetters(r, 100), false)}}, func(int, int) {})
	c := codes(g + randomLetters(r, 100))
	a.forward, a.reverse = c, reversed(c)
	a.failed.reset()
	compared, kmers := 0, 0
	for _, k := range sampleKmers(nil, c[:100]) {
		if a.findAlignment(k, alignment{}).ok {
			t.Fatal("an alignment with half of its bases wrong is taken")
		}
		compared += len(a.candidates)
		kmers++
	}
	if compared != 1 || kmers < 10 {
		t.Errorf("%d k-mers led to %d comparisons, want 1", kmers, compared)
	}
}

// TestIndexKeepsItsSample: a full index keeps half of its k-mers. They are still found, except a few with too many
// other slots before them. Other k-mers in the index are at most those of the contig that was added last.
func TestIndexKeepsItsSample(t *testing.T) {
	r := rand.New(rand.NewSource(49))
	limits := noLimits
	limits.slots = 1 << 10
	a := newAssembler(1<<20, limits)
	scaffolds := map[int32][]byte{}
	for thin := uint32(1); thin <= 15; thin = thin<<1 | 1 {
		for a.sampleMask < thin {
			seq := randomBases(r, 200)
			a.addContigs(&contigs{merged: []contig{{seq: seq, reads: 2}}}, func(int, int) {})
			scaffolds[int32(len(a.parents)-1)] = seq
		}
		if len(a.slots) > limits.slots || a.sampleMask != thin {
			t.Fatalf("%d slots, sample mask %b, want at most %d and %b", len(a.slots), a.sampleMask, limits.slots, thin)
		}
		used, others := 0, 0
		for i, s := range a.slots {
			if s == 0 {
				continue
			}
			used++
			if a.hashes[i]&thin != 0 {
				others++
			}
		}
		if most := len(sampleKmers(nil, scaffolds[int32(len(a.parents)-1)])); others > most {
			t.Fatalf("%d k-mers in the index are not of those under mask %b, want at most %d", others, thin, most)
		}
		if used != a.used || used < len(a.slots)/8 {
			t.Fatalf("%d of %d slots are used, %d were counted", used, len(a.slots), a.used)
		}
		found, want := 0, 0
		for id, seq := range scaffolds {
			a.forward, a.reverse = seq, reversed(seq)
			for _, k := range a.stillSampled(sampleKmers(nil, seq)) {
				want++
				a.failed.reset()
				if h := a.findAlignment(k, alignment{}); h.ok {
					found++
					if h.scaffold != id || h.start != 0 || h.reversed {
						t.Fatalf("scaffold %d is found at %d of scaffold %d", id, h.start, h.scaffold)
					}
				}
			}
		}
		if found < want*19/20 || want < used*3/4 {
			t.Fatalf("mask %b: %d of %d k-mers are found at their places", thin, found, want)
		}
	}
}

// TestLimitsOfAnAssembler: the index gets a quarter to half of the memory, index and scaffolds together fit in it, and
// scaffolds may grow after the limit for new ones is reached.
func TestLimitsOfAnAssembler(t *testing.T) {
	for bytes := uint64(1 << 15); bytes < 1<<40; bytes = bytes*5/4 + 77 {
		b := limitsFor(bytes, 1000)
		index := uint64(b.slots) * slotBytes
		if b.bases != 1000 || index > bytes/2 || index < bytes/4 || index+b.extendBytes > bytes || b.startBytes != b.extendBytes/2 ||
			b.extendBytes < bytes/4 {
			t.Fatalf("of %d bytes the index takes %d, scaffolds %d and %d", bytes, index, b.startBytes, b.extendBytes)
		}
	}
}

// TestFullAssembler: each limit keeps sequence out and sets full if that was of a contig of two or more reads. Present
// scaffolds stay.
func TestFullAssembler(t *testing.T) {
	r := rand.New(rand.NewSource(50))
	g := randomLetters(r, 1000)
	for _, c := range []struct {
		name    string
		limits  assemblerLimits
		contigs []contig
		want    []string
		full    bool
	}{
		{"no limit", noLimits,
			[]contig{of(9, g[:400], false), of(8, g[300:700], false), of(7, g[700:], false)}, []string{g[:700], g[700:]}, false},
		{"bases", assemblerLimits{bases: 600, startBytes: 1 << 30, extendBytes: 1 << 30},
			[]contig{of(9, g[:400], false), of(8, g[300:700], false)}, []string{g[:400]}, true},
		{"begin", assemblerLimits{bases: 1 << 30, startBytes: 700, extendBytes: 1 << 30},
			[]contig{of(9, g[:400], false), of(8, g[700:], false), of(7, g[300:600], true)}, []string{g[:600]}, true},
		{"grow", assemblerLimits{bases: 1 << 30, startBytes: 1 << 30, extendBytes: 700},
			[]contig{of(9, g[:400], false), of(8, g[300:700], false), of(7, g[100:300], false)}, []string{g[:400]}, true},
		{"a single read", assemblerLimits{bases: 1 << 30, startBytes: 700, extendBytes: 1 << 30},
			[]contig{of(9, g[:400], false), of(1, g[700:], false)}, []string{g[:400]}, false},
	} {
		a := newAssembler(1000, c.limits)
		a.addContigs(&contigs{merged: c.contigs}, func(int, int) {})
		var got []string
		for i := range a.parents {
			if s := a.scaffold(int32(i)); a.parents[i] < 0 {
				got = append(got, spell(s.buf[s.origin+s.lo:s.origin+s.hi]))
			}
		}
		if !slices.Equal(got, c.want) || a.full != c.full {
			t.Errorf("%s: %v, full: %v, want %v and %v", c.name, got, a.full, c.want, c.full)
		}
	}
}
