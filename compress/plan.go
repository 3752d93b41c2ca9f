package compress

import (
	"fmt"
	"math/bits"

	"orcomgo/bins"
	"orcomgo/compress/archive"
)

const (
	// sliceText is how much text of the first input a slice aims for: enough for the
	// models to learn, little enough that several fit in memory.
	sliceText = 64 << 20
	// sliceReads is how many reads a slice of reads alone, in layout order, aims for.
	sliceReads = 1 << 20
)

// unit is what is sliced together: an input, or the two inputs of a pair.
type unit struct {
	first, mate int // mate is -1 without one
}

func (u unit) inputs() []int {
	if u.mate < 0 {
		return []int{u.first}
	}
	return []int{u.first, u.mate}
}

// units lists the units in the order of their first inputs.
func units(inputs []bins.Input) ([]unit, error) {
	var us []unit
	for i := range inputs {
		in := &inputs[i]
		if in.Mate < 0 {
			us = append(us, unit{i, -1})
			continue
		}
		if in.Mate >= len(inputs) || in.Mate == i || inputs[in.Mate].Mate != i || inputs[in.Mate].First == in.First {
			return nil, fmt.Errorf("%s: its mates are in input %d, which is not so", in.Name, in.Mate+1)
		}
		if mate := &inputs[in.Mate]; mate.Records != in.Records {
			return nil, fmt.Errorf("%s has %d records and %s, its mates, %d", in.Name, in.Records, mate.Name, mate.Records)
		}
		if in.First {
			us = append(us, unit{i, in.Mate})
		}
	}
	return us, nil
}

// sliceSpec says which records make up a slice.
type sliceSpec struct {
	unit
	from    uint64
	records int
	text    uint64 // bytes of original text of the unit, roughly; for progress
	// whole: the slice's records are those at from..from+records in the layout order of the
	// whole input, not in input order.
	whole bool
}

// wholeOrder reports whether nothing of an input's records is kept but their reads, as a
// set, so that the order of the layout may run through the whole input.
func wholeOrder(o bins.Options, kind bins.Kind) bool {
	return o.OrderAny && (o.ReadsOnly || o.DropNames && o.Quality == bins.QualityDrop && kind == bins.FASTQ)
}

// planSlices cuts the units into slices. The cuts depend on nothing but the bins and their
// options. With reorder, slices may be whole.
func planSlices(m *bins.Meta, reorder bool) ([]sliceSpec, error) {
	us, err := units(m.Inputs)
	if err != nil {
		return nil, err
	}
	var specs []sliceSpec
	for _, u := range us {
		var text uint64
		for _, i := range u.inputs() {
			text += m.Inputs[i].Bytes
		}
		records := m.Inputs[u.first].Records
		cut := func(from, records uint64, parts uint64, whole bool) {
			parts = max(parts, (records+archive.MaxSliceRecords-1)/archive.MaxSliceRecords)
			parts = min(parts, records)
			for k := range parts {
				lo, hi := records*k/parts, records*(k+1)/parts
				specs = append(specs, sliceSpec{unit: u, from: from + lo, records: int(hi - lo), whole: whole,
					text: share(text, hi-lo, m.Inputs[u.first].Records)})
			}
		}
		whole := reorder && wholeOrder(m.Options, m.Inputs[u.first].Kind)
		if u.mate >= 0 {
			whole = whole && wholeOrder(m.Options, m.Inputs[u.mate].Kind)
		}
		if whole {
			cut(0, records, (records+sliceReads-1)/sliceReads, true)
			continue
		}
		for _, i := range m.BlocksOf(u.first) {
			b := &m.Blocks[i]
			cut(b.FirstRecord, uint64(b.Records), (b.TextLen+sliceText-1)/sliceText, false)
		}
	}
	return specs, nil
}

// share returns total * part / whole; 0 of nothing.
func share(total, part, whole uint64) uint64 {
	if whole == 0 {
		return 0
	}
	hi, lo := bits.Mul64(total, part)
	q, _ := bits.Div64(hi, lo, whole) // part <= whole, so the quotient fits
	return q
}
