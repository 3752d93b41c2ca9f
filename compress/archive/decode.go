package archive

import (
	"fmt"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/parse"
)

// parseManifest reads the bytes of a .cmeta file; file is its name for errors. The checksum is compared
// before the version, so a damaged file is not taken for one of another version.
func parseManifest(file string, data []byte) (*Manifest, error) {
	return parseAny(file, data, (*Manifest).check)
}

// parseAny is parseManifest with the function that compares sums.
func parseAny(file string, data []byte, check func(m *Manifest, c *parse.Cursor)) (*Manifest, error) {
	if len(data) < len(metaMagic)+1+16 {
		return nil, corrupt(file, "%d bytes are too few for a manifest", len(data))
	}
	if string(data[:len(metaMagic)]) != metaMagic {
		return nil, corrupt(file, "the first bytes are not those of a manifest")
	}
	body := data[:len(data)-16]
	if xxh3.Hash128(body).Bytes() != [16]byte(data[len(body):]) {
		return nil, corrupt(file, "the checksum at its end does not match")
	}
	c := &parse.Cursor{Rest: body[len(metaMagic):]}
	v := c.Uvarint()
	if !c.Failed() && v != Version {
		return nil, fmt.Errorf("%s: %w %d, this program reads version %d", file, parse.ErrVersion, v, Version)
	}
	m := &Manifest{size: uint64(len(data))}
	m.code(&parse.Fields{In: c})
	if !c.Failed() && len(c.Rest) != 0 {
		c.Fail("%d bytes are left over", len(c.Rest))
	}
	if !c.Failed() {
		check(m, c)
	}
	if c.Failed() {
		return nil, corrupt(file, "%s", c.Reason)
	}
	return m, nil
}

// checkLeads makes sure that each slice of further mates is one of the first mates, too.
func (m *Manifest) checkLeads(c *parse.Cursor) {
	for i, lead := range m.Leads() {
		if s := &m.Slices[i]; m.Inputs[s.First.Input].Further && lead < 0 {
			c.Fail("slice %d is of further mates, and no slice has the first mates of its records", i+1)
			return
		}
	}
}

// check compares sums over the slices with what the inputs and the bulk file must hold,
// and gives the sections their offsets.
func (m *Manifest) check(c *parse.Cursor) {
	off := uint64(bulkHeader)
	m.eachSection(func(_ label, s *Section) {
		if s.Len > 0 {
			off += labelLen
		}
		s.Off = off
		off += min(s.Len, m.BulkLen+1) // no overflow: BulkLen is below 2^63, and off is checked at each step
		if off > m.BulkLen && !c.Failed() {
			c.Fail("sections reach beyond the %d bytes of %s", m.BulkLen, BulkSuffix)
			off = m.BulkLen
		}
	})
	if c.Failed() {
		return
	}
	if off != m.BulkLen {
		c.Fail("sections take %d of the %d bytes of %s", off, m.BulkLen, BulkSuffix)
		return
	}
	shared := m.SharedLen()
	type totals struct{ records, bases, text uint64 }
	sums := make([]totals, len(m.Inputs))
	for i := range m.Slices {
		s := &m.Slices[i]
		for _, p := range s.Members() {
			t, in := &sums[p.Input], &m.Inputs[p.Input]
			// Each is at most the input's total, which is below 2^63: the sums can't wrap.
			if p.Bases > in.Bases || uint64(s.Records) > in.Records || p.TextLen > in.OutBytes {
				c.Fail("slice %d is larger than its input", i+1)
				return
			}
			if p.Bases > plausible(shared+s.Seqs.Len) || p.NamesLen > plausible(p.Sections[Names].Len) {
				c.Fail("slice %d claims more than its sections can hold", i+1)
				return
			}
			t.records += uint64(s.MemberRecords())
			t.bases += p.Bases
			t.text += p.TextLen
			if t.records > in.Records || t.bases > in.Bases || t.text > in.OutBytes {
				c.Fail("slices of %q hold more than the input", in.Name)
				return
			}
		}
	}
	for i, t := range sums {
		in := &m.Inputs[i]
		if t.records != in.Records || t.bases != in.Bases || t.text != in.OutBytes {
			c.Fail("slices of %q hold less than the input", in.Name)
			return
		}
		if in.Blocks != nil || m.Options.Exact(in.Kind) {
			left := in.Bytes
			for _, b := range in.Blocks {
				if b.Len > left {
					c.Fail("text blocks of %q are longer than the input", in.Name)
					return
				}
				left -= b.Len
			}
			if left != 0 || m.Verified && in.OutBytes != in.Bytes {
				c.Fail("text blocks of %q do not add up to the input", in.Name)
				return
			}
		}
	}
}

// plausible returns the most bytes that a section of n bytes may decode to, so that memory
// is not given for what a forged manifest claims. The codecs spend more than 2^-17 bits on
// the likeliest letter; what they give for a few bytes is bounded by a constant.
func plausible(n uint64) uint64 { return min(n+512, 1<<40) << 20 }
