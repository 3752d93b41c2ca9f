package seqs

import "orcomgo/bins/record"

// How the exceptions of a column are coded.
const (
	noExceptions = iota
	listed       // every run on its own
	listedAndN   // N by quality value, the rest listed
)

// exceptionCoder models the bytes other than A, C, G, T of one column.
type exceptionCoder struct {
	read, start, length *number
	byt                 tree
	isN                 [128][3]prob
}

func newExceptionCoder() *exceptionCoder {
	x := &exceptionCoder{read: newNumber(), start: newNumber(), length: newNumber(), byt: newTree(8)}
	for i := range x.isN {
		for j := range x.isN[i] {
			x.isN[i][j] = newProb
		}
	}
	return x
}

// code codes the exceptions of a column; decoding, it returns them. ok is false if the
// stream asks for more than the column can hold.
func (x *exceptionCoder) code(c *coder, col *Column) (out []record.Exception, ok bool) {
	mode := uint32(noExceptions)
	var values [128]bool // the quality values under which an N occurs
	rest := col.Exceptions
	if c.e != nil && len(col.Exceptions) > 0 {
		mode = listed
		if col.Quals != nil && x.findN(col, &values) {
			mode = listedAndN
			rest = nil
			for _, e := range col.Exceptions {
				if e.Byte != 'N' {
					rest = append(rest, e)
				}
			}
		}
	}
	mode = c.even(mode, 2)
	if mode == noExceptions {
		return nil, true
	}
	count := x.length.code(c, uint32(len(rest)), 255)
	prevRead, prevEnd := uint32(0), uint32(0)
	var list []record.Exception
	for i := uint32(0); i < count; i++ {
		var e record.Exception
		if c.e != nil {
			e = rest[i]
		}
		d := x.read.code(c, e.Read-prevRead, memory)
		if d > 0 {
			prevEnd = 0
		}
		gap := x.start.code(c, e.Start-prevEnd, memory)
		more := x.length.code(c, e.Len-1, memory)
		e.Byte = byte(x.byt.code(c, uint32(e.Byte), memory))
		if c.d != nil {
			read, end := uint64(prevRead)+uint64(d), uint64(prevEnd)+uint64(gap)+uint64(more)+1
			if read >= uint64(col.Records) || end > uint64(col.Lengths.Of(int(read))) {
				return nil, false
			}
			e.Read, e.Start, e.Len = uint32(read), prevEnd+gap, more+1
			list = append(list, e)
		}
		prevRead, prevEnd = e.Read, e.Start+e.Len
	}
	if mode == listed {
		return list, true
	}
	return x.codeN(c, col, &values, list)
}

// findN notes the quality values of Ns, and reports whether coding Ns base by base under
// those values is worth the time: not where such values are common and Ns are rare.
func (x *exceptionCoder) findN(col *Column, values *[128]bool) bool {
	n, at, read := 0, 0, 0
	for _, e := range col.Exceptions {
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
	for _, q := range col.Quals {
		if values[q&127] {
			candidates++
		}
	}
	return n > 0 && candidates/64 <= n
}

// codeN codes for every base with one of the values whether it is N; decoding, it merges the Ns into list.
func (x *exceptionCoder) codeN(c *coder, col *Column, values *[128]bool, list []record.Exception) ([]record.Exception, bool) {
	if col.Quals == nil {
		return nil, false
	}
	for q := range values {
		v := 0
		if values[q] {
			v = 1
		}
		values[q] = c.even(uint32(v), 1) != 0
	}
	var out []record.Exception
	at, k := 0, 0 // k: in the exceptions (encoding), in list (decoding)
	for read := 0; read < col.Records; read++ {
		n := col.Lengths.Of(read)
		prev := 1 // first base
		for i, q := range col.Quals[at : at+n] {
			if c.d != nil {
				for k < len(list) && int(list[k].Read) == read && int(list[k].Start) <= i {
					out = append(out, list[k])
					k++
				}
			}
			if !values[q&127] {
				prev = 0
				continue
			}
			isN := 0
			if c.e != nil {
				for k < len(col.Exceptions) {
					e := &col.Exceptions[k]
					if int(e.Read) > read || int(e.Read) == read && int(e.Start+e.Len) > i {
						break
					}
					k++
				}
				if k < len(col.Exceptions) {
					e := &col.Exceptions[k]
					if e.Byte == 'N' && int(e.Read) == read && int(e.Start) <= i {
						isN = 1
					}
				}
			}
			isN = c.adapt(isN, &x.isN[q&127][prev], memory)
			prev = 2 * isN
			if isN != 0 && c.d != nil {
				if l := len(out) - 1; l >= 0 && int(out[l].Read) == read && out[l].Byte == 'N' && int(out[l].Start+out[l].Len) == i {
					out[l].Len++
				} else {
					out = append(out, record.Exception{Read: uint32(read), Start: uint32(i), Len: 1, Byte: 'N'})
				}
			}
		}
		at += n
	}
	if c.d != nil {
		out = append(out, list[k:]...)
	}
	return out, true
}
