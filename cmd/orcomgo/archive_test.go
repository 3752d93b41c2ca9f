package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"orcomgo/bins/vfs"
)

// TestArchive: archive gives the bytes that bin and then pack give, wherever the bins are meanwhile. In memory, they take no call of the
// file system.
func TestArchive(t *testing.T) {
	dir := t.TempDir()
	r1, r2 := simulated(t, dir, 400)
	for _, c := range []struct{ bin, pack string }{
		{"", ""},
		{"--reads-only --order any", ""},
		{"--names drop --quality bin8", "--no-verify -t 1"},
		{"--block-size 20KB --memory 96MiB", "--memory 96MiB"},
	} {
		name := strings.ReplaceAll(c.bin, " ", "")
		bin := append(strings.Fields(c.bin), "--quiet", "-1", r1, "-2", r2)
		inSteps := filepath.Join(dir, name+".steps")
		mustRun(t, append(append([]string{"bin"}, bin...), inSteps)...)
		mustRun(t, append(append([]string{"pack", "--quiet"}, strings.Fields(c.pack)...), inSteps)...)
		for _, inFile := range []bool{false, true} {
			out := filepath.Join(dir, fmt.Sprint(name, inFile))
			args := append(append(append([]string{"archive"}, bin...), strings.Fields(c.pack)...), out)
			if inFile {
				testTuning = noneHeld
			}
			var calls atomic.Int64
			vfs.Fault = func(call, path string) error {
				if strings.Contains(path, ".bdna") || strings.Contains(path, ".bmeta") {
					if call != "lstat" && call != "open" { // looking whether there is an archive of that name
						calls.Add(1)
					}
				}
				return nil
			}
			status, errs := runHere(args...)
			vfs.Fault, testTuning = nil, tuning{}
			if status != 0 || errs != "" {
				t.Fatalf("status %d: %s", status, errs)
			}
			if (calls.Load() > 0) != inFile {
				t.Errorf("%s: %d calls for files of bins (in a file: %v)", c, calls.Load(), inFile)
			}
			same(t, contents(t, out), contents(t, inSteps))
		}
	}
}

// TestArchiveProgress: the two stages are shown one after the other, and the first one ends where the second begins, even if nobody knew
// how much there was to read. What is packed while the first stage of the layout has not ended shows that stage.
func TestArchiveProgress(t *testing.T) {
	var out bytes.Buffer
	p, _ := scripted(&out, true, 80, packStages(false, binModel)...)
	p.report("bin", 10, 0)
	p.show()
	p.finish("bin")
	p.finish("nothing")
	p.sized(1, 4, 1, 0)
	p.report("pack", 5, 10)
	p.show()
	p.report("pack", 10, 10)
	p.close()
	p.finish("pack")
	text := out.String()
	first, rest, ok := strings.Cut(text, "bin: 10.0 B in ")
	if !ok || !strings.Contains(first, "bin") || strings.Contains(rest, "bin") ||
		!strings.Contains(rest, "\rjoining contigs, whole 0 %, ? left") ||
		strings.Count(rest, "pack: 10.0 B in ") != 1 {
		t.Errorf("%q", text)
	}
}
