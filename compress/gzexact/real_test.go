package gzexact

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

// TestFiles describes and restores the files that ORCOMGO_GZ names.
func TestFiles(t *testing.T) {
	for _, name := range bytes.Fields([]byte(os.Getenv("ORCOMGO_GZ"))) {
		gz, err := os.ReadFile(string(name))
		if err != nil {
			t.Fatal(err)
		}
		var d bytes.Buffer
		start := time.Now()
		sum, err := Describe(bytes.NewReader(gz), &d, 1)
		took := time.Since(start)
		t.Logf("%s: %d bytes, text %d, description %d (%.3f %%), %s, %v: %v", name, len(gz), sum.Text, d.Len(), 100*float64(d.Len())/float64(len(gz)), sum.Writer, took, err)
		if errors.Is(err, ErrUnknownWriter) {
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		r, err := gzip.NewReader(bytes.NewReader(gz))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r)
		var back bytes.Buffer
		start = time.Now()
		err = Restore(bytes.NewReader(d.Bytes()), bytes.NewReader(text), &back, 1)
		t.Logf("restored in %v", time.Since(start))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(back.Bytes(), gz) {
			i := 0
			for i < len(gz) && i < back.Len() && back.Bytes()[i] == gz[i] {
				i++
			}
			t.Errorf("%s: %d bytes instead of %d, differ at %d", name, back.Len(), len(gz), i)
		}
	}
}
