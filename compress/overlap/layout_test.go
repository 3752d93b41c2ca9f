package overlap

import (
	"bytes"
	"context"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"orcomgo/bins"
)

// testLayout is the layout of all reads of an archive.
type testLayout struct {
	*Layout
	letters string // of the pseudogenome
}

func layOut(t *testing.T, r *bins.Reader, c Config) *testLayout {
	t.Helper()
	p, err := Build(context.Background(), r, allOf(r), c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.Layout(context.Background(), allOf(r), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &testLayout{l, spell(p.Stretch(nil, 0, p.Len))}
}

// sequenceAt returns the n bases of the pseudogenome at the place of a record, on the strand of its read.
func (l *testLayout) sequenceAt(record uint32, n int) string {
	pos, reversed := l.Place(record)
	s := l.letters[pos : int(pos)+n]
	if reversed {
		s = reverseComplement(s)
	}
	return s
}

// highCoverage draws reads of a genome with high coverage, also at its ends.
func highCoverage(r *rand.Rand, genome string, n, length, errors int) []drawn {
	ds := []drawn{}
	for i := range n {
		at := min(max(r.Intn(len(genome)+length)-length, 0), len(genome)-length)
		ds = append(ds, draw(r, genome, at, length, r.Intn(errors+1), i%2 == 1))
	}
	return ds
}

// TestLayoutGivesBackAGenome: for reads of both strands, with or without errors, that cover a genome well, the
// pseudogenome is the genome or its reverse complement. Each read has the place from which it was drawn, and exactly
// the mismatches that were put in.
func TestLayoutGivesBackAGenome(t *testing.T) {
	for seed := range int64(4) {
		r := rand.New(rand.NewSource(80 + seed))
		genome := randomLetters(r, 5000)
		ds := highCoverage(r, genome, 2000, 100, int(seed&1))
		c := Config{Threads: 2, Whole: true}
		if seed == 2 {
			c = Config{Threads: 2, Memory: littleMemory}
		}
		l := layOut(t, archiveOf(t, 30_000, lettersOf(ds)), c)
		reversedGenome := l.letters == reverseComplement(genome)
		if !reversedGenome && l.letters != genome {
			t.Fatalf("seed %d: %d bases are not the genome's %d", seed, l.Len, len(genome))
		}
		for rec, d := range ds {
			want, wrong := at(d.at, d.reversed), slices.Clone(d.wrong)
			if reversedGenome {
				want = at(len(genome)-100-d.at, !d.reversed)
			}
			if pos, reversed := l.Place(uint32(rec)); at(int(pos), reversed) != want {
				t.Fatalf("seed %d: read %d is at %s, want %s", seed, rec, at(int(pos), reversed), want)
			}
			if d.reversed {
				for i := range wrong {
					wrong[i] = 99 - wrong[i]
				}
				slices.Sort(wrong)
			}
			read := spell(l.Bases(nil, uint32(rec)))
			if read != d.read {
				t.Fatalf("seed %d: read %d is %s, want %s", seed, rec, read, d.read)
			}
			if got := differences(read, l.sequenceAt(uint32(rec), 100)); !slices.Equal(got, wrong) {
				t.Fatalf("seed %d: read %d has mismatches %v, want %v", seed, rec, got, wrong)
			}
		}
	}
}

// TestReadsWithErrorsShareAnOffset: for reads with more errors, the pseudogenome may hold some sequence twice. But
// nearly all reads have the place from which they were drawn, with one orientation and offset for all, and the
// mismatches that were put in.
func TestReadsWithErrorsShareAnOffset(t *testing.T) {
	r := rand.New(rand.NewSource(81))
	genome := randomLetters(r, 5000)
	ds := highCoverage(r, genome, 2000, 100, 2)
	l := layOut(t, archiveOf(t, 30_000, lettersOf(ds)), Config{Threads: 2, Whole: true})
	together := map[string]int{}
	exactly := 0
	for rec, d := range ds {
		pos, reversed := l.Place(uint32(rec))
		if reversed == d.reversed {
			together[at(int(pos)-d.at, false)]++
		} else {
			together[at(int(pos)+d.at, true)]++
		}
		wrong := slices.Clone(d.wrong)
		if d.reversed {
			for i := range wrong {
				wrong[i] = 99 - wrong[i]
			}
			slices.Sort(wrong)
		}
		if slices.Equal(differences(d.read, l.sequenceAt(uint32(rec), 100)), wrong) {
			exactly++
		}
	}
	most := slices.Max(slices.Collect(maps.Values(together)))
	if most < len(ds)*97/100 || exactly < len(ds)*99/100 || l.Len > len(genome)*11/10 {
		t.Errorf("%d bases; %d of %d reads have the same offset, %d the mismatches that were put in", l.Len, most, len(ds), exactly)
	}
}

// The genome of hardReads is all A from allA to allAEnd-1.
const allA, allAEnd = 3300, 3420

// hardReads returns reads of several lengths, some with N, of a genome with a repeat on both strands and a run of A,
// and reads of random sequence and of low complexity.
func hardReads(r *rand.Rand) (genome string, ds []drawn) {
	repeat := randomLetters(r, 300)
	genome = randomLetters(r, 2000) + repeat + randomLetters(r, allA-2300) + strings.Repeat("A", allAEnd-allA) + randomLetters(r, 1500) +
		reverseComplement(changed(repeat, 30, 130, 230)) + randomLetters(r, 1500)
	for i := range 1500 {
		n := 40 + r.Intn(110)
		d := draw(r, genome, r.Intn(len(genome)-n), n, r.Intn(2), i%2 == 1)
		if i%25 == 0 {
			from := r.Intn(n - 10)
			d.read = d.read[:from] + strings.Repeat("N", 10) + d.read[from+10:]
		}
		ds = append(ds, d)
	}
	for i := range 120 {
		read := randomLetters(r, 80)
		if i%4 == 0 {
			read = strings.Repeat(read[:1+i%7], 80)[:80]
		}
		ds = append(ds, drawn{read: read, at: -1})
	}
	r.Shuffle(len(ds), func(i, j int) { ds[i], ds[j] = ds[j], ds[i] })
	return genome, ds
}

// sameLayout reports whether two layouts have the same pseudogenome and the same places.
func sameLayout(x, y *testLayout) bool {
	return x.letters == y.letters && slices.Equal(x.placements.pos, y.placements.pos) &&
		slices.Equal(x.placements.reversedBits, y.placements.reversedBits)
}

// littleMemory is so small that reads like hardReads are laid out in many shares.
const littleMemory = 96 << 10

// TestThreadsDoNotMatter: the layout is the same for any number of threads: with all reads in memory, with a memory
// limit that affects only joining, and in shares.
func TestThreadsDoNotMatter(t *testing.T) {
	r := rand.New(rand.NewSource(83))
	_, ds := hardReads(r)
	archive := archiveOf(t, 20_000, lettersOf(ds))
	for _, c := range []Config{{Whole: true}, {Whole: true, Memory: 512 << 10}, {Memory: littleMemory}} {
		c.Threads = 1
		one := layOut(t, archive, c)
		for _, c.Threads = range []int{2, 8} {
			if many := layOut(t, archive, c); !sameLayout(one, many) {
				t.Errorf("%+v: another layout than with one thread", c)
			}
		}
	}
}

// TestBlocksDoNotMatter: with all reads in memory, the layout depends only on the reads, not on their blocks.
func TestBlocksDoNotMatter(t *testing.T) {
	r := rand.New(rand.NewSource(84))
	_, ds := hardReads(r)
	c := Config{Threads: 2, Whole: true}
	one := layOut(t, archiveOf(t, oneBlock, lettersOf(ds)), c)
	for _, size := range []uint64{4000, 50_000} {
		archive := archiveOf(t, size, lettersOf(ds))
		if len(archive.Meta().Blocks) < 2 {
			t.Fatal("one block")
		}
		if many := layOut(t, archive, c); !sameLayout(one, many) {
			t.Errorf("%d blocks: another layout than with one", len(archive.Meta().Blocks))
		}
	}
}

// TestPlacesInShares: with any memory, each read is unplaced or has a place with sequence similar to that from which it
// was drawn. Few reads are unplaced, and the pseudogenome is not much longer than the genome.
func TestPlacesInShares(t *testing.T) {
	r := rand.New(rand.NewSource(85))
	genome, ds := hardReads(r)
	archive := archiveOf(t, 20_000, lettersOf(ds))
	for _, c := range []struct {
		config  Config
		without int // at most so many reads of the genome are unplaced
		ends    int // at most so many reads reach beyond the end of a scaffold, to other sequence
		longest int
	}{
		{Config{Threads: 2, Whole: true}, 2, 3, len(genome) * 108 / 100},
		{Config{Threads: 2, Memory: 1 << 20}, 2, 3, len(genome) * 106 / 100},
		{Config{Threads: 2, Memory: littleMemory}, 4, 4, len(genome) * 110 / 100},
		{Config{Threads: 2, Memory: 48 << 10}, 10, 6, len(genome) * 120 / 100},
	} {
		shares, err := recordsOf(archive, allOf(archive)).shares(c.config.Memory/4 + 1)
		if err != nil || c.config.Memory > 0 && c.config.Memory < 100<<10 && len(shares) < 6 {
			t.Errorf("%d bytes: %d shares, %v", c.config.Memory, len(shares), err)
		}
		l := layOut(t, archive, c.config)
		without, ends := 0, 0
		for rec, d := range ds {
			if pos, _ := l.Place(uint32(rec)); pos == Unplaced {
				if d.at >= 0 {
					without++
				}
				continue
			}
			n := len(d.read)
			below := l.sequenceAt(uint32(rec), n)
			if got := len(differences(d.read, below)); got > n/loose.basesPerMismatch {
				t.Fatalf("%d bytes: read %d, %s, has %d mismatches", c.config.Memory, rec, d.read, got)
			}
			if d.at < 0 || d.at < allAEnd && d.at+n > allA {
				continue // of low complexity
			}
			from := genome[d.at : d.at+n]
			if d.reversed {
				from = reverseComplement(from)
			}
			// The copies of the repeat differ by three bases; where coverage is low, errors are not outvoted.
			if got := differences(from, below); len(got) > 5 {
				if ends++; got[len(got)/2] >= n/4 && got[len(got)/2] < n*3/4 {
					t.Errorf("%d bytes: read %d is over sequence that differs at %v from where it was drawn", c.config.Memory, rec, got)
				}
			}
		}
		if without > c.without || ends > c.ends || l.Len > c.longest {
			t.Errorf("%d bytes: %d bases, %d reads without a place, %d over ends; want at most %d, %d and %d",
				c.config.Memory, l.Len, without, ends, c.longest, c.without, c.ends)
		}
	}
}

// TestPartsOfALayout: reads that are loaded in parts, or only some of a part, have the places that Build gave them.
// Reads after those that Build laid out are placed when they are loaded.
func TestPartsOfALayout(t *testing.T) {
	r := rand.New(rand.NewSource(86))
	genome := randomLetters(r, 3000)
	ds := highCoverage(r, genome, 1400, 90, 0)
	archive := archiveOf(t, 9000, lettersOf(ds))
	const laid = 1000
	p, err := Build(context.Background(), archive, []Source{{To: laid}}, Config{Threads: 2, Memory: 200 << 10})
	if err != nil {
		t.Fatal(err)
	}
	letters := spell(p.Stretch(nil, 0, p.Len))
	reversedGenome := letters == reverseComplement(genome)
	if !reversedGenome && letters != genome {
		t.Fatalf("%d bases are not the genome", p.Len)
	}
	some := NewSubset(400)
	for rec := uint32(3); rec < 400; rec += 7 {
		some.Add(rec)
	}
	for _, part := range []struct {
		from, to uint64
		only     *Subset
	}{{0, 400, nil}, {400, laid, nil}, {400, 800, &some}, {laid, 1400, nil}} {
		l, err := p.Layout(context.Background(), []Source{{From: part.from, To: part.to}}, part.from, part.only)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for rec := range uint32(part.to - part.from) {
			if part.only != nil && !part.only.Has(rec) {
				continue
			}
			n++
			d := ds[part.from+uint64(rec)]
			want := at(d.at, d.reversed)
			if reversedGenome {
				want = at(len(genome)-90-d.at, !d.reversed)
			}
			pos, reversed := l.Place(rec)
			if got := at(int(pos), reversed); got != want {
				t.Fatalf("record %d of those from %d on is at %s, want %s", rec, part.from, got, want)
			}
			if got := spell(l.Bases(nil, rec)); got != d.read {
				t.Fatalf("record %d of those from %d on is %s, want %s", rec, part.from, got, d.read)
			}
			if all := part.from + uint64(rec); all < laid {
				if pos, reversed := p.Place(uint32(all)); at(int(pos), reversed) != want {
					t.Fatalf("record %d of all is at %s, want %s", all, at(int(pos), reversed), want)
				}
			}
		}
		if l.Reads.Count() != n {
			t.Errorf("%d reads are held of those from %d on, want %d", l.Reads.Count(), part.from, n)
		}
	}
}

// TestLayoutsOfFewReads: no reads, reads that overlap no other, reads of N only, and two equal reads. Where no read has a place, places
// take no memory: they would take 5 bytes for each of many reads of few bases.
func TestLayoutsOfFewReads(t *testing.T) {
	r := rand.New(rand.NewSource(87))
	x := atSite(r, 40, 60)
	for _, c := range []struct {
		name  string
		reads []string
		bases int
		want  []string
	}{
		{"one read", []string{x}, 0, []string{"none"}},
		{"empty reads", []string{"", ""}, 0, []string{"none", "none"}},
		{"N alone", []string{strings.Repeat("N", 50), strings.Repeat("N", 50)}, 0, []string{"none", "none"}},
		{"reads without overlap", []string{x, randomLetters(r, 100), randomLetters(r, 100)}, 0, []string{"none", "none", "none"}},
		{"two equal reads", []string{x, x}, len(x), []string{"0", "0"}},
		{"two strands", []string{x, reverseComplement(x)}, len(x), []string{"0", "0 reversed"}},
		{"the first is the other strand", []string{reverseComplement(x), x, x}, len(x), []string{"0 reversed", "0", "0"}},
		{"one inside", []string{x[20:90], x}, len(x), []string{"20", "0"}},
		{"a tag", []string{"AACCTGATCA", "AACCTGATCA", "AACCAGATCA", "TGATCAGGTT"}, 10, []string{"0", "0", "0", "0 reversed"}},
		{"short reads", []string{"AACCTGATCA", "CATTGAC"}, 0, []string{"none", "none"}},
	} {
		for _, config := range []Config{{Threads: 2, Whole: true}, {Threads: 2, Memory: 1 << 16}} {
			l := layOut(t, archiveOf(t, oneBlock, c.reads), config)
			var got []string
			for rec := range c.reads {
				got = append(got, placeOf(l.placements, rec))
			}
			if l.Len != c.bases || !slices.Equal(got, c.want) {
				t.Errorf("%s: %d bases and places %v, want %d and %v", c.name, l.Len, got, c.bases, c.want)
			}
			if c.bases > 0 {
				continue
			}
			if l.placements != nil {
				t.Errorf("%s: there is memory for places", c.name)
			}
			pos, reversed := []uint32{7}, []bool{true}
			l.Places([]uint32{0}, pos, reversed)
			if p, r := l.Pseudogenome.Place(0); pos[0] != Unplaced || reversed[0] || p != Unplaced || r {
				t.Errorf("%s: record 0 is at %v, %v, and at %d, %v", c.name, pos, reversed, p, r)
			}
		}
	}
}

// TestInputsAreLaidOutTogether: reads of several inputs share one pseudogenome, and records are numbered on from one
// input to the next.
func TestInputsAreLaidOutTogether(t *testing.T) {
	r := rand.New(rand.NewSource(88))
	genome := randomLetters(r, 2000)
	ds := highCoverage(r, genome, 800, 80, 1)
	reads := lettersOf(ds)
	one := layOut(t, archiveOf(t, oneBlock, reads), Config{Threads: 1, Whole: true})
	three := layOut(t, archiveOf(t, 8000, reads[:300], reads[300:301], reads[301:]), Config{Threads: 1, Whole: true})
	if !sameLayout(one, three) {
		t.Error("reads of three inputs have another layout than those of one")
	}
	if len(one.letters) < len(genome) || len(one.letters) > len(genome)*104/100 { // an end may be there twice
		t.Errorf("%d bases of a genome of %d", one.Len, len(genome))
	}
	var a, b []byte
	for rec := range uint32(len(reads)) {
		if a, b = one.Bases(a[:0], rec), three.Bases(b[:0], rec); !bytes.Equal(a, b) || spell(a) != reads[rec] {
			t.Fatalf("record %d is %s and %s, want %s", rec, spell(a), spell(b), reads[rec])
		}
	}
}
