//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import "gorgonia.org/cu"

// coding is a lane's memory for sums of the text and for coded columns.
type coding struct {
	sums                             buffer // of the chunks of the text
	nameChunks                       buffer
	tokens, low, high                buffer // names: the streams 0 to 2, one byte a line
	kindAt, literalAt                buffer // names: where each line's bytes begin in the streams 3 and 4
	kinds, literals                  buffer
	streams, bytes, pairs            buffer
	table0, table1, heads, rows      buffer
	bits, pieceAt                    buffer
	coded, ends, methods             buffer
	nameChunkCount, qualChunkCount   int
	nameBytes, qualBytes, qualsBegin int // qualsBegin: where the coded qualities begin in coded
}

// lines is how many lines the chunks of names have at most: one for each name, and one for each
// chunk that begins inside a name.
func (c *coding) lines(records int) int { return records + c.nameChunkCount }

func (c *coding) streamCount() int { return C.NAME_STREAMS*c.nameChunkCount + c.qualChunkCount }

// roomForSums makes room for the sums of n bytes of text.
func (l *Lane) roomForSums(n int) {
	l.grow(&l.coding.sums, 8*threadBlocks(n, C.SUM_CHUNK)+8, "the sums of the text")
}

// roomForCoding makes room for coding so many bytes of names, of so many records, and of qualities.
func (l *Lane) roomForCoding(records, names, quals int) {
	c := &l.coding
	c.nameBytes, c.qualBytes = names, quals
	c.nameChunkCount, c.qualChunkCount = threadBlocks(names, C.CHUNK), threadBlocks(quals, C.CHUNK)
	c.qualsBegin = (names + 63) &^ 63
	if names == 0 {
		records = 0
	}
	chunks, lines, streams := c.nameChunkCount+c.qualChunkCount, c.lines(records), c.streamCount()
	const pad = 2 * C.STREAM_PAD // the kernels load whole words
	had := c.coded.size
	for _, b := range []struct {
		buf  *buffer
		size int
	}{
		{&c.nameChunks, C.sizeof_struct_NameChunk * (c.nameChunkCount + 1)},
		{&c.tokens, lines}, {&c.low, lines}, {&c.high, lines},
		{&c.kindAt, 4 * lines}, {&c.literalAt, 4 * lines},
		{&c.kinds, names}, {&c.literals, names},
		{&c.streams, C.sizeof_struct_Stream * (streams + 1)},
		{&c.bytes, 4 * 256 * streams}, {&c.pairs, 4 * C.PAIRS * c.qualChunkCount},
		{&c.table0, 2 * 256 * streams}, {&c.table1, 2 * C.PAIRS * c.qualChunkCount},
		{&c.heads, C.HEAD_BYTES * streams}, {&c.rows, C.ROW_BYTES * c.qualChunkCount},
		{&c.bits, 4 * C.STREAM_PIECES * streams}, {&c.pieceAt, 4 * C.STREAM_PIECES * streams},
		{&c.coded, c.qualsBegin + quals},
		{&c.ends, 8 * chunks}, {&c.methods, chunks},
	} {
		l.grow(b.buf, b.size+pad, "coded columns")
	}
	if c.coded.size != had {
		// write_codes adds bits to words at the ends of pieces, some bytes of which belong to nothing.
		l.set(c.coded.at(), 0, c.coded.size, "coded columns")
	}
}

// sumText queues the sums of the chunks of n bytes of text.
func (l *Lane) sumText(n int) {
	l.roomForSums(n)
	l.launch(C.STEP_TEXT_SUMS, threadBlocks(n, C.SUM_CHUNK*threads/C.SUM_LANES), l.textAt(0), uint64(n), l.coding.sums.at())
}

