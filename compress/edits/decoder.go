package edits

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	rc "orcomgo/compress/rangecoder"
)

// Span is the bases [Start, End) of a read.
type Span struct{ Start, End uint32 }

// Decoder decodes a section, read after read.
type Decoder struct {
	o          Options
	c          *rc.Coder
	layout     *layout
	operations *operations
	template   template
	history    history
	steps      []uint32 // by class: before its next edit; notAGap: it has no more
	gaps       []uint32 // of all classes
	next, end  []int    // by class: its gaps
	edits      int      // so far
	literals   []Span
	masks      classMasks
}

// NewDecoder returns a decoder of the section of an Encoder with the same options. reads is how many bases all of its reads have. It takes
// up to 16 bytes for each, if the section says that all of them are edits. An error wraps ErrCorrupt.
func NewDecoder(section []byte, o Options, reads uint64) (*Decoder, error) {
	n, k := binary.Uvarint(section)
	if k <= 0 || n > uint64(len(section)-k) {
		return nil, fmt.Errorf("%w: no length of the gaps", ErrCorrupt)
	}
	d := &Decoder{o: o, c: rc.DecodeFrom(section[k+int(n):]), layout: newLayout(&o), operations: newOperations(&o),
		history: newHistory()}
	d.template.o = &d.o
	d.steps = make([]uint32, classCount(o.Qualities))
	d.next, d.end = make([]int, len(d.steps)), make([]int, len(d.steps))
	c := rc.DecodeFrom(section[k : k+int(n)])
	m := newGapModel(int(d.operations.states))
	// Each edit adds a base to the read, or is followed by one that does.
	most := int(min(2*reads, 1<<40))
	for i := range d.steps {
		d.next[i] = len(d.gaps)
		var err error
		if d.gaps, err = m.class(c, i%int(d.operations.states), d.gaps, most); err != nil {
			return nil, err
		}
		d.end[i] = len(d.gaps)
		d.advance(uint32(i))
	}
	if err := c.Dec.Err(); err != nil {
		return nil, fmt.Errorf("%w: gaps: %w", ErrCorrupt, err)
	}
	return d, nil
}

// advance takes the next gap of a class.
func (d *Decoder) advance(class uint32) {
	d.steps[class] = notAGap
	if d.next[class] < d.end[class] {
		d.steps[class] = d.gaps[d.next[class]]
		d.next[class]++
	}
}

// Next decodes the next read: the bases (0 to 3) of its pieces to dst, which is as long as the read. It returns the stretches of dst
// that it leaves as they were: those that no piece has. They are valid until the next call. quals are the read's quality bytes
// if the section was coded with them. An error wraps ErrCorrupt; nothing can be decoded after it.
func (d *Decoder) Next(dst, quals []byte) ([]Span, error) {
	if d.o.Qualities && len(quals) != len(dst) {
		return nil, fmt.Errorf("%w: a read of %d bases has %d qualities", ErrCorrupt, len(dst), len(quals))
	}
	d.literals = d.literals[:0]
	length := uint32(len(dst))
	pieces := d.layout.pieceCount(d.c, 0)
	if pieces > length || pieces > 0 && d.o.Bases == 0 {
		return nil, fmt.Errorf("%w: a read of %d bases has %d pieces", ErrCorrupt, len(dst), pieces)
	}
	at := uint32(0)
	d.history.beginRead()
	for i := range pieces {
		start, end := d.layout.bounds(d.c, i == 0, i == pieces-1, at, length, 0, 0)
		if start < at || end <= start || end > length {
			return nil, fmt.Errorf("%w: a piece has the bases %d to %d of %d", ErrCorrupt, start, end, length)
		}
		if start > at {
			d.literals = append(d.literals, Span{at, start})
		}
		anchor, reverse := d.layout.place(d.c, i == 0, start-at, 0, false)
		if anchor >= d.o.Bases {
			return nil, fmt.Errorf("%w: a piece is at %d of %d", ErrCorrupt, anchor, d.o.Bases)
		}
		d.template.begin(anchor, reverse, int(end-start))
		var q []byte
		if d.o.Qualities {
			q = quals[start:end]
		}
		n, err := d.bases(dst[start:end], q)
		if err != nil {
			return nil, err
		}
		following := anchor + uint64(n)
		if reverse {
			following = anchor - uint64(n)
		}
		if d.o.Decoded != nil {
			if reverse {
				d.o.Decoded(following+1, anchor+1)
			} else {
				d.o.Decoded(anchor, following)
			}
		}
		d.layout.end(following, reverse)
		at = end
	}
	if pieces > 0 {
		d.history.endRead()
	}
	if at < length {
		d.literals = append(d.literals, Span{at, length})
	}
	return d.literals, nil
}

