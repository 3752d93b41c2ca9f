package archive

import (
	"fmt"
	"math"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"

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
	m.parseHead(c)
	m.parseInputs(c)
	m.parseSlices(c)
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

func (m *Manifest) parseHead(c *parse.Cursor) {
	c.Copy(m.ID[:])
	c.Copy(m.Source[:])
	m.Tool = c.Text()
	flags := c.AtMost(flagsKnown)
	m.Options.ReadsOnly = flags&flagReadsOnly != 0
	m.Options.OrderAny = flags&flagOrderAny != 0
	m.Options.DropNames = flags&flagDropNames != 0
	m.Verified = flags&flagVerified != 0
	m.Repeats = flags&flagRepeats != 0
	m.NameRanges = flags&flagNameRanges != 0
	m.OneCoder = flags&flagOneCoder != 0
	if flags&flagSides != 0 {
		m.Sides = make([]string, c.Count(2, "side archives"))
	}
	for i := range m.Sides {
		if m.Sides[i] = c.Text(); commit.CheckName(m.Sides[i]) != nil {
			c.Fail("%q is not the name of a side archive", m.Sides[i])
		}
	}
	m.Options.Quality = record.QualityMode(c.ByteAtMost(byte(record.QualityDrop)))
	m.Level = c.Byte()
	m.Options.BlockSize = c.Uvarint()
	m.BulkLen = c.AtMost(math.MaxInt64)
	takeSection(c, &m.Head)
}

func (m *Manifest) parseInputs(c *parse.Cursor) {
	n := c.Count(8, "inputs")
	m.Inputs = make([]Input, n)
	for i := range m.Inputs {
		in := &m.Inputs[i]
		in.Name = c.Text()
		in.Kind = record.Kind(c.ByteAtMost(byte(record.Kinds - 1)))
		in.Mate = -1
		switch f := c.ByteAtMost(inputTwoBit); {
		case f == inputTwoBit:
			if in.TwoBit = true; in.Kind != record.FASTA || m.Options.OrderAny {
				c.Fail("input %d has two bits a base, but is no FASTA, or in another order", i+1)
			}
		case f == inputFurther:
			in.Further, in.Lead = true, int(c.AtMost(uint64(n)))
		case f == inputQualsByBases:
			in.QualsByBases = true
		case f&inputQualsByBases != 0:
			c.Fail("input %d has qualities that are given the bases, and mates", i+1)
		case f&inputPaired != 0:
			in.First = f&inputFirst != 0
			in.Mate = int(c.AtMost(uint64(n)))
		case f != 0:
			c.Fail("input %d is a first mate without a second", i+1)
		}
		in.Records = c.AtMost(math.MaxInt64)
		in.Bytes = c.AtMost(math.MaxInt64)
		in.Bases = c.AtMost(math.MaxInt64)
		in.MinLen = uint32(c.AtMost(math.MaxUint32))
		in.MaxLen = uint32(c.AtMost(math.MaxUint32))
		if m.Options.Exact(in.Kind) {
			in.Blocks = make([]TextBlock, c.Count(17, "text blocks"))
			for j := range in.Blocks {
				in.Blocks[j].Len = c.AtMost(math.MaxInt64)
				c.Copy(in.Blocks[j].Hash[:])
			}
		}
		if m.Verified {
			in.OutBytes = c.AtMost(math.MaxInt64)
			c.Copy(in.SHA256[:])
		}
		in.Source = record.ParseSource(c)
		if s := in.Source; s != nil && s.Plain && s.Size != in.Bytes {
			c.Fail("the plain file of input %d has another size than its text", i+1)
		}
		if m.HasMD5(in) {
			c.Copy(in.MD5[:])
		}
		if c.Failed() {
			return
		}
	}
	m.checkMates(c)
}

// checkMates makes sure that mates belong together before slices rely on it.
func (m *Manifest) checkMates(c *parse.Cursor) {
	inputs := make([]record.Input, len(m.Inputs))
	for i := range inputs {
		inputs[i] = m.Inputs[i].Input
	}
	if bad := record.CheckGroups(inputs); bad != "" {
		c.Fail("%s", bad)
	}
}

func (m *Manifest) parseSlices(c *parse.Cursor) {
	m.Slices = make([]Slice, c.Count(9, "slices"))
	next := make([]uint64, len(m.Inputs))
	last := "" // of the texts of Words
	for i := range m.Slices {
		s := &m.Slices[i]
		input := c.AtMost(math.MaxInt32)
		s.Records = int(c.AtMost(MaxSliceRecords))
		if c.Failed() {
			return
		}
		if input >= uint64(len(m.Inputs)) {
			c.Fail("slice %d is of input %d of %d", i+1, input+1, len(m.Inputs))
			return
		}
		if s.Records == 0 {
			c.Fail("slice %d has no records", i+1)
			return
		}
		s.First.Input = int(input)
		s.From = next[input]
		next[input] += uint64(s.Records)
		if in := &m.Inputs[input]; in.Mate >= 0 {
			if !in.First {
				c.Fail("slice %d is of second mates alone", i+1)
				return
			}
			s.Mate = &Member{Input: in.Mate}
		}
		for _, p := range s.Members() {
			p.Bases = c.AtMost(math.MaxInt64)
			p.NamesLen = c.AtMost(math.MaxInt64)
			if m.Verified {
				p.TextLen = c.AtMost(math.MaxInt64)
				p.TextHash = c.Uint64()
			}
			for k := range p.Sections {
				takeSection(c, &p.Sections[k])
			}
		}
		takeSection(c, &s.Seqs)
		if m.NameRanges {
			last = s.Words.take(c, last)
		}
	}
	m.checkLeads(c)
	m.Shared = make([]Section, c.Count(1, "shared sections"))
	for i := range m.Shared {
		takeSection(c, &m.Shared[i])
	}
	takeSection(c, &m.Parity)
	if m.Repeats && (len(m.Shared) < 2 || m.Shared[1].Len == 0) && !c.Failed() {
		c.Fail("the section of repeats is missing")
	}
}

// take is the inverse of appendWords.
func (w *Words) take(c *parse.Cursor, last string) string {
	if w.Kind = WordsKind(c.ByteAtMost(byte(wordsKinds - 1))); w.Kind == AnyWords {
		return last
	}
	for _, s := range []*string{&w.Least, &w.Greatest} {
		*s = last[:c.Int(len(last))] + c.Text()
		if last = *s; len(last) > MaxWord {
			c.Fail("a word has %d bytes", len(last))
			return ""
		}
	}
	return last
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
	var shared uint64
	for _, s := range m.Shared {
		shared += s.Len
	}
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
			t.records += uint64(s.Records)
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

// takeSection takes the length and the checksum of a section.
func takeSection(c *parse.Cursor, s *Section) {
	s.Len = c.AtMost(math.MaxInt64)
	if s.Len > 0 {
		s.Hash = c.Uint64()
	}
}
