package basemodel

import (
	"sync"

	"orcomgo/compress/mixing"
	"orcomgo/compress/rangecoder"
	"orcomgo/internal/largepages"
)

// counter is 12 bits of probability of a 1 and 4 bits of how often it was updated. It is smaller than rangecoder.Prob, and its
// arithmetic is that of 16-bit vector instructions.
type counter = uint16

const newCounter counter = 2048 << 4

// node holds the counters of the three decisions of a context: the base's high bit, and its low bit given
// the high bit. The fourth counter is always 0; with it no node crosses a cache line.
type node [4]counter

var newNode = node{newCounter, newCounter, newCounter}

// weights are the mixing weights of the three decisions, by lane: see package mixing. The fourth row is padding.
type weights [4][lanes]int32

// mixRate is how fast weights move: see mixing.Step. The products of mixing.Move have less than 32 bits up to a rate of 16.
const mixRate = 16

// counterRates[n] is the part of the distance, in 1/256, that a counter updated n times moves.
var counterRates = [16]uint8{102, 73, 57, 47, 39, 34, 30, 27, 24, 14, 10, 8, 6, 5, 5, 4}

// mixer predicts and learns the two decisions of a base, given the last bases h, their reverse complement r, and the context that
// match.context returns. The vector instructions do the same as plain Go, but their lanes have another order.
type mixer struct {
	x       [3][lanes]int32 // stretched probabilities of the nodes, by decision
	node    [lanes]node     // the nodes as they were read
	p       [4]uint32       // by decision: the probability of a 1 in 1/65536
	nodes   []node
	weights []weights
}

// freeNodes are the nodes of models that were released, all of one length: there are models for each slice, and for each sample of a batch.
var freeNodes sync.Pool

// anyNodes returns the nodes of a model, whose values are not set.
func anyNodes() []node {
	if free, ok := freeNodes.Get().(*[]node); ok {
		return *free
	}
	return largepages.Make[node](nodeCount)
}

// init makes the tables.
func (x *mixer) init() {
	x.nodes = anyNodes()
	for i := range x.nodes {
		x.nodes[i] = newNode
	}
	for s := range runLengths * 16 {
		for b := range 4 {
			// The initial confidence of a match falls with its recent misses; it is at most 0.97.
			p := counter(3973-164*(s&15)) << 4
			q := counter(4095)<<4 - p
			n := &x.nodes[nodesMatch+4+s<<2+b]
			n[0], n[1+b>>1] = q, q
			if b>>1 != 0 {
				n[0] = p
			}
			if b&1 != 0 {
				n[1+b>>1] = p
			}
		}
	}
	x.weights = make([]weights, weightSets)
	for i := range x.weights {
		for d := range x.weights[i] {
			for j := range x.weights[i][d] {
				x.weights[i][d][j] = mixing.One / 4
			}
		}
	}
}

// nodeIndices returns the nodes of the eight contexts.
func nodeIndices(h uint64, context uint32) (at [lanes]uint32) {
	for i, order := range contextOrders {
		at[i] = nodeStart[i] + uint32(h)&(1<<(2*order)-1)
	}
	at[orders] = nodesMatch + context>>matchShift
	at[orders+1] = nodesJoint + context>>jointShift&jointMask
	return at
}

// predictPlain is predict in plain Go.
func (x *mixer) predictPlain(h uint64, context uint32) {
	x.readNodes(h, context)
	for d := range uint32(len(x.x)) {
		x.predictDecision(d, context)
	}
}

func (x *mixer) readNodes(h uint64, context uint32) {
	for j, i := range nodeIndices(h, context) {
		x.node[j] = x.nodes[i]
	}
}

// predictDecision predicts decision d by the nodes that were read.
func (x *mixer) predictDecision(d, context uint32) {
	w, sum := &x.weights[context&setMask][d], int64(0)
	for j := range w {
		v := mixing.Stretch(uint32(x.node[j][d]))
		x.x[d][j] = v
		sum += int64(v) * int64(w[j])
	}
	x.p[d] = mixing.Predict(sum)
}

// learnPlain is learn in plain Go.
func (x *mixer) learnPlain(h, r uint64, context, b uint32) {
	hi := b >> 1
	x.moveWeights(0, context, hi)
	x.moveWeights(1+hi, context, b&1)
	for _, i := range nodeIndices(h, context) {
		x.nodes[i].learn(b)
	}
	for i := strandOrder; i < orders; i++ {
		k := 2 * contextOrders[i]
		at := nodeStart[i] + uint32(r>>(2*(registerBases-strandLag)-k))&(1<<k-1)
		x.nodes[at].learn(uint32(^h>>(k+2*strandLag)) & 3)
	}
}

// moveWeights moves the weights of decision d, which was bit.
func (x *mixer) moveWeights(d, context, bit uint32) {
	w, step := &x.weights[context&setMask][d], mixing.Step(int(bit), x.p[d], mixRate)
	for j := range w {
		mixing.Move(&w[j], int64(x.x[d][j]), step)
	}
}

// encodePlain is encodeSome in plain Go.
func (x *mixer) encodePlain(h, r uint64, bases []byte, contexts []uint32, out []rangecoder.Decision) {
	for i, v := range bases {
		b := uint32(v)
		x.readNodes(h, contexts[i])
		x.predictDecision(0, contexts[i])
		x.predictDecision(1+b>>1, contexts[i])
		out[2*i] = rangecoder.Decision(x.p[0]<<1 | b>>1)
		out[2*i+1] = rangecoder.Decision(x.p[1+b>>1]<<1 | b&1)
		x.learnPlain(h, r, contexts[i], b)
		h, r = shiftIn(h, r, v)
	}
}

// learn updates the counters of the two decisions of base b.
func (n *node) learn(b uint32) {
	n[0] = updated(n[0], b>>1)
	d := 1 + b>>1
	n[d] = updated(n[d], b&1)
}

// updated returns c after a decision that was bit.
func updated(c counter, bit uint32) counter {
	p, n := int32(c>>4), c&15
	d := (int32(bit)*4095 - p) * int32(counterRates[n]) << 7
	p += (d>>14 + 1) >> 1
	return counter(p)<<4 | min(n+1, 15)
}
