package compress

import (
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
