package overlap

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"orcomgo/bases"
)

// placesOn places reads on a pseudogenome that is indexed at once.
func placesOn(t *testing.T, pg string, mode placeMode, threads int, reads ...string) (*Reads, *placements) {
	t.Helper()
	b := readsOn(t, pg, archiveReads(t, reads), threads)
	if err := b.placeReads(context.Background(), 0, mode, retryNone); err != nil {
		t.Fatal(err)
	}
	return b.allReads, b.placements
}

// archiveReads returns the records of an archive of reads.
func archiveReads(t *testing.T, reads []string) *records {
	t.Helper()
	archive := archiveOf(t, oneBlock, reads)
	return recordsOf(archive, allOf(archive))
}

// readsOn returns a builder with pseudogenome pg and all reads in memory, none of them placed, without a limit on
// memory.
func readsOn(t *testing.T, pg string, rs *records, threads int) *builder {
	t.Helper()
	rd, err := rs.load(context.Background(), rs.all(), false)
	if err != nil {
		t.Fatal(err)
	}
	b := &builder{config: Config{Threads: threads, Whole: true}, records: rs, allReads: rd, workBytes: math.MaxUint64}
	b.seq.append(codes(pg))
	b.placements = newPlacements(rs.count, 2)
	return b
}

// placeOf returns the position and strand of a record, or "none" if it has no place.
func placeOf(pl *placements, record int) string {
	pos, reversed := pl.of(uint32(record))
	if pos == Unplaced {
		return "none"
	}
	return at(int(pos), reversed)
}

func at(pos int, reversed bool) string {
	if reversed {
		return fmt.Sprint(pos, " reversed")
	}
	return fmt.Sprint(pos)
}

// seeded reports whether one of the sampled 24-mers of a read has no error.
func seeded(d drawn, genome string) bool {
	for a := 0; a+exact.k <= len(d.read); a++ {
		clean := !slices.ContainsFunc(d.wrong, func(w int) bool { return w >= a && w < a+exact.k })
		w := bases.Chunk(pack(codes(genome[d.at+a:d.at+a+exact.k])), 0) & bases.First(exact.k)
		if clean && mix64(min(w, bases.ReverseComplement(w, exact.k)))&exact.sampleMask == 0 {
			return true
		}
	}
	return false
}

// TestPlacesOfDrawnReads: reads are placed where they were drawn from, with the right number of mismatches, for any
// number of threads. By 24-mers, those with a sampled 24-mer without error are placed; by 13-mers, nearly all.
func TestPlacesOfDrawnReads(t *testing.T) {
	r := rand.New(rand.NewSource(60))
	genome := randomLetters(r, 30_000)
	var ds []drawn
	for i := range 400 {
		n := 60 + r.Intn(100)
		at := []int{0, len(genome) - n, r.Intn(len(genome) - n + 1)}[min(i, 2)]
		ds = append(ds, draw(r, genome, at, n, r.Intn(4), i%2 == 1))
	}
	for i := range 200 { // so many that only 13-mers find some
		n := 60 + r.Intn(100)
		ds = append(ds, draw(r, genome, r.Intn(len(genome)-n+1), n, n/6, i%2 == 1))
	}
	for _, threads := range []int{1, 2, 8} {
		_, strict := placesOn(t, genome, exact, threads, lettersOf(ds)...)
		_, lax := placesOn(t, genome, loose, threads, lettersOf(ds)...)
		found := [2]int{}
		for i, d := range ds {
			want := at(d.at, d.reversed)
			for k, pl := range []*placements{strict, lax} {
				got := placeOf(pl, i)
				if got == want && int(pl.mismatches[i]) == len(d.wrong) {
					found[k]++
				} else if got != "none" || k == 0 && seeded(d, genome) {
					t.Fatalf("read %d of %d bases, %d wrong, is at %s with %d mismatches, want %s",
						i, len(d.read), len(d.wrong), got, pl.mismatches[i], want)
				}
			}
		}
		// A read with one wrong base in six rarely has 24 bases in a row without error, but usually 13.
		if found[0] < 390 || found[0] > 500 || found[1] < 520 {
			t.Errorf("%d of %d reads are placed by 24-mers, %d by 13-mers", found[0], len(ds), found[1])
		}
	}
}

