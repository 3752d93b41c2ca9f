package seqs

import rc "orcomgo/compress/rangecoder"

// window is how far a mate may stand from its mate to be coded by the distance, in bases of the pseudogenome.
const (
	windowBits = 13
	windowBack = 1 << 11
)

const unplaced = ^uint32(0)

const strandSeen = 61

// places are the positions and strands of one column's reads.
type places struct {
	pos []uint32 // unplaced where there is none
	rev []bool
}

// placeModel codes the places of a slice.
type placeModel struct {
	tree   *positions
	sorted bool
	placed [4]prob
	strand []prob // by region
	// strandWeight is the weight in 1/65536 of what a region says, by how often it was seen.
	strandWeight [strandSeen]int32
	same         [2]prob
	delta        *number
	mateNear     [2]prob
	mateHome     [2][2]prob
	mateTurn     prob
	distance     tree
}

func newPlaceModel(tree *positions, sorted bool) *placeModel {
	m := &placeModel{tree: tree, sorted: sorted, strand: make([]prob, 1<<14), delta: newNumber(), distance: newTree(windowBits), mateTurn: newProb}
	for i := range m.strand {
		m.strand[i] = newProb
	}
	for i := range m.strandWeight {
		m.strandWeight[i] = 1 << 15
	}
	for i := range m.placed {
		m.placed[i] = newProb
	}
	for i := range m.same {
		m.same[i], m.mateNear[i] = newProb, newProb
		m.mateHome[i] = [2]prob{newProb, newProb}
	}
	return m
}

func toBit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// strandOf codes the strand of a read at pos. Reads of one region often share it (stranded libraries), so each 256 bases
// learn their own; how much that tells, by how often the region was seen, is learnt too: in most libraries, nothing.
func (m *placeModel) strandOf(c *coder, pos uint32, rev bool) bool {
	r := &m.strand[(pos>>8)*0x9e3779b1>>18]
	w := &m.strandWeight[min(*r&1023, strandSeen-1)]
	x := rc.Stretch(uint32(*r >> 16))
	p := min(max(rc.Squash(int32(int64(*w)*int64(x)>>16)), 12), 65536-12)
	bit := c.bit(toBit(rev), p)
	*w += (x*((int32(bit<<16)-int32(p))>>2) + 1<<15) >> 16
	r.learn(bit, 60)
	return bit != 0
}

// code codes where the reads of first, and of mate if it is not nil, stand; each holds n reads.
// It returns false if a decoded place is not below limit.
func (m *placeModel) code(c *coder, first, mate *places, n int, limit uint64) bool {
	ctx, prev, prevRev, ctx2 := 3, uint32(0), false, 1
	for i := 0; i < n; i++ {
		p := c.adapt(toBit(first.pos[i] != unplaced), &m.placed[ctx], 255)
		ctx = ctx<<1&3 | p
		if p == 0 {
			first.pos[i] = unplaced
		} else if m.sorted {
			d := m.delta.code(c, first.pos[i]-prev, memory)
			if d != 0 {
				prevRev = false
			}
			first.pos[i] = prev + d
			if d == 0 && prevRev {
				first.rev[i] = true // equal places stand forward strand first
			} else {
				first.rev[i] = m.strandOf(c, prev+d, first.rev[i])
			}
			prev, prevRev = first.pos[i], first.rev[i]
		} else {
			first.pos[i] = m.tree.code(c, first.pos[i])
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
			if c.adapt(toBit(near), &m.mateNear[ctx2], 255) != 0 {
				ctx2 = 1
				d = int64(m.distance.code(c, uint32(d+windowBack), memory)) - windowBack
				if first.rev[i] {
					d = -d
				}
				x := int64(first.pos[i]) + d
				if x < 0 || uint64(x) >= limit {
					return false
				}
				mate.pos[i] = uint32(x)
				turned := c.adapt(toBit(mate.rev[i] != first.rev[i]), &m.mateTurn, memory) != 0
				mate.rev[i] = turned != first.rev[i]
				continue
			}
			ctx2 = 0
		}
		if c.adapt(toBit(mate.pos[i] != unplaced), &m.mateHome[p][ctx2], 255) == 0 {
			mate.pos[i] = unplaced
			continue
		}
		mate.pos[i] = m.tree.code(c, mate.pos[i])
		if uint64(mate.pos[i]) >= limit {
			return false
		}
		mate.rev[i] = m.strandOf(c, mate.pos[i], mate.rev[i])
	}
	return true
}
