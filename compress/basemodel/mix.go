package basemodel

import (
	"math"
	"sync"

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

// weights are the mixing weights of the three decisions, by lane; the fourth row is padding.
type weights [4][lanes]float32

// laneInput gives the context of each lane. The order results from packing 64-bit nodes to 32-bit lanes.
var laneInput = [lanes]int{0, 1, 4, 5, 2, 3, 6, 7}

// counterRates[n] is the part of the distance, in 1/256, that a counter updated n times moves.
var counterRates = [16]uint8{102, 73, 57, 47, 39, 34, 30, 27, 24, 14, 10, 8, 6, 5, 5, 4}

// Logits have the unit of the float format: the bits of a float32, as an integer, are about its logarithm to base 2 times
// 2^23, so that neither logarithm nor exponential needs a table or a series. logitUnit is 1 in this unit.
const logitUnit = 1 << 23 / math.Ln2

// learningRate is how far weights move for an input of 1 and an error of 1, which is in 1/65536.
var learningRate float32 = 0.002 / 65536 / logitUnit

// stretch returns the logit of a counter's probability.
func stretch(c counter) float32 {
	p := int32(c>>3 | 1) // in 1/8192, and never 0
	return float32(int32(math.Float32bits(float32(p))) - int32(math.Float32bits(float32(8192-p))))
}

const (
	maxLogit = 11 << 23
	oneBits  = 127 << 23 // the bits of 1.0
)

// squash is the inverse of stretch, in 1/65536.
func squash(x float32) uint32 {
	d := int32(min(max(x, -maxLogit), maxLogit))
	return uint32(65536 / (1 + math.Float32frombits(uint32(oneBits-d))))
}

// prediction is what the vector instructions read and write of one base.
type prediction struct {
	index [lanes]uint32     // the nodes of this base
	x     [3][lanes]float32 // logits of their probabilities, by decision and lane
	p     [4]uint32         // probability of a 1 of each decision, in 1/65536
	node  [lanes]node       // the nodes as they were read
}

// mixer predicts and learns the two decisions of a base.
type mixer struct {
	prediction
	nodes   []node
	weights []weights
	set     uint32 // which weights are used
}

// freeNodes are the nodes of models that were released, all of one length: there are models for each slice, and for each sample of a batch.
var freeNodes sync.Pool

// anyNodes returns the nodes of a model, whose values are not set.
func anyNodes() []node {
	if free, ok := freeNodes.Get().(*[]node); ok {
		return *free
	}
	return largepages.Make[node](nodeCount + 2) // and two for noUpdate
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
				x.weights[i][d][j] = 0.25
			}
		}
	}
}

// predictPlain is predict in plain Go, bit for bit.
func (x *mixer) predictPlain(h, match, joint uint32) {
	own := [lanes]uint32{orders: match, joint}
	for i := range x.index {
		x.index[i] = nodeStart[i] + h&nodeMask[i] + own[i]
		x.node[i] = x.nodes[x.index[i]]
	}
	w := &x.weights[x.set]
	for d := range x.x {
		v := &x.x[d]
		var m [lanes]float32
		for j, i := range laneInput {
			v[j] = stretch(x.node[i][d])
			m[j] = float32(v[j] * w[d][j])
		}
		// Conversions keep compilers from fusing a product with a sum, which rounds otherwise.
		a := float32(float32(m[0]+m[1]) + float32(m[2]+m[3]))
		b := float32(float32(m[4]+m[5]) + float32(m[6]+m[7]))
		x.p[d] = squash(float32(a + b))
	}
	x.p[3] = x.p[2] // as predict does with vector instructions
}

// learnPlain learns base b and an update by the other strand in plain Go, as advance does.
func (x *mixer) learnPlain(b uint32, q *strandUpdate) {
	hi, lo := b>>1, b&1
	e0 := float32(int32(hi<<16)-int32(x.p[0])) * learningRate
	e1 := float32(int32(lo<<16)-int32(x.p[1+hi])) * learningRate
	w := &x.weights[x.set]
	for j := range w[0] {
		w[0][j] += float32(x.x[0][j] * e0)
		w[1+hi][j] += float32(x.x[1+hi][j] * e1)
	}
	for _, i := range x.index {
		x.nodes[i].learn(b)
	}
	for i, n := range q.node {
		x.nodes[n].learn(uint32(q.base[i]))
	}
}

// advanceAllPlain is advanceAll in plain Go.
func (x *mixer) advanceAllPlain(steps []blockStep, p [][4]uint32) {
	for i := range steps {
		s := &steps[i]
		x.learnPlain(s.last, &s.strand)
		x.set = s.set
		x.predictPlain(s.h, s.match, s.joint)
		p[i] = x.p
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
