package tags

import (
	"bytes"
	"encoding/binary"
	"slices"

	"orcomgo/bins/bam"
	"orcomgo/bins/parse"
	"orcomgo/compress/doubles"
	"orcomgo/compress/general"
	"orcomgo/compress/names"
	"orcomgo/compress/numbers"
)

// key is a tag and its type as in a layout: two bytes of the tag, its type, and the type of elements of an array, else 0. The zero key is
// that of bytes that are no tags.
type key [keyLen]byte

const keyLen = 4

// cutTag takes a tag off bytes: value is as of bam.CutTag, or all bytes from where there is no valid tag.
func cutTag(b []byte) (k key, value, rest []byte) {
	kind, element, value, rest, ok := bam.CutTag(b)
	if !ok {
		return key{}, b, nil
	}
	return key{b[0], b[1], kind, element}, value, rest
}

// column is the values of a tag. Tags that are integers of several types have one column.
type column struct {
	key key
	// numbers are the values, or the lengths of bytes: elements of arrays, else bytes.
	numbers []int64
	rows    int     // of numbers
	records []int32 // of arrays of bytes: which records have the values
	bytes   []byte
}

// integer reports whether the values are integers. Their key has the type 'i'.
func (k key) integer() bool { return k[2] != 'A' && k[2] != 'f' && bam.Widths[k[2]] > 0 }

// number reports whether the values are numbers and not bytes.
func (k key) number() bool { return bam.Widths[k[2]] > 0 }

// width is how many bytes an element of the bytes has.
func (k key) width() int { return max(bam.Widths[k[3]], 1) }

// add adds the value of a record of so many, which is of the type that k says.
func (c *column) add(k key, value []byte, record, of int) {
	c.rows++
	if k.kinetics() {
		c.records = append(c.records, int32(record))
	}
	if !k.number() {
		c.numbers = append(c.numbers, int64(len(value)/k.width()))
		if cap(c.bytes)-len(c.bytes) < len(value) { // the others may be as long as those so far
			c.bytes = slices.Grow(c.bytes, len(value)+min((len(c.bytes)+len(value))/c.rows*(of-record), pieceLen))
		}
		c.bytes = append(c.bytes, value...)
		return
	}
	c.numbers = append(c.numbers, numberOf(k[2], value))
}

// numberOf returns the number that a value of a type is.
func numberOf(kind byte, value []byte) int64 {
	if kind == 'f' {
		return numbers.OrderedFloat32(binary.LittleEndian.Uint32(value))
	}
	return bam.Integer(kind, value)
}

// appendNext appends the next value as a tag, and reports whether it is one.
func (c *column) appendNext(dst []byte, k key) ([]byte, bool) {
	v := c.numbers[0]
	c.numbers = c.numbers[1:]
	if k != (key{}) {
		dst = append(dst, k[:3]...)
	}
	if k.number() {
		bits := uint32(v)
		if k[2] == 'f' {
			bits = numbers.Float32Bits(v)
		}
		dst = binary.LittleEndian.AppendUint32(dst, bits)
		dst = dst[:len(dst)-4+bam.Widths[k[2]]]
		return dst, numberOf(k[2], dst[len(dst)-bam.Widths[k[2]]:]) == v
	}
	if k[2] == 'B' {
		dst = binary.LittleEndian.AppendUint32(append(dst, k[3]), uint32(v))
	}
	n := int(v) * k.width()
	dst, c.bytes = append(dst, c.bytes[:n]...), c.bytes[n:]
	if k[2] == 'Z' || k[2] == 'H' {
		dst = append(dst, 0)
	}
	return dst, true
}

// columnSet is columns in the order in which they first occur.
type columnSet struct {
	list  []*column
	byKey map[key]*column
}

// of returns the column of a key, a new one if there is none.
func (s *columnSet) of(k key) *column {
	if k.integer() {
		k[2] = 'i'
	}
	c := s.byKey[k]
	if c == nil {
		if s.byKey == nil {
			s.byKey = make(map[key]*column)
		}
		c = &column{key: k}
		s.list, s.byKey[k] = append(s.list, c), c
	}
	return c
}

// columnsOf returns the columns of records with layouts. It reports whether these have at most so many values.
func columnsOf(layouts [][]byte, of []int64, left int) (s columnSet, ok bool) {
	records := make([]int, len(layouts))
	for _, i := range of {
		records[i]++
	}
	kinetics := make([][]*column, len(layouts)) // by layout
	for i, layout := range layouts {
		if len(layout)%keyLen != 0 || len(layout)/keyLen*records[i] > left {
			return s, false
		}
		left -= len(layout) / keyLen * records[i]
		for ; len(layout) > 0; layout = layout[keyLen:] {
			k := key(layout[:keyLen])
			if k != (key{}) && !k.number() && k[2] != 'Z' && k[2] != 'H' && (k[2] != 'B' || bam.Widths[k[3]] == 0) {
				return s, false
			}
			c := s.of(k)
			c.rows += records[i]
			if k.kinetics() {
				kinetics[i] = append(kinetics[i], c)
			}
		}
	}
	for record, i := range of {
		for _, c := range kinetics[i] {
			c.records = append(c.records, int32(record))
		}
	}
	return s, true
}

// tableColumns is how many columns a table has at most.
const tableColumns = 64

