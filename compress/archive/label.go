package archive

import (
	"encoding/binary"

	"orcomgo/bins/parse"

	"github.com/zeebo/xxh3"
)

// labelLen is the length of the header of a section in the bulk file, which is before its bytes.
const labelLen = 64

const labelMagic = "\x89OCs"

// kind is that of a section: a Column, or one of these.
type kind = Column

const (
	kindShared kind = Columns + iota
	kindHead        // a manifest without slices: see Manifest.Head
	kindParity      // see Manifest.Parity
	kinds
)

// sharedRepeats, in place of the member of a shared section, is that of Manifest.Repeats.
const sharedRepeats = 1

// label is the header of a section: what is to be known of it if the manifest is lost.
type label struct {
	kind            kind
	member          int    // of the slice; for shared sections sharedRepeats or 0
	kept            uint16 // which sections of the slice have bytes: bit column + Columns * member
	number          int    // of the slice, or of the shared section
	input, records  int
	from            uint64
	bases, namesLen uint64 // of the member
}

// append appends the header of section s to b.
func (l *label) append(b []byte, s *Section) []byte {
	start := len(b)
	b = append(b, labelMagic...)
	b = append(b, byte(l.kind), byte(l.member))
	b = binary.LittleEndian.AppendUint16(b, l.kept)
	for _, v := range []int{l.number, l.input, l.records} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	for _, v := range []uint64{l.from, l.bases, l.namesLen, s.Len, s.Hash} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return binary.LittleEndian.AppendUint32(b, uint32(xxh3.Hash(b[start:])))
}

// parseLabel parses the header that b begins with. ok is false if it is none, or damaged.
func parseLabel(b []byte) (l label, s Section, ok bool) {
	if len(b) < labelLen || string(b[:4]) != labelMagic || b[4] >= byte(kinds) {
		return l, s, false
	}
	le := binary.LittleEndian
	if uint32(xxh3.Hash(b[:labelLen-4])) != le.Uint32(b[labelLen-4:]) {
		return l, s, false
	}
	l = label{kind: kind(b[4]), member: int(b[5]), kept: le.Uint16(b[6:]), number: int(le.Uint32(b[8:])), input: int(le.Uint32(b[12:])),
		records: int(le.Uint32(b[16:])), from: le.Uint64(b[20:]), bases: le.Uint64(b[28:]), namesLen: le.Uint64(b[36:])}
	return l, Section{Len: le.Uint64(b[44:]), Hash: le.Uint64(b[52:])}, true
}

// labelOf returns the label of a section of slice number i.
func (s *Slice) labelOf(i int, c Column, m int) label {
	mem := s.Members()[m]
	l := label{kind: c, member: m, number: i, input: mem.Input, records: s.Records, from: s.From, bases: mem.Bases, namesLen: mem.NamesLen}
	s.EachSection(func(c Column, m int, sec *Section) {
		if sec.Len > 0 {
			l.kept |= 1 << (int(c) + int(Columns)*m)
		}
	})
	return l
}

// sharedLabel returns the label of shared section i.
func (m *Manifest) sharedLabel(i int) label {
	return label{kind: kindShared, number: i, member: int(parse.Flags(m.Repeats))}
}

// eachSection calls f for every section in the order in which they lie in the bulk file.
func (m *Manifest) eachSection(f func(l label, s *Section)) {
	f(label{kind: kindHead}, &m.Head)
	for i := range m.Slices {
		s := &m.Slices[i]
		s.EachSection(func(c Column, member int, sec *Section) { f(s.labelOf(i, c, member), sec) })
	}
	for i := range m.Shared {
		f(m.sharedLabel(i), &m.Shared[i])
	}
	f(label{kind: kindParity}, &m.Parity)
}
