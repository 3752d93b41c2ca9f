package columns

import (
	"errors"
	"slices"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
)

var formsColumn = column{
	id: archive.Forms,
	// Records whose qualities were not kept come back as FASTA, one line a sequence.
	kept: func(o record.Options, kind record.Kind) bool {
		return !o.ReadsOnly && (!kind.Format().Quals || o.Quality != record.QualityDrop)
	},
	fromBins: bins.WantForms,
	gather:   gatherForms,
	permute:  permuteForms,
	sum:      func(c *Columns) uint64 { return archive.Hash64(record.MarshalForms(nil, &c.Forms)) },
}

func gatherForms(c *Columns, from []stretch) error {
	// The form of the longest stretch is the default of the slice.
	main := from[0]
	for _, s := range from {
		if s.hi-s.lo > main.hi-main.lo {
			main = s
		}
	}
	c.Forms.Default = main.b.Forms.Default
	base := 0
	for _, s := range from {
		c.Forms.Exceptions = appendForms(c.Forms.Exceptions, &s.b.Forms, s.lo, s.hi, base, &c.Forms.Default)
		if fields := s.b.Forms.Fields; fields != nil {
			c.Forms.Fields = append(slices.Grow(c.Forms.Fields, c.Records-base), fields[s.lo:s.hi]...)
		}
		base += s.hi - s.lo
	}
	if n := len(c.Forms.Fields); n > 0 && n != base {
		return errFields
	}
	return nil
}

var errFields = errors.New("some records of a slice are BAM and others are not")

// appendForms appends to dst the records lo..hi of l that differ from def, numbered from base.
func appendForms(dst []record.FormException, l *record.Forms, lo, hi, base int, def *record.Form) []record.FormException {
	es := l.Slice(uint32(lo), uint32(hi)).Exceptions
	if l.Default.Equal(def) {
		for _, e := range es {
			e.Read += uint32(base)
			dst = append(dst, e)
		}
		return dst
	}
	own := l.Default // of a block whose memory is used again
	for i := range uint32(hi - lo) {
		r := &own
		if len(es) > 0 && es[0].Read == i {
			r, es = es[0].Form, es[1:]
		}
		if !r.Equal(def) {
			dst = append(dst, record.FormException{Read: i + uint32(base), Form: r})
		}
	}
	return dst
}

// permuteForms also gives the last record of a file, which may now be anywhere, an ordinary end:
// a missing newline and blank lines belong to the end of the file.
func permuteForms(c *Columns, p *Permutation) {
	if c.Forms.IsDefault() {
		return
	}
	l := &c.Forms
	l.Fields = permuted(l.Fields, p.Perm)
	l.Default.NoNewline, l.Default.Tail = false, ""
	var kept []record.FormException
	for _, e := range l.Exceptions {
		if e.NoNewline || e.Tail != "" {
			own := *e.Form
			own.NoNewline, own.Tail = false, ""
			e.Form = &own
		}
		if !e.Form.Equal(&l.Default) {
			e.Read = p.inverse()[e.Read]
			kept = append(kept, e)
		}
	}
	slices.SortFunc(kept, func(a, b record.FormException) int { return int(a.Read) - int(b.Read) })
	l.Exceptions = kept
}

// permuted returns which records of fields come one after another; nil if there are no fields.
func permuted(fields []string, perm []uint32) []string {
	if fields == nil {
		return nil
	}
	out := make([]string, len(perm))
	for i, from := range perm {
		out[i] = fields[from]
	}
	return out
}
