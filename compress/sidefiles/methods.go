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
	case classRecord:
		if other, ok := records.Encode(block, pool); ok {
			keep(methodRecords, other)
		}
	case classArray:
		l, ok := doubles.Npy(block)
		if !ok {
			l, _ = doubles.Find(block)
		}
		keep(methodDoubles, doubles.Encode(block, l))
	}
	if best == methodStored || generalMayBeSmaller(block, len(coded)) {
		keep(methodGeneral, general.Encode(block))
	}
	return best, coded
}

const (
	generalSample = 32 << 10 // bytes of a block that say what it takes by the general method
	// A block is not coded by the general method if it takes at most this share of what that takes by the sample.
	shareOfSample = 0.9
)

// generalMayBeSmaller reports whether a block may take less by the general method than so many bytes.
func generalMayBeSmaller(block []byte, coded int) bool {
	return float64(coded) > shareOfSample*general.Share(block, generalSample)*float64(len(block))
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
