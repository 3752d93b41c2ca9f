package overlap

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orcomgo/minimizer"
)

// site is the smallest 8-mer that can be a signature: reads that hold it, on either strand and far enough from their ends, have it.
const site = "AACAACAA"

// atSite returns a random sequence with site after left bases. What is next to it makes no other such 8-mer with it, be one base of it
// wrong.
func atSite(r *rand.Rand, left, right int) string {
	return randomLetters(r, left-3) + "GTG" + site + "GTG" + randomLetters(r, right-3)
}

// contigsOf returns the contigs of the bins of reads.
func contigsOf(t *testing.T, reads []string) *contigs {
	t.Helper()
	return binContigs(loaded(t, archiveOf(t, oneBlock, reads)), nil, 1)
}

// spelled returns the contigs of several reads as letters and number of reads, and the records of the others.
func spelled(c *contigs) (several []string, singles []uint32) {
	for _, s := range c.merged {
		several = append(several, fmt.Sprintf("%s %d", spell(s.seq), s.reads))
	}
	for _, i := range c.singles {
		singles = append(singles, c.reads.records[i])
	}
	slices.Sort(singles)
	return several, singles
}

// TestContigSpellsGenome: error-free reads over one signature, of both strands and several lengths, give one contig that spells
// what they cover.
func TestContigSpellsGenome(t *testing.T) {
	r := rand.New(rand.NewSource(30))
	for range 8 {
		genome := atSite(r, 150, 150)
		lo, hi := len(genome), 0
		var reads []string
		for i := range 12 {
			n := 60 + r.Intn(70)
			at := 150 + len(site) + keyBases - n + r.Intn(n-len(site)-2*keyBases)
			lo, hi = min(lo, at), max(hi, at+n)
			reads = append(reads, draw(r, genome, at, n, 0, i%2 == 1).read)
		}
		several, singles := spelled(contigsOf(t, reads))
		if want := fmt.Sprintf("%s %d", genome[lo:hi], len(reads)); len(several) != 1 || several[0] != want || singles != nil {
			t.Fatalf("contigs %v and reads %v by themselves, want %s", several, singles, want)
		}
	}
}

// TestColumnsVote: one wrong base is outvoted by three reads, whichever read has it; of two reads that differ the first one's base
// stays.
func TestColumnsVote(t *testing.T) {
	r := rand.New(rand.NewSource(31))
	genome := atSite(r, 40, 60)
	for wrong := range 4 {
		for _, at := range []int{0, 39, len(genome) - 1} {
			var reads []string
			for i := range 4 {
				read := genome
				if i == wrong {
					read = changed(read, at)
				}
				if i%2 == 1 {
					read = reverseComplement(read)
				}
				reads = append(reads, read)
			}
			several, _ := spelled(contigsOf(t, reads))
			if want := genome + " 4"; len(several) != 1 || several[0] != want {
				t.Errorf("read %d has an error at %d: contigs %v, want %s", wrong, at, several, want)
			}
		}
	}
	for _, reads := range [][]string{{genome, changed(genome, 7)}, {changed(genome, 7), genome}} {
		several, _ := spelled(contigsOf(t, reads))
		if want := reads[0] + " 2"; len(several) != 1 || several[0] != want {
			t.Errorf("two reads that differ: contigs %v, want %s", several, want)
		}
	}
}

