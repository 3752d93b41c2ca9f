package overlap

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// joinedPieces joins contigs, given as letters, in the order given, and returns the sequences of two reads or more, each as
// letters and number of reads, in the order in which they were begun.
func joinedPieces(several ...contig) []string {
	a := newAssembler(1000, unbounded)
	a.addContigs(&contigs{merged: several}, func(int, int) {})
	var out []string
	for i := range a.parents {
		if s := a.scaffold(int32(i)); a.parents[i] < 0 {
			out = append(out, fmt.Sprintf("%s %d", spell(s.buf[s.origin+s.lo:s.origin+s.hi]), s.reads))
		}
	}
	return out
}

// of makes a contig of so many reads; turned gives it as the other strand.
func of(reads uint32, letters string, turned bool) contig {
	if turned {
		letters = reverseComplement(letters)
	}
	return contig{seq: codes(letters), reads: reads}
}

// spells reports whether a piece, as joinedPieces has it, is letters on either strand, of so many reads.
func spells(piece, letters string, reads int) bool {
	return piece == fmt.Sprintf("%s %d", letters, reads) || piece == fmt.Sprintf("%s %d", reverseComplement(letters), reads)
}

// TestJoinOfTwoSpellsTheirUnion: two contigs that overlap by k bases join exactly if one of the k-mers in the overlap is of those that
// are indexed, and then spell their union, whatever their strands.
func TestJoinOfTwoSpellsTheirUnion(t *testing.T) {
	r := rand.New(rand.NewSource(40))
	joins, apart := 0, 0
	for k := 10; k < 50; k++ {
		genome := randomLetters(r, 300)
		want := len(sampleKmers(nil, codes(genome[150-k:150]))) > 0
		for strands := range 4 {
			pieces := joinedPieces(of(3, genome[:150], strands&1 != 0), of(2, genome[150-k:], strands&2 != 0))
			switch {
			case want && (len(pieces) != 1 || !spells(pieces[0], genome, 5)):
				t.Fatalf("an overlap of %d bases, strands %b: %v, want %s", k, strands, pieces, genome)
			case !want && (len(pieces) != 2 || !spells(pieces[0], genome[:150], 3) || !spells(pieces[1], genome[150-k:], 2)):
				t.Fatalf("an overlap of %d bases, strands %b: %v, want two pieces", k, strands, pieces)
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

// TestJoinOfTwoPieces: a contig between two pieces joins them, whatever the strands of the three, and further contigs find their places on
// what was joined.
func TestJoinOfTwoPieces(t *testing.T) {
	r := rand.New(rand.NewSource(41))
	for strands := range 8 {
		for _, cut := range []int{120, 180} { // the larger piece is the first or the second
			g := randomLetters(r, 300)
			first, second := of(5, g[:cut], strands&1 != 0), of(4, g[cut+10:], strands&2 != 0)
			middle := of(3, g[cut-45:cut+55], strands&4 != 0)
			last := of(2, g[30:270], false)
			pieces := joinedPieces(first, second, middle, last)
			if len(pieces) != 1 || !spells(pieces[0], g, 14) {
				t.Fatalf("strands %b, cut at %d: %v, want %s of 14 reads", strands, cut, pieces, g)
			}
		}
	}
}

// TestChainOfJoins: pieces that are joined again and again, on either strand, keep the places of all that they hold.
func TestChainOfJoins(t *testing.T) {
	r := rand.New(rand.NewSource(42))
	for range 10 {
		g := randomLetters(r, 4000)
		var all []contig
		for at := 0; at+100 <= len(g); at += 100 {
			all = append(all, of(uint32(1000+r.Intn(1000)), g[at:at+100], r.Intn(2) == 1))
		}
		pieces := len(all)
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
		got := joinedPieces(all...)
		if len(got) != 1 || !spells(got[0], g, reads) {
			t.Fatalf("%d pieces and %d bridges gave %d pieces", pieces, len(bridges), len(got))
		}
	}
}

// TestContigsOfMostReadsComeFirst: what is there stays as it is, so of contigs that differ the one of more reads gives the bases, of
// equals the one of the smaller order; a contig that lies inside adds its reads only.
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
		pieces := joinedPieces(c.contigs...)
		if len(pieces) != 1 || !spells(pieces[0], c.want, c.reads) {
			t.Errorf("%s: %v, want %s of %d reads", c.name, pieces, c.want, c.reads)
		}
	}
}

// TestContigBetweenTwoThatDiffer: a contig that sticks out of one piece and lies inside another, which don't agree with each other,
// belongs to the one that holds it.
func TestContigBetweenTwoThatDiffer(t *testing.T) {
	r := rand.New(rand.NewSource(51))
	g := randomLetters(r, 400)
	first := changed(g[:200], 122, 127, 132, 137, 142, 155, 160) // of the 80 bases that overlap 6 may differ
	second := g[120:]
	pieces := joinedPieces(of(9, first, false), of(8, second, true), of(7, changed(g, 155, 160)[150:260], false))
	if len(pieces) != 2 || !spells(pieces[0], first, 9) || !spells(pieces[1], second, 15) {
		t.Errorf("%v, want %s of 9 reads and %s of 15", pieces, first, second)
	}
}

// TestContigsThatDifferStayApart: contigs join where at most one base in sixteen, and one more, differs over all of the overlap.
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
		pieces := joinedPieces(of(3, g, false), of(2, second, false))
		if joins := len(pieces) == 1; joins != c.joins {
			t.Errorf("%d bases of 96 differ: joined: %v, want %v", c.wrong, joins, c.joins)
		}
		if c.joins && !spells(pieces[0], g+second[96:], 5) || !c.joins && !spells(pieces[1], second, 2) {
			t.Errorf("%d bases of 96 differ: %v", c.wrong, pieces)
		}
	}
}

