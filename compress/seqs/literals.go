package seqs

import rc "orcomgo/compress/rangecoder"

// openBases is memory for the bases of a read that are coded, and for their qualities.
type openBases struct{ bases, quals []byte }

// of returns the bases for which skip is not set, and their qualities; nil if quals is nil.
func (o *openBases) of(bases, quals []byte, skip []bool) ([]byte, []byte) {
	o.bases, o.quals = o.bases[:0], o.quals[:0]
	for j, b := range bases {
		if skip[j] {
			continue
		}
		o.bases = append(o.bases, b)
		if quals != nil {
			o.quals = append(o.quals, quals[j])
		}
	}
	if quals == nil {
		return o.bases, nil
	}
	return o.bases, o.quals
}

// restore is the inverse of of: it enters the open bases among all of a read, and leaves the others as they are.
func (o *openBases) restore(all []byte, skip []bool) {
	k := 0
	for j := range all {
		if !skip[j] {
			all[j] = o.bases[k]
			k++
		}
	}
}

// codeLiterals codes the reads of column k that have no place. read returns the bases of a read, one a byte; decoding, where
// its letters go.
func (s *slice) codeLiterals(c *rc.Coder, r *columnReads, k int, read func(k, i int) []byte) error {
	if !r.needModel(k) {
		return nil
	}
	bases := r.literalBases(k, r.cols[k].Records)
	m, err := s.model()
	if err != nil {
		return err
	}
	m = m.Clone(bases)
	defer m.Release()
	var open openBases
	l := newLeads(c, r, k, read)
	r.forEach(k, false, func(i int, quals []byte, skip []bool) {
		b := read(k, i)[:r.cols[k].Lengths.Of(i)]
		hasLead, given := r.hasLead(k, i, skip), 0
		if hasLead && l.code(c, b) {
			given = leadBases
			m.Pass(b[:given])
		}
		r.literals(k, i, func(from, to int) {
			from = max(from, given)
			all, q := b[from:to], quals
			if q != nil {
				q = q[from:to]
			}
			bases := all
			if skip != nil {
				bases, q = open.of(all, q, skip[from:to])
			}
			if !c.Decoding() {
				m.Encode(c.Enc, bases, q)
				return
			}
			m.Decode(c.Dec, bases, q)
			if skip != nil {
				open.restore(all, skip[from:to])
			}
		})
		if hasLead && given == 0 && l.known != nil {
			l.known.add(c, 0, uint64(leadOf(b)))
		}
		if c.Decoding() {
			r.literals(k, i, func(from, to int) { toLetters(b[from:to]) })
		}
	})
	return nil
}
