package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnalignedBAM compares the text of BAM with that of samtools: of single reads and of pairs.
func TestUnalignedBAM(t *testing.T) {
	if _, err := exec.LookPath("samtools"); err != nil {
		t.Skip("samtools is not installed")
	}
	dir := t.TempDir()
	r1, r2 := simulated(t, dir, 400)
	samtools := func(args ...string) []byte {
		t.Helper()
		var errs bytes.Buffer
		cmd := exec.CommandContext(t.Context(), "samtools", args...)
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("samtools %s: %v: %s", args, err, errs.Bytes())
		}
		return out
	}
	for name, from := range map[string][]string{"one": {"-0", r1}, "pairs": {"-1", r1, "-2", r2}} {
		file := filepath.Join(dir, name+".bam")
		samtools(append([]string{"import", "-r", "ID:x", "-o", file}, from...)...)
		want := samtools("fastq", file)
		if n := bytes.Count(want, []byte{'\n'}); n < 1600 {
			t.Fatalf("%s: %d lines of samtools", name, n)
		}
		out := filepath.Join(dir, name)
		status, errs := runHere("archive", file, out)
		if status != 0 || !strings.Contains(errs, name+".bam: is unaligned BAM, read as FASTQ: its tags") {
			t.Fatalf("%s: status %d: %s", name, status, errs)
		}
		mustRun(t, "unpack", "-q", out, "-o", filepath.Join(dir, "r"))
		if b, err := os.ReadFile(filepath.Join(dir, "r", name+".fastq")); err != nil || !bytes.Equal(b, want) {
			t.Errorf("%s: restored %d bytes, %v", name, len(b), err)
		}
		status, text, _ := runOutput("info", out)
		if status != 0 || !strings.Contains(text, "every byte of the originals, but of BAM only the FASTQ") {
			t.Errorf("%s: info: status %d: %s", name, status, text)
		}
		if status, errs := runHere("archive", file, out); status != 0 || !strings.Contains(errs, "nothing to do") {
			t.Errorf("%s again: status %d: %s", name, status, errs)
		}

		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		const end = 28 // bytes of the block that ends BGZF
		for _, cut := range []int{len(data) - end, len(data) - end - 1} {
			bad := filepath.Join(dir, "cut.bam")
			if err := os.WriteFile(bad, data[:cut], 0o666); err != nil {
				t.Fatal(err)
			}
			if status, errs := runHere("bin", bad, filepath.Join(dir, "cut")); status != 1 || !strings.Contains(errs, "is the file truncated?") {
				t.Errorf("%s, %d of %d bytes: status %d: %s", name, cut, len(data), status, errs)
			}
		}
	}

	sam := filepath.Join(dir, "aligned.sam")
	text := "@SQ\tSN:chr1\tLN:1000\nr\t0\tchr1\t5\t60\t4M\t*\t0\t0\tACGT\tIIII\n"
	if err := os.WriteFile(sam, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	samtools("view", "-b", "-o", filepath.Join(dir, "aligned.bam"), sam)
	status, errs := runHere("archive", filepath.Join(dir, "aligned.bam"), filepath.Join(dir, "aligned"))
	const want = "is BAM of aligned reads (record 1), expected FASTQ or FASTA, which this makes: samtools collate"
	if status != 1 || !strings.Contains(errs, want) {
		t.Errorf("aligned: status %d: %s", status, errs)
	}
}