// TestReadsJoinTheNearestContig: a read joins the contig that it differs from least, the first of equals, and none that it
// differs from in more than one base in twelve.
func TestReadsJoinTheNearestContig(t *testing.T) {
	r := rand.New(rand.NewSource(32))
	a := atSite(r, 28, 60) // of 96 bases: 8 may differ
	at := []int{0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 93, 94, 95}
	b := changed(a, at[:10]...) // a contig by itself
	for _, c := range []struct {
		name    string
		reads   []string
		want    []string
		singles []uint32
	}{
		{"8 of 96 bases", []string{a, changed(a, at[:8]...)}, []string{a + " 2"}, nil},
		{"9 of 96 bases", []string{a, changed(a, at[:9]...)}, nil, []uint32{0, 1}},
		{"4 of the 48 that overlap", []string{a, changed(a, at[:4]...)[:48]}, []string{a + " 2"}, nil},
		{"5 of the 48 that overlap", []string{a, changed(a, at[:5]...)[:48]}, nil, []uint32{0, 1}},
		{"nearer to the second", []string{a, b, changed(a, at[:6]...)}, []string{b + " 2"}, []uint32{0}},
		{"nearer to the first", []string{a, b, changed(a, at[:4]...)}, []string{a + " 2"}, []uint32{1}},
		{"as near to both", []string{a, b, changed(a, at[:5]...)}, []string{a + " 2"}, []uint32{1}},
		{"as near to both, the other first", []string{b, a, changed(a, at[:5]...)}, []string{b + " 2"}, []uint32{1}},
		{"one of the 12 bases after the signature", []string{a, changed(a, 28+len(site)+keyBases-1)}, nil, []uint32{0, 1}},
		{"the base after these", []string{a, changed(a, 28+len(site)+keyBases)}, []string{a + " 2"}, nil},
	} {
		several, singles := spelled(contigsOf(t, c.reads))
		if !slices.Equal(several, c.want) || !slices.Equal(singles, c.singles) {
			t.Errorf("%s: contigs %v and reads %v by themselves, want %v and %v", c.name, several, singles, c.want, c.singles)
		}
	}
}

// TestUnusualReadsInContigs: of a read with N its longest stretch of bases takes part; reads without a signature, or whose
// signature is not in that stretch, are contigs by themselves; reads too short or too long are in none.
func TestUnusualReadsInContigs(t *testing.T) {
	r := rand.New(rand.NewSource(33))
	g := atSite(r, 60, 92)
	ns := func(s string, at, n int) string { return s[:at] + strings.Repeat("N", n) + s[at+n:] }
	long := randomLetters(r, maxOverlapped-100) + g[60:160]
	for _, c := range []struct {
		name    string
		reads   []string
		want    []string
		singles []uint32
	}{
		{"N at the left", []string{g[30:], ns(g, 20, 3)}, []string{g[23:] + " 2"}, nil},
		{"N at the left of the other strand", []string{g[30:], reverseComplement(ns(g, 20, 3))}, []string{g[23:] + " 2"}, nil},
		{"N at the right", []string{g[:120], ns(g, 130, 1)}, []string{g[:130] + " 2"}, nil},
		{"N in the bases after the signature", []string{g, ns(g, 75, 1)}, nil, []uint32{0, 1}},
		{"no base but N", []string{g, strings.Repeat("N", 100)}, nil, []uint32{0}},
		{"17 bases", []string{g, g[60:77], g[50:67] + "N"}, nil, []uint32{0}},
		{"low complexity", []string{strings.Repeat("A", 90), strings.Repeat("A", 90), strings.Repeat("T", 90)}, nil, []uint32{0, 1, 2}},
		{"700 bases", []string{long, long}, []string{long + " 2"}, nil},
		{"701 bases", []string{long + "A", long + "A"}, nil, nil},
	} {
		several, singles := spelled(contigsOf(t, c.reads))
		if !slices.Equal(several, c.want) || !slices.Equal(singles, c.singles) {
			t.Errorf("%s: contigs %v and reads %v by themselves, want %v and %v", c.name, several, singles, c.want, c.singles)
		}
	}
}

