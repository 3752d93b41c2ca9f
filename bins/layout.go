package bins

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"orcomgo/bins/parse"
)

// IsDefault reports whether l is the zero value: four lines, LF, nothing after '+'.
func (l *RecordLayout) IsDefault() bool {
	return l.CR == 0 && l.Plus == PlusEmpty && l.SeqWidth == 0 && l.QualWidth == 0 &&
		l.SeqLines == nil && l.QualLines == nil && !l.NoNewline && l.Tail == ""
}

// Equal reports whether two layouts give the same text.
func (l *RecordLayout) Equal(o *RecordLayout) bool {
	return l.CR == o.CR && l.Plus == o.Plus && l.PlusText == o.PlusText && l.SeqWidth == o.SeqWidth &&
		l.QualWidth == o.QualWidth && sameLines(l.SeqLines, o.SeqLines) && sameLines(l.QualLines, o.QualLines) &&
		l.NoNewline == o.NoNewline && l.Tail == o.Tail
}

// sameLines tells nil, which says that a width describes the lines, from no lines at all.
func sameLines(a, b []uint32) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) }

// IsDefault reports whether every record of the block has the default layout.
func (l *Layout) IsDefault() bool { return l.Default.IsDefault() && len(l.Exceptions) == 0 }

// Slice returns the layout of records from..to-1, numbered from 0. It shares memory with l.
func (l *Layout) Slice(from, to uint32) Layout {
	e := l.Exceptions
	lo := sort.Search(len(e), func(i int) bool { return e[i].Read >= from })
	hi := sort.Search(len(e), func(i int) bool { return e[i].Read >= to })
	s := Layout{Default: l.Default}
	if lo < hi {
		s.Exceptions = slices.Clone(e[lo:hi])
		for i := range s.Exceptions {
			s.Exceptions[i].Read -= from
		}
	}
	return s
}

// The first byte of a record's layout: CR in bits 0-3, Plus in 4-5, and these.
const (
	layoutNoNewline = 1 << 6
	layoutMore      = 1 << 7 // a second byte follows, with these bits
	moreSeqWidth    = 1 << 0
	moreQualWidth   = 1 << 1
	moreSeqLines    = 1 << 2
	moreQualLines   = 1 << 3
	moreTail        = 1 << 4
)

// MarshalLayout appends a compact form of l to dst: nothing at all if it is the default.
func MarshalLayout(dst []byte, l *Layout) []byte {
	if l.IsDefault() {
		return dst
	}
	dst = appendRecordLayout(dst, &l.Default)
	dst = binary.AppendUvarint(dst, uint64(len(l.Exceptions)))
	next := uint32(0)
	for i := range l.Exceptions {
		e := &l.Exceptions[i]
		dst = binary.AppendUvarint(dst, uint64(e.Read-next))
		next = e.Read + 1
		dst = appendRecordLayout(dst, &e.RecordLayout)
	}
	return dst
}

func appendRecordLayout(dst []byte, l *RecordLayout) []byte {
	first, more := l.CR&15|byte(l.Plus)<<4, byte(0)
	if l.NoNewline {
		first |= layoutNoNewline
	}
	for _, x := range []struct {
		set bool
		bit byte
	}{
		{l.SeqWidth != 0, moreSeqWidth}, {l.QualWidth != 0, moreQualWidth},
		{l.SeqLines != nil, moreSeqLines}, {l.QualLines != nil, moreQualLines}, {l.Tail != "", moreTail},
	} {
		if x.set {
			more |= x.bit
		}
	}
	if more != 0 {
		dst = append(dst, first|layoutMore, more)
	} else {
		dst = append(dst, first)
	}
	if l.Plus == PlusText {
		dst = binary.AppendUvarint(dst, uint64(len(l.PlusText)))
		dst = append(dst, l.PlusText...)
	}
	if l.SeqWidth != 0 {
		dst = binary.AppendUvarint(dst, uint64(l.SeqWidth))
	}
	if l.QualWidth != 0 {
		dst = binary.AppendUvarint(dst, uint64(l.QualWidth))
	}
	for _, lines := range [][]uint32{l.SeqLines, l.QualLines} {
		if lines != nil {
			dst = binary.AppendUvarint(dst, uint64(len(lines)))
			for _, n := range lines {
				dst = binary.AppendUvarint(dst, uint64(n))
			}
		}
	}
	if l.Tail != "" {
		dst = binary.AppendUvarint(dst, uint64(len(l.Tail)))
		dst = append(dst, l.Tail...)
	}
	return dst
}

// UnmarshalLayout is the inverse of MarshalLayout for a block of the given number of
// records. Anything that MarshalLayout can't have made is ErrCorrupt.
func UnmarshalLayout(data []byte, records int) (Layout, error) {
	var l Layout
	if len(data) == 0 {
		return l, nil
	}
	c := parse.Cursor{Rest: data}
	ok := takeForm(&c, &l.Default)
	if n := c.Count(2, "records"); n > 0 && ok {
		l.Exceptions = make([]LayoutException, 0, min(n, 1<<16))
		next := uint64(0)
		for range n {
			var e LayoutException
			read := next + c.AtMost(uint64(records))
			if ok = takeForm(&c, &e.RecordLayout) && read < uint64(records); !ok {
				break
			}
			e.Read = uint32(read)
			next = read + 1
			l.Exceptions = append(l.Exceptions, e)
		}
	}
	if !ok || !c.Done() {
		return Layout{}, fmt.Errorf("%w: its layout makes no sense", parse.ErrCorrupt)
	}
	return l, nil
}

// takeForm takes a form off c, and reports whether it is one.
func takeForm(c *parse.Cursor, l *RecordLayout) bool {
	first, more := c.Byte(), byte(0)
	if first&layoutMore != 0 {
		more = c.Byte()
	}
	*l = RecordLayout{CR: first & 15, Plus: Plus(first >> 4 & 3), NoNewline: first&layoutNoNewline != 0}
	if l.Plus > PlusText {
		return false
	}
	if l.Plus == PlusText {
		l.PlusText = c.Text()
	}
	if more&moreSeqWidth != 0 {
		l.SeqWidth = uint32(c.AtMost(1<<32 - 1))
	}
	if more&moreQualWidth != 0 {
		l.QualWidth = uint32(c.AtMost(1<<32 - 1))
	}
	if more&moreSeqLines != 0 {
		l.SeqLines = takeLines(c)
	}
	if more&moreQualLines != 0 {
		l.QualLines = takeLines(c)
	}
	if more&moreTail != 0 {
		l.Tail = c.Text()
	}
	for i := 0; i < len(l.Tail); i++ {
		if x := l.Tail[i]; x != '\n' && (x != '\r' || i+1 == len(l.Tail) || l.Tail[i+1] != '\n') {
			return false
		}
	}
	return !c.Failed()
}

func takeLines(c *parse.Cursor) []uint32 {
	lines := make([]uint32, c.Count(1, "lines"))
	for i := range lines {
		lines[i] = uint32(c.AtMost(1<<32 - 1))
	}
	return lines
}
