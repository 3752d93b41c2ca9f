//go:build !amd64

package seqs

func prefetch(n0, n1, n2 *node, s0, s1 *uint32, w0, w1 *uint64) {}

func (x *mixer) predict(h, m0, m1, both uint32) { x.predictPlain(h, m0, m1, both) }

func (x *mixer) learnFast(b uint32, e0, e1 float32, q *otherStrand) { x.learnPlain(b, e0, e1, q) }
