//go:build cuda

package cudakern

import (
	"gorgonia.org/cu"
)

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

func (c *coding) buffers() []*buffer {
	return []*buffer{&c.sums, &c.nameChunks, &c.tokens, &c.low, &c.high, &c.kindAt, &c.literalAt, &c.kinds, &c.literals, &c.streams,
		&c.bytes, &c.pairs, &c.table0, &c.table1, &c.heads, &c.rows, &c.bits, &c.pieceAt, &c.coded, &c.ends, &c.methods}
}

// lines is how many lines the chunks of names have at most: one for each name, and one for each
// chunk that begins inside a name.
func (c *coding) lines(records int) int { return records + c.nameChunkCount }

func (c *coding) streamCount() int { return nameStreams*c.nameChunkCount + c.qualChunkCount }

// roomForSums makes room for the sums of n bytes of text.
func (l *Lane) roomForSums(n int) error {
	return l.coding.sums.grow(8*threadBlocks(n, sumChunk)+8, "the sums of the text")
}

// roomForCoding makes room for coding so many bytes of names, of so many records, and of qualities.
func (l *Lane) roomForCoding(records, names, quals int) error {
	c := &l.coding
	c.nameBytes, c.qualBytes = names, quals
	c.nameChunkCount, c.qualChunkCount = threadBlocks(names, codedChunk), threadBlocks(quals, codedChunk)
	c.qualsBegin = (names + 63) &^ 63
	if names == 0 {
		records = 0
	}
	chunks, lines, streams := c.nameChunkCount+c.qualChunkCount, c.lines(records), c.streamCount()
	const pad = 2 * streamPad // the kernels load whole words
	had := c.coded.size
	for _, b := range []struct {
		buf  *buffer
		size int
	}{
		{&c.nameChunks, nameChunkSize * (c.nameChunkCount + 1)},
		{&c.tokens, lines}, {&c.low, lines}, {&c.high, lines},
		{&c.kindAt, 4 * lines}, {&c.literalAt, 4 * lines},
		{&c.kinds, names}, {&c.literals, names},
		{&c.streams, streamSize * (streams + 1)},
		{&c.bytes, 4 * 256 * streams}, {&c.pairs, 4 * pairCount * c.qualChunkCount},
		{&c.table0, 2 * 256 * streams}, {&c.table1, 2 * pairCount * c.qualChunkCount},
		{&c.heads, headBytes * streams}, {&c.rows, rowBytes * c.qualChunkCount},
		{&c.bits, 4 * streamPieces * streams}, {&c.pieceAt, 4 * streamPieces * streams},
		{&c.coded, c.qualsBegin + quals},
		{&c.ends, 8 * chunks}, {&c.methods, chunks},
	} {
		if err := b.buf.grow(b.size+pad, "coded columns"); err != nil {
			return err
		}
	}
	if c.coded.size == had {
		return nil
	}
	// write_codes adds bits to words at the ends of pieces, some bytes of which belong to nothing.
	return cudaError("clearing coded columns", cu.MemsetD8Async(c.coded.ptr, 0, int64(c.coded.size), l.stream))
}

// sumText queues the sums of the chunks of n bytes of text.
func (l *Lane) sumText(n int) error {
	if err := l.roomForSums(n); err != nil {
		return err
	}
	return l.launch(kernelTextSums, threadBlocks(n, sumChunk*threads/sumLanes), uint64(l.textAt(0)), uint64(n), l.coding.sums.at())
}