// code queues the coding of the names and qualities that collect has gathered; either may be empty. The
// sizes of the result are in the info words.
func (l *Lane) code(records, names, quals int) {
	l.roomForCoding(records, names, quals)
	c := &l.coding
	streams := c.streamCount()
	if streams == 0 {
		return
	}
	if c.nameChunkCount > 0 {
		l.codeNames(records)
	}
	// The kernels load tables and what is behind the last symbols in whole words. The codes of symbols that a stream does
	// not have, and the bytes behind its last one, are loaded but not used.
	l.setWords(c.bytes.at(), 0, 256*streams, "tables")
	l.setWords(c.pairs.at(), 0, C.PAIRS*c.qualChunkCount, "tables")
	l.setWords(c.table0.at(), 0, 256/2*streams, "tables")
	l.setWords(c.table1.at(), 0, C.PAIRS/2*c.qualChunkCount, "tables")
	if quals > 0 {
		l.set(l.qualText.at()+uint64(quals), 0, C.STREAM_PAD, "what is behind the qualities")
	}
	// Every part of a stream ends in a piece that may be shorter.
	pieces := 2*C.PARTS*streams + threadBlocks(C.NAME_STREAMS*names+quals, C.PIECE)
	groups := func(k kernel) int { return min(pieces, l.dev.resident[k]) }
	count, firstPairs := uint64(streams), uint64(C.NAME_STREAMS*c.nameChunkCount)
	l.launch(C.STEP_STREAMS, 1, uint64(c.nameChunkCount), c.nameChunks.at(), c.tokens.at(), c.low.at(), c.high.at(), c.kinds.at(),
		c.literals.at(), c.kindAt.at(), c.literalAt.at(), l.qualText.at(), uint64(quals), c.streams.at())
	l.launch(C.STEP_COUNT_SYMBOLS, groups(C.STEP_COUNT_SYMBOLS), c.streams.at(), count, firstPairs, c.bytes.at(), c.pairs.at())
	l.launch(C.STEP_CODE_TABLES, streams, c.streams.at(), firstPairs, c.bytes.at(), c.pairs.at(), c.table0.at(), c.table1.at(),
		c.heads.at(), c.rows.at())
	l.launch(C.STEP_MEASURE, groups(C.STEP_MEASURE), c.streams.at(), count, firstPairs, c.table0.at(), c.table1.at(), c.bits.at())
	l.launch(C.STEP_CHOOSE, streams, c.streams.at(), c.bits.at(), c.pieceAt.at())
	l.launch(C.STEP_PLACE_CHUNKS, 1, c.streams.at(), uint64(names), uint64(quals), uint64(c.qualsBegin), c.ends.at(), c.methods.at(),
		l.info.at())
	l.launch(C.STEP_WRITE_PLAIN, groups(C.STEP_WRITE_PLAIN), c.streams.at(), count, firstPairs, c.heads.at(), c.rows.at(), c.bits.at(),
		c.pieceAt.at(), l.nameText.at(), uint64(names), c.ends.at(), c.methods.at(), c.coded.at())
	l.launch(C.STEP_WRITE_CODES, groups(C.STEP_WRITE_CODES), c.streams.at(), count, firstPairs, c.table0.at(), c.table1.at(), c.pieceAt.at(),
		c.coded.at())
}

// codeNames queues the kernels that turn names into streams.
func (l *Lane) codeNames(records int) {
	c := &l.coding
	lines := c.lines(records)
	n, total, count := uint64(records), uint64(c.nameBytes), uint64(c.nameChunkCount)
	l.set(l.nameText.at()+uint64(c.nameBytes), 0, C.STREAM_PAD, "what is behind the names")
	l.launch(C.STEP_NAME_CHUNKS, 1, l.nameAt.at(), n, total, count, c.nameChunks.at())
	withPads := threadBlocks(lines+C.STREAM_PAD, threads)
	l.launch(C.STEP_NAME_SIZES, withPads, l.nameText.at(), l.nameAt.at(), n, total, c.nameChunks.at(), count, uint64(lines),
		c.tokens.at(), c.low.at(), c.high.at(), c.kindAt.at(), c.literalAt.at())
	l.scan(c.kindAt.at(), lines, l.infoSlot(C.INFO_SCRATCH))
	l.scan(c.literalAt.at(), lines, l.infoSlot(C.INFO_SCRATCH))
	l.launch(C.STEP_NAME_STREAMS, threadBlocks(lines, threads), l.nameText.at(), l.nameAt.at(), n, total, c.nameChunks.at(), count,
		c.kindAt.at(), c.literalAt.at(), c.kinds.at(), c.literals.at())
}

// codedColumns are the copies to the host of a block's coded columns.
type codedColumns struct {
	names, quals, ends, methods []byte
}

// copies lists what is copied for the coded columns, whose sizes are in info.
func (l *Lane) copies(to *codedColumns, info *[C.INFO_SLOTS]uint32) []column {
	c := &l.coding
	chunks := c.nameChunkCount + c.qualChunkCount
	quals := buffer{ptr: c.coded.ptr + cu.DevicePtr(c.qualsBegin)}
	return []column{
		{&to.names, &c.coded, int(info[C.INFO_CODED_NAMES]), c.nameChunkCount > 0},
		{&to.quals, &quals, int(info[C.INFO_CODED_QUALS]), c.qualChunkCount > 0},
		{&to.ends, &c.ends, 8 * chunks, chunks > 0},
		{&to.methods, &c.methods, chunks, chunks > 0},
	}
}

// setCoded sets the result's coded columns.
func (l *Lane) setCoded(r *Result, want Columns, from *codedColumns) {
	c := &l.coding
	ends := view[uint64](from.ends)
	if want.Names {
		n := c.nameChunkCount
		r.CodedNames = &Coded{Raw: uint64(c.nameBytes), Data: from.names, Methods: from.methods[:n:n], Ends: ends[:n:n]}
	}
	if want.Quals {
		n := c.nameChunkCount
		r.CodedQuals = &Coded{Raw: uint64(c.qualBytes), Data: from.quals, Methods: from.methods[n:], Ends: ends[n:]}
	}
}
