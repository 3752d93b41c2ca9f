package samples

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orcomgo/bins/commit"
)

func TestParse(t *testing.T) {
	for file, want := range map[string]Name{
		"Liver_S1_L001_R1_001.fastq.gz":     {Sample: "Liver", Role: First, Number: 1, Library: 1, Lane: 1, Part: 1},
		"Liver_S12_L004_R2_002.fastq.gz":    {Sample: "Liver", Role: Second, Number: 2, Library: 12, Lane: 4, Part: 2},
		"Liver_S1_R2_001.fastq.gz":          {Sample: "Liver", Role: Second, Number: 2, Library: 1, Part: 1},
		"pbmc_1k_S1_L001_I1_001.fastq.gz":   {Sample: "pbmc_1k", Role: Index, Number: 1, Library: 1, Lane: 1, Part: 1},
		"atac_S1_L001_R3_001.fastq.gz":      {Sample: "atac", Role: Third, Number: 3, Library: 1, Lane: 1, Part: 1},
		"Undetermined_S0_L001_R1_001.fq.gz": {Sample: "Undetermined", Role: First, Number: 1, Lane: 1, Part: 1},
		"a_CGTACT_L003_R1_001.fastq.bz2":    {Sample: "a_CGTACT", Role: First, Number: 1, Lane: 3, Part: 1},
		"x_L002_R1.fq":                      {Sample: "x", Role: First, Number: 1, Lane: 2},
		"x_R1.fastq":                        {Sample: "x", Role: First, Number: 1},
		"x.R2.fastq.gz":                     {Sample: "x", Role: Second, Number: 2},
		"x-r2.fq.zst":                       {Sample: "x", Role: Second, Number: 2},
		"x_R2_val_2.fq.gz":                  {Sample: "x", Role: Second, Number: 2},
		"X_R1.FASTQ.GZ":                     {Sample: "X", Role: First, Number: 1},
		"ERR123_1.fastq.gz":                 {Sample: "ERR123", Role: First, Number: 1, Digit: true},
		"ERR123.2.fq":                       {Sample: "ERR123", Role: Second, Number: 2, Digit: true},
		"a_1_2.fastq":                       {Sample: "a_1", Role: Second, Number: 2, Digit: true},
		"x_1_val_1.fq.gz":                   {Sample: "x", Role: First, Number: 1, Digit: true},
		"ERR123.fastq.gz":                   {Sample: "ERR123"},
		"rep_3.fastq":                       {Sample: "rep_3"},
		"tR1.fastq":                         {Sample: "tR1"},
		"sample.v2.fa.xz":                   {Sample: "sample.v2"},
		"\xff_R1.fq":                        {Sample: "\xff", Role: First, Number: 1},
	} {
		if got, ok := Parse(file); !ok || got != want {
			t.Errorf("%s is %+v, %v; want %+v", file, got, ok, want)
		}
	}
	for _, file := range []string{"reads.bam", "SampleSheet.csv", "x.fastq.gz.md5", ".fastq", "fastq", "x.gz", "x.cdna", "bad\xff.txt"} {
		if got, ok := Parse(file); ok {
			t.Errorf("%s is a file of reads: %+v", file, got)
		}
	}
}

