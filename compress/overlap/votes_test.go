package overlap

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins/record"
)

// placedReads returns a builder with a random pseudogenome of n bases and so many reads of it, at random places on both
// strands: of one length or, if varied, of several; some with letters other than A, C, G and T; some without a place. One base
// of the pseudogenome in twenty differs from most of its reads.
func placedReads(r *rand.Rand, n, reads int, varied bool, place func() int) *builder {
	genome := randomBases(r, n)
	pg := slices.Clone(genome)
	for range n / 20 {
		pg[r.Intn(n)] = byte(r.Intn(4))
	}
	b := &builder{workBytes: math.MaxUint64, placements: newPlacements(reads, 2), records: &records{count: reads}}
	b.seq.append(pg)
	rd := &Reads{fixedLength: 100, nonACGT: make([]uint64, reads/64+1), signaturePlace: make([]uint32, reads)}
	if varied {
		rd.lengths = make([]uint32, reads)
		for i := range rd.lengths {
			rd.lengths[i] = uint32(1 + r.Intn(150))
		}
	}
	rd.allocate(reads)
	var skips []record.Exception
	for i, rec := range r.Perm(reads) {
		rd.records = append(rd.records, uint32(rec))
		length := rd.len(i)
		pos := min(place(), n-length)
		read := slices.Clone(genome[pos : pos+length])
		for range r.Intn(4) {
			read[r.Intn(length)] = byte(r.Intn(4))
		}
		reversed, storedReversed := r.Intn(2) == 0, r.Intn(2) == 0
		var skipped record.Exception
		if r.Intn(10) == 0 {
			start := r.Intn(length)
			skipped = record.Exception{Read: uint32(rec), Start: uint32(start), Len: uint32(1 + r.Intn(length-start)), Byte: 'N'}
			skips = append(skips, skipped)
			rd.nonACGT[i>>6] |= 1 << (i & 63)
		}
		mismatches := 0
		for j, c := range read {
			inInput := j
			if reversed {
				inInput = length - 1 - j
			}
			if c != pg[pos+j] && (inInput < int(skipped.Start) || inInput >= int(skipped.Start+skipped.Len)) {
				mismatches++
			}
		}
		if reversed != storedReversed {
			read = slices.Clone(read)
			slices.Reverse(read)
			for j := range read {
				read[j] = 3 - read[j]
			}
		}
		copy(rd.packed[rd.offset(i):], pack(read)[:bases.PackedLen(length)])
		if storedReversed {
			rd.signaturePlace[i] = 1
		}
		if r.Intn(20) > 0 {
			b.placements.set(uint32(rec), uint32(pos), reversed, mismatches)
		}
	}
	slices.SortFunc(skips, func(x, y record.Exception) int { return int(x.Read) - int(y.Read) })
	for _, e := range skips {
		rd.exceptions.Append(e)
	}
	b.allReads = rd
	return b
}

// plainVotes returns the pseudogenome after voting, base by base, and the depth and the bases by position.
func plainVotes(b *builder) (pg []byte, depth []uint32, counts [][4]uint32) {
	pg = bases.Unpack(nil, b.seq.packed, 0, b.seq.n)
	depth, counts = make([]uint32, len(pg)), make([][4]uint32, len(pg))
	rd := b.allReads
	var buf []byte
	var mask []uint64
	for i, rec := range rd.records {
		pos := b.placements.pos[rec]
		if pos == Unplaced {
			continue
		}
		read, skip := rd.onPseudogenomeStrand(i, b.placements.reversed(rec), &buf, &mask)
		for j, c := range bases.Unpack(nil, read, 0, rd.len(i)) {
			p := int(pos) + j
			depth[p]++
			if c != pg[p] && (skip == nil || skip[j/bases.PerChunk]>>(2*(j%bases.PerChunk))&1 == 0) {
				counts[p][c]++
			}
		}
	}
	for p, n := range counts {
		agree := depth[p] - n[0] - n[1] - n[2] - n[3]
		best := 0
		for c := range n {
			if n[c] > n[best] {
				best = c
			}
		}
		if n[best] > agree {
			pg[p] = byte(best)
		}
	}
	return pg, depth, counts
}

