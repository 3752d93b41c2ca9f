package overlap

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"orcomgo/bases"
	"orcomgo/internal/testrun"
)

var noLimits = assemblerLimits{bases: 1 << 30, bytes: 1 << 40}

func noProgress(int, int) {}

// spellContig returns contig c of a set as letters and number of reads.
func spellContig(s *contigSet, c int) string {
	return fmt.Sprintf("%s %d", spell(bases.Unpack(nil, s.of(uint32(c)), 0, int(s.length[c]))), s.reads[c])
}

// joinedScaffolds joins contigs and returns the scaffolds, each as letters and number of reads, by rank. Their reads are taken to have
// one base each, so that contigs may differ in many bases.
func joinedScaffolds(several ...contig) []string {
	a := newAssembler(noLimits, 1, 2)
	a.addContigs(&contigs{merged: several})
	a.join(noProgress)
	var out []string
	for c := range a.set.count() {
		out = append(out, spellContig(&a.set, c))
	}
	return out
}

// of returns a contig of so many reads; if reverse, it has the reverse complement of letters.
func of(reads uint32, letters string, reverse bool) contig {
	if reverse {
		letters = reverseComplement(letters)
	}
	return packedContig(codes(letters), reads)
}

// spells reports whether a scaffold, in the form of joinedScaffolds, is letters or its reverse complement, with so many
// reads.
func spells(scaffold, letters string, reads int) bool {
	return scaffold == fmt.Sprintf("%s %d", letters, reads) || scaffold == fmt.Sprintf("%s %d", reverseComplement(letters), reads)
}

// TestJoinOfTwoSpellsTheirUnion: two contigs are joined if and only if they overlap by a k-mer or more: k-mers at ends are selected in
// any case. The scaffold is then their union, on whichever strands they are.
func TestJoinOfTwoSpellsTheirUnion(t *testing.T) {
	r := rand.New(rand.NewSource(40))
	for k := seedLen - 4; k < 100; k++ {
		genome := randomLetters(r, 300)
		for strands := range 4 {
			scaffolds := joinedScaffolds(of(3, genome[:150], strands&1 != 0), of(2, genome[150-k:], strands&2 != 0))
			switch {
			case k >= seedLen && (len(scaffolds) != 1 || !spells(scaffolds[0], genome, 5)):
				t.Fatalf("an overlap of %d bases, strands %b: %v, want %s", k, strands, scaffolds, genome)
			case k < seedLen && (len(scaffolds) != 2 || !spells(scaffolds[0], genome[:150], 3) || !spells(scaffolds[1], genome[150-k:], 2)):
				t.Fatalf("an overlap of %d bases, strands %b: %v, want two scaffolds", k, strands, scaffolds)
			}
		}
	}
}

// TestMergeOfTwoScaffolds: a contig that overlaps two others connects them, on whichever strands the three are. A fourth one overlaps all
// of them.
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

// TestChainOfJoins: contigs that are joined in several rounds, on either strand, become one.
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
			reads += int(all[i].reads)
		}
		got := joinedScaffolds(all...)
		if len(got) != 1 || !spells(got[0], g, reads) {
			t.Fatalf("%d scaffolds and %d bridges gave %d scaffolds", scaffolds, len(bridges), len(got))
		}
	}
}

