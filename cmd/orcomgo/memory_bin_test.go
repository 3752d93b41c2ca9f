//go:build unix

package main

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"orcomgo/internal/testrun"
)

// bin with the least --memory stays within it, whatever the text is like.
func TestBinLeastMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read from /proc")
	}
	const odd = ">\nA\n>a\n\nC\nA\n>\r\nA\r\nCG\n"
	for _, tt := range []struct {
		name   string
		size   int // of the text
		record string
		long   bool // make test-long runs it
	}{
		{"reads of 100 bases", 70_000_000,
			"@read.1:1:2:3\n" + strings.Repeat("ACGTTGCATT", 10) + "\n+\n" + strings.Repeat("FFFF:FFFF,", 10) + "\n", false},
		{"wrapped", 30_000_000, "@read.1\nACGTTGCATT\nACGTT\n+\nFFFF:FFFF,\n@+FFF\n", true},
		{"tiny records", 30_000_000, "@\nA\n+\nI\n", true},
		{"tiny records of FASTQ whose forms change", 18_000_000,
			"@\nA\n+\nI\n@a\nA\n+a\nI\n@\r\nA\n+\nI\n@\nA\r\n+\nI\n@b\nA\n+\nI\r\n", true},
		// much processor time in little memory; without a bound this text takes several times as much
		{"tiny records of odd forms", 4_000_000, odd, false},
		{"more tiny records of odd forms", 12_000_000, odd, true},
	} {
		if tt.long && !testrun.Long() {
			continue
		}
		dir := memoryDir(t)
		path := filepath.Join(dir, "x")
		if err := os.WriteFile(path, []byte(strings.Repeat(tt.record, tt.size/len(tt.record))), 0o666); err != nil {
			t.Fatal(err)
		}
		const most = minMemory*1.15 + 4e6 // the program of the tests is larger than the one that is installed
		peak := math.MaxInt
		for try := 0; try < 3 && float64(peak) > most; try++ { // the collector may be late on a busy machine
			peak = min(peak, peakOf(t, "bin", "-q", "-f", "-t", "2", "--memory", "96MB", path, filepath.Join(dir, "out")))
		}
		t.Logf("%s: %d MB", tt.name, peak/1e6)
		if float64(peak) > most {
			t.Errorf("%s: peak memory %d MB", tt.name, peak/1e6)
		}
	}
}
