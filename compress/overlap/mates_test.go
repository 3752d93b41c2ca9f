package overlap

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"orcomgo/internal/testrun"
)

// TestMateRanges: pairs are found in the sources of several parts, whatever is between them.
func TestMateRanges(t *testing.T) {
	read := slices.Repeat([]string{randomLetters(rand.New(rand.NewSource(1)), 50)}, 9)
	r := archiveOfMates(t, oneBlock, []int{-1, 3, 4, 1, 2}, read, read, read, read, read)
	for _, c := range []struct {
		srcs []Source
		want []mateRange
	}{
		{allOf(r), []mateRange{{9, 27, 9, 1}, {18, 36, 9, 1}}},
		{[]Source{{Input: 0, To: 9}}, nil},
		{[]Source{{Input: 1, To: 4}, {Input: 3, To: 4}, {Input: 0, To: 9}, {Input: 3, From: 4, To: 9}, {Input: 1, From: 4, To: 9}},
			[]mateRange{{0, 4, 4, 1}, {22, 17, 5, 1}}},
		{[]Source{{Input: 1, To: 4}, {Input: 3, To: 5}}, nil}, // not the same records
	} {
		if got := recordsOf(r, c.srcs).mateRanges(c.srcs); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.srcs, got, c.want)
		}
	}
}

// islandsOf returns islands of these lengths.
func islandsOf(lengths ...uint32) *islands {
	s := &islands{}
	for _, n := range lengths {
		s.starts = append(s.starts, s.end)
		s.end += n
	}
	s.inner = NewSubset(int(s.end))
	s.inner.addRange(0, int(s.end))
	for _, at := range s.starts {
		s.inner.words[at>>6] &^= 1 << (at & 63)
	}
	s.inner.buildRanks()
	return s
}

// TestIslandOfAPosition: each position is on the island whose bases it is among.
func TestIslandOfAPosition(t *testing.T) {
	s := islandsOf(1, 100, 63, 1, 1, 64, 30)
	for i := range uint32(len(s.starts)) {
		for at := s.starts[i]; at < s.stop(i); at++ {
			if got := s.of(at); got != i {
				t.Errorf("position %d is on island %d, want %d", at, got, i)
			}
		}
	}
}

// TestChainsOfIslands: links join islands in the order in which they come, unless mates would be too far apart. "0> >1" is a link of the
// right side of island 0 and the left one of island 1. Of the order "0 1 2-", island 2 is reversed.
func TestChainsOfIslands(t *testing.T) {
	const far = maxMateDistance
	for _, c := range []struct {
		lengths []uint32
		links   string
		want    string
	}{
		{[]uint32{100, 200, 300}, "", "0 1 2"},
		{[]uint32{100, 200, 300}, "0> >2", "0 2 1"},
		{[]uint32{100, 200, 300}, "0> 2>", "0 2- 1"},
		{[]uint32{100, 200, 300}, ">0 2>", "2 0 1"},
		{[]uint32{100, 200, 300}, ">0 >2", "2- 0 1"},
		{[]uint32{100, 200, 300}, ">0 2>,2> 1>", "2 0 1-"},           // the side is taken, but 1 is near enough beyond 0
		{[]uint32{100, 200, 300}, "0> >1,1> >2", "0 1 2"},            // a chain grows
		{[]uint32{100, 200, 300}, "1> >2,0> 2>", "0 2- 1-"},          // a chain is reversed
		{[]uint32{100, 200, 300}, "0> >1,0> >2", "0 1 2"},            // the side is taken, but 2 is near enough beyond 1
		{[]uint32{100, far + 1, 300}, "0> >1,0> >2", "0 1 2"},        // too far beyond 1
		{[]uint32{100, 300, far + 1}, "0> >2,0> >1", "0 2 1"},        // likewise; 1 stays alone
		{[]uint32{100, 200, 300}, "0> >1,1> >0", "0 1 2"},            // of one chain already
		{[]uint32{10, 20, 30, 40}, "0> >1,2> >3,1> 3>", "0 1 3- 2-"}, // two chains
		{[]uint32{10, 20, 30, 40}, "2> >3,0> >1,>0 >3", "3- 2- 0 1"},
	} {
		s := islandsOf(c.lengths...)
		chains := newChains(s)
		for _, text := range strings.Split(c.links, ",") {
			var l [2]islandSide
			for k, end := range strings.Fields(text) {
				var island int
				fmt.Sscan(strings.Trim(end, ">"), &island)
				l[k] = islandSide(island << 1)
				if strings.HasSuffix(end, ">") {
					l[k]++
				}
			}
			if text != "" {
				chains.join(&mateLink{a: l[0], b: l[1], pairs: 3, distance: 30})
			}
		}
		m := chains.moves()
		var got []string
		at := uint32(0)
		for _, i := range m.order {
			if m.starts[i] != at {
				t.Errorf("%s: island %d is moved to %d, want %d", c.links, i, m.starts[i], at)
			}
			at += uint32(s.length(i))
			got = append(got, fmt.Sprint(i)+strings.Repeat("-", map[bool]int{true: 1}[m.reversed[i]]))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v, %s: %s, want %s", c.lengths, c.links, strings.Join(got, " "), c.want)
		}
	}
}

