package seqs

import (
	"math"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bins/record"
	rc "orcomgo/compress/rangecoder"
)

// treeOf returns the tree of positions below n.
func treeOf(pos []uint32, n int) (*positions, *treeCode) {
	return newPositions(len(pos), n, 2, func(record uint32) uint32 { return pos[record] })
}

// codedPositions codes a tree of positions below n, and the positions by it, decodes both, and returns the tree and how many bits each
// takes.
func codedPositions(t *testing.T, pos []uint32, n int) (m *splits, treeBits, posBits float64) {
	t.Helper()
	c := encodeTo(nil)
	x, code := treeOf(pos, n)
	m = x.splits
	code.encode(c)
	tree := c.Enc.Finish()
	decoded := decodePositions(n, decodeFrom(tree))
	again := decoded.splits
	if again.depth != m.depth || !slices.Equal(again.split, m.split) || !slices.Equal(again.index, m.index) {
		t.Fatalf("%d positions below %d: another tree is decoded", len(pos), n)
	}
	c = encodeTo(nil)
	for _, p := range pos {
		x.paged().codeOne(c, p)
	}
	data := c.Enc.Finish()
	d := decodeFrom(data)
	for _, p := range pos {
		if got := decoded.paged().codeOne(d, 0); got != p {
			t.Fatalf("%d positions below %d: %d is decoded as %d", len(pos), n, p, got)
		}
	}
	return m, 8 * float64(len(tree)), 8 * float64(len(data))
}

// TestPositionsCostTheirEntropy: positions cost the entropy of their distribution, whatever it is, and the tree little in addition.
func TestPositionsCostTheirEntropy(t *testing.T) {
	r := rand.New(rand.NewSource(100))
	const n, count = 50_000, 20_000
	even := float64(n)
	for _, c := range []struct {
		name string
		draw func() int
		bits float64 // a position, by the distribution
	}{
		{"even", func() int { return r.Intn(n) }, math.Log2(even)},
		{"the first half", func() int { return r.Intn(n / 2) }, math.Log2(even / 2)},
		{"a gene of 500 bases", func() int {
			if r.Intn(10) > 0 {
				return 31_000 + r.Intn(500)
			}
			return r.Intn(n)
		}, 0.47 + 0.9*math.Log2(500) + 0.1*math.Log2(even)},
		{"ten places", func() int { return 4_999 * r.Intn(10) }, math.Log2(10)},
		{"one place", func() int { return n - 1 }, 0},
	} {
		pos := make([]uint32, count)
		for i := range pos {
			pos[i] = uint32(c.draw())
		}
		_, treeBits, posBits := codedPositions(t, pos, n)
		// Splits are kept off 0 and 1, so what is certain costs a little on each level.
		if got := posBits / count; got > c.bits*1.02+0.25 || got < c.bits*0.98-0.05 {
			t.Errorf("%s: %.3f bits a position, want about %.3f", c.name, got, c.bits)
		}
		if treeBits > posBits/8+2000 {
			t.Errorf("%s: the tree takes %.0f bits, the positions %.0f", c.name, treeBits, posBits)
		}
	}
}

// TestTreeOfPositions: the root's split is the share of the reads in the right half, as precise as their number allows; nodes of few reads
// are not split, and there are no more nodes than reads allow.
func TestTreeOfPositions(t *testing.T) {
	r := rand.New(rand.NewSource(101))
	for _, c := range []struct{ n, count int }{
		{1, 0}, {1, 500}, {2, 500}, {1000, 0}, {1000, sparse - 1}, {1000, sparse}, {1024, 500}, {1025, 500}, {100_000, 10_000}, {7, 30_000},
	} {
		pos := make([]uint32, c.count)
		right, depth := 0, 0
		for 1<<depth < c.n {
			depth++
		}
		for i := range pos {
			pos[i] = uint32(r.Intn(c.n))
			if r.Intn(3) > 0 {
				pos[i] /= 2
			}
			if depth > 0 && pos[i] >= 1<<(depth-1) {
				right++
			}
		}
		m, _, posBits := codedPositions(t, pos, c.n)
		if m.depth != depth {
			t.Errorf("%+v: depth %d, want %d", c, m.depth, depth)
		}
		if c.count < sparse || c.n == 1 {
			if len(m.split) != 1 || m.split[0] != 0 {
				t.Errorf("%+v: %d nodes, want one that is not split", c, len(m.split))
			}
			if want := float64(c.count * depth); posBits > want+64 {
				t.Errorf("%+v: %.0f bits, want %.0f", c, posBits, want)
			}
			continue
		}
		share, step := float64(right)/float64(c.count), 1/float64(int(1)<<splitBits(uint32(c.count)))
		if got := float64(m.split[0]) / 65536; math.Abs(got-share) > step/2+1e-4 {
			t.Errorf("%+v: the root's split is %.4f, want %.4f within %.4f", c, got, share, step/2)
		}
		if most := 1 + 2*depth*(c.count/sparse+1); len(m.split) > most {
			t.Errorf("%+v: %d nodes, want at most %d", c, len(m.split), most)
		}
	}
	for _, c := range []struct {
		reads uint32
		bits  int
	}{{24, 3}, {95, 3}, {96, 4}, {383, 4}, {384, 5}, {1535, 5}, {1536, 6}, {6144, 7}, {24_576, 8}, {1 << 31, 8}} {
		if got := splitBits(c.reads); got != c.bits {
			t.Errorf("a split of %d reads has %d bits, want %d", c.reads, got, c.bits)
		}
	}
}

