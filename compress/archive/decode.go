package archive

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/zeebo/xxh3"

	"orcomgo/bins"
)

// parse reads the bytes of a .cmeta file; file is its name for errors. Every version of
// the format begins with the magic and ends in the checksum, so damage is told from age.
func parse(file string, data []byte) (*Manifest, error) {
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
	c := &cursor{b: body[len(metaMagic):]}
	v := c.uint(math.MaxUint64)
	if c.bad == "" && (v < minVersion || v > Version) {
		return nil, fmt.Errorf("%s: %w %d, this program reads versions %d to %d", file, ErrVersion, v, minVersion, Version)
	}
	m := &Manifest{version: uint8(v), size: uint64(len(data))}
	m.parseHead(c)
	m.parseInputs(c)
	m.parseSlices(c)
	if c.bad == "" && len(c.b) != 0 {
		c.fail("%d bytes are left over", len(c.b))
	}
	if c.bad == "" {
		m.check(c)
	}
	if c.bad != "" {
		return nil, corrupt(file, "%s", c.bad)
	}
	return m, nil
}

func (m *Manifest) parseHead(c *cursor) {
	c.copy(m.ID[:])
	c.copy(m.Source[:])
	m.Tool = c.string()
	flags := c.uint(flagsKnown)
	m.Options.ReadsOnly = flags&flagReadsOnly != 0
	m.Options.OrderAny = flags&flagOrderAny != 0
	m.Options.DropNames = flags&flagDropNames != 0
	m.Verified = flags&flagVerified != 0
	m.Options.Quality = bins.QualityMode(c.byte(byte(bins.QualityDrop)))
	m.Level = c.byte(255)
	m.Options.BlockSize = c.uint(math.MaxUint64)
	m.BulkLen = c.uint(math.MaxInt64)
}

func (m *Manifest) parseInputs(c *cursor) {
	n := c.count(8, "inputs")
	m.Inputs = make([]Input, n)
	for i := range m.Inputs {
		in := &m.Inputs[i]
		in.Name = c.string()
		in.Kind = bins.Kind(c.byte(byte(bins.FASTA)))
		in.Mate = -1
		switch f := c.byte(inputFlagsKnown); {
		case f&inputPaired != 0:
			in.First = f&inputFirst != 0
			in.Mate = int(c.uint(uint64(n)))
		case f != 0:
			c.fail("input %d is a first mate without a second", i+1)
		}
		in.Records = c.uint(math.MaxInt64)
		in.Bytes = c.uint(math.MaxInt64)
		in.Bases = c.uint(math.MaxInt64)
		in.MinLen = uint32(c.uint(math.MaxUint32))
		in.MaxLen = uint32(c.uint(math.MaxUint32))
		if Exact(m.Options, in.Kind) {
			in.Blocks = make([]TextBlock, c.count(17, "text blocks"))
			for j := range in.Blocks {
				in.Blocks[j].Len = c.uint(math.MaxInt64)
				c.copy(in.Blocks[j].Hash[:])
			}
		}
		if m.Verified {
			in.OutBytes = c.uint(math.MaxInt64)
			c.copy(in.SHA256[:])
		}
		if c.bad != "" {
			return
		}
	}
	m.checkMates(c)
}

// checkMates makes sure that mates point at each other before slices rely on it.
func (m *Manifest) checkMates(c *cursor) {
	for i := range m.Inputs {
		in := &m.Inputs[i]
		if in.Mate < 0 {
			continue
		}
		if in.Mate >= len(m.Inputs) || in.Mate == i {
			c.fail("input %d has input %d as its mates", i+1, in.Mate+1)
			return
		}
		if o := &m.Inputs[in.Mate]; o.Mate != i || o.First == in.First || o.Records != in.Records {
			c.fail("inputs %d and %d are not a pair", i+1, in.Mate+1)
			return
		}
	}
}

func (m *Manifest) parseSlices(c *cursor) {
	m.Slices = make([]Slice, c.count(9, "slices"))
	next := make([]uint64, len(m.Inputs))
	for i := range m.Slices {
		s := &m.Slices[i]
		input := c.uint(math.MaxInt32)
		s.Records = int(c.uint(MaxSliceRecords))
		if c.bad != "" {
			return
		}
		if input >= uint64(len(m.Inputs)) {
			c.fail("slice %d is of input %d of %d", i+1, input+1, len(m.Inputs))
			return
		}
		if s.Records == 0 {
			c.fail("slice %d has no records", i+1)
			return
		}
		s.First.Input = int(input)
		s.From = next[input]
		next[input] += uint64(s.Records)
		if in := &m.Inputs[input]; in.Mate >= 0 {
			if !in.First {
				c.fail("slice %d is of second mates alone", i+1)
				return
			}
			s.Mate = &Member{Input: in.Mate}
		}
		for _, p := range s.Members() {
			p.Bases = c.uint(math.MaxInt64)
			p.NamesLen = c.uint(math.MaxInt64)
			if m.Verified {
				p.TextLen = c.uint(math.MaxInt64)
				p.TextHash = c.uint64()
			}
			c.section(&p.Lengths)
			c.section(&p.Layout)
			c.section(&p.Names)
			c.section(&p.Quals)
		}
		c.section(&s.Seqs)
	}
	m.Shared = make([]Section, c.count(1, "shared sections"))
	for i := range m.Shared {
		c.section(&m.Shared[i])
	}
}

