package overlap

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bases"
	"orcomgo/internal/testrun"
)

// setOf returns a set of contigs of one read each.
func setOf(seqs [][]byte) *contigSet {
	s := &contigSet{}
	s.grow(len(seqs), 2, func(i int) (int, uint64) { return len(seqs[i]), 1 }, func(i int, dst []byte) { packBases(dst, seqs[i]) })
	return s
}

// plainKmers returns the k-mers that a sampler selects of a contig.
func plainKmers(s sampler, contig uint32, seq []byte) (all []kmer) {
	value := func(b []byte) (x uint64) {
		for i, c := range b {
			x |= uint64(c) << (2 * i)
		}
		return x
	}
	for i := 0; i+seedLen <= len(seq); i++ {
		x, y := value(seq[i:i+seedLen]), value(reversed(seq[i:i+seedLen]))
		h := mix64(min(x, y))
		atEnd := i < s.ends || i+seedLen > len(seq)-s.ends
		if !atEnd && uint64(uint32(h)) >= (1<<32-1)/uint64(s.rate) {
			continue
		}
		k := kmer{hash: uint32(h >> 32), contig: contig, at: uint32(i) << 1}
		if y < x {
			k.at |= 1
		}
		all = append(all, k)
	}
	return all
}

func TestSampledKmers(t *testing.T) {
	r, vectors := rand.New(rand.NewSource(63)), hasAVX512
	for n := range 200 {
		seq := randomBases(r, n)
		for _, s := range []sampler{{rate: 1}, {rate: 3}, {rate: 8}, {rate: 3, ends: 16}, {rate: 32, ends: 2}} {
			want := plainKmers(s, 7, seq)
			if got := s.kmers(nil, 7, pack(seq), n); !slices.Equal(got, want) {
				t.Fatalf("%+v, %d bases: %v, want %v", s, n, got, want)
			}
			hasAVX512 = false
			got := s.kmers(nil, 7, pack(seq), n)
			hasAVX512 = vectors
			if !slices.Equal(got, want) {
				t.Fatalf("%+v, %d bases one by one: %v, want %v", s, n, got, want)
			}
		}
	}
	// Of a run of one base there is one k-mer if they are distinct, of repeats of three bases three; of another contig again.
	repeats := bytes.Repeat([]byte{0, 1, 2}, 30)
	var distinct []kmer
	for c, seq := range [][]byte{make([]byte, 90), make([]byte, 90), repeats, randomBases(r, 90)} {
		distinct = sampler{rate: 1, distinct: true}.kmers(distinct, uint32(c), pack(seq), len(seq))
	}
	if n := len(distinct); n != 1+1+3+90-seedLen+1 {
		t.Errorf("%d distinct k-mers", n)
	}
	if n := len(plainKmers(sampler{rate: 8}, 0, randomBases(r, 80_000))); n < 9_000 || n > 11_000 {
		t.Errorf("%d k-mers of 80000 are selected, one in eight", n)
	}
}

// TestGroupKmers groups the k-mers of contigs that share some, of which there are several stretches.
func TestGroupKmers(t *testing.T) {
	r := rand.New(rand.NewSource(64))
	genome := randomBases(r, 2*stretchBases+1001)
	var seqs [][]byte
	count := testrun.Pick(100, 100, 3000)
	for range count {
		at, n := r.Intn(len(genome)-300), r.Intn(300)
		seqs = append(seqs, genome[at:at+n])
	}
	seqs = append(seqs, genome, genome[:5], reversed(genome[:stretchBases+seedLen]), genome[:stretchBases])
	for _, set := range []*contigSet{setOf(nil), setOf(seqs[:1]), setOf(seqs[count-10:]), setOf(seqs)} {
		own := seqs[:0:0]
		for c := range uint32(set.count()) {
			own = append(own, bases.Unpack(nil, set.of(c), 0, int(set.length[c])))
		}
		for _, s := range []sampler{{rate: 8}, {rate: 3, ends: 16}} {
			want := make([][]kmer, len(own))
			groups := map[uint32][]kmer{} // by hash
			for c, seq := range own {
				want[c] = plainKmers(s, uint32(c), seq)
				for _, k := range want[c] {
					groups[k.hash] = append(groups[k.hash], k)
				}
			}
			someSettled := make([]bool, set.count())
			for c := range someSettled {
				someSettled[c] = r.Intn(5) > 0
			}
			for _, threads := range []int{1, 3} {
				for _, settled := range [][]bool{nil, someSettled} {
					g := &kmerGroups{}
					left := 0
					for range 2 { // the second time in the memory of the first
						g.fill(set, s, threads, settled)
						left = checkGroups(t, g, want, groups, settled)
					}
					if all := len(slices.Concat(want...)); settled == nil && left != all || len(own) > 20 && settled != nil && left > all*9/10 {
						t.Errorf("%d contigs, %+v, %d threads: %d of %d k-mers", len(own), s, threads, left, all)
					}
				}
			}
		}
	}
}

