package columns

import (
	"bytes"
	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
)

// MarkEvery is how far apart the records are whose offsets a loaded block remembers.
const MarkEvery = 1 << 12

// Block is a block of the bins without its names, qualities and exceptions, which are read for a slice at a time: with those, blocks would
// take more memory than all else. Marks say where those of a record are.
type Block struct {
	bins.Block
	letters   bool // the reads are there as they are stored, and their letters are wanted
	Number    int
	From      columnReader
	nameMarks []uint64 // where the name of record i*MarkEvery begins, and where the names end
	baseMarks []int    // bases before record i*MarkEvery, where lengths vary
	// Where the exceptions of record i*MarkEvery and the following ones begin, and where they end; nil if there are none.
	exceptionMarks []bins.ExceptionMark
}

// columnReader reads from names, qualities and exceptions of blocks what a slice needs; a bins.Reader is one.
type columnReader interface {
	NameMarks(block, every int) ([]uint64, error)
	ReadNames(block int, from, to uint64, dst []byte) ([]byte, error)
	ReadQuals(block int, from, to uint64, dst []byte) ([]byte, error)
	ExceptionMarks(block, every int, lengths *record.Lengths) ([]bins.ExceptionMark, error)
	ReadExceptions(block int, from, to bins.ExceptionMark, lengths *record.Lengths, f func(e record.Exception) error) error
}

// Mark fills in the marks.
func (l *Block) Mark(k Kept) (err error) {
	if k[archive.Names] {
		if l.nameMarks, err = l.From.NameMarks(l.Number, MarkEvery); err != nil {
			return err
		}
	}
	if k[archive.Seqs] {
		if l.exceptionMarks, err = l.From.ExceptionMarks(l.Number, MarkEvery, &l.Lengths); err != nil {
			return err
		}
	}
	if l.Lengths.Each != nil {
		at := 0
		for i, n := range l.Lengths.Each {
			if i%MarkEvery == 0 {
				l.baseMarks = append(l.baseMarks, at)
			}
			at += int(n)
		}
	}
	return nil
}

// nameMark returns where in the block the name of record mark*MarkEvery begins, or where the names end.
func (l *Block) nameMark(mark int) uint64 { return l.nameMarks[min(mark, len(l.nameMarks)-1)] }

// appendNames appends the names of records lo..hi-1, each followed by '\n', to dst; lo < hi.
func (l *Block) appendNames(dst []byte, lo, hi int) ([]byte, error) {
	first, last := lo/MarkEvery, hi/MarkEvery // marks at or before lo and hi
	text, err := l.From.ReadNames(l.Number, l.nameMark(first), l.nameMark(last+1), dst[len(dst):])
	if err != nil {
		return nil, err
	}
	end := len(text)
	if hi < l.Records {
		end = int(l.nameMark(last) - l.nameMark(first))
		end += AfterNames(text[end:], hi-last*MarkEvery)
	}
	return append(dst, text[AfterNames(text, lo-first*MarkEvery):end]...), nil
}

// AfterNames returns where n names of text end.
func AfterNames(text []byte, n int) int {
	at := 0
	for range n {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	return at
}

// appendQuals appends the qualities of records lo..hi-1 to dst.
func (l *Block) appendQuals(dst []byte, lo, hi int) ([]byte, error) {
	q, err := l.From.ReadQuals(l.Number, uint64(l.baseOffset(lo)), uint64(l.baseOffset(hi)), dst[len(dst):])
	if err != nil {
		return nil, err
	}
	return append(dst, q...), nil
}

// Exceptions calls f with the exceptions of records lo..hi-1.
func (l *Block) Exceptions(lo, hi int, f func(e record.Exception) error) error {
	if l.exceptionMarks == nil || lo == hi {
		return nil
	}
	from, to := l.exceptionMarks[lo/MarkEvery], l.exceptionMarks[(hi+MarkEvery-1)/MarkEvery]
	return l.From.ReadExceptions(l.Number, from, to, &l.Lengths, func(e record.Exception) error {
		if int(e.Read) < lo || int(e.Read) >= hi {
			return nil
		}
		return f(e)
	})
}

// baseOffset returns how many bases, and so qualities, come before record i; i may be Records.
func (l *Block) baseOffset(i int) int {
	if l.Lengths.Each == nil || i == 0 {
		return i * int(l.Lengths.Fixed)
	}
	mark := (i - 1) / MarkEvery
	return l.baseMarks[mark] + int(l.Lengths.Sum(mark*MarkEvery, i))
}

// stretch is records lo..hi-1 of a block.
type stretch struct {
	b      *Block
	lo, hi int
}
