//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orcomgo/binning"
	"orcomgo/compress"
	"orcomgo/internal/testrun"
)

// textShapes are texts of about n bytes in which something repeats that a reader might look
// at again and again.
var textShapes = []struct {
	name string
	text func(rng *rand.Rand, n int) string
}{
	{"FASTA, blank lines inside a record", func(_ *rand.Rand, n int) string { return ">a\nACGT\n" + strings.Repeat("\n", n) + "ACGT\n" }},
	{"FASTA, blank lines with CR", func(_ *rand.Rand, n int) string { return ">a\r\nA\r\n" + strings.Repeat("\r\n", n/2) + "C\r\n" }},
	{"FASTA, every other line blank", func(_ *rand.Rand, n int) string { return ">a\n" + strings.Repeat("A\n\n", n/3) + "C\n" }},
	{"FASTA, blank lines at the end", func(_ *rand.Rand, n int) string { return ">a\nACGT\n" + strings.Repeat("\n", n) }},
	{"FASTA, one base a line", func(r *rand.Rand, n int) string { return ">a\n" + wrapText(randomText(r, "ACGT", n/2), 1) }},
	{"FASTA, one line", func(r *rand.Rand, n int) string { return ">a\n" + randomText(r, "ACGT", n) + "\n" }},
	{"FASTA, records of a base", func(_ *rand.Rand, n int) string { return strings.Repeat(">\nA\n", n/4) }},
	{"FASTA, records of nothing", func(_ *rand.Rand, n int) string { return strings.Repeat(">\n", n/2) }},
	{"FASTA, uneven lines", func(r *rand.Rand, n int) string {
		var b strings.Builder
		for b.WriteString(">a\n"); b.Len() < n; {
			b.WriteString(randomText(r, "ACGT", 1+r.Intn(9)) + "\n")
		}
		return b.String()
	}},
	{"FASTQ, wrapped at 60", func(r *rand.Rand, n int) string { return wrappedFASTQ(r, n/2, 60, "#,:F") }},
	{"FASTQ, wrapped at 1, qualities of marks", func(r *rand.Rand, n int) string { return wrappedFASTQ(r, n/4, 1, "@+>I") }},
	{"FASTQ, wrapped at 1, qualities of @", func(r *rand.Rand, n int) string { return wrappedFASTQ(r, n/4, 1, "@") }},
	{"FASTQ, tiny wrapped records", func(_ *rand.Rand, n int) string { return strings.Repeat("@\nA\nC\n+\n@\n@\n", n/12) }},
	{"FASTQ, blank lines between records", func(_ *rand.Rand, n int) string { return strings.Repeat("@a\nA\n+\nI\n\n", n/10) }},
	{"FASTQ, blank lines in a sequence", func(_ *rand.Rand, n int) string { return "@a\nAC\n" + strings.Repeat("\n", n) + "G\n+\nIII\n" }},
	{"FASTQ, blank lines in qualities", func(_ *rand.Rand, n int) string { return "@a\nACG\n+\nII\n" + strings.Repeat("\n", n) + "I\n" }},
	{"FASTQ, blank lines at the end", func(_ *rand.Rand, n int) string { return "@a\nACG\n+\nIII\n" + strings.Repeat("\r\n", n/2) }},
	{"FASTQ, tiny records", func(_ *rand.Rand, n int) string { return strings.Repeat("@\nA\n+\nI\n", n/8) }},
	{"FASTQ, a long read", func(r *rand.Rand, n int) string { return wrappedFASTQ(r, n/2, n, "@+F") }},
	{"FASTQ, a long name", func(r *rand.Rand, n int) string { return "@" + randomText(r, "ab:1 ", n) + "\nA\n+\nI\n" }},
	{"FASTQ, a long text after +", func(r *rand.Rand, n int) string { return "@a\nA\n+" + randomText(r, "ab:1 ", n) + "\nI\n" }},
	{"FASTQ, odd line ends", func(_ *rand.Rand, n int) string { return strings.Repeat("@a\r\nA\n+b\r\nI\n@a\nA\r\n+\nI\n", n/22) }},
	{"FASTQ, wrapped far into the file", func(_ *rand.Rand, n int) string {
		return strings.Repeat("@a\nACGT\n+\nFFFF\n", n/15) + "@w\nA\nC\n+\nI\nI\n"
	}},
}

func randomText(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.Intn(len(alphabet))]
	}
	return string(b)
}

func wrapText(s string, width int) string {
	var b strings.Builder
	for ; len(s) > width; s = s[width:] {
		b.WriteString(s[:width] + "\n")
	}
	return b.String() + s + "\n"
}

func wrappedFASTQ(r *rand.Rand, n, width int, quals string) string {
	return "@r\n" + wrapText(randomText(r, "ACGT", n), width) + "+\n" + wrapText(randomText(r, quals, n), width)
}

// TestLinearTime: every stage takes time in proportion to the text, whatever it is. Work that
// grows with the square of the text would take 64 times as long for 8 times the text.
func TestLinearTime(t *testing.T) {
	const small, factor, tolerance = 30_000, 8, 24
	const slack = 150 * time.Millisecond // start-up, garbage collection
	for _, shape := range textShapes {
		var first []time.Duration
		for _, n := range []int{small, small * factor} {
			text := []byte(shape.text(rand.New(rand.NewSource(1)), n))
			if len(text) < n*9/10 || len(text) > n*11/10 {
				t.Fatalf("%s: %d bytes instead of %d", shape.name, len(text), n)
			}
			times := stageTimes(t, shape.name, text)
			if first == nil {
				first = times
				continue
			}
			for i, stage := range []string{"bin", "pack", "unpack"} {
				if times[i] > tolerance*first[i]+slack {
					t.Errorf("%s: %s took %s for %d bytes and %s for %d times as many", shape.name, stage, first[i], small, times[i], factor)
				}
			}
		}
	}
}

// stageTimes brings a text through all stages and returns the processor time of each.
func stageTimes(t *testing.T, name string, text []byte) (times []time.Duration) {
	dir := memoryDir(t)
	path, out := filepath.Join(dir, "text"), filepath.Join(dir, "out")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	var restored bytes.Buffer
	for i, stage := range []func() error{
		func() error {
			_, err := binning.Run(context.Background(), binning.Config{
				Inputs: []binning.InputSpec{{Path: path, Mate: -1}}, OutDir: out, Threads: 1, Streams: 1})
			return err
		},
		func() error {
			_, err := compress.Pack(context.Background(), out, compress.PackOptions{Threads: 1})
			return err
		},
		func() error {
			_, err := compress.Unpack(context.Background(), out, compress.UnpackOptions{Threads: 1, Stream: &restored})
			return err
		},
	} {
		began := testrun.CPUTime()
		if err := stage(); err != nil {
			t.Fatal(fmt.Errorf("%s: stage %d: %w", name, i, err))
		}
		times = append(times, testrun.CPUTime()-began)
	}
	if !bytes.Equal(restored.Bytes(), text) {
		t.Errorf("%s: another text came back", name)
	}
	return times
}
