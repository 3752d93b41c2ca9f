//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	"math"
	"unsafe"
)

// recordGroups is how many thread blocks share the records of the records kernel, each of which
// reports once: enough to fill any GPU several times.
const recordGroups = 4096

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
	r := new(Result)
	if err := l.do(func() { l.bin(r, n, total, want, out) }); err != nil {
		return nil, err
	}
	return r, nil
}

func (l *Lane) bin(r *Result, n, total int, want Columns, out *Output) {
	*l.step() = C.STEP_NONE
	l.set(l.textAt(total), 0, textPad, "what is behind the text") // words are loaded
	l.sumText(total)
	r.NoNewline = l.endText(n)
	lines := l.findLines(n, r.NoNewline)
	if lines%4 != 0 {
		*r = Result{Unsupported: true, Record: -1}
		return
	}
	r.Records = lines / 4
	if l.assign(r.Records, n, want); l.err != nil {
		return
	}
	info := *l.infoWords()
	if info[C.INFO_BAD] != math.MaxUint32 {
		*r = Result{Unsupported: true, Record: int(info[C.INFO_BAD])}
		return
	}
	l.collect(r, info, total, want, out)
}

// endText waits for the uploads, sets the bytes around the first n bytes of the text as the kernels
// want them, and reports whether the last line lacks its '\n', which it adds.
func (l *Lane) endText(n int) (noNewline bool) {
	last := []byte{'\n'}
	l.download(last, l.textAt(n-1), "the end of the text")
	l.set(l.text.at(), 0, textPad, "what is before the text")
	l.set(l.textAt(n), 0, textPad, "what is behind the text")
	if noNewline = last[0] != '\n'; noNewline {
		l.set(l.textAt(n), '\n', 1, "the last line end")
	}
	return noNewline
}

// findLines finds the line ends of the first n bytes of the text, and of one more if the last line
// lacks its end.
func (l *Lane) findLines(n int, noNewline bool) int {
	if noNewline {
		n++
	}
	l.setWords(l.info.at(), 0, C.INFO_SLOTS, "counters")
	tiles := threadBlocks(n, C.LINE_TILE)
	for {
		l.launch(C.STEP_LINES, tiles, l.textAt(0), uint64(n), l.ends.at(), uint64(l.lineRoom), l.scanState(tiles), l.info.at())
		if l.readInfo(); l.err != nil {
			return 0
		}
		lines := int(l.infoWords()[C.INFO_LINES])
		if lines <= l.lineRoom {
			return lines
		}
		l.roomForLines(lines)
	}
}

// readInfo waits for the stream, and copies the info words that its kernels wrote.
func (l *Lane) readInfo() { l.download(bytesOf(l.infoWords()[:]), l.info.at(), "counters") }

// assign runs the kernels from the record table to the packed bases for n records.
func (l *Lane) assign(n, textLen int, want Columns) {
	l.roomForRecords(n)
	// A record with b bases takes 2b+6 bytes of text or more, so (b+3)/4 bytes of packed
	// bases are no more than an eighth of it and one.
	l.roomForColumns(textLen/8+n, 0, 0)
	text, ends, count := l.textAt(0), l.ends.at(), uint64(n)
	perWarp, perThread := threadBlocks(n, warps), threadBlocks(n, threads)
	l.setWords(l.infoSlot(0), 0, C.INFO_SLOTS, "counters")
	l.setWords(l.infoSlot(C.INFO_BAD), math.MaxUint32, 2, "counters") // and INFO_MIN_LEN
	l.setWords(l.infoSlot(C.INFO_CODE_AND), 255, 1, "counters")
	l.launch(C.STEP_RECORDS, min(perWarp, recordGroups), text, ends, count, l.lens.at(), l.nameAt.at(), l.codes.at(), l.info.at())
	l.launch(C.STEP_SIGNATURE, perWarp, text, ends, count, l.lens.at(), l.keyA.at(), l.place.at(), l.runs.at(), l.info.at())
	l.scan(l.runs.at(), n, l.infoSlot(C.INFO_EXCEPTIONS))
	l.sort(n, C.SORT_PASSES, [2]uint64{l.keyA.at(), l.keyB.at()}, [2]uint64{l.orderA.at(), l.orderB.at()}, &l.counts)
	l.launch(C.STEP_ARRANGE, perThread, l.keyA.at(), l.orderA.at(), count, l.lens.at(), l.place.at(), l.storedPlace.at(),
		l.packedAt.at(), l.basesAt.at(), l.binAt.at())
	l.scan(l.packedAt.at(), n, l.infoSlot(C.INFO_PACKED))
	l.scan(l.basesAt.at(), n, l.infoSlot(C.INFO_BASES))
	l.scan(l.binAt.at(), n, l.infoSlot(C.INFO_BINS))
	l.launch(C.STEP_BIN_STARTS, perThread, l.keyA.at(), count, l.binAt.at(), l.basesAt.at(), l.bins.at())
	l.launch(C.STEP_PACK, perWarp, text, ends, count, l.orderA.at(), l.lens.at(), l.storedPlace.at(), l.packedAt.at(), l.packed.at())
	if want.gathersNames() {
		l.scan(l.nameAt.at(), n, l.infoSlot(C.INFO_NAMES))
	}
	if want.Quals {
		l.move(l.qualAt.at(), l.lens.at(), 4*n, "the lengths")
		l.scan(l.qualAt.at(), n, l.infoSlot(C.INFO_SCRATCH))
	}
	l.readInfo()
}