// tables returns the numbers of all columns as tables.
func (s *columnSet) tables() (all []table) {
	open := make(map[int]int) // by rows: the number of the table, from 1
	for _, c := range s.list {
		if n := open[c.rows]; n == 0 || len(all[n-1]) == tableColumns {
			all = append(all, nil)
			open[c.rows] = len(all)
		}
		t := &all[open[c.rows]-1]
		*t = append(*t, c)
	}
	return all
}

// mostName is how many bytes the values of a column have on average at most if they are tried as names.
const mostName = 128

// appendBytes appends the bytes of a column, nothing if it has none: piece by piece, a way and a block.
func (c *column) appendBytes(dst []byte, given *reads) []byte {
	if len(c.bytes) == 0 {
		return dst
	}
	if n, ok := c.same(); ok {
		return parse.AppendBlock(append(dst, asSame), general.Encode(c.bytes[:n]))
	}
	from, to, sample := c.sample()
	tried := sample[:min(len(sample), 2*sampleLen)]
	way, least := wayOf(tried)
	if lines, ok := c.lines(0, len(c.numbers), c.bytes); ok {
		if some, _ := c.lines(from, to, sample); len(names.Encode(some, to-from)) < least {
			return parse.AppendBlock(append(dst, asNames), names.Encode(lines, len(c.numbers)))
		}
	}
	if given.fit(c) {
		if as, ok := given.encode(c, float64(least)/float64(len(tried))); ok {
			return parse.AppendBlock(append(dst, asKinetics), as)
		}
	}
	for piece := range slices.Chunk(c.bytes, pieceLen) {
		dst = appendPiece(dst, way, piece, c.arrayLayout())
	}
	return dst
}

// same returns how many bytes each value has, if there are several, all equal and not empty.
func (c *column) same() (n int, ok bool) {
	if len(c.numbers) < 2 || len(c.bytes) == 0 {
		return 0, false
	}
	n = len(c.bytes) / len(c.numbers)
	for _, v := range c.numbers {
		if v != c.numbers[0] {
			return 0, false
		}
	}
	return n, bytes.Equal(c.bytes[n:], c.bytes[:len(c.bytes)-n])
}

// sample returns values in the middle that have sampleLen bytes or more, or all: the first, the one after the last, and their bytes.
func (c *column) sample() (from, to int, b []byte) {
	at, end := 0, 0
	for i, n := range c.numbers {
		if end += int(n) * c.key.width(); end <= (len(c.bytes)-sampleLen)/2 {
			from, at = i+1, end
		}
		if to = i + 1; end-at >= sampleLen {
			break
		}
	}
	return from, to, c.bytes[at:end]
}

// lines returns values from..to-1 of a string, whose bytes b are, as lines, if they may be coded as names.
func (c *column) lines(from, to int, b []byte) ([]byte, bool) {
	if c.key[2] != 'Z' && c.key[2] != 'H' || len(b) == 0 || len(b) > mostName*(to-from) || bytes.IndexByte(b, '\n') >= 0 {
		return nil, false
	}
	lines := make([]byte, 0, len(b)+to-from)
	for _, n := range c.numbers[from:to] {
		lines = append(append(lines, b[:n]...), '\n')
		b = b[n:]
	}
	return lines, true
}

// repeated returns the bytes of equal values, given their code and the lengths. The error may be that they are others.
func (c *column) repeated(coded []byte) ([]byte, error) {
	n := int(c.numbers[0]) * c.key.width()
	if slices.ContainsFunc(c.numbers, func(v int64) bool { return v != c.numbers[0] }) {
		return nil, ErrCorrupt
	}
	value, err := general.Decode(coded, n)
	return bytes.Repeat(value, len(c.numbers)), err
}

func (c *column) arrayLayout() doubles.Layout {
	return doubles.Layout{Width: c.key.width(), Floats: c.key[3] == 'f'}
}

// parseBytes parses what appendBytes wrote, given the lengths.
func (c *column) parseBytes(in *parse.Cursor, given *reads, limit uint64) error {
	if c.key.number() {
		return nil
	}
	total := int64(0)
	for _, n := range c.numbers {
		if n < 0 || n > 1<<32 || total > 1<<36 {
			return ErrCorrupt
		}
		total += n * int64(c.key.width())
	}
	if uint64(total) > limit {
		return ErrCorrupt
	}
	for int64(len(c.bytes)) < total {
		size := int(min(total-int64(len(c.bytes)), pieceLen))
		way, coded := in.ByteAtMost(ways-1), in.Block()
		if way == asKinetics && len(c.bytes) == 0 {
			if err := given.decode(c, coded, int(total)); in.Failed() || err != nil {
				return ErrCorrupt
			}
			return nil
		}
		var piece []byte
		var err error
		if way == asSame && len(c.bytes) == 0 {
			size = int(total)
			piece, err = c.repeated(coded)
		} else if way != asNames {
			piece, err = decodePiece(way, coded, size)
		} else if len(c.bytes) == 0 {
			size = int(total)
			piece, err = names.Decode(coded, len(c.numbers), uint64(total)+uint64(len(c.numbers)))
			piece = bytes.ReplaceAll(piece, []byte{'\n'}, nil)
		}
		if in.Failed() || err != nil || len(piece) != size {
			return ErrCorrupt
		}
		c.bytes = append(c.bytes, piece...)
	}
	return nil
}