// TestContigsOfAGroupAreBounded: reads that share signature and key but nothing else are compared with maxStacks contigs at most.
// What agrees with none of these is by itself, even where it agrees with another such read.
func TestContigsOfAGroupAreBounded(t *testing.T) {
	r := rand.New(rand.NewSource(34))
	key := randomLetters(r, keyBases)
	var reads []string
	for range maxPileups + 3 {
		reads = append(reads, randomLetters(r, 40)+site+key+randomLetters(r, 40))
	}
	n := uint32(len(reads))
	reads = append(reads, reads[maxPileups], reads[maxPileups-1])
	several, singles := spelled(contigsOf(t, reads))
	if want := []string{reads[maxPileups-1] + " 2"}; !slices.Equal(several, want) {
		t.Errorf("contigs %v, want %v", several, want)
	}
	var want []uint32
	for i := range n + 1 {
		if i != maxPileups-1 {
			want = append(want, i)
		}
	}
	if !slices.Equal(singles, want) {
		t.Errorf("reads %v are by themselves, want %v", singles, want)
	}
}

// TestVotesDoNotOverflow: more reads than a count of 16 bits holds leave a column as most of the first have it.
func TestVotesDoNotOverflow(t *testing.T) {
	s := &pileup{origin: 4, counts: make([][4]uint16, 8), consensus: make([]byte, 8)}
	for range 70_000 {
		s.addRead([]byte{2, 1}, -1)
	}
	for range 70_000 {
		s.addRead([]byte{3, 1, 0}, -1)
	}
	if got := spell(s.consensus[s.origin+s.lo : s.origin+s.hi]); got != "GCA" || s.reads != 140_000 {
		t.Errorf("%d reads spell %s, want 140000 and GCA", s.reads, got)
	}
}

// TestContigsOfWantedReads: only the reads that are asked for take part.
func TestContigsOfWantedReads(t *testing.T) {
	r := rand.New(rand.NewSource(35))
	g := atSite(r, 40, 60)
	rd := loaded(t, archiveOf(t, oneBlock, []string{g, g[10:], g[20:], randomLetters(r, 80), randomLetters(r, 80)}))
	several, singles := spelled(binContigs(rd, func(i int) bool { return rd.records[i]%2 == 1 || rd.records[i] == 2 }, 1))
	if want := []string{g[10:] + " 2"}; !slices.Equal(several, want) || !slices.Equal(singles, []uint32{3}) {
		t.Errorf("contigs %v and reads %v by themselves, want %v and 3", several, singles, want)
	}
}

// TestContigsAreInOrderOfSignatures: whatever the number of threads, contigs and reads by themselves come in the order of the bins,
// no read is lost or counted twice, and each contig of several reads holds its signature.
func TestContigsAreInOrderOfSignatures(t *testing.T) {
	r := rand.New(rand.NewSource(36))
	genome := randomLetters(r, 3000)
	var reads []string
	for i := range 1200 {
		reads = append(reads, draw(r, genome, r.Intn(2900), 100, r.Intn(3), i%2 == 0).read)
	}
	rd := loaded(t, archiveOf(t, 20_000, reads))
	one := binContigs(rd, nil, 1)
	for _, threads := range []int{2, 8} {
		if c := binContigs(rd, nil, threads); !reflect.DeepEqual(c.merged, one.merged) || !slices.Equal(c.singles, one.singles) {
			t.Errorf("other contigs with %d threads", threads)
		}
	}
	count, bases := len(one.singles), 0
	group := 0
	for i, c := range one.merged {
		count += int(c.reads)
		bases += len(c.seq)
		for ; group < len(rd.groups) && !strings.Contains(spell(c.seq), minimizer.Letters(rd.groups[group].Signature)); group++ {
		}
		if group == len(rd.groups) || c.order != uint32(i) || c.reads < 2 {
			t.Fatalf("contig %d of %d reads, order %d, is out of place", i, c.reads, c.order)
		}
	}
	if count != len(reads) || one.count() != len(one.merged)+len(one.singles) {
		t.Errorf("%d reads in %d contigs, want %d", count, one.count(), len(reads))
	}
	if got, least := one.bytes(), uint64(bases+4*len(one.singles)); got < least || got > least+64*uint64(len(one.merged)) {
		t.Errorf("contigs take %d bytes; their bases and numbers alone are %d", got, least)
	}
}
