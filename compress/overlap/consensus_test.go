package overlap

import (
	"bytes"
	"context"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"orcomgo/bases"
)

// placedAs returns a builder whose reads have the positions from which they were drawn, on pg, which may be another sequence.
func placedAs(t *testing.T, pg string, ds []drawn) *builder {
	t.Helper()
	b := readsOn(t, pg, archiveReads(t, lettersOf(ds)), 1)
	for rec, d := range ds {
		read := d.read
		if d.reversed {
			read = reverseComplement(read)
		}
		b.placements.set(uint32(rec), uint32(d.at), d.reversed, len(differences(read, pg[d.at:d.at+len(read)])))
	}
	return b
}

func (b *builder) letters() string { return spell(bases.Unpack(nil, b.seq.packed, 0, b.seq.n)) }

// TestVote: a base is replaced by the base that most reads have at its position, if more reads have it than have the present
// base. Of equally frequent ones, the first of A, C, G, T is taken. A read with N counts for the present base.
func TestVote(t *testing.T) {
	r := rand.New(rand.NewSource(70))
	cases := []struct{ over, want string }{
		{
			"GAAA",
			"A",
		},
		{"AGAA", "A"},
		{"AAAG", "A"},
		{"GGGA", "G"},
		{"GGAA", "G"},
		{"AAGG", "G"},
		{"A", "A"},
		{"", "G"},
		{"AC", "A"},
		{"CT", "C"},
		{"TTCC", "C"},
		{"GACT", "G"},
		{"GAACT", "A"},
		{"GGAACC", "G"},
		{"AAGGTTT", "T"},
		{"NA", "G"},
		{"NAA", "A"},
		{"NN", "G"},
	}
	const each, at = 300, 150           // each case has its own part of the pseudogenome, with a G in the middle
	for _, depth := range []int{0, 5} { // coverage next to the base
		pg, want := "", ""
		for _, c := range cases {
			left, right := randomLetters(r, at), randomLetters(r, each-at-1)
			pg, want = pg+left+"G"+right, want+left+c.want+right
		}
		var ds []drawn
		for k, c := range cases {
			for i, base := range []byte(c.over) {
				d := draw(r, pg, each*k+at-60+7*i, 100, 0, i%2 == 1)
				read := []byte(pg[d.at : d.at+100])
				read[60-7*i] = base
				d.read = string(read)
				if d.reversed {
					d.read = reverseComplement(d.read)
				}
				ds = append(ds, d)
			}
			for i := range depth {
				ds = append(ds, draw(r, pg, each*k+at+1+i, 60, 0, false), draw(r, pg, each*k+at-80, 80, 0, true))
			}
		}
		b := placedAs(t, pg, ds)
		if err := b.vote(context.Background()); err != nil {
			t.Fatal(err)
		}
		got := b.letters()
		for k, c := range cases {
			if got[each*k+at] != c.want[0] {
				t.Errorf("%s over a G, %d beside it: %c, want %s", c.over, depth, got[each*k+at], c.want)
			}
		}
		for _, p := range differences(got, want) {
			if p%each != at {
				t.Errorf("base %d, where no read has a mismatch, was changed", p)
			}
		}
	}
}

