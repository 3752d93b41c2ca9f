package edits

import (
	"fmt"

	"orcomgo/bins/parse"
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
}

// NewDecoder returns a decoder of the section of an Encoder with the same options. reads is how many bases all of its reads have. It takes
// up to 16 bytes for each, if the section says that all of them are edits. An error wraps ErrCorrupt.
func NewDecoder(section []byte, o Options, reads uint64) (*Decoder, error) {
	n, k := parse.Uvarint(section)
	if k <= 0 || n > uint64(len(section)-k) {
		return nil, fmt.Errorf("%w: no length of the gaps", ErrCorrupt)
	}
	d := &Decoder{o: o, c: rc.DecodeFrom(section[k+int(n):]), layout: newLayout(&o), operations: newOperations(),
		history: newHistory()}
	d.template.o = &d.o
	d.steps = make([]uint32, classCount)
	d.next, d.end = make([]int, len(d.steps)), make([]int, len(d.steps))
	c := rc.DecodeFrom(section[k : k+int(n)])
	m := newGapModel()
	// Each edit adds a base to the read, or is followed by one that does.
	most := int(min(2*reads, 1<<40))
	for i := range d.steps {
		d.next[i] = len(d.gaps)
		var err error
		if d.gaps, err = m.class(c, i%states, d.gaps, most); err != nil {
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
	d.history.steps = 0
	at, state := 0, uint32(afterMatch)
	for r := 0; r < len(dst); {
		if at >= t.known {
			if t.complete() {
				return 0, d.overrun()
			}
			t.extend(len(dst) - r)
			continue
		}
		levels := d.history.levels()
		if quals != nil {
			levels = quals[r:]
		}
		n, class := d.without(t.runsFrom(at), levels[:min(len(levels), len(dst)-r)], state)
		if n > 0 {
			copy(dst[r:], t.bases[at:at+n])
			at, r, state, d.history.steps = at+n, r+n, afterMatch, d.history.steps+n
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
		d.history.edit()
	}
	if at > t.room {
		return 0, d.overrun()
	}
	return at, nil
}

// without returns the number of steps before the next edit, as far as there are both runs and levels, and the class of the edit, if there
// is one. state is that of the first step.
func (d *Decoder) without(runs []uint8, levels []byte, state uint32) (n int, class uint32) {
	steps := (*[classCount]uint32)(d.steps)
	runs = runs[:min(len(runs), len(levels))]
	levels = levels[:len(runs)]
	for i, run := range runs {
		class = levelOf[levels[i]] + uint32(run)*states + state
		s := &steps[class]
		if *s == 0 {
			return i, class
		}
		*s--
		state = afterMatch
	}
	return len(runs), class
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
		return kind, m.insertion(d.c, t.bases, at, runOf(class), 0), 0, nil
	}
	n = m.deleted(d.c, 0)
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
