package names

import (
	"bytes"

	rc "orcomgo/compress/rangecoder"
)

const (
	maxShapes = 255 // shapes kept at a time; the code 255 is a name that is spelt out
	newShape  = maxShapes

	lineID = maxShapes * maxFields // in place of a field's id, for names spelt out
)

// Kinds of context, so that hashes of different models differ; part of the format.
const (
	hShape  = 1
	hPlan   = 2
	hRare   = 3
	hMate   = 4
	hRule   = 5
	hSame   = 6
	hKind   = 7
	hEqual  = 8
	hMatch  = 9
	hFits   = 10
	hLow    = 11
	hWell   = 12
	hLetter = 13
	hSize   = 14
)

// shape is a sequence of separators and kinds of fields, and the state of each field.
type shape struct {
	id    uint32
	key   []byte
	field []fieldState
	often []int    // the frequent fields
	parts [][]byte // what is before each frequent field, and after the last one; empty after a change
	text  []byte   // of parts

	again, changed *rc.Prob // that the next name has the shape, too; that a rare field changes
}

// fieldState is the state of a field of a shape before the next name.
type fieldState struct {
	id   uint32 // unique among all fields of all shapes, for contexts
	kind uint8
	plan *fieldPlan

	equal, fits, well *rc.Prob

	num    numberState // of the value, or of its cell
	val    uint32
	offset uint32 // of val in its cell
	match  *matcher

	up    [16]*symbols // of the length of steps
	down  *symbols
	top   [2]*symbols
	parts [8]*symbols // of words; of places in windows
	shift *[maxRows]int8

	word  []byte
	index uint32 // of word in the dictionary, or wordNew
	words *dictionary
}

// codec is the state of a section, and of those that continue it, in either direction.
type codec struct {
	coder
	shapes     [maxShapes]*shape
	shapesMade uint32            // the next takes id shapesMade % maxShapes
	byKey      map[string]uint32 // encoder only
	last       *shape
	plans      func() map[string][]fieldPlan // encoder only; made when the first shape is
	tok        tokens
	mateTok    tokens   // of the first mate's name
	line       []byte   // the last name that was spelt out
	spellBuf   []byte   // for the next word that is spelt out
	sizes      *symbols // of words that are spelt out

	// Of the name being coded:
	class       uint32 // how the last number field moved: classSame..
	upBits      uint32 // of its step if that was up, at most 15; else 0
	rareChanged uint32 // 1: a field that rarely changes has changed

	tables  int  // of matchers and of shifts, made so far
	repeats bool // there are matchers

	out   []byte // decoder only
	limit int
	bad   bool // the stream is not valid
}

// newCodec returns a codec whose direction is not set yet.
func newCodec() *codec {
	c := &codec{byKey: map[string]uint32{}}
	c.init()
	return c
}

// name codes a name. first is the first mate's, or nil.
func (c *codec) name(name, first []byte) {
	id := uint32(newShape)
	c.rareChanged = 0
	if !c.Decoding() {
		if first == nil && c.last != nil && c.tok.cutLike(name, c.last) {
			id = c.last.id
		} else {
			c.rareChanged = 1 // or it is found to be the same
			c.tok.cut(name)
			if i, ok := c.byKey[string(c.tok.key)]; ok {
				id = i
			}
		}
	}
	if id = c.shapeID(id); id == newShape {
		like := c.line // the name that is as long, mostly
		if first != nil {
			like = first
		}
		c.line = c.spell(nil, like, name, lineID)
		if c.bad {
			return
		}
		c.addShape(c.line)
		if c.Decoding() {
			c.out = append(c.out, c.line...)
		}
		return
	}
	s := c.shapes[id]
	if s == nil {
		c.bad = true
		return
	}
	if first != nil {
		c.mateTok.cut(first)
		if !bytes.Equal(c.mateTok.key, s.key) {
			first = nil
		}
	}
	c.fields(s, name, first)
	c.last = s
	if c.Decoding() {
		c.print(s)
	}
}

// shapeID codes which shape the name has.
func (c *codec) shapeID(id uint32) uint32 {
	prev := uint32(newShape)
	if c.last != nil {
		prev = c.last.id
		if c.Adapt(rc.BitOf(id == prev), c.last.again, 255) == 1 {
			return prev
		}
	}
	return c.tree(id, 8, hash(hShape, prev, 2), 60)
}

// addShape makes the shape of name. Its fields have the name's values.
func (c *codec) addShape(name []byte) {
	if c.Decoding() {
		c.tok.cut(name)
	}
	t := &c.tok
	id := c.shapesMade % maxShapes
	c.shapesMade++
	if old := c.shapes[id]; old != nil {
		delete(c.byKey, string(old.key))
	}
	var p []fieldPlan
	if !c.Decoding() {
		p = c.plans()[string(t.key)]
	}
	s := t.shape(id, c.codePlan(p, t.n), name)
	s.again, s.changed = c.at(hash(hShape, id, 1)), c.at(hash(hRare, id, 0))
	for i := range s.field {
		f := &s.field[i]
		f.equal, f.fits, f.well = c.at(hash(hEqual, f.id, 0)), c.at(hash(hFits, f.id, 0)), c.at(hash(hWell, f.id, 0))
	}
	c.shapes[id] = s
	c.byKey[string(s.key)] = id
	c.last = s
}

