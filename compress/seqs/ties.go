package seqs

import (
	"cmp"
	"math/bits"
	"slices"

	"orcomgo/bases"
	"orcomgo/compress/overlap"
)

// tieSorter sorts reads that begin at the same place on one strand: by length, by the place of the mate, by the number of their differences
// from the pseudogenome, and by the first of these that two reads do not share. So equal reads stand together, and each read says something
// about the next one.
type tieSorter struct {
	layout   *overlap.Layout
	oriented *overlap.OrientedReads
	first    uint32 // record, inside the part, of the first read
	mates    uint32 // record of its mate; first, if there are no mates

	tied     []tiedRead
	records  []uint32 // of tied
	reversed []bool   // of tied
	unlike   []uint64 // memory
}

// tiedRead is a read that begins where others do.
type tiedRead struct {
	entry    uint64 // of placeSorter.placed
	pos      uint32
	reversed bool
	length   int
	mate     uint64 // its place
	count    int    // of differences
	unlike   []uint64
	bases    []uint64
}

// tiedBatch is how many reads a tieSorter loads together, or more if they all begin at one place.
const tiedBatch = 1 << 12

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

// sort sorts entries of placeSorter.placed, which are sorted by key and ordinal.
func (t *tieSorter) sort(entries []uint64) {
	for len(entries) > 0 {
		t.tied, t.records, t.reversed = t.tied[:0], t.records[:0], t.reversed[:0]
		to := 0
		for to < len(entries) && len(t.tied) < tiedBatch {
			n := sameKey(entries[to:])
			for _, entry := range entries[to : to+n] {
				if n > 1 {
					t.add(entry)
				}
			}
			to += n
		}
		t.load()
		tied := t.tied
		for at := 0; at < to; {
			n := sameKey(entries[at:])
			if n > 1 {
				slices.SortFunc(tied[:n], compareTied)
				for i := range n {
					entries[at+i] = tied[i].entry
				}
				tied = tied[n:]
			}
			at += n
		}
		entries = entries[to:]
	}
}

// sameKey returns how many of the entries, the first ones, have the same key.
func sameKey(entries []uint64) (n int) {
	for n < len(entries) && entries[n]>>32 == entries[0]>>32 {
		n++
	}
	return n
}

// add adds a read to those that are sorted.
func (t *tieSorter) add(entry uint64) {
	record := t.first + uint32(entry)
	r := tiedRead{entry: entry, length: t.layout.LengthOf(record)}
	r.pos, r.reversed = t.layout.Place(record)
	if t.mates != t.first {
		pos, reversed := t.layout.Place(t.mates + uint32(entry))
		r.mate = uint64(pos) << 1
		if reversed {
			r.mate++
		}
	}
	t.tied, t.records, t.reversed = append(t.tied, r), append(t.records, record), append(t.reversed, r.reversed)
}

// load loads the bases of the reads and compares them with the pseudogenome.
func (t *tieSorter) load() {
	t.oriented.Load(t.records, t.reversed)
	t.unlike = t.unlike[:0]
	for k := range t.tied {
		r := &t.tied[k]
		r.bases = t.oriented.Read(k)
		at := len(t.unlike)
		t.unlike = appendUnlike(t.unlike, stretch{t.layout.Packed, int(r.pos)}, r.bases, r.length)
		r.unlike = t.unlike[at:]
		r.count = countBits(r.unlike)
	}
}

// compareTied compares reads that begin at the same place on one strand.
func compareTied(a, b tiedRead) int {
	order := cmp.Or(cmp.Compare(a.length, b.length), cmp.Compare(a.mate, b.mate), cmp.Compare(a.count, b.count))
	for i := 0; i < len(a.unlike) && order == 0; i++ {
		k := i
		if a.reversed {
			k = len(a.unlike) - 1 - i
		}
		x := a.unlike[k] ^ b.unlike[k]
		if x == 0 {
			continue
		}
		at := bits.TrailingZeros64(x)
		if a.reversed {
			at = 63 - bits.LeadingZeros64(x)
		}
		order = 1 - 2*int(a.unlike[k]>>at&1)
	}
	return cmp.Or(order, slices.Compare(a.bases, b.bases), cmp.Compare(a.entry, b.entry))
}

// sortByLead sorts reads by their first bases and by ordinal: see leads.
func (t *tieSorter) sortByLead(reads []uint32) {
	keys := make([]uint64, 0, len(reads))
	var reversed [tiedBatch]bool // none
	for from := 0; from < len(reads); from += tiedBatch {
		batch := reads[from:min(from+tiedBatch, len(reads))]
		t.records = t.records[:0]
		for _, read := range batch {
			t.records = append(t.records, t.first+read)
		}
		t.oriented.Load(t.records, reversed[:len(batch)])
		for k, read := range batch {
			first := uint64(0)
			if words := t.oriented.Read(k); len(words) > 0 {
				first = ^bases.ReverseComplement(words[0], leadBases) << 32
			}
			keys = append(keys, first|uint64(read))
		}
	}
	slices.Sort(keys)
	for i, key := range keys {
		reads[i] = uint32(key)
	}
}
