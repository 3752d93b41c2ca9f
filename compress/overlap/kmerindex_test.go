package overlap

import (
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"orcomgo/bases"
)

// positionsOf returns the positions of a k-mer that the index holds, and the strands.
func positionsOf(ix *kmerIndex, kmer string) (positions []uint32, reversed []bool) {
	p := &placer{index: ix, mode: placeMode{seedStep: 1}, pgLen: math.MaxInt}
	s := &search{read: pack(codes(kmer)), n: len(kmer), leftSampled: sampled{first: -bases.PerChunk}, pos: -1}
	if p.nextSeed(s) {
		s.seed.palindrome = false // for which each position is a candidate on both strands
		p.pg = make([]byte, 1<<20)
		p.findCandidates(s)
	}
	for _, c := range s.candidates {
		positions, reversed = append(positions, uint32(c.pos)), append(reversed, c.reversed)
	}
	return positions, reversed
}

// TestKmerIndex: each sampled k-mer is found at its first positions, on both strands, in ascending order, for any number of
// threads and any start of the index.
func TestKmerIndex(t *testing.T) {
	r := rand.New(rand.NewSource(68))
	x := randomLetters(r, 400)
	pg := x + randomLetters(r, 900) + reverseComplement(x) + strings.Repeat("ACGTAC", 30) + x
	packed := pack(codes(pg))
	for _, c := range []struct {
		k      int
		sample uint64
		from   int
		most   int
	}{{24, 3, 0, 100}, {13, 0, 0, 100}, {13, 0, 0, 2}, {24, 3, 1234, 100}, {24, 0, 0, 7}, {24, 0, len(pg) - 24, 5}, {24, 0, len(pg) - 23, 5},
		{28, 1, 7, 100}} {
		one := newKmerIndex(packed, c.from, len(pg), c.k, c.sample, c.most, nil, 1)
		for _, threads := range []int{2, 8} {
			ix := newKmerIndex(packed, c.from, len(pg), c.k, c.sample, c.most, nil, threads)
			for i := range ix.segments {
				if !slices.Equal(ix.segments[i], one.segments[i]) {
					t.Errorf("%+v: another index with %d threads", c, threads)
				}
			}
		}
		want := map[string][]uint32{}
		for p := c.from; p+c.k <= len(pg); p++ {
			s := pg[p : p+c.k]
			key := min(s, reverseComplement(s))
			if len(want[key]) < c.most {
				want[key] = append(want[key], uint32(p))
			}
		}
		entries, found := 0, 0
		for _, slots := range one.segments {
			for _, e := range slots {
				if e != 0 {
					entries++
				}
			}
		}
		for s, positions := range want {
			w := bases.Chunk(pack(codes(s)), 0) & bases.First(c.k)
			sampled := mix64(min(w, bases.ReverseComplement(w, c.k)))&c.sample == 0
			for _, s := range []string{s, reverseComplement(s)} {
				got, reversed := positionsOf(one, s)
				if sampled && !slices.Equal(got, positions) || !sampled && len(got) > 0 {
					t.Fatalf("%+v: %s is at %v, want %v", c, s, got, positions)
				}
				for i, pos := range got {
					there := pg[pos : int(pos)+c.k]
					if reversed[i] {
						there = reverseComplement(there)
					}
					if there != s {
						t.Errorf("%+v: at %d, reversed %t, there is no %s", c, pos, reversed[i], s)
					}
				}
				found += len(got)
			}
		}
		// Each k-mer was searched on both strands.
		if found != 2*entries {
			t.Errorf("%+v: %d positions are found, the index has %d", c, found, entries)
		}
		if k := len(pg) - c.from; k > 1000 && c.most == 100 {
			if least := k / int(c.sample+1) / 2; entries < least || entries > 3*least {
				t.Errorf("%+v: %d positions of %d are in the index", c, entries, k)
			}
		}
	}
}
