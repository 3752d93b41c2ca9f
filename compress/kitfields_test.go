package compress

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
)

// Fields of the two index files by name, read as docs/FORMAT.md has them and not by the code under test, so that the makers of the
// test kit can change any of them and put the checksums right again.

// span is where a field or a section is, in bytes.
type span struct{ from, to int }

// walker reads fields one after another and notes where each is.
type walker struct {
	t    testing.TB
	b    []byte
	at   int
	span map[string]span
}

func (w *walker) bytes(n int, name string) []byte {
	w.t.Helper()
	if n > len(w.b)-w.at {
		w.t.Fatalf("%d bytes of %s in %d", n, name, len(w.b)-w.at)
	}
	w.span[name] = span{w.at, w.at + n}
	w.at += n
	return w.b[w.at-n : w.at]
}

func (w *walker) byte(name string) byte { return w.bytes(1, name)[0] }

func (w *walker) uvarint(name string) int {
	w.t.Helper()
	v, n := binary.Uvarint(w.b[w.at:])
	if n <= 0 {
		w.t.Fatalf("no number for %s", name)
	}
	w.bytes(n, name)
	return int(v)
}

// text is a length and so many bytes; the span is that of both.
func (w *walker) text(name string) {
	from := w.at
	w.bytes(w.uvarint(name+" length"), name)
	w.span[name] = span{from, w.at}
}

// source is what is recorded of a file; it returns the flags.
func (w *walker) source(in string) byte {
	flags := w.byte(in + "source flags")
	if flags == 0 {
		return 0
	}
	w.text(in + "source name")
	w.uvarint(in + "source size")
	if flags&2 != 0 {
		w.bytes(8, in+"source time")
	}
	if flags&4 != 0 {
		w.bytes(32+16, in+"source checksums")
	}
	return flags
}

// splice returns b with the fields replaced.
func splice(t testing.TB, b []byte, at map[string]span, fields map[string][]byte) []byte {
	t.Helper()
	var names []string
	for name := range fields {
		if _, ok := at[name]; !ok {
			t.Fatalf("no field %q", name)
		}
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int { return at[y].from - at[x].from })
	b = slices.Clone(b)
	for _, name := range names {
		b = slices.Replace(b, at[name].from, at[name].to, fields[name]...)
	}
	return b
}

func number(v uint64) []byte { return binary.AppendUvarint(nil, v) }

// sized is a text as the fields have it.
func sized(s string) []byte { return append(number(uint64(len(s))), s...) }

func sum64(b []byte) []byte { return binary.LittleEndian.AppendUint64(nil, xxh3.Hash(b)) }

func sum128(b []byte) []byte {
	s := xxh3.Hash128(b).Bytes()
	return s[:]
}

// packedFiles are the two files of a packed archive.
type packedFiles struct {
	t          testing.TB
	cdna, meta []byte
	at         map[string]span // fields of the manifest
	section    map[string]span // in cdna
}

// packedHeader is the length of what precedes the sections, and packedLabel of the header of each.
const (
	packedHeader = 8 + 1 + 16
	packedLabel  = 64
)

