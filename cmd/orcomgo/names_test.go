//go:build unix

package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"orcomgo/internal/testrun"
)

// oddNames are names that files of a Unix system can have.
var unusualNames = []string{
	`back\slash.fastq`, `\`, ` leading space.fastq`, "trailing space.fastq ", "..dots.fastq", "...", ".hidden", "new\nline.fastq", "\n",
	"tab\t.fq", "\x1b[2Jescape.fastq", "\x7f\x01", "not UTF-8 \xff\xfe.fastq", "\xc3", "ünïcödé.fastq", "日本語.fastq", "-dash.fastq",
	"--help", "*?[a].fastq", `"quoted".fastq`, "$HOME.fastq", "a:b|c<d>e.fastq", "con.fastq", "x.fastq.tmp", ".orcomgo-0.tmp", ".fastq",
	"..fastq", "..gz", "...gz", "x.cdna", "x.bmeta", strings.Repeat("n", 255), strings.Repeat("s", 205) + "_A.fastq",
	strings.Repeat("s", 205) + "_B.fastq", strings.Repeat("é", 127),
}

// TestOddNames: each input comes back under its own name, byte for byte, alone and all
// together, and no name puts codes on a terminal.
func TestOddNames(t *testing.T) {
	dir := memoryDir(t)
	in := filepath.Join(dir, "in")
	if err := os.Mkdir(in, 0o777); err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{}
	var all []string
	for i, name := range unusualNames {
		texts[name] = fmt.Appendf(nil, "@read%d\nACGT%s\n+\nIIII%s\n", i, strings.Repeat("A", i), strings.Repeat("I", i))
		all = append(all, filepath.Join(in, name))
	}
	put(t, in, texts)
	check := func(arch string, want map[string][]byte) {
		t.Helper()
		for _, stage := range []string{"binned", "packed"} {
			if stage == "packed" {
				mustRun(t, "pack", "--quiet", arch)
			} else if len(want) == 1 && !testrun.Long() {
				continue // bins of each name alone: make test-long
			}
			for _, command := range []string{"verify", "info"} {
				status, out, errs := runOutput(command, arch)
				if status != 0 {
					t.Fatalf("%s: %s: %s", stage, command, errs)
				}
				for _, c := range out {
					if c < ' ' && c != '\n' || c == 0x7f || c == 0xfffd {
						t.Errorf("%s: %s prints %q", stage, command, out)
						break
					}
				}
			}
			to := filepath.Join(dir, "out")
			mustRun(t, "unpack", "--quiet", arch, "-o", to)
			if got := contents(t, to); !maps.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("%s: other files came back", stage)
			}
			if err := os.RemoveAll(to); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.RemoveAll(arch); err != nil {
			t.Fatal(err)
		}
	}
	arch := filepath.Join(dir, "arch")
	for i, name := range unusualNames {
		mustRun(t, "bin", "--quiet", all[i], arch)
		check(arch, map[string][]byte{name: texts[name]})
	}
	mustRun(t, append(append([]string{"bin", "--quiet"}, all...), arch)...)
	check(arch, texts)
}

// TestLongNamesSideBySide: archives of inputs that share their first 200 bytes don't replace
// each other.
func TestLongNamesSideBySide(t *testing.T) {
	dir := t.TempDir()
	a, b := strings.Repeat("s", 205)+"_A.fastq", strings.Repeat("s", 205)+"_B.fastq"
	texts := map[string][]byte{a: []byte("@a\nACGT\n+\nIIII\n"), b: []byte("@b\nACGTA\n+\nIIIII\n")}
	put(t, dir, texts)
	arch := filepath.Join(dir, "arch")
	for name := range texts {
		mustRun(t, "bin", "--quiet", filepath.Join(dir, name), arch)
	}
	if status, out, errs := runOutput("verify", arch); status != 0 || strings.Count(out, "OK") != 2 {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}

// TestConcurrentUnpacks: of two archives that restore a file of one name to one directory,
// one succeeds, and its file is whole.
func TestConcurrentUnpacks(t *testing.T) {
	dir := t.TempDir()
	var texts [2][]byte
	var archives [2]string
	for i := range archives {
		in := filepath.Join(dir, fmt.Sprint("in", i))
		if err := os.Mkdir(in, 0o777); err != nil {
			t.Fatal(err)
		}
		r1, _ := simulated(t, in, uint64(2000+500*i))
		var err error
		if texts[i], err = os.ReadFile(r1); err != nil {
			t.Fatal(err)
		}
		archives[i] = filepath.Join(dir, fmt.Sprint("archive", i))
		mustRun(t, "bin", "--quiet", "--block-size", "50KB", r1, archives[i])
	}
	for round := range 6 {
		out := filepath.Join(dir, fmt.Sprint("out", round))
		var status [2]int
		var wait sync.WaitGroup
		for i := range archives {
			wait.Add(1)
			go func() {
				defer wait.Done()
				args := []string{"unpack", "--quiet", archives[i], "-o", out}
				if round%2 == 1 {
					args = append(args, "--force")
				}
				status[i], _ = runHere(args...)
			}()
		}
		wait.Wait()
		files := contents(t, out)
		which := -1
		for i := range texts {
			if bytes.Equal(files["r1.fastq"], texts[i]) {
				which = i
			}
		}
		switch {
		case which < 0 || len(files) != 1:
			t.Fatalf("round %d: a blend, or other files: %d", round, len(files))
		case round%2 == 0 && (status[which] != 0 || status[1-which] != exitFailure):
			t.Errorf("round %d: statuses %v, and the file is that of %d", round, status, which)
		case round%2 == 1 && status != [2]int{}:
			t.Errorf("round %d, with --force: statuses %v", round, status)
		}
	}
}
