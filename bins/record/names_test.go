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
