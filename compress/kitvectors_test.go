package compress

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/names"
	"orcomgo/internal/codectest"
)

// The makers of the vectors of testdata/testkit. TestTestkit reads the files, not this; -update writes them.

// kit has what vectors are made of: an archive of a pair, a FASTQ file with something in every column and a FASTA file, in several
// slices and blocks, and another archive.
type kit struct {
	t      testing.TB
	ins    []input
	packed *packedFiles
	bins   *binsFiles
	files  map[string]string // of both stages of the archive
	other  map[string]string // of an archive of other reads
	made   map[string]bool   // by name
}

const kitName = "x" // of the archives

// kitReads returns a pair of n reads of l bases each, as FASTQ.
func kitReads(seed int64, n, l int) (r1, r2 string) {
	rng := rand.New(rand.NewSource(seed))
	genome := make([]byte, 160)
	for i := range genome {
		genome[i] = "ACGT"[rng.Intn(4)]
	}
	var out [2]strings.Builder
	for i := range n {
		at := rng.Intn(len(genome) - 100)
		for m := range out {
			seq := bytes.Clone(genome[at+60*m:][:l])
			if m == 1 {
				slices.Reverse(seq)
				for j, b := range seq {
					seq[j] = "TGCA"[strings.IndexByte("ACGT", b)]
				}
			}
			qual := bytes.Repeat([]byte("F"), l)
			for j := range qual {
				if rng.Intn(8) == 0 {
					qual[j] = "#,:"[rng.Intn(3)]
				}
				if rng.Intn(60) == 0 {
					seq[j] = "ACGT"[rng.Intn(4)]
				}
			}
			fmt.Fprintf(&out[m], "@M1:7:FC:1:1101:%d:%d %d:N:0:1\n%s\n+\n%s\n", 1000+i*i*37%900, 1100+i, m+1, seq, qual)
		}
	}
	return out[0].String(), out[1].String()
}