// TestContigsOfMostReadsComeFirst: where contigs differ, the bases of the one with more reads are kept; with equally
// many reads, of the one that was added first. A contig inside a scaffold only adds its reads.
func TestContigsOfMostReadsComeFirst(t *testing.T) {
	r := rand.New(rand.NewSource(43))
	g := randomLetters(r, 200)
	other := changed(g, 40, 100, 160)
	for _, c := range []struct {
		name    string
		contigs []contig
		want    string
		reads   int
	}{
		{"more reads", []contig{of(2, other, false), of(3, g, false)}, g, 5},
		{"as many reads", []contig{of(2, g, false), of(2, other, true)}, g, 4},
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
	first := changed(g[:200], 122, 125, 127, 130, 132, 137, 142, 155, 160) // of the 80 bases that overlap 8 may differ
	second := g[120:]
	scaffolds := joinedScaffolds(of(9, first, false), of(8, second, true), of(7, changed(g, 155, 160)[150:260], false))
	if len(scaffolds) != 2 || !spells(scaffolds[1], first, 9) || !spells(scaffolds[0], second, 15) {
		t.Errorf("%v, want %s of 9 reads and %s of 15", scaffolds, first, second)
	}
}

// TestContigsThatDifferStayApart: contigs are joined if few enough bases differ over the whole overlap: see limitOf.
func TestContigsThatDifferStayApart(t *testing.T) {
	r := rand.New(rand.NewSource(44))
	g := randomLetters(r, 260)
	spread := func(n int) (at []int) { // over the 96 bases that overlap, but for the first 50
		for i := range n {
			at = append(at, 164+50+4*i)
		}
		return at
	}
	for _, c := range []struct {
		wrong int
		joins bool
	}{{0, true}, {3, true}, {9, true}, {10, false}} {
		// 96 bases may differ in 96/24 + 1 + 96/20 = 9.
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

// TestContigsThatDifferBeyondTheirPartner: two contigs agree with the same partner, and extend it by different sequences. The one of
// more reads is joined, and the other loses no base. A contig whose partner is not joined to a root is not joined to that either.
func TestContigsThatDifferBeyondTheirPartner(t *testing.T) {
	r := rand.New(rand.NewSource(45))
	g := randomLetters(r, 300)
	other := g[120:200] + randomLetters(r, 200)
	for strands := range 16 {
		scaffolds := joinedScaffolds(of(9, g[:200], strands&1 != 0), of(8, g[120:], strands&2 != 0), of(7, other[:180], strands&4 != 0),
			of(6, other[100:], strands&8 != 0))
		if len(scaffolds) != 2 || !spells(scaffolds[0], g, 17) || !spells(scaffolds[1], other, 13) {
			t.Errorf("%v, want %s of 17 reads and %s of 13", scaffolds, g, other)
		}
	}
}

// TestDeepContigsDifferLess: a contig may differ from others in fewer bases if many reads cover it, since each would differ there.
func TestDeepContigsDifferLess(t *testing.T) {
	r := rand.New(rand.NewSource(52))
	g := randomLetters(r, 300)
	second := changed(g, 230, 240, 250)[120:] // of the 150 bases that overlap, 3 differ
	for _, c := range []struct {
		reads uint32
		joins bool
	}{{2, true}, {60, true}, {72, false}, {300, false}} { // 60 reads of 100 bases cover the 180 bases 33 times: 150*2/3/33 bases may differ
		a := newAssembler(noLimits, 100, 1)
		a.addContigs(&contigs{merged: []contig{of(400, g[:270], false), of(c.reads, second, true)}})
		a.join(noProgress)
		if joins := a.set.count() == 1; joins != c.joins {
			t.Errorf("a contig of %d reads: joined: %v, want %v", c.reads, joins, c.joins)
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
	a := newAssembler(noLimits, 1, 2)
	a.addContigs(c)
	var seq sequence
	a.appendScaffolds(&seq, noProgress, func(reads uint64, _ int) bool { return reads > 1 })
	got := spell(bases.Unpack(nil, seq.packed, 0, seq.n))
	if seq.n != len(g)+len(h) {
		t.Errorf("%d bases, want %d", seq.n, len(g)+len(h))
	}
	for _, s := range []string{g, h} {
		if !strings.Contains(got, s) && !strings.Contains(got, reverseComplement(s)) {
			t.Errorf("%s is not in %s", s, got)
		}
	}
}

// TestFewContigsAreCompared: the number of comparisons is bounded in proportion to the bases, also for sequences that share many k-mers.
func TestFewContigsAreCompared(t *testing.T) {
	r := rand.New(rand.NewSource(47))
	for name, middle := range map[string]func() string{
		"24 bases shared":  func() func() string { s := randomLetters(r, 24); return func() string { return s } }(),
		"stutter":          func() string { return strings.Repeat("A", 20+r.Intn(20)) },
		"stutter of three": func() string { return strings.Repeat("ACG", 10+r.Intn(9)) },
	} {
		a := newAssembler(noLimits, 100, 2)
		var all []contig
		for range 300 {
			c := of(2, randomLetters(r, 60)+middle()+randomLetters(r, 60), r.Intn(2) == 1)
			all = append(all, c)
		}
		a.addContigs(&contigs{merged: all})
		most := 0
		for c := range a.set.count() {
			most += int(a.set.length[c])/2 + 16
		}
		a.set.rank(1)
		a.round(sampler{rate: 1})
		if once := a.compared; once > len(all)*maxPartners || once < len(all)*9/10 {
			t.Errorf("%s: %d comparisons of %d contigs in one round", name, once, len(all))
		}
		for range 30 {
			a.join(noProgress)
		}
		if a.compared > most {
			t.Errorf("%s: %d comparisons, want at most %d", name, a.compared, most)
		}
		if n := a.set.count(); n < len(all)*9/10 {
			t.Errorf("%s: %d contigs that share nothing else became %d scaffolds", name, len(all), n)
		}
	}
}

// TestContigsAreComparedOnce: two contigs that share many k-mers are compared once in a round, and not again in the next round with the
// same k-mers if neither has changed.
func TestContigsAreComparedOnce(t *testing.T) {
	r := rand.New(rand.NewSource(48))
	g, h := randomLetters(r, 100), randomLetters(r, 200)
	a := newAssembler(noLimits, 1, 1)
	a.addContigs(&contigs{merged: []contig{
		of(9, g+randomLetters(r, 100), false), of(8, h[:150], false), of(7, g+randomLetters(r, 100), true), of(6, h[50:], false)}})
	for i, want := range []int{2, 2, 2} {
		a.round(sampler{rate: 1})
		if a.compared != want || a.set.count() != 3 {
			t.Errorf("after round %d: %d comparisons, %d contigs, want %d and 3", i, a.compared, a.set.count(), want)
		}
	}
	a.round(sampler{rate: 2}) // other k-mers
	if a.compared != 3 {
		t.Errorf("%d comparisons, want 3", a.compared)
	}
}

// TestCrowded: runs of one base have more k-mers than memory is planned for, unless it suffices for all.
func TestCrowded(t *testing.T) {
	for _, c := range []struct {
		runs, enough, want bool
	}{{true, false, true}, {true, true, false}, {false, false, false}} {
		limit := uint64(1 << 20)
		if c.enough {
			limit = 1 << 30
		}
		a := newAssembler(assemblerLimits{bases: 1 << 30, bytes: limit}, 100, 2)
		a.set.grow(1000, 2, func(int) (int, uint64) { return 100, 2 }, func(i int, dst []byte) {
			seq := randomBases(rand.New(rand.NewSource(int64(i))), 100) // several goroutines make contigs
			if c.runs {
				clear(seq[5:])
			}
			copy(dst, pack(seq)[:25])
		})
		got := false
		for rate := sampleRate(2); rate <= 8; rate++ { // by chance not all of them select the k-mer of the run
			got = got || a.crowded(sampler{rate: rate})
		}
		if got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestFullAssembler: limits keep contigs out, and full is set if one of them has two or more reads.
func TestFullAssembler(t *testing.T) {
	r := rand.New(rand.NewSource(50))
	g := randomLetters(r, 5000)
	apart := func(reads uint32) (all []contig) { // contigs that don't overlap
		for at := 0; at < len(g); at += 500 {
			c := of(reads, g[at:at+400], false)
			all = append(all, c)
		}
		return all
	}
	for _, c := range []struct {
		name    string
		limits  assemblerLimits
		contigs []contig
		bases   int // of the scaffolds
		full    bool
	}{
		{"no limit", noLimits, apart(2), 4000, false},
		{"bases", assemblerLimits{bases: 2500, bytes: 1 << 30}, apart(2), 2400, true},
		{"bases, for short ones", assemblerLimits{bases: 900, bytes: 1 << 30},
			[]contig{of(5, g[:700], false), of(4, g[800:1100], false), of(3, g[1200:1400], false)}, 900, true},
		{"memory", assemblerLimits{bases: 1 << 30, bytes: 2_500}, apart(2), 800, true},
		{"memory, single reads", assemblerLimits{bases: 1 << 30, bytes: 2_500}, apart(1), 800, false},
		{"memory, enough for what is joined", assemblerLimits{bases: 1 << 30, bytes: 45_000},
			[]contig{of(5, g, false), of(4, g, true), of(3, g, false), of(2, g, true)}, 5000, false},
	} {
		a := newAssembler(c.limits, 1, 2)
		a.addContigs(&contigs{merged: c.contigs})
		var seq sequence
		a.appendScaffolds(&seq, noProgress, func(uint64, int) bool { return true })
		if seq.n != c.bases || a.full != c.full {
			t.Errorf("%s: %d bases, full: %v, want %d and %v", c.name, seq.n, a.full, c.bases, c.full)
		}
	}
}

// TestJoinIsTheSameForAnyThreads: contigs of a genome with repeats, some longer than a stretch, are joined to the same ones by any number
// of goroutines.
func TestJoinIsTheSameForAnyThreads(t *testing.T) {
	r := rand.New(rand.NewSource(53))
	genome := randomBases(r, testrun.Pick(1_300_000, 1_300_000, 2_000_000))
	repeat := genome[1000:1700]
	for range 300 {
		copy(genome[r.Intn(len(genome)-len(repeat)):], repeat)
	}
	var all []contig
	add := func(length, errors int) {
		at := r.Intn(len(genome) - length)
		seq := slices.Clone(genome[at : at+length])
		if r.Intn(2) == 1 {
			seq = reversed(seq)
		}
		for range errors {
			seq[r.Intn(length)] = byte(r.Intn(4))
		}
		all = append(all, packedContig(seq, uint32(1+r.Intn(5))))
	}
	for range 4 {
		add(stretchBases+r.Intn(2*stretchBases), 100)
	}
	add(1<<20+77, 0)
	for range testrun.Pick(7_000, 7_000, 12_000) {
		add(100+r.Intn(200), r.Intn(3))
	}
	var first *assembler
	for _, threads := range []int{1, 2, 7} {
		a := newAssembler(noLimits, 100, threads)
		a.addContigs(&contigs{merged: slices.Clone(all)})
		a.join(noProgress)
		if first == nil {
			first = a
			if n := a.set.count(); n > len(all)/2 || slices.Max(a.set.length) < 1<<20+78 {
				t.Errorf("%d contigs of %d are left", n, len(all))
			}
		} else if !equalSets(&a.set, &first.set) || a.compared != first.compared {
			t.Errorf("%d threads: other contigs", threads)
		}
	}
}

// equalSets reports whether two sets have the same contigs.
func equalSets(a, b *contigSet) bool {
	return slices.Equal(a.packed, b.packed) && slices.Equal(a.start, b.start) && slices.Equal(a.length, b.length) &&
		slices.Equal(a.reads, b.reads) && slices.Equal(a.left, b.left) && a.bases == b.bases
}

// TestMostInVain: a joiner is hard only if many contigs had a partner, and most of these were not joined.
func TestMostInVain(t *testing.T) {
	for _, c := range []struct {
		linked, joined int
		want           bool
	}{{0, 0, false}, {500, 10, false}, {1 << 13, 1 << 12, false}, {1 << 13, 1<<12 - 1, true}, {60000, 59000, false}, {60000, 20000, true}} {
		if got := mostInVain(c.linked, c.joined); got != c.want {
			t.Errorf("of %d contigs %d were joined: %t", c.linked, c.joined, got)
		}
	}
}
