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
	methodBase64
	methods
)

// codeBlock codes a block of files of a class, and returns by which method: that for the class or, where a sample says that it takes fewer
// bytes, the general one. The free goroutines of a pool, which may be nil, help with columns of tables and records.
func codeBlock(block []byte, c class, pool *tasks.Pool) (method, []byte) {
	best, coded := methodStored, block
	keep := func(m method, other []byte) {
		if len(other) < len(coded) {
			best, coded = m, other
		}
	}
	if c == classStored && len(block) > storedTrial {
		return best, coded
	}
	s := general.Choose(block)
	share := 1.0 // that the general method takes of a byte
	switch c {
	case classText:
		if other, ok := encodeBase64(block); ok {
			keep(methodBase64, other)
		}
	case classTable:
		keep(methodTables, tables.Encode(block, pool))
		share = s.Share(block)
	case classRecords:
		share = s.Share(block)
		codeRecords(block, s.Stride, share, pool, keep)
	}
	if best == methodStored || float64(len(coded)) > shareOfSample*share*float64(len(block)) {
		keep(methodGeneral, s.Encode(block))
	}
	return best, coded
}

// codeRecords gives keep the code of a block as an array or as records of stride bytes: that which seems smaller, if it
// may take less than the general method.
func codeRecords(block []byte, stride int, share float64, pool *tasks.Pool, keep func(method, []byte)) {
	l, array := doubles.Find(block, stride)
	record, layout := math.Inf(1), (*records.Layout)(nil)
	if stride > 0 && len(block) >= 16*stride*stride { // of few and long records, the models cost more than they gain
		layout = records.Find(block, stride)
		record = layout.Bits / 8
	}
	switch {
	case array < min(share, record):
		keep(methodDoubles, doubles.Encode(block, l.WithHeader(block)))
	case record < shareOfBinary*share:
		keep(methodRecords, layout.Encode(block, pool))
	}
}

const (
	storedTrial = 512 << 10 // bytes of a block of compressed files that may have parts that are not compressed
	// A block is not coded by the general method if it takes at most this share of what that takes by the sample.
	shareOfSample = 0.9
	// A block is coded as records if the estimate of these, which is often too high, is at most this share of the sample as text.
	shareOfBinary = 1.4
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
	case methodBase64:
		block, err = decodeBase64(coded, size)
	}
	if err != nil || len(block) != size {
		return nil, ErrCorrupt
	}
	return block, nil
}
