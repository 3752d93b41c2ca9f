package bam

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// made is BAM data that tests make.
type made struct{ b []byte }

func (m *made) number(n uint32) { m.b = binary.LittleEndian.AppendUint32(m.b, n) }

// bamOf returns BAM with a header and one reference.
func bamOf() *made {
	m := &made{[]byte(Magic)}
	header := "@HD\tVN:1.6\tSO:unknown\n"
	m.number(uint32(len(header)))
	m.b = append(m.b, header...)
	m.number(1)
	m.number(5)
	m.b = append(m.b, "chr1\x00"...)
	m.number(1000)
	return m
}

// record appends a record with a tag. quals are as in FASTQ; a space is no quality.
func (m *made) record(name string, flags uint16, reference int32, bases, quals string) *made {
	b := binary.LittleEndian.AppendUint32(nil, uint32(reference))
	b = binary.LittleEndian.AppendUint32(b, ^uint32(0))
	b = append(b, byte(len(name)+1), 0, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint16(b, flags)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(bases)))
	b = binary.LittleEndian.AppendUint32(b, ^uint32(0))
	b = binary.LittleEndian.AppendUint32(b, ^uint32(0))
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = append(append(b, name...), 0)
	for i := 0; i < len(bases); i += 2 {
		const letters = "=ACMGRSVTWYHKDBN"
		two := byte(strings.IndexByte(letters, bases[i]) << 4)
		if i+1 < len(bases) {
			two |= byte(strings.IndexByte(letters, bases[i+1]))
		}
		b = append(b, two)
	}
	for i := range len(quals) {
		q := quals[i] - 33
		if quals[i] == ' ' {
			q = noQuality
		}
		b = append(b, q)
	}
	b = append(b, "RGZgroup\x00"...)
	m.number(uint32(len(b)))
	m.b = append(m.b, b...)
	return m
}

func TestText(t *testing.T) {
	m := bamOf().record("a", 4, -1, "ACGTN", "!~I#F").record("b", 77, -1, "GGRY", "IIII").
		record("b", 141, -1, "=", "5").record("e", 4, -1, "", "")
	m.record("n", 4, -1, "ACG", "   ")
	long := strings.Repeat("ACGTTG", 20_000)
	m.record("l", 4, -1, long, strings.Repeat("F", len(long)))
	want := "@a\nACGTN\n+\n!~I#F\n@b/1\nGGRY\n+\nIIII\n@b/2\n=\n+\n5\n@e\n\n+\n\n@n\nACG\n+\n\"\"\"\n" +
		"@l\n" + long + "\n+\n" + strings.Repeat("F", len(long)) + "\n"
	for name, in := range map[string]io.Reader{"whole": bytes.NewReader(m.b), "bytes": iotest.OneByteReader(bytes.NewReader(m.b))} {
		got, err := io.ReadAll(NewReader(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: %d bytes of text, %v; want %d", name, len(got), err, len(want))
		}
	}
}

// TestCut: data that ends anywhere but after a record is an error.
func TestCut(t *testing.T) {
	m := bamOf()
	whole := map[int]string{len(m.b): ""}
	text := ""
	for _, name := range []string{"a", "bb"} {
		m.record(name, 4, -1, "ACGTN", "IIIII")
		text += "@" + name + "\nACGTN\n+\nIIIII\n"
		whole[len(m.b)] = text
	}
	for n := range len(m.b) + 1 {
		got, err := io.ReadAll(NewReader(bytes.NewReader(m.b[:n])))
		if want, ok := whole[n]; ok != (err == nil) || ok && string(got) != want || !ok && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes: %q, %v", n, got, err)
		}
	}
	broken := errors.New("broken")
	if _, err := io.ReadAll(NewReader(io.MultiReader(bytes.NewReader(m.b), iotest.ErrReader(broken)))); err != broken {
		t.Errorf("error %v, want that of the data", err)
	}
}