// Finish returns an error, which wraps ErrCorrupt, unless the section ends with the last read.
func (d *Decoder) Finish() error {
	if err := d.c.Dec.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if d.edits != len(d.gaps) {
		return fmt.Errorf("%w: of %d edits, the reads have %d", ErrCorrupt, len(d.gaps), d.edits)
	}
	return nil
}

// bases decodes the bases of a piece and returns how many bases of the template they took. quals is nil if there are none.
func (d *Decoder) bases(dst, quals []byte) (int, error) {
	t := &d.template
	d.history.beginPiece()
	at, state := 0, uint32(afterMatch)
	for r := 0; r < len(dst); {
		if at >= t.known {
			if t.complete() {
				return 0, d.overrun()
			}
			t.extend(len(dst) - r)
			continue
		}
		var n int
		var class uint32
		if quals != nil {
			n, class = d.withQualities(t.runsFrom(at), quals[r:], state)
		} else {
			n, class = d.plain(at, len(dst)-r, state)
		}
		if n > 0 {
			copy(dst[r:], t.bases[at:at+n])
			at, r, state = at+n, r+n, afterMatch
			continue
		}
		kind, b, k, err := d.edit(class, at)
		if err != nil {
			return 0, err
		}
		if kind != Deletion {
			dst[r] = b
			r++
		}
		at += k
		state = uint32(kind) + 1
		if quals == nil {
			d.history.edit()
		}
	}
	if at > t.room {
		return 0, d.overrun()
	}
	return at, nil
}

// withQualities returns the number of steps before the next edit, as far as there are both runs and qualities, and, if that is 0, the
// class of the edit. state is that of the first step.
func (d *Decoder) withQualities(runs []uint8, quals []byte, state uint32) (n int, class uint32) {
	class = levelOf[quals[0]] + uint32(runs[0])*qualityStates + state
	if d.steps[class] == 0 {
		return 0, class
	}
	d.steps[class]--
	return 1 + d.without(runs[1:], quals[1:]), class
}

// without returns the number of steps before the next edit, as far as there are both runs and qualities.
func (d *Decoder) without(runs []uint8, quals []byte) int {
	steps := d.steps
	runs = runs[:min(len(runs), len(quals))]
	quals = quals[:len(runs)]
	for i, run := range runs {
		s := &steps[levelOf[quals[i]]+uint32(run)*qualityStates]
		if *s == 0 {
			return i
		}
		*s--
	}
	return len(runs)
}

// plain is withQualities without them, from base `at` of the template on, for at most `most` steps; it may return fewer steps than there
// are. state is afterMatch, or that after the edit that was the last step.
func (d *Decoder) plain(at, most int, state uint32) (n int, class uint32) {
	h := &d.history
	if state != afterMatch {
		class = h.level()*runClasses*plainStates + uint32(d.template.class(at))*plainStates + state
		if d.steps[class] == 0 {
			return 0, class
		}
		d.steps[class]--
		h.add(1)
		return 1, class
	}
	base := h.base()
	most = min(most, d.template.known-at, int(h.next-h.steps))
	if h.rare() {
		n, class = d.manySteps(base, at, most)
	} else {
		n, class = d.withoutPlain(base, d.template.runsFrom(at), most)
	}
	h.add(uint32(n))
	return n, class
}