// TestJoinThatWouldOverwrite: where two pieces that a contig joins would cover each other and differ there, neither loses a base.
func TestJoinThatWouldOverwrite(t *testing.T) {
	r := rand.New(rand.NewSource(45))
	g := randomLetters(r, 400)
	// The contig g[150:250] overlaps the first piece by 50 bases, of which 4 may differ, and the second by 70, of which 5 may differ. Once
	// it
	// has extended the first, the two pieces overlap by these 70, too.
	first := changed(g[:200], 182, 187, 192, 197)
	for _, wrong := range []int{1, 2} {
		second := changed(g, []int{240, 245}[:wrong]...)[180:]
		pieces := joinedPieces(of(9, first, false), of(8, second, true), of(7, g[150:250], false))
		switch {
		case wrong == 1 && (len(pieces) != 1 || len(pieces[0]) != len(g)+len(" 24")):
			t.Errorf("%d bases differ: %v, want one piece of %d bases", 4+wrong, pieces, len(g))
		case wrong == 2 && (len(pieces) != 2 || !spells(pieces[0], first+g[200:250], 16) || !spells(pieces[1], second, 8)):
			t.Errorf("%d bases differ: %v, want the first piece, extended, and the second", 4+wrong, pieces)
		}
	}
}

// TestReadsByThemselves: reads without a partner in their bin are joined where they overlap others; what stays alone is left out.
func TestReadsByThemselves(t *testing.T) {
	r := rand.New(rand.NewSource(46))
	g, h := randomLetters(r, 250), randomLetters(r, 250)
	reads := []string{g[:100], reverseComplement(g[60:160]), g[110:250], h[:120], reverseComplement(h[:70] + "N" + h[71:150]),
		randomLetters(r, 200)}
	rd := loaded(t, archiveOf(t, oneBlock, reads))
	c := &contigs{reads: rd}
	for i := range rd.Count() {
		c.singles = append(c.singles, uint32(i))
	}
	// A contig of the bins that another one is joined to brings all of its reads.
	c.merged = []contig{of(5, h[40:], true)}
	a := newAssembler(expectedKmers(c), unbounded)
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

// TestJoiningLooksAtFewPlaces: sequences that share k-mers, as pieces of a repeat and of a homopolymer do, are compared with
// maxProbes others at most for each k-mer, and the index holds one more place of it than that.
func TestJoiningLooksAtFewPlaces(t *testing.T) {
	r := rand.New(rand.NewSource(47))
	for name, middle := range map[string]func() string{
		"24 bases shared":  func() func() string { s := randomLetters(r, 24); return func() string { return s } }(),
		"stutter":          func() string { return strings.Repeat("A", 20+r.Intn(20)) },
		"stutter of three": func() string { return strings.Repeat("ACG", 10+r.Intn(9)) },
	} {
		a := newAssembler(1000, unbounded)
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
			t.Errorf("%s: %d contigs that share nothing else became %d pieces", name, len(all), apart)
		}
	}
}

