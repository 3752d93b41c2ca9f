//go:build cuda

package cudakern

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"gorgonia.org/cu"
)

// Bin sorts the reads of the block by (signature, ordinal). Its records are the first n bytes of what
// was uploaded; the last line may lack the '\n'. Its text may be longer: total bytes, of which
// those after the records are only summed. Afterwards they are lost. The result's columns are in
// out, which grows as needed.
func (l *Lane) Bin(n, total int, want Columns, out *Output) (*Result, error) {
	if n > MaxText {
		return &Result{Unsupported: true, Record: -1}, nil
	}
	if n == 0 {
		return &Result{}, nil
	}
	leave, err := l.dev.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	l.setStep(kernelNone)
	if err := l.events[evBegin].Record(l.stream); err != nil {
		return nil, l.fault(err)
	}
	if err := cu.MemsetD8Async(l.textAt(total), 0, textPad, l.stream); err != nil { // words are loaded
		return nil, l.fault(err)
	}
	if err := l.sumText(total); err != nil {
		return nil, err
	}
	noNewline, err := l.endText(n)
	if err != nil {
		return nil, err
	}
	lines, err := l.findLines(n, noNewline)
	if err != nil {
		return nil, err
	}
	if lines%4 != 0 {
		return &Result{Unsupported: true, Record: -1}, nil
	}
	r := &Result{Records: lines / 4, NoNewline: noNewline}
	if err := l.assign(r.Records, n, want); err != nil {
		return nil, err
	}
	info := *l.infoWords()
	if info[infoBad] != math.MaxUint32 {
		return &Result{Unsupported: true, Record: int(info[infoBad])}, nil
	}
	if err := l.collect(r, info, total, want, out); err != nil {
		return nil, err
	}
	return r, l.times(r)
}

// endText waits for the uploads, sets the bytes around the first n bytes of the text as the kernels
// want them, and reports whether the last line lacks its '\n', which it adds.
func (l *Lane) endText(n int) (noNewline bool, err error) {
	last := make([]byte, 1)
	if err := l.readText(last, n-1); err != nil {
		return false, err
	}
	noNewline = last[0] != '\n'
	after := l.textAt(n)
	if err := errors.Join(
		cu.MemsetD8Async(l.text.ptr, 0, textPad, l.stream),
		cu.MemsetD8Async(after, 0, textPad, l.stream),
	); err != nil {
		return false, l.fault(err)
	}
	if noNewline {
		err = cu.MemsetD8Async(after, '\n', 1, l.stream)
	}
	if err != nil {
		return false, l.fault(err)
	}
	return noNewline, nil
}

// findLines finds the line ends of the first n bytes of the text, and of one more if the last line
// lacks its end.
func (l *Lane) findLines(n int, noNewline bool) (int, error) {
	if noNewline {
		n++
	}
	if err := cu.MemsetD32Async(l.info.ptr, 0, infoSlots, l.stream); err != nil {
		return 0, l.fault(err)
	}
	tiles := threadBlocks(n, lineTile)
	for {
		if err := l.clearState(tiles + 1); err != nil {
			return 0, err
		}
		state, err := l.tileState(tiles)
		if err != nil {
			return 0, err
		}
		if err := l.launch(kernelLines, tiles, uint64(l.textAt(0)), uint64(n), l.ends.at(), uint64(l.lineRoom), state, l.info.at()); err != nil {
			return 0, err
		}
		if err := l.events[evLines].Record(l.stream); err != nil {
			return 0, l.fault(err)
		}
		if err := l.readInfo(); err != nil {
			return 0, err
		}
		lines := int(l.infoWords()[infoLines])
		if lines <= l.lineRoom {
			return lines, nil
		}
		if err := l.roomForLines(lines); err != nil {
			return 0, err
		}
	}
}

// readInfo waits for the stream, and copies the info words that its kernels wrote.
func (l *Lane) readInfo() error {
	if err := cu.MemcpyDtoHAsync(unsafe.Pointer(l.infoWords()), l.info.ptr, 4*infoSlots, l.stream); err != nil {
		return l.fault(err)
	}
	if err := l.stream.Synchronize(); err != nil {
		return l.fault(err)
	}
	return nil
}

