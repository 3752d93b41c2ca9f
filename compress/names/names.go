// Package names codes the column of read names.
//
// A name is cut into fields (numbers and words) and separators. Names with the same
// separators and kinds of fields share a shape; each field of a shape keeps its last value
// and is coded against it: unchanged, a step up or down, a position in numbers' own
// frequencies, a word met before, or letter by letter. All decisions are binary, coded by
// compress/rangecoder under adaptive probabilities, the costly ones mixed from several contexts.
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
)

// ErrCorrupt reports a stream that no encoder wrote.
var ErrCorrupt = errors.New("names: stream is corrupt or truncated")

// Stream format versions; the first byte of a stream. docs/FORMAT.md, section Names.
const (
	formatEmpty  = 0 // no names at all
	formatFields = 1
)

// sampleNames is how many names each way to cut names is tried on.
const sampleNames = 4096

// Encode codes n names, each followed by '\n' in names. A name may hold any bytes but '\n'.
// It panics if names does not hold n lines, which is a mistake of the caller.
func Encode(names []byte, n int) []byte { return encode(names, nil, n) }

// Decode is the inverse of Encode: it returns n names, each followed by '\n'. The result is
// at most maxBytes long, otherwise the error wraps ErrCorrupt.
func Decode(data []byte, n int, maxBytes uint64) ([]byte, error) {
	return decode(data, nil, n, maxBytes)
}

// EncodeMate codes the names of n second mates, given in first those of the first mates (in
// the same form). Names that follow from the first mate's by one rule for all cost next to nothing.
func EncodeMate(names, first []byte, n int) []byte {
	if first == nil {
		first = []byte{}
	}
	return encode(names, first, n)
}

// DecodeMate is the inverse of EncodeMate, given the same first.
func DecodeMate(data, first []byte, n int, maxBytes uint64) ([]byte, error) {
	if first == nil {
		first = []byte{}
	}
	return decode(data, first, n, maxBytes)
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
	// Try the ways to cut names on a sample from the middle, where runs have settled. Names
	// that all have one shape would gain nothing from another way.
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

// encodeStyle codes the names cut by style s, and tells how many shapes they had.
func encodeStyle(names, first []byte, n int, s style, r rule) (code []byte, shapes uint32) {
	head := make([]byte, 0, 64)
	head = append(head, formatFields, byte(s))
	if first != nil {
		head = r.append(head)
	}
	head = binary.AppendUvarint(head, uint64(len(names)))
	c := newCodec(s)
	text := names
	c.plans = sync.OnceValue(func() map[string]shapePlan { return makePlans(text, n, s) })
	c.enc.Reset(make([]byte, 0, len(names)/8+64))
	for i := 0; i < n; i++ {
		end := lineLen(names)
		if end == 0 {
			panic("names: fewer lines than told")
		}
		name := names[:end-1]
		names = names[end:]
		if first != nil {
			end := lineLen(first)
			if end == 0 {
				panic("names: fewer first mates than told")
			}
			c.mate(name, first[:end-1], r)
			first = first[end:]
		} else {
			c.name(name, nil)
		}
	}
	if len(names) != 0 {
		panic("names: more lines than told")
	}
	raw := c.raw.finish()
	head = binary.AppendUvarint(head, uint64(len(raw)))
	return slices.Concat(head, raw, c.enc.Finish()), c.made
}

func decode(data, first []byte, n int, maxBytes uint64) ([]byte, error) {
	if len(data) == 0 {
		return nil, ErrCorrupt
	}
	if data[0] == formatEmpty {
		if n != 0 || len(data) != 1 {
			return nil, ErrCorrupt
		}
		return []byte{}, nil
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
	size, k := binary.Uvarint(data)
	if k <= 0 || size > maxBytes || size < uint64(n) {
		return nil, ErrCorrupt
	}
	data = data[k:]
	raw, k := binary.Uvarint(data)
	if k <= 0 || raw > uint64(len(data)-k) {
		return nil, ErrCorrupt
	}
	c := newCodec(s)
	c.limit = int(size)
	c.decoding = true
	c.rawIn.src = data[k:][:raw]
	c.dec.Reset(data[k:][raw:])
	// Grown as names come, so that a short damaged stream can't claim a large buffer.
	c.out = make([]byte, 0, min(size, 64*uint64(len(data))+4096))
	for i := 0; i < n; i++ {
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
	if len(c.out) != c.limit || c.dec.Err() != nil || !c.rawIn.whole() {
		return nil, ErrCorrupt
	}
	return c.out, nil
}
