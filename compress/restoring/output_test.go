package restoring

import (
	"strings"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
)

// TestOutputNames: files are called as their inputs, and what is restored of these.
func TestOutputNames(t *testing.T) {
	man := func(o record.Options, names ...string) *archive.Manifest {
		m := &archive.Manifest{Options: o}
		for _, n := range names {
			m.Inputs = append(m.Inputs, archive.Input{Input: record.Input{Name: n, Mate: -1, Records: 50}})
		}
		return m
	}
	namesOf := func(m *archive.Manifest, o *UnpackOptions) (names []string, err error) {
		parts := make([]int, len(m.Inputs))
		for i := range parts {
			parts[i] = 1
			if o.Split > 0 {
				parts[i] = int((m.Inputs[i].Records-1)/o.Split + 1)
			}
		}
		list, err := outputNames(m, o, parts, make([]bool, 9), make([]bool, 9))
		for _, n := range list {
			names = append(names, n...)
		}
		return names, err
	}
	cases := []struct {
		man  *archive.Manifest
		o    UnpackOptions
		want string
	}{
		{man(record.Options{}, "a.fastq", "b.fq"), UnpackOptions{}, "a.fastq b.fq"},
		{man(record.Options{}, "a.fastq"), UnpackOptions{Gzip: true}, "a.fastq.gz"},
		{man(record.Options{ReadsOnly: true}, "a.fastq", "b"), UnpackOptions{}, "a.reads b.reads"},
		{man(record.Options{Quality: record.QualityDrop}, "a.fastq", "b.fq"), UnpackOptions{}, "a.fasta b.fasta"},
		{man(record.Options{Quality: record.QualityDrop}, "a.fastq", "a.fq"), UnpackOptions{}, "a.fastq.fasta a.fq.fasta"},
		{man(record.Options{}, "a.fastq"), UnpackOptions{Records: &RecordRange{From: 9, To: 99}}, "a.10-50.fastq"},
		{man(record.Options{}, "a.fastq"), UnpackOptions{Records: &RecordRange{From: 9, To: 10}, Gzip: true}, "a.10.fastq.gz"},
		{man(record.Options{}, "a.fastq"), UnpackOptions{Records: &RecordRange{From: 9, To: 20}, Names: &NameFilter{}}, "a.10-20.selected.fastq"},
		{man(record.Options{}, "a.fastq", "b"), UnpackOptions{Split: 25},
			"a.part_001.fastq a.part_002.fastq b.part_001 b.part_002"},
	}
	for _, c := range cases {
		names, err := namesOf(c.man, &c.o)
		if err != nil || strings.Join(names, " ") != c.want {
			t.Errorf("%q, %v; want %q", names, err, c.want)
		}
	}
	if _, err := namesOf(man(record.Options{}, "a", "a"), &UnpackOptions{}); err == nil {
		t.Error("two files of one name passed")
	}
	long := strings.Repeat("x", 255)
	if _, err := namesOf(man(record.Options{}, long), &UnpackOptions{}); err != nil {
		t.Error(err)
	}
	for _, o := range []UnpackOptions{{Gzip: true}, {Records: &RecordRange{From: 9, To: 99}}} {
		if _, err := namesOf(man(record.Options{}, long), &o); err == nil {
			t.Error("a name of more than 255 bytes passed")
		}
	}
}
