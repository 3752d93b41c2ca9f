package record

import (
	"encoding/binary"
	"slices"
	"sort"

	"orcomgo/bins/parse"
)

// ExceptionList is a list of exceptions, ascending by (Read, Start), in four bytes or a few more each instead of the 16 of an
// Exception. The zero value is an empty list.
type ExceptionList struct {
	// data has for each exception the difference to the read before; its start, from the end of the exception before if that
	// is of the same read; its length; and its byte.
	data  []byte
	marks []exceptionMark
	count int
	at    exceptionState // after the last
}

// markBytes is how many bytes of data there are between two marks at least.
const markBytes = 128

// exceptionMark is where the first exception of a read begins.
type exceptionMark struct {
	at     int
	read   uint32
	before uint32 // the read of the exception before
}

// exceptionState is what the next exception is coded relative to.
type exceptionState struct{ read, end uint32 }

func (s exceptionState) append(dst []byte, e Exception) []byte {
	end := s.end
	if e.Read != s.read {
		end = 0
	}
	dst = binary.AppendUvarint(dst, uint64(e.Read-s.read))
	dst = binary.AppendUvarint(dst, uint64(e.Start-end))
	dst = binary.AppendUvarint(dst, uint64(e.Len))
	return append(dst, e.Byte)
}

// Append adds an exception, which must come after those of the list and not overlap them.
func (l *ExceptionList) Append(e Exception) {
	if n := len(l.marks); n == 0 || e.Read != l.at.read && len(l.data)-l.marks[n-1].at >= markBytes {
		l.marks = append(l.marks, exceptionMark{at: len(l.data), read: e.Read, before: l.at.read})
	}
	l.data = l.at.append(l.data, e)
	l.count++
	l.at = exceptionState{e.Read, e.Start + e.Len}
}

// AppendList adds the exceptions of another list, whose reads all come after those of the list.
func (l *ExceptionList) AppendList(o *ExceptionList) {
	c := o.From(0)
	e, ok := c.Next()
	if !ok {
		return
	}
	l.Append(e)
	// The others are coded relative to the first.
	shift := len(l.data) - c.at
	for _, m := range o.marks {
		if m.at >= c.at {
			m.at += shift
			l.marks = append(l.marks, m)
		}
	}
	l.data = append(l.data, o.data[c.at:]...)
	l.count += o.count - 1
	l.at = o.at
}

// Grow makes room for n more bytes of exceptions.
func (l *ExceptionList) Grow(n int) { l.data = slices.Grow(l.data, n) }

// Reset makes the list empty and keeps its memory.
func (l *ExceptionList) Reset() {
	*l = ExceptionList{data: l.data[:0], marks: l.marks[:0]}
}

// Len returns the number of exceptions.
func (l *ExceptionList) Len() int { return l.count }

// Empty reports whether the list has no exceptions.
func (l *ExceptionList) Empty() bool { return len(l.data) == 0 }

// End returns a number above those of all reads with exceptions, 0 if there are none.
func (l *ExceptionList) End() uint64 {
	if l.Empty() {
		return 0
	}
	return uint64(l.at.read) + 1
}

// Data returns the exceptions as the bins store them, in the list's memory.
func (l *ExceptionList) Data() []byte { return l.data }

// Memory returns how many bytes of memory the list takes.
func (l *ExceptionList) Memory() uint64 { return uint64(cap(l.data)) + 16*uint64(cap(l.marks)) }

// ExceptionCursor is a place in an ExceptionList, which must not be changed while it is used.
type ExceptionCursor struct {
	data []byte
	at   int
	last exceptionState
}

// From returns the place of the first exception of a read `read` or later.
func (l *ExceptionList) From(read uint32) ExceptionCursor {
	c := ExceptionCursor{data: l.data}
	if i := sort.Search(len(l.marks), func(i int) bool { return l.marks[i].read > read }); i > 0 {
		c.at, c.last.read = l.marks[i-1].at, l.marks[i-1].before
	}
	for {
		next := c
		if e, ok := next.Next(); !ok || e.Read >= read {
			return c
		}
		c = next
	}
}