// TestVotesOfRandomReads: the pseudogenome after voting is that of plain counting, for any number of threads and any memory, for
// few and many reads for each position.
func TestVotesOfRandomReads(t *testing.T) {
	r := rand.New(rand.NewSource(90))
	for _, c := range []struct {
		name     string
		n, reads int
		varied   bool
	}{
		{"few bases", 200, 300, true},
		{"one bucket", 1 << voteBucketBits, 1000, false},
		{"several buckets", 20_000, 4000, true},
		{"many reads on few bases", 1000, 20_000, true},
		{"many reads", 9000, 20_000, false},
	} {
		anywhere := func() int { return r.Intn(c.n) }
		b := placedReads(r, c.n, c.reads, c.varied, anywhere)
		before := sequence{slices.Clone(b.seq.packed), b.seq.n}
		want, _, _ := plainVotes(b)
		if slices.Equal(want, bases.Unpack(nil, before.packed, 0, before.n)) {
			t.Fatalf("%s: voting changes nothing", c.name)
		}
		for _, work := range []uint64{1, 60_000, 300_000, math.MaxUint64} {
			for _, threads := range []int{1, 3, 16} {
				b.config.Threads, b.workBytes = threads, work
				b.seq = sequence{slices.Clone(before.packed), before.n}
				if err := b.vote(context.Background()); err != nil {
					t.Fatal(err)
				}
				if got := bases.Unpack(nil, b.seq.packed, 0, b.seq.n); !slices.Equal(got, want) {
					t.Errorf("%s, %d bytes, %d threads: %d bases, other than by plain counting", c.name, work, threads, len(got))
				}
			}
		}
	}
}

// TestVoteWindows: a window counts the same depths and bases as plain counting, whatever its ends, whether its counters are all
// in memory or not, and whether those of a partition fit in the cache or not.
func TestVoteWindows(t *testing.T) {
	r := rand.New(rand.NewSource(91))
	const long = maxPartitions<<13 + 12_345
	at := []int{0, 70, 1<<13 - 50, 1 << 14, long / 2, long - 1}
	for _, c := range []struct {
		n, reads, lo, hi int
		events, bytes    uint64
		dense            bool
	}{
		{5000, 3000, 0, 5000, 1 << 14, 1 << 40, false},
		{5000, 3000, 0, 5000, 1 << 20, 1, true},
		{5000, 3000, 1024, 4096, 100, 1 << 40, false},
		{5000, 3000, 1024, 4100, 1 << 20, 1, true},
		{5000, 3000, 4096, 5000, 1 << 30, 1 << 40, true},
		{5000, 3000, 4996, 5000, 0, 0, false},
		{long, 3000, 0, long, 1 << 14, 1 << 40, false},
	} {
		b := placedReads(r, c.n, c.reads, true, func() int {
			if c.n < long {
				return r.Intn(c.n)
			}
			return min(at[r.Intn(len(at))]+r.Intn(100), c.n-1)
		})
		_, depth, bases := plainVotes(b)
		for _, threads := range []int{1, 7} {
			w := newVoteWindow(c.lo, c.hi, c.events, c.bytes, threads)
			if (w.counters != nil) != c.dense {
				t.Fatalf("%+v: all counters in memory: %v", c, w.counters != nil)
			}
			w.collect(b.allReads, b.placements, &b.seq)
			type counted struct {
				depth uint32
				bases [4]uint32
			}
			got := make([]counted, c.n)
			w.finish(func(p int, depth uint32, bases *[4]uint32) { got[p] = counted{depth, *bases} })
			for p := range c.n {
				want := counted{}
				if p >= c.lo && p < c.hi && bases[p] != [4]uint32{} {
					want = counted{depth[p], bases[p]}
				}
				if got[p] != want {
					t.Fatalf("%+v, %d threads: position %d has %s, want %s", c, threads, p, fmt.Sprint(got[p]), fmt.Sprint(want))
				}
			}
		}
	}
}

// TestVotingAgain: after some reads have moved, voting on the bases that they cover and covered is as good as voting on all.
func TestVotingAgain(t *testing.T) {
	ctx := context.Background()
	for seed := range int64(10) {
		r := rand.New(rand.NewSource(90 + seed))
		b := placedReads(r, 5000, 400, seed%2 == 0, func() int { return r.Intn(5000) })
		b.config.Threads = 1 + int(seed%3)
		if err := b.vote(ctx); err != nil {
			t.Fatal(err)
		}
		rd, from := b.allReads, b.seq.n
		b.poor = NewSubset(rd.Count())
		for i := range rd.Count() {
			if r.Intn(2) == 0 && rd.len(i) >= 40 {
				b.poor.Add(rd.records[i])
				b.seq.appendPacked(rd.bases(i), rd.len(i))
			}
		}
		changed := NewSubset(b.seq.n)
		b.changed = &changed
		before, mode := slices.Clone(b.placements.pos), exact
		mode.sampleMask = 0
		if err := b.placeReads(ctx, from, mode, retryPoor); err != nil {
			t.Fatal(err)
		}
		if slices.Equal(before, b.placements.pos) {
			t.Fatalf("seed %d: no read moved", seed)
		}
		all := *b
		all.changed, all.seq.packed = nil, slices.Clone(b.seq.packed)
		n := changed.buildRanks()
		for _, x := range []*builder{b, &all} {
			if err := x.vote(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if n == 0 || n == b.seq.n {
			t.Errorf("seed %d: %d of %d bases changed", seed, n, b.seq.n)
		}
		if !slices.Equal(b.seq.packed, all.seq.packed) {
			t.Errorf("seed %d: another pseudogenome than after voting on all bases", seed)
		}
	}
}
