package compress

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"

	"orcomgo/binning"
	"orcomgo/bins/record"
)

// sources writes archives that say what is recorded of the files of inputs.
func (k *kit) sources() {
	r1, r2 := kitReads(4, 6, 40)
	ins := []input{{"x_1.fastq", r1, 1, true}, {"x_2.fastq", r2, 0, false}, {"odd.fastq", r1, -1, false}}
	files := k.encodeStored(ins, record.Options{}, PackOptions{}, stored{binning.RecordCompressed, []string{"x_1.fastq", "x_2.fastq"}})
	e := &expectation{result: kitWhole, what: "What is recorded of a pair of gzip files and a plain one."}
	for _, in := range ins {
		e.inputs = append(e.inputs, expectInput(in.name, in.text, true))
	}
	k.write("valid-sources", e, packedOnly(files))
	k.write("valid-bins-sources", &expectation{what: "The bins of these files.", result: kitWhole, inputs: e.inputs}, binsOnly(files))
	packed := newPackedFiles(k.t, files["x.cdna"], files["x.cmeta"])
	bins := newBinsFiles(k.t, files["x.bdna"], files["x.bmeta"])
	for _, c := range []struct {
		name, what string
		fields     map[string][]byte
	}{
		{"flags", "Flags of a source that no version has.", map[string][]byte{"input 2 source flags": {1 | 2 | 8 | 16 | 32}}},
		{"nothing", "A source with a time, of which the flags say that nothing is recorded.",
			map[string][]byte{"input 2 source flags": {2 | 8 | 16}}},
		{"name", "A file called ../evil.fastq.gz.", map[string][]byte{"input 0 source name": sized("../evil.fastq.gz")}},
		{"size", "A plain file of another size than its text.", map[string][]byte{"input 2 source size": number(uint64(len(r1)) + 1)}},
	} {
		k.refused("forged-source-"+c.name, c.what, kitDamaged, packed.forge(c.fields))
		k.refused("bins-forged-source-"+c.name, c.what, kitDamaged, bins.forge(c.fields))
	}
}

// groups writes archives of a pair with further mates.
func (k *kit) groups() {
	r1, r2 := kitReads(5, 6, 40)
	index := func(seed int64) string {
		text, _ := kitReads(seed, 6, 8)
		return text
	}
	ins := []input{{"x_1.fastq", r1, 1, true}, {"x_2.fastq", r2, 0, false}, {"x_3.fastq", index(5), furtherOf(0), false},
		{"x_4.fastq", index(6), furtherOf(0), false}}
	files := k.encode(ins, record.Options{}, PackOptions{})
	put := func(name, what, result string, files map[string]string, lost ...int) {
		e := &expectation{what: what, result: result}
		for i, in := range ins {
			e.inputs = append(e.inputs, expectInput(in.name, in.text, !slices.Contains(lost, i)))
		}
		k.write(name, e, files)
	}
	put("valid-group", "A packed archive of a pair and two files of further mates.", kitWhole, packedOnly(files))
	put("valid-bins-group", "The bins of these files.", kitWhole, binsOnly(files))
	packed := newPackedFiles(k.t, files["x.cdna"], files["x.cmeta"])
	flip := func(section string) map[string]string {
		s, damaged := packed.section[section], packedOnly(files)
		damaged["x.cdna"] = string(flipped((s.from + s.to) / 2)([]byte(files["x.cdna"])))
		return damaged
	}
	put("column-names-group", "A flipped bit in the names of first mates: those of all other mates need them.", kitDamaged,
		flip("slice 0 first names section"), 0, 1, 2, 3)
	put("column-names-further", "A flipped bit in the names of further mates.", kitDamaged, flip("slice 2 first names section"), 3)
	for _, c := range []struct {
		name, what string
		fields     map[string][]byte
	}{
		{"second", "Further mates of an input with second mates.", map[string][]byte{"input 2 mate": number(1)}},
		{"further", "Further mates of an input with further mates.", map[string][]byte{"input 2 mate": number(3)}},
		{"itself", "Further mates of the input itself.", map[string][]byte{"input 3 mate": number(3)}},
		{"none", "Further mates of an input that there is not.", map[string][]byte{"input 2 mate": number(4)}},
		{"pairing", "A pairing that there is not.", map[string][]byte{"input 2 pairing": {7}}},
		{"records", "Further mates that are fewer than the first mates.",
			map[string][]byte{"input 2 records": number(5), "slice 1 records": number(5)}},
		{"slice", "A slice of further mates with fewer records than that of the first mates.",
			map[string][]byte{"slice 1 records": number(5)}},
	} {
		k.refused("forged-group-"+c.name, c.what, kitDamaged, packed.forge(c.fields))
	}
	bins := newBinsFiles(k.t, files["x.bdna"], files["x.bmeta"])
	k.refused("bins-forged-group-second", "Further mates of an input with second mates.", kitDamaged,
		bins.forge(map[string][]byte{"input 2 mate": number(2)}))
	k.refused("bins-forged-group-none", "Further mates of no input.", kitDamaged, bins.forge(map[string][]byte{"input 2 mate": number(0)}))
}

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
	k.refused("forged-repeats-version", "Repeats in version 5.", kitDamaged,
		packed.forge(map[string][]byte{"version": number(5), "input 0 source flags": nil}))
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
	files := k.encode([]input{in}, record.Options{}, PackOptions{Level: LevelFast, TwoBit: true})
	put := func(name, what, result string, files map[string]string) {
		k.write(name, &expectation{what: what, result: result,
			inputs: []expectedInput{expectInput("x.fa", in.text, result == kitWhole)}}, files)
	}
	put("valid-assembly", "Sequences in two bits a base.", kitWhole, packedOnly(files))
	packed := newPackedFiles(k.t, files["x.cdna"], files["x.cmeta"])
	k.refused("forged-assembly-version", "Two bits a base in version 5.", kitDamaged,
		packed.forge(map[string][]byte{"version": number(5), "input 0 source flags": nil}))
	k.refused("forged-assembly-fastq", "Two bits a base of FASTQ.", kitDamaged, packed.forge(map[string][]byte{"input 0 kind": {0}}))
	const section = "slice 0 sequences"
	_, head := binary.Uvarint(packed.cdna[packed.section[section].from:])
	for _, c := range []struct {
		name, what string
		f          func(b []byte) []byte
	}{
		{"cut", "Fewer literals than the section says.", cut(-20)},
		{"literals", "More literals than bases.", func(b []byte) []byte { return slices.Concat(number(1<<20), b[head:]) }},
		{"kind", "A copy of a kind that there is not.", func(b []byte) []byte { return inStream(b, 0, 4) }},
		{"first", "A first copy that goes on with the one before.", func(b []byte) []byte { return inStream(b, 0, 0) }},
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