// check compares sums over the slices with what the inputs and the bulk file must hold,
// and gives the sections their offsets.
func (m *Manifest) check(c *cursor) {
	off := uint64(bulkHeader)
	m.eachSection(func(s *Section) {
		s.Off = off
		off += min(s.Len, m.BulkLen+1) // no overflow: BulkLen is below 2^63, and off is checked at each step
		if off > m.BulkLen && c.bad == "" {
			c.fail("sections reach beyond the %d bytes of %s", m.BulkLen, BulkSuffix)
			off = m.BulkLen
		}
	})
	if c.bad != "" {
		return
	}
	if off != m.BulkLen {
		c.fail("sections take %d of the %d bytes of %s", off, m.BulkLen, BulkSuffix)
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
				c.fail("slice %d is larger than its input", i+1)
				return
			}
			if p.Bases > plausible(shared+s.Seqs.Len) || p.NamesLen > plausible(p.Names.Len) {
				c.fail("slice %d claims more than its sections can hold", i+1)
				return
			}
			t.records += uint64(s.Records)
			t.bases += p.Bases
			t.text += p.TextLen
			if t.records > in.Records || t.bases > in.Bases || t.text > in.OutBytes {
				c.fail("slices of %q hold more than the input", in.Name)
				return
			}
		}
	}
	for i, t := range sums {
		in := &m.Inputs[i]
		if t.records != in.Records || t.bases != in.Bases || t.text != in.OutBytes {
			c.fail("slices of %q hold less than the input", in.Name)
			return
		}
		if in.Blocks != nil || Exact(m.Options, in.Kind) {
			left := in.Bytes
			for _, b := range in.Blocks {
				if b.Len > left {
					c.fail("text blocks of %q are longer than the input", in.Name)
					return
				}
				left -= b.Len
			}
			if left != 0 || m.Verified && in.OutBytes != in.Bytes {
				c.fail("text blocks of %q do not add up to the input", in.Name)
				return
			}
		}
	}
}

// plausible returns the most bytes that a section of n bytes may decode to, so that memory
// is not given for what a forged manifest claims. The codecs spend more than 2^-17 bits on
// the likeliest letter; what they give for a few bytes is bounded by a constant.
func plausible(n uint64) uint64 { return min(n+512, 1<<40) << 20 }

// cursor takes fields off a manifest. After the first failure everything reads as zero,
// and bad says what it was.
type cursor struct {
	b   []byte
	bad string
}

func (c *cursor) fail(format string, args ...any) {
	if c.bad == "" {
		c.bad = fmt.Sprintf(format, args...)
	}
	c.b = nil
}

func (c *cursor) uint(most uint64) uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.fail("the manifest ends inside a number")
		return 0
	}
	if v > most {
		c.fail("%d where at most %d is possible", v, most)
		return 0
	}
	c.b = c.b[n:]
	return v
}

// count reads a number of things that take at least size bytes each in the manifest.
func (c *cursor) count(size int, what string) int {
	v := c.uint(math.MaxInt64)
	if v > uint64(len(c.b)/size) {
		c.fail("%d %s in %d bytes", v, what, len(c.b))
		return 0
	}
	return int(v)
}

func (c *cursor) byte(most byte) byte {
	if len(c.b) == 0 {
		c.fail("the manifest ends early")
		return 0
	}
	v := c.b[0]
	if v > most {
		c.fail("%d where at most %d is possible", v, most)
		return 0
	}
	c.b = c.b[1:]
	return v
}

func (c *cursor) copy(dst []byte) {
	if len(c.b) < len(dst) {
		c.fail("the manifest ends early")
		return
	}
	c.b = c.b[copy(dst, c.b):]
}

func (c *cursor) uint64() uint64 {
	var b [8]byte
	c.copy(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

func (c *cursor) string() string {
	s := make([]byte, c.count(1, "bytes of text"))
	c.copy(s)
	return string(s)
}

func (c *cursor) section(s *Section) {
	s.Len = c.uint(math.MaxInt64)
	if s.Len > 0 {
		s.Hash = c.uint64()
	}
}
