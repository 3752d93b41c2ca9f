package archive

import (
	"encoding/binary"
	"math"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/bins/record"

	"github.com/zeebo/xxh3"
)

// Kinds of inputs: sums of flags, of which some that exclude each other stand for something else.
const (
	inputPaired = 1 << iota
	inputFirst
	inputQualsByBases // alone

	inputFurther = inputPaired | inputQualsByBases // further mates
	inputTwoBit  = inputFirst | inputQualsByBases  // Input.TwoBit

	inputInterleaved = inputPaired | inputFirst | inputQualsByBases
)

// coder codes the fields of a manifest in either direction.
type coder struct {
	c *parse.Cursor // that fields are taken from; nil: they are appended to b
	b []byte
}

// fail says that what was read is wrong.
func (f *coder) fail(format string, args ...any) {
	if f.c != nil {
		f.c.Fail(format, args...)
	}
}

// number codes a number that is at most limit.
func number[T int | uint32 | uint64](f *coder, v *T, limit uint64) {
	if f.c != nil {
		*v = T(f.c.AtMost(limit))
	} else {
		f.b = binary.AppendUvarint(f.b, uint64(*v))
	}
}

// byte codes a byte that is at most limit.
func (f *coder) byte(v *byte, limit byte) {
	if f.c != nil {
		*v = f.c.ByteAtMost(limit)
	} else {
		f.b = append(f.b, *v)
	}
}

// bytes codes bytes of a fixed number.
func (f *coder) bytes(v []byte) {
	if f.c != nil {
		f.c.Copy(v)
	} else {
		f.b = append(f.b, v...)
	}
}

// hash codes a number of eight bytes.
func (f *coder) hash(v *uint64) {
	if f.c != nil {
		*v = f.c.Uint64()
	} else {
		f.b = binary.LittleEndian.AppendUint64(f.b, *v)
	}
}

// text codes a length and a text.
func (f *coder) text(v *string) {
	if f.c != nil {
		*v = f.c.Text()
	} else {
		f.b = parse.AppendBlock(f.b, *v)
	}
}

// flags codes the sum of 1, 2, 4 and so on for those that are set.
func (f *coder) flags(list ...*bool) {
	sum := uint64(0)
	for i, set := range list {
		if *set {
			sum |= 1 << i
		}
	}
	number(f, &sum, 1<<len(list)-1)
	for i, set := range list {
		if f.c != nil {
			*set = sum>>i&1 != 0
		}
	}
}

// list codes how many elements there are, of at least size bytes each, and the elements.
func list[T any](f *coder, l *[]T, size int, what string, element func(v *T)) {
	if f.c != nil {
		*l = make([]T, f.c.Count(size, what))
	} else {
		f.b = binary.AppendUvarint(f.b, uint64(len(*l)))
	}
	for i := range *l {
		if element(&(*l)[i]); f.c != nil && f.c.Failed() {
			return
		}
	}
}

// section codes the length and the checksum of a section.
func (f *coder) section(s *Section) {
	if number(f, &s.Len, math.MaxInt64); s.Len > 0 {
		f.hash(&s.Hash)
	}
}

// marshal returns the bytes of the .cmeta file.
func (m *Manifest) marshal() []byte {
	f := &coder{b: binary.AppendUvarint([]byte(metaMagic), Version)}
	m.code(f)
	sum := xxh3.Hash128(f.b).Bytes()
	return append(f.b, sum[:]...)
}

// code codes all fields after the version. Section offsets are not among them: the sections follow one another in a fixed order, so their
// lengths give them.
func (m *Manifest) code(f *coder) {
	f.bytes(m.ID[:])
	f.bytes(m.Source[:])
	f.text(&m.Tool)
	sides := len(m.Sides) > 0
	f.flags(&m.Options.ReadsOnly, &m.Options.OrderAny, &m.Options.DropNames, &m.Verified, &m.Repeats, &m.NameRanges,
		&sides, &m.OneFile)
	if sides {
		list(f, &m.Sides, 2, "side archives", func(name *string) {
			if f.text(name); commit.CheckName(*name) != nil {
				f.fail("%q is not the name of a side archive", *name)
			}
		})
		if len(m.Sides) == 0 {
			f.fail("there are no side archives where there are to be some")
		}
	}
	f.byte((*byte)(&m.Options.Quality), byte(record.QualityDrop))
	number(f, &m.Options.BlockSize, math.MaxUint64)
	number(f, &m.BulkLen, math.MaxInt64)
	f.section(&m.Head)
	list(f, &m.Inputs, 8, "inputs", func(in *Input) { m.codeInput(f, in) })
	if f.c != nil && !f.c.Failed() {
		// Mates belong together before slices rely on it.
		if bad := record.CheckGroups(m.BinsInputs()); bad != "" {
			f.fail("%s", bad)
		}
	}
	m.codeSlices(f)
	list(f, &m.Shared, 1, "shared sections", f.section)
	f.section(&m.Parity)
	if m.Repeats && (len(m.Shared) < 2 || m.Shared[1].Len == 0) {
		f.fail("the section of repeats is missing")
	}
}

