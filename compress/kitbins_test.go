package compress

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// binsDamaged damages bins.
func (k *kit) binsDamaged() {
	refused := func(name, what, file string, f func(b []byte) []byte) {
		k.refused("bins-"+name, what, kitDamaged, k.with(file, f))
	}
	refused("bdna-magic", "A flipped bit in the magic bytes of the .bdna file.", "x.bdna", flipped(0))
	refused("bdna-reserved", "A flipped bit in the reserved bytes of the .bdna file.", "x.bdna", flipped(13))
	refused("bdna-id", "A flipped bit in the ID of the .bdna file.", "x.bdna", flipped(20))
	refused("bdna-cut", "The .bdna file has lost its last byte.", "x.bdna", cut(-1))
	refused("bdna-longer", "A byte after the end of the .bdna file.", "x.bdna", longer)
	refused("bdna-empty", "The .bdna file is empty.", "x.bdna", cut(0))
	refused("bdna-missing", "There is no .bdna file.", "x.bdna", func([]byte) []byte { return nil })
	refused("bmeta-magic", "A flipped bit in the magic bytes of the .bmeta file.", "x.bmeta", flipped(0))
	refused("bmeta-trailer", "A flipped bit in the trailer.", "x.bmeta", flipped((k.bins.trailer.from+k.bins.trailer.to)/2))
	refused("bmeta-footer", "A flipped bit in the offset of the trailer.", "x.bmeta", flipped(k.bins.trailer.to))
	refused("bmeta-id", "A flipped bit in the ID of the .bmeta file.", "x.bmeta", flipped(-12))
	refused("bmeta-end", "A flipped bit in the last magic bytes of the .bmeta file.", "x.bmeta", flipped(-1))
	refused("bmeta-cut", "Half of the .bmeta file is missing.", "x.bmeta", cut(len(k.bins.meta)/2))
	refused("bmeta-longer", "A byte after the end of the .bmeta file.", "x.bmeta", longer)
	foreign := binsOnly(k.files)
	foreign["x.bmeta"] = k.other["x.bmeta"]
	k.refused("bins-bmeta-foreign", "The .bmeta file is that of another archive.", kitDamaged, foreign)
	k.refused("bins-bmeta-missing", "A .bdna file alone is nothing that can be read.", kitNotArchive, only(k.files, ".bdna"))
	newer := k.with("x.bmeta", func(b []byte) []byte { b[8] = 100; return b })
	b := []byte(newer["x.bdna"])
	b[8] = 100
	newer["x.bdna"] = string(b)
	k.refused("bins-newer", "Both files are of a newer version.", kitVersion, newer)
	odd := k.blockOf(2)
	for i, name := range append(slices.Clone(binsSections), "directory") {
		s := k.bins.section[odd+name]
		if s.from == s.to {
			k.t.Fatalf("the odd FASTQ file has no %s", name)
		}
		file := "x.bmeta"
		if i < dataSections {
			file = "x.bdna"
		}
		k.put("bins-column-"+strings.ReplaceAll(name, " ", "-"), "A flipped bit in the "+name+" of the odd FASTQ file.", kitDamaged,
			k.with(file, flipped((s.from+s.to)/2)), 2)
	}
	moved := k.with("x.bdna", func([]byte) []byte { return nil })
	moved[fmt.Sprintf("x.bdna.%x", k.files["x.bdna"][16:32])] = k.files["x.bdna"]
	k.put("bins-commit-interrupted", "The .bdna file still has the name that it has while it is committed.", kitWhole, moved)
}

// blockOf returns the prefix of the fields of the first block of an input.
func (k *kit) blockOf(input int) string {
	for i := 0; ; i++ {
		b := fmt.Sprintf("block %d ", i)
		at, ok := k.bins.at[b+"input"]
		if !ok {
			k.t.Fatalf("no block of input %d", input)
		}
		if int(k.bins.meta[at.from]) == input {
			return b
		}
	}
}

// binsForged changes fields and sections of bins under checksums that are right.
func (k *kit) binsForged() {
	huge := uint64(1) << 62
	forge := func(name, what string, fields map[string][]byte) {
		k.refused("bins-"+name, what, kitDamaged, k.bins.forge(fields))
	}
	odd := k.blockOf(2)
	forge("evil-name", "The odd FASTQ file is called ../evil.fastq.", map[string][]byte{"input 2 name": sized("../evil.fastq")})
	forge("forged-inputs", "2^62 inputs.", map[string][]byte{"inputs": number(huge)})
	forge("forged-blocks", "2^62 blocks.", map[string][]byte{"blocks": number(huge)})
	forge("forged-records", "A block of 2^32-1 records.",
		map[string][]byte{odd + "records": number(1<<32 - 1), "input 2 records": number(1<<32 - 1)})
	forge("forged-stored", "A section longer than the file.", map[string][]byte{odd + "stored qualities": number(1 << 50)})
	forge("forged-mate", "A pair whose mates point elsewhere.", map[string][]byte{"input 0 mate": number(3)})
	forge("forged-options", "Options that no version has.", map[string][]byte{"options": {8}})
	word := func(at int, v uint32) func(b []byte) {
		return func(b []byte) { binary.LittleEndian.PutUint32(b[at:], v) }
	}
	section := func(name, what, section string, f func(b []byte)) {
		k.put("bins-forged-"+name, what, kitDamaged, k.bins.forgeSection(odd, section, f), 2)
	}
	section("order", "A read of a record that there is not.", "order", word(0, 1000))
	section("order-twice", "Two reads of the same record.", "order", func(b []byte) { copy(b[4:8], b[:4]) })
	section("places", "A read that is said to be stored on the other strand.", "places", func(b []byte) { b[0] ^= 1 })
	section("lengths", "Lengths of another sum.", "lengths", word(0, 16))
	section("bin-table", "A bin of a signature that there is not.", "bin table", func(b []byte) { b[2]++ })
	section("exceptions", "Exceptions of a record that there is not.", "exceptions", func(b []byte) { b[0] = 100 })
	section("forms", "Forms with bits that none has.", "forms", func(b []byte) { b[0] = 0xff })
}
