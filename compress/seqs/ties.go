package seqs

import (
	"cmp"
	"slices"

	"orcomgo/bases"
	"orcomgo/compress/overlap"
	rc "orcomgo/compress/rangecoder"
)

// tieSorter sorts reads that begin at the same place on one strand: by length, by the place of the mate, and as compareTied says:
// see groups.
type tieSorter struct {
	layout   *overlap.Layout
	oriented *overlap.OrientedReads
	first    uint32 // record, inside the part, of the first read
	mates    uint32 // record of its mate; first, if there are no mates
	tied     []tiedRead
	records  []uint32
	reversed []bool
}

// tiedRead is a read that begins where others do.
type tiedRead struct {
	entry uint64 // of placeSorter.placed
	w     alignment
	mate  uint64   // its place
	odd   int      // 1 if it has letters other than A, C, G and T
	read  []uint64 // on the pseudogenome's strand
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
				if x := cmp.Or(cmp.Compare(a.w.n, b.w.n), cmp.Compare(a.mate, b.mate), cmp.Compare(a.odd, b.odd)); x != 0 {
					return x
				}
				return cmp.Or(compareTied(a.read, b.read, a.w, stretch{t.layout.Packed, int(a.w.pos)}), cmp.Compare(a.entry, b.entry))
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
		r := tiedRead{entry: entries[k], w: alignment{uint64(pos), rev, t.layout.LengthOf(record)}, read: t.oriented.Read(k),
			odd: rc.BitOf(t.layout.HasNonACGT(record))}
		if t.mates != t.first {
			r.mate = placeKey(t.layout.Place(t.mates + uint32(entries[k])))
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
