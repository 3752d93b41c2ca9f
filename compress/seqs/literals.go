package seqs

import (
	"encoding/binary"

	"orcomgo/bins/parse"
	"orcomgo/compress/basemodel"
	rc "orcomgo/compress/rangecoder"
)

// eachLiteral calls f with the bases of the reads of column k that have no place which are coded, stretch by stretch, and their qualities.
// They are the places of bases, those of read, that are not in skip. first says whether a stretch begins a read that has a lead.
func (r *columnReads) eachLiteral(k int, read func(k, i int) []byte, f func(bases, quals []byte, skip []bool, first bool)) {
	r.forEach(k, false, func(i int, quals []byte, skip []bool) {
		b, hasLead := read(k, i), r.hasLead(k, i, skip)
		r.literals(k, i, func(from, to int) {
			q, s := quals, skip
			if q != nil {
				q = q[from:to]
			}
			if s != nil {
				s = s[from:to]
			}
			f(b[from:to], q, s, hasLead)
		})
	})
}

// gather returns the literals of column k, end to end, with leads only if they are coded as such.
func (r *columnReads) gather(k, size int, withLeads bool, read func(k, i int) []byte) *basemodel.Literals {
	x := &basemodel.Literals{Bases: make([]byte, 0, size)}
	r.eachLiteral(k, read, func(bases, quals []byte, skip []bool, first bool) {
		if first && withLeads {
			x.Leads = append(x.Leads, len(x.Bases))
		}
		for j, b := range bases {
			if skip != nil && skip[j] {
				continue
			}
			x.Bases = append(x.Bases, b)
			if quals != nil {
				x.Quals = append(x.Quals, quals[j])
			}
		}
	})
	return x
}

// each codes the leads of column k, and reports whether they are coded.
func (l *leads) each(c *rc.Coder, r *columnReads, k int, read func(k, i int) []byte) (coded bool) {
	if l.order == nil && l.known == nil {
		return false
	}
	r.forEach(k, false, func(i int, _ []byte, skip []bool) {
		if r.hasLead(k, i, skip) {
			l.code(c, read(k, i))
		}
	})
	return true
}

// literalModel returns the model of the reads of column k that have no place, nil if there are none.
func (s *slice) literalModel(r *columnReads, k int) (m *basemodel.Model, size int, err error) {
	if !r.needModel(k) {
		return nil, 0, nil
	}
	size = r.literalBases(k, r.cols[k].Records)
	if m, err = s.model(); err != nil {
		return nil, 0, err
	}
	return m.Clone(size), size, nil
}

// literalsCoded notes that so many literals are coded. In a slice with pieces, reads without a place were told with these.
func (s *slice) literalsCoded(r *columnReads, n int) {
	if !s.inPieces {
		r.coded(n)
	}
}

// encodeLiterals returns the stream of the reads of column k that have no place, which is empty if there are none. read returns the bases
// of a read, one a byte.
func (s *slice) encodeLiterals(r *columnReads, k int, read func(k, i int) []byte) ([]byte, error) {
	m, size, err := s.literalModel(r, k)
	if m == nil {
		return nil, err
	}
	defer m.Release()
	c := encodeTo(nil)
	l := newLeads(c, r, k, read)
	withLeads := l.each(c, r, k, read)
	out := c.Enc.Finish()
	out = append(binary.AppendUvarint(nil, uint64(len(out))), out...)
	out = m.Append(out, r.gather(k, size, withLeads, read))
	s.literalsCoded(r, size)
	return out, nil
}

// decodeLiterals is the inverse of encodeLiterals. The letters of a read go where read says.
func (s *slice) decodeLiterals(stream []byte, r *columnReads, k int, read func(k, i int) []byte) error {
	m, size, err := s.literalModel(r, k)
	if m == nil {
		return err
	}
	defer m.Release()
	n, used := parse.Uvarint(stream)
	if used <= 0 || n > uint64(len(stream)-used) {
		return ErrCorrupt
	}
	c := decodeFrom(stream[used:][:n])
	l := newLeads(c, r, k, read)
	withLeads := l.each(c, r, k, read)
	x := r.gather(k, size, withLeads, read) // only the leads are known
	if err := m.Decode(stream[used+int(n):], x); err != nil {
		return corrupt(err)
	}
	s.literalsCoded(r, size)
	at := 0
	r.eachLiteral(k, read, func(bases, _ []byte, skip []bool, _ bool) {
		for j := range bases {
			if skip == nil || !skip[j] {
				bases[j] = x.Bases[at]
				at++
			}
		}
		toLetters(bases)
	})
	return nil
}
