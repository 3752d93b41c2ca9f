package overlap

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins"
	"orcomgo/minimizer"
)

// site is the smallest 8-mer that can be a signature. It is the signature of all reads that contain it, on either
// strand, far enough from their ends.
const site = "AACAACAA"

// atSite returns a random sequence that contains site after left bases. The bases next to site make no other 8-mer
// smaller than or equal to it, even if one of its bases is wrong.
func atSite(r *rand.Rand, left, right int) string {
	return randomLetters(r, left-3) + "GTG" + site + "GTG" + randomLetters(r, right-3)
}

// packedContig returns a contig of bases, one a byte.
func packedContig(bases []byte, reads uint32) contig {
	c := contig{packed: make([]byte, (len(bases)+3)/4), n: len(bases), reads: reads}
	packBases(c.packed, bases)
	return c
}

// bases returns the bases, one a byte.
func (c *contig) bases() []byte {
	return bases.Unpack(nil, append(slices.Clone(c.packed), make([]byte, bases.Pad)...), 0, c.n)
}

// contigsOf returns the contigs of the bins of reads.
func contigsOf(t *testing.T, reads []string) *contigs {
	t.Helper()
	return binContigs(loaded(t, archiveOf(t, oneBlock, reads)), nil, bigBinReads, 1)
}

// spelled returns the contigs of two or more reads as letters and number of reads, and the records of the other reads.
func spelled(c *contigs) (several []string, singles []uint32) {
	for _, s := range c.merged {
		several = append(several, fmt.Sprintf("%s %d", spell(s.bases()), s.reads))
	}
	for _, i := range c.singles {
		singles = append(singles, c.reads.records[i])
	}
	slices.Sort(singles)
	return several, singles
}

// TestContigSpellsGenome: a few error-free reads with one signature, of both strands and several lengths, give one contig
// that is the sequence they cover.
func TestContigSpellsGenome(t *testing.T) {
	r := rand.New(rand.NewSource(30))
	for range 8 {
		genome := atSite(r, 150, 150)
		lo, hi := len(genome), 0
		var reads []string
		for i := range readsForSupport - 1 {
			n := 60 + r.Intn(70)
			at := 150 + len(site) + keyBases - n + r.Intn(n-len(site)-2*keyBases)
			lo, hi = min(lo, at), max(hi, at+n)
			reads = append(reads, draw(r, genome, at, n, 0, i%2 == 1).read)
		}
		several, singles := spelled(contigsOf(t, reads))
		if want := fmt.Sprintf("%s %d", genome[lo:hi], len(reads)); len(several) != 1 || several[0] != want || singles != nil {
			t.Fatalf("contigs %v and single reads %v, want %s", several, singles, want)
		}
	}
}

// TestEndsNeedSupport: in a contig of many reads an end that one of them has alone is left out.
func TestEndsNeedSupport(t *testing.T) {
	r := rand.New(rand.NewSource(33))
	genome := atSite(r, 150, 150)
	for _, c := range []struct{ reads, left, right int }{
		{readsForSupport - 1, 110, 210}, {readsForSupport, 120, 200}, {3 * readsForSupport, 120, 200},
	} {
		reads := []string{genome[110:190], genome[130:210]}
		for len(reads) < c.reads {
			reads = append(reads, genome[120:200])
		}
		several, _ := spelled(contigsOf(t, reads))
		if want := fmt.Sprintf("%s %d", genome[c.left:c.right], c.reads); len(several) != 1 || several[0] != want {
			t.Errorf("%d reads: contigs %v, want %s", c.reads, several, want)
		}
	}
}

// TestColumnsVote: one wrong base is outvoted by three reads, in whichever read it is. If two reads differ, the base of
// the first is kept.
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

// TestReadsJoinTheNearestContig: a read joins the contig with the fewest mismatches, the first of equal ones, and none
// with more than one mismatch in twelve bases.
func TestReadsJoinTheNearestContig(t *testing.T) {
	r := rand.New(rand.NewSource(32))
	a := atSite(r, 28, 60) // of 96 bases: 8 may differ
	at := []int{0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 93, 94, 95}
	b := changed(a, at[:10]...) // not similar enough to a to join its contig
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
			t.Errorf("%s: contigs %v and single reads %v, want %v and %v", c.name, several, singles, c.want, c.singles)
		}
	}
}

// TestUnusualReadsInContigs: of a read with N, the longest range of bases is used. A read without a signature, or with
// its signature outside that range, is a contig of one read. Reads that are too short or too long are in no contig.
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
			t.Errorf("%s: contigs %v and single reads %v, want %v and %v", c.name, several, singles, c.want, c.singles)
		}
	}
}

// TestContigsOfAGroupAreBounded: a read is compared with at most maxPileups contigs of reads that share only signature
// and key. A read that agrees with none of them is a contig of one read, even if it agrees with another such read.
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
		t.Errorf("single reads are %v, want %v", singles, want)
	}
}

// TestVotesDoNotOverflow: if a column has more reads than a count of 16 bits can hold, its base is the most frequent
// one of the first reads.
func TestVotesDoNotOverflow(t *testing.T) {
	s := newPileup()
	for range 70_000 {
		s.addRead(&alignedRead{bases: pack([]byte{2, 1}), start: -1, n: 2})
	}
	for range 70_000 {
		s.addRead(&alignedRead{bases: pack([]byte{3, 1, 0}), start: -1, n: 3})
	}
	if got := s.letters(); got != "GCA" || s.reads != 140_000 {
		t.Errorf("%d reads spell %s, want 140000 and GCA", s.reads, got)
	}
}

