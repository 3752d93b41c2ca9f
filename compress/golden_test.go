package compress

import (
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orcomgo/binning"
	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/packing"
	"orcomgo/internal/testrun"
)

// update makes the files of testdata/golden and testdata/testkit anew:
//
//	go test ./compress -run 'TestGolden|TestTestkit' -update
//
// That is legitimate in two cases only. A case was added: then the diff adds files and changes none. Or the format changes, or the encoder
// decides otherwise, on purpose: then the commit says what changed. Otherwise archives that differ are a defect to find, not to record.
var update = flag.Bool("update", false, "make the golden archives and the test kit anew")

const goldenDir = "../testdata/golden"

// golden is an archive of testdata/golden, in a folder of its name. What it holds is in testdata/golden/text.
type golden struct {
	name   string
	what   string // for its case.txt
	inputs string // names of files, separated by spaces; mates are joined by a +, first ones first
	bin    record.Options
	pack   PackOptions
	stored stored // what is recorded of the files; nothing if it is zero
	// If not 0, how much text, or how many reads, a slice aims for: which of the two counts depends on the options.
	sliceText, sliceReads uint64
	primer                int // if not 0, of how many qualities the primers are

	slices, parts int // of the packed archive; 0 means one. Parts are sections of positions
}

var goldens = []golden{
	// Inputs of every kind.
	{name: "single", what: "One FASTQ file, four levels of quality.", inputs: "single.fastq"},
	{name: "pair", what: "A pair, 40 levels of quality, N, errors.", inputs: "pair_1.fastq+pair_2.fastq"},
	{name: "several", what: "A single file, a pair of trimmed reads, FASTA and an empty file in one archive.",
		inputs: "single.fastq trimmed_1.fastq+trimmed_2.fastq lines.fa empty.fastq", slices: 3},
	{name: "fasta", what: "FASTA, a line a sequence.", inputs: "lines.fa"},
	{name: "fasta-wrapped", what: "FASTA in lines of 60, with empty and lower-case sequences and no final newline.", inputs: "wrapped.fa"},
	{name: "fastq-wrapped", what: "FASTQ whose sequences and qualities take several lines.", inputs: "wrapped.fastq"},
	{name: "crlf", what: "Every line ends in CR LF.", inputs: "crlf.fastq"},
	{name: "mixed-line-ends", what: "Some lines end in CR LF, some in LF.", inputs: "mixed-line-ends.fastq"},
	{name: "letters", what: "N, lower case, IUPAC letters, '.', '-' and '*'.", inputs: "letters.fastq"},
	{name: "no-final-newline", what: "The last line has no end.", inputs: "no-final-newline.fastq"},
	{name: "blank-lines", what: "Blank lines follow the last record.", inputs: "blank-lines.fastq"},
	{name: "empty", what: "An empty file.", inputs: "empty.fastq", slices: none},
	{name: "empty-pair", what: "A pair of empty files.", inputs: "empty_1.fastq+empty_2.fastq", slices: none},
	{name: "zero-length", what: "Reads of no bases among others.", inputs: "zero-length.fastq"},
	{name: "all-zero-length", what: "Only reads of no bases.", inputs: "all-zero-length.fastq"},
	{name: "mixed-lengths", what: "Reads of 0 to 101 bases.", inputs: "lengths.fastq"},
	{name: "pair-mixed-lengths", what: "A pair of reads of 0 to 70 bases.", inputs: "trimmed_1.fastq+trimmed_2.fastq"},
	{name: "long-reads", what: "Three reads of up to 1900 bases that overlap, one of them reversed.", inputs: "long.fastq"},
	{name: "repeats", what: "Two versions of a sequence of 6000 bases, three reads of each.", inputs: "versions.fa"},
	{name: "qualities-by-bases", what: "Six reads of up to 1100 bases whose qualities are coded given their bases.", inputs: "runs.fastq"},
	{name: "text-after-plus", what: "The name again after '+', once another text, and constant qualities.", inputs: "after-plus.fastq"},
	{name: "odd-names", what: "Names that are empty, long, of any bytes.", inputs: "odd-names.fastq"},
	{name: "all-qualities", what: "All 94 values of quality.", inputs: "all-qualities.fastq"},
	{name: "unaligned", what: "BAM, gzip or BGZF by itself: tags of all types, and reads without bases, without qualities and with '='.",
		inputs: "unaligned.bam"},

	// What is recorded of the files of inputs.
	{name: "sources", what: "A pair of gzip files and a plain one, and what is recorded of them.",
		inputs: "pair_1.fastq+pair_2.fastq single.fastq", slices: 2,
		stored: stored{binning.RecordCompressed, []string{"pair_1.fastq", "pair_2.fastq"}}},
	{name: "sources-all", what: "A plain file, with its checksums taken by bin.", inputs: "single.fastq",
		stored: stored{record: binning.RecordAll}},
	{name: "sources-time", what: "A plain file, and a gzip file packed without the check: nothing but names, sizes and times.",
		inputs: "single.fastq long.fastq", slices: 2, pack: PackOptions{NoVerify: true},
		stored: stored{binning.RecordTime, []string{"long.fastq"}}},

	// Assemblies.
	{name: "assembly", what: "FASTA in two bits a base: repeats on both strands, lower case, N and IUPAC letters, odd lines.",
		inputs: "assembly.fa",
		pack:   PackOptions{TwoBit: true}, parts: none},
	{name: "assembly-and-reads", what: "The same in two slices (by a test: they have 16 MiB of text otherwise), and reads.",
		inputs: "assembly.fa single.fastq", pack: PackOptions{TwoBit: true}, sliceText: 5000, slices: 4},

	// More than two mates.
	{name: "group", what: "A pair and two files of further mates, as of an index.", inputs: group4, slices: 3},
	{name: "group-slices", what: "The same in small blocks and slices, after a single file.", inputs: "single.fastq " + group4,
		bin: record.Options{BlockSize: 1 << 10}, slices: 18},
	{name: "group-order-any", what: "A group, its records as a set, all columns kept.", inputs: group4,
		bin: record.Options{OrderAny: true}, slices: 3},
	{name: "group-sequences", what: "A group, sequences as a set of groups, one a line, in several slices.", inputs: group4,
		bin: record.Options{ReadsOnly: true, OrderAny: true}, sliceReads: 5, slices: 12},

	// Mates in one file.
	{name: "interleaved", what: "A file of first and second mates in turn, a form and lengths of their own, no final newline.",
		inputs: "interleaved.fastq"},
	{name: "interleaved-slices", what: "The same in small blocks and slices, with primers of both mates.", inputs: "interleaved.fastq",
		bin: record.Options{BlockSize: 2 << 10}, sliceText: 500, primer: 200, slices: 8},
	{name: "interleaved-reads-only", what: "The same, one sequence a line.", inputs: "interleaved.fastq",
		bin: record.Options{ReadsOnly: true}},

	// What can be left out.
	{name: "names-drop", what: "Names dropped.", inputs: "pair_1.fastq+pair_2.fastq", bin: record.Options{DropNames: true}},
	{name: "quality-bin8", what: "Qualities in eight levels.",
		inputs: "pair_1.fastq+pair_2.fastq", bin: record.Options{Quality: record.QualityBin8}},
	{name: "quality-drop", what: "Qualities dropped.", inputs: "pair_1.fastq+pair_2.fastq", bin: record.Options{Quality: record.QualityDrop}},
	{name: "reads-only", what: "One sequence a line.", inputs: "pair_1.fastq+pair_2.fastq", bin: record.Options{ReadsOnly: true}},
	{name: "order-any", what: "Records as a set, all columns kept.",
		inputs: "pair_1.fastq+pair_2.fastq", bin: record.Options{OrderAny: true}},
	{name: "order-any-names-drop", what: "Records as a set, without names.", inputs: "single.fastq",
		bin: record.Options{OrderAny: true, DropNames: true}},
	{name: "order-any-sequences", what: "Sequences as a set: names and qualities dropped.", inputs: "single.fastq",
		bin: record.Options{OrderAny: true, DropNames: true, Quality: record.QualityDrop}},
	{name: "reads-only-order-any", what: "Sequences as a set, one a line.",
		inputs: "deep_1.fastq", bin: record.Options{ReadsOnly: true, OrderAny: true}},
	{name: "reads-only-order-any-pair", what: "Sequences as a set of pairs, one a line.", inputs: "deep_1.fastq+deep_2.fastq",
		bin: record.Options{ReadsOnly: true, OrderAny: true}},

	// How it is packed.
	{name: "no-verify", what: "Packed without the check: neither SHA-256 nor the lengths and hashes of the texts of slices.",
		inputs: "single.fastq", pack: PackOptions{NoVerify: true}},
	{name: "blocks", what: "A pair and a single file in blocks of 1 KiB, which alternate; a slice each.",
		inputs: "pair_1.fastq+pair_2.fastq single.fastq", bin: record.Options{BlockSize: 1 << 10}, slices: 10},
	{name: "slices", what: "One block cut in several slices (by a test: they have 64 MiB of text otherwise).", inputs: "single.fastq",
		sliceText: 1000, slices: 6},
	{name: "primed", what: "Qualities that begin with the models of the first slice (by a test: it has 2^20 of them at least otherwise).",
		inputs: "pair_1.fastq+pair_2.fastq single.fastq", sliceText: 1000, primer: 200, slices: 10},
	{name: "slices-order-any", what: "Sequences as a set in several slices (by a test: they have 2^18 reads otherwise).",
		inputs: "deep_1.fastq+deep_2.fastq",
		bin:    record.Options{ReadsOnly: true, OrderAny: true}, sliceReads: 10, slices: 6},
	{name: "parts", what: "Packed in so little memory that positions come in parts.", inputs: "many.fa",
		bin: record.Options{BlockSize: 20 << 10}, pack: PackOptions{Memory: 2000}, slices: 3, parts: 2},
	{name: "windows", what: "Sequences as a set, packed in so little memory that they are placed in two windows.", inputs: "many.fa",
		bin: record.Options{ReadsOnly: true, OrderAny: true}, pack: PackOptions{Memory: 2000}, sliceReads: 400, slices: 5},
}

