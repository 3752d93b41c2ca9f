package quals

import "orcomgo/compress/mixing"

// manyModels is how many models Max mixes.
const manyModels = 8

// many mixes eight context models: the engine of Max. The weights are the sums of those of two sets, one chosen by the previous symbol and
// one by the place in the read.
type many struct {
	t        *trees
	kind     kind
	slots    []state      // less stateStart, by xor: memory of fresh ones is all 0, and the system gives it only as it is used
	bySymbol []weightsOf8 // at last symbol << node bits | node
	byPlace  []weightsOf8 // at place in the read << node bits | node
	history  longHistory
	runs     []uint16 // classes of the bases of a read that are left, if given
	memory   []uint16 // of runs
}

// weightsOf8 are mixing weights of eight models.
type weightsOf8 [manyModels]int32

const (
	manyPlaces = 64 // places in the read that have weights of their own
	manyRate   = 2  // of the weights: see mixing.Step
)

// newMany returns the engine for a column of total symbols.
func newMany(t *trees, total int, k kind) *many {
	node := t.nodeBits()
	ctx := min(contextsFor(total, node)+3, 16)
	m := &many{t: t, kind: k, slots: make([]state, manyModels<<(ctx+node)+slotPad)}
	m.history = longHistory{shift: uint8(64 - ctx), node: uint8(node), top: uint32(len(t.values) - 1)}
	m.bySymbol = make([]weightsOf8, len(t.values)<<node+256)
	m.byPlace = make([]weightsOf8, manyPlaces<<node+256)
	for _, w := range [][]weightsOf8{m.bySymbol, m.byPlace} {
		for i := range w {
			for j := range w[i] {
				w[i][j] = mixing.One / 2 * 6 / 5 / manyModels
			}
		}
	}
	return m
}

func (m *many) start(bases []byte) {
	class := uint32(0)
	if m.kind == given {
		m.memory = runsOf(m.memory, bases)
		m.runs = m.memory
		class = uint32(m.runs[0])
	}
	m.history.reset(m.kind, class)
}

func (m *many) code(s *stream, part []byte) {
	t, h := m.t, &m.history
	for i, q := range part {
		last := h.q[0]
		tree := t.child[last<<h.node:]
		var path uint64
		if s.enc != nil {
			path = t.path(last, q)
		}
		c := t.root[last]
		for c >= 0 {
			bit := m.decision(s, uint32(c), path&1)
			path >>= 1
			c = tree[c][bit]
		}
		symbol := uint32(^c)
		if s.enc != nil {
			s.full()
		} else {
			part[i] = t.values[symbol]
		}
		class := uint32(0)
		if m.kind == given {
			m.runs = m.runs[1:]
			class = uint32(m.runs[0])
		}
		h.next(symbol, m.kind, class)
	}
}

// decision codes the decision at a node.
func (m *many) decision(s *stream, node uint32, b uint64) (bit int) {
	h, moves := &m.history, newMoves()
	w1 := &m.bySymbol[h.q[0]<<h.node|node]
	w2 := &m.byPlace[min(h.pos, manyPlaces-1)<<h.node|node]
	var x [manyModels]int64
	var v [manyModels]*state
	sum := int64(0)
	for i := range x {
		v[i] = &m.slots[h.at[i]+node]
		x[i] = int64((*v[i]^stateStart)&4095) - 2048
		sum += x[i] * int64(w1[i]+w2[i])
	}
	p := mixing.Predict(sum)
	if bit = int(b); s.dec != nil {
		bit = s.dec.Decode(p)
	} else {
		s.add(p, b)
	}
	step := mixing.Step(bit, p, manyRate)
	for i := range x {
		mixing.Move(&w1[i], x[i], step)
		mixing.Move(&w2[i], x[i], step)
		*v[i] = moves[bit&1][*v[i]^stateStart] ^ stateStart
	}
	return bit
}