// TestMostMismatchesOfAPlace: a read is placed if a sixth of its bases are mismatches (by 13-mers a fifth), and not
// with one mismatch more.
func TestMostMismatchesOfAPlace(t *testing.T) {
	r := rand.New(rand.NewSource(61))
	genome := randomLetters(r, 2000)
	for _, mode := range []placeMode{exact, loose} {
		for _, n := range []int{100, 119, 120} {
			var reads []string
			for _, wrong := range []int{n / mode.basesPerMismatch, n/mode.basesPerMismatch + 1} {
				var at []int
				for i := range wrong {
					at = append(at, 60+i)
				}
				reads = append(reads, changed(genome[700:700+n], at...))
			}
			_, pl := placesOn(t, genome, mode, 1, reads...)
			if placeOf(pl, 0) != "700" || placeOf(pl, 1) != "none" {
				t.Errorf("%s, %d bases: with %d wrong at %s, with one more at %s",
					mode.stage, n, n/mode.basesPerMismatch, placeOf(pl, 0), placeOf(pl, 1))
			}
		}
	}
}

// TestTies: of equally good places, a read gets the one with the smallest position; at the same position, the one on
// the forward strand. A place with fewer mismatches takes precedence over both rules.
func TestTies(t *testing.T) {
	r := rand.New(rand.NewSource(62))
	gap := func(n int) string { return randomLetters(r, n) }
	x := gap(100)
	half := gap(50)
	palindrome := half + reverseComplement(half)
	for _, c := range []struct {
		name, pg, read, want string
	}{
		{"two copies", gap(300) + x + gap(300) + x + gap(100), x, "300"},
		{"the first is the other strand's", gap(300) + reverseComplement(x) + gap(300) + x, x, "300 reversed"},
		{"the second is", gap(300) + x + gap(300) + reverseComplement(x), x, "300"},
		{"a palindrome", gap(200) + palindrome + gap(200), palindrome, "200"},
		{"palindromes", gap(200) + palindrome + gap(7) + palindrome, palindrome, "200"},
		{"a palindrome with three mismatches, on the left the reverse strand is found first",
			gap(200) + changed(palindrome, 3, 40, 41) + gap(200), palindrome, "200"},
		{"on the right", gap(200) + changed(palindrome, 40, 41, 97) + gap(200), palindrome, "200"},
		{"the second is better", gap(300) + changed(x, 30, 31) + gap(300) + x, x, "700"},
		{"the first has one mismatch", gap(300) + changed(x, 30) + gap(300) + x, x, "700"},
		{"as many mismatches, of other bases", gap(300) + changed(x, 3, 50, 97) + gap(300) + changed(x, 20, 60, 80), x, "300"},
		{"fewer mismatches, the other strand", gap(300) + changed(x, 3, 50, 97) + gap(300) + changed(reverseComplement(x), 50, 51), x,
			"700 reversed"},
		{"a tandem repeat", gap(30) + strings.Repeat(x, 4), x, "30"},
		{"a homopolymer", gap(40) + "C" + strings.Repeat("A", 300) + gap(40), strings.Repeat("A", 100), "41"},
		{"the other homopolymer", gap(40) + "C" + strings.Repeat("A", 300) + gap(40), strings.Repeat("T", 100), "41 reversed"},
	} {
		_, pl := placesOn(t, c.pg, exact, 1, c.read, reverseComplement(c.read))
		otherStrand := strings.TrimSuffix(c.want, " reversed")
		if otherStrand == c.want && c.read != reverseComplement(c.read) {
			otherStrand += " reversed"
		}
		if got := placeOf(pl, 0); got != c.want {
			t.Errorf("%s: the read is at %s, want %s", c.name, got, c.want)
		}
		if got := placeOf(pl, 1); got != otherStrand {
			t.Errorf("%s: the read's other strand is at %s, want %s", c.name, got, otherStrand)
		}
	}
}

