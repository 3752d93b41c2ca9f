package basemodel

import (
	"sync"

	"orcomgo/compress/ans"
	"orcomgo/internal/largepages"
)

// node is what a context says of the next base: the logits, in 1/4096 octaves, of its high bit, of its low bit if the high one is 0, and of
// its low bit if that is 1; and the rate at which these move, in 1/2^15. So no node crosses a cache line.
type node [4]int16

// firstRate is the rate of a node that has learnt nothing. The rate falls by rateFall/2^15 of its square.
const (
	firstRate = 6144
	rateFall  = 8192
)

// weights are those by which the nodes of the contexts are multiplied, in 1/2^13. The fourth one of a context says nothing.
type weights [contexts]node

const (
	oneWeight = 1 << 13
	// weightRate is how fast weights move, in 1/2^15.
	weightRate = 1 << 10
)

const (
	orders   = 6          // contexts of the last bases
	contexts = orders + 2 // all of them
	// strandOrders is how many orders, the highest ones, learn from the other strand: those below have seen all of their contexts soon.
	strandOrders = 3
	// strandBases is how many bases the other strand learns from: one after the longest context. They end with the last base but one:
	// so their nodes are known, and fetched, a step before they are read.
	strandBases = 11
)

// contextOrders are how many of the last bases the contexts have.
var contextOrders = [orders]uint{2, 3, 4, 6, 8, 10}

// Where the contexts' nodes begin in the table.
const (
	nodes2     = 0
	nodes3     = nodes2 + 1<<4
	nodes4     = nodes3 + 1<<6
	nodes6     = nodes4 + 1<<8
	nodes8     = nodes6 + 1<<12
	nodes10    = nodes8 + 1<<16
	nodesMatch = nodes10 + 1<<20
	nodesJoint = nodesMatch + matchNodes
	nodeCount  = nodesJoint + jointNodes
)

// jointNodes is how many nodes the joint context has: what a match predicts, by its class, and the last two bases.
const jointNodes = (1 + 4*(matchClasses-1)) * 16

// nodeStart gives the nodes of the contexts.
var nodeStart = [contexts]uint32{nodes2, nodes3, nodes4, nodes6, nodes8, nodes10, nodesMatch, nodesJoint}

// The probabilities of bases are coded in 1/wholeShare.
const (
	shareBits  = 14
	wholeShare = 1 << shareBits
)

// step is one base of each lane, and memory for it. It is laid out for the assembler.
type step struct {
	active [numLanes]uint32 // all ones for lanes that code a base
	last   [numLanes]uint32 // the last 16 bases, newest lowest
	strand [numLanes]uint32 // the complement of strandBases bases, newest highest
	match  [numLanes]uint32 // node of the match among its kind
	joint  [numLanes]uint32 // that of the joint context
	set    [numLanes]uint32 // of weights
	bases  [numLanes]uint16 // that are coded
	matches

	intervals [2][numLanes]uint16 // starts, and sizes less 1, in 1/wholeShare

	nodeAt [contexts][numLanes]uint32 // in the table: of the orders, among their kind
	read   [numLanes][contexts]node   // nodes before the step
	//lint:ignore U1000 memory of the assembler
	sums, errors [2][numLanes]node // of the step, and of the other strand
}

// predictor predicts the bases of lanes, and learns them. All predict, then all are coded, then all learn, in order of lanes: each moves
// the nodes as they were before the step, so that of two lanes with one context the later one counts. The vector instructions do the same.
type predictor struct {
	step
	nodes   []node
	weights []weights

	states [numLanes]uint32
	words  []byte // that are decoded; wordsAhead bytes follow the last one
	at     int    // of the next word
}

// wordsAhead is more bytes than a step reads or loads.
const wordsAhead = 64

// init makes the tables.
func (x *predictor) init() {
	x.nodes = anyNodes()
	for i := range x.nodes {
		x.nodes[i] = node{3: firstRate}
	}
	for s := range runLengths * 16 {
		for b := range 4 {
			// The initial confidence of a match falls with its recent misses.
			v := firstConfidence[s&15]
			n := &x.nodes[nodesMatch+4+s<<2+b]
			n[0], n[1+b>>1] = -v, -v
			if b>>1 != 0 {
				n[0] = v
			}
			if b&1 != 0 {
				n[1+b>>1] = v
			}
		}
	}
	x.weights = make([]weights, weightSets)
	for i := range x.weights {
		for j := range x.weights[i] {
			x.weights[i][j] = node{oneWeight, oneWeight, oneWeight, oneWeight}
		}
	}
}

// firstConfidence are logits by the number of misses: those of 3973/4096 and 164/4096 less for each miss.
var firstConfidence = [16]int16{20535, 15279, 12348, 10243, 8561, 7133, 5870, 4720, 3649, 2634, 1655, 699, -247, -1198, -2164, -3160}