// withoutPlain returns the number of steps before the next edit, of at most `most` and those that have runs, and, if it is 0, the class of
// the edit.
func (d *Decoder) withoutPlain(base uint32, runs []uint8, most int) (n int, class uint32) {
	steps := d.steps[base:][:(runClasses-1)*plainStates+1]
	runs = runs[:min(len(runs), most)]
	for i, run := range runs {
		s := &steps[uint32(run)*plainStates]
		if *s == 0 {
			return i, base + uint32(run)*plainStates
		}
		*s--
	}
	return len(runs), base
}

// manySteps is withoutPlain from base `at` of the template on, for edits that are rare.
func (d *Decoder) manySteps(base uint32, at, most int) (n int, class uint32) {
	steps := d.steps[base:][:(runClasses-1)*plainStates+1]
	for n < most {
		k := min(most-n, masksStep)
		classes := d.masks.set(&d.template, at+n, k)
		var counts [runClasses]uint32
		left := int64(0) // below 0: one of these steps has an edit
		for run, m := range d.masks[:classes] {
			counts[run] = uint32(bits.OnesCount64(m))
			left |= int64(steps[run*plainStates]) - int64(counts[run])
		}
		if left < 0 {
			k, class = d.toEdit(steps, classes)
			return n + k, base + class
		}
		for run, c := range counts[:classes] {
			steps[run*plainStates] -= c
		}
		n += k
	}
	return n, base
}

// toEdit takes the steps before the next edit, which is one of those of masks, and returns how many they are, and the class of the edit,
// less that of the first one of steps.
func (d *Decoder) toEdit(steps []uint32, classes int) (n int, class uint32) {
	n = masksStep
	masks := d.masks[:classes]
	for run, m := range masks {
		if s := steps[run*plainStates]; s < uint32(bits.OnesCount64(m)) {
			if i := nthBit(m, s); i < n {
				n, class = i, uint32(run)*plainStates
			}
		}
	}
	for run, m := range masks {
		steps[run*plainStates] -= uint32(bits.OnesCount64(m & (1<<n - 1)))
	}
	return n, class
}

// nthBit returns the number of the n-th bit, from 0 on, of those that are set in m. There is one.
func nthBit(m uint64, n uint32) int {
	for range n {
		m &= m - 1
	}
	return bits.TrailingZeros64(m)
}

// edit decodes an edit of a class at a base of the template: its kind, its base and how many bases of the template it takes.
func (d *Decoder) edit(class uint32, at int) (kind, b uint8, n int, err error) {
	d.advance(class)
	d.edits++
	m, t := d.operations, &d.template
	kind = m.kindOf(d.c, class, 0)
	if kind != Insertion && at >= t.room {
		return 0, 0, 0, d.overrun()
	}
	if d.c.Dec.Left() < -16 {
		return 0, 0, 0, fmt.Errorf("%w: edits are cut off", ErrCorrupt)
	}
	switch kind {
	case Substitution:
		return kind, m.substituted(d.c, t.bases, at, 0), 1, nil
	case Insertion:
		return kind, m.insertion(d.c, t.bases, at, m.run(class), class%m.states == afterInsertion, 0), 0, nil
	}
	// Bases are compared that need not be read yet.
	if !t.complete() && at+deletionSteps >= len(t.bases) {
		t.extend(deletionSteps)
	}
	n = m.deleted(d.c, t.bases, at, 0)
	if n > t.room-at {
		return 0, 0, 0, d.overrun()
	}
	for at+n >= t.known && !t.complete() {
		t.extend(at + n - t.known)
	}
	return kind, 0, n, nil
}

func (d *Decoder) overrun() error {
	return fmt.Errorf("%w: a piece goes beyond the shared sequence", ErrCorrupt)
}
