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

// codeSection codes the length and the checksum of a section.
func codeSection(f *parse.Fields, s *Section) {
	if parse.Number(f, &s.Len, math.MaxInt64); s.Len > 0 {
		f.Uint64(&s.Hash)
	}
}

// marshal returns the bytes of the .cmeta file.
func (m *Manifest) marshal() []byte {
	f := &parse.Fields{Out: binary.AppendUvarint([]byte(metaMagic), Version)}
	m.code(f)
	sum := xxh3.Hash128(f.Out).Bytes()
	return append(f.Out, sum[:]...)
}

// code codes all fields after the version. Section offsets are not among them: the sections follow one another in a fixed order, so their
// lengths give them.
func (m *Manifest) code(f *parse.Fields) {
	f.Bytes(m.ID[:])
	f.Bytes(m.Source[:])
	f.Text(&m.Tool)
	sides := len(m.Sides) > 0
	f.Flags(&m.Options.ReadsOnly, &m.Options.OrderAny, &m.Options.DropNames, &m.Verified, &m.Repeats, &m.NameRanges,
		&sides, &m.OneFile)
	if sides {
		parse.List(f, &m.Sides, 2, "side archives", func(name *string) {
			if f.Text(name); commit.CheckName(*name) != nil {
				f.Fail("%q is not the name of a side archive", *name)
			}
		})
		if len(m.Sides) == 0 {
			f.Fail("there are no side archives where there are to be some")
		}
	}
	parse.Byte(f, &m.Options.Quality, record.QualityDrop)
	parse.Number(f, &m.Options.BlockSize, math.MaxUint64)
	parse.Number(f, &m.BulkLen, math.MaxInt64)
	codeSection(f, &m.Head)
	parse.List(f, &m.Inputs, 8, "inputs", func(in *Input) { m.codeInput(f, in) })
	if f.Reading() {
		// Mates belong together before slices rely on it.
		if bad := record.CheckGroups(m.BinsInputs()); bad != "" {
			f.Fail("%s", bad)
		}
	}
	m.codeSlices(f)
	parse.List(f, &m.Shared, 1, "shared sections", func(s *Section) { codeSection(f, s) })
	codeSection(f, &m.Parity)
	if m.Repeats && (len(m.Shared) < 2 || m.Shared[1].Len == 0) {
		f.Fail("the section of repeats is missing")
	}
}

func (m *Manifest) codeInput(f *parse.Fields, in *Input) {
	f.Text(&in.Name)
	parse.Byte(f, &in.Kind, record.Kinds-1)
	m.codeMates(f, in)
	for _, v := range []*uint64{&in.Records, &in.Bytes, &in.Bases} {
		parse.Number(f, v, math.MaxInt64)
	}
	parse.Number(f, &in.MinLen, math.MaxUint32)
	parse.Number(f, &in.MaxLen, math.MaxUint32)
	if m.Options.Exact(in.Kind) {
		parse.List(f, &in.Blocks, 17, "text blocks", func(t *TextBlock) {
			parse.Number(f, &t.Len, math.MaxInt64)
			f.Bytes(t.Hash[:])
		})
	}
	if m.Verified {
		parse.Number(f, &in.OutBytes, math.MaxInt64)
		f.Bytes(in.SHA256[:])
	}
	record.CodeSource(f, &in.Source)
	if s := in.Source; s != nil && s.Plain && s.Size != in.Bytes {
		f.Fail("the plain file of input %q has another size than its text", in.Name)
	} else if s != nil && len(s.Gzip) > 0 && !m.Options.Exact(in.Kind) {
		f.Fail("the gzip file of input %q can't be made, since not all of its text is kept", in.Name)
	}
	if m.HasMD5(in) {
		f.Bytes(in.MD5[:])
	}
}

// codeMates codes of which kind an input is, and the number of the input with its mates.
func (m *Manifest) codeMates(f *parse.Fields, in *Input) {
	var kind byte
	switch {
	case f.In != nil:
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
	parse.Byte(f, &kind, inputInterleaved)
	switch kind {
	case 0:
	case inputTwoBit:
		if in.TwoBit = true; in.Kind != record.FASTA || m.Options.OrderAny {
			f.Fail("input %q has two bits a base, but is no FASTA, or in another order", in.Name)
		}
	case inputInterleaved:
		if in.Interleaved = true; m.Options.OrderAny {
			f.Fail("input %q is interleaved, but in another order", in.Name)
		}
	case inputFurther:
		in.Further = true
		parse.Number(f, &in.Lead, uint64(len(m.Inputs)))
	case inputQualsByBases:
		in.QualsByBases = true
	case inputPaired, inputPaired | inputFirst:
		in.First = kind&inputFirst != 0
		parse.Number(f, &in.Mate, uint64(len(m.Inputs)))
	default:
		f.Fail("input %q is a first mate without a second", in.Name)
	}
}

func (m *Manifest) codeSlices(f *parse.Fields) {
	next := make([]uint64, len(m.Inputs))
	last := "" // of the texts of Words
	parse.List(f, &m.Slices, 9, "slices", func(s *Slice) {
		parse.Number(f, &s.First.Input, math.MaxInt32)
		if parse.Number(f, &s.Records, MaxSliceRecords); f.In != nil {
			m.placeSlice(f.In, s, next)
		}
		if f.In != nil && f.In.Failed() {
			return
		}
		for _, p := range s.Members() {
			parse.Number(f, &p.Bases, math.MaxInt64)
			parse.Number(f, &p.NamesLen, math.MaxInt64)
			f.Flags(&p.NamesContinue)
			if m.Verified {
				parse.Number(f, &p.TextLen, math.MaxInt64)
				f.Uint64(&p.TextHash)
			}
			for k := range p.Sections {
				codeSection(f, &p.Sections[k])
			}
		}
		codeSection(f, &s.Seqs)
		if m.NameRanges {
			last = s.Words.code(f, last)
		}
	})
	if f.Reading() {
		m.checkLeads(f.In)
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
func (w *Words) code(f *parse.Fields, last string) string {
	for _, s := range []*string{&w.Least, &w.Greatest} {
		n := 0
		for f.In == nil && n < min(len(*s), len(last)) && (*s)[n] == last[n] {
			n++
		}
		parse.Number(f, &n, uint64(len(last)))
		rest := (*s)[min(n, len(*s)):]
		f.Text(&rest)
		if f.In != nil {
			if *s = last[:n] + rest; rest != "" && n < len(last) && rest[0] == last[n] {
				f.Fail("%q shares more than %d bytes with the word before it", *s, n)
			}
		}
		if last = *s; len(last) > MaxWord {
			f.Fail("a word has %d bytes", len(last))
			return ""
		}
	}
	return last
}
