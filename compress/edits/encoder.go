package edits

import (
	"encoding/binary"
	"math/bits"

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
	masks      classMasks
}

// event is the number of steps of a class before an edit.
type event struct{ class, gap uint32 }

// NewEncoder returns an encoder of a section.
func NewEncoder(o Options) *Encoder {
	e := &Encoder{o: o, c: rc.EncodeTo(nil), layout: newLayout(&o), operations: newOperations(&o), history: newHistory(),
		steps: make([]uint32, classCount(o.Qualities))}
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
	e.edits, from, left = normalise(e.edits, p.Edits, e.template.bases, int(p.Length), quals)
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
	if quals != nil {
		e.withQualities(quals, left)
	} else {
		e.plain(left)
	}
}

// withQualities codes the edits of a piece that has left bases of the template.
func (e *Encoder) withQualities(quals []byte, left int) {
	t := &e.template
	at, r, state := 0, 0, uint32(afterMatch)
	edits := e.edits
	for {
		next := left
		if len(edits) > 0 {
			next = int(edits[0].At)
		}
		for at < next {
			runs := t.runsFrom(at)
			runs = runs[:min(len(runs), next-at)]
			for i, run := range runs {
				e.steps[levelOf[quals[r+i]]+uint32(run)*qualityStates+state]++
				state = afterMatch
			}
			at, r = at+len(runs), r+len(runs)
		}
		if len(edits) == 0 {
			return
		}
		class := levelOf[quals[r]] + uint32(t.runsFrom(at)[0])*qualityStates + state
		n := e.edit(class, edits)
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

// plain is withQualities without them.
func (e *Encoder) plain(left int) {
	t, h := &e.template, &e.history
	h.beginPiece()
	at := 0
	edits := e.edits
	state, afterEdit := uint32(0), false
	for {
		next := left
		if len(edits) > 0 {
			next = int(edits[0].At)
		}
		for at < next {
			if afterEdit {
				e.steps[h.level()*runClasses*plainStates+uint32(t.class(at))*plainStates+state]++
				afterEdit = false
				at++
				h.add(1)
				continue
			}
			n := min(next-at, int(h.next-h.steps))
			base := h.base()
			e.addSteps(base, at, n, h.rare())
			at += n
			h.add(uint32(n))
		}
		if len(edits) == 0 {
			return
		}
		class := h.base() + uint32(t.class(at))*plainStates
		if afterEdit {
			class = h.level()*runClasses*plainStates + uint32(t.class(at))*plainStates + state
		}
		n := e.edit(class, edits)
		state, afterEdit = uint32(edits[0].Kind)+1, true
		h.edit()
		switch edits[0].Kind {
		case Substitution:
			at++
		case Deletion:
			at += n
		}
		edits = edits[n:]
	}
}

// addSteps counts n steps without an edit, from base `at` of the template on. many says that there are many, probably.
func (e *Encoder) addSteps(base uint32, at, n int, many bool) {
	steps, t := e.steps[base:][:(runClasses-1)*plainStates+1], &e.template
	for end := at + n; at < end; {
		if many {
			k := min(end-at, masksStep)
			classes := e.masks.set(t, at, k)
			for run, m := range e.masks[:classes] {
				steps[run*plainStates] += uint32(bits.OnesCount64(m))
			}
			at += k
			continue
		}
		runs := t.runsFrom(at)
		runs = runs[:min(len(runs), end-at)]
		for _, run := range runs {
			steps[uint32(run)*plainStates]++
		}
		at += len(runs)
	}
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
		m.insertion(e.c, t, int(x.At), m.run(class), class%m.states == afterInsertion, x.Base)
	default:
		for n < len(edits) && edits[n].Kind == Deletion && edits[n].At == x.At+uint32(n) {
			n++
		}
		m.deleted(e.c, t, int(x.At), n)
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
	m := newGapModel(int(e.operations.states))
	from := 0
	for k := range e.steps {
		m.class(c, k%int(e.operations.states), sorted[from:ends[k]], 0) // no error when encoding
		from = ends[k]
	}
	return c.Enc.Finish()
}