const group4 = "pair_1.fastq+pair_2.fastq+pair_3.fastq+pair_4.fastq"

// none is the count of nothing where 0 means one.
const none = -1

// count returns the count that n means.
func count(n int) int {
	switch n {
	case 0:
		return 1
	case none:
		return 0
	}
	return n
}

// load reads the inputs.
func (g *golden) load(t *testing.T) []input {
	t.Helper()
	var ins []input
	for _, f := range strings.Fields(g.inputs) {
		at := len(ins)
		for i, name := range strings.Split(f, "+") {
			in := input{name: name, mate: -1}
			switch {
			case i == 1:
				ins[at].mate, ins[at].first, in.mate = at+1, true, at
			case i > 1:
				in.mate = furtherOf(at)
			}
			ins = append(ins, in)
		}
	}
	for i := range ins {
		ins[i].text = readFile(t, filepath.Join(goldenDir, "text", ins[i].name))
	}
	return ins
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// describe is the content of case.txt: what an archive is, in the words of the command line.
func (g *golden) describe() string {
	b, p := g.bin, g.pack
	var bin, pack []string
	flag := func(list *[]string, on bool, f string) {
		if on {
			*list = append(*list, f)
		}
	}
	flag(&bin, b.ReadsOnly, "--reads-only")
	flag(&bin, b.OrderAny, "--order any")
	flag(&bin, b.DropNames, "--names drop")
	flag(&bin, b.Quality == record.QualityBin8, "--quality bin8")
	flag(&bin, b.Quality == record.QualityDrop, "--quality drop")
	flag(&bin, b.BlockSize != 0, fmt.Sprintf("--block-size %d", b.BlockSize))
	flag(&bin, g.stored.record != binning.RecordNothing, "--source "+[]string{"none", "time", "auto", "all"}[g.stored.record])
	flag(&pack, p.TwoBit, "--two-bit")
	flag(&pack, p.NoVerify, "--no-verify")
	flag(&pack, p.Memory != 0, fmt.Sprintf("--memory %d", p.Memory))
	line := func(key, value string) string {
		return strings.TrimRight(fmt.Sprintf("%-7s %s", key, value), " ") + "\n"
	}
	return g.what + "\n\n" + line("inputs", g.inputs) + line("bin", strings.Join(bin, " ")) + line("pack", strings.Join(pack, " ")) +
		line("slices", fmt.Sprint(count(g.slices))) + line("parts", fmt.Sprint(count(g.parts)))
}

// exact reports whether the archive gives back the very bytes of its inputs.
func (g *golden) exact() bool {
	o := g.bin
	return !o.ReadsOnly && !o.OrderAny && !o.DropNames && o.Quality == record.QualityKeep
}

// encode brings the inputs through both stages and returns the four files by name.
func (g *golden) encode(t *testing.T, ins []input) map[string]string {
	t.Helper()
	if g.sliceText > 0 || g.sliceReads > 0 {
		setLimits(t, func(l *packing.Limits) { l.Text, l.Reads = max(g.sliceText, 1), max(g.sliceReads, 1) })
	}
	if g.primer > 0 {
		setLimits(t, func(l *packing.Limits) { l.Primer, l.LeastLeading = g.primer, g.primer })
	}
	dir := binStored(t, ins, g.bin, g.stored)
	p := g.pack
	p.Threads, p.Tool, p.KeepBins = 2, "golden", true
	packTo(t, dir, p)
	r, err := archive.OpenEntry(entryOf(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := len(r.Manifest().Slices); n != count(g.slices) {
		t.Errorf("%d slices, want %d", n, count(g.slices))
	}
	n := max(len(r.Manifest().Shared)-1, 0)
	if r.Manifest().Repeats {
		n--
	}
	if n != count(g.parts) {
		t.Errorf("%d parts, want %d", n, count(g.parts))
	}
	return filesIn(t, dir)
}

// decodeStage returns the texts that the files with the extensions of one stage give, by name.
func decodeStage(t *testing.T, files map[string]string, exts ...string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	n := 0
	for name, content := range files {
		if slices.Contains(exts, filepath.Ext(name)) {
			n++
			writeFile(t, filepath.Join(dir, name), content)
		}
	}
	if n != len(exts) {
		t.Fatalf("%d of the files %v", n, exts)
	}
	texts := unpackAll(t, dir, UnpackOptions{Threads: 2})
	for name, content := range texts {
		if strings.HasSuffix(name, ".bam") {
			texts[name] = inflatedText(t, content)
		}
	}
	return texts
}

// inflatedText returns the text of gzip.
func inflatedText(t *testing.T, content string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// folder returns the files of a folder by name; none if it is missing.
func folder(t testing.TB, dir string) map[string]string {
	t.Helper()
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		return nil
	}
	files := make(map[string]string)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			files[e.Name()] = readFile(t, filepath.Join(dir, e.Name()))
		}
	}
	return files
}

// write makes the folder of a golden archive anew.
func (g *golden) write(t *testing.T, files, unpacked map[string]string) {
	t.Helper()
	dir := filepath.Join(goldenDir, g.name)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	put := func(dir string, files map[string]string) {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for name, content := range files {
			writeFile(t, filepath.Join(dir, name), content)
		}
	}
	files = maps.Clone(files)
	files["case.txt"] = g.describe()
	put(dir, files)
	if !g.exact() {
		put(filepath.Join(dir, "unpacked"), unpacked)
	}
}

// TestGolden decodes the archives of testdata/golden and encodes their texts again: every program of this version of the format reads
// these bytes, and writes them.
func TestGolden(t *testing.T) {
	testrun.NoRace(t)
	folders := map[string]bool{"text": true, "README.md": true}
	for i := range goldens {
		g := &goldens[i]
		folders[g.name] = true
		t.Run(g.name, func(t *testing.T) {
			if g.sliceText == 0 && g.sliceReads == 0 {
				t.Parallel() // these run when the others have put the sizes back
			}
			ins := g.load(t)
			encoded := g.encode(t, ins)
			if *update {
				g.write(t, encoded, decodeStage(t, encoded, ".cdna", ".cmeta"))
			}
			dir := filepath.Join(goldenDir, g.name)
			files := folder(t, dir)
			if files["case.txt"] != g.describe() {
				t.Errorf("case.txt is\n%swant\n%s", files["case.txt"], g.describe())
			}
			delete(files, "case.txt")
			unpacked := texts(ins)
			if !g.exact() {
				unpacked = folder(t, filepath.Join(dir, "unpacked"))
			}
			fromBins := unpacked
			if !g.exact() {
				fromBins = g.model(t, ins, unpacked)
			}
			sameFiles(t, decodeStage(t, files, ".bdna", ".bmeta"), fromBins)
			sameFiles(t, decodeStage(t, files, ".cdna", ".cmeta"), unpacked)
			sameFiles(t, encoded, files)
		})
	}
	entries, err := os.ReadDir(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !folders[e.Name()] {
			t.Errorf("%s is in no test", e.Name())
		}
	}
}

// model returns, for an archive that leaves something out, what its bins must give back, by a plain model of the options. It compares the
// texts committed beside the archive with this, record by record or, where the order is free, as sets, so that -update can't record
// wrong ones. unpacked are these texts, by name.
func (g *golden) model(t *testing.T, ins []input, unpacked map[string]string) map[string]string {
	t.Helper()
	names := slices.Sorted(maps.Keys(unpacked)) // inputs are in the order of their names, too
	if len(names) != len(ins) {
		t.Fatalf("%d texts, want %d", len(names), len(ins))
	}
	want := make(map[string]string)
	var sets [2][]string // of records, mates joined
	for i, in := range ins {
		if strings.HasSuffix(in.name, ".fa") {
			in.text = fourLines(in.text)
		}
		want[names[i]] = strings.Join(expected(in.text, g.bin), "")
		for k, text := range []string{want[names[i]], unpacked[names[i]]} {
			rs := records(text, g.bin)
			if g.bin.DropNames && !g.bin.ReadsOnly {
				rs = unnumbered(t, rs)
			}
			if sets[k] == nil {
				sets[k] = rs
			} else {
				sets[k] = joinMates(sets[k], rs)
			}
		}
	}
	if g.bin.OrderAny {
		slices.Sort(sets[0])
		slices.Sort(sets[1])
	}
	if !slices.Equal(sets[0], sets[1]) {
		t.Error("the folder unpacked holds other records than the inputs")
	}
	return want
}

// fourLines makes FASTQ of FASTA of two lines a record.
func fourLines(fasta string) string {
	var b strings.Builder
	lines := strings.Split(fasta, "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		fmt.Fprintf(&b, "@%s\n%s\n+\n%s\n", lines[i][1:], lines[i+1], lines[i+1])
	}
	return b.String()
}

// TestGoldenVersions: the golden archives are of the versions that this program writes.
func TestGoldenVersions(t *testing.T) {
	for _, name := range []string{"single", "long-reads", "repeats", "sources", "assembly"} {
		files := folder(t, filepath.Join(goldenDir, name))
		if v := files[onlyFile(t, files, ".cmeta")][8]; v != archive.Version {
			t.Errorf("%s: .cmeta is of version %d, want %d", name, v, archive.Version)
		}
		if v := files[onlyFile(t, files, ".bmeta")][8]; v != bins.Version {
			t.Errorf("%s: .bmeta is of version %d, want %d", name, v, bins.Version)
		}
	}
	if m := manifestIn(t, filepath.Join(goldenDir, "repeats")); !m.Repeats {
		t.Error("repeats: there is no section of repeats")
	}
	for _, name := range []string{"qualities-by-bases"} {
		if in := manifestIn(t, filepath.Join(goldenDir, name)).Inputs[0]; !in.QualsByBases {
			t.Errorf("%s: the qualities are not given the bases", name)
		}
	}
}

// onlyFile returns the name of the file with an extension.
func onlyFile(t *testing.T, files map[string]string, ext string) (found string) {
	t.Helper()
	for name := range files {
		if filepath.Ext(name) == ext {
			found = name
		}
	}
	if found == "" {
		t.Fatalf("no %s file", ext)
	}
	return found
}