// TestBestPlaceOfAll compares with a search of all places that share a 24-mer with the read, on slightly different
// copies of a repeat on both strands: the best place is found, and the first of equal ones.
func TestBestPlaceOfAll(t *testing.T) {
	r := rand.New(rand.NewSource(63))
	repeat := randomLetters(r, 160)
	var pg string
	for i := range 9 {
		c := repeat
		for range i {
			c = changed(c, r.Intn(len(c)))
		}
		if i%3 == 1 {
			c = reverseComplement(c)
		}
		pg += c + randomLetters(r, 90)
	}
	var reads []string
	for i := range 200 {
		d := draw(r, repeat, r.Intn(60), 80+i%2*20, r.Intn(6), i%4 < 2)
		reads = append(reads, d.read)
	}
	mode := exact
	mode.sampleMask, mode.maxCandidates, mode.goodMismatches, mode.basesPerMoreSeed = 0, 1000, 0, 1
	rd, pl := placesOn(t, pg, mode, 1, reads...)
	ties := 0
	for i := range rd.Count() {
		rec := rd.records[i]
		reversed := rd.signaturePlace[i]&1 != 0
		n := len(reads[rec])
		best, want, equals := n/mode.basesPerMismatch, "none", 0
		for pos := range len(pg) - n + 1 {
			for _, reverse := range []bool{false, true} { // of the read as it is stored
				read := reads[rec]
				if reversed != reverse {
					read = reverseComplement(read)
				}
				wrong, prev, seed := 0, -1, false
				for j := 0; j < n && wrong <= best; j++ {
					if read[j] != pg[pos+j] {
						wrong++
						seed = seed || j-prev > mode.k
						prev = j
					}
				}
				seed = seed || n-prev > mode.k
				switch {
				case !seed || wrong > best:
				case wrong < best || want == "none":
					best, want, equals = wrong, at(pos, reversed != reverse), 1
				default:
					equals++
				}
			}
		}
		if got := placeOf(pl, int(rec)); got != want || want != "none" && int(pl.mismatches[rec]) != best {
			t.Fatalf("read %d is at %s with %d mismatches, want %s with %d", rec, got, pl.mismatches[rec], want, best)
		}
		if equals > 1 {
			ties++
		}
	}
	if ties < 10 {
		t.Errorf("only %d reads have several equal places", ties)
	}
}

// TestReadsWithN: an N matches any base, so reads with N are placed, on either strand, if they have a k-mer without N.
func TestReadsWithN(t *testing.T) {
	r := rand.New(rand.NewSource(64))
	bases := []byte(randomLetters(r, 3000))
	spaced := bytes.Clone(bases[1000:1140])
	for i := 10; i < len(spaced); i += 15 {
		spaced[i] = 'N'
		bases[1000+i] = "CG"[i&1] // in memory an N is an A
	}
	genome := string(bases)
	masked := func(from, n int, wrong ...int) string {
		s := changed(genome[1000:1140], wrong...)
		return s[:from] + strings.Repeat("N", n) + s[from+n:]
	}
	reads := []string{masked(0, 1), masked(0, 60), masked(139, 1), masked(80, 60), masked(40, 50), masked(40, 50, 20, 41, 100),
		string(spaced), strings.Repeat("N", 100), masked(0, 125), masked(15, 124)}
	wrong := []int{0, 0, 0, 0, 0, 2, 0, 0, 0, 0}
	n := len(reads)
	for i := range n {
		reads = append(reads, reverseComplement(reads[i]))
	}
	_, strict := placesOn(t, genome, exact, 1, reads...)
	_, lax := placesOn(t, genome, loose, 1, reads...)
	for i := range reads {
		want := [2]string{at(1000, i >= n), at(1000, i >= n)}
		switch {
		case i%n == 7:
			want = [2]string{"none", "none"}
		case i%n >= 6: // at most 15 bases in a row
			want[0] = "none"
		}
		for k, pl := range []*placements{strict, lax} {
			if got := placeOf(pl, i); got != want[k] || got != "none" && int(pl.mismatches[i]) != wrong[i%n] {
				t.Errorf("%s by %d-mers is at %s with %d mismatches, want %s with %d",
					reads[i], []int{24, 13}[k], got, pl.mismatches[i], want[k], wrong[i%n])
			}
		}
	}
}