// shape returns the shape of name, which was cut.
func (t *tokens) shape(id uint32, plan []fieldPlan, name []byte) *shape {
	s := &shape{id: id, key: bytes.Clone(t.key), field: make([]fieldState, t.n)}
	for i := range s.field {
		f := &s.field[i]
		f.id = id*maxFields + uint32(i)
		f.kind = t.field[i].kind
		f.plan = &plan[i]
		if f.plan.frequent {
			s.often = append(s.often, i)
		}
		f.index = wordNew
		if f.kind == kindWord {
			f.words = &dictionary{index: map[string]uint32{}}
		}
		if f.plan.match {
			f.match = newMatcher()
		}
		if f.plan.pitch > 0 {
			f.shift = new([maxRows]int8)
		}
	}
	s.take(name, t)
	return s
}

// take gives the fields the values of a name of the shape, which is cut, without coding.
func (s *shape) take(name []byte, t *tokens) {
	for i := range s.field {
		s.field[i].take(name, &t.field[i])
	}
	s.parts = s.parts[:0]
}

// take gives the field the value of the token without coding.
func (f *fieldState) take(name []byte, t *field) {
	if f.kind == kindWord {
		f.setWord(name[t.from:t.to])
	} else {
		f.set(t.val)
	}
}

// fields codes the fields of a name of shape s. first, if not nil, is the first mate's name,
// of the same shape and cut into c.mateTok.
func (c *codec) fields(s *shape, name, first []byte) {
	c.class, c.upBits = classNone, 0
	if first != nil {
		c.rareChanged, s.parts = 0, s.parts[:0]
		c.mateFields(s, name, first)
		return
	}
	changed := 0
	for i := 0; c.rareChanged == 1 && changed == 0 && i < len(s.field); i++ {
		f := &s.field[i]
		changed = rc.BitOf(!f.plan.frequent && !f.holds(name, &c.tok.field[i]))
	}
	if len(s.often) < len(s.field) {
		changed = c.Adapt(changed, s.changed, 255)
	}
	if c.rareChanged = uint32(changed); changed == 1 {
		s.parts = s.parts[:0]
		for i := range s.field {
			f := &s.field[i]
			if f.plan.frequent {
				continue
			}
			same := 0
			if !c.Decoding() {
				same = rc.BitOf(f.holds(name, &c.tok.field[i]))
			}
			if c.direct(same, hash(hRare, f.id, 1), 30) == 0 {
				c.value(s, i, name)
			}
		}
	}
	for _, i := range s.often {
		c.value(s, i, name)
	}
}

// mateFields codes the fields of a second mate's name that does not follow the rule: most are nevertheless
// equal to the first mate's.
func (c *codec) mateFields(s *shape, name, first []byte) {
	for i := range s.field {
		f := &s.field[i]
		t := &c.mateTok.field[i]
		word := first[t.from:t.to]
		same := 0
		if !c.Decoding() {
			n := &c.tok.field[i]
			same = rc.BitOf(bytes.Equal(name[n.from:n.to], word))
		}
		if c.direct(same, hash(hMate, f.id, 0), 255) == 0 {
			c.value(s, i, name)
		} else {
			f.take(first, t)
		}
	}
}

// holds reports whether the field's last value is that of the token.
func (f *fieldState) holds(name []byte, t *field) bool {
	if f.kind == kindWord {
		return bytes.Equal(f.word, name[t.from:t.to])
	}
	return f.val == t.val
}

// value codes the next value of field i, which may be the same as the last.
func (c *codec) value(s *shape, i int, name []byte) {
	f := &s.field[i]
	t := &c.tok.field[i] // of no use when decoding
	if f.kind == kindWord {
		var w []byte
		if !c.Decoding() {
			w = name[t.from:t.to]
		}
		c.word(f, w)
		return
	}
	c.number(s, i, t.val)
}

// print appends the name that shape s now holds to the output.
func (c *codec) print(s *shape) {
	parts := s.unchanged()
	out := append(c.out, parts[0]...)
	for k, i := range s.often {
		out = append(s.field[i].print(out), parts[k+1]...)
	}
	c.out = out
}

// print appends the value.
func (f *fieldState) print(out []byte) []byte {
	if f.words != nil {
		return append(out, f.word...)
	}
	return appendNumber(out, f.val, int(f.kind)-kindPadded)
}

// unchanged returns what is before each frequent field and after the last one, as long as no other field changes.
func (s *shape) unchanged() [][]byte {
	if len(s.parts) > 0 {
		return s.parts
	}
	text, from, i := s.text[:0], 0, 0
	for _, b := range s.key {
		switch {
		case b < 128:
			text = append(text, b)
			continue
		case s.field[i].plan.frequent:
			s.parts = append(s.parts, text[from:])
			from = len(text)
		default:
			text = s.field[i].print(text)
		}
		i++
	}
	s.text, s.parts = text, append(s.parts, text[from:])
	return s.parts
}