// codedPlaces codes the places of a slice, decodes them and returns how many bits they take.
func codedPlaces(t *testing.T, sorted bool, limit int, first, mate *places) float64 {
	t.Helper()
	tree, _ := treeOf(nil, limit) // even
	n := len(first.pos)
	var s streams
	s.encodePlaces(newPlaceModel(tree, sorted), clonePlaces(first), clonePlaces(mate), record.Lengths{}, uint64(limit), n/2)
	got := [2]*places{{make([]uint32, n), make([]bool, n)}}
	if mate != nil {
		got[1] = &places{make([]uint32, n), make([]bool, n)}
	}
	if err := s.decodePlaces(newPlaceModel(tree, sorted), got[0], got[1], record.Lengths{}, uint64(limit)); err != nil {
		t.Fatal(err)
	}
	for k, want := range []*places{first, mate} {
		if want == nil {
			continue
		}
		for i, pos := range want.pos {
			if got[k].pos[i] != pos || pos != unplaced && got[k].rev[i] != want.rev[i] {
				t.Fatalf("read %d of column %d is at %d, reversed %v, want %d, %v", i, k, got[k].pos[i], got[k].rev[i], pos, want.rev[i])
			}
		}
	}
	bytes := len(s.places)
	for _, lane := range s.lanes {
		bytes += len(lane)
	}
	return 8 * float64(bytes)
}

func clonePlaces(p *places) *places {
	if p == nil {
		return nil
	}
	return &places{slices.Clone(p.pos), slices.Clone(p.rev)}
}

func (p *places) add(pos uint32, rev bool) {
	p.pos, p.rev = append(p.pos, pos), append(p.rev, rev)
}

// TestPlacesRoundTrip: reads with and without places, in any order and sorted, alone and with mates anywhere, come back.
func TestPlacesRoundTrip(t *testing.T) {
	r := rand.New(rand.NewSource(102))
	for _, limit := range []int{1, 2, 5000, 1 << 20} {
		for _, mates := range []bool{false, true} {
			for _, sorted := range []bool{false, true} {
				var first, mate places
				for range 2000 {
					if pos := uint32(r.Intn(limit)); r.Intn(5) > 0 {
						first.add(pos, r.Intn(2) == 1)
					} else {
						first.add(unplaced, false)
					}
					switch pos := int64(first.pos[len(first.pos)-1]) + int64(r.Intn(20_000)) - 10_000; {
					case pos >= 0 && pos < int64(limit) && r.Intn(2) == 0:
						mate.add(uint32(pos), r.Intn(2) == 1)
					case r.Intn(2) == 0:
						mate.add(uint32(r.Intn(limit)), r.Intn(2) == 1)
					default:
						mate.add(unplaced, false)
					}
				}
				if sorted {
					sortPlaces(&first)
				}
				if !mates {
					codedPlaces(t, sorted, limit, &first, nil)
				} else {
					codedPlaces(t, sorted, limit, &first, &mate)
				}
			}
		}
	}
}

// sortPlaces puts those that have places in order, forward strand first, and leaves the others between them.
func sortPlaces(p *places) {
	var keys []uint64
	for i, pos := range p.pos {
		if pos != unplaced {
			keys = append(keys, uint64(pos)<<1|uint64(rc.BitOf(p.rev[i])))
		}
	}
	slices.Sort(keys)
	for i, pos := range p.pos {
		if pos != unplaced {
			p.pos[i], p.rev[i] = uint32(keys[0]>>1), keys[0]&1 != 0
			keys = keys[1:]
		}
	}
}

// TestMatesNearby: a mate that is up to 6143 bases on, in the direction of its mate, or 2048 back, is coded by the distance, so that
// equal distances cost little; beyond, by its position.
func TestMatesNearby(t *testing.T) {
	r := rand.New(rand.NewSource(103))
	const limit, count = 1 << 20, 3000
	for _, c := range []struct {
		distance int
		near     bool
	}{{0, true}, {300, true}, {6143, true}, {6144, false}, {-1, true}, {-2048, true}, {-2049, false}, {100_000, false}} {
		for _, reversed := range []bool{false, true} {
			for _, turned := range []bool{false, true} {
				var first, mate, alone places
				for range count {
					pos := 200_000 + r.Intn(limit-400_000)
					first.add(uint32(pos), reversed)
					alone.add(unplaced, false)
					if reversed {
						pos -= c.distance
					} else {
						pos += c.distance
					}
					mate.add(uint32(pos), reversed != turned)
				}
				// Either way one position of each pair is coded; what the other takes is wanted.
				bits := (codedPlaces(t, false, limit, &first, &mate) - codedPlaces(t, false, limit, &first, &alone)) / count
				if near := bits < 1; near != c.near || !near && bits < 19.5 || bits > 21.5 {
					t.Errorf("mates %d bases on, reversed %v, turned %v: %.2f bits each", c.distance, reversed, turned, bits)
				}
			}
		}
	}
}

