package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// samtools returns what samtools prints; it skips the test where there is none.
func samtools(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("samtools"); err != nil {
		t.Skip("samtools is not installed")
	}
	var errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "samtools", args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("samtools %s: %v: %s", args, err, errs.Bytes())
	}
	return string(out)
}

// TestUnpackFormat: --format and --tags give what samtools makes of the same reads.
func TestUnpackFormat(t *testing.T) {
	dir := t.TempDir()
	r1, r2 := simulated(t, dir, 300)
	texts := map[string]string{}
	for _, p := range []string{r1, r2} {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		texts[p] = string(b)
	}
	unpack := func(args ...string) {
		t.Helper()
		mustRun(t, append([]string{"unpack", "-q", "-f"}, args...)...)
	}
	stream := func(args ...string) string {
		t.Helper()
		status, text, errs := runOutput(append([]string{"unpack", "-q", "-o", "-"}, args...)...)
		if status != 0 {
			t.Fatalf("unpack %s: status %d: %s", args, status, errs)
		}
		return text
	}
	pair, out := filepath.Join(dir, "pair"), filepath.Join(dir, "out")
	mustRun(t, "archive", "-q", "-1", r1, "-2", r2, pair)

	// FASTQ as BAM.
	mustRun(t, "unpack", "-q", "--format", "bam", pair, "-o", out)
	fastq := samtools(t, "fastq", "-N", "-T", "CO", filepath.Join(out, "r1.bam"))
	want := ""
	for i, l := range strings.SplitAfter(texts[r1], "\n") {
		if i%4 == 0 && l != "" {
			name, comment, _ := strings.Cut(strings.TrimSuffix(l, "\n"), " ")
			l = name + "/1\tCO:Z:" + comment + "\n"
		}
		want += l
	}
	if fastq != want {
		t.Errorf("r1.bam: %d bytes of FASTQ, want %d", len(fastq), len(want))
	}
	both := filepath.Join(dir, "both.bam")
	if err := os.WriteFile(both, []byte(stream("--format", "bam", "--interleave", pair)), 0o666); err != nil {
		t.Fatal(err)
	}
	samtools(t, "quickcheck", "-u", both)
	if n := samtools(t, "view", "-c", "-f", "77", both) + samtools(t, "view", "-c", "-f", "141", both); n != "300\n300\n" {
		t.Errorf("mates: %q", n)
	}
	header := samtools(t, "view", "-H", "--no-PG", both)
	first, _, _ := strings.Cut(texts[r1][1:], " ")
	group := strings.Join(strings.Split(first, ":")[:4], ":")
	if !strings.Contains(header, "@RG\tID:"+group+"\tSM:r1\n") || strings.Count(header, "@RG") != 1 {
		t.Errorf("the header of %s is %q", group, header)
	}
	if n := samtools(t, "view", "-c", "-r", group, both); n != "600\n" {
		t.Errorf("%s records of the group", n)
	}
	unpack("--format", "bam", "--records", "3-4", "--mate", "2", pair, "-o", out)
	if got := samtools(t, "view", "-c", filepath.Join(out, "r2.3-4.bam")); got != "2\n" {
		t.Errorf("records 3-4: %s", got)
	}
	unpack("--format", "bam", "--split", "200", pair, "-o", out)
	if got := samtools(t, "view", "-c", filepath.Join(out, "r2.part_002.bam")); got != "100\n" {
		t.Errorf("part 2: %s", got)
	}

	// BAM as FASTQ with tags, and some of it.
	ubam := filepath.Join(dir, "u.bam")
	tags := "NMi\xff\xff\xff\xffXff\x00\x00\x40\x3fXAAqXHH1AE3\x00RGZx\x00XBBs\x02\x00\x00\x00\xff\xff\x02\x00" +
		"XgBf\x01\x00\x00\x00\xcd\xcc\xcc\x3dXcC\x07XlI\xff\xff\xff\xff"
	text := bamText(bamRecord("p", 77, 5, 2, tags), bamRecord("p", 141, 6, 3, "RGZx\x00"),
		bamRecord("q", 77, 5, 2, ""), bamRecord("q", 141, 1, 2, "Xff\x49\x96\x18\x4bXgf\x17\xb7\xd1\x38"))
	writeGzip(t, ubam, text)
	u := filepath.Join(dir, "u")
	mustRun(t, "archive", "-q", ubam, u)
	if got, want := stream("-T", "*", u), samtools(t, "fastq", "-N", "-T", "*", ubam); got != want {
		t.Errorf("-T *: %q, samtools %q", got, want)
	}
	_, got, _ := runOutput("unpack", "-q", "-o", "-", "--format", "fastq", "--tags", "RG,Xf", u)
	if want := samtools(t, "fastq", "-N", "-T", "RG,Xf", ubam); got != want {
		t.Errorf("-T RG,Xf: %q, samtools %q", got, want)
	}
	if got, want := stream("--mate", "2", u), samtools(t, "fastq", "-N", "-f", "128", ubam); got != want {
		t.Errorf("--mate 2: %q, samtools %q", got, want)
	}
	for name, args := range map[string][]string{"u": nil, "u.2-3": {"--records", "2-3"}, "u.selected": {"--name", "p"}} {
		unpack(append(args, "--format", "bam", u, "-o", out)...)
		got := inflated(t, filepath.Join(out, name+".bam"))
		want := map[string][]byte{"u": text, "u.2-3": bamText(bamRecord("p", 141, 6, 3, "RGZx\x00"), bamRecord("q", 77, 5, 2, "")),
			"u.selected": bamText(bamRecord("p", 77, 5, 2, tags), bamRecord("p", 141, 6, 3, "RGZx\x00"))}[name]
		if !bytes.Equal(got, want) {
			t.Errorf("%s.bam: %q, want %q", name, got, want)
		}
	}
	whole := filepath.Join(dir, "stream.bam")
	if err := os.WriteFile(whole, []byte(stream("--format", "bam", u)), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := inflated(t, whole); !bytes.Equal(got, text) {
		t.Errorf("on a stream: %q", got)
	}

	lower := filepath.Join(dir, "lower.fastq")
	if err := os.WriteFile(lower, []byte("@a\nACgT\n+\nIIII\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "archive", "-q", lower, filepath.Join(dir, "lower"))
	mustRun(t, "archive", "-q", "--as", "two", ubam, r1, filepath.Join(dir, "two"))
	for want, args := range map[string][]string{
		"record 1 can't be BAM":                     {"--format", "bam", filepath.Join(dir, "lower")},
		"its inputs have no tags":                   {"-T", "RG", filepath.Join(dir, "lower")},
		"--format is bam or fastq, not \"sam\"":     {"--format", "sam", u},
		"--format bam excludes --text":              {"--format", "bam", "-T", "RG", u},
		"each of its BAM inputs has its own header": {"--format", "bam", "-o", "-", filepath.Join(dir, "two")},
	} {
		if status, errs := runHere(append([]string{"unpack", "-o", out}, args...)...); status == 0 || !strings.Contains(errs, want) {
			t.Errorf("unpack %s: status %d: %s", args, status, errs)
		}
	}
}

// TestBAMDirectory: of a directory, BAM of reads becomes archives of their names, what is beside them and aligned BAM side files, which is
// told. Damaged files are refused; if only the sizes of blocks are wrong, what is in them comes back.
func TestBAMDirectory(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	if err := os.Mkdir(run, 0o777); err != nil {
		t.Fatal(err)
	}
	drawBAM(t, filepath.Join(run, "x"), bamConfig(0))
	drawBAM(t, filepath.Join(run, "y"), bamConfig(3))
	whole, err := os.ReadFile(filepath.Join(run, "y.bam"))
	if err != nil {
		t.Fatal(err)
	}
	wrong := bytes.Clone(whole)
	wrong[16]++ // the size of the first block
	aligned := bamText(bamRecord("a", 4, 5, 2, ""))
	aligned = append(aligned[:len(bamText())-4], "\x01\x00\x00\x00\x05\x00\x00\x00chr1\x00\xe8\x03\x00\x00"...)
	writeGzip(t, filepath.Join(run, "aligned.bam"), aligned)
	for name, b := range map[string][]byte{"x.bam.pbi": []byte("index"), "x.bam.bai": {1, 2}, "wrong.bam": wrong, "none.bam": whole[:10]} {
		if err := os.WriteFile(filepath.Join(run, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out, restored := filepath.Join(dir, "out"), filepath.Join(dir, "restored")
	status, errs := runHere("archive", run, out)
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	for _, name := range []string{"aligned", "none"} {
		if !strings.Contains(errs, name+".bam: BAM of aligned reads, or damaged: it is stored as it is") {
			t.Errorf("%s is not told: %s", name, errs)
		}
	}
	for _, name := range []string{"x.cdna", "y.cdna", "run.ctree"} {
		fileSize(t, filepath.Join(out, name))
	}
	mustRun(t, "unpack", "-q", out, "-o", restored)
	entries, err := os.ReadDir(run)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		was, err := os.ReadFile(filepath.Join(run, e.Name()))
		is, err2 := os.ReadFile(filepath.Join(restored, e.Name()))
		if name := e.Name(); name == "x.bam" || name == "y.bam" || name == "wrong.bam" {
			was, is = inflated(t, filepath.Join(run, e.Name())), inflated(t, filepath.Join(restored, e.Name()))
		}
		if err != nil || err2 != nil || !bytes.Equal(was, is) {
			t.Errorf("%s came back otherwise: %v, %v", e.Name(), err, err2)
		}
	}
	if !strings.Contains(errs, "wrong.bam: its header and records come back in another file") {
		t.Errorf("wrong sizes of blocks are not told: %s", errs)
	}
	const end = 28 // bytes of the block that ends BGZF
	bad := filepath.Join(dir, "bad.bam")
	for name, b := range map[string][]byte{"no end": whole[:len(whole)-end], "cut": whole[:len(whole)/2],
		"after the end": append(bytes.Clone(whole), "more"...)} {
		if err := os.WriteFile(bad, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if status, errs := runHere("archive", bad, filepath.Join(dir, "bad")); status != 1 || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: status %d: %s", name, status, errs)
		}
	}
}
