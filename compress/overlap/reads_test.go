package overlap

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins/record"

	"orcomgo/binning"
	"orcomgo/bins"
	"orcomgo/minimizer"
)

// archiveOf returns an archive of inputs, each a list of reads as letters, in blocks of about blockSize bytes of text.
func archiveOf(t testing.TB, blockSize uint64, inputs ...[]string) *bins.Reader {
	t.Helper()
	return archiveOfMates(t, blockSize, nil, inputs...)
}

// archiveOfMates is archiveOf where input k has its mates in input mates[k], unless that is -1; nil if no input has.
func archiveOfMates(t testing.TB, blockSize uint64, mates []int, inputs ...[]string) *bins.Reader {
	t.Helper()
	dir := t.TempDir()
	c := binning.Config{
		OutDir:  filepath.Join(dir, "bins"),
		Options: record.Options{BlockSize: blockSize},
		Threads: 1,
		Streams: 1,
		Tool:    "test",
	}
	for k, reads := range inputs {
		var text strings.Builder
		for i, read := range reads {
			fmt.Fprintf(&text, ">%d\n%s\n", i, read)
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.fa", k))
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		in := binning.InputSpec{Path: path, Mate: -1}
		if mates != nil {
			in.Mate, in.First = mates[k], mates[k] > k
		}
		c.Inputs = append(c.Inputs, in)
	}
	if _, err := binning.Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	r, err := bins.Open(c.OutDir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// oneBlock is a block size larger than the reads of any test.
const oneBlock = 1 << 19

// allOf returns sources for all records of an archive, one input after another.
func allOf(r *bins.Reader) []Source {
	var srcs []Source
	for k, in := range r.Meta().Inputs {
		srcs = append(srcs, Source{Input: k, To: in.Records})
	}
	return srcs
}

// loaded returns all reads of an archive.
func loaded(t testing.TB, r *bins.Reader) *Reads {
	t.Helper()
	rs := recordsOf(r, allOf(r))
	rd, err := rs.load(context.Background(), rs.all(), true)
	if err != nil {
		t.Fatal(err)
	}
	return rd
}

// spell returns the letters of bases, one per byte.
func spell(bases []byte) string {
	s := make([]byte, len(bases))
	for i, b := range bases {
		s[i] = "ACGT"[b]
	}
	return string(s)
}

// codes returns the bases of letters, one per byte.
func codes(letters string) []byte {
	b := make([]byte, len(letters))
	for i := range b {
		b[i] = byte(strings.IndexByte("ACGT", letters[i]))
	}
	return b
}

func randomLetters(r *rand.Rand, n int) string { return spell(randomBases(r, n)) }

// reverseComplement leaves letters other than A, C, G and T as they are.
func reverseComplement(s string) string {
	out := make([]byte, len(s))
	for i := range len(s) {
		c := s[i]
		if k := strings.IndexByte("ACGT", c); k >= 0 {
			c = "TGCA"[k]
		}
		out[len(s)-1-i] = c
	}
	return string(out)
}

// changed returns s with other bases at the given offsets.
func changed(s string, at ...int) string {
	b := []byte(s)
	for _, i := range at {
		b[i] = "CGTA"[strings.IndexByte("ACGT", b[i])]
	}
	return string(b)
}

// differences returns the offsets at which a read and as many letters of a pseudogenome differ, except where the read
// has N.
func differences(read, below string) []int {
	var at []int
	for i := range len(read) {
		if read[i] != below[i] && read[i] != 'N' {
			at = append(at, i)
		}
	}
	return at
}

// drawn is a read and the place in a genome from which it was drawn.
type drawn struct {
	read     string
	at       int   // in the genome
	reversed bool  // it is the other strand's
	wrong    []int // where the genome's strand has another base, offsets from at, ascending
}

// draw draws a read of a genome at a position, with so many wrong bases.
func draw(r *rand.Rand, genome string, at, length, errors int, reversed bool) drawn {
	d := drawn{at: at, reversed: reversed, wrong: r.Perm(length)[:errors]}
	slices.Sort(d.wrong)
	d.read = changed(genome[at:at+length], d.wrong...)
	if reversed {
		d.read = reverseComplement(d.read)
	}
	return d
}

// lettersOf returns the letters of drawn reads.
func lettersOf(ds []drawn) []string {
	var reads []string
	for _, d := range ds {
		reads = append(reads, d.read)
	}
	return reads
}

// lettersOfRead returns read i of rd in input orientation; other letters than A, C, G and T are returned as N.
func lettersOfRead(rd *Reads, i int) string {
	s := spell(bases.Unpack(nil, rd.bases(i), 0, rd.len(i)))
	if rd.signaturePlace[i]&1 != 0 {
		s = reverseComplement(s)
	}
	b := []byte(s)
	rd.eachException(i, func(e record.Exception) {
		for p := e.Start; p < e.Start+e.Len; p++ {
			b[p] = 'N'
		}
	})
	return string(b)
}

// mixedReads returns reads of 0 to 200 bases, some with runs of N.
func mixedReads(r *rand.Rand, n int) []string {
	var reads []string
	for i := range n {
		b := []byte(randomLetters(r, r.Intn(201)))
		if i%5 == 0 && len(b) > 0 {
			for p := r.Intn(len(b)); p < len(b) && r.Intn(8) > 0; p++ {
				b[p] = 'N'
			}
		}
		reads = append(reads, string(b))
	}
	return reads
}

// TestLoadedReads: loaded reads are the reads of the input, grouped by signature, and signaturePlace is the position of
// their signature.
func TestLoadedReads(t *testing.T) {
	r := rand.New(rand.NewSource(20))
	inputs := [][]string{mixedReads(r, 150), mixedReads(r, 90)}
	all := slices.Concat(inputs...)
	rd := loaded(t, archiveOf(t, 4000, inputs...))
	if rd.Count() != len(all) {
		t.Fatalf("%d reads, want %d", rd.Count(), len(all))
	}
	i := 0
	for g, group := range rd.groups {
		if g > 0 && group.Signature <= rd.groups[g-1].Signature {
			t.Fatal("groups do not ascend by signature")
		}
		for k := range int(group.Reads) {
			if k > 0 && rd.records[i] <= rd.records[i-1] {
				t.Fatal("records do not ascend in a group")
			}
			if got, want := lettersOfRead(rd, i), all[rd.records[i]]; got != want {
				t.Fatalf("record %d is %s, want %s", rd.records[i], got, want)
			}
			if p := int(rd.signaturePlace[i] >> 1); group.Signature != minimizer.None {
				stored := spell(bases.Unpack(nil, rd.bases(i), 0, rd.len(i)))
				if got := stored[p : p+minimizer.K]; got != minimizer.Letters(group.Signature) {
					t.Fatalf("record %d has %s where its signature is %s", rd.records[i], got, minimizer.Letters(group.Signature))
				}
			}
			if got := strings.Contains(all[rd.records[i]], "N"); got != rd.hasNonACGT(i) {
				t.Fatalf("record %d holds N: %v", rd.records[i], got)
			}
			i++
		}
	}
	for rec := range uint32(len(all)) {
		if rd.records[rd.indexOf(rec)] != rec {
			t.Fatalf("record %d is not where the index says", rec)
		}
	}
}

// TestLoadingInParallel: the loaded reads depend neither on the number of goroutines nor on the pieces in which they read
// blocks.
func TestLoadingInParallel(t *testing.T) {
	r := rand.New(rand.NewSource(23))
	var same, mixed []string
	for i := range 300 {
		read := []byte(randomLetters(r, 80))
		if i%7 == 0 {
			read[r.Intn(80)] = 'N'
		}
		same = append(same, string(read))
	}
	mixed = mixedReads(r, 300)
	for _, reads := range [][]string{same, mixed} {
		archive := archiveOf(t, 6000, reads[:200], reads[200:])
		for _, srcs := range [][]Source{allOf(archive), {{Input: 1, From: 7, To: 60}, {Input: 0, From: 31, To: 190}}} {
			want := recordsOf(archive, srcs)
			for _, sh := range []*share{want.all(), {minSignature: 1000, maxSignature: 40_000, ranges: want.ranges}} {
				one, err := want.load(context.Background(), sh, false)
				if err != nil {
					t.Fatal(err)
				}
				byRecord, err := want.loadByRecord(context.Background(), nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, pieceReads := range []uint32{1, 10, pieceReads} {
					rs := recordsOf(archive, srcs)
					rs.threads, rs.pieceReads = 4, pieceReads
					part := &share{minSignature: sh.minSignature, maxSignature: sh.maxSignature, ranges: rs.ranges}
					got, err := rs.load(context.Background(), part, false)
					if err != nil {
						t.Fatal(err)
					}
					if !reflect.DeepEqual(got, one) {
						t.Errorf("%d reads in pieces of %d: other reads are loaded", len(reads), pieceReads)
					}
					if pieceReads == 1 && len(part.index.pieces) < len(rs.ranges)*3 {
						t.Errorf("%d pieces of %d blocks", len(part.index.pieces), len(rs.ranges))
					}
					if got, err = rs.loadByRecord(context.Background(), nil); err != nil || !reflect.DeepEqual(got, byRecord) {
						t.Errorf("%d reads in pieces of %d: other reads are loaded by record: %v", len(reads), pieceReads, err)
					}
				}
			}
		}
	}
}

// TestSourcesCutBlocks: sources that begin and end inside blocks give exactly their records, whether loaded by
// signature or by record.
func TestSourcesCutBlocks(t *testing.T) {
	r := rand.New(rand.NewSource(21))
	inputs := [][]string{mixedReads(r, 200), mixedReads(r, 100)}
	archive := archiveOf(t, 3000, inputs...)
	srcs := []Source{{Input: 1, From: 13, To: 77}, {Input: 0, From: 101, To: 160}}
	want := slices.Concat(inputs[1][13:77], inputs[0][101:160])
	rs := recordsOf(archive, srcs)
	if rs.count != len(want) || len(rs.ranges) < 4 {
		t.Fatalf("%d records in %d blocks, want %d in several", rs.count, len(rs.ranges), len(want))
	}
	rd, err := rs.load(context.Background(), rs.all(), true)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rec := range uint32(rs.count) {
		got = append(got, lettersOfRead(rd, rd.indexOf(rec)))
	}
	if !slices.Equal(got, want) {
		t.Error("by signature, reads are not those of the sources")
	}
	only := NewSubset(rs.count)
	for _, rec := range []uint32{0, 5, 63, 64, 65, 122} {
		only.Add(rec)
	}
	for _, set := range []*Subset{nil, &only} {
		rd, err := rs.loadByRecord(context.Background(), set)
		if err != nil {
			t.Fatal(err)
		}
		l, n := Layout{Reads: rd}, 0
		for rec := range uint32(rs.count) {
			if in := set == nil || set.Has(rec); in != rd.Has(rec) {
				t.Fatalf("record %d is loaded: %v, want %v", rec, !in, in)
			} else if !in {
				continue
			}
			n++
			if at := differences(want[rec], spell(l.Bases(nil, rec))); at != nil {
				t.Fatalf("record %d differs from the input at %v", rec, at)
			}
		}
		if rd.Count() != n {
			t.Errorf("%d reads are loaded, want %d", rd.Count(), n)
		}
	}
	lengths := make([]int, rs.count)
	if err := rs.lengths(context.Background(), func(rec uint32, n int) { lengths[rec] = n }); err != nil {
		t.Fatal(err)
	}
	for rec, n := range lengths {
		if n != len(want[rec]) {
			t.Fatalf("record %d has %d bases, want %d", rec, n, len(want[rec]))
		}
	}
}

// TestLongestACGT: longestACGT is the longest range of A, C, G and T in stored orientation, and skipMask has the
// orientation asked for.
func TestLongestACGT(t *testing.T) {
	r := rand.New(rand.NewSource(23))
	some := func(n int) string { return randomLetters(r, n) }
	lower := func(s string) string { return strings.ToLower(s[:9]) + s[9:] }
	reads := []string{
		some(80), "NNN" + some(70), some(70) + "NNNN", some(30) + "N" + some(49), some(49) + "N" + some(30),
		some(20) + "NN" + some(40) + "RYN" + some(39), lower(some(60)), lower(some(60)) + "N", strings.Repeat("N", 40),
		some(27) + "N" + some(27) + "N" + some(60) + "N", "N" + some(200) + "N",
	}
	for _, read := range slices.Clone(reads) {
		reads = append(reads, reverseComplement(read))
	}
	rd := loaded(t, archiveOf(t, oneBlock, reads))
	storedReversed := 0
	for i := range rd.Count() {
		read := reads[rd.records[i]]
		nonACGT := make([]bool, len(read))
		a, z := 0, 0
		for p, from := 0, 0; p < len(read); p++ {
			if strings.IndexByte("ACGTacgt", read[p]) < 0 {
				nonACGT[p] = true
				from = p + 1
			} else if p+1-from > z-a {
				a, z = from, p+1
			}
		}
		reversed := rd.signaturePlace[i]&1 != 0
		if reversed {
			storedReversed++
			a, z = len(read)-z, len(read)-a
		}
		if x, y := rd.longestACGT(i); y-x != z-a || x != a && y > x {
			t.Errorf("%s, reversed %v: bases %d..%d are clean, want %d..%d", read, reversed, x, y, a, z)
		}
		for _, reverse := range []bool{false, true} {
			mask := rd.skipMask(nil, i, reverse)
			if (mask != nil) != slices.Contains(nonACGT, true) {
				t.Fatalf("%s has a mask: %v", read, mask != nil)
			}
			for p, want := range nonACGT {
				if reversed != reverse {
					p = len(read) - 1 - p
				}
				if got := mask != nil && mask[p/bases.PerChunk]>>(2*(p%bases.PerChunk))&1 != 0; got != want {
					t.Fatalf("%s, stored reversed %v, reverse %v: base %d is not A, C, G or T: %v", read, reversed, reverse, p, got)
				}
			}
		}
	}
	if storedReversed == 0 || storedReversed == len(reads) {
		t.Errorf("%d of %d reads are stored reversed", storedReversed, len(reads))
	}
}

// TestSharesHoldEachReadOnce: a share is a range of signatures of at most about the memory limit; a signature with too
// many reads is divided by blocks. Together the shares hold each read once.
func TestSharesHoldEachReadOnce(t *testing.T) {
	r := rand.New(rand.NewSource(24))
	var reads []string
	for i := range 600 {
		read := randomLetters(r, 60)
		if i%2 == 0 {
			read = read[:20] + site + read[20:]
		}
		reads = append(reads, read)
	}
	archive := archiveOf(t, 6000, reads)
	rs := recordsOf(archive, []Source{{From: 10, To: 590}})
	const limit = 40_000
	shares, err := rs.shares(limit)
	if err != nil {
		t.Fatal(err)
	}
	firstOf := func(sh *share) uint32 { return sh.ranges[0].firstRecord }
	endOf := func(sh *share) uint32 {
		r := sh.ranges[len(sh.ranges)-1]
		return r.firstRecord + r.to - r.from
	}
	seen := make([]int, rs.count)
	cut, last := 0, uint32(0)
	for k, sh := range shares {
		rd, err := rs.load(context.Background(), sh, false)
		if err != nil {
			t.Fatal(err)
		}
		bytes := 0
		for i, rec := range rd.records {
			seen[rec]++
			bytes += shareReadBytes + rd.len(i)*shareBaseQuarterBytes/4
			if got := lettersOfRead(rd, i); got != reads[10+rec] {
				t.Fatalf("record %d is %s, want %s", rec, got, reads[10+rec])
			}
		}
		if bytes > limit*5/4 {
			t.Errorf("share %d takes %d bytes, want about %d at most", k, bytes, limit)
		}
		if k > 0 && sh.minSignature <= last &&
			(sh.minSignature != sh.maxSignature || sh.minSignature != last || firstOf(sh) < endOf(shares[k-1])) {
			t.Errorf("share %d, signatures %d to %d, overlaps the one before", k, sh.minSignature, sh.maxSignature)
		}
		if last = sh.maxSignature; endOf(sh)-firstOf(sh) < uint32(rs.count) {
			cut++
		}
	}
	for rec, n := range seen {
		if n != 1 {
			t.Fatalf("record %d is in %d shares", rec, n)
		}
	}
	if cut < 2 || len(shares)-cut < 2 {
		t.Errorf("%d of %d shares are runs of blocks", cut, len(shares))
	}
	whole, err := rs.shares(1 << 30)
	if err != nil || len(whole) != 1 {
		t.Errorf("%d shares where all fit in one: %v", len(whole), err)
	}
}