func newPackedFiles(t testing.TB, cdna, meta string) *packedFiles {
	p := &packedFiles{t: t, cdna: []byte(cdna), meta: []byte(meta), section: make(map[string]span)}
	w := &walker{t: t, b: p.meta[:len(meta)-16], span: make(map[string]span)}
	p.at = w.span
	off := packedHeader
	section := func(name string) {
		n := w.uvarint(name + " length")
		hash := 0
		if n > 0 {
			hash = 8
			off += packedLabel
		}
		w.bytes(hash, name+" hash")
		p.section[name] = span{off, off + n}
		off += n
	}
	w.bytes(8, "magic")
	w.uvarint("version")
	w.bytes(16, "id")
	w.bytes(16, "bins id")
	w.text("tool")
	flags := w.uvarint("flags")
	quality := w.byte("quality")
	w.byte("level")
	w.uvarint("block size")
	w.uvarint("bulk length")
	section("head")
	verified := flags&8 != 0
	inputs := w.uvarint("inputs")
	paired := make([]bool, inputs)
	for i := range inputs {
		in := fmt.Sprintf("input %d ", i)
		w.text(in + "name")
		kind := w.byte(in + "kind")
		switch w.byte(in + "pairing") {
		case 1, 3:
			paired[i] = true
			w.uvarint(in + "mate")
		case 5:
			w.uvarint(in + "mate")
		case 7:
			paired[i] = true
		}
		for _, f := range []string{"records", "bytes", "bases", "shortest", "longest"} {
			w.uvarint(in + f)
		}
		if flags&7 == 0 && (quality == 0 || kind == 1) {
			for b := range w.uvarint(in + "blocks") {
				w.uvarint(fmt.Sprintf("%sblock %d length", in, b))
				w.bytes(16, fmt.Sprintf("%sblock %d hash", in, b))
			}
		}
		if verified {
			w.uvarint(in + "unpacked bytes")
			w.bytes(32, in+"sha256")
		}
		if w.source(in)&16 != 0 && verified {
			w.bytes(16, in+"md5")
		}
	}
	for i := range w.uvarint("slices") {
		s := fmt.Sprintf("slice %d ", i)
		members := []string{"first"}
		if paired[w.uvarint(s+"input")] {
			members = append(members, "mate")
		}
		w.uvarint(s + "records")
		for _, m := range members {
			m = s + m + " "
			w.uvarint(m + "bases")
			w.uvarint(m + "names length")
			w.uvarint(m + "names continue")
			if verified {
				w.uvarint(m + "text length")
				w.bytes(8, m+"text hash")
			}
			for _, column := range []string{"lengths", "forms", "names section", "qualities"} {
				section(m + column)
			}
		}
		section(s + "sequences")
		if flags&32 != 0 {
			for _, f := range []string{"least", "greatest"} {
				w.uvarint(s + f + " shared")
				w.text(s + f)
			}
		}
	}
	for i := range w.uvarint("shared") {
		section(fmt.Sprintf("shared %d", i))
	}
	section("parity")
	if w.at != len(w.b) {
		t.Fatalf("%d bytes of the manifest are left over", len(w.b)-w.at)
	}
	return p
}

// bulkEnd returns where the sections end.
func (p *packedFiles) bulkEnd() int {
	end := packedHeader
	for _, s := range p.section {
		end = max(end, s.to)
	}
	return end
}

// forge returns the files with fields of the manifest replaced and all checksums right again.
func (p *packedFiles) forge(fields map[string][]byte) map[string]string {
	return p.seal(p.cdna[:p.bulkEnd()], splice(p.t, p.meta[:len(p.meta)-16], p.at, fields))
}

// seal makes the two files of a bulk file up to the end of the sections, and a manifest without its checksum.
func (p *packedFiles) seal(bulk, body []byte) map[string]string {
	meta := slices.Concat(body, sum128(body))
	cdna := slices.Concat(bulk, meta, binary.LittleEndian.AppendUint64(nil, uint64(len(meta))), []byte("\x89OCGe\r\n\x1a"))
	return map[string]string{"x.cdna": string(cdna), "x.cmeta": string(meta)}
}

// forgeSection returns the files with a section replaced and all checksums right again.
func (p *packedFiles) forgeSection(name string, f func(b []byte) []byte) map[string]string {
	s, ok := p.section[name]
	if !ok {
		p.t.Fatalf("no section %q", name)
	}
	content := f(slices.Clone(p.cdna[s.from:s.to]))
	hash := sum64(content)
	if len(content) == 0 {
		hash = nil
		s.from -= packedLabel
	}
	bulk := slices.Concat(p.cdna[:s.from], content, p.cdna[s.to:p.bulkEnd()])
	id := sum128(bulk[p.section["head"].to : p.section["parity"].from-packedLabel+len(content)-(s.to-s.from)])
	copy(bulk[9:], id)
	body := splice(p.t, p.meta[:len(p.meta)-16], p.at, map[string][]byte{
		name + " length": number(uint64(len(content))), name + " hash": hash, "bulk length": number(uint64(len(bulk))), "id": id})
	return p.seal(bulk, body)
}

// binsFiles are the two files of bins whose sections have a chunk at most.
type binsFiles struct {
	t          testing.TB
	bdna, meta []byte
	trailer    span
	at         map[string]span // fields of the trailer and of the directories, in meta
	section    map[string]span // in bdna for bases, names and qualities, else in meta
}

// binsSections are the sections of a block; the first dataSections are in the .bdna file.
var binsSections = []string{"bases", "names", "qualities", "bin table", "order", "places", "lengths", "exceptions", "forms"}

const dataSections = 3