func TestRefused(t *testing.T) {
	changed := func(at int, b ...byte) []byte {
		m := bamOf()
		start := len(m.b) + 4 // of the record after its length
		m.record("a", 4, -1, "ACGT", "IIII")
		copy(m.b[start+at:], b)
		return m.b
	}
	for name, c := range map[string]struct {
		data []byte
		what string // "": damaged
	}{
		"mapped":          {bamOf().record("a", 0, 0, "A", "I").b, "aligned reads"},
		"placed":          {bamOf().record("a", 4, 0, "A", "I").b, "aligned reads"},
		"reversed":        {bamOf().record("a", 20, -1, "A", "I").b, "aligned reads"},
		"supplementary":   {bamOf().record("a", 2052, -1, "A", "I").b, "aligned reads"},
		"some qualities":  {bamOf().record("a", 4, -1, "AC", " I").b, ""},
		"magic":           {[]byte("BAM\x02and more"), ""},
		"negative length": {changed(-4, 0, 0, 0, 0x80), ""},
		"short":           {changed(-4, 31, 0, 0, 0), ""},
		"no name":         {changed(atNameLen, 0), ""},
		"name":            {changed(atNameLen, 200), ""},
		"name's end":      {changed(atNameLen, 1), ""},
		"bases":           {changed(atBases, 0xff, 0xff, 0xff, 0x7f), ""},
		"operations":      {changed(atOperations, 0xff, 0xff), ""},
		"line end":        {changed(fixedLen, '\n'), ""},
		"quality":         {changed(fixedLen+4, 94), ""},
	} {
		_, err := io.ReadAll(NewReader(bytes.NewReader(c.data)))
		var unsuited *UnsuitedError
		switch {
		case c.what == "" && !errors.Is(err, ErrCorrupt):
			t.Errorf("%s: error %v", name, err)
		case c.what != "" && (!errors.As(err, &unsuited) || unsuited.What != c.what || unsuited.Record != 1):
			t.Errorf("%s: error %v, want %s", name, err, c.what)
		}
	}
}

// FuzzReader: whatever the data is, reading ends, and text comes in records of four lines.
func FuzzReader(f *testing.F) {
	f.Add(bamOf().record("a", 4, -1, "ACGTN", "!~I#F").record("b", 77, -1, "GGRY", "IIII").b)
	f.Add([]byte(Magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := io.ReadAll(NewReader(bytes.NewReader(data)))
		if n := bytes.Count(got, []byte{'\n'}); n%4 != 0 {
			t.Fatalf("%d lines, %v", n, err)
		}
	})
}

// TestRecords: records are put together again from their parts, whatever the fields are.
func TestRecords(t *testing.T) {
	record := func(change func(b []byte)) []byte {
		m := bamOf()
		start := len(m.b)
		m.record("name", 77, -1, "ACGT=NRYACG", "!~I#FIIIIII")
		change(m.b[start+4:])
		return m.b[start:]
	}
	for name, b := range map[string][]byte{
		"plain":        record(func([]byte) {}),
		"mapping":      record(func(b []byte) { copy(b[atMapping:], "\xff\x01\x02") }),
		"place":        record(func(b []byte) { copy(b[atPosition:], "abcd") }),
		"mate":         record(func(b []byte) { copy(b[atNext:], "abcdefghijkl") }),
		"fill":         record(func(b []byte) { b[fixedLen+5+5] |= 3 }),
		"operation":    record(func(b []byte) { b[atOperations] = 1; b[atNameLen] = 1; b[fixedLen] = 0 }),
		"no qualities": bamOf().record("a", 4, -1, "ACG", "   ").b[len(bamOf().b):],
		"no bases":     bamOf().record("*", 4, -1, "", "").b[len(bamOf().b):],
		"no name":      bamOf().record("", 4, -1, "A", "I").b[len(bamOf().b):],
	} {
		for _, header := range [][]byte{nil, bamOf().b} {
			r, err := Parse(b[4:], 1)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			fields := r.AppendFields(nil, header)
			got, ok := AppendRecord(nil, r.Name, r.AppendLetters(nil), r.AppendQualities(nil), fields)
			if want := append(bytes.Clone(header), b...); !ok || !bytes.Equal(got, want) {
				t.Errorf("%s: came back as %q, %v, want %q", name, got, ok, want)
			}
			if _, ok := AppendRecord(nil, r.Name, []byte("Q"), []byte("I"), fields); ok {
				t.Errorf("%s: passed with a Q", name)
			}
		}
	}
	header := bamOf().b
	if got, ok := AppendRecord(nil, nil, nil, nil, HeaderFields(header)); !ok || !bytes.Equal(got, header) {
		t.Errorf("the header alone came back as %q", got)
	}
}
