package seqs

import "github.com/klauspost/cpuid/v2"

// vectors reports whether the processor has the vector instructions that are used.
var vectors = cpuid.CPU.Supports(cpuid.AVX2)

// predict finds the nodes of a base and the probabilities of its decisions, given the last bases and the
// places of the match's nodes among theirs.
func (x *mixer) predict(h, match, both uint32) {
	if vectors {
		predictVector(x, h, match, both)
		return
	}
	x.predictPlain(h, match, both)
}

// advance learns the base that came and a base of the other strand, then predicts the next by a set of weights. What the
// pointers show will be read soon.
func (x *mixer) advance(b uint32, q *otherStrand, set, h, match, both uint32, n0, n1 *node, s *uint32, w *uint64) {
	if vectors {
		advanceVector(x, b, q, set, h, match, both, n0, n1, s, w)
		return
	}
	x.learnPlain(b, q)
	x.set = set
	x.predictPlain(h, match, both)
}

//go:noescape
func predictVector(x *mixer, h, match, both uint32)

//go:noescape
func advanceVector(x *mixer, b uint32, q *otherStrand, set, h, match, both uint32, n0, n1 *node, s *uint32, w *uint64)

// What advanceVector takes of a base: the words of a node that it changes, and towards what.
var (
	//lint:ignore U1000 the assembler reads it
	changed = [4][4]uint16{{0xffff, 0xffff}, {0xffff, 0xffff}, {0xffff, 0, 0xffff}, {0xffff, 0, 0xffff}}
	//lint:ignore U1000 the assembler reads it
	towards = [4][4]uint16{{0, 0}, {0, 4095}, {4095, 0, 0}, {4095, 0, 4095}}
)
