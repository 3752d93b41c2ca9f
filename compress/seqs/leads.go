package seqs

import (
	"slices"

	"orcomgo/compress/basemodel"
	rc "orcomgo/compress/rangecoder"
)

// leads codes the first bases of reads without a place: in a sorted slice, whose reads are in the order of these, as numbers of which each
// is given by the step to it; elsewhere, if the first bases of many reads are those of others, such as barcodes, as known ones.
type leads struct {
	bases int // how many bases; 0: the base model codes all
	known *knownPlaces
	order placeOrder
}

const (
	leadBases  = 16 // at most
	shortLeads = 11 // where they do not repeat: the base model knows more about later ones
	// fewLeads: the base model tells so few leads apart by the qualities, where there are any.
	fewLeads = 256
	// knownLeads: leads repeat if at least one of so many reads has that of another.
	knownLeads = 8
)

// begin codes how the leads of column k are coded. read is that of codeLiterals.
func (l *leads) begin(c *rc.Coder, r *columnReads, k int, read func(k, i int) []byte) {
	known := false
	if !c.Decoding() {
		l.bases, known = leadsOf(r, k, read)
	}
	l.bases = int(c.Uniform(uint32(l.bases), 5))
	if l.bases == 0 {
		return
	}
	if c.Uniform(uint32(rc.BitOf(known)), 1) != 0 {
		l.known = new(knownPlaces)
	} else {
		l.order = newPlaceOrder()
	}
}

// leadsOf returns how many bases the leads of column k are to have, 0 if there are to be none, and whether they are known ones.
func leadsOf(r *columnReads, k int, read func(k, i int) []byte) (n int, known bool) {
	for i, pos := range r.where[k].pos {
		if pos == unplaced {
			n = min(max(n, r.cols[k].Lengths.Of(i)), leadBases)
		}
	}
	l, reads, last, sorted := leads{bases: n}, 0, uint32(0), true
	distinct := make(map[uint32]struct{})
	r.forEach(k, false, func(i int, _ []byte, skip []bool) {
		if b := read(k, i); l.has(len(b), skip) && !r.inPieces(k, i) {
			lead := leadOf(b[:n])
			sorted = sorted && lead >= last
			distinct[lead] = struct{}{}
			last = lead
			reads++
		}
	})
	repeat := (reads-len(distinct))*knownLeads >= reads
	switch {
	case reads == 0 || !sorted && (!repeat || r.cols[k].Quals != nil && len(distinct) < fewLeads):
		return 0, false
	case !repeat:
		return min(n, shortLeads), false
	}
	return n, !sorted
}

// has reports whether a read has a lead: whether it is long enough and all of its bases are coded.
func (l *leads) has(n int, skip []bool) bool { return l.bases > 0 && n >= l.bases && skip == nil }

// leadOf returns bases as a number, the first one highest.
func leadOf(b []byte) (lead uint32) {
	for _, x := range b {
		lead = lead<<2 | uint32(x)
	}
	return lead
}

// code codes the lead of a read that has these qualities, if there are any, and returns how many bases of b it gives.
func (l *leads) code(c *rc.Coder, b, quals []byte) int {
	lead := uint32(0)
	if !c.Decoding() {
		lead = leadOf(b[:l.bases])
	}
	if l.known == nil {
		lead, _, _ = l.order.next(c, lead, false, 0, func(uint32, bool) bool { return false })
	} else {
		i := -1
		if !c.Decoding() {
			i = l.known.find(lead, false, 0)
		}
		least := byte(0)
		if quals != nil {
			least = slices.Min(quals[:l.bases])
		}
		if i = l.known.code(c, 0, int(basemodel.QualityClass(least)), i); i < 0 {
			return 0
		}
		lead = l.known.all[i].start
	}
	if c.Decoding() {
		for i := range b[:l.bases] {
			b[i] = byte(lead>>(2*(l.bases-1-i))) & 3
		}
	}
	return l.bases
}

// note notes the bases of a read whose lead was not known.
func (l *leads) note(c *rc.Coder, b []byte) {
	l.known.add(!c.Decoding(), knownPlace{start: leadOf(b[:l.bases])})
}