// product returns a product of numbers in 1/2^15, rounded. That of -1 and -1 is -1, as vector instructions have it.
func product(a, b int16) int16 { return int16((int32(a)*int32(b) + 1<<14) >> 15) }

func add(a, b int16) int16 { return ans.Saturate(int32(a) + int32(b)) }

// errorOf returns the error, in 1/2^15, of a probability of a 1, in 1/65536.
func errorOf(bit, p uint16) int16 { return int16(bit)*32767 - int16(p>>1) }

// probabilities are those of a 1 of the three decisions.
type probabilities [3]uint16

// errors returns the errors of the two decisions of base b.
func (p *probabilities) errors(b uint16) (e node) {
	e[0] = errorOf(b>>1, p[0])
	e[1+b>>1] = errorOf(b&1, p[1+b>>1])
	return e
}

// stepPlain is stepVector in plain Go.
func (x *predictor) stepPlain(decoding bool) {
	var all, strands [numLanes]probabilities
	for l := range numLanes {
		if x.active[l] != 0 {
			all[l], strands[l] = x.predict(l), x.predictStrand(l)
		}
	}
	for l := range numLanes {
		x.code(l, &all[l], decoding)
	}
	for l := range numLanes {
		if x.active[l] != 0 {
			x.learn(l, &all[l], &strands[l])
		}
	}
}

func (x *predictor) predict(l int) (p probabilities) {
	for f := range contexts {
		i := x.last[l]
		switch f {
		case orders:
			i = x.match[l]
		case orders + 1:
			i = x.joint[l]
		default:
			i &= 1<<(2*contextOrders[f]) - 1
		}
		x.nodeAt[f][l] = nodeStart[f] + i
		x.read[l][f] = x.nodes[nodeStart[f]+i]
	}
	n, w := &x.read[l], &x.weights[x.set[l]]
	for k := range p {
		var t [contexts]int16
		for f := range t {
			t[f] = product(n[f][k], w[f][k])
		}
		sum := add(add(add(t[0], t[4]), add(t[2], t[6])), add(add(t[1], t[5]), add(t[3], t[7])))
		p[k] = ans.Logistic(add(sum, sum)) // the sum is in 1/1024 octaves
	}
	return p
}

// strandNodes returns the nodes of the orders that learn from the other strand.
func (x *predictor) strandNodes(l int) [strandOrders]*node {
	c := x.strand[l] >> 2
	return [strandOrders]*node{&x.nodes[nodes6+c&(1<<12-1)], &x.nodes[nodes8+c&(1<<16-1)], &x.nodes[nodes10+c]}
}

func (x *predictor) predictStrand(l int) (p probabilities) {
	n := x.strandNodes(l)
	for k := range p {
		p[k] = ans.Logistic(add(add(n[0][k], n[1][k]), n[2][k]) >> 1)
	}
	return p
}

// code finds the interval of a base, and the base when it decodes.
func (x *predictor) code(l int, p *probabilities, decoding bool) {
	if x.active[l] == 0 {
		x.intervals[0][l], x.intervals[1][l] = 0, wholeShare-1
		return
	}
	// How much of the interval the bases above 0, 1 and 2 have.
	above := [5]uint16{wholeShare, p[0] + ans.MulHigh(-p[0], p[1]), p[0], ans.MulHigh(p[0], p[2])}
	for k := 1; k < 4; k++ {
		above[k] = ans.MulHigh(above[k], wholeShare-4) + uint16(4-k)
	}
	b := x.bases[l]
	if decoding {
		for b = 0; b < 3 && above[b+1] > uint16(x.states[l]%wholeShare); {
			b++
		}
		x.bases[l] = b
	}
	start, size := above[b+1], above[b]-above[b+1]
	x.intervals[0][l], x.intervals[1][l] = start, size-1
	if !decoding {
		return
	}
	s := x.states[l]/wholeShare*uint32(size) + x.states[l]%wholeShare - uint32(start)
	if s < ans.Start {
		s = s<<16 | uint32(x.words[x.at]) | uint32(x.words[x.at+1])<<8
		x.at += 2
	}
	x.states[l] = s
}

func (x *predictor) learn(l int, p, strand *probabilities) {
	n, w, e := &x.read[l], &x.weights[x.set[l]], p.errors(x.bases[l])
	e[3] = -rateFall
	for f := range contexts {
		v, by := n[f], w[f]
		by[3] = v[3]
		to := &x.nodes[x.nodeAt[f][l]]
		for k := range v {
			to[k] = add(v[k], product(product(e[k], by[k]), v[3]))
			w[f][k] = add(w[f][k], product(product(e[k], v[k]), weightRate))
		}
	}
	e = strand.errors(uint16(x.strand[l] & 3))
	for _, to := range x.strandNodes(l) {
		v := *to
		for k := range 3 {
			to[k] = add(v[k], product(e[k]>>2, v[3]))
		}
		to[3] = add(v[3], product(product(-rateFall, v[3]), v[3]))
	}
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