// makeKit makes all vectors anew.
func makeKit(t testing.TB) {
	entries, err := os.ReadDir(kitDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := os.RemoveAll(filepath.Join(kitDir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	k := &kit{t: t, made: make(map[string]bool)}
	r1, r2 := kitReads(1, 10, 40)
	odd := "@c 1\r\nACGTNACGTTGCAAG\r\n+\r\n,,,,#,,,,,,,FFF\r\n@c 2\nTTacgRAC\n+c 2\nFFFFFFFF\n@c 2\nT\n+\n,\n@c 3\n\n+\n\n"
	k.ins = []input{{"x_1.fastq", r1, 1, true}, {"x_2.fastq", r2, 0, false}, {"odd.fastq", odd, -1, false},
		{"x.fa", ">one\nACGTNNACGT\nACGTTGCA\n>two\nacgtTTGACCA\n", -1, false}}
	k.files = k.encode(k.ins, record.Options{BlockSize: 1 << 10}, PackOptions{})
	k.packed = newPackedFiles(t, k.files["x.cdna"], k.files["x.cmeta"])
	k.bins = newBinsFiles(t, k.files["x.bdna"], k.files["x.bmeta"])
	o1, o2 := kitReads(2, 10, 40)
	k.other = k.encode([]input{{"x_1.fastq", o1, 1, true}, {"x_2.fastq", o2, 0, false}}, record.Options{}, PackOptions{})
	k.valid()
	k.packedCopies()
	k.packedColumns()
	k.packedCut()
	k.packedForged()
	k.binsDamaged()
	k.binsForged()
	k.notArchives()
	k.sources()
	k.groups()
	k.interleaved()
	k.repeats()
	k.assemblies()
}

// encode brings inputs through both stages; the archive is called x.
func (k *kit) encode(ins []input, o record.Options, p PackOptions) map[string]string {
	k.t.Helper()
	return k.encodeStored(ins, o, p, stored{})
}

// encodeStored is encode of files that are stored as s says.
func (k *kit) encodeStored(ins []input, o record.Options, p PackOptions, s stored) map[string]string {
	k.t.Helper()
	dir := binStored(k.t, ins, o, s)
	p.Tool, p.KeepBins = "testkit", true
	packTo(k.t, dir, p)
	files := make(map[string]string)
	for name, content := range filesIn(k.t, dir) {
		files[kitName+filepath.Ext(name)] = content
	}
	return files
}

// only returns the files with the extensions given.
func only(files map[string]string, exts ...string) map[string]string {
	files = maps.Clone(files)
	maps.DeleteFunc(files, func(name, _ string) bool { return !slices.Contains(exts, filepath.Ext(name)) })
	return files
}

func packedOnly(files map[string]string) map[string]string { return only(files, ".cdna", ".cmeta") }

func binsOnly(files map[string]string) map[string]string { return only(files, ".bdna", ".bmeta") }

// with returns the packed archive or the bins with one file changed; nil removes it.
func (k *kit) with(name string, f func(b []byte) []byte) map[string]string {
	files := packedOnly(k.files)
	if strings.HasPrefix(filepath.Ext(name), ".b") {
		files = binsOnly(k.files)
	}
	b := f([]byte(files[name]))
	if b == nil {
		delete(files, name)
		return files
	}
	files[name] = string(b)
	return files
}

// flipped flips the lowest bit of the byte at, which counts from the end if negative.
func flipped(at int) func(b []byte) []byte {
	return func(b []byte) []byte {
		if at < 0 {
			at += len(b)
		}
		b[at] ^= 1
		return b
	}
}

func cut(n int) func(b []byte) []byte {
	return func(b []byte) []byte {
		if n < 0 {
			n += len(b)
		}
		return b[:n]
	}
}

func longer(b []byte) []byte { return append(b, 0) }

// put writes a vector of the archive of the kit; lost are the inputs that can't be restored.
func (k *kit) put(name, what, result string, files map[string]string, lost ...int) {
	k.t.Helper()
	e := &expectation{what: what, result: result}
	for i, in := range k.ins {
		e.inputs = append(e.inputs, expectInput(in.name, in.text, !slices.Contains(lost, i)))
	}
	k.write(name, e, files)
}

// refused writes a vector of which nothing can be restored.
func (k *kit) refused(name, what, result string, files map[string]string) {
	k.t.Helper()
	k.write(name, &expectation{what: what, result: result}, files)
}

func expectInput(name, text string, restored bool) expectedInput {
	return expectedInput{name: name, restored: restored, length: len(text), sha256: fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}
}

func (k *kit) write(name string, e *expectation, files map[string]string) {
	k.t.Helper()
	if k.made[name] {
		k.t.Fatalf("two vectors are called %s", name)
	}
	k.made[name] = true
	dir := filepath.Join(kitDir, name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		k.t.Fatal(err)
	}
	files = maps.Clone(files)
	if files == nil {
		files = make(map[string]string)
	}
	files["expect.txt"] = e.String()
	for file, content := range files {
		if e.result == kitDamaged && filepath.Ext(file) == ".cdna" { // what is damaged is to stay so
			content = string(codectest.WithoutParity([]byte(content)))
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o666); err != nil {
			k.t.Fatal(err)
		}
	}
}

// valid writes sound archives.
func (k *kit) valid() {
	k.put("valid-packed", "A packed archive of a pair, a FASTQ file with odd records and a FASTA file.", kitWhole, packedOnly(k.files))
	k.put("valid-bins", "The bins of these files.", kitWhole, binsOnly(k.files))
	k.put("valid-both", "The packed archive beside the bins that it was made of.", kitWhole, k.files)
	other := func(name, what string, restored map[string]string, ins []input, o record.Options, p PackOptions) {
		e := &expectation{what: what, result: kitWhole}
		for _, in := range ins {
			n, text := in.name, in.text
			for r := range restored {
				if stem, _ := record.CutTextExt(n); strings.HasPrefix(r, stem+".") {
					n, text = r, restored[r]
				}
			}
			e.inputs = append(e.inputs, expectInput(n, text, true))
		}
		k.write(name, e, packedOnly(k.encode(ins, o, p)))
	}
	r1, r2 := kitReads(3, 6, 40)
	pair := []input{{"x_1.fastq", r1, 1, true}, {"x_2.fastq", r2, 0, false}}
	other("valid-no-verify", "Packed without the check: the manifest has neither SHA-256 nor lengths and hashes of the texts of slices.", nil,
		pair, record.Options{}, PackOptions{NoVerify: true})
	other("valid-empty", "An empty file.", nil, single("x.fastq", ""), record.Options{}, PackOptions{})
	o := record.Options{ReadsOnly: true}
	other("valid-reads-only", "Reads only: one sequence a line.",
		map[string]string{"x_1.reads": strings.Join(expected(r1, o), ""), "x_2.reads": strings.Join(expected(r2, o), "")}, pair, o, PackOptions{})
	other("valid-odd-file-names", "Input files whose names hold spaces, control characters, a backslash and bytes that are no UTF-8.", nil,
		[]input{{"x.fastq", r1, -1, false}, {"-x caf\xc3\xa9\\.fastq", r2, -1, false}, {"\x01\xff\n.fastq", "", -1, false},
			{"...", r1, -1, false}}, record.Options{}, PackOptions{})
}

// packedCopies damages what is there twice.
func (k *kit) packedCopies() {
	end := k.packed.bulkEnd()
	noted := func(name, what, file string, f func(b []byte) []byte) { k.put(name, what, kitNoted, k.with(file, f)) }
	noted("cdna-magic", "A flipped bit in the magic bytes of the .cdna file.", "x.cdna", flipped(0))
	noted("cdna-version", "A flipped bit in the version of the .cdna file's header.", "x.cdna", flipped(8))
	noted("cdna-id", "A flipped bit in the ID of the .cdna file's header.", "x.cdna", flipped(12))
	noted("copy-magic", "A flipped bit in the magic bytes of the manifest's copy in the .cdna file.", "x.cdna", flipped(end))
	noted("copy-body", "A flipped bit in the manifest's copy.", "x.cdna", flipped(end+60))
	noted("copy-checksum", "A flipped bit in the checksum of the manifest's copy.", "x.cdna", flipped(-17))
	noted("copy-length", "A flipped bit in the length of the manifest's copy.", "x.cdna", flipped(-16))
	noted("copy-end-magic", "A flipped bit in the magic bytes at the end of the .cdna file.", "x.cdna", flipped(-1))
	noted("cdna-longer", "A byte after the end of the .cdna file.", "x.cdna", longer)
	noted("cdna-cut-end", "The .cdna file has lost its last byte.", "x.cdna", cut(-1))
	noted("cdna-cut-copy", "The .cdna file ends after its sections.", "x.cdna", cut(end))
	noted("cmeta-magic", "A flipped bit in the magic bytes of the .cmeta file.", "x.cmeta", flipped(1))
	noted("cmeta-body", "A flipped bit in the .cmeta file.", "x.cmeta", flipped(60))
	noted("cmeta-checksum", "A flipped bit in the checksum of the .cmeta file.", "x.cmeta", flipped(-1))
	noted("cmeta-longer", "A byte after the end of the .cmeta file.", "x.cmeta", longer)
	noted("cmeta-cut", "Half of the .cmeta file is missing.", "x.cmeta", cut(len(k.packed.meta)/2))
	noted("cmeta-empty", "The .cmeta file is empty.", "x.cmeta", cut(0))
	noted("cmeta-missing", "There is no .cmeta file.", "x.cmeta", func([]byte) []byte { return nil })
	noted("cmeta-newer", "The .cmeta file is of a newer version, under a checksum that is right.", "x.cmeta", func([]byte) []byte {
		return []byte(k.packed.forge(map[string][]byte{"version": number(100)})["x.cmeta"])
	})
	both := k.with("x.cdna", flipped(end+60))
	both["x.cmeta"] = k.with("x.cmeta", flipped(60))["x.cmeta"]
	k.refused("both-manifests", "Flipped bits in both copies of the manifest.", kitDamaged, both)
	lost := k.with("x.cdna", flipped(-1))
	delete(lost, "x.cmeta")
	k.refused("no-manifest", "A flipped bit in the last magic bytes of the .cdna file, and no .cmeta file.", kitDamaged, lost)
	foreign := packedOnly(k.files)
	foreign["x.cmeta"] = k.other["x.cmeta"]
	k.refused("cmeta-foreign", "The .cmeta file is that of another archive; the copy in the .cdna file says otherwise.", kitDamaged, foreign)
	k.refused("newer", "Both files are of a newer version, under checksums that are right.", kitVersion,
		k.newer(k.packed.forge(map[string][]byte{"version": number(100)})))
	stale := maps.Clone(k.other)
	maps.Copy(stale, binsOnly(k.files))
	k.put("bins-newer-than-packed", "Bins beside a packed archive of other reads: readers use the bins.", kitNoted, stale)
}

// newer puts the version into the header of the .cdna file.
func (k *kit) newer(files map[string]string) map[string]string {
	b := []byte(files["x.cdna"])
	b[8] = 100
	files["x.cdna"] = string(b)
	return files
}

// packedColumns damages each kind of section. Inputs 0 and 1 are the pair.
func (k *kit) packedColumns() {
	for _, c := range []struct {
		name, what, section string
		lost                []int
	}{
		{"lengths", "lengths of first mates: sequences need those of both mates", "slice 0 first lengths", []int{0, 1}},
		{"lengths-mate", "lengths of second mates: sequences need those of both mates", "slice 0 mate lengths", []int{0, 1}},
		{"names", "names of first mates: those of second mates need them", "slice 0 first names section", []int{0, 1}},
		{"names-mate", "names of second mates", "slice 0 mate names section", []int{1}},
		{"qualities", "qualities of first mates, which their sequences need", "slice 0 first qualities", []int{0}},
		{"qualities-mate", "qualities of second mates, which their sequences need", "slice 0 mate qualities", []int{1}},
		{"sequences", "sequences of the first slice", "slice 0 sequences", []int{0, 1}},
		{"forms", "forms of the odd FASTQ file", k.sliceOf(2) + "first forms", []int{2}},
		{"sequences-odd", "sequences of the odd FASTQ file", k.sliceOf(2) + "sequences", []int{2}},
		{"names-fasta", "names of the FASTA file", k.sliceOf(3) + "first names section", []int{3}},
		{"pseudogenome", "pseudogenome: all sequences need it", "shared 0", []int{0, 1, 2, 3}},
		{"positions", "positions: all sequences need them", "shared 1", []int{0, 1, 2, 3}},
	} {
		s := k.packed.section[c.section]
		if s.to == s.from {
			k.t.Fatalf("%s is empty", c.section)
		}
		k.put("column-"+c.name, "A flipped bit in the "+c.what+".", kitDamaged, k.with("x.cdna", flipped((s.from+s.to)/2)), c.lost...)
	}
}

// sliceOf returns the prefix of the fields of the first slice of an input.
func (k *kit) sliceOf(input int) string {
	for i := 0; ; i++ {
		s := fmt.Sprintf("slice %d ", i)
		at, ok := k.packed.at[s+"input"]
		if !ok {
			k.t.Fatalf("no slice of input %d", input)
		}
		if int(k.packed.meta[at.from]) == input {
			return s
		}
	}
}

// packedCut cuts the .cdna file short of its sections.
func (k *kit) packedCut() {
	shared := k.packed.section["shared 0"].from
	all := []int{0, 1, 2, 3}
	k.put("cdna-cut-sections", "The .cdna file ends in the first slice.", kitDamaged,
		k.with("x.cdna", cut(k.packed.section["slice 0 sequences"].from)), all...)
	k.put("cdna-cut-shared", "The .cdna file ends before the shared sections.", kitDamaged, k.with("x.cdna", cut(shared)), all...)
	k.put("cdna-cut-header", "The .cdna file ends in its header.", kitDamaged, k.with("x.cdna", cut(10)), all...)
	k.put("cdna-empty", "The .cdna file is empty.", kitDamaged, k.with("x.cdna", cut(0)), all...)
	k.refused("cdna-missing", "There is no .cdna file.", kitDamaged, k.with("x.cdna", func([]byte) []byte { return nil }))
	zeros := k.with("x.cdna", func(b []byte) []byte {
		clear(b[k.packed.section[k.sliceOf(2)+"sequences"].from:k.packed.section[k.sliceOf(2)+"sequences"].to])
		return b
	})
	k.put("cdna-zeros", "The sequences of the odd FASTQ file are overwritten by zeros.", kitDamaged, zeros, 2)
	foreign := packedOnly(k.files)
	foreign["x.cdna"] = k.other["x.cdna"]
	k.refused("cdna-foreign", "The .cdna file is that of another archive.", kitDamaged, foreign)
}

// packedForged changes fields and sections under checksums that are right.
func (k *kit) packedForged() {
	huge := uint64(1) << 62
	forge := func(name, what string, fields map[string][]byte) {
		k.refused(name, what, kitDamaged, k.packed.forge(fields))
	}
	for _, c := range []struct{ name, input string }{
		{"parent", "../evil.fastq"}, {"absolute", "/tmp/evil.fastq"}, {"folder", "a/evil.fastq"}, {"dot", "."}, {"dots", ".."}, {"empty", ""},
		{"nul", "evil\x00.fastq"}, {"twice", "x_1.fastq"}, {"long", strings.Repeat("x", 256)},
	} {
		forge("evil-name-"+c.name, fmt.Sprintf("The odd FASTQ file is called %s (as %%XX where odd).", escaped(c.input)),
			map[string][]byte{"input 2 name": sized(c.input)})
	}
	forge("forged-inputs", "2^62 inputs.", map[string][]byte{"inputs": number(huge)})
	forge("forged-slices", "2^62 slices.", map[string][]byte{"slices": number(huge)})
	forge("forged-shared", "2^62 shared sections.", map[string][]byte{"shared": number(huge)})
	forge("forged-blocks", "2^62 blocks of text.", map[string][]byte{"input 2 blocks": number(huge)})
	forge("forged-records", "A slice of 2^26 records, more than its input has.", map[string][]byte{"slice 0 records": number(1 << 26)})
	forge("forged-too-many-records", "A slice of more than 2^26 records.", map[string][]byte{"slice 0 records": number(1<<26 + 1)})
	forge("forged-no-records", "A slice of no records.", map[string][]byte{"slice 0 records": number(0)})
	forge("forged-bases", "An input and its slice of 2^60 bases, more than the sections can hold.",
		map[string][]byte{"input 3 bases": number(1 << 60), k.sliceOf(3) + "first bases": number(1 << 60)})
	forge("forged-names", "Names of 2^60 bytes, more than the section can hold.",
		map[string][]byte{k.sliceOf(3) + "first names length": number(1 << 60)})
	forge("forged-section", "A section longer than the file.", map[string][]byte{"slice 0 sequences length": number(huge)})
	forge("forged-bulk", "A length of the sections that is not their sum.",
		map[string][]byte{"bulk length": number(uint64(k.packed.bulkEnd() + 1))})
	forge("forged-mate", "A pair whose mates point elsewhere.", map[string][]byte{"input 0 mate": number(2)})
	forge("forged-slice-input", "A slice of an input that there is not.", map[string][]byte{"slice 0 input": number(4)})
	forge("forged-second-mates", "A slice of second mates alone.", map[string][]byte{"slice 0 input": number(1)})
	forge("forged-flags", "Flags that no version has.", map[string][]byte{"flags": number(256)})
	forge("forged-number", "A number of more than ten bytes.", map[string][]byte{"block size": append(bytes.Repeat([]byte{0x80}, 10), 1)})
	k.refused("forged-version-0", "Both manifests are of version 0, which there never was, under checksums that are right.", kitVersion,
		k.packed.forge(map[string][]byte{"version": number(0)}))
	k.refused("forged-tail", "A manifest with a byte too many before its checksum.", kitDamaged,
		k.packed.seal(k.packed.cdna[:k.packed.bulkEnd()], append(bytes.Clone(k.packed.meta[:len(k.packed.meta)-16]), 0)))

	all := []int{0, 1, 2, 3}
	section := func(name, what, section string, f func(b []byte) []byte, lost ...int) {
		k.put(name, what, kitDamaged, k.packed.forgeSection(section, f), lost...)
	}
	to := func(content ...byte) func([]byte) []byte { return func([]byte) []byte { return content } }
	fasta := k.sliceOf(3)
	section("forged-pseudogenome", "A pseudogenome of 2^32-2 bases in a few bytes.", "shared 0",
		to(0xfe, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3), all...)
	section("forged-quality-strategy", "Qualities of a strategy that there is not.", "slice 0 first qualities",
		func(b []byte) []byte { b[0] = 200; return b }, 0)
	section("forged-quality-cut", "Qualities whose stream ends early.", "slice 0 first qualities", cut(4), 0)
	section("forged-names-style", "Names of a style that there is not.", fasta+"first names section",
		func(b []byte) []byte { b[1] = 4; return b }, 3)
	section("forged-names-size", "Names whose section says that they have 2^40 bytes.", fasta+"first names section",
		func(b []byte) []byte { return slices.Concat(b[:2], number(1<<40), b[3:]) }, 3)
	section("forged-lengths-bits", "Lengths of 40 bits.", k.sliceOf(2)+"first lengths", func(b []byte) []byte { b[0] = 40; return b }, 2)
	section("forged-lengths-sum", "Lengths of another sum.", "slice 0 first lengths", to(0, 41), 0, 1)
	section("forged-lengths-empty", "No lengths.", "slice 0 first lengths", to(), 0, 1)
	section("forged-sequences-part", "A slice of a part that there is not.", "slice 0 sequences",
		func(b []byte) []byte { b[0] = 1; return b }, 0, 1)
	section("forged-sequences-flags", "Sequences of flags that there are not.", "slice 0 sequences",
		func(b []byte) []byte { b[1] |= 32; return b }, 0, 1)
	section("forged-forms", "Forms said to be a zstd frame that are none.", k.sliceOf(2)+"first forms", to(9, 1, 2, 3, 4), 2)
	section("forged-text", "Names that decode, but are others than were packed.", fasta+"first names section",
		func([]byte) []byte { return names.Encode([]byte("two\none\n"), 2) }, 3)
}

// notArchives writes what is no archive.
func (k *kit) notArchives() {
	k.refused("not-an-archive-none", "A folder without files of an archive.", kitNotArchive, nil)
	k.refused("not-an-archive-text", "A file of cDNA sequences that has the extension of an archive.", kitNotArchive,
		map[string]string{"human.cdna": ">ENST1\nACGT\n"})
	k.refused("not-an-archive-empty", "An empty file with the extension of an archive.", kitNotArchive, map[string]string{"x.cmeta": ""})
}
