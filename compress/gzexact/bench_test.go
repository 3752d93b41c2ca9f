package gzexact

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"

	"orcomgo/internal/testrun"
)

// BenchmarkFile describes and restores the file that ORCOMGO_GZ names.
func BenchmarkFile(b *testing.B) {
	gz, err := os.ReadFile(os.Getenv("ORCOMGO_GZ"))
	if err != nil {
		b.Skip("ORCOMGO_GZ names no file")
	}
	r, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		b.Fatal(err)
	}
	var d []byte
	run := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			from := testrun.CPUTime()
			for range b.N {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(text))*float64(b.N)*1e3/float64(testrun.CPUTime()-from), "cpuMB/s")
		})
	}
	run("describe", func() (err error) {
		d, err = Describe(bytes.NewReader(gz), 1<<30, 1)
		return err
	})
	run("restore", func() error { return Restore(d, bytes.NewReader(text), io.Discard, 1) })
}
