package names

import (
	"encoding/binary"
	"slices"
	"sync"

	rc "orcomgo/compress/rangecoder"
)

// sampleNames is the number of names with which the styles of cutting names are tried.
const sampleNames = 4096

// Encoder codes names in several sections. Each but the first begins with the models that the one before has left, so all of them
// take as many bytes as one section would; and it can be decoded only after those before it. The zero value is ready for the first one.
type Encoder struct {
	c    *codec // nil before the first section
	rule rule   // of second mates
}

// Encode codes n names, each followed by '\n' in names, as the next section. With first, not nil, they are those of second mates, as for
// EncodeMate; then all sections have first. ahead, if not nil, returns the names of the sections up to the last one, each followed by
// '\n': how fields are coded is decided by them. It is called for the first section only, where nil means names. Encode panics if
// names does not hold n lines.
func (e *Encoder) Encode(names, first []byte, n int, ahead func() []byte) []byte {
	if n == 0 {
		return []byte{formatEmpty}
	}
	if len(names) == 0 || names[len(names)-1] != '\n' {
		panic("names: text does not end in a newline")
	}
	if e.c != nil {
		return e.section([]byte{formatNext}, names, first, n)
	}
	if ahead == nil {
		ahead = func() []byte { return names }
	}
	if first != nil {
		e.rule = findRule(names, first, n)
	}
	best := bestStyle(names, first, n, e.rule)
	e.begin(best, ahead)
	return e.section(e.head(first != nil), names, first, n)
}

// Repeats reports whether names are coded by others from anywhere before them, in any section, since a field repeats itself.
func (e *Encoder) Repeats() bool { return e.c != nil && e.c.matchers > 0 }

// bestStyle returns the style in which a sample of the names takes the fewest bytes. The sample is from the middle, as the first names of
// a run are less regular. Names that all have one shape would not gain from another style.
func bestStyle(names, first []byte, n int, r rule) style {
	if n > sampleNames {
		names, first, n = sample(names, first, n)
	}
	best, bestSize := styleSplit, 0
	for s := styleSplit; s < styles; s++ {
		code, shapes := encodeStyle(names, first, n, s, r)
		if s == styleSplit || len(code) < bestSize {
			best, bestSize = s, len(code)
		}
		if shapes <= 1 {
			break
		}
	}
	return best
}

// encodeStyle codes the names cut by style s, as one section. It also returns how many shapes were made.
func encodeStyle(names, first []byte, n int, s style, r rule) (code []byte, shapes uint32) {
	e := Encoder{rule: r}
	e.begin(s, func() []byte { return names })
	code = e.section(e.head(first != nil), names, first, n)
	return code, e.c.made
}

// begin makes the models. Plans are made of names, when there is a shape.
func (e *Encoder) begin(s style, names func() []byte) {
	e.c = newCodec(s)
	e.c.plans = sync.OnceValue(func() map[string]shapePlan { return makePlans(names(), s) })
}

// head returns the first bytes of a section that is the first one.
func (e *Encoder) head(mates bool) []byte {
	b := []byte{formatFields, byte(e.c.style)}
	if mates {
		b = e.rule.append(b)
	}
	return b
}

// section codes n names after the first bytes of their section.
func (e *Encoder) section(head, names, first []byte, n int) []byte {
	c := e.c
	c.Coder = *rc.EncodeTo(make([]byte, 0, len(names)/8+64))
	c.raw = bitWriter{}
	head = binary.AppendUvarint(head, uint64(len(names)))
	for range n {
		end := lineLen(names)
		if end == 0 {
			panic("names: fewer lines than the number of names")
		}
		name := names[:end-1]
		names = names[end:]
		if first == nil {
			c.name(name, nil)
			continue
		}
		end = lineLen(first)
		if end == 0 {
			panic("names: fewer first mates than names")
		}
		c.mate(name, first[:end-1], e.rule)
		first = first[end:]
	}
	if len(names) != 0 {
		panic("names: more lines than the number of names")
	}
	raw := c.raw.finish()
	head = binary.AppendUvarint(head, uint64(len(raw)))
	return slices.Concat(head, raw, c.Enc.Finish())
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