// write makes files in a directory of the test: of a record, if their names are those of reads, else empty ones.
func write(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		text := ""
		if _, ok := Parse(filepath.Base(f)); ok {
			text = "@r\nACGT\n+\nIIII\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// show writes samples as text: mates as a+b, further ones as +c, and what is wrong in brackets.
func show(dir string, list []Sample) string {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "%s:", s.Name)
		for _, in := range s.Inputs {
			switch name := strings.TrimPrefix(in.Path, dir+"/"); {
			case in.Mate >= 0 && !in.First || in.Further && s.Inputs[in.Lead].First:
				fmt.Fprintf(&b, "+%s", name)
			default:
				fmt.Fprintf(&b, " %s", name)
			}
		}
		if s.Problem != nil {
			fmt.Fprintf(&b, " [%s]", strings.ReplaceAll(s.Problem.Error(), dir+"/", ""))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestSamplesOfTree(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		want  string
	}{
		{"Illumina, lanes and parts in order, index", []string{
			"b_S2_L002_R2_001.fastq.gz", "b_S2_L002_R1_001.fastq.gz", "b_S2_L001_R2_001.fastq.gz", "b_S2_L001_R1_001.fastq.gz",
			"b_S2_L001_R2_002.fastq.gz", "b_S2_L001_R1_002.fastq.gz", "b_S2_L001_I1_001.fastq.gz", "a_S10_L001_R1_001.fastq.gz"},
			"a: a_S10_L001_R1_001.fastq.gz\n" +
				"b: b_S2_L001_R1_001.fastq.gz+b_S2_L001_R2_001.fastq.gz+b_S2_L001_I1_001.fastq.gz" +
				" b_S2_L001_R1_002.fastq.gz+b_S2_L001_R2_002.fastq.gz b_S2_L002_R1_001.fastq.gz+b_S2_L002_R2_001.fastq.gz\n"},
		{"third reads and indexes go with a pair", []string{"a_I2.fq", "a_R3.fq", "a_R2.fq", "a_I1.fq", "a_R1.fq", "b_R1.fq", "b_I1.fq"},
			"a: a_R1.fq+a_R2.fq+a_R3.fq+a_I1.fq+a_I2.fq\nb: b_R1.fq b_I1.fq\n"},
		{"ENA, with reads that lost their mates", []string{"ERR1/ERR1_1.fastq.gz", "ERR1/ERR1_2.fastq.gz", "ERR1/ERR1.fastq.gz", "ERR2.fastq.gz"},
			"ERR1: ERR1/ERR1_1.fastq.gz+ERR1/ERR1_2.fastq.gz ERR1/ERR1.fastq.gz\nERR2: ERR2.fastq.gz\n"},
		{"numbers that are no mates", []string{"rep_1.fastq", "rep_3.fastq", "other_2.fastq"},
			"other_2: other_2.fastq\nrep_1: rep_1.fastq\nrep_3: rep_3.fastq\n"},
		{"plain names, other files, hidden ones", []string{"x.R1.fq", "x.R2.fq", "SampleSheet.csv", ".x.fastq", ".hidden/y.fastq", "x.cdna"},
			"x: x.R1.fq+x.R2.fq\n"},
		{"index without pairs", []string{"x_R1.fq", "x_I1.fq"}, "x: x_R1.fq x_I1.fq\n"},
		{"a mate is missing", []string{"x_R2.fastq"}, "x: x_R2.fastq [x_R2.fastq has second mates, and there are no first ones]\n"},
		{"a mate of one lane is missing", []string{"x_L001_R1.fq", "x_L001_R2.fq", "x_L002_R1.fq"},
			"x: x_L001_R1.fq+x_L001_R2.fq x_L002_R1.fq [x_L002_R1.fq has no second mates, but other files of the sample have]\n"},
		{"the same twice", []string{"x_R1.fq", "x_R1.fastq"}, "x: x_R1.fastq x_R1.fq [x_R1.fastq and x_R1.fq have the same mates]\n"},
		{"several directories", []string{"a/b/x.fq", "b/x.fq", "x.fq", "c/b_x.fq"},
			"a_b_x: a/b/x.fq\nb_x: c/b_x.fq\nx: x.fq\nx_2: b/x.fq\n"},
		{"beside the archives", []string{"x.fq", "out/y.fq"}, "x: x.fq\ny: out/y.fq\n"},
		{"nothing", []string{"README"}, ""},
	} {
		dir := write(t, c.files...)
		tree, err := Scan(dir, Options{Out: filepath.Join(dir, "out")})
		if err != nil {
			t.Fatal(err)
		}
		if got := show(dir, Samples(nil, tree)); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// TestFormerNames: samples keep the names that they had, and none gets one of these by chance.
func TestFormerNames(t *testing.T) {
	dir := write(t, "a/x.fq", "b/x.fq", "c/x.fq", "c/b_x.fq", "y_R1.fq", "y_R2.fq", "z.fq")
	former := map[string]string{"b/x.fq": "x", "c/x.fq": "y", "y_R2.fq": "first", "z.fq": "x"}
	all := Samples(func(root, rel string) string {
		if root != dir {
			t.Errorf("root %s", root)
		}
		return former[rel]
	}, scan(t, dir, Options{}))
	want := "a_x: a/x.fq\nb_x: c/b_x.fq\nfirst: y_R1.fq+y_R2.fq\nx: b/x.fq\ny: c/x.fq\nz: z.fq\n"
	if got := show(dir, all); got != want {
		t.Errorf("%swant\n%s", got, want)
	}
}

// classes writes the entries of a tree as text.
func classes(t *Tree) string {
	var b strings.Builder
	for _, f := range t.Files {
		fmt.Fprintf(&b, " %s=%s", f.Rel, []string{"other", "reads", "archive", "directory", "link", "hardlink", "fifo"}[f.Class])
	}
	return strings.TrimPrefix(b.String(), " ")
}

func scan(t *testing.T, dir string, o Options) *Tree {
	t.Helper()
	tree, err := Scan(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func globs(t *testing.T, patterns ...string) (list []Glob) {
	t.Helper()
	for _, p := range patterns {
		g, err := NewGlob(p)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, g)
	}
	return list
}

func TestScanClasses(t *testing.T) {
	dir := write(t, "x.fq", ".y.fq", "x.cdna", "notes.txt", "sub/deep/log", "out/a.txt")
	outside := write(t, "z.fq", "text")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"x2.fq": "x.fq", "z.fq": outside + "/z.fq", "text": outside + "/text", "loop": ".", "none.fq": "none"}
	for name, target := range links {
		must(os.Symlink(target, filepath.Join(dir, name)))
	}
	must(os.Link(filepath.Join(dir, "x.fq"), filepath.Join(dir, "sub/x.fq")))
	must(os.Link(filepath.Join(dir, "x.fq"), filepath.Join(dir, "x_R1.fq")))
	must(os.Mkdir(filepath.Join(dir, "empty"), 0o777))
	must(os.WriteFile(filepath.Join(dir, "x.cdna"), []byte("text"), 0o666))
	must(os.WriteFile(filepath.Join(dir, "x.cmeta"), []byte(commit.PackedMetaMagic), 0o666))
	must(os.WriteFile(filepath.Join(dir, "bam.fq"), []byte("BAM\x01"), 0o666))
	for _, c := range []struct{ name, want string }{
		{"", ".y.fq=other bam.fq=other empty=directory loop=link none.fq=link notes.txt=other out=directory out/a.txt=other" +
			" sub=directory sub/deep=directory" +
			" sub/deep/log=other sub/x.fq=hardlink text=link x.cdna=other x.cmeta=other x.fq=hardlink x2.fq=link x_R1.fq=reads z.fq=reads"},
		{"exclude", "out=directory x.fq=reads"},
		{"include", "sub=directory sub/deep=directory sub/deep/log=other sub/x.fq=other x.fq=hardlink"},
	} {
		o := Options{Out: filepath.Join(dir, "out")}
		switch c.name {
		case "exclude":
			o = Options{Exclude: globs(t, "[a-n.]*", "sub", "*.c*", "text", "/x2.fq", "x_*", "z.*")}
		case "include":
			o.Include, o.AsIs = globs(t, "sub/", "x.fq"), globs(t, "*.fq")
		}
		if got := classes(scan(t, dir, o)); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
	n := 0
	for _, f := range scan(t, dir, Options{Out: dir}).Files {
		if f.Class == Archive {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d files of archives in the directory of archives", n)
	}
	for path, want := range map[string]string{"x.fq": "it is not a directory", "missing": "no such file"} {
		if _, err := Scan(filepath.Join(dir, path), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestLinkToArchive: another name of a file of an archive that is left out is no hard link to it, but a file.
func TestLinkToArchive(t *testing.T) {
	dir := write(t, "notes.txt", "sub/log")
	meta := filepath.Join(dir, "a.cmeta")
	for _, err := range []error{
		os.WriteFile(meta, []byte(commit.PackedMetaMagic), 0o666),
		os.Link(meta, filepath.Join(dir, "sub/copy")),
		os.Link(meta, filepath.Join(dir, "sub/copy2")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const want = "a.cmeta=archive notes.txt=other sub=directory sub/copy=other sub/copy2=hardlink sub/log=other"
	if got := classes(scan(t, dir, Options{Out: dir})); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestOutputBelow: of a directory that archives are written to, files of archives are left out, and the directory if there is nothing else.
func TestOutputBelow(t *testing.T) {
	dir := write(t, "notes.txt", "run/out/deep/log")
	out := filepath.Join(dir, "run/out")
	for _, path := range []string{"a.cmeta", "deep/b.cmeta"} {
		if err := os.WriteFile(filepath.Join(out, path), []byte(commit.PackedMetaMagic), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const want = "notes.txt=other run=directory run/out=directory run/out/a.cmeta=archive run/out/deep=directory" +
		" run/out/deep/b.cmeta=other run/out/deep/log=other"
	if got := classes(scan(t, dir, Options{Out: out})); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if err := os.RemoveAll(filepath.Join(out, "deep")); err != nil {
		t.Fatal(err)
	}
	if got := classes(scan(t, dir, Options{Out: out})); got != "notes.txt=other run=directory" {
		t.Error(got)
	}
}

// TestLogBelow: a log that is being written is left out.
func TestLogBelow(t *testing.T) {
	dir := write(t, "notes.txt", "log")
	info, err := os.Stat(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	if got := classes(scan(t, dir, Options{Log: info})); got != "notes.txt=other" {
		t.Error(got)
	}
}

// TestRestoredNamesOfLinks: a compressed file of reads is stored as it is if one of its names would be that of another entry when it is
// restored as text.
func TestRestoredNamesOfLinks(t *testing.T) {
	dir := write(t, "a/x.fq.bz2", "b/y.fq", "c/x.fq.bz2")
	for from, to := range map[string]string{"a/x.fq.bz2": "b/y.fq.bz2", "c/x.fq.bz2": "b/z.fq.bz2"} {
		if err := os.Link(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	const want = "a=directory a/x.fq.bz2=other b=directory b/y.fq=reads b/y.fq.bz2=hardlink b/z.fq.bz2=reads c=directory c/x.fq.bz2=hardlink"
	if got := classes(scan(t, dir, Options{})); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestReadSheet(t *testing.T) {
	for _, c := range []struct{ name, sheet, want string }{
		{"commas, lanes, other columns", "sample,strandedness,fastq_1,fastq_2\nb,auto,l1_1.fq,l1_2.fq\na,auto,x.fq,\nb,auto,l2_1.fq,l2_2.fq\n",
			"b: l1_1.fq+l1_2.fq l2_1.fq+l2_2.fq\na: x.fq\n"},
		{"tabs, no second mates", "fastq_1\tsample\nx \"y\".fq\ta\n", "a: x \"y\".fq\n"},
		{"quotes, line ends of Windows, a byte order mark", "\xef\xbb\xbfsample,fastq_1\r\n\"a\",\"x,1.fq\"\r\n", "a: x,1.fq\n"},
		{"short rows", "sample,fastq_1,fastq_2\na,x.fq\n", "a: x.fq\n"},
	} {
		list, err := readSheet(strings.NewReader(c.sheet))
		if err != nil || show("", list) != c.want {
			t.Errorf("%s: %s%v", c.name, show("", list), err)
		}
	}
	for sheet, want := range map[string]string{
		"":                                "the sheet is empty",
		"name,reads\na,x.fq\n":            "expected sample, fastq_1",
		"sample,fastq_1\n":                "no samples",
		"sample,fastq_1\na,x.fq\n,y.fq\n": "line 3: expected a name",
		"sample,fastq_1\na,\n":            "line 2: expected a name",
		"sample,fastq_1\na/b,x.fq\n":      `line 2: the sample "a/b" can't be`,
		"sample,fastq_1\na,\"x\"y.fq\n":   "line 2: ",
	} {
		if _, err := readSheet(strings.NewReader(sheet)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", sheet, err, want)
		}
	}
	if _, err := ReadSheet(filepath.Join(t.TempDir(), "none.csv")); err == nil || !strings.Contains(err.Error(), "none.csv: no such file") {
		t.Error(err)
	}
}

// FuzzTables reads sheets and tables of groups. Names that are accepted can be those of archives.
func FuzzTables(f *testing.F) {
	f.Add([]byte("sample,fastq_1,fastq_2\na,x_1.fq,x_2.fq\na,y_1.fq,y_2.fq\nb,\"z,1.fq\",\n"))
	f.Add([]byte("\xef\xbb\xbfsample\tgroup\r\na\tg\r\nb\t\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := readSheet(bytes.NewReader(text))
		if err != nil {
			list = nil
		}
		names := make(map[string]bool)
		for _, s := range list {
			if commit.CheckName(s.Name) != nil || len(s.Inputs) == 0 || names[s.Name] {
				t.Errorf("%+v", s)
			}
			names[s.Name] = true
		}
		groups, err := readGroups(bytes.NewReader(text))
		if err != nil {
			return
		}
		for name, group := range groups {
			if name == "" || group != "" && commit.CheckName(group) != nil {
				t.Errorf("%q: %q", name, group)
			}
		}
	})
}

// TestContent: what is reads is told by content, and by the name if that is one of reads.
func TestContent(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"x", "@r 1\nACGTN\n+\nIIIII\n@r 2\nA\n+\nI\n", true},
		{"crlf", "@r 1\r\nACGTN\r\n+\r\nIIIII\r\n", true},
		{"cut off", "@r\nACGT\n+\nIII", true},
		{"long", "@r\n" + strings.Repeat("ACGT", 20000) + "\n+\n" + strings.Repeat("IIII", 20000) + "\n", true},
		{"mail", "@here: please look\nat this\n", false},
		{"x.sam", "@HD\tVN:1.6\n@SQ\tSN:chr1\tLN:248956422\n", false},
		{"qualities of another length", "@r\nACGT\n+\nIII\n@r\n", false},
		{"fasta", ">chr1\nACGTNNNNacgt\nRYAAAAAAAAAAAAAAAAAA\n>chr2\nA", true},
		{"protein", ">p53\nMEEPQSDPSVEPPLSQETFSDLWKLLPEN\n", false},
		{"quotation", "> as you wrote,\n> it is\n", false},
		{"named.fa", ">p53\nMEEPQSDPSVEPPLSQETFSDLWKLLPEN\n", true},
		{"named.fastq", "\n\n@r\nACGT\n", true},
		{"empty.fastq", "", false},
		{"other.fastq", "no reads\n", false},
		{"damaged.fastq.gz", "\x1f\x8b\x08 no deflate", false},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, named := Parse(c.name)
		if got, err := holdsReads(path, named); got != c.want || err != nil {
			t.Errorf("%s: reads %v, %v", c.name, got, err)
		}
	}
}

func TestGlob(t *testing.T) {
	paths := strings.Fields("x a a/x a/b/x b/a x.bin a/b/x.bin x.bin/y InterOp/x a/InterOp/x a/x.txt b/a/x.txt")
	for pattern, want := range map[string]string{
		"*.bin":    "x.bin a/b/x.bin x.bin/y",
		"InterOp":  "InterOp/x a/InterOp/x",
		"InterOp/": "InterOp/x a/InterOp/x",
		"/InterOp": "InterOp/x",
		"a/*.txt":  "a/x.txt",
		"a/b/":     "a/b/x a/b/x.bin",
		"b/**":     "b/a b/a/x.txt",
		"**/x":     "x a/x a/b/x InterOp/x a/InterOp/x",
		"a/**/x":   "a/x a/b/x a/InterOp/x",
		"./b":      "b/a b/a/x.txt",
	} {
		g, err := NewGlob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range paths {
			if g.Match(p) {
				got = append(got, p)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s matches %v, want %s", pattern, got, want)
		}
	}
	for _, bad := range []string{"", "/", "[", "a/[x"} {
		if _, err := NewGlob(bad); err == nil {
			t.Errorf("%q is a pattern", bad)
		}
	}
}
