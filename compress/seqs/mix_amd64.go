package seqs

import "github.com/klauspost/cpuid/v2"

// vectors tells whether the processor has the vector instructions that are used.
var vectors = cpuid.CPU.Supports(cpuid.AVX2)

// predict finds the nodes of a base and the probabilities of its decisions, given the last bases and the
// places of the matches' nodes among theirs.
func (x *mixer) predict(h, m0, m1, both uint32) {
	if vectors {
		predictVector(&x.nodes[0], &x.weights[x.set], &x.step, h, m0, m1, both)
		return
	}
	x.predictPlain(h, m0, m1, both)
}

func (x *mixer) learnFast(b uint32, e0, e1 float32, q *otherStrand) {
	if vectors {
		learnVector(&x.nodes[0], &x.weights[x.set], &x.step, uint64(b), e0, e1, q)
		return
	}
	x.learnPlain(b, e0, e1, q)
}

//go:noescape
func predictVector(n *node, w *weights, s *step, h, m0, m1, both uint32)

//go:noescape
func learnVector(n *node, w *weights, s *step, b uint64, e0, e1 float32, q *otherStrand)

// prefetch asks the processor to bring these lines to the cache. Unlike a load
// it holds nothing up until they are there.
//
//go:noescape
func prefetch(n0, n1, n2 *node, s0, s1 *uint32, w0, w1 *uint64)

// What learnVector takes of a base: the words of a node that it changes, and towards what.
var (
	//lint:ignore U1000 the assembler reads it
	changed = [4][4]uint16{{0xffff, 0xffff}, {0xffff, 0xffff}, {0xffff, 0, 0xffff}, {0xffff, 0, 0xffff}}
	//lint:ignore U1000 the assembler reads it
	towards = [4][4]uint16{{0, 0}, {0, 4095}, {4095, 0, 0}, {4095, 0, 4095}}
)
