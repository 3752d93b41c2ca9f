package archive

import (
	"bytes"
	"maps"
	"math"
	"slices"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/bins/vfs"
)

// lostOffset is where a section is that was not found: beyond any file.
const lostOffset = math.MaxInt64

// Lost reports whether a section was not found by OpenScan.
func (s *Section) Lost() bool { return s.Off == lostOffset }

// OpenScan opens an archive whose manifests are both lost, by the headers of its sections. What was not found is in sections that are
// lost, and records without any section are in slices of them. The manifest says nothing of what only the end of packing knows: the
// checksums of texts, and the lengths of reads. The error wraps ErrCorrupt if the section Head is lost, too.
func OpenScan(e commit.Entry) (*Reader, error) {
	f, err := vfs.OpenContent(e.Path() + BulkSuffix)
	if err != nil {
		return nil, err
	}
	r := &Reader{f: f, entry: e}
	b, err := fileBulk(f)
	if b.ReaderAt = f.Lenient(); err == nil {
		err = r.scan(b)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// scan sets the manifest. If there is parity, sections are looked for in what it mends.
func (r *Reader) scan(b bulk) error {
	if r.mend() {
		m := r.mended.Load()
		b.ReaderAt, b.size = m, uint64(m.size)
	}
	found, err := findSections(b)
	if err != nil {
		return err
	}
	r.m, err = rebuild(b, found)
	return err
}

// foundSection is a section that was found by its header.
type foundSection struct {
	label
	Section
}

// findSections returns the sections whose headers are whole, in the order of the file. Headers are looked for within sections as well,
// since where bytes are missing in one, others begin in what seems to be this one.
func findSections(b bulk) (found []foundSection, err error) {
	buf := make([]byte, checkPiece)
	for at := uint64(0); at+labelLen <= b.size; {
		p := buf[:min(b.size-at, uint64(len(buf)))]
		if err := b.read(p, at); err != nil {
			return nil, err
		}
		i := bytes.Index(p, []byte(labelMagic))
		switch {
		case i < 0:
			at += uint64(len(p) - len(labelMagic) + 1)
			continue
		case i+labelLen > len(p):
			if at += uint64(i); at+labelLen > b.size {
				return found, nil
			}
			continue
		}
		at += uint64(i)
		l, s, ok := parseLabel(p[i:])
		if !ok {
			at++
			continue
		}
		at += labelLen
		s.Off = at
		found = append(found, foundSection{l, s})
	}
	return found, nil
}

// rebuild makes a manifest of sections that were found.
func rebuild(b bulk, found []foundSection) (*Manifest, error) {
	var m *Manifest
	for i := range found {
		if s := &found[i]; s.kind == kindHead && m == nil && s.Len <= b.size-min(s.Off, b.size) {
			data := make([]byte, s.Len)
			if b.read(data, s.Off) != nil {
				continue
			}
			if head, err := parseAny(b.name, data, func(*Manifest, *parse.Cursor) {}); err == nil {
				m = head
				m.Head = s.Section
			}
		}
	}
	if m == nil {
		return nil, corrupt(b.name, "both manifests are lost, and so is what it says of its inputs at its beginning")
	}
	var header [bulkHeader]byte
	if b.read(header[:], 0) == nil {
		m.ID = [16]byte(header[9:])
	}
	m.Slices, m.Shared, m.Verified, m.NameRanges = nil, nil, false, false
	slicesFound := make(map[int]*Slice)
	for i := range found {
		s := &found[i]
		switch {
		case s.kind < Columns:
			if of := m.sliceOf(slicesFound, &s.label); of != nil {
				*of.Section(s.kind, s.member) = s.Section
			}
		case s.kind == kindShared && s.number < len(found):
			for len(m.Shared) <= s.number {
				m.Shared = append(m.Shared, Section{Off: lostOffset, Len: 1})
			}
			m.Shared[s.number] = s.Section
			m.Repeats = s.label.member&sharedRepeats != 0
		case s.kind == kindParity:
			m.Parity = s.Section
		}
		m.BulkLen = max(m.BulkLen, s.Off+s.Len)
	}
	m.addSlices(slicesFound)
	return m, nil
}

// sliceOf returns the slice that a section is of, nil if that cannot be.
func (m *Manifest) sliceOf(known map[int]*Slice, l *label) *Slice {
	if l.input >= len(m.Inputs) || l.records == 0 || l.records > MaxSliceRecords || l.member > 1 {
		return nil
	}
	in := &m.Inputs[l.input]
	if l.from > in.Records || uint64(l.records) > in.Records-l.from || l.bases > in.Bases {
		return nil
	}
	if in.Interleaved && l.records%2 != 0 || !in.Interleaved && (l.member == 1) != (in.Mate >= 0 && !in.First) {
		return nil
	}
	s := known[l.number]
	if s == nil {
		s = m.lostSlice(l.input, l.from, l.records, l.kept)
		known[l.number] = s
	}
	if s.From != l.from || s.Records != l.records || s.Members()[l.member].Input != l.input {
		return nil
	}
	mem := s.Members()[l.member]
	mem.Bases, mem.NamesLen = l.bases, l.namesLen
	return s
}

// lostSlice returns a slice of records of an input, and of its mates, whose sections are lost: those that kept has, as label.kept.
func (m *Manifest) lostSlice(input int, from uint64, records int, kept uint16) *Slice {
	s := &Slice{From: from, Records: records, First: Member{Input: input}}
	switch in := &m.Inputs[input]; {
	case in.Interleaved:
		s.Mate = &Member{Input: input}
	case in.Mate >= 0 && in.First:
		s.Mate = &Member{Input: in.Mate}
	case in.Mate >= 0:
		s.First.Input, s.Mate = in.Mate, &Member{Input: input}
	}
	s.EachSection(func(c Column, m int, sec *Section) {
		if kept>>(int(c)+int(Columns)*m)&1 != 0 {
			*sec = Section{Off: lostOffset, Len: 1}
		}
	})
	return s
}

// addSlices sets the slices: those that were found, and where records are missing others, whose sections are lost.
func (m *Manifest) addSlices(known map[int]*Slice) {
	next := make([]uint64, len(m.Inputs))
	fill := func(input int, to uint64) {
		if next[input] < to {
			n := min(to-next[input], MaxSliceRecords) // more are lost without a slice
			m.Slices = append(m.Slices, *m.lostSlice(input, next[input], int(n), math.MaxUint16))
			next[input] = to
		}
	}
	for _, i := range slices.Sorted(maps.Keys(known)) {
		s := known[i]
		if s.From < next[s.First.Input] {
			continue // a copy from elsewhere
		}
		fill(s.First.Input, s.From)
		m.Slices = append(m.Slices, *s)
		next[s.First.Input] += uint64(s.Records)
	}
	for i := range m.Inputs {
		if in := &m.Inputs[i]; in.Mate < 0 || in.First {
			fill(i, in.Records)
		}
	}
}

// complete reports whether every section was found, none is longer than the file, and all follow each other as in a whole file.
func (m *Manifest) complete() bool {
	off, whole := uint64(bulkHeader), true
	m.eachSection(func(_ label, s *Section) {
		if s.Len > 0 {
			whole = whole && s.Off == off+labelLen
			off = s.Off + s.Len
		}
	})
	return whole && off == m.BulkLen
}
