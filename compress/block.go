package compress

import (
	"bytes"
	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
)

// markEvery is how far apart the records are whose offsets a loaded block remembers.
const markEvery = 1 << 12

// loaded is a block of the bins without its names, qualities and exceptions, which are read for a slice at a time: with those, blocks would
// take more memory than all else. Marks tell where those of a record are.
type loaded struct {
	bins.Block
	letters   bool // the reads are there as they are stored, and their letters are wanted
	number    int
	from      columnReader
	nameMarks []uint64 // where the name of record i*markEvery begins, and where the names end
	baseMarks []int    // bases before record i*markEvery, where lengths vary
	// Where the exceptions of record i*markEvery and the following ones begin, and where they end; nil if there are none.
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

// mark fills in the marks.
func (l *loaded) mark(k keeps) (err error) {
	if k[archive.Names] {
		if l.nameMarks, err = l.from.NameMarks(l.number, markEvery); err != nil {
			return err
		}
	}
	if k[archive.Seqs] {
		if l.exceptionMarks, err = l.from.ExceptionMarks(l.number, markEvery, &l.Lengths); err != nil {
			return err
		}
	}
	if l.Lengths.Each != nil {
		at := 0
		for i, n := range l.Lengths.Each {
			if i%markEvery == 0 {
				l.baseMarks = append(l.baseMarks, at)
			}
			at += int(n)
		}
	}
	return nil
}

// nameMark returns where in the block the name of record mark*markEvery begins, or where the names end.
func (l *loaded) nameMark(mark int) uint64 { return l.nameMarks[min(mark, len(l.nameMarks)-1)] }

// namesRoom returns how much room appendNames needs so that it takes no other memory: the names from the mark before record lo to the one
// after hi.
func (l *loaded) namesRoom(lo, hi int) int {
	return int(l.nameMark(hi/markEvery+1) - l.nameMark(lo/markEvery))
}

// appendNames appends the names of records lo..hi-1, each followed by '\n', to dst; lo < hi.
func (l *loaded) appendNames(dst []byte, lo, hi int) ([]byte, error) {
	first, last := lo/markEvery, hi/markEvery // marks at or before lo and hi
	text, err := l.from.ReadNames(l.number, l.nameMark(first), l.nameMark(last+1), dst[len(dst):])
	if err != nil {
		return nil, err
	}
	end := len(text)
	if hi < l.Records {
		end = int(l.nameMark(last) - l.nameMark(first))
		end += afterNames(text[end:], hi-last*markEvery)
	}
	return append(dst, text[afterNames(text, lo-first*markEvery):end]...), nil
}

// afterNames returns where n names of text end.
func afterNames(text []byte, n int) int {
	at := 0
	for range n {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	return at
}

// appendQuals appends the qualities of records lo..hi-1 to dst.
func (l *loaded) appendQuals(dst []byte, lo, hi int) ([]byte, error) {
	q, err := l.from.ReadQuals(l.number, uint64(l.baseOffset(lo)), uint64(l.baseOffset(hi)), dst[len(dst):])
	if err != nil {
		return nil, err
	}
	return append(dst, q...), nil
}

// exceptions calls f with the exceptions of records lo..hi-1.
func (l *loaded) exceptions(lo, hi int, f func(e record.Exception) error) error {
	if l.exceptionMarks == nil || lo == hi {
		return nil
	}
	from, to := l.exceptionMarks[lo/markEvery], l.exceptionMarks[(hi+markEvery-1)/markEvery]
	return l.from.ReadExceptions(l.number, from, to, &l.Lengths, func(e record.Exception) error {
		if int(e.Read) < lo || int(e.Read) >= hi {
			return nil
		}
		return f(e)
	})
}

// baseOffset returns how many bases, and so qualities, come before record i; i may be Records.
func (l *loaded) baseOffset(i int) int {
	if l.Lengths.Each == nil || i == 0 {
		return i * int(l.Lengths.Fixed)
	}
	mark := (i - 1) / markEvery
	return l.baseMarks[mark] + int(l.Lengths.Sum(mark*markEvery, i))
}

// loadBlock loads a block, of an input whose columns are k, for a reader of names, qualities and exceptions; with its reads if these are wanted.
func loadBlock(r *bins.Reader, block int, k keeps, letters bool) (*loaded, error) {
	l := &loaded{from: r, number: block, letters: letters}
	if err := r.ReadColumns(block, k.fromBins(), &l.Block); err != nil {
		return nil, err
	}
	if letters {
		if err := r.ReadBins(block, 0, bins.NBin, &l.Block); err != nil {
			return nil, err
		}
	}
	return l, l.mark(k)
}
