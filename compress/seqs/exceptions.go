package seqs

import (
	"bytes"
	"slices"

	"orcomgo/bins/record"
	rc "orcomgo/compress/rangecoder"
)

// How the exceptions of a column are coded.
const (
	noExceptions = iota
	listed       // every run by itself
	listedAndN   // N by quality value, the rest listed
)

// exceptionCoder models the bytes other than A, C, G, T of one column.
type exceptionCoder struct {
	read, start, length *rc.Number
	symbol              rc.Tree
	isN                 [128][3]rc.Prob
}

func newExceptionCoder() *exceptionCoder {
	x := &exceptionCoder{read: rc.NewNumber(), start: rc.NewNumber(), length: rc.NewNumber(), symbol: rc.NewTree(8)}
	for i := range x.isN {
		rc.FillProbs(x.isN[i][:])
	}
	return x
}

// code codes the exceptions of a column; decoding, it returns them. ok is false if the
// stream has exceptions outside of the column's reads.
func (x *exceptionCoder) code(c *rc.Coder, col *Column) (out record.ExceptionList, ok bool) {
	mode := uint32(noExceptions)
	var values [128]bool // the quality values under which an N occurs
	rest := &col.Exceptions
	if !c.Decoding() && !rest.Empty() {
		mode = listed
		if col.Quals != nil && x.findN(col, &values) {
			mode = listedAndN
			rest = new(record.ExceptionList)
			for e := range col.Exceptions.All {
				if e.Byte != 'N' {
					rest.Append(e)
				}
			}
		}
	}
	mode = c.Uniform(mode, 2)
	if mode == noExceptions {
		return out, true
	}
	count := x.length.Code(c, uint32(rest.Len()), longMemory)
	prevRead, prevEnd := uint32(0), uint32(0)
	var list record.ExceptionList
	next := rest.From(0)
	for i := uint32(0); i < count; i++ {
		var e record.Exception
		if !c.Decoding() {
			e, _ = next.Next()
		}
		d := x.read.Code(c, e.Read-prevRead, longMemory)
		if d > 0 {
			prevEnd = 0
		}
		gap := x.start.Code(c, e.Start-prevEnd, longMemory)
		more := x.length.Code(c, e.Len-1, longMemory)
		e.Byte = byte(x.symbol.Code(c, uint32(e.Byte), longMemory))
		if c.Decoding() {
			read, end := uint64(prevRead)+uint64(d), uint64(prevEnd)+uint64(gap)+uint64(more)+1
			if read >= uint64(col.Records) || end > uint64(col.Lengths.Of(int(read))) {
				return out, false
			}
			e.Read, e.Start, e.Len = uint32(read), prevEnd+gap, more+1
			list.Append(e)
		}
		prevRead, prevEnd = e.Read, e.Start+e.Len
	}
	if mode == listed {
		return list, true
	}
	return x.codeN(c, col, &values, &list)
}

// findN sets values to the quality values of Ns, and reports whether coding Ns base by base under
// those values is worth the time: it is not where such values are common and Ns are rare.
func (x *exceptionCoder) findN(col *Column, values *[128]bool) bool {
	n, at, read := 0, 0, 0
	for e := range col.Exceptions.All {
		if e.Byte != 'N' {
			continue
		}
		for ; read < int(e.Read); read++ {
			at += col.Lengths.Of(read)
		}
		for _, q := range col.Quals[at+int(e.Start) : at+int(e.Start+e.Len)] {
			values[q&127] = true
			n++
		}
	}
	candidates := 0
	for q, has := range values {
		if has { // one or two values mostly
			candidates += bytes.Count(col.Quals, []byte{byte(q)}) + bytes.Count(col.Quals, []byte{byte(q | 128)})
		}
	}
	return n > 0 && candidates/64 <= n
}

