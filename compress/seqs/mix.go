package seqs

import (
	rc "orcomgo/compress/rangecoder"
)

// counter is 12 bits of probability of a 1 and 4 bits of how often it was updated.
type counter = uint16

const newCounter counter = 2048 << 4

// node holds the three decisions of a context: the base's high bit, and its low bit given
// the high bit. The fourth counter stays 0; it keeps nodes from straddling cache lines.
type node [4]counter

var newNode = node{newCounter, newCounter, newCounter}

// weights are those of the three decisions, by lane, times 256; the fourth row is padding.
type weights [4][lanes]float32

// laneInput tells which of a base's contexts stands in each lane: the order in which packing
// 64-bit nodes to 32-bit lanes leaves them.
var laneInput = [lanes]int{0, 1, 4, 5, 2, 3, 6, 7}

// rates[n] is the share, in 1/256, by which a counter updated n times moves.
var rates = [16]uint8{102, 73, 57, 47, 39, 34, 30, 27, 24, 14, 10, 8, 6, 5, 5, 4}

// learning is how far weights move along the error, which is in 1/65536; weights are times 256.
const learning = 0.002 * 256 / 65536

// stretched[p] is ln(p/(1-p)) of the middle of each 1/4096; squashed is the inverse in 1/65536, by 2048 + 256 x.
var (
	stretched [4096]float32
	squashed  [4096]uint32
)

func init() {
	for i := range stretched {
		// From the integers of the coder's own tables, so that no machine's logarithm matters.
		stretched[i] = float32(rc.Stretch(uint32(i)<<4+8)) / 256
	}
	for i := range squashed {
		squashed[i] = min(max(rc.Squash(int32(i)-2048), 32), 65536-32)
	}
}

// step is what the vector instructions read and write of one base.
type step struct {
	index [lanes]uint32     // the nodes of this base
	x     [3][lanes]float32 // their stretched probabilities, by decision and lane
	p     [4]uint32         // probability of a 1 of each decision, in 1/65536
	node  [lanes]node       // the nodes as they were read
}

// mixer predicts and learns the two decisions of a base.
type mixer struct {
	step
	nodes   []node
	weights []weights
	set     uint32 // which weights are used
}

// reset makes the tables.
func (x *mixer) reset() {
	x.nodes = make([]node, nodesAll+2) // and two for updates of nothing
	for i := range x.nodes {
		x.nodes[i] = newNode
	}
	for m := range nMatch {
		for s := range runLengths * 16 {
			for b := range 4 {
				// A prediction is believed the less the more it failed, 0.97 at best, until counted.
				p := counter(3973-164*(s&15)) << 4
				q := counter(4095)<<4 - p
				n := &x.nodes[nodesMatch+m*matchNodes+4+s<<2+b]
				n[0], n[1+b>>1] = q, q
				if b>>1 != 0 {
					n[0] = p
				}
				if b&1 != 0 {
					n[1+b>>1] = p
				}
			}
		}
	}
	x.weights = make([]weights, weightSets)
	for i := range x.weights {
		for d := range x.weights[i] {
			for j := range x.weights[i][d] {
				x.weights[i][d][j] = 64
			}
		}
	}
}

// predictPlain is predict in plain Go, bit for bit.
func (x *mixer) predictPlain(h, m0, m1, both uint32) {
	own := [lanes]uint32{nCount: m0, m1, both}
	for i := range x.index {
		x.index[i] = nodeStart[i] + h&nodeMask[i] + own[i]
		x.node[i] = x.nodes[x.index[i]]
	}
	w := &x.weights[x.set]
	for d := range x.x {
		v := &x.x[d]
		var m [lanes]float32
		for j, i := range laneInput {
			v[j] = stretched[x.node[i][d]>>4]
			m[j] = float32(v[j] * w[d][j])
		}
		// Conversions keep compilers from fusing a product with a sum, which rounds otherwise.
		a := float32(float32(m[0]+m[1]) + float32(m[2]+m[3]))
		b := float32(float32(m[4]+m[5]) + float32(m[6]+m[7]))
		s := min(max(float32(a+b), -2047), 2047)
		x.p[d] = squashed[2048+int32(s)]
	}
	x.p[3] = x.p[2] // as the vectors leave it
}

// learnPlain is learn in plain Go, bit for bit.
func (x *mixer) learnPlain(b uint32, e0, e1 float32, q *otherStrand) {
	d := 1 + b>>1
	w := &x.weights[x.set]
	for j := range w[0] {
		w[0][j] += float32(x.x[0][j] * e0)
		w[d][j] += float32(x.x[d][j] * e1)
	}
	for _, i := range x.index {
		x.nodes[i].learn(b)
	}
	for i, n := range q.node {
		x.nodes[n].learn(uint32(q.base[i]))
	}
}

// learn moves the counters of the decisions that base b takes.
func (n *node) learn(b uint32) {
	n[0] = moved(n[0], b>>1)
	d := 1 + b>>1
	n[d] = moved(n[d], b&1)
}

func moved(c counter, bit uint32) counter {
	p, n := int32(c>>4), c&15
	d := (int32(bit)*4095 - p) * int32(rates[n]) << 7
	p += (d>>14 + 1) >> 1
	return counter(p)<<4 | min(n+1, 15)
}

// errorOf returns how far the weights move when a decision predicted as p turned out as bit.
func errorOf(bit, p uint32) float32 { return float32(int32(bit<<16)-int32(p)) * learning }

// learn tells the base that came, and a base of the other strand.
func (x *mixer) learn(b uint32, q *otherStrand) {
	x.learnFast(b, errorOf(b>>1, x.p[0]), errorOf(b&1, x.p[1+b>>1]), q)
}