// collect runs the kernels whose output sizes are known only now, and copies all columns back.
func (l *Lane) collect(r *Result, info [C.INFO_SLOTS]uint32, total int, want Columns, out *Output) {
	n := r.Records
	r.Bases = uint64(info[C.INFO_BASES])
	r.MinLen, r.MaxLen = info[C.INFO_MIN_LEN], info[C.INFO_MAX_LEN]
	r.Code = byte(info[C.INFO_CODE_OR])
	runs := int(info[C.INFO_EXCEPTIONS])
	names, quals := 0, 0
	if want.gathersNames() {
		names = int(info[C.INFO_NAMES])
	}
	if want.Quals {
		quals = int(info[C.INFO_BASES])
	}
	l.roomForColumns(0, names, quals)
	l.grow(&l.exceptions, 16*runs+16, "exceptions")
	text := l.textAt(0)
	if runs > 0 {
		l.launch(C.STEP_EXCEPTIONS, threadBlocks(n, warps), text, l.ends.at(), uint64(n), l.lens.at(), l.runs.at(), uint64(runs),
			l.exceptions.at())
	}
	if want.gathersNames() || want.Quals {
		var nameText, qualText uint64
		if want.gathersNames() {
			nameText = l.nameText.at()
		}
		if want.Quals {
			qualText = l.qualText.at()
		}
		l.launch(C.STEP_COLUMNS, threadBlocks(n, warps), text, l.ends.at(), uint64(n), l.lens.at(), l.nameAt.at(), l.qualAt.at(),
			uint64(names), nameText, qualText)
	}
	if want.Quals && want.Map {
		l.launch(C.STEP_MAP_QUALS, threadBlocks(quals, 16*threads), l.qualText.at(), uint64(quals), l.table.at())
	}
	var coded codedColumns
	var codedCopies []column
	if want.Coded {
		codedNames := 0
		if want.Names {
			codedNames = names
		}
		l.code(n, codedNames, quals)
		if l.readInfo(); l.err != nil {
			return
		}
		codedCopies = l.copies(&coded, l.infoWords())
	}
	var order, place, lens, bins, exceptions []byte
	columns := []column{
		{&order, &l.orderA, 4 * n, true},
		{&place, &l.storedPlace, 4 * n, true},
		{&lens, &l.lens, 4 * n, r.MinLen != r.MaxLen},
		{&r.Codes, &l.codes, n, info[C.INFO_CODE_AND] != info[C.INFO_CODE_OR]},
		{&bins, &l.bins, 12 * int(info[C.INFO_BINS]), true},
		{&r.Packed, &l.packed, int(info[C.INFO_PACKED]), true},
		{&exceptions, &l.exceptions, 16 * runs, true},
		{&r.Names, &l.nameText, names, want.RawNames || want.Names && !want.Coded},
		{&r.Quals, &l.qualText, quals, want.Quals && !want.Coded},
		{&r.TextSums, &l.coding.sums, 8 * threadBlocks(total, C.SUM_CHUNK), true},
	}
	if l.downloadAll(append(columns, codedCopies...), out); l.err != nil {
		return
	}
	r.Order, r.Place, r.Lengths = view[uint32](order), view[uint32](place), view[uint32](lens)
	r.Bins, r.Exceptions = view[BinStart](bins), view[Exception](exceptions)
	if want.Coded {
		l.setCoded(r, want, &coded)
	}
}

// A column is device memory that is copied to pinned memory.
type column struct {
	to   *[]byte
	from *buffer
	n    int
	want bool
}

// downloadAll copies the wanted columns to out and waits for them.
func (l *Lane) downloadAll(columns []column, out *Output) {
	const align = 64
	total := 0
	for _, c := range columns {
		if c.want {
			total += (c.n + align - 1) / align * align
		}
	}
	if l.err == nil {
		l.err = out.room(l.dev, total)
	}
	if l.err != nil {
		return
	}
	at := 0
	for _, c := range columns {
		if c.want {
			*c.to = out.mem[at : at+c.n : at+c.n]
			at += (c.n + align - 1) / align * align
			l.fetch(*c.to, c.from.at(), "columns")
		}
	}
	l.wait()
}

// view returns pinned memory as values of a plain type.
func view[T uint32 | uint64 | BinStart | Exception](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(t)))
}

// gathersNames reports whether the names are needed on the device.
func (c Columns) gathersNames() bool { return c.Names || c.RawNames }