// code queues the coding of the names and qualities that collect has gathered; either may be empty. The
// sizes of the result are in the info words.
func (l *Lane) code(records, names, quals int) error {
	if err := l.roomForCoding(records, names, quals); err != nil {
		return err
	}
	c := &l.coding
	streams := c.streamCount()
	if streams == 0 {
		return nil
	}
	if c.nameChunkCount > 0 {
		if err := l.codeNames(records); err != nil {
			return err
		}
	}
	// The kernels load tables and what is behind the last symbols in whole words. The codes of symbols that a stream does
	// not have, and the bytes behind its last one, are loaded but not used.
	for _, m := range []struct {
		of    *buffer
		words int
	}{
		{&c.bytes, 256 * streams}, {&c.pairs, pairCount * c.qualChunkCount},
		{&c.table0, 256 / 2 * streams}, {&c.table1, pairCount / 2 * c.qualChunkCount},
	} {
		if m.words == 0 {
			continue
		}
		if err := cudaError("clearing tables", cu.MemsetD32Async(m.of.ptr, 0, int64(m.words), l.stream)); err != nil {
			return err
		}
	}
	if quals > 0 {
		err := cu.MemsetD8Async(l.qualText.ptr+cu.DevicePtr(quals), 0, streamPad, l.stream)
		if err := cudaError("clearing what is behind the qualities", err); err != nil {
			return err
		}
	}
	// Every part of a stream ends in a piece that may be shorter.
	pieces := 2*parts*streams + threadBlocks(nameStreams*names+quals, piece)
	groups := func(k kernel) int { return min(pieces, l.dev.resident[k]) }
	count, firstPairs := uint64(streams), uint64(nameStreams*c.nameChunkCount)
	for _, k := range []struct {
		kernel kernel
		blocks int
		args   []uint64
	}{
		{kernelStreams, 1, []uint64{uint64(c.nameChunkCount), c.nameChunks.at(), c.tokens.at(), c.low.at(), c.high.at(), c.kinds.at(),
			c.literals.at(), c.kindAt.at(), c.literalAt.at(), l.qualText.at(), uint64(quals), c.streams.at()}},
		{kernelCountSymbols, groups(kernelCountSymbols), []uint64{c.streams.at(), count, firstPairs, c.bytes.at(), c.pairs.at()}},
		{kernelCodeTables, streams, []uint64{c.streams.at(), firstPairs, c.bytes.at(), c.pairs.at(), c.table0.at(), c.table1.at(),
			c.heads.at(), c.rows.at()}},
		{kernelMeasure, groups(kernelMeasure), []uint64{c.streams.at(), count, firstPairs, c.table0.at(), c.table1.at(), c.bits.at()}},
		{kernelChoose, streams, []uint64{c.streams.at(), c.bits.at(), c.pieceAt.at()}},
		{kernelPlaceChunks, 1, []uint64{c.streams.at(), uint64(names), uint64(quals), uint64(c.qualsBegin), c.ends.at(), c.methods.at(),
			l.info.at()}},
		{kernelWritePlain, groups(kernelWritePlain), []uint64{c.streams.at(), count, firstPairs, c.heads.at(), c.rows.at(), c.bits.at(),
			c.pieceAt.at(), l.nameText.at(), uint64(names), c.ends.at(), c.methods.at(), c.coded.at()}},
		{kernelWriteCodes, groups(kernelWriteCodes), []uint64{c.streams.at(), count, firstPairs, c.table0.at(), c.table1.at(), c.pieceAt.at(),
			c.coded.at()}},
	} {
		if err := l.launch(k.kernel, k.blocks, k.args...); err != nil {
			return err
		}
	}
	return nil
}

// codeNames queues the kernels that turn names into streams.
func (l *Lane) codeNames(records int) error {
	c := &l.coding
	lines := c.lines(records)
	blocks, scans := threadBlocks(lines, threads), threadBlocks(lines, scanTile)+1
	if err := l.clearState(2 * scans); err != nil {
		return err
	}
	n, total, count := uint64(records), uint64(c.nameBytes), uint64(c.nameChunkCount)
	err := cu.MemsetD8Async(l.nameText.ptr+cu.DevicePtr(c.nameBytes), 0, streamPad, l.stream)
	if err := cudaError("clearing what is behind the names", err); err != nil {
		return err
	}
	if err := l.launch(kernelNameChunks, 1, l.nameAt.at(), n, total, count, c.nameChunks.at()); err != nil {
		return err
	}
	withPads := threadBlocks(lines+streamPad, threads)
	if err := l.launch(kernelNameSizes, withPads, l.nameText.at(), l.nameAt.at(), n, total, c.nameChunks.at(), count, uint64(lines),
		c.tokens.at(), c.low.at(), c.high.at(), c.kindAt.at(), c.literalAt.at()); err != nil {
		return err
	}
	if err := l.scan(c.kindAt, lines, infoScratch); err != nil {
		return err
	}
	if err := l.scan(c.literalAt, lines, infoScratch); err != nil {
		return err
	}
	return l.launch(kernelNameStreams, blocks, l.nameText.at(), l.nameAt.at(), n, total, c.nameChunks.at(), count,
		c.kindAt.at(), c.literalAt.at(), c.kinds.at(), c.literals.at())
}

// codedColumns are the copies to the host of a block's coded columns.
type codedColumns struct {
	names, quals, ends, methods []byte
}

// copies lists what is copied for the coded columns, whose sizes are in info.
func (l *Lane) copies(to *codedColumns, info *[infoSlots]uint32) []column {
	c := &l.coding
	chunks := c.nameChunkCount + c.qualChunkCount
	quals := buffer{ptr: c.coded.ptr + cu.DevicePtr(c.qualsBegin)}
	return []column{
		{&to.names, &c.coded, int(info[infoCodedNames]), c.nameChunkCount > 0},
		{&to.quals, &quals, int(info[infoCodedQuals]), c.qualChunkCount > 0},
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