// Next returns the exception at the cursor and moves on; false at the end.
func (c *ExceptionCursor) Next() (e Exception, ok bool) {
	if c.at == len(c.data) {
		return e, false
	}
	step, start, n := c.number(), c.number(), c.number()
	if step != 0 {
		c.last.end = 0
	}
	e = Exception{Read: c.last.read + step, Start: c.last.end + start, Len: n, Byte: c.data[c.at]}
	c.at++
	c.last = exceptionState{e.Read, e.Start + e.Len}
	return e, true
}

// number takes a number off data, which is well-formed.
func (c *ExceptionCursor) number() uint32 {
	if b := c.data[c.at]; b < 0x80 {
		c.at++
		return uint32(b)
	}
	v, n := parse.Uvarint(c.data[c.at:])
	c.at += n
	return uint32(v)
}

// All calls f with each exception.
func (l *ExceptionList) All(f func(e Exception) bool) {
	c := ExceptionCursor{data: l.data}
	for e, ok := c.Next(); ok && f(e); e, ok = c.Next() {
	}
}

// Of returns the exceptions of one read, in the memory of dst if that has room.
func (l *ExceptionList) Of(dst []Exception, read uint32) []Exception {
	dst = dst[:0]
	if len(l.data) == 0 {
		return dst
	}
	for c := l.From(read); ; {
		e, ok := c.Next()
		if !ok || e.Read != read {
			return dst
		}
		dst = append(dst, e)
	}
}

// ReadSet is a set of reads.
type ReadSet []uint64 // a bit for each

// Has reports whether a read is in the set.
func (s ReadSet) Has(read uint32) bool {
	return int(read/64) < len(s) && s[read/64]>>(read%64)&1 != 0
}

// Reads returns the reads that have exceptions. Asking the set first is much faster than asking Of where few reads have any.
func (l *ExceptionList) Reads() ReadSet {
	if l.Empty() {
		return nil
	}
	s := make(ReadSet, l.at.read/64+1)
	l.All(func(e Exception) bool {
		s[e.Read/64] |= 1 << (e.Read % 64)
		return true
	})
	return s
}

// Permute returns the exceptions of reads that come in another order, all or some: the i-th is read perm[i]. some is l.Reads().
func (l *ExceptionList) Permute(perm []uint32, some ReadSet) (s ExceptionList) {
	if l.Empty() {
		return s
	}
	var es []Exception
	for i, read := range perm {
		if !some.Has(read) {
			continue
		}
		es = l.Of(es, read)
		for _, e := range es {
			e.Read = uint32(i)
			s.Append(e)
		}
	}
	return s
}

// ExceptionParser reads exceptions as the bins store them, piece after piece.
type ExceptionParser struct {
	last exceptionState
}

// ParserAt returns a parser for the exceptions that come after one of read `before`, and begin with those of another read.
func ParserAt(before uint32) ExceptionParser {
	return ExceptionParser{last: exceptionState{read: before}}
}

// MaxException is how many bytes an exception takes at most as the bins store it.
const MaxException = 3*5 + 1

// Next takes an exception off the beginning of data, and returns how many bytes it had. It fails if it does not belong to one of so many
// reads with those lengths, or if data ends within it.
func (p *ExceptionParser) Next(data []byte, reads int, lengths *Lengths) (e Exception, size int, ok bool) {
	c := parse.Cursor{Rest: data}
	step := c.AtMost(uint64(reads))
	read, end := uint64(p.last.read)+step, uint64(p.last.end)
	if step > 0 {
		end = 0
	}
	start := end + c.AtMost(1<<32)
	n := c.AtMost(1 << 32)
	end = start + n
	e = Exception{Read: uint32(read), Start: uint32(start), Len: uint32(n), Byte: c.Byte()}
	if c.Failed() || n == 0 || read >= uint64(reads) || end > uint64(lengths.Of(int(read))) || !ExceptionByte(e.Byte) {
		return e, 0, false
	}
	p.last = exceptionState{e.Read, uint32(end)}
	return e, len(data) - len(c.Rest), true
}