// TestFailedPlacesAreComparedOnce: a contig that differs too much from a piece which shares several k-mers with it, all for the same
// place, is compared with that place once.
func TestFailedPlacesAreComparedOnce(t *testing.T) {
	r := rand.New(rand.NewSource(48))
	g := randomLetters(r, 100)
	a := newAssembler(1000, unbounded)
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

// TestIndexKeepsItsSample: when the index is full it keeps half of its k-mers, which are found where they were, but for a few that have
// too many others before them. Of the rest there are no more than the contig had that was entered then.
func TestIndexKeepsItsSample(t *testing.T) {
	r := rand.New(rand.NewSource(49))
	bounds := unbounded
	bounds.slots = 1 << 10
	a := newAssembler(1<<20, bounds)
	pieces := map[int32][]byte{}
	for thin := uint32(1); thin <= 15; thin = thin<<1 | 1 {
		for a.sampleMask < thin {
			seq := randomBases(r, 200)
			a.addContigs(&contigs{merged: []contig{{seq: seq, reads: 2}}}, func(int, int) {})
			pieces[int32(len(a.parents)-1)] = seq
		}
		if len(a.slots) > bounds.slots || a.sampleMask != thin {
			t.Fatalf("%d slots, sample mask %b, want at most %d and %b", len(a.slots), a.sampleMask, bounds.slots, thin)
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
		if most := len(sampleKmers(nil, pieces[int32(len(a.parents)-1)])); others > most {
			t.Fatalf("%d k-mers in the index are not of those under mask %b, want at most %d", others, thin, most)
		}
		if used != a.used || used < len(a.slots)/8 {
			t.Fatalf("%d of %d slots are used, %d were counted", used, len(a.slots), a.used)
		}
		found, want := 0, 0
		for id, seq := range pieces {
			a.forward, a.reverse = seq, reversed(seq)
			for _, k := range a.stillSampled(sampleKmers(nil, seq)) {
				want++
				a.failed.reset()
				if h := a.findAlignment(k, alignment{}); h.ok {
					found++
					if h.scaffold != id || h.start != 0 || h.reversed {
						t.Fatalf("piece %d is found at %d of piece %d", id, h.start, h.scaffold)
					}
				}
			}
		}
		if found < want*19/20 || want < used*3/4 {
			t.Fatalf("mask %b: %d of %d k-mers are found at their places", thin, found, want)
		}
	}
}

// TestBoundsOfAnAssembler: the index takes a quarter to half of what an assembler may hold, all of it no more than that, and pieces
// grow after none is begun.
func TestBoundsOfAnAssembler(t *testing.T) {
	for bytes := uint64(1 << 15); bytes < 1<<40; bytes = bytes*5/4 + 77 {
		b := limitsFor(bytes, 1000)
		index := uint64(b.slots) * slotBytes
		if b.bases != 1000 || index > bytes/2 || index < bytes/4 || index+b.extendBytes > bytes || b.startBytes != b.extendBytes/2 ||
			b.extendBytes < bytes/4 {
			t.Fatalf("of %d bytes the index takes %d, pieces %d and %d", bytes, index, b.startBytes, b.extendBytes)
		}
	}
}

// TestFullAssembler: each of its bounds keeps sequence out, and says so where a contig of several reads was; what is there stays.
func TestFullAssembler(t *testing.T) {
	r := rand.New(rand.NewSource(50))
	g := randomLetters(r, 1000)
	for _, c := range []struct {
		name    string
		bounds  assemblerLimits
		contigs []contig
		want    []string
		refused bool
	}{
		{"room", unbounded, []contig{of(9, g[:400], false), of(8, g[300:700], false), of(7, g[700:], false)}, []string{g[:700], g[700:]}, false},
		{"bases", assemblerLimits{bases: 600, startBytes: 1 << 30, extendBytes: 1 << 30},
			[]contig{of(9, g[:400], false), of(8, g[300:700], false)}, []string{g[:400]}, true},
		{"begin", assemblerLimits{bases: 1 << 30, startBytes: 700, extendBytes: 1 << 30},
			[]contig{of(9, g[:400], false), of(8, g[700:], false), of(7, g[300:600], true)}, []string{g[:600]}, true},
		{"grow", assemblerLimits{bases: 1 << 30, startBytes: 1 << 30, extendBytes: 700},
			[]contig{of(9, g[:400], false), of(8, g[300:700], false), of(7, g[100:300], false)}, []string{g[:400]}, true},
		{"a read by itself", assemblerLimits{bases: 1 << 30, startBytes: 700, extendBytes: 1 << 30},
			[]contig{of(9, g[:400], false), of(1, g[700:], false)}, []string{g[:400]}, false},
	} {
		a := newAssembler(1000, c.bounds)
		a.addContigs(&contigs{merged: c.contigs}, func(int, int) {})
		var got []string
		for i := range a.parents {
			if s := a.scaffold(int32(i)); a.parents[i] < 0 {
				got = append(got, spell(s.buf[s.origin+s.lo:s.origin+s.hi]))
			}
		}
		if !slices.Equal(got, c.want) || a.full != c.refused {
			t.Errorf("%s: %v, refused: %v, want %v and %v", c.name, got, a.full, c.want, c.refused)
		}
	}
}