// TestVotesMakeTheGenome: with high coverage, voting corrects all errors of a pseudogenome, at once or, with little memory, in
// several ranges, also at the ends of the ranges.
func TestVotesMakeTheGenome(t *testing.T) {
	r := rand.New(rand.NewSource(71))
	genome := randomLetters(r, 15_000)
	const stretch = 1 << voteBucketBits
	wrong := []int{0, 1, len(genome) - 1, stretch - 1, 2 * stretch, 3*stretch - 1}
	for at := 300; at < len(genome); at += 100 {
		wrong = append(wrong, at)
	}
	pg := changed(genome, wrong...)
	var ds []drawn
	for i := range 1500 {
		at := min(max(r.Intn(len(genome)+100)-100, 0), len(genome)-100)
		d := draw(r, genome, at, 100, 0, i%2 == 1)
		ds = append(ds, d)
	}
	for at := stretch; at < len(genome); at += stretch { // one read has a mismatch on either side of the end of a range
		for _, p := range []int{at - 1, at} {
			ds = append(ds, drawn{read: changed(genome[p-30:p+70], 30), at: p - 30})
		}
	}
	for _, work := range []uint64{1, 4 << voteBucketBits, 50_000, 1 << 40} {
		b := placedAs(t, pg, ds)
		b.workBytes = work
		if err := b.vote(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := differences(b.letters(), genome); got != nil {
			t.Errorf("%d bytes: the pseudogenome is wrong at %v", work, got)
		}
	}
}

// TestOrientedReads: a read and its mask have the same orientation, whether the bins store the read reversed or not.
func TestOrientedReads(t *testing.T) {
	r := rand.New(rand.NewSource(73))
	reads := mixedReads(r, 60)
	rd := loaded(t, archiveOf(t, oneBlock, reads))
	var buf []byte
	var mask []uint64
	for i := range rd.Count() {
		for _, reversed := range []bool{false, true} {
			want := reads[rd.records[i]]
			if reversed {
				want = reverseComplement(want)
			}
			read, m := rd.onPseudogenomeStrand(i, reversed, &buf, &mask)
			got := []byte(spell(bases.Unpack(nil, read, 0, len(want))))
			for p := range got {
				if m != nil && m[p/bases.PerChunk]>>(2*(p%bases.PerChunk))&1 != 0 {
					got[p] = 'N'
				}
			}
			if string(got) != want {
				t.Fatalf("record %d, reversed %v, is %s, want %s", rd.records[i], reversed, got, want)
			}
		}
	}
}

// TestReassembly: sequence of reads that are poorly placed is added if it costs less than their mismatches. These reads are
// then placed on it; the other reads keep their places.
func TestReassembly(t *testing.T) {
	r := rand.New(rand.NewSource(74))
	genome := randomLetters(r, 2000)
	var wrong []int
	for at := 800; at < 1200; at += 16 {
		wrong = append(wrong, at)
	}
	allele := changed(genome, wrong...)
	for _, depth := range []int{1, 10} {
		var ds []drawn
		for i := range 20 * depth {
			ds = append(ds, draw(r, allele, 800+r.Intn(300), 100, 0, i%2 == 0), draw(r, genome, 800+r.Intn(300), 100, 0, i%2 == 1))
		}
		if depth == 1 {
			ds = ds[:3]
		}
		b := placedAs(t, genome, ds)
		before := slices.Clone(b.placements.pos)
		b.poor = NewSubset(len(ds))
		for rec, mismatches := range b.placements.mismatches {
			if mismatches >= minPoorMismatches {
				b.poor.Add(uint32(rec))
			}
		}
		if err := b.reassemblePoor(context.Background()); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(b.letters(), genome) {
			t.Fatal("bases of the pseudogenome were changed")
		}
		added := b.letters()[len(genome):]
		if depth == 1 {
			// Two reads of 5 or 6 mismatches: at 7 bits each, less than the 100 bases and more at 2 bits.
			if added != "" {
				t.Errorf("%d bases were added for two reads", len(added))
			}
			continue
		}
		if region := allele[800:1200]; len(added) < 350 || len(added) > 450 ||
			!strings.Contains(added, region[50:350]) && !strings.Contains(reverseComplement(added), region[50:350]) {
			t.Fatalf("%d bases were added: %s, want about the 400 of %s", len(added), added, region)
		}
		if err := b.placeReads(context.Background(), len(genome), exact, retryPoor); err != nil {
			t.Fatal(err)
		}
		for rec := range ds {
			switch moved := int(b.placements.pos[rec]) >= len(genome); {
			case rec%2 == 1 && b.placements.pos[rec] != before[rec]:
				t.Errorf("read %d, which had no mismatch, moved to %d", rec, b.placements.pos[rec])
			case rec%2 == 0 && (!moved || b.placements.mismatches[rec] != 0):
				t.Errorf(
					"read %d is at %d with %d mismatches, want one of %d bases that were added",
					rec,
					b.placements.pos[rec],
					b.placements.mismatches[rec],
					len(added),
				)
			}
		}
	}
}

// TestWorstReadsAreReassembled: if the poorly placed reads do not all fit in memory, those with the most mismatches are taken.
func TestWorstReadsAreReassembled(t *testing.T) {
	r := rand.New(rand.NewSource(76))
	genome := randomLetters(r, 1000)
	var ds []drawn
	for i := range 60 {
		ds = append(ds, draw(r, genome, 10*i, 100, 3+i%6, false)) // 10 each of 3..8 mismatches
	}
	ds = append(ds, draw(r, genome, 0, 100, 8, false)) // this one is not poorly placed, and does not count
	b := placedAs(t, genome, ds)
	b.poor = NewSubset(len(ds))
	b.poor.addRange(0, 60)
	one := 64 + b.records.meanLength()
	for _, c := range []struct{ bytes, want uint64 }{
		{0, 9}, {9 * one, 9}, {10 * one, 8}, {19 * one, 8}, {35 * one, 6}, {60 * one, 0}, {1 << 40, 0},
	} {
		if got := b.poorThreshold(c.bytes); uint64(got) != c.want {
			t.Errorf("%d bytes: reads of %d mismatches or more are taken, want %d", c.bytes, got, c.want)
		}
	}
}

// TestRemainingReadsInBatches: placing the reads without a place in batches, collected from shares, gives the same places as
// placing all of them at once.
func TestRemainingReadsInBatches(t *testing.T) {
	r := rand.New(rand.NewSource(77))
	genome := randomLetters(r, 6000)
	var ds []drawn
	for i := range 300 {
		n := 50 + r.Intn(100)
		ds = append(ds, draw(r, genome, r.Intn(len(genome)-n), n, n/7, i%2 == 0))
	}
	rs := archiveReads(t, append(lettersOf(ds), "ACGTACGTACGT", "", randomLetters(r, 800), randomLetters(r, 100)))
	whole := readsOn(t, genome, rs, 1)
	batches := readsOn(t, genome, rs, 1)
	batches.allReads, batches.workBytes = nil, 1<<12
	var err error
	if batches.shares, err = rs.shares(4000); err != nil || len(batches.shares) < 5 {
		t.Fatalf("%d shares: %v", len(batches.shares), err)
	}
	for _, b := range []*builder{whole, batches} {
		b.placements.set(3, 77, true, 9) // this read has a place already
		if err := b.placeReads(context.Background(), 0, loose, retryNone); err != nil {
			t.Fatal(err)
		}
	}
	if x, y := whole.placements, batches.placements; !slices.Equal(x.pos, y.pos) || !slices.Equal(x.reversedBits, y.reversedBits) ||
		!bytes.Equal(x.mismatches, y.mismatches) {
		t.Error("other places in batches")
	}
	right := 0
	for rec, d := range ds {
		switch got := placeOf(whole.placements, rec); {
		case rec == 3 && got != "77 reversed":
			t.Errorf("a read that had a place is moved to %s", got)
		case got == at(d.at, d.reversed):
			right++
		case got != "none" && rec != 3:
			t.Errorf("read %d is at %s, want %s", rec, got, at(d.at, d.reversed))
		}
	}
	if right < 250 {
		t.Errorf("%d of %d reads are placed", right, len(ds))
	}
}

// TestCancelledLayout: Build returns the error of its context if that is cancelled.
func TestCancelledLayout(t *testing.T) {
	r := rand.New(rand.NewSource(78))
	archive := archiveOf(t, oneBlock, mixedReads(r, 100))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []Config{{Threads: 1, Whole: true}, {Threads: 2, Memory: 1 << 16}} {
		if _, err := Build(ctx, archive, allOf(archive), c); err != context.Canceled {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
