package names

import (
	"encoding/binary"
	"sync"

	rc "orcomgo/compress/rangecoder"
)

// Encoder codes names in several sections. Each but the first begins with the models that the one before has left, so all of them
// take as many bytes as one section would; and it can be decoded only after those before it. The zero value is ready for the first one.
type Encoder struct {
	c     *codec // nil before the first section
	rule  rule   // of second mates
	plans func() map[string][]fieldPlan
}

// Renewed returns an encoder that codes fields as e does, and whose first section begins with new models.
func (e *Encoder) Renewed() Encoder { return Encoder{plans: e.plans} }

// Encode codes n names, each followed by '\n' in names, as the next section. With first, not nil, they are those of second mates, as for
// EncodeMate; then all sections have first. ahead, if not nil, returns the names of the sections up to the last one, each followed by
// '\n': how fields are coded is decided by them. It is called for the first section of an encoder that was not Renewed only, where nil
// means names. Encode panics if names does not hold n lines.
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
	if first != nil {
		e.rule = findRule(names, first, n)
	}
	if ahead == nil {
		ahead = func() []byte { return names }
	}
	if e.plans == nil {
		e.plans = sync.OnceValue(func() map[string][]fieldPlan { return makePlans(ahead()) })
	}
	e.c = newCodec()
	e.c.plans = e.plans
	head := []byte{formatFields}
	if first != nil {
		head = append(head, e.rule.mark, e.rule.from, e.rule.to)
	}
	return e.section(head, names, first, n)
}

// Repeats reports whether names are coded by others from anywhere before them, in any section, since a field repeats itself.
func (e *Encoder) Repeats() bool { return e.c != nil && e.c.repeats }

// section codes n names after the first bytes of their section.
func (e *Encoder) section(head, names, first []byte, n int) []byte {
	c := e.c
	c.Coder = *rc.EncodeTo(make([]byte, 0, len(names)/8+64))
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
	return append(head, c.Enc.Finish()...)
}
