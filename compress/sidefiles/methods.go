package sidefiles

import (
	"math"

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
		if len(block) > storedTrial {
			return best, coded
		}
	case classTable:
		keep(methodTables, tables.Encode(block, pool))
	case classRecords:
		codeRecords(block, pool, keep)
	}
	if best == methodStored || float64(len(coded)) > shareOfSample*general.Share(block, generalSample)*float64(len(block)) {
		keep(methodGeneral, general.Encode(block))
	}
	return best, coded
}

// codeRecords gives keep the code of a block as an array or as records: that which seems smaller, or both of a small block, if they may take
// less than the general method.
func codeRecords(block []byte, pool *tasks.Pool, keep func(method, []byte)) {
	if l, ok := doubles.Npy(block); ok {
		keep(methodDoubles, doubles.Encode(block, l))
		return
	}
	text := general.Share(block, generalSample)
	l, array := doubles.Find(block)
	layout, ok := records.Find(block, pool)
	record := layout.Bits / 8
	if !ok || 2*len(block) < layout.Stride*layout.Stride {
		record = math.Inf(1) // of few and long records, the models cost more than they gain
	}
	asArray := array < shareOfText*min(text, record)
	asRecords := !asArray && record < shareOfBinary*text
	if len(block) <= smallBlock {
		asArray, asRecords = array < text, record < shareOfSmall*text
	}
	if asArray {
		keep(methodDoubles, doubles.Encode(block, l))
	}
	if asRecords {
		keep(methodRecords, layout.Encode(block, pool))
	}
}

const (
	storedTrial   = 512 << 10 // bytes of a block of compressed files that may have parts that are not compressed
	generalSample = 32 << 10  // bytes of a block that say what it takes by the general method
	// A block is not coded by the general method if it takes at most this share of what that takes by the sample.
	shareOfSample = 0.9
	// A block is coded as records if the estimate of these, which is often too high, is at most this share of the sample as text.
	shareOfBinary = 1.15
	smallBlock    = 256 << 10 // bytes of a block of which both methods are tried, and records by this share
	shareOfSmall  = 1.6
)

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
