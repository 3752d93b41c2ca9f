package basemodel

import (
	"slices"

	"orcomgo/compress/ans"
)

// The model predicts one base (0..3) as two binary decisions. Each has a logit, the sum of what eight contexts say, by weights: the
// last 2, 3, 4, 6, 8 and 10 bases, what a match with earlier bases predicts (match.go), and that with the last two bases. The three
// longest contexts also learn from the other strand, so that inverted repeats are predicted (as in GeCo: Pratas, Pinho, Ferreira, 2016).
// What the contexts say, and the weights, move by the error of the prediction (online logistic regression).
//
// Bases are cut into blocks, and these into lanes, which share the model and are coded side by side: see predictor.

const (
	numLanes = ans.Lanes
	// registerBases is how many bases the registers of the last bases hold.
	registerBases = 32
	// blockBases is how many bases a block has, at most.
	blockBases = 1 << 18
	// laneBases is about the least number of bases for which there is another lane.
	laneBases = 1 << 14
)

// weightSets is the number of weight sets of a quality class: one for each class of the match.
const weightSets = matchClasses

// qualityClasses is the number of quality classes. Each has its own weight sets, because contexts predict bases of low quality badly.
const qualityClasses = 8

// QualityClass returns the class of a quality, which is a byte of FASTQ, Phred + 33.
func QualityClass(q byte) uint32 { return uint32(min(max(int(q)-33, 0)/6, qualityClasses-1)) }

// Model is an adaptive model of a sequence of bases. It is not safe for concurrent use.
type Model struct {
	predictor
	kmers
	hist  history
	size  int // places of the history
	lanes [numLanes]lane

	learnt int // bases; those of a clone come after them

	origin *Model // of which this is a clone; nil if it is none, or one that is not used again
	clones clones
	// What a clone of few bases has changed, so that it can be taken back: for each step the last bases of the lanes, those of the other
	// strand, and slots of the table of k-mers.
	logging bool
	log     []uint32
}

// newModel returns a fresh model for n bases.
func newModel(n int) *Model {
	m := &Model{hist: newHistory(n), size: n}
	m.makeTable(n)
	m.init()
	return m
}

// shiftIn appends b to the last bases and their reverse complement.
func shiftIn(h, r uint64, b uint32) (uint64, uint64) {
	return h<<2 | uint64(b), r>>2 | uint64(3-b)<<(2*(registerBases-1))
}

// Equal reports whether the models predict the same from here on: whether all that they have learnt is equal.
func (m *Model) Equal(o *Model) bool {
	return slices.Equal(m.nodes, o.nodes) && slices.Equal(m.weights, o.weights) && slices.Equal(m.hist.words, o.hist.words) &&
		slices.Equal(m.slots, o.slots) && m.learnt == o.learnt
}