// codeN codes for every base with one of the values whether it is N; decoding, it merges the Ns into list.
func (x *exceptionCoder) codeN(c *rc.Coder, col *Column, values *[128]bool,
	list *record.ExceptionList) (out record.ExceptionList, ok bool) {
	if col.Quals == nil {
		return out, false
	}
	for q := range values {
		v := 0
		if values[q] {
			v = 1
		}
		values[q] = c.Uniform(uint32(v), 1) != 0
	}
	find := finderOf(values)
	at := 0
	rest := list.From(0) // of the exceptions of the column (encoding), or of list (decoding)
	if !c.Decoding() {
		rest = col.Exceptions.From(0)
	}
	e, left := rest.Next()
	var ns record.Exception // the run of N that ends at the last base; none if Len is 0
	flush := func() {
		if ns.Len > 0 {
			out.Append(ns)
			ns.Len = 0
		}
	}
	for read := range col.withQuals() {
		quals := col.Quals[at : at+col.Lengths.Of(read)]
		at += len(quals)
		last, isN := -1, 0 // of the bases with one of the values, and whether it is N
		for i := find.next(quals, 0); i < len(quals); i = find.next(quals, i+1) {
			prev := 0
			switch {
			case i == 0:
				prev = 1
			case i == last+1:
				prev = 2 * isN
			}
			last, isN = i, 0
			if c.Decoding() {
				for left && (int(e.Read) < read || int(e.Read) == read && int(e.Start) <= i) {
					flush()
					out.Append(e)
					e, left = rest.Next()
				}
			} else {
				for left && (int(e.Read) < read || int(e.Read) == read && int(e.Start+e.Len) <= i) {
					e, left = rest.Next()
				}
				if left && e.Byte == 'N' && int(e.Read) == read && int(e.Start) <= i {
					isN = 1
				}
			}
			isN = c.Adapt(isN, &x.isN[quals[i]&127][prev], longMemory)
			if isN != 0 && c.Decoding() {
				if ns.Len > 0 && int(ns.Read) == read && int(ns.Start+ns.Len) == i {
					ns.Len++
				} else {
					flush()
					ns = record.Exception{Read: uint32(read), Start: uint32(i), Len: 1, Byte: 'N'}
				}
			}
		}
	}
	flush()
	for ; left; e, left = rest.Next() {
		out.Append(e)
	}
	return out, true
}

// finder finds qualities with some values.
type finder struct {
	values [128]bool
	only   int // one of them is the only one; else -1
}

// finderOf returns what finds these values.
func finderOf(values *[128]bool) finder {
	f := finder{*values, -1}
	if v := slices.Index(values[:], true); v >= 0 && !slices.Contains(values[v+1:], true) {
		f.only = v
	}
	return f
}

// next returns the index, from i on, of the next quality with one of the values; len(quals) if there is none.
func (f *finder) next(quals []byte, i int) int {
	if f.only >= 0 {
		for _, q := range [2]int{f.only, f.only | 128} { // values are bytes mod 128
			if k := bytes.IndexByte(quals[i:], byte(q)); k >= 0 {
				quals = quals[:i+k]
			}
		}
		return len(quals)
	}
	for i < len(quals) && !f.values[quals[i]&127] {
		i++
	}
	return i
}

// nonACGT finds the bases of reads that are not A, C, G or T in either case, from the exceptions of a column. They have
// no code of their own.
type nonACGT struct {
	rest record.ExceptionCursor
	next record.Exception
	left bool // there is a next one
	skip []bool
}

// nonACGTOf returns those of a list.
func nonACGTOf(list *record.ExceptionList) (o nonACGT) {
	o.rest = list.From(0)
	o.next, o.left = o.rest.Next()
	return o
}

// of returns which of the n bases of read i are not A, C, G or T; nil if all are. i must be greater than in the call before.
func (o *nonACGT) of(i, n int) []bool {
	for o.left && int(o.next.Read) < i {
		o.next, o.left = o.rest.Next()
	}
	found := false
	for ; o.left && int(o.next.Read) == i; o.next, o.left = o.rest.Next() {
		x := o.next
		if x.Byte == record.Lower {
			continue
		}
		if !found {
			found = true
			if cap(o.skip) < n {
				o.skip = make([]bool, n)
			}
			o.skip = o.skip[:n]
			clear(o.skip)
		}
		for j := x.Start; j < x.Start+x.Len; j++ {
			o.skip[j] = true
		}
	}
	if !found {
		return nil
	}
	return o.skip
}
