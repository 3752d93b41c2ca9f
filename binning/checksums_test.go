package binning

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"orcomgo/bins/record"
	"orcomgo/digest"
)

// TestChecksums: what is recorded of files and of standard input, in each mode.
func TestChecksums(t *testing.T) {
	dir := t.TempDir()
	text := []byte(strings.Repeat("@r\nACGTACGTTGCAACGTGACT\n+\nIIIIIIIIIIIIIIIIIIII\n", 4_000))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	packed.Write(make([]byte, 1000)) // which a reader of gzip has no need of
	written := time.Unix(1_700_000_000, 5).UTC()
	file := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, b, 0o666), os.Chtimes(path, written, written)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain, compressed := file("a.fastq", text), file("b.fastq.gz", packed.Bytes())
	sums := func(b []byte) *digest.Sums { return &digest.Sums{SHA256: sha256.Sum256(b), MD5: md5.Sum(b)} }
	for _, mode := range []RecordMode{RecordNothing, RecordTime, RecordCompressed, RecordAll} {
		c := Config{Inputs: []InputSpec{{Path: plain, Mate: -1}, {Path: compressed, Mate: -1}, {Path: "-", Mate: -1}},
			OutDir: t.TempDir(), Record: mode, Threads: 2, sumsAhead: 1000, // so that the second reading waits for the first
			Stdin:   bytes.NewReader(packed.Bytes()),
			Options: record.Options{BlockSize: 32 << 10}}
		s, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		want := []*record.Source{
			{Name: "a.fastq", Size: uint64(len(text)), Time: written, Plain: true},
			{Name: "b.fastq.gz", Size: uint64(packed.Len()), Time: written},
			{Size: uint64(packed.Len())},
		}
		for i, in := range s.Inputs {
			w := want[i]
			if mode > RecordTime {
				w.TextMD5 = true
			}
			if mode == RecordAll {
				w.Sums = sums(text)
			}
			if mode > RecordTime && i > 0 {
				w.Sums = sums(packed.Bytes())
			}
			if mode == RecordNothing {
				w = nil
			}
			if got := in.Source; !reflect.DeepEqual(got, w) {
				t.Errorf("mode %d: %s: %+v is recorded, want %+v", mode, in.Name, got, w)
			}
		}
	}
	// Of a long text MD5 is recorded only if that of all is.
	for _, mode := range []RecordMode{RecordCompressed, RecordAll} {
		s, err := Run(t.Context(), Config{Inputs: []InputSpec{{Path: plain, Mate: -1}}, OutDir: t.TempDir(), Record: mode, Threads: 2,
			mostMD5: uint64(len(text) - 1), Options: record.Options{BlockSize: 32 << 10}})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Inputs[0].Source.TextMD5; got != (mode == RecordAll) {
			t.Errorf("mode %d: MD5 of a long text: %v", mode, got)
		}
	}
}
