package numbers

import (
	"encoding/binary"
	"sync"

	"orcomgo/bins/parse"
	rc "orcomgo/compress/rangecoder"
	"orcomgo/internal/tasks"
)

// A stream, for each column in the order of coding:
//
//	number of the column     uvarint
//	smallest value           varint
//	bits of a value          uvarint, 0 to 62
//	inputs                   uvarint, at most 16, and each of them (input.append)
//	bytes of its code        uvarint
//
// and then the codes in the same order.

const maxBits = 62

// MaxColumns is the largest number of columns of a table.
const MaxColumns = 1 << 16

// present reports whether a column has row r, given the other columns.
func (s Shape) present(values [][]int64, r int) bool {
	return s.Given < 0 || values[s.Given][r] < s.Below
}

// likeCache has the rows like each row, by keys.
type likeCache struct {
	mutex  sync.Mutex
	values [][]int64
	rows   int
	lists  map[string]func() []int32
}

// get returns likeRows of key. The columns of the key must be complete.
func (l *likeCache) get(key []int) []int32 {
	name := string(appendList(nil, key))
	l.mutex.Lock()
	list := l.lists[name]
	if list == nil {
		list = sync.OnceValue(func() []int32 { return likeRows(l.values, key, l.rows) })
		l.lists[name] = list
	}
	l.mutex.Unlock()
	return list()
}

func newLikeCache(values [][]int64, rows int) *likeCache {
	return &likeCache{values: values, rows: rows, lists: map[string]func() []int32{}}
}

// Encode codes a table of at most MaxColumns columns of the same number of rows. Columns are coded in places of the pool as well, which may
// be nil; the stream does not depend on it. It panics if a column is of another length or has a value larger than MaxValue, which is an
// error of the caller.
func Encode(columns []Column, pool *tasks.Pool) []byte {
	rows := 0
	if len(columns) > 0 {
		rows = len(columns[0].Values)
	}
	values := make([][]int64, len(columns))
	for i := range columns {
		check(&columns[i], rows)
	}
	pool.Each(len(columns), func(i int) { values[i] = filled(columns, i) })
	p := newPlanner(columns, values, rows, pool)
	plans, codes := make([]*plan, len(columns)), make([][]byte, len(columns))
	pool.Each(len(columns), func(at int) {
		i := p.order[at]
		plans[i] = p.plan(at)
		codes[i] = p.full.encode(plans[i], i, rows)
	})
	var out []byte
	for _, i := range p.order {
		out = binary.AppendUvarint(out, uint64(i))
		out = plans[i].append(out)
		out = binary.AppendUvarint(out, uint64(len(codes[i])))
	}
	for _, i := range p.order {
		out = append(out, codes[i]...)
	}
	return out
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

// filled returns the values of a column, in which a row that the column does not have has the value before, or the smallest one.
func filled(columns []Column, i int) []int64 {
	c := &columns[i]
	list := make([]int64, len(c.Values))
	low, any := int64(0), false
	has := func(r int) bool { return c.Given < 0 || columns[c.Given].Values[r] < c.Below }
	for r, v := range c.Values {
		if has(r) && (!any || v < low) {
			low, any = v, true
		}
	}
	before := low
	for r, v := range c.Values {
		if has(r) {
			before = v
		}
		list[r] = before
	}
	return list
}

func (p *plan) append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, p.low)
	dst = binary.AppendUvarint(dst, uint64(p.bits))
	dst = binary.AppendUvarint(dst, uint64(len(p.inputs)))
	for i := range p.inputs {
		dst = p.inputs[i].append(dst)
	}
	return dst
}

func readPlan(r *parse.Cursor, columns int) *plan {
	p := &plan{low: r.Varint(MaxValue), bits: r.Int(maxBits)}
	p.inputs = make([]input, r.Int(maxInputs))
	for i := range p.inputs {
		p.inputs[i] = readInput(r, columns)
	}
	return p
}

// needs calls f for each column that the plan of a column of the shape needs.
func (p *plan) needs(s Shape, f func(column int)) {
	if s.Given >= 0 {
		f(s.Given)
	}
	for i := range p.inputs {
		for _, c := range p.inputs[i].key {
			f(c)
		}
		for _, c := range p.inputs[i].refs {
			f(c)
		}
	}
}

// Decode is the inverse of Encode: it returns the values of columns of the given shapes, each of the given number of rows. A row that a
// column does not have has the value before it, or the smallest one. It takes about 16 bytes of memory a value.
func Decode(data []byte, shapes []Shape, rows int) ([][]int64, error) {
	n := len(shapes)
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
		order[at], plans[at] = i, readPlan(in, n)
		sizes[at] = in.Int(len(data))
		ok := !in.Failed()
		plans[at].needs(shapes[i], func(c int) { ok = ok && c < n && known[c] })
		if !ok {
			return nil, ErrCorrupt
		}
		known[i] = true
	}
	values := make([][]int64, n)
	t := &table{shapes, values, newLikeCache(values, rows)}
	for at, i := range order {
		code := in.Bytes(uint64(sizes[at]))
		if plans[at].bits > 0 && int64(rows) > int64(len(code)+8)*1<<15 { // a decision takes at least 1/3000 of a bit
			in.Fail("%d bytes for %d rows", len(code), rows)
		}
		if in.Failed() || !t.decode(plans[at], i, code, rows) {
			return nil, ErrCorrupt
		}
	}
	if len(in.Rest) > 0 {
		return nil, ErrCorrupt
	}
	return values, nil
}

// decode sets the values of column i. It reports false if the code is damaged.
func (t *table) decode(p *plan, i int, code []byte, rows int) bool {
	list := make([]int64, rows)
	rg := rc.DecodeFrom(code)
	c := t.newCoder(p, i, list, rows)
	for r := range rows {
		if t.shapes[i].present(t.values, r) {
			c.code(rg, r)
		} else {
			list[r] = c.at(r - 1)
		}
	}
	t.values[i] = list
	return rg.Dec.Err() == nil
}
