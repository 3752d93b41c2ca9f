// Package names codes the column of read names.
//
// A name is cut into fields (numbers and words) and separators. Names with the same
// separators and kinds of fields have the same shape. Each field of a shape keeps its last value,
// and the next value is coded relative to it: unchanged, a step up or down, a number by
// the frequencies of its upper bits, a word that occurred before, or letter by letter. All decisions are binary, coded by
// package rangecoder under adaptive probabilities; those that cost most are mixed from several contexts.
//
// The idea of coding names field by field against an earlier name is that of SCALCE
// (Hach et al., Bioinformatics 2012), fqzcomp (Bonfield and Mahoney, PLoS ONE 2013) and the
// CRAM 3.1 name tokeniser (Bonfield, Bioinformatics 2022); the models here are our own.
package names

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	rc "orcomgo/compress/rangecoder"
)

// ErrCorrupt reports a stream that Encode or EncodeMate did not write for these arguments.
var ErrCorrupt = errors.New("names: stream is corrupt or truncated")

// Stream format versions; the first byte of a stream. docs/FORMAT.md, section Names.
const (
	formatEmpty  = 0 // no names at all
	formatFields = 1
	formatLight  = 2 // no mates
)

// sampleNames is the number of names with which the styles of cutting names are tried.
const sampleNames = 4096

// Encode codes n names, each followed by '\n' in names. A name may hold any bytes but '\n'.
// It panics if names does not hold n lines, which is an error of the caller.
func Encode(names []byte, n int) []byte { return encode(names, nil, n) }

// Decode is the inverse of Encode: it returns n names, each followed by '\n'. The result is
// at most maxBytes long, otherwise the error wraps ErrCorrupt.
func Decode(data []byte, n int, maxBytes uint64) ([]byte, error) {
	return decode(data, nil, n, n, maxBytes)
}

// DecodePrefix is Decode of the first k names of n. What follows them in the stream is neither decoded nor checked.
func DecodePrefix(data []byte, n, k int, maxBytes uint64) ([]byte, error) {
	return decode(data, nil, n, k, maxBytes)
}

// EncodeMate codes the names of n second mates, given in first those of the first mates (in
// the same form). A name that follows from the first mate's by the rule of the stream costs almost nothing.
func EncodeMate(names, first []byte, n int) []byte {
	if first == nil {
		first = []byte{}
	}
	return encode(names, first, n)
}

// DecodeMate is the inverse of EncodeMate, given the same first.
func DecodeMate(data, first []byte, n int, maxBytes uint64) ([]byte, error) {
	return DecodeMatePrefix(data, first, n, n, maxBytes)
}

// DecodeMatePrefix is DecodeMate of the first k names of n, given at least as many in first.
func DecodeMatePrefix(data, first []byte, n, k int, maxBytes uint64) ([]byte, error) {
	if first == nil {
		first = []byte{}
	}
	return decode(data, first, n, k, maxBytes)
}

func encode(names, first []byte, n int) []byte {
	if n == 0 {
		return []byte{formatEmpty}
	}
	if len(names) == 0 || names[len(names)-1] != '\n' {
		panic("names: text does not end in a newline")
	}
	var r rule
	if first != nil {
		r = findRule(names, first, n)
	}
	// Try the styles on a sample from the middle, as the first names of a run are less regular. Names
	// that all have one shape would not gain from another style.
	text, mates, k := names, first, n
	if n > sampleNames {
		text, mates, k = sample(names, first, n)
	}
	code, shapes := encodeStyle(text, mates, k, styleSplit, r)
	best, bestSize := styleSplit, len(code)
	for s := styleSplit + 1; s < styles && shapes > 1; s++ {
		if code, _ := encodeStyle(text, mates, k, s, r); len(code) < bestSize {
			best, bestSize = s, len(code)
		}
	}
	if k == n && best == styleSplit {
		return code
	}
	code, _ = encodeStyle(names, first, n, best, r)
	return code
}

