package overlap

import (
	"bytes"
	"math/rand"
	"testing"

	"orcomgo/bases"
)

// append adds bases, one per byte (0..3).
func (s *sequence) append(list []byte) {
	s.grow(len(list))
	for _, c := range list {
		bases.Set(s.packed, s.n, c)
		s.n++
	}
}

// pack packs bases, one per byte, and appends bases.Pad.
func pack(b []byte) []byte {
	var s sequence
	s.append(b)
	return s.packed
}

func randomBases(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Intn(4))
	}
	return b
}

func reversed(b []byte) []byte {
	out := make([]byte, len(b))
	for i, v := range b {
		out[len(b)-1-i] = 3 - v
	}
	return out
}

func TestDistanceCountsAndGivesUp(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for range 500 {
		n := 1 + r.Intn(200)
		a := randomBases(r, n+40)
		at := r.Intn(40)
		b := bytes.Clone(a[at : at+n])
		want, skip := 0, make([]uint64, n/bases.PerChunk+1)
		for i := range b {
			if r.Intn(10) == 0 {
				b[i] = (b[i] + 1 + byte(r.Intn(3))) & 3
				if r.Intn(3) == 0 {
					skip[i/bases.PerChunk] |= 1 << (2 * (i % bases.PerChunk))
				} else {
					want++
				}
			}
		}
		if got := bases.CountDiffering(pack(a), at, pack(b), 0, n, n, skip); got != want {
			t.Fatalf("distance %d, want %d", got, want)
		}
		if want > 0 {
			if got := bases.CountDiffering(pack(a), at, pack(b), 0, n, want-1, skip); got <= want-1 {
				t.Fatalf("distance %d does not exceed the limit %d", got, want-1)
			}
		}
		var at2 []int
		forEachMismatch(pack(a), at, pack(b), n, skip, func(j int, c byte) {
			at2 = append(at2, j)
			if b[j] != c || a[at+j] == c {
				t.Fatalf("mismatch at %d: %d", j, c)
			}
		})
		if len(at2) != want {
			t.Fatalf("%d mismatches, want %d", len(at2), want)
		}
	}
}

// joinInBatches assembles contigs in batches, as with shares, and returns the scaffolds of two or more reads, one base per
// byte.
func joinInBatches(several []contig, limits assemblerLimits, batches int) (pg []byte, a *assembler) {
	a = newAssembler(limits, 100, 2)
	for i := range batches {
		a.addContigs(&contigs{merged: several[len(several)*i/batches : len(several)*(i+1)/batches]})
	}
	var s sequence
	a.appendScaffolds(&s, noProgress, func(reads uint64, _ int) bool { return reads > 1 })
	return bases.Unpack(nil, s.packed, 0, s.n), a
}

func TestAssembleGivesBackAGenome(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	genome := randomBases(r, 5000)
	var contigs []contig
	for i := 0; i < 400; i++ {
		at := r.Intn(len(genome) - 120)
		seq := bytes.Clone(genome[at : at+120])
		if i%2 == 1 {
			seq = reversed(seq)
		}
		contigs = append(contigs, packedContig(seq, 2))
	}
	pg, _ := joinInBatches(contigs, noLimits, 1)
	if len(pg) > len(genome)+200 {
		t.Fatalf("%d bases from a genome of %d", len(pg), len(genome))
	}
	rev := reversed(pg)
	for _, c := range contigs {
		if !bytes.Contains(pg, c.bases()) && !bytes.Contains(rev, c.bases()) {
			t.Fatal("a contig is not in what was assembled")
		}
	}
}

// TestJoinsLoseNothing: joins at repeats do not lose the sequence beyond them.
func TestJoinsLoseNothing(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	repeat := randomBases(r, 80)
	var genome []byte
	for range 30 {
		genome = append(genome, randomBases(r, 200)...)
		if r.Intn(2) == 0 {
			genome = append(genome, repeat...)
		} else {
			genome = append(genome, reversed(repeat)...)
		}
	}
	var contigs []contig
	for at := 0; at+60 <= len(genome); at += 7 {
		contigs = append(contigs, packedContig(genome[at:at+60], 2))
	}
	pg, _ := joinInBatches(contigs, noLimits, 1)
	seen := map[string]bool{}
	for i := 0; i+24 <= len(pg); i++ {
		seen[string(pg[i:i+24])] = true
		seen[string(reversed(pg[i:i+24]))] = true
	}
	missing := 0
	for i := 0; i+24 <= len(genome); i++ {
		if !seen[string(genome[i:i+24])] {
			missing++
		}
	}
	if missing > len(genome)/50 {
		t.Fatalf("%d of %d k-mers of the genome are gone", missing, len(genome))
	}
}

// TestBoundedAssembler: contigs are joined each time that memory is short, so that it suffices for the joined ones. full is set when
// these don't fit.
func TestBoundedAssembler(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	genome := randomBases(r, 20_000)
	var contigs []contig
	for range 2_000 {
		at := r.Intn(len(genome) - 150)
		contigs = append(contigs, packedContig(genome[at:at+150], 2))
	}
	all := contigSet{bases: 2_000 * 150, length: make([]uint32, 2_000)}
	needed := (&assembler{joiner: joiner{set: all}}).joinBytes(sparse, maxKmerParts/4)
	pg, a := joinInBatches(contigs, assemblerLimits{bases: 1 << 30, bytes: needed / 3}, 10)
	if a.full {
		t.Error("the assembler is full")
	}
	if len(pg) < len(genome)*9/10 || len(pg) > len(genome)*11/10 {
		t.Errorf("%d bases from a genome of %d", len(pg), len(genome))
	}
	for i := range contigs {
		at := 400*r.Intn(50) + r.Intn(200) // so that they cover 50 parts of 350 bases
		contigs[i] = packedContig(genome[at:at+150], contigs[i].reads)
	}
	pg, a = joinInBatches(contigs, assemblerLimits{bases: 1 << 30, bytes: 20_000}, 10)
	if !a.full || len(pg) < 2_000 || len(pg) > 8_000 {
		t.Errorf("%d bases, full: %v", len(pg), a.full)
	}
}

func TestBitset(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	for range 200 {
		n := 1 + r.Intn(300)
		from := r.Intn(n + 1)
		to := from + r.Intn(n+1-from)
		s := NewSubset(n)
		s.addRange(from, to)
		if got := s.buildRanks(); got != to-from {
			t.Fatalf("%d members of %d..%d", got, from, to)
		}
		for i := range n {
			if got, want := s.Has(uint32(i)), i >= from && i < to; got != want {
				t.Fatalf("%d in %d..%d: %v", i, from, to, got)
			}
			if got, want := s.rank(uint32(i)), min(max(i-from, 0), to-from); got != want {
				t.Fatalf("%d members of %d..%d below %d, want %d", got, from, to, i, want)
			}
		}
	}
}