func (s *pileup) letters() string {
	return spell(bases.Unpack(nil, s.consensus, s.lo+pileupOrigin, s.hi-s.lo))
}

// plainPileup is a pileup that counts each base of each read.
type plainPileup struct {
	lo, hi    int
	counts    [2 * pileupOrigin][4]int
	consensus [2 * pileupOrigin]byte
	reads     int
}

func (s *plainPileup) addRead(read []byte, start int) {
	s.reads++
	if s.reads == 1 {
		s.lo, s.hi = start, start
	}
	for j, c := range read {
		n, consensus := &s.counts[start+j+pileupOrigin], &s.consensus[start+j+pileupOrigin]
		n[c]++
		if start+j < s.lo || start+j >= s.hi || n[c] > n[*consensus] {
			*consensus = c
		}
	}
	s.lo, s.hi = min(s.lo, start), max(s.hi, start+len(read))
}

// TestPileups: the consensus of a pileup is that of plain counting after each read, in a pileup that is used again, too.
func TestPileups(t *testing.T) {
	r := rand.New(rand.NewSource(37))
	s := newPileup()
	for _, c := range []struct{ reads, longest, wrong int }{
		{3, 60, 20}, {200, 60, 2}, {300, 100, 6}, {100, maxOverlapped - 20, 3}, {2000, 30, 3},
	} {
		var plain plainPileup
		s.reset()
		genome := randomBases(r, 2*pileupOrigin)
		for k := range c.reads {
			start, end := -r.Intn(c.longest), 20+r.Intn(c.longest)
			if end-start > maxOverlapped {
				end = start + maxOverlapped
			}
			read := slices.Clone(genome[start+pileupOrigin : end+pileupOrigin])
			for j := range read {
				if r.Intn(c.wrong) == 0 {
					read[j] = byte(r.Intn(4))
				}
			}
			plain.addRead(read, start)
			first := r.Intn(30) // other bases may come before and after these
			s.addRead(&alignedRead{pack(slices.Concat(randomBases(r, first), read, randomBases(r, 5))), first, start, len(read)})
			want := spell(plain.consensus[plain.lo+pileupOrigin : plain.hi+pileupOrigin])
			if got := s.letters(); got != want || s.lo != plain.lo || s.hi != plain.hi || s.reads != plain.reads {
				t.Fatalf("%+v: after %d reads, %d..%d are %s, want %d..%d, %s", c, k+1, s.lo, s.hi, got, plain.lo, plain.hi, want)
			}
		}
	}
}

// TestContigsOfIncludedReads: only reads for which include returns true are used.
func TestContigsOfIncludedReads(t *testing.T) {
	r := rand.New(rand.NewSource(35))
	g := atSite(r, 40, 60)
	rd := loaded(t, archiveOf(t, oneBlock, []string{g, g[10:], g[20:], randomLetters(r, 80), randomLetters(r, 80)}))
	several, singles := spelled(binContigs(rd, func(i int) bool { return rd.records[i]%2 == 1 || rd.records[i] == 2 }, bigBinReads, 1))
	if want := []string{g[10:] + " 2"}; !slices.Equal(several, want) || !slices.Equal(singles, []uint32{3}) {
		t.Errorf("contigs %v and single reads %v, want %v and 3", several, singles, want)
	}
}

// TestContigsAreInOrderOfSignatures: for any number of threads, contigs and single reads are in the order of the bins,
// each read is counted once, and each contig of two or more reads contains its signature.
func TestContigsAreInOrderOfSignatures(t *testing.T) {
	r := rand.New(rand.NewSource(36))
	genome := randomLetters(r, 3000)
	var reads []string
	for i := range 1200 {
		reads = append(reads, draw(r, genome, r.Intn(2900), 100, r.Intn(3), i%2 == 0).read)
	}
	rd := loaded(t, archiveOf(t, 20_000, reads))
	one := binContigs(rd, nil, bigBinReads, 1)
	if most := slices.MaxFunc(rd.groups, func(a, b bins.Bin) int { return int(a.Reads) - int(b.Reads) }); most.Reads < 60 {
		t.Fatalf("the largest bin has %d reads", most.Reads)
	}
	for _, big := range []int{bigBinReads, 1, 30} {
		for _, threads := range []int{1, 2, 8} {
			if c := binContigs(rd, nil, big, threads); !reflect.DeepEqual(c.merged, one.merged) || !slices.Equal(c.singles, one.singles) {
				t.Errorf("other contigs with %d threads if bins from %d reads on are big", threads, big)
			}
		}
	}
	count, bases := len(one.singles), 0
	group := 0
	for i, c := range one.merged {
		count += int(c.reads)
		bases += c.n
		for ; group < len(rd.groups) && !strings.Contains(spell(c.bases()), minimizer.Letters(rd.groups[group].Signature)); group++ {
		}
		if group == len(rd.groups) || c.reads < 2 {
			t.Fatalf("contig %d of %d reads is out of place", i, c.reads)
		}
	}
	if count != len(reads) || one.count() != len(one.merged)+len(one.singles) {
		t.Errorf("%d reads in %d contigs, want %d", count, one.count(), len(reads))
	}
	if got, least := one.bytes(), uint64(bases/4+4*len(one.singles)); got < least || got > least+64*uint64(len(one.merged)) {
		t.Errorf("contigs take %d bytes; their bases and numbers alone are %d", got, least)
	}
}

// packBases packs bases, one a byte, into dst, which has a byte for each four of them.
func packBases(dst, list []byte) {
	clear(dst[:bases.PackedLen(len(list))])
	bases.Pack(dst, list)
}
