package compress

import (
	"bytes"
	"slices"

	"orcomgo/bins/record"
)

// columns are the records of one input in a slice, in the order in which they are
// delivered. Byte slices may belong to a block and must not be changed.
type columns struct {
	input      int
	from       uint64   // the slice starts here in the input; record i is from+perm[i]
	perm       []uint32 // nil: input order
	run        []uint32 // the run of which perm is what stands from at on, where there is one
	at         int
	records    int
	lengths    []uint32 // nil: all are fixed
	fixed      uint32
	names      []byte // each followed by '\n'; nil if not kept
	quals      []byte // nil if not kept
	exceptions []record.Exception
	forms      record.Forms
}

// bases returns the sum of the lengths.
func (c *columns) bases() uint64 { return sumLengths(c.lengths, c.fixed, c.records) }

func sumLengths(lengths []uint32, fixed uint32, n int) uint64 {
	if lengths == nil {
		return uint64(n) * uint64(fixed)
	}
	var t uint64
	for _, l := range lengths {
		t += uint64(l)
	}
	return t
}

// gather returns records [from, from+n) of an input, in input order, and their letters if
// these are wanted: bs are the consecutive blocks that hold those records.
func gather(input int, from uint64, n int, bs []*loaded, k keeps, wantLetters bool) (c *columns, letters []byte, err error) {
	c = &columns{input: input, from: from, records: n}
	if n == 0 {
		return c, nil, nil
	}
	type run struct {
		b      *loaded
		lo, hi int // records of b
	}
	var runs []run
	for at, end := from, from+uint64(n); at < end; {
		b := bs[len(runs)]
		lo := int(at - b.FirstRecord)
		hi := int(min(end-b.FirstRecord, uint64(b.Records)))
		runs = append(runs, run{b, lo, hi})
		at += uint64(hi - lo)
	}
	same := true
	for _, r := range runs {
		same = same && r.b.Lengths == nil && r.b.FixedLen == runs[0].b.FixedLen
	}
	switch {
	case same:
		c.fixed = runs[0].b.FixedLen
	case len(runs) == 1:
		c.lengths = runs[0].b.Lengths[runs[0].lo:runs[0].hi]
	default:
		c.lengths = make([]uint32, 0, n)
		for _, r := range runs {
			if r.b.Lengths != nil {
				c.lengths = append(c.lengths, r.b.Lengths[r.lo:r.hi]...)
				continue
			}
			for range r.hi - r.lo {
				c.lengths = append(c.lengths, r.b.FixedLen)
			}
		}
	}
	base := 0
	for _, r := range runs {
		if k.names {
			p, err := r.b.names(r.lo, r.hi)
			if c.names = join(c.names, p, len(runs)); err != nil {
				return nil, nil, err
			}
		}
		if k.quals {
			p, err := r.b.quals(r.lo, r.hi)
			if c.quals = join(c.quals, p, len(runs)); err != nil {
				return nil, nil, err
			}
		}
		if wantLetters {
			if letters, err = r.b.AppendSequencesOf(letters, r.lo, r.hi); err != nil {
				return nil, nil, err
			}
		}
		for _, e := range record.ExceptionsOf(r.b.Exceptions, uint32(r.lo), uint32(r.hi)) {
			e.Read = uint32(int(e.Read) - r.lo + base)
			c.exceptions = append(c.exceptions, e)
		}
		base += r.hi - r.lo
	}
	if k.forms {
		// The form of the longest run is the default of the slice.
		main := runs[0]
		for _, r := range runs {
			if r.hi-r.lo > main.hi-main.lo {
				main = r
			}
		}
		c.forms.Default = main.b.Forms.Default
		base = 0
		for _, r := range runs {
			c.forms.Exceptions = appendForms(c.forms.Exceptions, &r.b.Forms, r.lo, r.hi, base, &c.forms.Default)
			base += r.hi - r.lo
		}
	}
	// A kept column is not nil, however empty.
	if k.names && c.names == nil {
		c.names = []byte{}
	}
	if k.quals && c.quals == nil {
		c.quals = []byte{}
	}
	return c, letters, nil
}

