package seqs

import (
	"orcomgo/compress/basemodel"
	rc "orcomgo/compress/rangecoder"
)

// leads codes the first bases of reads without a place that have that many, and all of whose bases are coded.
type leads struct {
	order *placeOrder  // where the leads are in order: the steps are coded
	known *knownValues // where leads of many reads, such as barcodes, came before
}

// leadBases is how many bases a lead has.
const leadBases = basemodel.LeadBases

// manyLeads: leads are coded as known values if at least one of so many reads has that of another one.
const manyLeads = 8

// newLeads codes whether and how the leads of column k are coded. read is that of encodeLiterals. If neither, the base model codes them.
func newLeads(c *rc.Coder, r *columnReads, k int, read func(k, i int) []byte) (l leads) {
	ordered, known := false, false
	if !c.Decoding() {
		distinct, reads, last := make(map[uint32]struct{}), 0, uint32(0)
		ordered = true
		r.forEach(k, false, func(i int, _ []byte, skip []bool) {
			if b := read(k, i); r.hasLead(k, i, skip) {
				lead := leadOf(b)
				ordered = ordered && lead >= last
				last = lead
				distinct[lead] = struct{}{}
				reads++
			}
		})
		known = (reads-len(distinct))*manyLeads > reads
	}
	if c.Uniform(uint32(rc.BitOf(ordered)), 1) != 0 {
		l.order = newPlaceOrder()
	} else if c.Uniform(uint32(rc.BitOf(known)), 1) != 0 {
		l.known = newKnownValues()
	}
	return l
}

// hasLead reports whether read i of column k, which has no place, has a lead.
func (r *columnReads) hasLead(k, i int, skip []bool) bool {
	return r.cols[k].Lengths.Of(i) >= leadBases && skip == nil && !r.inPieces(k, i)
}

// leadOf returns the lead of a read as a number, the first base highest.
func leadOf(b []byte) (lead uint32) {
	for _, x := range b[:leadBases] {
		lead = lead<<2 | uint32(x)
	}
	return lead
}

// code codes the lead of a read, b.
func (l *leads) code(c *rc.Coder, b []byte) {
	lead := uint64(0)
	if !c.Decoding() {
		lead = uint64(leadOf(b))
	}
	if l.order != nil {
		start, _, _ := l.order.next(c, uint32(lead), false, 0, func(uint32, bool) bool { return false })
		lead = uint64(start)
	} else if v, known := l.known.code(c, 0, lead); known {
		lead = v
	} else {
		lead = uint64(c.Uniform(uint32(lead), 32))
		l.known.add(c, 0, lead)
	}
	if c.Decoding() {
		for i := range b[:leadBases] {
			b[i] = byte(lead>>(2*(leadBases-1-i))) & 3
		}
	}
}
