package binning

import (
	"math"

	"orcomgo/bins/record"
)

// foldLines describes lines (length << 1 | CR) in the shortest way that Form has:
// one line by nothing, no lines or even ones by a width, others by themselves. For all but
// the last it sets a bit of cr as the lines end. What it returns may be lines.
func foldLines(lines []uint32, cr *uint8, bit uint8) (width uint32, _ []uint32) {
	if len(lines) == 0 {
		// A width gives no lines for no letters. The bit means nothing; as the name's it
		// makes the record like others.
		if *cr&1 != 0 {
			*cr |= bit
		}
		return math.MaxUint32, nil
	}
	first, last := lines[0], lines[len(lines)-1]
	even := first>>1 > 0 || len(lines) == 1
	for _, n := range lines[:len(lines)-1] {
		even = even && n == first
	}
	if len(lines) > 1 {
		even = even && last>>1 > 0 && last>>1 <= first>>1 && last&1 == first&1
	}
	if !even {
		return 0, lines
	}
	if first&1 != 0 {
		*cr |= bit
	}
	if len(lines) == 1 {
		return 0, nil
	}
	return first >> 1, nil
}

// formList collects the forms of a block's records in little memory.
type formList struct {
	size  int // of the odd ones in bytes, about, here and in a bins.Forms
	all   list[shortForm]
	odd   list[recordForm]
	tails []string // the different ones; the first is empty
	index map[string]uint32

	wrapped bool // some record has a width
}

// shortForm is a form without texts and lists of lines.
type shortForm struct {
	cr, plus            uint8
	noNewline           bool
	tail                uint32 // index of tails
	odd                 uint32 // index of odd + 1; 0 for none
	seqWidth, qualWidth uint32
	letters             uint32
}

// recordForm is what a shortForm can't hold.
type recordForm struct {
	plusText            string
	seqLines, qualLines []uint32
}

func (l *formList) add(r *record.Form, letters int) {
	s := shortForm{cr: r.CR, plus: uint8(r.Plus), noNewline: r.NoNewline,
		seqWidth: r.SeqWidth, qualWidth: r.QualWidth, letters: uint32(letters)}
	if r.Tail != "" {
		s.tail = l.tailIndex(r.Tail)
	}
	if r.PlusText != "" || r.SeqLines != nil || r.QualLines != nil {
		l.odd.add(recordForm{r.PlusText, r.SeqLines, r.QualLines})
		s.odd = uint32(l.odd.n)
		l.size += 256 + len(r.PlusText) + 4*len(r.SeqLines) + 4*len(r.QualLines)
	}
	l.wrapped = l.wrapped || s.seqWidth|s.qualWidth != 0
	l.all.add(s)
}

func (l *formList) tailIndex(tail string) uint32 {
	if n := l.all.n; n > 0 {
		if i := l.all.at(n - 1).tail; i > 0 && l.tails[i] == tail {
			return i
		}
	}
	if l.index == nil {
		l.tails, l.index = []string{""}, make(map[string]uint32)
	}
	i, ok := l.index[tail]
	if !ok {
		i = uint32(len(l.tails))
		l.tails = append(l.tails, tail)
		l.index[tail] = i
	}
	return i
}

// record returns the form of a record.
func (l *formList) record(s *shortForm) record.Form {
	r := record.Form{CR: s.cr, Plus: record.Plus(s.plus), SeqWidth: s.seqWidth, QualWidth: s.qualWidth, NoNewline: s.noNewline}
	if s.tail > 0 {
		r.Tail = l.tails[s.tail]
	}
	if s.odd > 0 {
		o := l.odd.at(int(s.odd) - 1)
		r.PlusText, r.SeqLines, r.QualLines = o.plusText, o.seqLines, o.qualLines
	}
	return r
}

// forms returns those of the block: the commonest one as default. A record of one
// line no longer than the commonest width, or of no line, is given that width.
func (l *formList) forms() record.Forms {
	if l.wrapped {
		l.commonWidth(func(s *shortForm) *uint32 { return &s.seqWidth }, func(o *recordForm) bool { return o.seqLines != nil })
		l.commonWidth(func(s *shortForm) *uint32 { return &s.qualWidth }, func(o *recordForm) bool { return o.qualLines != nil })
	}
	plain := func(s *shortForm) shortForm {
		k := *s
		k.letters = 0
		return k
	}
	var common commonest[shortForm]
	for i := range l.all.n {
		if s := l.all.at(i); s.odd == 0 && !s.noNewline {
			common.add(plain(s))
		}
	}
	best, n := common.best()
	out := record.Forms{Default: l.record(&best)}
	if n == l.all.n {
		return out
	}
	out.Exceptions = make([]record.FormException, 0, l.all.n-n)
	for i := range l.all.n {
		if s := l.all.at(i); plain(s) != best {
			out.Exceptions = append(out.Exceptions, record.FormException{Read: uint32(i), Form: l.record(s)})
		}
	}
	return out
}

// commonWidth finds the commonest width and gives it to all records that it describes as well.
func (l *formList) commonWidth(width func(*shortForm) *uint32, listed func(*recordForm) bool) {
	var common commonest[uint32]
	for i := range l.all.n {
		if w := *width(l.all.at(i)); w != 0 && w != math.MaxUint32 {
			common.add(w)
		}
	}
	best, _ := common.best()
	for i := range l.all.n {
		s := l.all.at(i)
		w := width(s)
		switch {
		case s.odd > 0 && listed(l.odd.at(int(s.odd)-1)):
		case *w == math.MaxUint32:
			*w = max(best, 1)
		case *w == 0 && best > 0 && s.letters > 0 && s.letters <= best:
			*w = best
		}
	}
}

// commonest finds the value that is added most often, of equally common ones the one that
// was first to be added so often. Equal values in a row are counted together.
type commonest[T comparable] struct {
	counts map[T]int
	value  T // that was added last
	run    int
	top    T
	most   int
}

func (c *commonest[T]) add(v T) {
	if c.run > 0 && v != c.value {
		c.count()
	}
	c.value = v
	c.run++
}

func (c *commonest[T]) count() {
	if c.counts == nil {
		c.counts = make(map[T]int)
	}
	n := c.counts[c.value] + c.run
	c.counts[c.value], c.run = n, 0
	if n > c.most {
		c.top, c.most = c.value, n
	}
}

// best returns the value and how often it was added; zero of none.
func (c *commonest[T]) best() (T, int) {
	if c.run > 0 {
		c.count()
	}
	return c.top, c.most
}

// list is a slice that grows without being moved.
type list[T any] struct {
	parts [][]T
	n     int
}

const listPart = 1 << 13

func (l *list[T]) add(v T) {
	if l.n == 0 {
		l.parts = append(l.parts, nil) // the first part grows: most lists are short
	} else if l.n%listPart == 0 {
		l.parts = append(l.parts, make([]T, 0, listPart))
	}
	last := &l.parts[len(l.parts)-1]
	*last = append(*last, v)
	l.n++
}

func (l *list[T]) at(i int) *T { return &l.parts[i/listPart][i%listPart] }