// sample returns sampleNames lines from the middle of names (and of first).
func sample(names, first []byte, n int) (text, mates []byte, k int) {
	cut := func(b []byte) []byte {
		if b == nil {
			return nil
		}
		from, line := 0, 0
		for skip := (n - sampleNames) / 2; line < skip && from < len(b); line++ {
			from += lineLen(b[from:])
		}
		to := from
		for i := 0; i < sampleNames && to < len(b); i++ {
			to += lineLen(b[to:])
		}
		return b[from:to:to]
	}
	return cut(names), cut(first), sampleNames
}

// encodeStyle codes the names cut by style s. It also returns how many shapes were made.
func encodeStyle(names, first []byte, n int, s style, r rule) (code []byte, shapes uint32) {
	head := make([]byte, 0, 64)
	head = append(head, formatFields, byte(s))
	if first != nil {
		head = r.append(head)
	}
	head = binary.AppendUvarint(head, uint64(len(names)))
	c := newCodec(rc.EncodeTo(make([]byte, 0, len(names)/8+64), adaptation), s)
	text := names
	c.plans = sync.OnceValue(func() map[string]shapePlan { return makePlans(text, n, s) })
	for i := 0; i < n; i++ {
		end := lineLen(names)
		if end == 0 {
			panic("names: fewer lines than the number of names")
		}
		name := names[:end-1]
		names = names[end:]
		if first != nil {
			end := lineLen(first)
			if end == 0 {
				panic("names: fewer first mates than names")
			}
			c.mate(name, first[:end-1], r)
			first = first[end:]
		} else {
			c.name(name, nil)
		}
	}
	if len(names) != 0 {
		panic("names: more lines than the number of names")
	}
	raw := c.raw.finish()
	head = binary.AppendUvarint(head, uint64(len(raw)))
	return slices.Concat(head, raw, c.Enc.Finish()), c.made
}

// decode decodes the first k of n names.
func decode(data, first []byte, n, k int, maxBytes uint64) ([]byte, error) {
	if len(data) == 0 {
		return nil, ErrCorrupt
	}
	if data[0] == formatEmpty {
		if n != 0 || len(data) != 1 {
			return nil, ErrCorrupt
		}
		return []byte{}, nil
	}
	if data[0] == formatLight && first == nil {
		return decodeLight(data[1:], n, k, maxBytes)
	}
	if data[0] != formatFields || n <= 0 {
		return nil, fmt.Errorf("%w: format %d", ErrCorrupt, data[0])
	}
	if len(data) < 2 || style(data[1]) >= styles {
		return nil, ErrCorrupt
	}
	s := style(data[1])
	data = data[2:]
	var r rule
	if first != nil {
		var err error
		if r, data, err = parseRule(data); err != nil {
			return nil, err
		}
	}
	size, used := binary.Uvarint(data)
	if used <= 0 || size > maxBytes || size < uint64(n) {
		return nil, ErrCorrupt
	}
	data = data[used:]
	raw, used := binary.Uvarint(data)
	if used <= 0 || raw > uint64(len(data)-used) {
		return nil, ErrCorrupt
	}
	c := newCodec(rc.DecodeFrom(data[used:][raw:], adaptation), s)
	c.limit = int(size)
	c.rawIn.src = data[used:][:raw]
	// The buffer grows as names are decoded, so that a short damaged stream cannot make a large one.
	c.out = make([]byte, 0, min(size, 64*uint64(len(data))+4096))
	for i := 0; i < min(k, n); i++ {
		if first != nil {
			end := lineLen(first)
			if end == 0 {
				return nil, fmt.Errorf("%w: fewer first mates than names", ErrCorrupt)
			}
			c.mate(nil, first[:end-1], r)
			first = first[end:]
		} else {
			c.name(nil, nil)
		}
		c.out = append(c.out, '\n')
		if c.bad || len(c.out)+(n-1-i) > c.limit {
			return nil, ErrCorrupt
		}
	}
	if k < n {
		return c.out, nil
	}
	if err := c.Dec.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if len(c.out) != c.limit || !c.rawIn.exhausted() {
		return nil, ErrCorrupt
	}
	return c.out, nil
}