func newBinsFiles(t testing.TB, bdna, bmeta string) *binsFiles {
	p := &binsFiles{t: t, bdna: []byte(bdna), meta: []byte(bmeta), section: make(map[string]span)}
	foot := p.meta[len(p.meta)-64:]
	from := int(binary.LittleEndian.Uint64(foot))
	p.trailer = span{from, from + int(binary.LittleEndian.Uint64(foot[8:]))}
	w := &walker{t: t, b: p.meta[:p.trailer.to], at: from, span: make(map[string]span)}
	p.at = w.span
	w.text("tool")
	w.byte("options")
	w.byte("quality")
	w.uvarint("block size")
	for i := range w.uvarint("inputs") {
		in := fmt.Sprintf("input %d ", i)
		w.text(in + "name")
		w.byte(in + "kind")
		w.byte(in + "first")
		for _, f := range []string{"mate", "records", "bytes"} {
			w.uvarint(in + f)
		}
		w.source(in)
	}
	blocks := w.uvarint("blocks")
	for i := range blocks {
		b := fmt.Sprintf("block %d ", i)
		w.byte(b + "flags")
		for _, f := range []string{"input", "first record", "records", "text length", "total bases", "read length", "names length",
			"qualities length", "bases length"} {
			w.uvarint(b + f)
		}
		w.bytes(16, b+"text hash")
	}
	data, meta := 32, 16
	for i := range blocks {
		b := fmt.Sprintf("block %d ", i)
		for _, f := range []string{"stored bases", "stored names", "stored qualities"} {
			w.uvarint(b + f)
		}
		length, directory := w.uvarint(b+"meta length"), w.uvarint(b+"directory length")
		w.bytes(8, b+"directory hash")
		data, meta = p.walkDirectory(b, data, meta, meta+length-directory, directory)
	}
	if w.at != p.trailer.to || meta != from || data != len(p.bdna) {
		t.Fatal("the trailer or the sections are longer than they should be")
	}
	return p
}

// walkDirectory reads the directory of a block, n bytes from at on, whose sections start at data and meta; it returns where those of
// the next block start.
func (p *binsFiles) walkDirectory(block string, data, meta, at, n int) (int, int) {
	w := &walker{t: p.t, b: p.meta[:at+n], at: at, span: p.at}
	p.section[block+"directory"] = span{at, at + n}
	for k, name := range binsSections {
		size := w.uvarint(block + name + " raw")
		if size > 0 {
			if k == 1 || k == 2 {
				w.byte(block + name + " method")
				size = w.uvarint(block + name + " stored")
			}
			w.bytes(8, block+name+" hash")
		}
		if k < dataSections {
			p.section[block+name] = span{data, data + size}
			data += size
		} else {
			p.section[block+name] = span{meta, meta + size}
			meta += size
		}
	}
	if meta != at || w.at != at+n {
		p.t.Fatalf("%ssections end at %d, the directory is at %d", block, meta, at)
	}
	return data, at + n
}

// forge returns the files with fields of the trailer replaced and all checksums right again.
func (p *binsFiles) forge(fields map[string][]byte) map[string]string {
	return p.seal(p.bdna, splice(p.t, p.meta, p.at, fields), len(p.meta)-p.trailer.to)
}

// seal puts the checksum right in the meta file, which may have a trailer of another length. The ID stays, which no reader compares with
// the content.
func (p *binsFiles) seal(bdna, meta []byte, footLen int) map[string]string {
	meta = slices.Clone(meta)
	foot := meta[len(meta)-footLen:]
	trailer := meta[p.trailer.from : len(meta)-footLen]
	binary.LittleEndian.PutUint64(foot[8:], uint64(len(trailer)))
	copy(foot[24:], sum128(slices.Concat(meta[:16], trailer, foot[:24], foot[40:56])))
	return map[string]string{"x.bdna": string(bdna), "x.bmeta": string(meta)}
}

// forgeSection returns the files with the bytes of a section changed in place and all checksums right again.
func (p *binsFiles) forgeSection(block, name string, f func(b []byte)) map[string]string {
	bdna, meta := slices.Clone(p.bdna), slices.Clone(p.meta)
	s, file := p.section[block+name], meta
	if slices.Contains(binsSections[:dataSections], name) {
		file = bdna
	}
	content := file[s.from:s.to]
	if len(content) == 0 {
		p.t.Fatalf("no section %q", block+name)
	}
	f(content)
	copy(meta[p.at[block+name+" hash"].from:], sum64(content))
	dir := p.section[block+"directory"]
	copy(meta[p.at[block+"directory hash"].from:], sum64(meta[dir.from:dir.to]))
	return p.seal(bdna, meta, len(p.meta)-p.trailer.to)
}