// join appends p to dst; the only one of its column is taken as it is.
func join(dst, p []byte, runs int) []byte {
	if runs == 1 {
		return p
	}
	return append(dst, p...)
}

// appendForms appends to dst the records lo..hi of l that differ from def, numbered from base.
func appendForms(dst []record.FormException, l *record.Forms, lo, hi, base int, def *record.Form) []record.FormException {
	es := l.Slice(uint32(lo), uint32(hi)).Exceptions
	if l.Default.Equal(def) {
		for _, e := range es {
			e.Read += uint32(base)
			dst = append(dst, e)
		}
		return dst
	}
	for i := range uint32(hi - lo) {
		r := &l.Default
		if len(es) > 0 && es[0].Read == i {
			r, es = &es[0].Form, es[1:]
		}
		if !r.Equal(def) {
			dst = append(dst, record.FormException{Read: i + uint32(base), Form: *r})
		}
	}
	return dst
}

// permute puts c's records in the order of perm, in memory of its own. What belongs to the
// end of the file (a missing last newline, blank lines) does not outlive reordering.
func (c *columns) permute(perm []uint32) {
	c.perm = perm
	offsets := make([]int, c.records+1) // of qualities, in input order
	for i := range c.records {
		n := int(c.fixed)
		if c.lengths != nil {
			n = int(c.lengths[i])
		}
		offsets[i+1] = offsets[i] + n
	}
	if c.quals != nil {
		q := make([]byte, 0, len(c.quals))
		for _, p := range perm {
			q = append(q, c.quals[offsets[p]:offsets[p+1]]...)
		}
		c.quals = q
	}
	if c.lengths != nil {
		l := make([]uint32, c.records)
		for i, p := range perm {
			l[i] = c.lengths[p]
		}
		c.lengths = l
	}
	if c.names != nil {
		at := 0
		for i := range c.records {
			offsets[i] = at
			at += bytes.IndexByte(c.names[at:], '\n') + 1
		}
		offsets[c.records] = at
		b := make([]byte, 0, len(c.names))
		for _, p := range perm {
			b = append(b, c.names[offsets[p]:offsets[p+1]]...)
		}
		c.names = b
	}
	if len(c.exceptions) == 0 && c.forms.IsDefault() {
		return
	}
	inverse := make([]uint32, c.records)
	for i, p := range perm {
		inverse[p] = uint32(i)
	}
	es := make([]record.Exception, len(c.exceptions))
	for i, e := range c.exceptions {
		e.Read = inverse[e.Read]
		es[i] = e
	}
	sortExceptions(es)
	c.exceptions = es
	ls := make([]record.FormException, len(c.forms.Exceptions))
	for i, e := range c.forms.Exceptions {
		e.Read = inverse[e.Read]
		ls[i] = e
	}
	slices.SortFunc(ls, func(a, b record.FormException) int { return int(a.Read) - int(b.Read) })
	c.forms.Exceptions = ls
	c.dropFileEnd()
}

func sortExceptions(es []record.Exception) {
	slices.SortFunc(es, func(a, b record.Exception) int {
		if a.Read != b.Read {
			return int(a.Read) - int(b.Read)
		}
		return int(a.Start) - int(b.Start)
	})
}

// dropFileEnd gives the last record of a file, which may now stand anywhere, an ordinary end.
func (c *columns) dropFileEnd() {
	l := &c.forms
	l.Default.NoNewline, l.Default.Tail = false, ""
	kept := l.Exceptions[:0]
	for _, e := range l.Exceptions {
		e.NoNewline, e.Tail = false, ""
		if !e.Form.Equal(&l.Default) {
			kept = append(kept, e)
		}
	}
	l.Exceptions = kept
}
