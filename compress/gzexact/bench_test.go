package gzexact

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"syscall"
	"testing"
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
	var d bytes.Buffer
	start := func(b *testing.B) {
		began := userTime(b)
		b.Cleanup(func() { b.ReportMetric(float64(len(text))*float64(b.N)/1e6/(userTime(b)-began), "MB/userS") })
	}
	b.Run("describe", func(b *testing.B) {
		start(b)
		for range b.N {
			d.Reset()
			if _, err := Describe(bytes.NewReader(gz), &d, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("restore", func(b *testing.B) {
		start(b)
		for range b.N {
			if err := Restore(bytes.NewReader(d.Bytes()), bytes.NewReader(text), io.Discard, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// userTime returns how long the process has run, in seconds.
func userTime(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()) / 1e9
}