// islandLength is the length of the islands that the reads of drawnPairs cover.
const islandLength = 500

// drawnPairs returns pairs of a genome that lie as o says. No read covers bases on both sides of a multiple of islandLength.
func drawnPairs(r *rand.Rand, genome string, n int, o pairOrientation) (firsts, seconds []string) {
	const length = 60
	for len(firsts) < n {
		// Many reads begin or end at a multiple of islandLength, so that all bases are covered.
		onIsland := func(at int) int {
			return at/islandLength*islandLength + min(max(at%islandLength-20, 0), islandLength-length)
		}
		from := r.Intn(len(genome) - 2*length)
		to := min(from+2*length+r.Intn(150), len(genome)-length+20)
		from, to = onIsland(from), onIsland(to)
		fragment := genome[from : to+length]
		size := len(fragment)
		if r.Intn(2) == 0 {
			fragment = reverseComplement(fragment)
		}
		first, second := fragment[:length], fragment[size-length:]
		switch {
		case o.sameStrand && o.outwards:
			first, second = second, first
		case o.outwards:
			first = reverseComplement(first)
		case !o.sameStrand:
			second = reverseComplement(second)
		}
		firsts, seconds = append(firsts, first), append(seconds, second)
	}
	return firsts, seconds
}

// TestOrderByMates: from islands that no read joins, the order and strands of mates make the genome. Without pairs they don't. Each read
// has a place where the pseudogenome is equal to it.
func TestOrderByMates(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	for k, o := range []pairOrientation{{}, {outwards: true}, {sameStrand: true}, {sameStrand: true, outwards: true}} {
		genome := randomLetters(r, 12*islandLength)
		firsts, seconds := drawnPairs(r, genome, 2500, o)
		for _, c := range []Config{{Whole: true, Threads: 1}, {Whole: true, Threads: 3}, {Memory: littleMemory, Threads: 2}} {
			if c.Threads == 1 && k > 0 && !testrun.Long() {
				continue // the orientations do the same on one thread as on three
			}
			for _, mates := range [][]int{{1, 0}, nil} {
				l := layOut(t, archiveOfMates(t, 50_000, mates, firsts, seconds), c)
				if isGenome := l.letters == genome || l.letters == reverseComplement(genome); isGenome != (mates != nil) {
					t.Errorf("orientation %d, mates %v, whole %v: %d bases are the genome: %v", k, mates, c.Whole, l.Len, isGenome)
				}
				for rec, read := range slices.Concat(firsts, seconds) {
					if got := l.sequenceAt(uint32(rec), len(read)); got != read {
						t.Fatalf("orientation %d, mates %v, whole %v: read %d, %s, is at %s", k, mates, c.Whole, rec, read, got)
					}
				}
			}
		}
	}
}

// TestOrderOfUnusualPairs: pairs without a place, of one island and of reads of several lengths are laid out like single reads, and the
// result is the same for any number of threads.
func TestOrderOfUnusualPairs(t *testing.T) {
	r := rand.New(rand.NewSource(8))
	_, ds := hardReads(r)
	reads := lettersOf(ds)
	n := len(reads) / 2
	archive := archiveOfMates(t, 20_000, []int{1, 0}, reads[:n], reads[n:2*n])
	single := layOut(t, archiveOf(t, 20_000, reads[:n], reads[n:2*n]), Config{Threads: 1, Whole: true})
	one := layOut(t, archive, Config{Threads: 1, Whole: true})
	if many := layOut(t, archive, Config{Threads: 5, Whole: true}); !sameLayout(one, many) {
		t.Error("another layout with five threads than with one")
	}
	if one.letters == single.letters || one.Len != single.Len {
		t.Errorf("%d bases, as without mates: %v; want %d in another order", one.Len, one.letters == single.letters, single.Len)
	}
	for rec, read := range reads[:2*n] {
		if pos, _ := single.Place(uint32(rec)); pos == Unplaced {
			if pos, _ = one.Place(uint32(rec)); pos != Unplaced {
				t.Errorf("read %d has a place with mates only", rec)
			}
			continue
		}
		if got, want := one.sequenceAt(uint32(rec), len(read)), single.sequenceAt(uint32(rec), len(read)); got != want {
			t.Fatalf("read %d is at %s, want %s", rec, got, want)
		}
	}
	if _, err := Build(cancelled(), archive, allOf(archive), Config{Threads: 2, Whole: true}); err == nil {
		t.Error("no error after cancelling")
	}
}

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
