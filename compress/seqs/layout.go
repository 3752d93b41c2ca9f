package seqs

import (
	"fmt"

	"orcomgo/compress/edits"
)

// Unplaced is the position of a read without a place.
const Unplaced = unplaced

// Layout says where the reads of a column are on the pseudogenome.
type Layout struct {
	Positions []uint32 // of the leftmost base under each read, or Unplaced
	Reversed  []bool   // whether the read is the reverse complement of the pseudogenome there
	// Literals are, for each long read without a place, its stretches that are no pieces; nil for other reads, and if reads are not
	// aligned in pieces. Set by DecodeSlice only.
	Literals [][]edits.Span
	Pieces   []Stretch // of all reads of the slice, in the layout of its first column. Set by DecodeSlice only.

	// WithoutPlaced is set before DecodeSlice, in the layout of the first column, to leave out the reads that have a place: their letters
	// are not decoded.
	WithoutPlaced bool
	// WithoutLiterals is set before DecodeSlice, in the layout of the first column, to leave out the reads that have no place: their
	// letters are zeros. It must not be set if reads are aligned in pieces.
	WithoutLiterals bool
}

// Stretch is the bases From..To-1 of the pseudogenome.
type Stretch struct{ From, To uint64 }

// Places decodes where the reads of a slice are and nothing else, so that qualities are not needed. The columns are those of DecodeSlice.
// inPieces says that long reads may be aligned in pieces, which only DecodeSlice finds.
func (d *Decoder) Places(data []byte, first, mate *Column) (layouts [2]*Layout, inPieces bool, err error) {
	if first.Records == 0 {
		return [2]*Layout{{}, {}}, false, nil
	}
	p, flags, in, err := d.cutSlice(data, first, mate)
	if err == nil {
		err = d.wait(p)
	}
	if err != nil {
		return layouts, false, err
	}
	cols := []*Column{first}
	where := []*places{newPlaces(first.Records), nil}
	if mate != nil {
		cols = append(cols, mate)
		where[1] = newPlaces(mate.Records)
	}
	limit := uint64(d.genome.Len())
	if err = in.decodePlaces(newPlaceModel(p.tree, flags&flagSorted != 0), where[0], where[1], first.Lengths, limit); err != nil {
		return layouts, false, err
	}
	for i, c := range cols {
		if endOf(c, where[i]) > limit {
			return layouts, false, errEndsAfter
		}
		layouts[i] = &Layout{Positions: where[i].pos, Reversed: where[i].rev}
	}
	return layouts, flags&flagPieces != 0, nil
}

// endOf returns where the last base of the pseudogenome is that a read of a column needs, plus one.
func endOf(c *Column, w *places) (end uint64) {
	for i, p := range w.pos {
		if p != unplaced {
			end = max(end, uint64(p)+uint64(c.Lengths.Of(i)))
		}
	}
	return end
}

var (
	errOutside   = fmt.Errorf("%w: a read has a place outside of the pseudogenome", ErrCorrupt)
	errEndsAfter = fmt.Errorf("%w: a read ends after the pseudogenome", ErrCorrupt)
)

// withoutPlaced reports whether reads that have a place are not to be decoded.
func (c *Column) withoutPlaced() bool { return c.Layout != nil && c.Layout.WithoutPlaced }

// setLayouts sets the layouts of the columns that want them.
func (r *columnReads) setLayouts() {
	for k, c := range r.cols {
		if c.Layout == nil {
			continue
		}
		c.Layout.Positions, c.Layout.Reversed = r.where[k].pos, r.where[k].rev
		if r.spans != nil {
			c.Layout.Literals = r.spans[k]
		}
	}
}

// Genome waits until the pseudogenome is decoded up to base `to` and appends its bases from..to-1, one a byte, 0 to 3, to dst; those that
// there are, if `to` is beyond its end. An error wraps ErrCorrupt.
func (d *Decoder) Genome(dst []byte, from, to int) ([]byte, error) {
	n, err := d.Len()
	if to = min(to, n); from >= to || err != nil {
		return dst, err
	}
	if d.releaseWhile(func() { err = d.genome.Wait(to) }); err != nil {
		return nil, err
	}
	return d.genome.Append(dst, from, to-from), nil
}

// UnplacedLayout returns the layout of n reads of which none has a place.
func UnplacedLayout(n int) *Layout {
	l := &Layout{Positions: make([]uint32, n), Reversed: make([]bool, n)}
	for i := range l.Positions {
		l.Positions[i] = unplaced
	}
	return l
}

// InterleaveLayouts returns the layout of an interleaved input of those of its first and its second mates.
func InterleaveLayouts(first, second *Layout) *Layout {
	l := &Layout{Pieces: first.Pieces}
	for i := range first.Positions {
		l.Positions = append(l.Positions, first.Positions[i], second.Positions[i])
		l.Reversed = append(l.Reversed, first.Reversed[i], second.Reversed[i])
		if first.Literals != nil {
			l.Literals = append(l.Literals, first.Literals[i], second.Literals[i])
		}
	}
	return l
}

// EachLiteral calls f with the stretches of read i, which has n bases, that are neither given by a place nor by pieces.
func (l *Layout) EachLiteral(i, n int, f func(from, to int)) {
	switch {
	case l.Positions[i] != unplaced || n == 0:
	case l.Literals == nil || l.Literals[i] == nil:
		f(0, n)
	default:
		for _, s := range l.Literals[i] {
			f(int(s.Start), int(s.End))
		}
	}
}

// Len returns the number of bases of the pseudogenome. An error wraps ErrCorrupt.
func (d *Decoder) Len() (int, error) {
	if len(d.parts) == 0 {
		return 0, nil // no reads are on one
	}
	<-d.started // it is set by NewDecoder
	if d.err != nil {
		return 0, d.err
	}
	return d.genome.Len(), nil
}
