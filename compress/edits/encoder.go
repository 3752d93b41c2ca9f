package edits

import (
	"encoding/binary"

	rc "orcomgo/compress/rangecoder"
)

// Encoder codes the pieces of the reads of a slice, read after read.
type Encoder struct {
	o          Options
	c          *rc.Coder
	layout     *layout
	operations *operations
	template   template
	history    history
	steps      []uint32 // by class: since its last edit
	events     []event
	edits      []Edit // of a piece, moved
}

// event is the number of steps of a class before an edit.
type event struct{ class, gap uint32 }

// NewEncoder returns an encoder of a section.
func NewEncoder(o Options) *Encoder {
	e := &Encoder{o: o, c: rc.EncodeTo(nil), layout: newLayout(&o), operations: newOperations(), history: newHistory(),
		steps: make([]uint32, classCount)}
	e.template.o = &e.o
	return e
}

// Add codes the pieces of the next read, which has length bases and, if they are given, so many quality bytes. It panics if the pieces are
// not ones of such a read.
func (e *Encoder) Add(length uint32, pieces []Piece, quals []byte) {
	at := uint32(0)
	for i := range pieces {
		if !pieces[i].check(at, length, e.o.Bases) {
			panic("edits: a piece is not of this read and this shared sequence")
		}
		at = pieces[i].End
	}
	if e.o.Qualities && uint64(len(quals)) != uint64(length) {
		panic("edits: a read has not as many qualities as bases")
	}
	e.layout.pieceCount(e.c, uint32(len(pieces)))
	at = 0
	e.history.beginRead()
	for i := range pieces {
		p := &pieces[i]
		e.layout.bounds(e.c, i == 0, i == len(pieces)-1, at, length, p.Start, p.End)
		e.piece(p, i == 0, p.Start-at, quals)
		at = p.End
	}
	if len(pieces) > 0 {
		e.history.endRead()
	}
}

// piece codes a piece after gap literal bases.
func (e *Encoder) piece(p *Piece, first bool, gap uint32, quals []byte) {
	if e.o.Qualities {
		quals = quals[p.Start:p.End]
	} else {
		quals = nil
	}
	anchor := p.Anchor()
	e.template.begin(anchor, p.Reverse, int(p.Length))
	var from, left int
	e.edits, from, left = normalise(e.edits, p.Edits, e.template.bases, int(p.Length))
	if from > 0 {
		if anchor += uint64(from); p.Reverse {
			anchor -= 2 * uint64(from)
		}
		e.template.begin(anchor, p.Reverse, left)
	}
	e.layout.place(e.c, first, gap, anchor, p.Reverse)
	following := anchor + uint64(left)
	if p.Reverse {
		following = anchor - uint64(left)
	}
	e.layout.end(following, p.Reverse)
	e.bases(quals, left)
}

// bases codes the edits of a piece that has left bases of the template. quals is nil if there are none.
func (e *Encoder) bases(quals []byte, left int) {
	t, h := &e.template, &e.history
	h.steps = 0
	at, r, state := 0, 0, uint32(afterMatch)
	for edits := e.edits; ; {
		next := left
		if len(edits) > 0 {
			next = int(edits[0].At)
		}
		for at < next {
			runs, levels := t.runsFrom(at), e.levels(quals, r)
			runs = runs[:min(len(runs), len(levels), next-at)]
			levels = levels[:len(runs)]
			for i, run := range runs {
				e.steps[levelOf[levels[i]]+uint32(run)*states+state]++
				state = afterMatch
			}
			at, r, h.steps = at+len(runs), r+len(runs), h.steps+len(runs)
		}
		if len(edits) == 0 {
			return
		}
		class := levelOf[e.levels(quals, r)[0]] + uint32(t.runsFrom(at)[0])*states + state
		n := e.edit(class, edits)
		h.edit()
		state = uint32(edits[0].Kind) + 1
		switch edits[0].Kind {
		case Substitution:
			at, r = at+1, r+1
		case Insertion:
			r++
		default:
			at += n
		}
		edits = edits[n:]
	}
}

// levels returns the levels of the next steps, from base r of the piece on, as quality bytes.
func (e *Encoder) levels(quals []byte, r int) []byte {
	if quals != nil {
		return quals[r:]
	}
	return e.history.levels()
}

// edit codes the first edit, which is of a class, or all bases of a deletion, and returns how many edits it coded.
func (e *Encoder) edit(class uint32, edits []Edit) int {
	e.events = append(e.events, event{class, e.steps[class]})
	e.steps[class] = 0
	x, t := edits[0], e.template.bases
	m := e.operations
	m.kindOf(e.c, class, x.Kind)
	n := 1
	switch x.Kind {
	case Substitution:
		m.substituted(e.c, t, int(x.At), x.Base)
	case Insertion:
		m.insertion(e.c, t, int(x.At), runOf(class), x.Base)
	default:
		for n < len(edits) && edits[n].Kind == Deletion && edits[n].At == x.At+uint32(n) {
			n++
		}
		m.deleted(e.c, n)
	}
	return n
}

// Finish returns the section. The Encoder must not be used after that.
func (e *Encoder) Finish() []byte {
	gaps := e.gaps()
	operations := e.c.Enc.Finish()
	out := binary.AppendUvarint(nil, uint64(len(gaps)))
	return append(append(out, gaps...), operations...)
}

// gaps returns the stream of the gaps of all classes.
func (e *Encoder) gaps() []byte {
	ends := make([]int, len(e.steps)+1)
	for _, x := range e.events {
		ends[x.class+1]++
	}
	for k := 1; k < len(ends); k++ {
		ends[k] += ends[k-1]
	}
	sorted := make([]uint32, len(e.events))
	for _, x := range e.events {
		sorted[ends[x.class]] = x.gap
		ends[x.class]++
	}
	c := rc.EncodeTo(nil)
	m := newGapModel()
	from := 0
	for k := range e.steps {
		m.class(c, k%states, sorted[from:ends[k]], 0) // no error when encoding
		from = ends[k]
	}
	return c.Enc.Finish()
}
