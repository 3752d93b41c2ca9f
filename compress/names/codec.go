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
	hTop    = 11
	hLow    = 12
	hLen    = 13
	hOffset = 14
	hWord   = 15
	hLetter = 16
	hSize   = 17
)

// shape is a sequence of separators and kinds of fields, and the state of each field.
type shape struct {
	id    uint32
	key   []byte
	plan  shapePlan
	field []fieldState
}

// fieldState is the state of a field of a shape before the next name.
type fieldState struct {
	id   uint32 // unique among all fields of all shapes, for contexts
	kind uint8
	plan *fieldPlan

	num    numberState // of the value, or of the value / plan.unit
	val    uint32
	offset uint32 // val % plan.unit
	match  *matcher
	seen   *seenSet

	word  []byte
	index uint32 // of word in the dictionary, or wordNew
	words *dictionary
}

// codec is the state of a section, and of those that continue it, in either direction.
type codec struct {
	coder
	shapes    [maxShapes]*shape
	made      uint32            // shapes made so far; the next takes id made % maxShapes
	byKey     map[string]uint32 // encoder only
	last      *shape
	plans     func() map[string]shapePlan // encoder only; made when the first shape is
	tok       tokens
	mateTok   tokens // of the first mate's name
	line      []byte // the last name that was spelt out
	spellBuf  []byte // for the next word that is spelt out
	alphabets [lineID + 1]*alphabet

	// Of the name being coded:
	class       uint32 // how the last number field moved: classSame..
	rareChanged uint32 // 1: a field that rarely changes has changed
	prevTop     uint32 // upper bits of the last number field's value

	matchers, seenSets int // made so far

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
	if !c.Decoding() {
		c.tok.cut(name)
		if s := c.findShape(c.tok.key); s != nil {
			id = s.id
		}
	}
	if id = c.shapeID(id); id == newShape {
		like := c.line // the name that contexts of letters come from
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

// findShape returns the shape with the given key, or nil.
func (c *codec) findShape(key []byte) *shape {
	if c.last != nil && bytes.Equal(c.last.key, key) {
		return c.last
	}
	if id, ok := c.byKey[string(key)]; ok {
		return c.shapes[id]
	}
	return nil
}

// shapeID codes which shape the name has.
func (c *codec) shapeID(id uint32) uint32 {
	prev := uint32(newShape)
	if c.last != nil {
		prev = c.last.id
		h := hash(hShape, prev, 1)
		if c.direct(rc.BitOf(id == prev), h, 255) == 1 {
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
	id := c.made % maxShapes
	c.made++
	s := &shape{id: id, key: bytes.Clone(t.key), field: make([]fieldState, t.n)}
	if old := c.shapes[id]; old != nil {
		delete(c.byKey, string(old.key))
	}
	c.shapes[id] = s
	c.byKey[string(s.key)] = id
	var p *shapePlan
	if !c.Decoding() {
		if plan, ok := c.plans()[string(s.key)]; ok {
			p = &plan
		}
	}
	s.plan = c.codePlan(p, t.n)
	for i := range s.field {
		f := &s.field[i]
		f.id = id*maxFields + uint32(i)
		f.kind = t.field[i].kind
		f.plan = &s.plan.field[i]
		f.index = wordNew
		if f.kind == kindWord {
			f.words = &dictionary{index: map[string]uint32{}}
			f.setWord(name[t.field[i].from:t.field[i].to])
			continue
		}
		if f.plan.match {
			f.match = newMatcher()
		}
		if f.plan.sparse {
			f.seen = newSeenSet()
		}
		f.set(t.field[i].val)
	}
	c.last = s
}

// fields codes the fields of a name of shape s. first, if not nil, is the first mate's name,
// of the same shape and cut into c.mateTok.
func (c *codec) fields(s *shape, name, first []byte) {
	c.class, c.rareChanged, c.prevTop = classSame, 0, 0
	if first != nil {
		c.mateFields(s, name, first)
		return
	}
	if s.plan.hasRare {
		changed := 0
		if !c.Decoding() {
			for i := range s.field {
				if f := &s.field[i]; !f.plan.frequent && !f.holds(name, &c.tok.field[i]) {
					changed = 1
					break
				}
			}
		}
		c.rareChanged = uint32(c.direct(changed, hash(hRare, s.id, 0), 255))
	}
	if c.rareChanged == 1 {
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
	for i := range s.field {
		if s.field[i].plan.frequent {
			c.value(s, i, name)
		}
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
		switch {
		case c.direct(same, hash(hMate, f.id, 0), 255) == 0:
			c.value(s, i, name)
		case f.kind == kindWord:
			f.setWord(word)
		default:
			f.set(t.val)
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
	t := &c.tok.field[i]
	if f.kind == kindWord {
		var w []byte
		if !c.Decoding() {
			w = name[t.from:t.to]
		}
		c.word(f, w)
		return
	}
	var v uint32
	if !c.Decoding() {
		v = t.val
	}
	c.number(s, f, v)
}

// print appends the name that shape s now holds to the output.
func (c *codec) print(s *shape) {
	i := 0
	for _, b := range s.key {
		if b < 128 {
			c.out = append(c.out, b)
			continue
		}
		f := &s.field[i]
		i++
		switch {
		case f.kind == kindWord:
			c.out = append(c.out, f.word...)
		case f.kind == kindNumber:
			c.out = appendNumber(c.out, f.val, 0)
		default:
			c.out = appendNumber(c.out, f.val, int(f.kind-kindPadded))
		}
	}
}