// TestReadsWithoutPlaces: reads of other sequence, reads that are too short or too long, and reads that extend beyond
// the ends are not placed.
func TestReadsWithoutPlaces(t *testing.T) {
	r := rand.New(rand.NewSource(65))
	genome := randomLetters(r, 2000)
	x := randomLetters(r, 50)
	reads := []string{"", genome[500:523], randomLetters(r, 100), strings.Repeat("A", 100), strings.Repeat("AC", 50), genome[100:801],
		x + genome[:100], genome[1900:] + x, genome[300:345] + x[:9] + genome[345:390], genome[100:800], genome[600:624]}
	_, pl := placesOn(t, genome, exact, 1, reads...)
	for i := range reads {
		want := "none"
		switch i {
		case 9:
			want = "100"
		case 10: // one k-mer, which is looked up if it is of the sample
			if w := bases.Chunk(
				pack(codes(reads[i])),
				0,
			) & bases.First(
				24,
			); mix64(
				min(w, bases.ReverseComplement(w, 24)),
			)&exact.sampleMask == 0 {
				want = "600"
			}
		}
		if got := placeOf(pl, i); got != want {
			t.Errorf("read %d, %s, is at %s, want %s", i, reads[i], got, want)
		}
	}
	if _, pl = placesOn(t, genome, loose, 1, genome[600:613], genome[600:612]); placeOf(pl, 0) != "600" || placeOf(pl, 1) != "none" {
		t.Errorf("13 bases are at %s, 12 at %s", placeOf(pl, 0), placeOf(pl, 1))
	}
}

// TestRetriedReads: a read with a place is moved only to one with fewer mismatches, and only if it is selected for
// retrying. The search ends at a place with one mismatch.
func TestRetriedReads(t *testing.T) {
	r := rand.New(rand.NewSource(66))
	x := randomLetters(r, 100)
	pg := randomLetters(r, 300) + changed(x, 40, 41, 42) + randomLetters(r, 300) + changed(x, 70, 71) + randomLetters(r, 100)
	for _, c := range []struct {
		miss  int
		retry retryRule
		pg    string
		want  string
	}{
		{3, retryMismatched, pg, "700"}, {2, retryMismatched, pg, "5"}, {0, retryMismatched, pg, "5"}, {9, retryNone, pg, "5"},
		{2, retryMismatched, pg + x, "900"}, {1, retryMismatched, pg + x, "5"},
	} {
		b := readsOn(t, c.pg, archiveReads(t, []string{x}), 1)
		b.placements.set(0, 5, false, c.miss)
		if err := b.placeReads(context.Background(), 0, exact, c.retry); err != nil {
			t.Fatal(err)
		}
		if got := placeOf(b.placements, 0); got != c.want {
			t.Errorf("a read with %d mismatches is at %s then, want %s", c.miss, got, c.want)
		}
	}
	// All places are at or after the position from which on reads are placed.
	b := readsOn(t, pg+x, archiveReads(t, []string{x, changed(x, 40, 41, 42)}), 1)
	if err := b.placeReads(context.Background(), 600,
		exact,
		retryMismatched,
	); err != nil || placeOf(b.placements, 0) != "900" ||
		placeOf(b.placements, 1) != "900" {
		t.Errorf("from base 600 on, the reads are at %s and %s, want 900", placeOf(b.placements, 0), placeOf(b.placements, 1))
	}
}

