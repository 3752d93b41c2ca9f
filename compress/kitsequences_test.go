package compress

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"

	"orcomgo/bins/record"
)

// repeats writes archives of long reads whose pseudogenome has a section of repeats.
func (k *kit) repeats() {
	in := input{"x.fa", readFile(k.t, filepath.Join(goldenDir, "text", "versions.fa")), -1, false}
	files := k.encode([]input{in}, record.Options{ReadsOnly: true}, PackOptions{})
	lines := strings.Builder{}
	for _, r := range strings.Split(in.text, ">")[1:] {
		_, bases, _ := strings.Cut(r, "\n")
		lines.WriteString(strings.ReplaceAll(bases, "\n", "") + "\n")
	}
	k.write("valid-repeats", &expectation{what: "Two versions of a sequence, three reads of each.", result: kitWhole,
		inputs: []expectedInput{expectInput("x.reads", lines.String(), true)}}, packedOnly(files))
	packed := newPackedFiles(k.t, files["x.cdna"], files["x.cmeta"])
	k.refused("forged-repeats-none", "A section of repeats of no bytes.", kitDamaged,
		packed.forgeSection("shared 1", func([]byte) []byte { return nil }))
	for _, c := range []struct {
		name, what string
		f          func(b []byte) []byte
	}{
		{"cut", "A section of repeats that ends early.", cut(-20)},
		{"blocks", "Blocks of 2^31 bases.", func(b []byte) []byte { b[repeatsHead] = 31; return b }},
		{"bases", "Blocks that have 2^31 bases in all.", func(b []byte) []byte { return slices.Concat(b[:1], number(1<<31), b[repeatsHead:]) }},
		{"literals", "Blocks with more bases that no piece has than the pseudogenome section holds.",
			func(b []byte) []byte { return slices.Concat(b[:1], number(24000), b[repeatsHead:]) }},
		{"first", "More bases before the blocks than there are.", func(b []byte) []byte { return slices.Concat(number(1<<20), b[1:]) }},
	} {
		k.write("forged-repeats-"+c.name, &expectation{what: c.what, result: kitDamaged,
			inputs: []expectedInput{expectInput("x.reads", lines.String(), false)}}, packed.forgeSection("shared 1", c.f))
	}
}

// repeatsHead is where the size of blocks is in a section of repeats: after a byte for the number of bases before the blocks, 0, and two
// for those of the blocks.
const repeatsHead = 3

// assemblies writes archives of sequences in two bits a base.
func (k *kit) assemblies() {
	in := input{"x.fa", readFile(k.t, filepath.Join(goldenDir, "text", "assembly.fa")), -1, false}
	files := k.encode([]input{in}, record.Options{}, PackOptions{TwoBit: true})
	put := func(name, what, result string, files map[string]string) {
		k.write(name, &expectation{what: what, result: result,
			inputs: []expectedInput{expectInput("x.fa", in.text, result == kitWhole)}}, files)
	}
	put("valid-assembly", "Sequences in two bits a base.", kitWhole, packedOnly(files))
	packed := newPackedFiles(k.t, files["x.cdna"], files["x.cmeta"])
	k.refused("forged-assembly-fastq", "Two bits a base of FASTQ.", kitDamaged, packed.forge(map[string][]byte{"input 0 kind": {0}}))
	const section = "slice 0 sequences"
	_, head := binary.Uvarint(packed.cdna[packed.section[section].from:])
	for _, c := range []struct {
		name, what string
		f          func(b []byte) []byte
	}{
		{"cut", "Fewer literals than the section says.", cut(-20)},
		{"literals", "More literals than bases.", func(b []byte) []byte { return slices.Concat(number(1<<20), b[head:]) }},
		{"kind", "A copy of a kind that there is not.", func(b []byte) []byte { return inStream(b, 0, 3) }},
		{"length", "A copy of more bases than there are.", func(b []byte) []byte { return inStream(b, 2, 0xff) }},
		{"place", "A copy of bases before the first.", func(b []byte) []byte { return inStream(b, 3, 0xff) }},
		{"letter", "A run of A, which is no exception.", func(b []byte) []byte { return inStream(b, 6, 'A') }},
		{"same", "A stream of 2^29 symbols in the bytes of a few.",
			func(b []byte) []byte { return slices.Concat(b[:head], number(1<<29), b[head+1:]) }},
	} {
		put("forged-assembly-"+c.name, c.what, kitDamaged, packed.forgeSection(section, c.f))
	}
}

// inStream returns a section of two bits a base in which the first symbol of a stream, which is stored as it is, has another value.
func inStream(b []byte, stream int, value byte) []byte {
	b = slices.Clone(b)
	_, at := binary.Uvarint(b)
	var before uint64
	for i := range 7 {
		_, n := binary.Uvarint(b[at:])
		stored, m := binary.Uvarint(b[at+n:])
		if at += n + m; i < stream {
			before += stored
		}
	}
	if b[at+int(before)] != 0 {
		panic("the stream is coded")
	}
	b[at+int(before)+1] = value
	return b
}