// assign runs the kernels from the record table to the packed bases for n records.
func (l *Lane) assign(n, textLen int, want Columns) error {
	if err := l.roomForRecords(n); err != nil {
		return err
	}
	// A record with b bases takes 2b+6 bytes of text or more, so (b+3)/4 bytes of packed
	// bases are no more than an eighth of it and one.
	if err := l.roomForColumns(textLen/8+n, 0, 0); err != nil {
		return err
	}
	scans := threadBlocks(n, scanTile) + 1
	sorts := threadBlocks(digits*threadBlocks(n, sortTile), scanTile) + 1
	if err := l.counts.grow(4*digits*threadBlocks(n, sortTile)+64, "sort counts"); err != nil {
		return err
	}
	if err := l.clearState(6*scans + 2*sorts); err != nil {
		return err
	}
	text := uint64(l.textAt(0))
	ends, count := l.ends.at(), uint64(n)
	perWarp, perThread := threadBlocks(n, warps), threadBlocks(n, threads)
	slot := func(i int) cu.DevicePtr { return l.info.ptr + cu.DevicePtr(4*i) }
	if err := errors.Join(
		cu.MemsetD32Async(slot(0), 0, infoSlots, l.stream),
		cu.MemsetD32Async(slot(infoBad), math.MaxUint32, 2, l.stream), // and infoMinLen
		cu.MemsetD32Async(slot(infoCodeAnd), 255, 1, l.stream),
		l.events[evTable].Record(l.stream),
	); err != nil {
		return l.fault(err)
	}
	steps := []func() error{
		func() error {
			return l.launch(kernelRecords, min(perWarp, recordGroups), text, ends, count, l.lens.at(), l.nameAt.at(), l.codes.at(), l.info.at())
		},
		func() error {
			return l.launch(kernelSignature, perWarp, text, ends, count, l.lens.at(), l.keyA.at(), l.place.at(), l.runs.at(), l.info.at())
		},
		func() error { return l.scan(l.runs, n, infoExceptions) },
		func() error { return l.sort(n, l.keyA, l.keyB, l.orderA, l.orderB) },
		func() error {
			return l.launch(kernelArrange, perThread, l.keyA.at(), l.orderA.at(), count, l.lens.at(), l.place.at(), l.storedPlace.at(),
				l.packedAt.at(), l.basesAt.at(), l.binAt.at())
		},
		func() error { return l.scan(l.packedAt, n, infoPacked) },
		func() error { return l.scan(l.basesAt, n, infoBases) },
		func() error { return l.scan(l.binAt, n, infoBins) },
		func() error {
			return l.launch(kernelBinStarts, perThread, l.keyA.at(), count, l.binAt.at(), l.basesAt.at(), l.bins.at())
		},
		func() error {
			return l.launch(kernelPack, perWarp, text, ends, count, l.orderA.at(), l.lens.at(), l.storedPlace.at(), l.packedAt.at(), l.packed.at())
		},
		func() error {
			if !want.gathersNames() {
				return nil
			}
			return l.scan(l.nameAt, n, infoNames)
		},
		func() error {
			if !want.Quals {
				return nil
			}
			if err := cu.MemcpyAsync(l.qualAt.ptr, l.lens.ptr, int64(4*n), l.stream); err != nil {
				return l.fault(err)
			}
			return l.scan(l.qualAt, n, infoScratch)
		},
		func() error { return cudaError("an event", l.events[evStored].Record(l.stream)) },
		l.readInfo,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// collect runs the kernels whose output sizes are known only now, and copies all columns back.
func (l *Lane) collect(r *Result, info [infoSlots]uint32, total int, want Columns, out *Output) error {
	n := r.Records
	r.Bases = uint64(info[infoBases])
	r.MinLen, r.MaxLen = info[infoMinLen], info[infoMaxLen]
	r.Code = byte(info[infoCodeOr])
	runs := int(info[infoExceptions])
	names, quals := 0, 0
	if want.gathersNames() {
		names = int(info[infoNames])
	}
	if want.Quals {
		quals = int(info[infoBases])
	}
	if err := l.roomForColumns(0, names, quals); err != nil {
		return err
	}
	if err := l.exceptions.grow(16*runs+16, "exceptions"); err != nil {
		return err
	}
	if err := l.events[evColumns].Record(l.stream); err != nil {
		return l.fault(err)
	}
	text := uint64(l.textAt(0))
	if runs > 0 {
		if err := l.launch(kernelExceptions, threadBlocks(n, warps), text, l.ends.at(), uint64(n), l.lens.at(), l.runs.at(), uint64(runs),
			l.exceptions.at()); err != nil {
			return err
		}
	}
	if want.gathersNames() || want.Quals {
		var nameText, qualText uint64
		if want.gathersNames() {
			nameText = l.nameText.at()
		}
		if want.Quals {
			qualText = l.qualText.at()
		}
		if err := l.launch(kernelColumns, threadBlocks(n, warps), text, l.ends.at(), uint64(n), l.lens.at(), l.nameAt.at(), l.qualAt.at(),
			uint64(names), nameText, qualText); err != nil {
			return err
		}
	}
	if want.Quals && want.Map {
		if err := l.launch(kernelMapQuals, threadBlocks(quals, 16*threads), l.qualText.at(), uint64(quals), l.table.at()); err != nil {
			return err
		}
	}
	if want.Coded {
		codedNames := 0
		if want.Names {
			codedNames = names
		}
		if err := l.code(n, codedNames, quals); err != nil {
			return err
		}
	}
	if err := l.events[evGathered].Record(l.stream); err != nil {
		return l.fault(err)
	}
	var coded codedColumns
	var codedCopies []column
	if want.Coded {
		if err := l.readInfo(); err != nil {
			return err
		}
		codedCopies = l.copies(&coded, l.infoWords())
	}
	var sums []byte
	var order, place, lens, codes, bins, packed, exceptions, nameText, qualText []byte
	columns := []column{
		{&order, &l.orderA, 4 * n, true},
		{&place, &l.storedPlace, 4 * n, true},
		{&lens, &l.lens, 4 * n, r.MinLen != r.MaxLen},
		{&codes, &l.codes, n, info[infoCodeAnd] != info[infoCodeOr]},
		{&bins, &l.bins, 12 * int(info[infoBins]), true},
		{&packed, &l.packed, int(info[infoPacked]), true},
		{&exceptions, &l.exceptions, 16 * runs, true},
		{&nameText, &l.nameText, names, want.RawNames || want.Names && !want.Coded},
		{&qualText, &l.qualText, quals, want.Quals && !want.Coded},
		{&sums, &l.coding.sums, 8 * threadBlocks(total, sumChunk), true},
	}
	if err := l.download(r, append(columns, codedCopies...), out); err != nil {
		return err
	}
	r.Order, r.Place, r.Lengths = view[uint32](order), view[uint32](place), view[uint32](lens)
	r.Bins, r.Exceptions = view[BinStart](bins), view[Exception](exceptions)
	r.Codes, r.Packed = codes, packed
	r.Names, r.Quals, r.TextSums = nameText, qualText, sums
	if want.Coded {
		l.setCoded(r, want, &coded)
	}
	return nil
}

// A column is device memory that is copied to pinned memory.
type column struct {
	to   *[]byte
	from *buffer
	n    int
	want bool
}

// download copies the wanted columns to out and waits for them.
func (l *Lane) download(r *Result, columns []column, out *Output) error {
	const align = 64
	total := 0
	for _, c := range columns {
		if c.want {
			total += (c.n + align - 1) / align * align
		}
	}
	if err := out.room(l.dev, total); err != nil {
		return err
	}
	at := 0
	for _, c := range columns {
		if !c.want {
			continue
		}
		*c.to = out.mem[at : at+c.n : at+c.n]
		at += (c.n + align - 1) / align * align
		if c.n == 0 {
			continue
		}
		if err := cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(*c.to)), c.from.ptr, int64(c.n), l.stream); err != nil {
			return l.fault(err)
		}
		r.DownloadBytes += uint64(c.n)
	}
	if err := l.events[evDone].Record(l.stream); err != nil {
		return l.fault(err)
	}
	if err := l.stream.Synchronize(); err != nil {
		return l.fault(err)
	}
	return nil
}

// view returns pinned memory as values of a plain type.
func view[T uint32 | uint64 | BinStart | Exception](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(t)))
}

// times computes from the stream's events what the device spent on the block.
func (l *Lane) times(r *Result) error {
	between := func(from, to int, add *float64) error {
		t, err := l.events[from].Elapsed(l.events[to])
		if err != nil {
			return fmt.Errorf("reading a CUDA event: %w", err)
		}
		*add += t
		return nil
	}
	return errors.Join(
		between(evBegin, evLines, &r.KernelMS),
		between(evTable, evStored, &r.KernelMS),
		between(evColumns, evGathered, &r.KernelMS),
		between(evGathered, evDone, &r.DownloadMS))
}

// gathersNames reports whether the names are needed on the device.
func (c Columns) gathersNames() bool { return c.Names || c.RawNames }
