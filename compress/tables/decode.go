package tables

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"orcomgo/compress/numbers"
)

// reader takes parts off a stream. After an error it returns zeros.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) fail() {
	r.failed, r.b = true, nil
}

func (r *reader) uvarint(limit int) int {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > uint64(limit) {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}

func (r *reader) varint(limit int64) int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 || v > limit || v < -limit {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.fail()
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) byte(limit int) byte {
	b := r.take(1)
	if r.failed || int(b[0]) > limit {
		r.fail()
		return 0
	}
	return b[0]
}

// bytes reads what appendBytes wrote.
func (r *reader) bytes() []byte { return r.take(r.uvarint(len(r.b))) }

// column is a decoded column of a table.
type column struct {
	numeric *numeric
	words   [][]byte
	numbers []int64 // of words; nil if words has one for each row
}

// Decode is the inverse of Encode, for text of at most limit bytes. It takes up to about 20 times as much memory as the text.
func Decode(stream []byte, limit, threads int) ([]byte, error) {
	in := &reader{b: stream}
	if in.byte(version) != version {
		return nil, ErrCorrupt
	}
	size := in.uvarint(MaxSize)
	sum := in.take(8)
	if in.failed {
		return nil, ErrCorrupt
	}
	if size > limit {
		return nil, ErrSize
	}
	if size > (len(stream)+slackBytes)*bytesPerByte {
		return nil, ErrCorrupt
	}
	text, err := in.text(size, threads)
	if err != nil {
		return nil, err
	}
	if len(in.b) > 0 || len(text) != size || xxh3.Hash(text) != binary.LittleEndian.Uint64(sum) {
		return nil, ErrCorrupt
	}
	return text, nil
}

func (r *reader) text(size, threads int) ([]byte, error) {
	l := &layout{delimiter: r.byte(255), crlf: r.byte(1) == 1}
	lines := r.uvarint(size)
	loose, kinds := r.bytes(), r.bytes()
	segments := r.uvarint(size)
	if r.failed {
		return nil, ErrCorrupt
	}
	var err error
	if l.loose, err = decodeText(loose, size); err != nil {
		return nil, err
	}
	lists, err := numbers.Decode(kinds, []numbers.Shape{numbers.AllRows}, lines, threads)
	if err != nil {
		return nil, ErrCorrupt
	}
	l.kinds = lists[0]
	counts := make([]int, min(segments, len(r.b)+1)) // rows of each segment
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
		columns, rows := r.uvarint(maxColumns), r.uvarint(size)
		code := r.bytes()
		// A row has as many delimiters, and a line end in place of the last one.
		if r.failed || rows != counts[i] || columns*rows > size {
			return nil, ErrCorrupt
		}
		t, err := decodeSegment(code, columns, rows, size, threads)
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

func decodeSegment(code []byte, columns, rows, size, threads int) ([]column, error) {
	in := &reader{b: code}
	table := make([]column, columns)
	var shapes []numbers.Shape
	budget := size // for the strings of all columns
	for i := range table {
		var err error
		switch c := &table[i]; in.byte(columnKinds - 1) {
		case columnNumbers:
			if c.numeric = in.numeric(); c.numeric == nil {
				return nil, ErrCorrupt
			}
			if len(c.numeric.forms) > 1 {
				shapes = append(shapes, numbers.AllRows)
			}
			shapes = append(shapes, c.numeric.shape(len(shapes)-1))
		case columnDictionary:
			words := in.uvarint(rows)
			c.words, err = decodeStrings(in.bytes(), words, budget)
			shapes = append(shapes, numbers.AllRows)
			c.numbers = []int64{}
		case columnStrings:
			c.words, err = decodeStrings(in.bytes(), rows, budget)
		}
		if in.failed || err != nil {
			return nil, ErrCorrupt
		}
		for _, w := range table[i].words {
			budget -= len(w) + 1
		}
	}
	helpers := in.uvarint(columns + 1)
	if in.failed {
		return nil, ErrCorrupt
	}
	for range helpers {
		shapes = append(shapes, numbers.AllRows)
	}
	lists, err := numbers.Decode(in.b, shapes, rows, threads)
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

// numeric reads the header of a column of numbers; nil after an error.
func (r *reader) numeric() *numeric {
	n := &numeric{decimals: int(r.byte(maxDigits)), forms: make([]form, r.byte(maxForms))}
	for i := range n.forms {
		f := &n.forms[i]
		f.style = r.byte(styleLiteral)
		switch f.style {
		case styleFixed:
			f.decimals = int(r.byte(n.decimals))
		case styleFloat:
			f.steps = r.varint(maxSteps)
		case styleLiteral:
			f.literal = string(r.bytes())
		}
		if f.style != styleLiteral {
			if n.numbers < i {
				return nil // numbers are first
			}
			n.numbers++
		}
	}
	if r.failed || len(n.forms) == 0 {
		return nil
	}
	return n
}
