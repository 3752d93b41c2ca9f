package numbers

import (
	"encoding/binary"
	"slices"

	"orcomgo/bins/parse"
	rc "orcomgo/compress/rangecoder"
	"orcomgo/internal/tasks"
)

// A stream, for each column in the order of coding:
//
//	number of the column     uvarint
//	smallest value           varint
//	bits of a value          uvarint, 0 to 62
//	models                   uvarint, at most 1, and the model (model.code)
//	bytes of its code        uvarint
//
// and then the codes in the same order.

const maxBits = 62

// MaxColumns is the largest number of columns of a table.
const MaxColumns = 1 << 16

// plan is how a column is coded.
type plan struct {
	low   int64  // the smallest value
	bits  int    // of the largest value less the smallest one; 0 to 62
	model *model // or nil
}

// Encode codes a table of at most MaxColumns columns of the same number of rows. Columns are coded in places of the pool as well, which may
// be nil; the stream does not depend on it. It panics if a column is of another length or has a value larger than MaxValue, which is an
// error of the caller.
func Encode(columns []Column, pool *tasks.Pool) []byte {
	rows := 0
	if len(columns) > 0 {
		rows = len(columns[0].Values)
	}
	t := newTable(make([]bool, len(columns)), make([][]int64, len(columns)), rows)
	for i := range columns {
		check(&columns[i], rows)
		t.float32s[i], t.values[i] = columns[i].Float32, columns[i].Values
	}
	p := newPlanner(t, pool)
	plans, codes := make([]*plan, len(columns)), make([][]byte, len(columns))
	pool.Each(len(columns), func(at int) {
		i := p.order[at]
		plans[i] = p.plan(at)
		codes[i] = p.full.encode(plans[i], i, 0, rows)
	})
	var f parse.Fields
	for _, i := range p.order {
		f.Out = binary.AppendUvarint(f.Out, uint64(i))
		plans[i].code(&f, len(columns))
		f.Out = binary.AppendUvarint(f.Out, uint64(len(codes[i])))
	}
	for _, i := range p.order {
		f.Out = append(f.Out, codes[i]...)
	}
	return f.Out
}

// check panics if a column is not of so many rows or has a value that is too large.
func check(c *Column, rows int) {
	if len(c.Values) != rows {
		panic("numbers: columns of different lengths")
	}
	for _, v := range c.Values {
		if v > MaxValue || v < -MaxValue {
			panic("numbers: a value is too large")
		}
	}
}

// encode codes the rows of column i from one on, with room for so many.
func (t *table) encode(p *plan, i, first, room int) []byte {
	c := t.newCoder(p, i, t.values[i], room)
	rg := rc.EncodeTo(nil)
	if p.bits > 0 {
		for r := first; r < t.rows; r++ {
			c.code(rg, r)
		}
	}
	return rg.Enc.Finish()
}

// code codes a plan for one of so many columns.
func (p *plan) code(f *parse.Fields, columns int) {
	f.Varint(&p.low, MaxValue)
	parse.Number(f, &p.bits, maxBits)
	has := p.model != nil
	if f.Flags(&has); has {
		if p.model == nil {
			p.model = new(model)
		}
		p.model.code(f, columns)
	}
}

// usesOnly reports whether all columns that the model of the plan uses are known.
func (p *plan) usesOnly(known []bool) bool {
	if p.model == nil {
		return true
	}
	return !slices.ContainsFunc(slices.Concat(p.model.key, p.model.refs), func(c int) bool { return c >= len(known) || !known[c] })
}

// Decode is the inverse of Encode: it returns the values of columns, each of the given number of rows, given which are Float32. It takes
// about 16 bytes of memory a value.
func Decode(data []byte, float32s []bool, rows int) ([][]int64, error) {
	n := len(float32s)
	if n > MaxColumns || rows < 0 {
		return nil, ErrCorrupt
	}
	in := &parse.Cursor{Rest: data}
	order, plans, sizes := make([]int, n), make([]*plan, n), make([]int, n)
	known := make([]bool, n)
	for at := range order {
		i := in.Int(n - 1)
		if in.Failed() || known[i] {
			return nil, ErrCorrupt
		}
		order[at], plans[at] = i, new(plan)
		plans[at].code(&parse.Fields{In: in}, n)
		sizes[at] = in.Int(len(data))
		if in.Failed() || !plans[at].usesOnly(known) {
			return nil, ErrCorrupt
		}
		known[i] = true
	}
	t := newTable(float32s, make([][]int64, n), rows)
	for at, i := range order {
		code := in.Bytes(uint64(sizes[at]))
		if plans[at].bits > 0 && int64(rows) > int64(len(code)+8)*1<<15 { // a decision takes at least 1/3000 of a bit
			in.Fail("%d bytes for %d rows", len(code), rows)
		}
		if in.Failed() || !t.decode(plans[at], i, code) {
			return nil, ErrCorrupt
		}
	}
	if len(in.Rest) > 0 {
		return nil, ErrCorrupt
	}
	return t.values, nil
}

// decode sets the values of column i. It reports false if the code is damaged.
func (t *table) decode(p *plan, i int, code []byte) bool {
	list := make([]int64, t.rows)
	rg := rc.DecodeFrom(code)
	c := t.newCoder(p, i, list, t.rows)
	for r := range list {
		c.code(rg, r)
	}
	t.values[i] = list
	return rg.Dec.Err() == nil
}
