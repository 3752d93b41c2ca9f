package basemodel

import (
	"unsafe"

	"orcomgo/compress/ans"
)

// vectorTables are ans.Tables, under a name of this package for the assembler.
type vectorTables ans.Tables

// codeStep predicts and codes a base of each active lane, and learns them.
func (x *predictor) codeStep(decoding bool) {
	if ans.HasVectors {
		stepVector(x, (*vectorTables)(ans.VectorTables), decoding)
		return
	}
	x.stepPlain(decoding)
}

// passStep moves the active lanes past their bases, and sets what the predictor needs of them.
func (m *Model) passStep() {
	if ans.HasVectors {
		passVector(&m.step, &m.slots[0], &m.hist.words[0], uint(m.size), m.shift)
		return
	}
	m.passPlain()
}

//go:noescape
func passVector(x *step, slots *uint32, words *uint64, size, shift uint)

//go:noescape
func stepVector(x *predictor, t *vectorTables, decoding bool)

// fetch fetches elements of two tables into the cache, and the nodes that the next step reads.
func (x *predictor) fetch(slots []uint32, words []uint64) {
	fetchVector(&x.step, unsafe.Pointer(&x.nodes[nodes10]), &slots[0], &words[0])
}

//go:noescape
func fetchVector(x *step, nodes unsafe.Pointer, slots *uint32, words *uint64)
