package basemodel

import "github.com/klauspost/cpuid/v2"

// hasAVX2 reports whether the processor has the vector instructions that are used.
var hasAVX2 = cpuid.CPU.Supports(cpuid.AVX2)

// predict finds the nodes of a base and the probabilities of its decisions, given the last bases h and the
// indices of the match's node and the joint node among their kind.
func (x *mixer) predict(h, match, joint uint32) {
	if hasAVX2 {
		predictVector(x, h, match, joint)
		return
	}
	x.predictPlain(h, match, joint)
}

// advance learns base b and an update by the other strand, then predicts the next base by a set of weights. What n0, n1, s and w
// point to is fetched into the cache.
func (x *mixer) advance(b uint32, q *strandUpdate, set, h, match, joint uint32, n0, n1 *node, s *uint32, w *uint64) {
	if hasAVX2 {
		advanceVector(x, b, q, set, h, match, joint, n0, n1, s, w)
		return
	}
	x.learnPlain(b, q)
	x.set = set
	x.predictPlain(h, match, joint)
}

// advanceAll learns the base before and predicts, for each of n steps, and enters the probabilities in p. blockAhead elements of steps
// after these are valid, too; their nodes are fetched.
func (x *mixer) advanceAll(steps []blockStep, n int, p [][4]uint32) {
	if !hasAVX2 {
		x.advanceAllPlain(steps[:n], p)
		return
	}
	advanceAllVector(x, &steps[0], n, &p[0])
}

// prefetchAll fetches elements i of slots into the cache.
func prefetchAll(slots, i []uint32) {
	if len(i) > 0 {
		prefetch32(&slots[0], &i[0], len(i))
	}
}

// prefetchWords fetches elements i of words into the cache.
func prefetchWords(words []uint64, i []uint32) {
	if len(i) > 0 {
		prefetch64(&words[0], &i[0], len(i))
	}
}

//go:noescape
func advanceAllVector(x *mixer, steps *blockStep, n int, p *[4]uint32)

//go:noescape
func prefetch32(base *uint32, index *uint32, n int)

//go:noescape
func prefetch64(base *uint64, index *uint32, n int)

//go:noescape
func predictVector(x *mixer, h, match, joint uint32)

//go:noescape
func advanceVector(x *mixer, b uint32, q *strandUpdate, set, h, match, joint uint32, n0, n1 *node, s *uint32, w *uint64)

// The words of a node that a base updates, and the values towards which they move.
var (
	//lint:ignore U1000 the assembler reads it
	updateMask = [4][4]uint16{{0xffff, 0xffff}, {0xffff, 0xffff}, {0xffff, 0, 0xffff}, {0xffff, 0, 0xffff}}
	//lint:ignore U1000 the assembler reads it
	updateTarget = [4][4]uint16{{0, 0}, {0, 4095}, {4095, 0, 0}, {4095, 0, 4095}}
)
