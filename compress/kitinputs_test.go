package compress

import (
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
		{"pairing", "A pairing that there is not.", map[string][]byte{"input 2 pairing": {8}}},
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

// interleaved writes archives of a file of mates in turn.
func (k *kit) interleaved() {
	r1, r2 := kitReads(7, 6, 40)
	text := interleavedText(r1, r2)
	files := k.encode([]input{{"x.fastq", text, -1, false}}, record.Options{}, PackOptions{})
	put := func(name, what, result string, files map[string]string) {
		k.write(name, &expectation{what: what, result: result, inputs: []expectedInput{expectInput("x.fastq", text, result == kitWhole)}}, files)
	}
	put("valid-interleaved", "A packed archive of a file of first and second mates in turn.", kitWhole, packedOnly(files))
	put("valid-bins-interleaved", "The bins of this file.", kitWhole, binsOnly(files))
	packed := newPackedFiles(k.t, files["x.cdna"], files["x.cmeta"])
	s, damaged := packed.section["slice 0 mate qualities"], packedOnly(files)
	damaged["x.cdna"] = string(flipped((s.from + s.to) / 2)([]byte(files["x.cdna"])))
	put("column-qualities-interleaved", "A flipped bit in the qualities of second mates.", kitDamaged, damaged)
	odd := map[string][]byte{"input 0 records": number(11), "slice 0 records": number(11)}
	k.refused("forged-interleaved-odd", "An interleaved input of 11 records.", kitDamaged, packed.forge(odd))
	files = k.encode([]input{{"x.fastq", text, -1, false}}, record.Options{ReadsOnly: true}, PackOptions{})
	packed, bins := newPackedFiles(k.t, files["x.cdna"], files["x.cmeta"]), newBinsFiles(k.t, files["x.bdna"], files["x.bmeta"])
	k.refused("forged-interleaved-order", "An interleaved input whose order is free.", kitDamaged,
		packed.forge(map[string][]byte{"flags": {8 | 2 | 1}}))
	k.refused("bins-forged-interleaved-order", "Bins of it whose order is free.", kitDamaged,
		bins.forge(map[string][]byte{"options": {2 | 1}}))
}

// interleavedText returns the records of two texts of FASTQ in turn.
func interleavedText(first, second string) string {
	var b strings.Builder
	x, y := strings.SplitAfter(first, "\n"), strings.SplitAfter(second, "\n")
	for i := 0; i+4 <= len(x); i += 4 {
		b.WriteString(strings.Join(x[i:i+4], "") + strings.Join(y[i:i+4], ""))
	}
	return b.String()
}