// checkGroups checks the k-mers of contigs in their groups, and returns how many there are. Those that only settled contigs have may be
// left out.
func checkGroups(t *testing.T, g *kmerGroups, want [][]kmer, groups map[uint32][]kmer, settled []bool) (count int) {
	for c := range want {
		at := g.first[c]
		for _, k := range want[c] {
			group := groups[k.hash]
			if got := g.kmers[at]; got.contig != uint32(c) || got.at != k.at {
				if settled == nil || slices.ContainsFunc(group, func(k kmer) bool { return !settled[k.contig] }) {
					t.Fatalf("%v is left out", k)
				}
				continue
			}
			var members []member
			if group[0].contig != k.contig {
				for _, m := range group[:min(len(group), maxPartnerGroup)] {
					members = append(members, member{m.contig, m.at})
				}
			}
			if of := int(g.kmers[at].hash); (of == noGroup) != (members == nil) || !slices.Equal(g.members[of:][:len(members)], members) {
				t.Fatalf("%v is in group %d, want %v", k, of, members)
			}
			at++
			count++
		}
		if g.kmers[at].contig == uint32(c) {
			t.Fatalf("contig %d has another k-mer, %v", c, g.kmers[at])
		}
	}
	return count
}

func TestSortByHash(t *testing.T) {
	r := rand.New(rand.NewSource(65))
	for bits := uint(1); bits <= 32; bits++ {
		for _, n := range []int{0, 1, 2, 100, 3000} {
			high := r.Uint32() &^ uint32(1<<bits-1)
			k := make([]uint64, n)
			for i := range k {
				hash := high | r.Uint32()&uint32(1<<bits-1)>>uint(r.Intn(int(bits)))
				k[i] = uint64(hash)<<32 | uint64(i)
			}
			want := slices.Sorted(slices.Values(k))
			sortByHash(k, make([]uint64, n), bits)
			if !slices.Equal(k, want) {
				t.Fatalf("%d k-mers are not sorted by %d bits", n, bits)
			}
		}
	}
}

// TestProposals: links are counted, and those of most votes come first, of as many in the order in which they were added.
func TestProposals(t *testing.T) {
	r := rand.New(rand.NewSource(66))
	var p proposals
	for range 300 {
		p.reset()
		var want []proposal
		index := map[link]int{}
		different := 1 + r.Intn(1<<r.Intn(13))
		for range r.Intn(4000) {
			k := newLink(uint32(r.Intn(different)), r.Intn(3)-1, r.Intn(2) == 0)
			if i, ok := index[k]; ok {
				want[i].votes++
			} else {
				index[k] = len(want)
				want = append(want, proposal{k, 1})
			}
			p.add(k)
		}
		if len(p.slots) > max(1<<leastSlotBits, 4*len(p.used)) {
			t.Fatalf("%d slots for %d links", len(p.slots), len(p.used))
		}
		slices.SortStableFunc(want, func(a, b proposal) int { return int(min(b.votes, 63)) - int(min(a.votes, 63)) })
		n := r.Intn(80)
		if got := p.byVotes(n); !slices.Equal(got, want[:min(n, len(want))]) {
			t.Fatalf("the best %d of %d links: %v, want %v", n, len(want), got, want[:min(n, len(want))])
		}
	}
}
