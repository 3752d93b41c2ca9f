package sidefiles

import (
	"encoding/binary"

	"orcomgo/compress/blocksort"
	"orcomgo/compress/doubles"
	"orcomgo/compress/records"
	"orcomgo/compress/tables"
	"orcomgo/internal/tasks"
)

// method is how a block is coded.
type method byte

const (
	methodStored method = iota
	methodBlocksort
	methodTables
	methodRecords
	methodDoubles
	methods
	methodFloats = methods // the encoder's name for methodDoubles with floats of 4 bytes
)

// codeBlock codes a block of files of a class, and returns by which method.
func codeBlock(block []byte, c class, pool *tasks.Pool) (method, []byte) {
	switch c {
	case classArray64:
		return smallestArray(block, pool, methodDoubles)
	case classArray32:
		return smallestArray(block, pool, methodFloats)
	case classRecord:
		return smallestRecords(block, pool)
	case classText, classBinary:
		return smallest(block, pool, methodBlocksort)
	case classTable:
		return smallest(block, pool, methodTables, methodBlocksort)
	}
	return methodStored, block
}

// code codes a block by one method. The free goroutines of a pool, which may be nil, help with columns of tables and records. It
// reports false if the method does not take the block.
func code(block []byte, m method, pool *tasks.Pool) ([]byte, bool) {
	switch m {
	case methodStored:
		return block, true
	case methodBlocksort:
		return blocksort.Encode(block), true
	case methodTables:
		return tables.Encode(block, pool), true
	case methodRecords:
		return records.Encode(block, pool)
	case methodDoubles, methodFloats:
		l, ok := doubles.Npy(block)
		if !ok { // a block that is not the first of its file
			l = doubles.Layout{Width: 8}
			if m == methodFloats {
				l.Width = 4
			}
		}
		return doubles.Encode(block, l, 1), true
	}
	return nil, false
}

// smallest returns the method of a list, or methodStored, that codes a block in the fewest bytes, and these.
func smallest(block []byte, pool *tasks.Pool, list ...method) (method, []byte) {
	coded := make([][]byte, len(list)) // nil if the method does not take the block
	pool.Each(len(list), func(i int) {
		if b, ok := code(block, list[i], pool); ok {
			coded[i] = b
		}
	})
	best, bytes := methodStored, block
	for i, m := range list {
		if b := coded[i]; b != nil && len(b) < len(bytes) {
			best, bytes = m, b
		}
	}
	return best, bytes
}

// smallestRecords is smallest for a block of records, by records and, if that may be smaller, by blocksort.
func smallestRecords(block []byte, pool *tasks.Pool) (method, []byte) {
	coded, ok := code(block, methodRecords, pool)
	if !ok || textMayBeSmaller(block, len(coded), mostOfRecords) {
		if text := blocksort.Encode(block); !ok || len(text) < len(coded) {
			coded, ok = text, false
		}
	}
	switch {
	case len(coded) >= len(block):
		return methodStored, block
	case ok:
		return methodRecords, coded
	}
	return methodBlocksort, coded
}

// smallestArray is smallest for a block of an array, by doubles and, unless it takes clearly more bytes, by blocksort, which takes twenty
// times as long.
func smallestArray(block []byte, pool *tasks.Pool, doubles method) (method, []byte) {
	coded, _ := code(block, doubles, pool)
	if textMayBeSmaller(block, len(coded), mostOfArray) {
		if text := blocksort.Encode(block); len(text) < min(len(coded), len(block)) {
			return methodBlocksort, text
		}
	}
	if len(coded) < len(block) {
		return methodDoubles, coded
	}
	return methodStored, block
}

const (
	// The part of an array or of records that is coded as text to see whether that may be smaller: one in textPart, at least leastPart
	// bytes and at most so many.
	textPart, leastPart, mostOfArray, mostOfRecords = 8, 4 << 10, 256 << 10, 64 << 10
	// They are not coded as text if they take at most this share of what it would take by the part. Of a small part, most is what the
	// models have to learn.
	shareOfSmallPart, shareOfPart, smallPart = 0.7, 0.9, 32 << 10
)

// textMayBeSmaller reports whether a block of an array, or of records, may take less by blocksort than so many bytes, by
// a part of at most so many bytes.
func textMayBeSmaller(block []byte, coded, most int) bool {
	n := min(len(block), max(len(block)/textPart, leastPart), most)
	from := (len(block) - n) / 2
	share := shareOfPart
	if n < smallPart {
		share = shareOfSmallPart
	}
	text := float64(len(blocksort.Encode(block[from:from+n]))) * float64(len(block)) / float64(n)
	return float64(coded) > share*text*(1-repeats(block))
}

// repeats returns about which share of a block repeats what is before, in pieces of 32 bytes and more, at a distance of a multiple of 4
// bytes. Blocksort takes such pieces over at any distance, and arrays at that of some values only.
func repeats(block []byte) float64 {
	const piece, sampled = 32, 8 // bytes; one piece in so many, by its hash
	seen := make(map[uint64]struct{}, len(block)/4/sampled)
	all := 0
	for i := 0; i+piece <= len(block); i += 4 {
		h := uint64(0)
		for k := 0; k < piece; k += 8 {
			h = (h ^ binary.LittleEndian.Uint64(block[i+k:])) * 0x9E3779B97F4A7C15
			h ^= h >> 32
		}
		if h%sampled != 0 {
			continue
		}
		all++
		seen[h] = struct{}{}
	}
	return float64(all-len(seen)) / float64(max(all, 1))
}

// decodeBlock is the inverse of code, for a block of size bytes.
func decodeBlock(m method, coded []byte, size int) ([]byte, error) {
	var block []byte
	var err error
	switch m {
	case methodStored:
		block = coded
	case methodTables:
		block, err = tables.Decode(coded, size, 1)
	case methodRecords:
		block, err = records.Decode(coded, size, 1)
	case methodDoubles:
		block, err = doubles.Decode(coded, size, 1)
	case methodBlocksort:
		block, err = blocksort.Decode(coded, size)
	}
	if err != nil || len(block) != size {
		return nil, ErrCorrupt
	}
	return block, nil
}
