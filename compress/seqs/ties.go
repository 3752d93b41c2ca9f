package seqs

import (
	"cmp"
	"slices"

	"orcomgo/bases"
	"orcomgo/compress/overlap"
)

// tieSorter sorts reads that begin at the same place on one strand: by length, by the place of the mate, by the number of their differences
// from the pseudogenome, and by the first of these. So equal reads stand together, and each read says something about the next one.
type tieSorter struct {
	layout   *overlap.Layout
	oriented *overlap.OrientedReads
	first    uint32 // record, inside the part, of the first read
	mates    uint32 // record of its mate; first, if there are no mates
	tied     []tiedRead
	records  []uint32
	reversed []bool
	unlike   []uint64 // memory
}

// tiedRead is a read that begins where others do.
type tiedRead struct {
	entry       uint64 // of placeSorter.placed
	length      int
	mate        uint64 // its place
	differences int
	firstOne    int // where the first difference is in the read
}

// newTieSorter returns a tieSorter of reads of a part, which is in memory: those of an input from a record on.
func (e *Encoder) newTieSorter(p *part, input int, from uint64) *tieSorter {
	t := &tieSorter{layout: p.layout, oriented: p.layout.Oriented()}
	t.first, _ = p.record(input, from)
	t.mates = t.first
	if mate := e.bins.Meta().Inputs[input].Mate; mate >= 0 {
		t.mates, _ = p.record(mate, from)
	}
	return t
}

// sort sorts entries of placeSorter.placed, which are sorted by key and ordinal, where keys are equal.
func (t *tieSorter) sort(entries []uint64) {
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && entries[n]>>32 == entries[0]>>32 {
			n++
		}
		if n > 1 {
			t.load(entries[:n])
			slices.SortFunc(t.tied, func(a, b tiedRead) int {
				return cmp.Or(cmp.Compare(a.length, b.length), cmp.Compare(a.mate, b.mate), cmp.Compare(a.differences, b.differences),
					cmp.Compare(a.firstOne, b.firstOne), cmp.Compare(a.entry, b.entry))
			})
			for i := range t.tied {
				entries[i] = t.tied[i].entry
			}
		}
		entries = entries[n:]
	}
}

// load sets tied to reads that begin at one place on one strand.
func (t *tieSorter) load(entries []uint64) {
	t.tied, t.records, t.reversed = t.tied[:0], t.records[:0], t.reversed[:0]
	_, rev := t.layout.Place(t.first + uint32(entries[0]))
	for _, entry := range entries {
		t.records, t.reversed = append(t.records, t.first+uint32(entry)), append(t.reversed, rev)
	}
	t.oriented.Load(t.records, t.reversed)
	for k, record := range t.records {
		pos, _ := t.layout.Place(record)
		w := alignment{rev: rev, n: t.layout.LengthOf(record)}
		r := tiedRead{entry: entries[k], length: w.n}
		if t.mates != t.first {
			r.mate = placeKey(t.layout.Place(t.mates + uint32(entries[k])))
		}
		t.unlike = appendUnlike(t.unlike[:0], stretch{t.layout.Packed, int(pos)}, t.oriented.Read(k), w.n)
		if r.differences = countBits(t.unlike); r.differences > 0 {
			r.firstOne = w.index(nextUnlike(t.unlike, rev))
		}
		t.tied = append(t.tied, r)
	}
}

// sortByLead sorts reads by their first bases: see leads.
func (t *tieSorter) sortByLead(reads []uint32) {
	keys := make([]uint64, len(reads))
	for i, read := range reads {
		t.oriented.Load([]uint32{t.first + read}, []bool{false})
		if words := t.oriented.Read(0); len(words) > 0 {
			keys[i] = ^bases.ReverseComplement(words[0], leadBases) << 32
		}
		keys[i] |= uint64(read)
	}
	slices.Sort(keys)
	for i, key := range keys {
		reads[i] = uint32(key)
	}
}
