//go:build !amd64

package basemodel

func (x *mixer) predict(h, match, joint uint32) { x.predictPlain(h, match, joint) }

func (x *mixer) advance(b uint32, q *strandUpdate, set, h, match, joint uint32, _, _ *node, _ *uint32, _ *uint64) {
	x.learnPlain(b, q)
	x.set = set
	x.predictPlain(h, match, joint)
}

func (x *mixer) advanceAll(steps []blockStep, n int, p [][4]uint32) { x.advanceAllPlain(steps[:n], p) }

func prefetchAll([]uint32, []uint32) {}

func prefetchWords([]uint64, []uint32) {}
