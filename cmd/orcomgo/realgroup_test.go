package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"orcomgo/compress"
)

// TestRealGroup: the names of a group of four files take hardly more bytes than those of its pair.
func TestRealGroup(t *testing.T) {
	first := realFiles(t, filepath.Join("tenx", "Chromium*_R1_001.fastq.gz"))[0]
	args, originals := []string{"bin", "--quiet"}, make(map[string][]byte)
	for i, mate := range []string{"_R1_", "_R2_", "_I1_", "_I2_"} {
		path := strings.Replace(first, "_R1_", mate, 1)
		args = append(args, []string{"-1", "-2", "-3", "-4"}[i], path)
		originals[strings.TrimSuffix(filepath.Base(path), ".gz")] = inflated(t, path)
	}
	run := filepath.Join(t.TempDir(), "run")
	mustRun(t, append(args, run)...)
	roundTrip(t, run, originals)
	_, out, _ := runOutput("info", "--json", run)
	var info struct {
		Columns map[string]uint64           `json:"columns"`
		Inputs  []compress.InputInformation `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(out), &info); err != nil {
		t.Fatal(err)
	}
	if n := info.Columns["names"]; n == 0 || n > 426_000 {
		t.Errorf("names take %d bytes, want at most 426,000", n)
	}
	if len(info.Inputs) != 4 || info.Inputs[3].Lead != info.Inputs[0].Name {
		t.Errorf("inputs are %+v", info.Inputs)
	}
}
