//go:build !amd64

package seqs

func (x *mixer) predict(h, match, both uint32) { x.predictPlain(h, match, both) }

func (x *mixer) advance(b uint32, q *otherStrand, set, h, match, both uint32, _, _ *node, _ *uint32, _ *uint64) {
	x.learnPlain(b, q)
	x.set = set
	x.predictPlain(h, match, both)
}
