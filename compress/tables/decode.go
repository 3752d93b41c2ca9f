package tables

import (
	"orcomgo/bins/parse"
	"orcomgo/compress/general"
	"orcomgo/compress/numbers"
)

// column is a decoded column of a table.
type column struct {
	numeric *numeric
	words   [][]byte
	numbers []int64 // of words; nil if words has one for each row
}

// Decode is the inverse of Encode, for text of size bytes. It takes up to about 20 times as much memory as the text.
func Decode(stream []byte, size int) ([]byte, error) {
	if size > MaxSize || size > (len(stream)+slackBytes)*bytesPerByte {
		return nil, ErrCorrupt
	}
	in := &parse.Cursor{Rest: stream}
	text, err := readText(in, size)
	if err != nil || len(in.Rest) > 0 || len(text) != size {
		return nil, ErrCorrupt
	}
	return text, nil
}

func readText(r *parse.Cursor, size int) ([]byte, error) {
	l := &layout{delimiter: r.Byte(), crlf: r.ByteAtMost(1) == 1}
	lines := r.Int(size)
	loose, kinds := r.Block(), r.Block()
	segments := r.Int(size)
	if r.Failed() {
		return nil, ErrCorrupt
	}
	var err error
	if l.loose, err = general.Decode(loose, size); err != nil {
		return nil, ErrCorrupt
	}
	lists, err := numbers.Decode(kinds, []numbers.Shape{numbers.AllRows}, lines)
	if err != nil {
		return nil, ErrCorrupt
	}
	l.kinds = lists[0]
	counts := make([]int, min(segments, len(r.Rest)+1)) // rows of each segment
	for _, k := range l.kinds {
		if k < 0 || k > int64(len(counts)) {
			return nil, ErrCorrupt
		}
		if k > 0 {
			counts[k-1]++
		}
	}
	tables := make([][]column, 0, len(counts))
	for i := range segments {
		columns, rows := r.Int(maxColumns), r.Int(size)
		code := r.Block()
		// A row has as many delimiters, and a line end in place of the last one.
		if r.Failed() || rows != counts[i] || columns*rows > size {
			return nil, ErrCorrupt
		}
		t, err := decodeSegment(code, columns, rows, size)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return l.join(len(tables), func(dst []byte, s, r int) ([]byte, error) {
		for i := range tables[s] {
			if i > 0 {
				dst = append(dst, l.delimiter)
			}
			var err error
			if dst, err = tables[s][i].appendField(dst, r); err != nil || len(dst) > size {
				return nil, ErrCorrupt
			}
		}
		return dst, nil
	}, size)
}

func (c *column) appendField(dst []byte, r int) ([]byte, error) {
	switch {
	case c.numeric != nil:
		return c.numeric.appendField(dst, r), nil
	case c.numbers == nil:
		return append(dst, c.words[r]...), nil
	}
	if w := c.numbers[r]; w >= 0 && w < int64(len(c.words)) {
		return append(dst, c.words[w]...), nil
	}
	return nil, ErrCorrupt
}

func decodeSegment(code []byte, columns, rows, size int) ([]column, error) {
	in := &parse.Cursor{Rest: code}
	table := make([]column, columns)
	var shapes []numbers.Shape
	budget := size // for the strings of all columns
	for i := range table {
		var err error
		switch c := &table[i]; in.ByteAtMost(columnKinds - 1) {
		case columnNumbers:
			if c.numeric = readNumeric(in); c.numeric == nil {
				return nil, ErrCorrupt
			}
			if len(c.numeric.forms) > 1 {
				shapes = append(shapes, numbers.AllRows)
			}
			shapes = append(shapes, c.numeric.shape(len(shapes)-1))
		case columnDictionary:
			words := in.Int(rows)
			c.words, err = decodeStrings(in.Block(), words, budget)
			shapes = append(shapes, numbers.AllRows)
			c.numbers = []int64{}
		case columnStrings:
			c.words, err = decodeStrings(in.Block(), rows, budget)
		}
		if in.Failed() || err != nil {
			return nil, ErrCorrupt
		}
		for _, w := range table[i].words {
			budget -= len(w) + 1
		}
	}
	helpers := in.Int(columns + 1)
	if in.Failed() {
		return nil, ErrCorrupt
	}
	for range helpers {
		shapes = append(shapes, numbers.AllRows)
	}
	lists, err := numbers.Decode(in.Rest, shapes, rows)
	if err != nil {
		return nil, ErrCorrupt
	}
	for i := range table {
		c := &table[i]
		if n := c.numeric; n != nil {
			n.form = make([]int64, 0)
			if len(n.forms) > 1 {
				n.form, lists = lists[0], lists[1:]
			} else {
				n.form = make([]int64, rows)
			}
			n.values, lists = lists[0], lists[1:]
			for _, f := range n.form {
				if f < 0 || f >= int64(len(n.forms)) {
					return nil, ErrCorrupt
				}
			}
		} else if c.numbers != nil {
			c.numbers, lists = lists[0], lists[1:]
		}
	}
	return table, nil
}

// readNumeric reads the header of a column of numbers; nil after an error.
func readNumeric(r *parse.Cursor) *numeric {
	n := &numeric{decimals: int(r.ByteAtMost(maxDigits)), forms: make([]form, r.ByteAtMost(maxForms))}
	for i := range n.forms {
		f := &n.forms[i]
		f.style = r.ByteAtMost(styleLiteral)
		switch f.style {
		case styleFixed:
			f.decimals = int(r.ByteAtMost(byte(n.decimals)))
		case styleFloat:
			f.steps = r.Varint(maxSteps)
		case styleLiteral:
			f.literal = string(r.Block())
		}
		if f.style != styleLiteral {
			if n.numbers < i {
				return nil // numbers are first
			}
			n.numbers++
		}
	}
	if r.Failed() || n.numbers == 0 {
		return nil
	}
	return n
}
