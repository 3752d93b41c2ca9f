package record

import (
	"strings"
	"testing"
)

func TestCheckInputNames(t *testing.T) {
	for _, bad := range []string{"", ".", "..", "a/b", "../x", "/etc/passwd", "a\x00", strings.Repeat("x", 256)} {
		if err := CheckInputNames([]Input{{Name: bad}}); err == nil {
			t.Errorf("%q passed", bad)
		}
	}
	for _, good := range []string{"x.fastq", "..x", "...", "a b", " a", "\u00fc.fq", "-", "a\\b", "a\nb", "\x1b[2J", "\xff\xfe",
		strings.Repeat("x", 255)} {
		if err := CheckInputNames([]Input{{Name: good}}); err != nil {
			t.Error(err)
		}
	}
	if err := CheckInputNames([]Input{{Name: "a"}, {Name: "b"}, {Name: "a"}}); err == nil {
		t.Error("two inputs of one name passed")
	}
}

func TestRestoredNames(t *testing.T) {
	long := strings.Repeat("x", 250)
	for _, c := range []struct {
		o    Options
		in   []string
		want string // "" for an error
	}{
		{Options{}, []string{long + ".gff"}, long + ".gff"},
		{Options{ReadsOnly: true}, []string{long + ".fa"}, ""},
		{Options{ReadsOnly: true}, []string{long[:249] + ".fastq"}, long[:249] + ".reads"},
		{Options{Quality: QualityDrop}, []string{"a.fastq", "a.fq"}, "a.fastq.fasta a.fq.fasta"},
		{Options{Quality: QualityDrop}, []string{".fastq"}, ".fastq.fasta"},
		{Options{}, []string{"a", "a"}, ""},
	} {
		var inputs []Input
		for _, n := range c.in {
			inputs = append(inputs, Input{Name: n})
		}
		got, err := RestoredNames(inputs, c.o, Restored{})
		if (err != nil) != (c.want == "") || err == nil && strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, %v", c.in, got, err)
		}
	}
}

func TestRenamed(t *testing.T) {
	for _, c := range [][4]string{
		{"a/x.fastq.gz", "a/x.fastq", "b/y.fastq.gz", "b/y.fastq"},
		{"x.fastq.bz2", "x.fastq.gz", "y.fastq.bz2", "y.fastq.gz"},
		{"x.fq", "x.reads", "y.fq", "y.reads"},
		{"x.fq", "x.fq", "y", "y"},
		{"x.fq.gz", "x.fq", "y", "y"},
	} {
		if got := Renamed(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%s, as %s of %s, is %s, want %s", c[2], c[1], c[0], got, c[3])
		}
	}
}

// TestRestoredFileNames: a file that comes back as it was has its name.
func TestRestoredFileNames(t *testing.T) {
	for text, file := range map[string]string{"x.fastq": "x.fastq.gz", "y.fq": "y.fq.bgz", "empty.fastq": "empty.bam"} {
		got, err := RestoredNames([]Input{{Name: text, Source: &Source{Name: file}}}, Options{}, Restored{File: func(int) bool { return true }})
		if err != nil || got[0] != file {
			t.Errorf("%s of %s: %q, %v", text, file, got, err)
		}
	}
}