// TestStrandsAreLearnt: where the reads of a region share a strand, it costs little, be it another in the next region; elsewhere a bit.
func TestStrandsAreLearnt(t *testing.T) {
	r := rand.New(rand.NewSource(104))
	const limit, count, depth = 8192, 8000, 13
	for _, c := range []struct {
		name        string
		strand      func(pos int) bool
		least, most float64
	}{
		{"forward", func(int) bool { return false }, 0, 0.06},
		{"reversed", func(int) bool { return true }, 0, 0.06},
		{"by region", func(pos int) bool { return pos>>8&1 != 0 }, 0, 0.06},
		{"either", func(int) bool { return r.Intn(2) == 1 }, 0.98, 1.02},
		{"one in ten", func(int) bool { return r.Intn(10) == 0 }, 0.45, 0.56},
	} {
		var p places
		for range count {
			pos := r.Intn(limit)
			p.add(uint32(pos), c.strand(pos))
		}
		bits := codedPlaces(t, false, limit, &p, nil)/count - depth
		if bits < c.least || bits > c.most {
			t.Errorf("%s: %.3f bits a strand, want %.2f to %.2f", c.name, bits, c.least, c.most)
		}
	}
}

// TestSortedPlacesCostSteps: in order, only the steps cost: hardly anything where they are all equal, and after the first reversed read of
// a position nothing for the strands there.
func TestSortedPlacesCostSteps(t *testing.T) {
	r := rand.New(rand.NewSource(105))
	const count = 8000
	for _, c := range []struct {
		name       string
		next       func(i int, pos int, rev bool) (int, bool)
		most       float64
		asUnsorted bool // costs much more out of order
	}{
		{"at every base", func(i, pos int, _ bool) (int, bool) { return i, false }, 0.1, true},
		{"at every tenth", func(i, _ int, _ bool) (int, bool) { return 10 * i, true }, 0.3, true},
		{"all at one", func(int, int, bool) (int, bool) { return 70_000, true }, 0.03, false},
		{"a step, then eight reversed", func(i, _ int, _ bool) (int, bool) { return 9 * (i / 8), true }, 0.6, false},
		{"steps by chance", func(_, pos int, _ bool) (int, bool) { return pos + r.Intn(16), r.Intn(2) == 1 }, 5.15, true},
	} {
		var p places
		pos, rev := 0, false
		for i := range count {
			pos, rev = c.next(i, pos, rev)
			p.add(uint32(pos), rev)
		}
		sortPlaces(&p)
		got := codedPlaces(t, true, 1<<17, &p, nil) / count
		if got > c.most {
			t.Errorf("%s: %.3f bits a read, want at most %.2f", c.name, got, c.most)
		}
		if other := codedPlaces(t, false, 1<<17, &p, nil) / count; c.asUnsorted && other < got+10 {
			t.Errorf("%s: %.3f bits a read in order, %.3f by position", c.name, got, other)
		}
	}
}

// TestPlacesBeyondTheEnd: a place, of a read or of its mate, at or beyond the pseudogenome's end is refused where it is decoded.
func TestPlacesBeyondTheEnd(t *testing.T) {
	const limit = 3000
	tree, _ := treeOf(nil, 4096) // its depth allows positions up to 4095
	for _, sorted := range []bool{false, true} {
		for _, c := range []struct {
			first, mate uint32
			rev, ok     bool
		}{
			{limit - 1, limit - 1, false, true}, {limit, unplaced, false, false}, {10, limit, false, false}, {10, limit - 1, false, true},
			{unplaced, limit, false, false}, {unplaced, limit - 1, false, true}, {limit - 1, limit, false, false}, {limit - 1, limit, true, false},
			{0, 0, true, true},
		} {
			first, mate := &places{[]uint32{c.first}, []bool{c.rev}}, &places{[]uint32{c.mate}, []bool{false}}
			var s streams
			s.encodePlaces(newPlaceModel(tree, sorted), first, mate, record.Lengths{}, 1<<20, 1)
			got := [2]*places{{make([]uint32, 1), make([]bool, 1)}, {make([]uint32, 1), make([]bool, 1)}}
			if err := s.decodePlaces(newPlaceModel(tree, sorted), got[0], got[1], record.Lengths{}, limit); (err == nil) != c.ok {
				t.Errorf("sorted %v, %+v: %v", sorted, c, err)
			}
		}
	}
}
