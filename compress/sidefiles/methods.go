package sidefiles

import (
	"orcomgo/compress/doubles"
	"orcomgo/compress/general"
	"orcomgo/compress/records"
	"orcomgo/compress/tables"
	"orcomgo/internal/tasks"
)

// method is how a block is coded.
type method byte

const (
	methodStored method = iota
	methodGeneral
	methodTables
	methodRecords
	methodDoubles
	methods
)

// codeBlock codes a block of files of a class, and returns by which method: that for the class or, where it takes fewer bytes, the general
// one. The free goroutines of a pool, which may be nil, help with columns of tables and records.
func codeBlock(block []byte, c class, pool *tasks.Pool) (method, []byte) {
	best, coded := methodStored, block
	keep := func(m method, other []byte) {
		if len(other) < len(coded) {
			best, coded = m, other
		}
	}
	switch c {
	case classStored:
		return best, coded
	case classTable:
		keep(methodTables, tables.Encode(block, pool))
	case classRecords:
		keep(codeRecords(block, pool))
	}
	if best == methodStored || float64(len(coded)) > shareOfSample*general.Share(block, generalSample)*float64(len(block)) {
		keep(methodGeneral, general.Encode(block))
	}
	return best, coded
}

// codeRecords codes a block as an array or as records, whichever seems smaller, or returns it as it is if neither seems so.
func codeRecords(block []byte, pool *tasks.Pool) (method, []byte) {
	if l, ok := doubles.Npy(block); ok {
		return methodDoubles, doubles.Encode(block, l)
	}
	text := general.Share(block, generalSample)
	array, share := doubles.Find(block)
	layout, ok := records.Find(block, pool)
	ok = ok && 2*len(block) >= layout.Stride*layout.Stride // of few and long records, the models cost more than they gain
	switch {
	case share < shareOfText*text && (!ok || share < shareOfText*layout.Bits/8):
		return methodDoubles, doubles.Encode(block, array)
	case ok && layout.Bits/8 < text*shareOfBinary(len(block)):
		return methodRecords, layout.Encode(block, pool)
	}
	return methodStored, block
}

const (
	generalSample = 32 << 10 // bytes of a block that say what it takes by the general method
	// A block is not coded by the general method if it takes at most this share of what that takes by the sample.
	shareOfSample = 0.9
)

// shareOfBinary returns at most what share of the sample as text the estimate of records, which is often too high, may take so that a block
// of n bytes is coded as records.
func shareOfBinary(n int) float64 {
	if n <= 256<<10 {
		return 1.6 // to try both takes little time
	}
	return 1.15
}

// decodeBlock is the inverse of codeBlock, for a block of size bytes.
func decodeBlock(m method, coded []byte, size int) ([]byte, error) {
	var block []byte
	var err error
	switch m {
	case methodStored:
		block = coded
	case methodTables:
		block, err = tables.Decode(coded, size)
	case methodRecords:
		block, err = records.Decode(coded, size)
	case methodDoubles:
		block, err = doubles.Decode(coded, size)
	case methodGeneral:
		block, err = general.Decode(coded, size)
	}
	if err != nil || len(block) != size {
		return nil, ErrCorrupt
	}
	return block, nil
}