// TestWindows: indexing the pseudogenome one window at a time gives the same places, also across the ends of windows,
// and for equal places in two windows the first.
func TestWindows(t *testing.T) {
	r := rand.New(rand.NewSource(67))
	genome := []byte(randomLetters(r, 20_000))
	const window = 1 << 12
	copy(genome[3*window+500:], genome[500:700])
	genome[600] = "CGTA"[strings.IndexByte("ACGT", genome[600])]
	genome[601] = "CGTA"[strings.IndexByte("ACGT", genome[601])]
	copy(genome[3*window+1500:], genome[1500:1700])
	var ds []drawn
	for at := 0; at+100 <= len(genome); at += 37 {
		ds = append(ds, draw(r, string(genome), at, 100, r.Intn(3), at%2 == 1))
	}
	for w := window; w < len(genome); w += window {
		for _, at := range []int{w - 100, w - 99, w - 50, w - 1, w} {
			ds = append(ds, draw(r, string(genome), at, 100, 0, at%2 == 1))
		}
		for at := w - 25; at < w; at++ { // whose few k-mers are all over the end
			ds = append(ds, draw(r, string(genome), at, 26, 0, at%2 == 1))
		}
	}
	ds = append(ds, draw(r, string(genome), 3*window+550, 100, 0, false), draw(r, string(genome), 3*window+1550, 100, 0, true))
	rs := archiveReads(t, lettersOf(ds))
	whole := readsOn(t, string(genome), rs, 2)
	windows := readsOn(t, string(genome), rs, 2)
	windows.workBytes = 1
	for _, b := range []*builder{whole, windows} {
		if err := b.placeReads(context.Background(), 0, exact, retryMismatched); err != nil {
			t.Fatal(err)
		}
	}
	for i, d := range ds {
		got, want := placeOf(windows.placements, i), placeOf(whole.placements, i)
		if got != want || windows.placements.mismatches[i] != whole.placements.mismatches[i] {
			t.Errorf("read %d is at %s with %d mismatches in windows, at %s with %d without",
				i, got, windows.placements.mismatches[i], want, whole.placements.mismatches[i])
		}
		repeated := d.at%(3*window) > 400 && d.at%(3*window) < 1700
		if !repeated && want != at(d.at, d.reversed) && (want != "none" || seeded(d, string(genome))) {
			t.Errorf("read %d is at %s, want %s", i, want, at(d.at, d.reversed))
		}
	}
	n := len(ds)
	if x, y := placeOf(windows.placements, n-2), placeOf(windows.placements, n-1); x != at(3*window+550, false) || y != at(1550, true) {
		t.Errorf("of two copies the better one is at %s, and the first of equals at %s", x, y)
	}
}

// manyCandidates are pseudogenomes with reads that share k-mers with many wrong places.
func manyCandidates(r *rand.Rand) []hardCase {
	shared := randomLetters(r, 24)
	var stutter, sharing strings.Builder
	for range 400 {
		stutter.WriteString(strings.Repeat("A", 15+r.Intn(30)) + randomLetters(r, 60))
		sharing.WriteString(shared + randomLetters(r, 80))
	}
	return []hardCase{
		{"stutter", stutter.String(), func() string {
			return randomLetters(r, 10) + strings.Repeat("A", 20+r.Intn(10)) + randomLetters(r, 20) + strings.Repeat("A", 40)
		}, true},
		{"stutter by itself", stutter.String(), func() string { return strings.Repeat("A", 60+r.Intn(40)) + randomLetters(r, 10) }, true},
		{"a 24-mer shared", sharing.String(), func() string { return randomLetters(r, 30) + shared + randomLetters(r, 46) }, false},
		{"a unique genome", randomLetters(r, 40_000), func() string { return randomLetters(r, 100) }, false},
	}
}

type hardCase struct {
	name, pg string
	read     func() string
	most     bool // as many candidates as are allowed are tried by 24-mers
}

// TestCandidatesAreBounded: a read that shares k-mers with thousands of wrong places tries no more candidates than its bases
// allow. A read that has a place is still placed, and other reads don't change its place.
func TestCandidatesAreBounded(t *testing.T) {
	r := rand.New(rand.NewSource(69))
	for _, c := range manyCandidates(r) {
		var reads []string
		for range 500 {
			reads = append(reads, c.read())
		}
		for _, mode := range []placeMode{exact, loose} {
			b := readsOn(t, c.pg, archiveReads(t, reads), 1)
			ix := newKmerIndex(b.seq.packed, 0, b.seq.n, mode.k, mode.sampleMask, mode.maxCandidates, nil, 1)
			atBound := 0
			for i := range b.allReads.Count() {
				p := &placer{rd: b.allReads, pg: b.seq.packed, pgLen: b.seq.n, index: ix, mode: mode}
				n := b.allReads.len(i)
				p.place(i, []uint8{uint8(n/mode.basesPerMismatch + 1)}, func(*search) {})
				if bound := int64(n / mode.basesPerCandidate); p.tried > bound {
					t.Fatalf("%s by %d-mers: %d candidates were tried, want at most %d", c.name, mode.k, p.tried, bound)
				} else if p.tried == bound {
					atBound++
				}
			}
			if used := atBound > len(reads)/2; used != c.most && mode.k == exact.k {
				t.Errorf("%s by %d-mers: %d of %d reads try as many candidates as are allowed", c.name, mode.k, atBound, len(reads))
			}
		}
	}
	// A read with many candidates, one of which is its place.
	pg := manyCandidates(r)[0].pg
	own := pg[len(pg)/2 : len(pg)/2+100]
	_, pl := placesOn(t, pg, exact, 1, own)
	if pl.pos[0] == Unplaced || pl.mismatches[0] > 1 {
		t.Errorf("a read of stutter is at %s with %d mismatches", placeOf(pl, 0), pl.mismatches[0])
	}
}

