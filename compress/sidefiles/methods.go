package sidefiles

import (
	"bytes"
	"io"

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

// methodsOf returns the methods that are tried for a block of a class.
func methodsOf(c class) []method {
	switch c {
	case classText, classBinary:
		return []method{methodBlocksort}
	case classTable:
		return []method{methodTables, methodBlocksort}
	case classRecord:
		return []method{methodRecords, methodBlocksort}
	case classArray64:
		return []method{methodDoubles, methodBlocksort}
	case classArray32:
		return []method{methodFloats, methodBlocksort}
	}
	return nil
}

// resources are what blocks are coded with, besides a goroutine for each.
type resources struct {
	gpu  *doubles.GPU // for arrays of floats; may be nil
	pool *tasks.Pool  // for columns of tables and records; may be nil
}

// code codes a block by one method. It reports false if the method does not take the block.
func code(block []byte, m method, with resources) ([]byte, bool) {
	switch m {
	case methodStored:
		return block, true
	case methodBlocksort:
		return codeText(block), true
	case methodTables:
		return tables.Encode(block, with.pool), true
	case methodRecords:
		return records.Encode(block, with.pool)
	case methodDoubles, methodFloats:
		l, ok := doubles.Npy(block)
		if !ok { // a block that is not the first of its file
			l = doubles.Layout{Width: 8}
			if m == methodFloats {
				l.Width = 4
			}
		}
		return with.gpu.Encode(block, l, 1), true
	}
	return nil, false
}

// codeText codes a block by package blocksort.
func codeText(block []byte) []byte {
	var b bytes.Buffer
	w, err := blocksort.NewWriter(&b, blocksort.WithThreads(1), blocksort.WithBlockSize(max(len(block), 1)))
	if err == nil {
		if _, err = w.Write(block); err == nil {
			err = w.Close()
		}
	}
	if err != nil {
		panic(err) // a bytes.Buffer does not fail, and MaxBlockSize is less than that of blocksort
	}
	return b.Bytes()
}

// smallest returns the method of a list, or methodStored, that codes a block in the fewest bytes, and these.
func smallest(block []byte, with resources, list ...method) (method, []byte) {
	coded := make([][]byte, len(list)) // nil if the method does not take the block
	with.pool.Each(len(list), func(i int) {
		if b, ok := code(block, list[i], with); ok {
			coded[i] = b
		}
	})
	best, bytes := methodStored, block
	for i, m := range list {
		if b := coded[i]; b != nil && len(b) < len(bytes) {
			best, bytes = m, b
			if m == methodFloats {
				best = methodDoubles
			}
		}
	}
	return best, bytes
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
		var r *blocksort.Reader
		if r, err = blocksort.NewReader(bytes.NewReader(coded), blocksort.WithThreads(1), blocksort.WithBlockSize(max(size, 1))); err == nil {
			block, err = io.ReadAll(io.LimitReader(r, int64(size)+1))
		}
	}
	if err != nil || len(block) != size {
		return nil, ErrCorrupt
	}
	return block, nil
}
