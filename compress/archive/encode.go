package archive

import (
	"encoding/binary"

	"orcomgo/bins/record"

	"github.com/zeebo/xxh3"
)

// Flag bits of the manifest.
const (
	flagReadsOnly = 1 << iota
	flagOrderAny
	flagDropNames
	flagVerified
	flagRepeats
	flagNameRanges
	flagOneCoder
	flagSides
	flagsKnown = 1<<iota - 1
)

// Flag bits of an input.
const (
	inputPaired = 1 << iota
	inputFirst
	inputQualsByBases // alone

	inputFurther = inputPaired | inputQualsByBases // further mates
	inputTwoBit  = inputFirst | inputQualsByBases  // Input.TwoBit
)

// marshal returns the bytes of the .cmeta file. Section offsets are not written: the
// sections follow one another in a fixed order, so their lengths give them.
func (m *Manifest) marshal() []byte {
	b := append([]byte(nil), metaMagic...)
	b = binary.AppendUvarint(b, Version)
	b = append(b, m.ID[:]...)
	b = append(b, m.Source[:]...)
	b = appendString(b, m.Tool)

	var flags uint64
	set := func(on bool, bit uint64) {
		if on {
			flags |= bit
		}
	}
	set(m.Options.ReadsOnly, flagReadsOnly)
	set(m.Options.OrderAny, flagOrderAny)
	set(m.Options.DropNames, flagDropNames)
	set(m.Verified, flagVerified)
	set(m.Repeats, flagRepeats)
	set(m.NameRanges, flagNameRanges)
	set(m.OneCoder, flagOneCoder)
	set(len(m.Sides) > 0, flagSides)
	b = binary.AppendUvarint(b, flags)
	if len(m.Sides) > 0 {
		b = binary.AppendUvarint(b, uint64(len(m.Sides)))
	}
	for _, name := range m.Sides {
		b = appendString(b, name)
	}
	b = append(b, byte(m.Options.Quality), m.Level)
	b = binary.AppendUvarint(b, m.Options.BlockSize)
	b = binary.AppendUvarint(b, m.BulkLen)
	b = appendSection(b, m.Head)

	b = binary.AppendUvarint(b, uint64(len(m.Inputs)))
	for i := range m.Inputs {
		b = m.appendInput(b, &m.Inputs[i])
	}
	b = binary.AppendUvarint(b, uint64(len(m.Slices)))
	last := ""
	for i := range m.Slices {
		b = m.appendSlice(b, &m.Slices[i])
		if m.NameRanges {
			b, last = appendWords(b, &m.Slices[i].Words, last)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(m.Shared)))
	for _, s := range m.Shared {
		b = appendSection(b, s)
	}
	b = appendSection(b, m.Parity)
	sum := xxh3.Hash128(b).Bytes()
	return append(b, sum[:]...)
}

func (m *Manifest) appendInput(b []byte, in *Input) []byte {
	b = appendString(b, in.Name)
	b = append(b, byte(in.Kind))
	switch {
	case in.TwoBit:
		b = append(b, inputTwoBit)
	case in.QualsByBases:
		b = append(b, inputQualsByBases)
	case in.Further:
		b = append(b, inputFurther)
		b = binary.AppendUvarint(b, uint64(in.Lead))
	case in.Mate < 0:
		b = append(b, 0)
	default:
		f := byte(inputPaired)
		if in.First {
			f |= inputFirst
		}
		b = append(b, f)
		b = binary.AppendUvarint(b, uint64(in.Mate))
	}
	for _, v := range []uint64{in.Records, in.Bytes, in.Bases, uint64(in.MinLen), uint64(in.MaxLen)} {
		b = binary.AppendUvarint(b, v)
	}
	if m.Options.Exact(in.Kind) {
		b = binary.AppendUvarint(b, uint64(len(in.Blocks)))
		for _, t := range in.Blocks {
			b = binary.AppendUvarint(b, t.Len)
			b = append(b, t.Hash[:]...)
		}
	}
	if m.Verified {
		b = binary.AppendUvarint(b, in.OutBytes)
		b = append(b, in.SHA256[:]...)
	}
	b = record.AppendSource(b, in.Source)
	if m.HasMD5(in) {
		b = append(b, in.MD5[:]...)
	}
	return b
}

func (m *Manifest) appendSlice(b []byte, s *Slice) []byte {
	b = binary.AppendUvarint(b, uint64(s.First.Input))
	b = binary.AppendUvarint(b, uint64(s.Records))
	for _, p := range s.Members() {
		b = binary.AppendUvarint(b, p.Bases)
		b = binary.AppendUvarint(b, p.NamesLen)
		if m.Verified {
			b = binary.AppendUvarint(b, p.TextLen)
			b = binary.LittleEndian.AppendUint64(b, p.TextHash)
		}
		for _, sec := range p.Sections {
			b = appendSection(b, sec)
		}
	}
	return appendSection(b, s.Seqs)
}

// appendWords appends w, each text as how many bytes it shares with the one before it, and the others. last is the text before, at first
// empty; the last text is returned.
func appendWords(b []byte, w *Words, last string) ([]byte, string) {
	if b = append(b, byte(w.Kind)); w.Kind == AnyWords {
		return b, last
	}
	for _, s := range []string{w.Least, w.Greatest} {
		n := 0
		for n < min(len(s), len(last)) && s[n] == last[n] {
			n++
		}
		b = appendString(binary.AppendUvarint(b, uint64(n)), s[n:])
		last = s
	}
	return b, last
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendSection(b []byte, s Section) []byte {
	b = binary.AppendUvarint(b, s.Len)
	if s.Len > 0 {
		b = binary.LittleEndian.AppendUint64(b, s.Hash)
	}
	return b
}