// TestPlacesDependOnOneRead: the place of a read is the same whether it is placed alone or among others.
func TestPlacesDependOnOneRead(t *testing.T) {
	r := rand.New(rand.NewSource(70))
	for _, c := range manyCandidates(r) {
		var reads []string
		for i := range 300 {
			reads = append(reads, c.read())
			n := 60 + r.Intn(60)
			reads = append(reads, draw(r, c.pg, r.Intn(len(c.pg)-n+1), n, r.Intn(8), i%2 == 1).read)
		}
		b := readsOn(t, c.pg, archiveReads(t, reads), 2)
		for _, mode := range []placeMode{exact, loose} {
			b.placements = newPlacements(len(reads), 2)
			if err := b.placeReads(context.Background(), 0, mode, retryNone); err != nil {
				t.Fatal(err)
			}
			ix := newKmerIndex(b.seq.packed, 0, b.seq.n, mode.k, mode.sampleMask, mode.maxCandidates, nil, 1)
			placed := 0
			for i, rec := range b.allReads.records {
				p := &placer{rd: b.allReads, pg: b.seq.packed, pgLen: b.seq.n, index: ix, mode: mode}
				got := "none"
				p.place(i, []uint8{uint8(b.allReads.len(i)/mode.basesPerMismatch + 1)}, func(s *search) {
					got = at(s.pos, s.reversed != (b.allReads.signaturePlace[i]&1 != 0))
					placed++
				})
				if want := placeOf(b.placements, int(rec)); got != want {
					t.Fatalf("%s by %d-mers: read %d is at %s alone, at %s among others", c.name, mode.k, rec, got, want)
				}
			}
			if placed < 100 {
				t.Errorf("%s by %d-mers: only %d reads are placed", c.name, mode.k, placed)
			}
		}
	}
}

// TestSeedsOfRest: an index of the seeds of few reads gives them the places that an index of all k-mers gives them. For many reads there is
// none.
func TestSeedsOfRest(t *testing.T) {
	r := rand.New(rand.NewSource(71))
	pg := randomLetters(r, 60_000)
	var reads []string
	for i := range 2000 {
		reads = append(reads, draw(r, pg, r.Intn(len(pg)-80), 80, r.Intn(14), i%2 == 1).read)
	}
	for _, n := range []int{100, len(reads)} {
		b := readsOn(t, pg, archiveReads(t, reads[:n]), 2)
		wanted := b.seedsOfRest(loose, b.seq.n)
		if (wanted != nil) != (n == 100) {
			t.Fatalf("%d reads: seeds are selected: %t", n, wanted != nil)
		}
		all := newKmerIndex(b.seq.packed, 0, b.seq.n, loose.k, loose.sampleMask, loose.maxCandidates, nil, 2)
		some := newKmerIndex(b.seq.packed, 0, b.seq.n, loose.k, loose.sampleMask, loose.maxCandidates, wanted, 2)
		if a, s := len(slices.Concat(all.segments[:]...)), len(slices.Concat(some.segments[:]...)); n == 100 && s > a/4 {
			t.Errorf("%d slots of %d", s, a)
		}
		limits := slices.Repeat([]uint8{80/uint8(loose.basesPerMismatch) + 1}, n)
		var places [2][]string
		for k, ix := range []*kmerIndex{all, some} {
			p := &placer{rd: b.allReads, pg: b.seq.packed, pgLen: b.seq.n, index: ix, mode: loose}
			places[k] = make([]string, n)
			p.place(0, limits, func(s *search) { places[k][s.index] = at(s.pos, s.reversed) })
		}
		if !slices.Equal(places[0], places[1]) || n-len(slices.DeleteFunc(places[0], func(s string) bool { return s != "" })) < n/2 {
			t.Errorf("%d reads: other places, or few", n)
		}
	}
}
