package bam

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
)

// Widths are the bytes of numbers by their type; 0 for other types.
var Widths = [256]int{'A': 1, 'c': 1, 'C': 1, 's': 2, 'S': 2, 'i': 4, 'I': 4, 'f': 4}

// CutTag takes a tag off those of a record. kind is its type and element the type of elements of an array, else 0; value has the bytes
// after these, without the end of a string or the number of elements. ok is false where no valid tag begins.
func CutTag(b []byte) (kind, element byte, value, rest []byte, ok bool) {
	if len(b) < 3 {
		return 0, 0, nil, nil, false
	}
	kind, value = b[2], b[3:]
	size := Widths[kind]
	switch kind {
	case 'Z', 'H':
		n := bytes.IndexByte(value, 0)
		if n < 0 {
			return 0, 0, nil, nil, false
		}
		return kind, 0, value[:n], value[n+1:], true
	case 'B':
		if len(value) < 5 || value[0] == 'A' || Widths[value[0]] == 0 {
			return 0, 0, nil, nil, false
		}
		element, size = value[0], Widths[value[0]]*int(binary.LittleEndian.Uint32(value[1:]))
		value = value[5:]
	default:
		ok = size > 0
	}
	if !ok && kind != 'B' || size > len(value) {
		return 0, 0, nil, nil, false
	}
	return kind, element, value[:size], value[size:], true
}

// Comments says which tags comments of FASTQ have, as SAM has them and in the order of the record: those with these names, or all if it is
// not nil and empty.
type Comments []string

// append appends the tags of a record, each after a tab.
func (c Comments) append(dst, tags []byte) []byte {
	for c != nil {
		kind, element, value, rest, ok := CutTag(tags)
		if !ok {
			break
		}
		if len(c) == 0 || slices.Contains(c, string(tags[:2])) {
			dst = appendTag(dst, tags[:2], kind, element, value)
		}
		tags = rest
	}
	return dst
}

// appendTag appends a tag as SAM has it: all integers have the type i.
func appendTag(dst, name []byte, kind, element byte, value []byte) []byte {
	dst = append(append(append(dst, '\t'), name...), ':')
	switch kind {
	case 'A', 'Z', 'H':
		return append(append(dst, kind, ':'), value...)
	case 'B':
		dst = append(dst, 'B', ':', element)
		for w := Widths[element]; len(value) > 0; value = value[w:] {
			dst = appendNumber(append(dst, ','), element, value)
		}
		return dst
	case 'f':
		return appendNumber(append(dst, "f:"...), kind, value)
	}
	return appendNumber(append(dst, "i:"...), kind, value)
}

func appendNumber(dst []byte, kind byte, value []byte) []byte {
	if kind == 'f' {
		return strconv.AppendFloat(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(value))), 'g', 6, 32)
	}
	return strconv.AppendInt(dst, Integer(kind, value), 10)
}

// Integer returns the integer that a value of a type is.
func Integer(kind byte, value []byte) int64 {
	switch kind {
	case 'c':
		return int64(int8(value[0]))
	case 's':
		return int64(int16(binary.LittleEndian.Uint16(value)))
	case 'S':
		return int64(binary.LittleEndian.Uint16(value))
	case 'i':
		return int64(int32(binary.LittleEndian.Uint32(value)))
	case 'I':
		return int64(binary.LittleEndian.Uint32(value))
	}
	return int64(value[0])
}
