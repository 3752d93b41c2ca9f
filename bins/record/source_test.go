package record

import (
	"math"
	"reflect"
	"testing"
	"time"

	"orcomgo/bins/parse"
	"orcomgo/digest"
)

func TestSource(t *testing.T) {
	sums := &digest.Sums{SHA256: [32]byte{1, 31: 2}, MD5: [16]byte{3, 15: 4}}
	before := time.Date(1969, 12, 31, 23, 59, 59, 1, time.UTC)
	for _, want := range []*Source{
		nil,
		{Size: 0},
		{Name: "x.fastq.gz", Size: math.MaxInt64, Time: time.Unix(0, 0).UTC(), Sums: sums, TextMD5: true},
		{Name: "..x", Size: 7, Time: before, Plain: true},
		{Sums: sums, Plain: true, TextMD5: true},
		{Name: "x.fastq", Size: 7, Time: before, Sums: sums, Sample: "liver 1"},
		{Sample: "x"},
		{Name: "x.fastq.gz", Size: 9, Sums: sums, Gzip: []byte("how")},
	} {
		var f parse.Fields
		CodeSource(&f, &want)
		b := f.Out
		got, reason := parsedSource(b)
		if !reflect.DeepEqual(got, want) || reason != "" {
			t.Errorf("%+v has become %+v (%s)", want, got, reason)
		}
		for n := range b {
			if _, reason := parsedSource(b[:n]); reason == "" {
				t.Errorf("%+v: %d bytes of %d passed", want, n, len(b))
			}
		}
	}
	for _, bad := range [][]byte{{128}, {129, 0, 0}, {65, 0, 0, 1, 'x'}, {2}, {33, 0, 0, 0}, {33, 0, 0, 1, '/'},
		{1, 1, '/', 0}, {1, 2, '.', '.', 0}, {1, 1, 0, 0}} {
		if _, reason := parsedSource(bad); reason == "" {
			t.Errorf("%q passed", bad)
		}
	}
}

// parsedSource returns a source, and what is wrong with it, or with what follows it.
func parsedSource(b []byte) (s *Source, reason string) {
	c := &parse.Cursor{Rest: b}
	if CodeSource(&parse.Fields{In: c}, &s); len(c.Rest) > 0 {
		c.Fail("%d bytes follow", len(c.Rest))
	}
	return s, c.Reason
}

func TestRecordable(t *testing.T) {
	for year, want := range map[int]bool{1: false, 1600: false, 1700: true, 2026: true, 2300: false} {
		if got := Recordable(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)); got != want {
			t.Errorf("the year %d: %v", year, got)
		}
	}
}