func (m *Manifest) codeInput(f *coder, in *Input) {
	f.text(&in.Name)
	f.byte((*byte)(&in.Kind), byte(record.Kinds-1))
	m.codeMates(f, in)
	for _, v := range []*uint64{&in.Records, &in.Bytes, &in.Bases} {
		number(f, v, math.MaxInt64)
	}
	number(f, &in.MinLen, math.MaxUint32)
	number(f, &in.MaxLen, math.MaxUint32)
	if m.Options.Exact(in.Kind) {
		list(f, &in.Blocks, 17, "text blocks", func(t *TextBlock) {
			number(f, &t.Len, math.MaxInt64)
			f.bytes(t.Hash[:])
		})
	}
	if m.Verified {
		number(f, &in.OutBytes, math.MaxInt64)
		f.bytes(in.SHA256[:])
	}
	if f.c == nil {
		f.b = record.AppendSource(f.b, in.Source)
	} else {
		in.Source = record.ParseSource(f.c)
	}
	if s := in.Source; s != nil && s.Plain && s.Size != in.Bytes {
		f.fail("the plain file of input %q has another size than its text", in.Name)
	} else if s != nil && len(s.Gzip) > 0 && !m.Options.Exact(in.Kind) {
		f.fail("the gzip file of input %q can't be made, since not all of its text is kept", in.Name)
	}
	if m.HasMD5(in) {
		f.bytes(in.MD5[:])
	}
}

// codeMates codes of which kind an input is, and the number of the input with its mates.
func (m *Manifest) codeMates(f *coder, in *Input) {
	var kind byte
	switch {
	case f.c != nil:
		in.Mate = -1
	case in.TwoBit:
		kind = inputTwoBit
	case in.Interleaved:
		kind = inputInterleaved
	case in.QualsByBases:
		kind = inputQualsByBases
	case in.Further:
		kind = inputFurther
	case in.First:
		kind = inputPaired | inputFirst
	case in.Mate >= 0:
		kind = inputPaired
	}
	f.byte(&kind, inputInterleaved)
	switch kind {
	case 0:
	case inputTwoBit:
		if in.TwoBit = true; in.Kind != record.FASTA || m.Options.OrderAny {
			f.fail("input %q has two bits a base, but is no FASTA, or in another order", in.Name)
		}
	case inputInterleaved:
		if in.Interleaved = true; m.Options.OrderAny {
			f.fail("input %q is interleaved, but in another order", in.Name)
		}
	case inputFurther:
		in.Further = true
		number(f, &in.Lead, uint64(len(m.Inputs)))
	case inputQualsByBases:
		in.QualsByBases = true
	case inputPaired, inputPaired | inputFirst:
		in.First = kind&inputFirst != 0
		number(f, &in.Mate, uint64(len(m.Inputs)))
	default:
		f.fail("input %q is a first mate without a second", in.Name)
	}
}

func (m *Manifest) codeSlices(f *coder) {
	next := make([]uint64, len(m.Inputs))
	last := "" // of the texts of Words
	list(f, &m.Slices, 9, "slices", func(s *Slice) {
		number(f, &s.First.Input, math.MaxInt32)
		if number(f, &s.Records, MaxSliceRecords); f.c != nil {
			m.placeSlice(f.c, s, next)
		}
		if f.c != nil && f.c.Failed() {
			return
		}
		for _, p := range s.Members() {
			number(f, &p.Bases, math.MaxInt64)
			number(f, &p.NamesLen, math.MaxInt64)
			f.flags(&p.NamesContinue)
			if m.Verified {
				number(f, &p.TextLen, math.MaxInt64)
				f.hash(&p.TextHash)
			}
			for k := range p.Sections {
				f.section(&p.Sections[k])
			}
		}
		f.section(&s.Seqs)
		if m.NameRanges {
			last = s.Words.code(f, last)
		}
	})
	if f.c != nil && !f.c.Failed() {
		m.checkLeads(f.c)
	}
}

// placeSlice sets what follows from the input of a slice that is read. next are the numbers of the inputs' next records.
func (m *Manifest) placeSlice(c *parse.Cursor, s *Slice, next []uint64) {
	input := s.First.Input
	switch {
	case c.Failed():
		return
	case input >= len(m.Inputs):
		c.Fail("a slice is of input %d of %d", input+1, len(m.Inputs))
		return
	case s.Records == 0:
		c.Fail("a slice has no records")
		return
	}
	s.From = next[input]
	next[input] += uint64(s.Records)
	switch in := &m.Inputs[input]; {
	case in.Interleaved:
		if s.Mate = (&Member{Input: input}); s.Records%2 != 0 {
			c.Fail("a slice of an interleaved input has %d records", s.Records)
		}
	case in.Mate >= 0:
		if s.Mate = (&Member{Input: in.Mate}); !in.First {
			c.Fail("a slice is of second mates alone")
		}
	}
}

// code codes w, each text as how many bytes it shares with the one before it, and the others. last is the text before, at first empty; the
// last text is returned.
func (w *Words) code(f *coder, last string) string {
	for _, s := range []*string{&w.Least, &w.Greatest} {
		n := 0
		for f.c == nil && n < min(len(*s), len(last)) && (*s)[n] == last[n] {
			n++
		}
		number(f, &n, uint64(len(last)))
		rest := (*s)[min(n, len(*s)):]
		f.text(&rest)
		if f.c != nil {
			if *s = last[:n] + rest; rest != "" && n < len(last) && rest[0] == last[n] {
				f.fail("%q shares more than %d bytes with the word before it", *s, n)
			}
		}
		if last = *s; len(last) > MaxWord {
			f.fail("a word has %d bytes", len(last))
			return ""
		}
	}
	return last
}
