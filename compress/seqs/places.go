package seqs

import (
	"orcomgo/compress/mixing"
	rc "orcomgo/compress/rangecoder"
)

// A second mate whose distance from the first one, in bases of the pseudogenome and in the direction of the first one, is
// at least -windowBack and less than 2^windowBits - windowBack is coded by that distance.
const (
	windowBits = 13
	windowBack = 1 << 11
)

// unplaced is the position of a read without a place.
const unplaced = ^uint32(0)

// strandCounts is how many weights there are for the strand statistics of a region: one for each count of these.
const strandCounts = strandMemory + 1

// strandRate is how fast these weights learn: see mixing.Step.
const strandRate = 4

// strandMemory is the limit of the counts of strand statistics.
const strandMemory = 60

// places are the positions and strands of one column's reads.
type places struct {
	pos []uint32 // or unplaced
	rev []bool
}

// placeModel codes the places of a slice.
type placeModel struct {
	tree   *positions
	sorted bool
	placed [4]rc.Prob
	strand []rc.Prob // by region
	// strandWeight is the weight of a region's strand statistics, in 1/65536, by their count.
	strandWeight      [strandCounts]int32
	delta             *rc.Number
	mateNear          [2]rc.Prob
	matePlaced        [2][2]rc.Prob
	mateStrandDiffers rc.Prob
	distance          rc.Tree
}

func newPlaceModel(tree *positions, sorted bool) *placeModel {
	m := &placeModel{tree: tree, sorted: sorted, strand: rc.NewProbs(1 << 14), delta: rc.NewNumber(),
		mateStrandDiffers: rc.NewProb, distance: rc.NewTree(windowBits)}
	for i := range m.strandWeight {
		m.strandWeight[i] = 1 << 15
	}
	rc.FillProbs(m.placed[:])
	rc.FillProbs(m.mateNear[:])
	for i := range m.matePlaced {
		rc.FillProbs(m.matePlaced[i][:])
	}
	return m
}

// strandOf codes the strand of a read at pos. Reads of one region often have the same strand (stranded libraries), so there are statistics
// for each 256 bases. Their weight, by their count, is learnt as well: in most libraries it falls to nothing.
func (m *placeModel) strandOf(c *rc.Coder, pos uint32, rev bool) bool {
	r := &m.strand[(pos>>8)*0x9e3779b1>>18]
	w := &m.strandWeight[min(r.Count(), strandCounts-1)]
	x := int64(mixing.Stretch(r.P()))
	p := mixing.Predict(int64(*w) * x)
	bit := c.AnyBit(rc.BitOf(rev), p)
	mixing.Move(w, x, mixing.Step(bit, p, strandRate))
	r.Update(bit, strandMemory)
	return bit != 0
}

// code codes the places of the reads of first, and of mate if it is not nil; each holds n reads.
// It returns false if a decoded position is not below limit.
func (m *placeModel) code(c *rc.Coder, first, mate *places, n int, limit uint64) bool {
	ctx, prev, prevRev, ctx2 := 3, uint32(0), false, 1
	var tree *pages
	if !m.sorted || mate != nil {
		tree = m.tree.paged()
	}
	for i := 0; i < n; i++ {
		p := c.Adapt(rc.BitOf(first.pos[i] != unplaced), &m.placed[ctx], shortMemory)
		ctx = ctx<<1&3 | p
		if p == 0 {
			first.pos[i] = unplaced
		} else if m.sorted {
			d := m.delta.Code(c, first.pos[i]-prev, longMemory)
			if d != 0 {
				prevRev = false
			}
			first.pos[i] = prev + d
			if d == 0 && prevRev {
				first.rev[i] = true // at equal positions the forward strand comes first
			} else {
				first.rev[i] = m.strandOf(c, prev+d, first.rev[i])
			}
			prev, prevRev = first.pos[i], first.rev[i]
		} else {
			first.pos[i] = tree.code(c, first.pos[i])
			first.rev[i] = m.strandOf(c, first.pos[i], first.rev[i])
		}
		if p != 0 && uint64(first.pos[i]) >= limit {
			return false
		}
		if mate == nil {
			continue
		}
		if p != 0 {
			d := int64(mate.pos[i]) - int64(first.pos[i])
			if first.rev[i] {
				d = -d
			}
			near := mate.pos[i] != unplaced && d >= -windowBack && d < 1<<windowBits-windowBack
			if c.Adapt(rc.BitOf(near), &m.mateNear[ctx2], shortMemory) != 0 {
				ctx2 = 1
				d = int64(m.distance.Code(c, uint32(d+windowBack), longMemory)) - windowBack
				if first.rev[i] {
					d = -d
				}
				x := int64(first.pos[i]) + d
				if x < 0 || uint64(x) >= limit {
					return false
				}
				mate.pos[i] = uint32(x)
				differs := c.Adapt(rc.BitOf(mate.rev[i] != first.rev[i]), &m.mateStrandDiffers, longMemory) != 0
				mate.rev[i] = differs != first.rev[i]
				continue
			}
			ctx2 = 0
		}
		if c.Adapt(rc.BitOf(mate.pos[i] != unplaced), &m.matePlaced[p][ctx2], shortMemory) == 0 {
			mate.pos[i] = unplaced
			continue
		}
		mate.pos[i] = tree.code(c, mate.pos[i])
		if uint64(mate.pos[i]) >= limit {
			return false
		}
		mate.rev[i] = m.strandOf(c, mate.pos[i], mate.rev[i])
	}
	return true
}

// newPlaces returns places of n reads, to be set.
func newPlaces(n int) *places { return &places{make([]uint32, n), make([]bool, n)} }
